from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from threadpoolctl import ThreadpoolController

from ordsvm import _core
from ordsvm.problem import Thresholds
from ordsvm.solvers.kernel.block.newton import NEARER, Point, near_enough, newton
from ordsvm.solvers.kernel.run import PRECISIONS, Precision, Run, check_count, check_option
from ordsvm.solvers.kernel.team import usable_threads

STEPS_TO_START = 3  # a hinge


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
        that are satisfied by more than scores can be off.
    newton : bool, default=True
        Whether Newton's method may finish: after many steps, as at large C, that is faster.

    Attributes
    ----------
    name : str
        "block", for the `solver` parameter of an estimator.
    accepts : frozenset of Thresholds
        Treatments of the thresholds that it solves: all.

    See Also
    --------
    SMO : Pairs of hinges, with a cache of rows of K.
    GCD : Single hinges, with a cache of rows of K.
    Decomposition : Subproblems of hinges, solved side by side.

    Notes
    -----
    Kernel values between a working set and all samples are computed where they are used; they are kept only where rows
    of X are long. The result does not depend on the number of threads. The algorithm: cpp/block/block_smo.hpp, and
    newton.py for the end.

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
    accepts: ClassVar[frozenset[Thresholds]] = frozenset(Thresholds)

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
        n_threads, steps = usable_threads(run.control.n_threads), steps_to_start(run)
        # Early stopping wants to see the whole way; and what a function costs, nobody knows.
        may_jump = self.newton and run.control.examiner is None and not run.matrix.rows.is_function
        near = near_enough(run.problem) if may_jump else 0.0
        while not run.native(_core.block, self.precision, self.q1 or 0, self.q2, n_threads, near, steps):
            near = NEARER * min(near, _jump(run, n_threads))


def steps_to_start(run: Run) -> int:
    """What the given start is taken to have cost; that tells what the rest will cost."""
    return STEPS_TO_START * len(run.alpha) if run.alpha.any() else 0


def _jump(run: Run, n_threads: int) -> float:
    """To where Newton's method leads, if it leads anywhere. Returns the violation there, or here."""
    start = Point(run.alpha.copy(), run.exact_scores())
    with _one_thread_of_blas():
        point = newton(run.problem, run.matrix, start, run.control.tol, n_threads, run.out_of_time) or start
    run.go_to(point.alpha, point.score)
    return run.problem.violation(run.alpha, run.score)


def _one_thread_of_blas() -> AbstractContextManager[object]:
    """Idle threads of BLAS would go on and keep ours from a core. Their number is the main thread's to change."""
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes a millisecond
