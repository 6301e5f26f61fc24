"""A plugin of pytest: scikit-learn's test files run where they are installed, with classes of ordsvm in their place.

`PEER_SUITE` names the suite, and `PEER_REPORT` the file that outcomes are written to.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from benchmarks.peer_tests.suites import SUITES

LONGEST = 160  # characters of an error that are kept

outcomes: dict[str, dict[str, str]] = {}


def pytest_configure(config: Any) -> None:
    """Replace the classes before the test modules import them."""
    SUITES[os.environ["PEER_SUITE"]].replace()


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the outcome of a test, a failure of any phase before all else, with the first line of the error."""
    name = report.nodeid.rpartition("/")[2]
    is_outcome = report.when == "call" or report.outcome != "passed"
    if is_outcome and outcomes.get(name, {}).get("outcome") != "failed":
        outcomes[name] = {"outcome": report.outcome, "error": _first_line(report)}


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Write the outcomes of all tests."""
    Path(os.environ["PEER_REPORT"]).write_text(json.dumps(outcomes))


def _first_line(report: Any) -> str:
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr) if crash is None else crash.message
    return " ".join(text.splitlines()[:1])[:LONGEST]
