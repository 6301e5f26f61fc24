"""scikit-learn's own tests of SVC and GridSearchCV with classes of this library in their place: failures by kind."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import sklearn

from benchmarks.contestants import PeerMissing
from benchmarks.peer_tests.failures import KINDS, as_toml, compare, read
from benchmarks.peer_tests.suites import SUITES
from benchmarks.results import Row, row

DATA = (
    "The tests that scikit-learn installs, run where they are. svm: sklearn/svm/tests, with SVC, SVR, LinearSVC and "
    "LinearSVR of ordsvm under these names. search: test_search.py of sklearn/model_selection, with OrdinalSearchCV "
    "as GridSearchCV. search-accuracy: the same, with scoring=None as the default, which is scikit-learn's. Each "
    "failure is listed with its kind and reason in benchmarks/peer_tests."
)
ROWS = tuple(SUITES)
ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 1800  # seconds of a suite
TO_DO = "The list of the suite in benchmarks/peer_tests says which: to be mended."
DISAGREEMENTS = ("failures that the list lacks", "listed failures that pass", "listed failures that do not exist")
OUTCOMES = {"passed": "pass", "failed": "fail", "skipped": "are skipped"}
UPDATE = "`python -m benchmarks peer-tests --list SUITE` prints the list that the file ought to be."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--list",
        dest="listed",
        metavar="SUITE",
        choices=list(SUITES),
        help="print the failures of this suite as its file lists them, new ones as bugs, and measure nothing",
    )


def run(quick: bool, rows: Sequence[str] | None = None, listed: str | None = None) -> list[Row]:
    """The suites whose names begin with one of `rows`, or all; quick: the first alone."""
    if listed is not None:
        print(as_toml(sklearn.__version__, read(listed), outcomes_of(listed)))
        sys.exit(0)
    wanted = [name for name in ROWS if rows is None or any(name.startswith(prefix) for prefix in rows)]
    return [made for name in wanted[: 1 if quick else None] for made in _rows(name)]


def outcomes_of(suite: str, only: str | None = None) -> dict[str, dict[str, str]]:
    """Run a suite, or its tests whose names match `only`, in a process of its own; return outcome and error by test."""
    tests = SUITES[suite].tests
    if importlib.util.find_spec(tests) is None:
        raise PeerMissing("peer-tests: scikit-learn is installed without its tests: take a wheel of its releases.")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "outcomes.json"
        command = [sys.executable, "-m", "pytest", "-p", "benchmarks.peer_tests.plugin", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, "--rootdir", str(Path(sklearn.__file__).parents[1]), "-q", "--pyargs", tests]
        command += [] if only is None else ["-k", only]
        environment = os.environ | {
            "PEER_SUITE": suite,
            "PEER_REPORT": str(report),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        }
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        if not report.is_file():
            raise RuntimeError(f"The tests of {tests} did not run to their end:\n{ended.stdout}{ended.stderr}")
        found: dict[str, dict[str, str]] = json.loads(report.read_text())
        return found


def _rows(suite: str) -> list[Row]:
    known = read(suite)
    if sklearn.__version__ != known.version:
        raise PeerMissing(
            f"peer-tests: the list of {suite} is about scikit-learn {known.version}, not {sklearn.__version__}: "
            f"install that version, or write the list anew. {UPDATE}"
        )
    outcomes = outcomes_of(suite)
    counts = Counter(outcome["outcome"] for outcome in outcomes.values())
    difference = compare(known, outcomes)
    failed = [test for test, outcome in outcomes.items() if outcome["outcome"] == "failed"]
    kinds = Counter(known.causes[test].kind for test in failed if test in known.causes)
    made = [row(f"{suite}: tests that {word}", counts[name]) for name, word in OUTCOMES.items()]
    for kind, meaning in KINDS.items():
        most = {"at_most": 0} if kind == "bug" else {}
        made.append(row(f"{suite}: failures, {kind}", kinds[kind], meaning=meaning, explanation=TO_DO, **most))
    for claim, tests in zip(DISAGREEMENTS, (difference.unlisted, difference.mended, difference.lost), strict=True):
        explanation = f"{', '.join(tests)}. {UPDATE}"
        made.append(row(f"{suite}: {claim}", len(tests), at_most=0, explanation=explanation))
    return made
