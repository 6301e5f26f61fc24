"""AsyAGCD against AsyGCD: does shrinking pay, and how small does the active set become?

Where the ratio is below 1 it does not pay: rows of K that are cached cost little to add to all scores, the part that
comes from hinges at their caps has to be kept besides, and AsyAGCD ends by M - m, which asks for twice the precision.
"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks import timing
from benchmarks.box_problems import DATA, Case, case
from benchmarks.results import Row, row

__all__ = ["DATA", "run"]


def run(quick: bool) -> list[Row]:
    """Two threads, log sharing, the paper's 10,000 steps between two shrinkings."""
    if quick:
        return _compare(case("california", 1500), repeats=1)
    return [r for name in ("california", "a9a", "ijcnn1") for r in _compare(case(name), repeats=3)]


def _compare(problem: Case, repeats: int) -> list[Row]:
    from ordsvm.solvers import AsyAGCD, AsyGCD

    results: dict[str, Any] = {}

    def contestant(name: str, solver: Any) -> Any:
        def call() -> None:
            results[name] = problem.solve(solver, n_threads=2)

        return call

    times = timing.alternate(
        {"AsyGCD": contestant("AsyGCD", AsyGCD()), "AsyAGCD": contestant("AsyAGCD", AsyAGCD())}, repeats
    )
    watched = problem.solve(AsyAGCD(), n_threads=2, report_every=max(1, results["AsyAGCD"].n_iter // 50))
    plain, active = results["AsyGCD"], results["AsyAGCD"]
    return [
        row(
            f"{problem.name}: seconds of AsyGCD / of AsyAGCD",
            timing.ratio(times["AsyGCD"], times["AsyAGCD"]),
            seconds={name: statistics.median(times[name]) for name in times},
            steps={"AsyGCD": plain.n_iter, "AsyAGCD": active.n_iter},
            hinges=len(problem.problem.hinges),
            active_over_time=[(progress.n_iter, progress.n_active) for progress in watched.history],
        ),
        row(
            f"{problem.name}: relative difference of the objectives of AsyGCD and AsyAGCD",
            abs(plain.objective - active.objective) / active.objective,
            at_most=1e-4,
            relative_gaps=[plain.relative_gap, active.relative_gap],
        ),
    ]
