"""The solver that a search uses where the machine leaves the choice to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ordsvm.model_selection.known_kernel import KnownMatrix
from ordsvm.model_selection.newton import newton
from ordsvm.problem import Thresholds
from ordsvm.solvers import Block
from ordsvm.solvers.base import Run

FIRST_STEPS = 8  # a hinge, before the first attempt at Newton's method; twice as many before every other
NEAR = 0.1  # the violation below which it is tried
STEPS_OF_A_SYSTEM = 5e-5  # times the cube of its size: what a system costs, in steps


@dataclass(frozen=True)
class BlockNewton:
    """`Block`, and Newton's method where that takes long: at large C most of its steps are for the last digits.

    Newton's method needs all kernel values, and is tried when it costs no more than was already spent. Where it does
    not end at the optimum `Block` goes on from where it was. It has the last word, and so its rule for stopping holds.
    Ordered thresholds are left to `Block` alone.
    """

    name: ClassVar[str] = "block-newton"
    accepts: ClassVar[frozenset[Thresholds]] = Block.accepts

    def solve(self, run: Run) -> None:
        wanted = run.control
        if run.problem.thresholds is not Thresholds.ORDERED and isinstance(run.matrix, KnownMatrix):
            steps = FIRST_STEPS * len(run.alpha)
            while not _ended(run, steps) and not _jumped(run, run.matrix):
                steps *= 2
            run.control = wanted
            if run.stopped_by != "max_iter":
                return
            run.stopped_by = "converged"
        Block().solve(run)


def _ended(run: Run, steps: int) -> bool:
    """Whether so many more steps have been the last ones."""
    run.stopped_by = "converged"
    run.control = replace(run.control, max_iter=run.n_iter + steps)
    Block().solve(run)
    return run.stopped_by != "max_iter"


def _jumped(run: Run, matrix: KnownMatrix) -> bool:
    """Whether Newton's method has found the optimum."""
    problem, alpha = run.problem, run.alpha
    n_free = np.count_nonzero((alpha > 0) & (alpha < problem.hinges.cap))
    if STEPS_OF_A_SYSTEM * float(n_free) ** 3 > run.n_iter or problem.violation(alpha, run.score) > NEAR:
        return False
    found = newton(problem, matrix.values, alpha)
    if found is None:
        return False
    alpha[:] = problem.repair(found)
    run._start_anew()
    return True
