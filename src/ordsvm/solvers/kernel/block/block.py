from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.checks import PRECISIONS, Precision, check_count, check_option, usable_threads
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.blas import blas_threads
from ordsvm.solvers.kernel.block.damped_newton import damped_newton
from ordsvm.solvers.kernel.block.newton import Matrix, Point, Stop, newton
from ordsvm.solvers.kernel.run import Run

LONG_ROW = 30  # features from which on K of a working set takes longer to be made again than to be read
MOST_WHOLE = 8192  # samples that are one working set where rows are long
NEWTON_START_VIOLATION = 0.05  # as a share of the spread of sign·offset over the hinges
NEWTON_NEXT_VIOLATION = 0.2  # for another attempt, as a share of where the last one began or led
NEXT_AFTER_STEPS = 0.4  # the same where the damped method may take over
DAMPED_START = 14.0  # of damped_newton.py, as a multiple of the violation from which newton.py is tried
NEXT_LOOK = 0.3  # share of the violation from which the damped method is considered again
ROUNDING = 1.5  # by which the violation of float32 scores may be smaller than that of exact ones
STEPS_OF_A_START = 3  # a hinge: what a given start counts as
MATRICES = 4  # of the samples with free hinges: there are more of these on the way
LEAST_GAIN = 2.0  # time that steps are expected to take, by one thread, over that of the damped method
LEAST_GAIN_AFTER_PLAIN = 1.5  # the same where the plain one fails: steps are then more than is expected
LEAST_PATIENCE = 50_000  # steps between two looks at whether the damped method pays
LEAST_STEP = 2000.0  # microseconds that a Newton step takes however few samples there are
MANY_FEATURES = 100.0  # of a row, where they are not known

Method = Callable[[Problem, Matrix, Point, float, int, Stop], Point | None]


@dataclass(frozen=True)
class Block:
    """Block SMO on three tiers: all samples, a working set of them, and small sets that the working set is solved by.

    Parameters
    ----------
    q1 : int or None, default=None
        Samples in a working set; None: half as many again as there are free hinges, from 1024 to 4096; or all, up to
        8192, where they have 30 features or more and half of `cache_size` holds their kernel values in float32.
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
    cpp/solvers/block/block_smo.hpp, and for the end newton.py, at large C from farther away damped_newton.py.

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
        n_threads = usable_threads(run.control.n_threads)
        jumps = Jumps(run, n_threads)
        # Early stopping needs looks along the way, which a jump skips; the cost of a callable kernel is unknown.
        may_jump = self.newton and run.control.monitor is None and not run.matrix.rows.is_callable
        options = self.precision, self.q1 or _whole_set(run), self.q2, n_threads
        while not run.native(_core.block, *options, jumps.start if may_jump else 0.0, jumps.steps_before):
            jumps.jump()


def _whole_set(run: Run) -> int:
    """The number of samples, where their rows are long and half of the memory for K holds all of it; else 0, which
    leaves the size of a working set to the core."""
    n = run.problem.n_samples
    fits = n <= MOST_WHOLE and 8 * n * n <= run.matrix.budget
    return n if fits and not run.matrix.rows.is_callable and _features(run) >= LONG_ROW else 0


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
            Jumps(run, usable_threads(run.control.n_threads)).move([newton])
        super().solve(run)


def newton_start_violation(problem: Problem) -> float:
    """The violation from which Newton's method may take over, where the core expects it to end sooner than steps.

    It is in proportion to the spread of sign·offset, the scores at which losses vanish, as violations are.
    """
    level = problem.hinges.sign * problem.hinges.offset
    apart = level - level.sum() / len(level)  # np.std takes five times as long for a small table
    return NEWTON_START_VIOLATION * (float(np.sqrt((apart * apart).sum() / len(level))) or float(np.abs(level).mean()))


def steps_of_start(alpha: Floats) -> int:
    """What a given start is taken to have cost; the cost of the rest is estimated from it."""
    return STEPS_OF_A_START * len(alpha) if alpha.any() else 0


class Costs(NamedTuple):
    """Of what Newton's method needs: the microseconds of a kernel value, and the bytes that its matrices may take."""

    value: float
    budget: float


class Attempts:
    """Attempts at Newton's method. The core may leave off for the next one from a violation of `start` on; or, where it
    counts steps, for the plain method from `plain_start` on and for the damped one after `patience` steps."""

    def __init__(self, problem: Problem, tol: float, costs: Costs) -> None:
        self._problem, self._tol, self._costs = problem, tol, costs
        self._spread = self._plain = newton_start_violation(problem)
        self._damped = 0.0 if problem.treatment is Treatment.ORDERED else DAMPED_START * self._plain
        self.start = max(self._plain, self._damped)
        self.patience = LEAST_PATIENCE

    @property
    def plain_start(self) -> float:
        return self._plain

    def methods(self, alpha: Floats, violation: float, steps: int) -> list[Method]:
        """Those to be tried from here, after so many steps on pairs; the result of the first that has one counts."""
        plain = violation <= ROUNDING * self._plain
        gain = LEAST_GAIN_AFTER_PLAIN if plain else LEAST_GAIN
        worth = gain * self._damped_cost(violation, self._count_free_samples(alpha))
        damped = steps > worth
        self.patience = max(LEAST_PATIENCE, int(min(max(worth - steps, 0.2 * steps), steps)))
        tried: list[tuple[Method, bool]] = [(newton, plain), (damped_newton, damped)]
        return [method for method, is_due in tried if is_due]

    def note(self, methods: list[Method], violation: float) -> None:
        """Lowers the start: methods that were tried have led to this violation."""
        if newton in methods:
            share = NEXT_AFTER_STEPS if self._damped > 0.0 else NEWTON_NEXT_VIOLATION
            self._plain = share * min(self._plain, violation)
        if damped_newton in methods:
            self._damped = NEWTON_NEXT_VIOLATION * min(self._damped, violation)
        start = max(self._plain, min(self._damped, NEXT_LOOK * violation))
        self.start = start if start < self.start else NEXT_LOOK * self.start

    def _count_free_samples(self, alpha: Floats) -> int:
        h = self._problem.hinges
        return len(np.unique(h.sample[(alpha > 0.0) & (alpha < h.cap)]))

    def _damped_cost(self, violation: float, n_free: int) -> float:
        """How many steps on pairs there must have been so far for the damped method to take as long as those to come.

        By measurement on ten data sets it takes 12 Newton steps from a twentieth of the spread and 8 for every factor
        of e above, of n·z kernel values and z² operations a threshold, where z samples are free. Every factor of e by
        which the violation is to fall takes nearly half of the steps on pairs so far, which take the longer, the more
        thresholds there are; and there are at least as many to come as there were.
        """
        problem = self._problem
        if (
            violation > ROUNDING * self._damped
            or n_free == 0
            or violation <= self._tol
            or MATRICES * 8 * n_free**2 > self._costs.budget
        ):
            return math.inf
        n_steps = 12.0 + 8.0 * max(0.0, math.log(violation / self._spread))
        values = self._costs.value * problem.n_samples * n_free
        cost = n_steps * (LEAST_STEP + values + 8e-4 * problem.n_thresholds * n_free**2)
        left = max(1.0, 0.45 * math.log(violation / self._tol))
        return cost / (left * (0.35 + 0.07 * problem.n_thresholds))


class Jumps:
    """Attempts at Newton's method on a run; `start` is the violation from which on the core may leave off for the next
    one."""

    def __init__(self, run: Run, n_threads: int) -> None:
        self._run, self._n_threads = run, n_threads
        self.steps_before = steps_of_start(run.alpha)
        costs = Costs(2e-4 * (10.0 + _features(run)), run.matrix.budget)
        self._attempts = Attempts(run.problem, run.control.tol, costs)

    @property
    def start(self) -> float:
        return self._attempts.start

    def jump(self) -> None:
        """Moves the run to the result of Newton's method, if it has one, and lowers the start."""
        run = self._run
        violation = run.problem.violation(run.alpha, run.score)
        methods = self._attempts.methods(run.alpha, violation, self.steps_before + run.n_iter)
        self._attempts.note(methods, self.move(methods) if methods else violation)

    def move(self, methods: Sequence[Method]) -> float:
        """To the result of the first method that has one. Returns the violation afterwards."""
        run = self._run
        start = Point(run.alpha.copy(), run.exact_scores())
        with blas_threads(1):
            results = (
                m(run.problem, run.matrix, start, run.control.tol, self._n_threads, run.out_of_time) for m in methods
            )
            point = next((found for found in results if found is not None), start)
        run.move_to(point.alpha, point.score)
        return run.problem.violation(run.alpha, run.score)


def _features(run: Run) -> float:
    """Of a row, that are not 0."""
    samples: Any = None if run.matrix.source is None else run.matrix.source[1]
    if sp.issparse(samples):
        return float(samples.nnz) / max(1, samples.shape[0])
    is_table = isinstance(samples, np.ndarray) and samples.ndim == 2
    return float(samples.shape[1]) if is_table else MANY_FEATURES
