"""`python -m benchmarks` lists the benchmarks; `python -m benchmarks NAME [--quick]` runs one."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from types import ModuleType

from benchmarks import results
from benchmarks.datasets import DataMissing
from benchmarks.peers import PeerMissing

# One module each, with a docstring, `DATA` (how the data were made) and `run(quick) -> rows`.
REGISTRY = {
    "asy-active": "asy_active",
    "asy-order": "asy_order",
    "asy-threads": "asy_threads",
    "dcd": "dcd",
    "linear-text": "linear_text",
    "early-stopping": "early_stopping",
    "smo-speed": "smo_speed",
    "streaming": "streaming",
    "svor-agreement": "svor_agreement",
}


def load(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{REGISTRY[name]}")


def list_benchmarks() -> None:
    cells = [(name, (load(name).__doc__ or "").splitlines()[0]) for name in sorted(REGISTRY)]
    results.show_table(("name", "what it measures"), cells)


def run(name: str, quick: bool, output: Path | None) -> int:
    """Runs, shows, and writes the results of a full run; 1 if a bound was missed."""
    module = load(name)
    start = time.perf_counter()
    rows = module.run(quick)
    results.show(rows)
    print(f"{time.perf_counter() - start:.0f} s")
    if output or not quick:  # a quick run is a check, not a measurement: it must not replace one
        results.write(name, rows, module.DATA, quick, output)
    return int(any(r["met"] is False for r in rows))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks of ordsvm.")
    parser.add_argument("name", nargs="?", choices=sorted(REGISTRY), help="which one; without it, the list")
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute; nothing is written")
    parser.add_argument("--output", type=Path, help="where to write, if not results/NAME.json")
    options = parser.parse_args(arguments)
    if options.name is None:
        list_benchmarks()
        return 0
    try:
        return run(options.name, options.quick, options.output)
    except (DataMissing, PeerMissing) as missing:
        print(missing, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
