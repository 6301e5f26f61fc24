from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_count, check_option, usable_threads
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.blas import blas_threads
from ordsvm.solvers.kernel.block.newton import Point, newton
from ordsvm.solvers.kernel.run import Run

STEPS_OF_A_START = 3  # a hinge: what a given start counts as
NEWTON_START_VIOLATION = 0.05  # as a share of the spread of sign·offset over the hinges
NEWTON_NEXT_VIOLATION = 0.2  # for another attempt, as a share of where the last one began or led


@dataclass(frozen=True)
class Block:
    """Block SMO on three tiers: all samples, a working set of them, and small sets that the working set is solved by.

    Parameters
    ----------
    q1 : int or None, default=None
        Samples in a working set; None: half as many again as there are free hinges, from 1024 to 4096.
    q2 : int, default=256
        Samples in the small sets.
    precision : {"float32", "float64"}, default="float32"
        Precision of kernel values. Scores are summed in float64 and recomputed from α before the end, but for samples
        that are satisfied by more than scores can be off, by a proven bound (docs/rounding.md). Polynomial kernels of
        broken degree, or of one above 64, have no such bound: all their scores are recomputed.
    newton : bool, default=True
        Whether Newton's method may finish: after many steps, as at large C, that is faster.

    Attributes
    ----------
    name : str
        "block", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: all.

    See Also
    --------
    SMO : Pairs of hinges, with a cache of rows of K.
    GCD : Single hinges, with a cache of rows of K.
    Decomposition : Subproblems of hinges, solved side by side.

    Notes
    -----
    Kernel values between a working set and all samples are computed where they are used; they are kept only where rows
    of X are long. With the same number of threads, two runs give the same result. The algorithm:
    cpp/solvers/block/block_smo.hpp, and newton.py for the end.

    Examples
    --------
    >>> from ordsvm import SVOR, Block
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(solver=Block(q2=64)).fit(X, y)
    >>> model.result_.solver, model.result_.converged
    ('block', True)
    """

    q1: int | None = None
    q2: int = 256
    precision: Precision = "float32"
    newton: bool = True

    name: ClassVar[str] = "block"
    accepts: ClassVar[frozenset[Treatment]] = frozenset(Treatment)

    def __post_init__(self) -> None:
        if self.q1 is not None:
            check_count("q1", self.q1, "samples", least=2)
        check_count("q2", self.q2, "samples", least=2)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        n_threads, steps = usable_threads(run.control.n_threads), steps_of_start(run)
        # Early stopping needs looks along the way, which a jump skips; the cost of a callable kernel is unknown.
        may_jump = self.newton and run.control.monitor is None and not run.matrix.rows.is_callable
        start_newton = newton_start_violation(run.problem) if may_jump else 0.0
        while not run.native(_core.block, self.precision, self.q1 or 0, self.q2, n_threads, start_newton, steps):
            start_newton = NEWTON_NEXT_VIOLATION * min(start_newton, _jump(run, n_threads))


class BlockFromNewton(Block):
    """Block where other steps on pairs have come as far as Newton's method: it begins with that."""

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        if run.alpha.any() and self.newton:
            _jump(run, usable_threads(run.control.n_threads))
        super().solve(run)


def newton_start_violation(problem: Problem) -> float:
    """The violation from which Newton's method may take over, where the core expects it to end sooner than steps.

    It is in proportion to the spread of sign·offset, the scores at which losses vanish, as violations are.
    """
    level = problem.hinges.sign * problem.hinges.offset
    apart = level - level.sum() / len(level)  # np.std takes five times as long for a small table
    return NEWTON_START_VIOLATION * (float(np.sqrt((apart * apart).sum() / len(level))) or float(np.abs(level).mean()))


def steps_of_start(run: Run) -> int:
    """What a given start is taken to have cost; the core estimates the cost of the rest from it."""
    return STEPS_OF_A_START * len(run.alpha) if run.alpha.any() else 0


def _jump(run: Run, n_threads: int) -> float:
    """Moves to the result of Newton's method, if it has one. Returns the violation afterwards."""
    start = Point(run.alpha.copy(), run.exact_scores())
    with blas_threads(1):
        point = newton(run.problem, run.matrix, start, run.control.tol, n_threads, run.out_of_time) or start
    run.move_to(point.alpha, point.score)
    return run.problem.violation(run.alpha, run.score)
