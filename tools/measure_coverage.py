"""Lines and branches that the tests run, of Python and of the core: `make coverage`.

    python tools/measure_coverage.py [--python-only | --core-only] [--slow] [--add] [TEST_FILE ...]

Python's are measured by coverage.py ([tool.coverage] in pyproject.toml), with those of programs that tests start, from
the tests of `make test`, or with --slow all; --add keeps what earlier runs have measured, so that files of tests can be
run in parts. The core's are measured by gcc and gcovr, from its own tests. `cpp/bindings` is left out: Python's tests
run it, and the extension that they use has no counters. Reports: build/coverage/python/index.html and
build/coverage/core/index.html. The exit status is 1 where a test fails or a share of lines is below its limit. Lines
that a comment leaves out have their reason there.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "coverage"
MIN_PYTHON, MIN_CORE = 95, 90  # per cent of lines
JOBS = 2  # files of tests at a time
ALONE = "test_async*.py"  # threads that wait for each other need the cores to themselves
NO_TESTS = 5  # pytest's exit status for a file whose tests are all slow
BIN = Path(sys.executable).parent


def run(*command: object, check: bool = True, **options: object) -> int:
    print("$", *command, flush=True)
    return subprocess.run([str(part) for part in command], check=check, cwd=ROOT, **options).returncode


def measure_python(files: list[str], slow: bool, add: bool) -> bool:
    """Runs the tests under coverage.py, JOBS files at a time, and says whether all passed and the share suffices."""
    data = REPORTS / "data"
    if not add:
        shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"COVERAGE_FILE": str(data / ".coverage")}
    coverage = (sys.executable, "-m", "coverage")

    def fails(file: str) -> bool:
        command = [*coverage, "run", "-m", "pytest", file, *(() if slow else ("-m", "not slow"))]
        began = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        failed = done.returncode not in (0, NO_TESTS)
        last = done.stdout if failed else "\n".join(done.stdout.splitlines()[-1:])
        print(f"{file}, {time.monotonic() - began:.0f} s: {last}", flush=True)
        return failed

    chosen = files or [str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests").glob("test_*.py"))]
    together = [file for file in chosen if not Path(file).match(ALONE)]
    with ThreadPoolExecutor(JOBS) as pool:
        failed = [file for file, bad in zip(together, pool.map(fails, together), strict=True) if bad]
    failed += [file for file in chosen if file not in together and fails(file)]
    run(*coverage, "combine", "--append", "--quiet", env=environment)
    run(*coverage, "html", "--directory", REPORTS / "python", "--quiet", env=environment)
    run(*coverage, "json", "-o", REPORTS / "python.json", "--quiet", env=environment)
    run(*coverage, "report", "--skip-covered", env=environment)
    if failed:
        print("failed:", *failed)
    return not failed and suffices("python", MIN_PYTHON)


def measure_core() -> bool:
    """Runs the core's tests with gcc's counters, unoptimised, with every instruction set of this machine, and says
    whether the share of lines suffices."""
    from ordsvm import _core

    build = ROOT / "build" / "core-coverage"
    flags = "--coverage -O1 -fno-inline -fprofile-update=atomic"
    run(BIN / "cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=", f"-DCMAKE_CXX_FLAGS={flags}")
    run(BIN / "cmake", "--build", build, "-j", 2)
    for counters in build.rglob("*.gcda"):
        counters.unlink()
    for name in _core.instruction_sets:
        run(build / "core_tests", env=os.environ | {"ORDSVM_ISA": name})
    report = REPORTS / "core"
    report.mkdir(parents=True, exist_ok=True)
    # A line of a template counts once, whichever of its instances ran.
    options = ("--root", ROOT, "--filter", "cpp/", "--exclude-throw-branches", "--merge-lines")
    merge = ("--merge-mode-functions", "merge-use-line-min")
    made = ("--html-details", report / "index.html", "--json-summary", REPORTS / "core.json", "--txt", "-")
    run(BIN / "gcovr", *options, *merge, *made, build)
    return suffices("core", MIN_CORE)


def suffices(name: str, least: float) -> bool:
    """Whether the share of lines in build/coverage/NAME.json does."""
    lines, branches = shares(json.loads((REPORTS / f"{name}.json").read_text()))
    print(f"{name}: {lines:.2f} % of lines (at least {least}), {branches:.2f} % of branches", flush=True)
    return lines >= least


def shares(report: dict[str, Any]) -> tuple[float, float]:
    """Per cent of lines and of branches, of a report of coverage.py or a summary of gcovr."""
    if "totals" not in report:
        return report["line_percent"], report["branch_percent"]
    totals = report["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    return lines, 100 * totals["covered_branches"] / totals["num_branches"]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Lines and branches that the tests run.")
    parser.add_argument("files", nargs="*", help="files of Python's tests; all of them without one")
    parser.add_argument("--slow", action="store_true", help="slow tests too")
    parser.add_argument("--add", action="store_true", help="to what earlier runs have measured")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--python-only", action="store_true")
    only.add_argument("--core-only", action="store_true")
    given = parser.parse_args(arguments)
    good = given.core_only or measure_python(given.files, given.slow, given.add)
    good &= given.python_only or measure_core()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
