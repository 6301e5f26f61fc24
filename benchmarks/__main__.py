"""`python -m benchmarks` lists the benchmarks; `python -m benchmarks NAME [--quick] [--rows NAME ...]` runs one."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import results
from benchmarks.contestants import PeerMissing
from benchmarks.datasets import DataMissing

# A module each, of the same name but for `_` in place of `-`, with a docstring, `DATA` (how the data were made) and
# `run(quick) -> rows`. One that can be run in parts also has `ROWS`, their names, and `run(quick, names)`; one with
# options of its own has `add_options(parser)`, and `run(quick, **options)`. `summary(rows, quick)`, where there is one,
# makes rows of all others, those of earlier runs too.
REGISTRY = (
    "asy-active",
    "asy-gathering",
    "asy-order",
    "asy-threads",
    "auto",
    "before-after",
    "calibration",
    "campaign",
    "checkpoint",
    "coefficients",
    "conformal",
    "dcd",
    "dense-roofline",
    "deterministic",
    "diagnose",
    "distributed",
    "early-stopping",
    "explanations",
    "gpu",
    "hard",
    "hard-choice",
    "isa",
    "latency",
    "linear-text",
    "multiclass",
    "parsmo",
    "peer-tests",
    "peers",
    "platforms",
    "scaling",
    "search",
    "search-pruning",
    "small",
    "smo-speed",
    "soak",
    "streaming",
    "svor-agreement",
    "tall",
    "tall-dask",
    "tall-disk",
    "tall-search",
    "wide",
)


def load(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{name.replace('-', '_')}")


def list_benchmarks() -> None:
    cells = [(name, (load(name).__doc__ or "").splitlines()[0]) for name in REGISTRY]
    results.show_table(("name", "what it measures"), cells)


def run(name: str, quick: bool, output: Path | None, parts: list[str] | None, own: dict[str, Any]) -> int:
    """Runs, shows, and writes the results of a full run; 1 if a bound was missed."""
    module = load(name)
    start = time.perf_counter()
    rows = module.run(quick, **own) if parts is None else module.run(quick, parts, **own)
    kept = [] if parts is None else results.other_rows(name, rows, output)
    if summary := getattr(module, "summary", None):
        made = summary(kept + rows, quick)
        rows, claims = made + rows, {r["claim"] for r in made}
        kept = [r for r in kept if r["claim"] not in claims]
    results.show(rows)
    print(f"{time.perf_counter() - start:.0f} s")
    if output or not quick:  # a quick run is a check, not a measurement: it must not replace one
        results.write(name, kept + rows, module.DATA, quick, output)
    return int(any(r["met"] is False for r in rows))


def check_parts(name: str, parts: list[str]) -> str:
    """What is wrong with the given parts; empty if nothing is."""
    all_rows = list(getattr(load(name), "ROWS", ()))
    if not all_rows:
        return f"The benchmark {name!r} can't be run in parts: leave --rows out."
    unknown = [part for part in parts if not any(row.startswith(part) for row in all_rows)]
    return f"No row begins with {', '.join(unknown)}: the rows are {', '.join(all_rows)}." if unknown else ""


def _parse(parser: argparse.ArgumentParser, arguments: list[str] | None) -> tuple[argparse.Namespace, dict[str, Any]]:
    """The options of all benchmarks, and those of the one that was named."""
    common, rest = parser.parse_known_args(arguments)
    parser = argparse.ArgumentParser(prog=f"{parser.prog} {common.name or ''}".strip())
    add_options = getattr(load(common.name), "add_options", None) if common.name else None
    if add_options:
        add_options(parser)
    return common, vars(parser.parse_args(rest))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks of ordsvm.")
    parser.add_argument("name", nargs="?", choices=REGISTRY, help="which one; without it, the list")
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute; nothing is written")
    parser.add_argument("--output", type=Path, help="where to write, if not results/NAME.json")
    parser.add_argument("--rows", nargs="+", help="only the rows whose names begin so; the file keeps the others")
    options, own = _parse(parser, arguments)
    if options.name is None:
        list_benchmarks()
        return 0
    if options.rows and (wrong := check_parts(options.name, options.rows)):
        print(wrong, file=sys.stderr)
        return 2
    try:
        return run(options.name, options.quick, options.output, options.rows, own)
    except (DataMissing, PeerMissing) as missing:
        print(missing, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
