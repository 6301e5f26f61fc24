"""AsyAGCD against AsyGCD: does shrinking pay, and how small does the active set become?

Where the ratio is below 1 it does not pay: rows of K that are cached cost little to add to all scores, the part that
comes from hinges at their caps has to be kept besides, and AsyAGCD ends by M - m, which needs twice the precision.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from functools import partial

from benchmarks import timing
from benchmarks.results import Row, row
from benchmarks.solver_cases import DATA, Case, box_problem

__all__ = ["DATA", "ROWS", "run"]


ROWS = ("bounds", "california", "a9a", "ijcnn1")  # "bounds": the first 8000 rows of each of the others


def run(quick: bool, names: Sequence[str] = ROWS) -> list[Row]:
    """Two threads, log sharing, the paper's 10,000 steps between two shrinkings."""
    if quick:
        return _compare(box_problem("california", 1500), repeats=1) + _bounds("california", 1000, repeats=1)
    rows = [r for name in ROWS[1:] if name in names for r in _compare(box_problem(name), repeats=3)]
    return rows + [r for name in ROWS[1:] if "bounds" in names for r in _bounds(name, 8000, repeats=5)]


def _bounds(name: str, n: int, repeats: int) -> list[Row]:
    """The bounds of all threads against a thread's own: steps and seconds of the processor, by medians."""
    from ordsvm.solvers import AsyAGCD

    problem = box_problem(name, n)
    found: dict[str, list[tuple[float, int, int]]] = {"block": [], "global": []}
    for _ in range(repeats):
        for shrink, runs in found.items():
            begun = time.process_time()
            result = problem.solve(AsyAGCD(shrink=shrink), n_threads=2)
            runs.append((time.process_time() - begun, result.n_iter, result.kernel_rows))
    medians = {
        shrink: [statistics.median(column) for column in zip(*runs, strict=True)] for shrink, runs in found.items()
    }
    ratios = [one / other for one, other in zip(medians["global"], medians["block"], strict=True)]
    claim = f"{name}, first {n} rows: {{}} with global bounds / with block bounds"
    return [
        row(claim.format("seconds of the processor"), ratios[0], seconds={k: m[0] for k, m in medians.items()}),
        row(claim.format("steps"), ratios[1], steps={k: m[1] for k, m in medians.items()}),
        row(claim.format("rows of K"), ratios[2], rows={k: m[2] for k, m in medians.items()}),
    ]


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
