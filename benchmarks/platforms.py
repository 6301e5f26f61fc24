"""What is published: size of the wheel, seconds until its demo has run, lines and branches that tests run."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from benchmarks.datasets import DataMissing
from benchmarks.results import Row, row
from tools import measure_coverage, wheel

MOST_MEGABYTES = 2.5
MOST_SECONDS = 30.0
DATA = (
    "wheel: the one in dist, which `make wheel` has made; seconds of pip install with the extra cli, from a cache that "
    "has all packages, into an environment without a compiler, and of `ordsvm demo` there. coverage: what `make "
    "coverage` has measured, of Python (src/ordsvm but for the modules that Triton compiles for a GPU) and of the core "
    "(cpp but for cpp/bindings), with the tests of `make test`."
)
SLOW = "Most of it is pip, which unpacks and compiles what the extra cli needs."
MISSED = "See build/coverage for the lines that no test runs."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--python", default=sys.executable, help="the interpreter that the wheel is for; default: this")


def run(quick: bool, rows: list[str] | None = None, python: str = sys.executable) -> list[Row]:
    """The parts whose names begin with one of `rows`, or all. Quick: the wheel is not installed."""
    wanted = [name for name in ROWS if rows is None or any(name.startswith(prefix) for prefix in rows)]
    return [made for name in wanted for made in ROWS[name](quick, python)]


def _wheel(quick: bool, python: str) -> list[Row]:
    found = sorted((wheel.ROOT / "dist").glob("*.whl"))
    if not found:
        raise DataMissing("There is no wheel in dist: `make wheel` makes one.")
    facts: dict[str, Any] = {"wheel": found[0].name}
    made = [row("wheel: megabytes", found[0].stat().st_size / 1e6, at_most=MOST_MEGABYTES, **facts)]
    if not quick:
        parts = wheel.install_and_demonstrate(found[0], python)
        facts |= {"seconds_of_pip": parts[0], "seconds_of_the_demo": parts[1]}
        claim = "wheel: seconds of the installation from a warm cache and of the demo"
        made.append(row(claim, sum(parts), at_most=MOST_SECONDS, explanation=SLOW, **facts))
    return made


def _coverage(quick: bool, python: str) -> list[Row]:
    made = []
    for name, least in (("python", measure_coverage.MIN_PYTHON), ("core", measure_coverage.MIN_CORE)):
        file = measure_coverage.REPORTS / f"{name}.json"
        if not file.is_file():
            raise DataMissing(f"There is no file {file.name} in build/coverage: `make coverage` makes it.")
        lines, branches = measure_coverage.shares(json.loads(file.read_text()))
        made.append(row(f"coverage of {name}: per cent of lines", lines, at_least=least, explanation=MISSED))
        made.append(row(f"coverage of {name}: per cent of branches", branches))
    return made


ROWS = {"wheel": _wheel, "coverage": _coverage}
