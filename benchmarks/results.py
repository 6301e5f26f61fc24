"""What a benchmark leaves behind: rows of claims, figures and bounds, as JSON and as a table."""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Race

FOLDER = Path(__file__).resolve().parent / "results"
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "pandas",
    "dask",
    "distributed",
    "ordsvm",
    "torch",
    "triton",
    "skordinal",
    "mord",
)
WIDTH = 110

Row = dict[str, Any]


def row(claim: str, figure: float, at_least: float | None = None, at_most: float | None = None, **detail: Any) -> Row:
    """One claim. Without a bound it is a measurement, `met` is None. A miss ought to bring `explanation`."""
    bound: str | None = None
    met: bool | None = None
    if at_least is not None:
        bound, met = f">= {at_least:g}", bool(figure >= at_least)
    elif at_most is not None:
        bound, met = f"<= {at_most:g}", bool(figure <= at_most)
    explanation = detail.pop("explanation", None)
    made: Row = {"claim": claim, "figure": figure, "bound": bound, "met": met}
    if met is False:
        made["explanation"] = explanation or "Not explained yet."
    return made | detail


def speed_row(claim: str, race: Race, ours: str, peer: str, **detail: Any) -> Row:
    """How many times longer the peer took. With `skipped`, the reason why it did not take part, there is no figure."""
    seconds = {"our_seconds": race.median(ours), "our_seconds_all": race.seconds[ours]}
    if detail.get("skipped"):
        kept = {key: value for key, value in detail.items() if key not in ("explanation", "at_least")}
        return row(claim, math.nan, **seconds, **kept)
    detail.pop("skipped", None)
    seconds |= {"peer_seconds": race.median(peer), "peer_seconds_all": race.seconds[peer]}
    return row(claim, race.ratio(peer, ours), **seconds, **detail)


def versions() -> dict[str, str]:
    """What ran: Python, the packages, and the compiler if ordsvm's core has an attribute `compiler`."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    try:
        found["compiler"] = str(getattr(importlib.import_module("ordsvm._core"), "compiler", "not known"))
    except ImportError:
        found["compiler"] = "not known"
    return found


def machine() -> dict[str, Any]:
    """The processor and the cores this process may use; nothing that names the computer."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    return {"cpu": model, "cores": cores, "system": platform.system(), "architecture": platform.machine()}


def write(name: str, rows: list[Row], data: str, quick: bool = False, path: Path | None = None) -> Path:
    """Writes results/NAME.json (or `path`) and returns where."""
    path = path or FOLDER / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "benchmark": name,
        "command": f"python -m benchmarks {name}" + (" --quick" if quick else ""),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "data": data,
        "rows": rows,
    }
    path.write_text(pretty(plain(report)) + "\n")
    return path


def other_rows(name: str, rows: list[Row], path: Path | None = None) -> list[Row]:
    """The rows of an earlier run that `rows` do not replace, so that parts can be run one by one; they say when, where
    and with which version they were measured."""
    path = path or FOLDER / f"{name}.json"
    if not path.is_file():
        return []
    earlier, made = json.loads(path.read_text()), {row["claim"] for row in rows}
    where = {"date": earlier["date"], "cpu": earlier["machine"]["cpu"], "ordsvm": earlier["versions"]["ordsvm"]}
    return [{**row, "measured": row.get("measured", where)} for row in earlier["rows"] if row["claim"] not in made]


def plain(value: Any) -> Any:
    """Python numbers of six significant digits in place of NumPy's; JSON has no infinity or NaN, so None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def pretty(value: Any, indent: int = 0) -> str:
    """JSON with one line for whatever fits on one, keys in the order given: a diff shows what changed."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or len(line) + indent <= WIDTH:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, list):
        items = [inner + pretty(item, indent + 2) for item in value]
        opening, closing = "[", "]"
    else:
        items = [f"{inner}{json.dumps(key)}: {pretty(item, indent + 2)}" for key, item in value.items()]
        opening, closing = "{", "}"
    return opening + "\n" + ",\n".join(items) + "\n" + " " * indent + closing


def show(rows: Iterable[Row]) -> None:
    """Prints claim, figure, bound and verdict, and below them the explanation of every miss."""
    rows = list(rows)
    verdict = {True: "met", False: "MISSED", None: ""}
    cells = [(r["claim"], f"{r['figure']:.4g}", r["bound"] or "", verdict[r["met"]]) for r in rows]
    show_table(("claim", "figure", "bound", ""), cells)
    for r in rows:
        if r["met"] is False:
            print(f"MISSED: {r['claim']}: {r['explanation']}")


def show_table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Left-aligned columns, with two blanks in between."""
    widths = [max(len(line[column]) for line in [header, *cells]) for column in range(len(header))]
    for line in [header, tuple("-" * width for width in widths), *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
