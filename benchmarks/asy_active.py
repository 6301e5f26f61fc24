"""AsyAGCD against AsyGCD: does shrinking pay, and how small does the active set become?

Where the ratio is below 1 it does not pay: rows of K that are cached cost little to add to all scores, the part that
comes from hinges at their caps has to be kept besides, and AsyAGCD ends by M - m, which needs twice the precision.
"""

from __future__ import annotations

from functools import partial

from benchmarks import timing
from benchmarks.results import Row, row
from benchmarks.solver_cases import DATA, Case, box_problem

__all__ = ["DATA", "run"]


def run(quick: bool) -> list[Row]:
    """Two threads, log sharing, the paper's 10,000 steps between two shrinkings."""
    if quick:
        return _compare(box_problem("california", 1500), repeats=1)
    return [r for name in ("california", "a9a", "ijcnn1") for r in _compare(box_problem(name), repeats=3)]


def _compare(problem: Case, repeats: int) -> list[Row]:
    from ordsvm.solvers import AsyAGCD, AsyGCD

    solvers = {"AsyGCD": AsyGCD(), "AsyAGCD": AsyAGCD()}
    race = timing.race({name: partial(problem.solve, solver, 2) for name, solver in solvers.items()}, repeats)
    plain, active = race.last("AsyGCD"), race.last("AsyAGCD")
    watched = problem.solve(AsyAGCD(), n_threads=2, report_every=max(1, active.n_iter // 50))
    return [
        row(
            f"{problem.name}: seconds of AsyGCD / of AsyAGCD",
            race.ratio("AsyGCD", "AsyAGCD"),
            seconds=race.medians(),
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
