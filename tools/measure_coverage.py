"""Lines and branches that the tests run, of Python and of the core: `make coverage`.

    python tools/measure_coverage.py [--python-only | --core-only] [TEST_FILE ...]

Python's are measured by coverage.py ([tool.coverage] in pyproject.toml), with those of programs that tests start; the
core's by gcc and gcovr, from its own tests. `cpp/bindings` is left out: Python's tests run it, and the extension that
they use has no counters. Reports: build/coverage/python/index.html and build/coverage/core/index.html. The exit status
is 1 where a test fails or a share of lines is below its limit. Lines that a comment leaves out have their reason there.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "coverage"
MIN_PYTHON, MIN_CORE = 95, 90  # per cent of lines
BIN = Path(sys.executable).parent


def run(*command: object, check: bool = True, **options: object) -> int:
    print("$", *command, flush=True)
    return subprocess.run([str(part) for part in command], check=check, cwd=ROOT, **options).returncode


def measure_python(files: list[str]) -> bool:
    """Runs the tests under coverage.py, a file at a time, and says whether all passed and the share suffices."""
    data = REPORTS / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    environment = os.environ | {"COVERAGE_FILE": str(data / ".coverage")}
    coverage = (sys.executable, "-m", "coverage")
    chosen = files or [str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests").glob("test_*.py"))]
    failed = [
        file
        for file in chosen
        if run(*coverage, "run", "-m", "pytest", file, check=False, env=environment) not in (0, 5)
    ]
    run(*coverage, "combine", "--quiet", env=environment)
    run(*coverage, "html", "--directory", REPORTS / "python", "--quiet", env=environment)
    short = run(*coverage, "report", "--skip-covered", f"--fail-under={MIN_PYTHON}", check=False, env=environment)
    if failed:
        print("failed:", *failed)
    return not failed and short == 0


def measure_core() -> bool:
    """Runs the core's tests with gcc's counters, unoptimised, and says whether the share of lines suffices."""
    build = ROOT / "build" / "core-coverage"
    flags = "--coverage -O1 -fno-inline -fprofile-update=atomic"
    run(BIN / "cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=", f"-DCMAKE_CXX_FLAGS={flags}")
    run(BIN / "cmake", "--build", build, "-j", 2)
    for counters in build.rglob("*.gcda"):
        counters.unlink()
    run(build / "core_tests")
    report = REPORTS / "core"
    report.mkdir(parents=True, exist_ok=True)
    # A line of a template counts once, whichever of its instances ran.
    options = ("--root", ROOT, "--filter", "cpp/", "--exclude-throw-branches", "--merge-lines")
    merge = ("--merge-mode-functions", "merge-use-line-min")
    limits = ("--fail-under-line", MIN_CORE, "--html-details", report / "index.html", "--txt", "-", "--txt-summary")
    return run(BIN / "gcovr", *options, *merge, *limits, build, check=False) == 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Lines and branches that the tests run.")
    parser.add_argument("files", nargs="*", help="files of Python's tests; all of them without one")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--python-only", action="store_true")
    only.add_argument("--core-only", action="store_true")
    given = parser.parse_args(arguments)
    good = given.core_only or measure_python(given.files)
    good &= given.python_only or measure_core()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
