"""Counts of a campaign by stratum, and the claims that they are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.campaign.kinds import SHARES
from benchmarks.campaign.workers import FAILURES, Record
from benchmarks.results import Row, row

OF_FITS, OF_OTHERS = ("converged", "warned"), ("right", "refused", "left out")
STRATA = ("estimator", "solver", "kernel", "scale", "C", "steps")
MODERATE_C = ("1e-3 to 1e0", "1e0 to 1e3")
MOST_WITHOUT_CONVERGENCE = 0.005

SMALL_STEPS = ("smo", "gcd", "block", "asygcd", "asyagcd", "asyorgcd", "parsmo-light", "parsmo-cache", "decomposition")

# Why a problem did not converge: the first class that it belongs to.
CLASSES: dict[str, tuple[str, Callable[[Record], bool]]] = {
    "limited steps": ("max_iter was given.", lambda r: r["steps"] == "limited"),
    "not definite": (
        "The sigmoid kernel is not positive semidefinite: the gap need not close.",
        lambda r: r["kernel"] == "sigmoid",
    ),
    "beyond float64": (
        "Proven: the rounding of scores in float64 that every α near the optimum, or the one found, has to be allowed "
        "for is more than tol of the objective (judge/verdict.py).",
        lambda r: r["least_rounding"] > r["tol"],
    ),
    "coordinate descent by name": (
        "rank-dcd, dcd-1 or dcd-2, taken by name: passes are many where C ‖x‖² or weights are large or tol is 1e-6; "
        "auto goes on by the interior-point method.",
        lambda r: r["solver"] in ("rank-dcd", "dcd-1", "dcd-2"),
    ),
    "hinges or pairs, by name, unscaled": (
        "A solver of single hinges, pairs or working sets, taken by name, where C · max k(x, x) is above 1e4: steps "
        "are many; auto goes on by the interior-point method.",
        lambda r: r["solver"] in SMALL_STEPS and r["largest_C"] > 1e4,
    ),
    "hinges or pairs, by name": (
        "The same where it is not, mostly with wild weights, C above 100 or tol = 1e-6.",
        lambda r: r["solver"] in SMALL_STEPS,
    ),
    "Newton's methods by name": (
        "interior-point or proximal-newton, taken by name: rounding in their systems ends them early.",
        lambda r: r["solver"] != "auto",
    ),
    "auto, rounding": (
        "auto ends by status precision, where float64 could express the answer: rounding within the last resort.",
        lambda r: r["status"] == "precision",
    ),
    "auto, time": ("What auto takes needs more time than the limit allows.", lambda r: True),
}
INEXPRESSIBLE = ("not definite", "beyond float64")


def rows(records: list[Record]) -> list[Row]:
    """Claims with their bounds first, then the counts of every stratum."""
    counts = count(records)
    made = [row("problems tried", counts["tried"], at_least=10_000, counts=counts)]
    for outcome in FAILURES:
        made.append(row(f"problems that ended {outcome}", counts[outcome], at_most=0))
    for kind in SHARES:
        made += of_kind(kind, [record for record in records if record["kind"] == kind])
    records = [record for record in records if record["kind"] == "fit"]
    moderate = [record for record in records if record["C"] in MODERATE_C and record["steps"] != "limited"]
    auto = [record for record in moderate if record["solver"] == "auto"]
    parts = {
        "all solvers": moderate,
        "solver auto": auto,
        "all solvers, where float64 can express the answer": _expressible(moderate),
        "solver auto, where float64 can express the answer": _expressible(auto),
    }
    for name, part in parts.items():
        share = without_convergence(part)
        claim = f"share without convergence for C from 1e-3 to 1e3, {name}"
        made.append(row(claim, share, at_most=MOST_WITHOUT_CONVERGENCE, explanation=_why(part), **_all(part)))
    made.append(row("problems with Clarabel's optimum", sum(r.get("optima", 0) > 0 for r in records)))
    made.append(
        row("claims that hold by the allowance for rounding only", sum(bool(r.get("rounding")) for r in records))
    )
    for stratum in STRATA:
        for value in sorted({record[stratum] for record in records}):
            part = [record for record in records if record[stratum] == value]
            made.append(row(f"{stratum} {value}: share that converged", _share(part, "converged"), **_all(part)))
    return made + classes(records)


def of_kind(kind: str, records: list[Record]) -> list[Row]:
    """Return how many problems of a kind were tried, and how many of them failed, which none may."""
    failed = [record for record in records if record["outcome"] in FAILURES]
    made = [row(f"{kind}: problems tried", len(records), counts=count(records))]
    if kind != "fit":
        made[0]["tried"] = dict(sorted(Counter(record["what"] for record in records).items()))
    wrong = ", ".join(f"{size} {what}" for what, size in Counter(r.get("what", kind) for r in failed).most_common(12))
    claim = f"{kind}: problems that ended wrong, hung or crashed"
    return [*made, row(claim, len(failed), at_most=0, explanation=f"They are of these strata: {wrong}.")]


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
    return " ".join(f"{size} {name}: {CLASSES[name][0]}" for name, size in _sizes(records).items())


def count(records: Iterable[Record]) -> dict[str, int]:
    counts = Counter(record["outcome"] for record in records)
    others = [outcome for outcome in OF_OTHERS if counts[outcome]]
    return {"tried": sum(counts.values())} | {name: counts[name] for name in (*OF_FITS, *others, *FAILURES)}


def without_convergence(records: list[Record]) -> float:
    return _share(records, "warned")


def _share(records: list[Record], outcome: str) -> float:
    return sum(record["outcome"] == outcome for record in records) / max(1, len(records))


def _all(records: list[Record]) -> dict[str, Any]:
    return {"counts": count(records), "not_converged_by_class": _sizes(records)}


def _expressible(records: list[Record]) -> list[Record]:
    """Without those that did not converge and could not."""
    parts = _by_class(records)
    left_out = {id(record) for name in INEXPRESSIBLE for record in parts[name]}
    return [record for record in records if id(record) not in left_out]


def _sizes(records: list[Record]) -> dict[str, int]:
    """How many of them did not converge, by class, the largest first."""
    sizes = {name: len(part) for name, part in _by_class(records).items() if part}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))
