"""What fails of a suite, as `SUITE.toml` lists it: each test once, under a kind and a reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
#: What a failure may be; "bug" is what is to be mended.
KINDS = {
    "internals": "not promised by scikit-learn: private attributes, texts of messages, when wrong input is refused",
    "documented": "differences that the manual names",
    "missing": "features that are not there",
    "bug": "faults",
}


@dataclass(frozen=True)
class Cause:
    """Why tests fail: a kind, and a sentence."""

    kind: str
    reason: str


@dataclass(frozen=True)
class Known:
    """The list of a suite: the version of scikit-learn that it is about, and the cause of every failure."""

    version: str
    causes: dict[str, Cause]


def read(suite: str) -> Known:
    """Read the list of a suite; raise ValueError where a test is listed twice or a cause is not complete."""
    content = tomllib.loads((FOLDER / f"{suite}.toml").read_text(encoding="utf-8"))
    causes: dict[str, Cause] = {}
    for entry in content["failures"]:
        cause = Cause(entry["kind"], entry["reason"])
        if cause.kind not in KINDS or not cause.reason:
            raise ValueError(f"{suite}.toml: {cause} is not valid: give a kind of {', '.join(KINDS)} and a reason.")
        for test in entry["tests"]:
            if test in causes:
                raise ValueError(f"{suite}.toml lists {test} twice: keep one of its entries.")
            causes[test] = cause
    return Known(content["scikit-learn"], causes)


@dataclass(frozen=True)
class Difference:
    """What a run and its list disagree about.

    unlisted: failures that the list lacks. mended: listed tests that pass. lost: listed tests that do not exist.
    """

    unlisted: list[str]
    mended: list[str]
    lost: list[str]


def compare(known: Known, outcomes: Mapping[str, Mapping[str, str]]) -> Difference:
    """Compare outcomes with the list. A listed test that is skipped here says nothing."""
    found = {test: outcome["outcome"] for test, outcome in outcomes.items()}
    return Difference(
        unlisted=[test for test, outcome in found.items() if outcome == "failed" and test not in known.causes],
        mended=[test for test in known.causes if found.get(test) == "passed"],
        lost=[test for test in known.causes if test not in found],
    )


def as_toml(version: str, known: Known, outcomes: Mapping[str, Mapping[str, str]]) -> str:
    """Return the failures of a run as a list: with the causes that are known, the others as bugs, by their errors."""
    grouped: dict[Cause, list[str]] = {cause: [] for cause in known.causes.values()}
    for test, outcome in outcomes.items():
        if outcome["outcome"] == "failed":
            cause = known.causes.get(test, Cause("bug", f"NEW: {outcome['error']}"))
            grouped.setdefault(cause, []).append(test)
    order = list(KINDS)
    parts = [f"scikit-learn = {_quoted(version)}\n"]
    for cause in sorted((each for each, tests in grouped.items() if tests), key=lambda each: order.index(each.kind)):
        tests = "".join(f"    {_quoted(test)},\n" for test in grouped[cause])
        parts.append(
            f"[[failures]]\nkind = {_quoted(cause.kind)}\nreason = {_quoted(cause.reason)}\ntests = [\n{tests}]\n"
        )
    return "\n".join(parts)


def _quoted(text: str) -> str:
    """Return a basic string of TOML."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
