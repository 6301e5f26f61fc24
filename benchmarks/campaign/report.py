"""Counts of a campaign by stratum, and the claims that they are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.campaign.workers import Record
from benchmarks.results import Row, row

OUTCOMES = ("converged", "warned", "wrong", "hung", "crashed")
STRATA = ("estimator", "solver", "kernel", "scale", "C", "steps")
MODERATE_C = ("1e-3 to 1e0", "1e0 to 1e3")
MOST_WITHOUT_CONVERGENCE = 0.005

# Why a problem did not converge: the first class that it belongs to.
CLASSES: dict[str, tuple[str, Callable[[Record], bool]]] = {
    "limited steps": ("max_iter was given.", lambda r: r["steps"] == "limited"),
    "not definite": (
        "The sigmoid kernel is not positive semidefinite: the gap need not close.",
        lambda r: r["kernel"] == "sigmoid",
    ),
    "beyond float64": (
        "Rounding of the scores in float64 is more than tol of the objective, or the solver ends by status precision: "
        "no sum of float64 numbers proves more.",
        lambda r: r["slack"] > r["tol"] or r["status"] == "precision",
    ),
    "unscaled, linear machine": (
        "C · max ‖x‖² is above 1e6: coordinate descent takes more passes than the time limit allows.",
        lambda r: r["kernel"].startswith("none") and r["largest_C"] > 1e6,
    ),
    "unscaled, named solver": (
        "C · max k(x, x) is above 1e6: a named solver takes more steps than the time limit allows.",
        lambda r: r["solver"] != "auto" and r["largest_C"] > 1e6,
    ),
    "unscaled, auto": ("C · max k(x, x) is above 1e6.", lambda r: r["largest_C"] > 1e6),
    "named solver": (
        "A named solver needs more time than the limit allows, mostly at C above 100 or tol = 1e-6.",
        lambda r: r["solver"] != "auto",
    ),
    "linear machine": (
        "Coordinate descent takes more passes than the time limit allows.",
        lambda r: r["kernel"].startswith("none"),
    ),
    "auto": ("The solver that auto takes needs more time.", lambda r: True),
}


def rows(records: list[Record]) -> list[Row]:
    """Claims with their bounds first, then the counts of every stratum."""
    counts = count(records)
    made = [row("problems tried", counts["tried"], at_least=10_000, **_all(counts))]
    for outcome in ("wrong", "hung", "crashed"):
        made.append(row(f"problems that ended {outcome}", counts[outcome], at_most=0))
    moderate = [record for record in records if record["C"] in MODERATE_C and record["steps"] != "limited"]
    for name, part in (("all solvers", moderate), ("solver auto", [r for r in moderate if r["solver"] == "auto"])):
        share = without_convergence(part)
        claim = f"share without convergence for C from 1e-3 to 1e3, {name}"
        made.append(row(claim, share, at_most=MOST_WITHOUT_CONVERGENCE, explanation=_why(part), **_all(count(part))))
    made.append(row("problems with Clarabel's optimum", sum(r.get("optima", 0) > 0 for r in records)))
    made.append(
        row("claims that hold by the allowance for rounding only", sum(bool(r.get("rounding")) for r in records))
    )
    for stratum in STRATA:
        for value in sorted({record[stratum] for record in records}):
            part = [record for record in records if record[stratum] == value]
            made.append(row(f"{stratum} {value}: share that converged", _share(part, "converged"), **_all(count(part))))
    return made + classes(records)


def classes(records: list[Record]) -> list[Row]:
    """What did not converge, by why."""
    made = []
    for name, part in _by_class(records).items():
        ended = Counter(f"{r['estimator']}, {r['solver']}: {r['status']}" for r in part)
        moderate = sum(record["C"] in MODERATE_C and record["steps"] != "limited" for record in part)
        detail = {"for_C_from_1e-3_to_1e3": moderate, "why": CLASSES[name][0], "ended": dict(ended.most_common(12))}
        made.append(row(f"without convergence: {name}", len(part), **detail))
    return made


def _by_class(records: list[Record]) -> dict[str, list[Record]]:
    left = [record for record in records if record["outcome"] == "warned"]
    parts = {}
    for name, (_, belongs) in CLASSES.items():
        parts[name] = [record for record in left if belongs(record)]
        left = [record for record in left if not belongs(record)]
    return parts


def _why(records: list[Record]) -> str:
    """The classes that a share without convergence is made of."""
    sizes = {name: len(part) for name, part in _by_class(records).items() if part}
    largest_first = sorted(sizes, key=lambda name: -sizes[name])
    return " ".join(f"{sizes[name]} {name}: {CLASSES[name][0]}" for name in largest_first)


def count(records: Iterable[Record]) -> dict[str, int]:
    counts = Counter(record["outcome"] for record in records)
    return {"tried": sum(counts.values())} | {outcome: counts[outcome] for outcome in OUTCOMES}


def without_convergence(records: list[Record]) -> float:
    return _share(records, "warned")


def _share(records: list[Record], outcome: str) -> float:
    return sum(record["outcome"] == outcome for record in records) / max(1, len(records))


def _all(counts: dict[str, int]) -> dict[str, Any]:
    return {"counts": counts}
