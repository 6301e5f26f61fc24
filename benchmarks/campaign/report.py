"""Counts of a campaign by stratum, and the claims that they are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from benchmarks.campaign.workers import Record
from benchmarks.results import Row, row

OUTCOMES = ("converged", "warned", "wrong", "hung", "crashed")
STRATA = ("estimator", "solver", "kernel", "scale", "C", "steps")
MODERATE_C = ("1e-3 to 1e0", "1e0 to 1e3")
MOST_WITHOUT_CONVERGENCE = 0.005


def rows(records: list[Record], explanation: str = "") -> list[Row]:
    """Claims with their bounds first, then the counts of every stratum."""
    counts = count(records)
    made = [row("problems tried", counts["tried"], at_least=10_000, **_all(counts))]
    for outcome in ("wrong", "hung", "crashed"):
        made.append(row(f"problems that ended {outcome}", counts[outcome], at_most=0))
    moderate = [record for record in records if record["C"] in MODERATE_C and record["steps"] != "limited"]
    for name, part in (("all solvers", moderate), ("solver auto", [r for r in moderate if r["solver"] == "auto"])):
        share = without_convergence(part)
        claim = f"share without convergence for C from 1e-3 to 1e3, {name}"
        made.append(row(claim, share, at_most=MOST_WITHOUT_CONVERGENCE, explanation=explanation, **_all(count(part))))
    made.append(row("problems with Clarabel's optimum", sum(r.get("optima", 0) > 0 for r in records)))
    made.append(
        row("claims that hold by the allowance for rounding only", sum(bool(r.get("rounding")) for r in records))
    )
    for stratum in STRATA:
        for value in sorted({record[stratum] for record in records}):
            part = [record for record in records if record[stratum] == value]
            made.append(row(f"{stratum} {value}: share that converged", _share(part, "converged"), **_all(count(part))))
    return made + classes(records)


def classes(records: Iterable[Record]) -> list[Row]:
    """What did not converge, by why it ended, kind of solver and scale."""
    warned = [record for record in records if record["outcome"] == "warned"]
    ended = Counter(tuple(r[name] for name in ("status", "solver", "kernel", "scale", "C")) for r in warned)
    return [row(f"ended by {' / '.join(key)}", number) for key, number in ended.most_common(40)]


def count(records: Iterable[Record]) -> dict[str, int]:
    counts = Counter(record["outcome"] for record in records)
    return {"tried": sum(counts.values())} | {outcome: counts[outcome] for outcome in OUTCOMES}


def without_convergence(records: list[Record]) -> float:
    return 1.0 - _share(records, "converged") if records else 0.0


def _share(records: list[Record], outcome: str) -> float:
    return sum(record["outcome"] == outcome for record in records) / max(1, len(records))


def _all(counts: dict[str, int]) -> dict[str, Any]:
    return {"counts": counts}
