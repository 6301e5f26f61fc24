from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_count, check_option, usable_threads
from ordsvm.problem import Treatment
from ordsvm.solvers.blas import blas_threads
from ordsvm.solvers.kernel.block.attempts import Attempts, Costs, Method, steps_of_start
from ordsvm.solvers.kernel.block.newton import Point, newton
from ordsvm.solvers.kernel.run import Run

LONG_ROW = 30  # features from which on K of a working set takes longer to be made again than to be read
MOST_WHOLE = 8192  # samples that are one working set where rows are long
MANY_FEATURES = 100.0  # of a row, where they are not known


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
    return float(samples.shape[1]) if isinstance(samples, np.ndarray) else MANY_FEATURES
