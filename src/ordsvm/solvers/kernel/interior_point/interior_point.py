"""A primal-dual interior-point method with a crossover to exact zeros and caps.

Solves    the dual with any treatment of the thresholds.
Keeps     an iterate strictly inside of the box with multipliers of all bounds (stacked_path.py), and, as the α of the
          run, the best feasible one that was met.
Step      Newton's method on the optimality conditions with complementarity relaxed by μ: Mehrotra's predictor chooses
          how much μ falls, Gondzio's correctors mend products that are far from it. The problem is a stack of one
          (stacks.py), whose systems LAPACK solves (kernel_system.py); side_by_side.py is about stacks of many.
Stops     when the sides of all hinges show and a crossover (crossover.py) passes the certificate in float64; without
          convergence where μ falls no more.
Cost      all of K in memory, and n³/3 operations an iteration (n·rank² where K has low rank); about 10 iterations, at
          large C up to 30, for whatever C and scale of the features.

S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal on Optimization 2, 1992.
J. Gondzio, "Multiple centrality corrections in a primal-dual method for linear programming", Computational Optimization
and Applications 6, 1996. For support vector machines: S. Fine, K. Scheinberg, "Efficient SVM training using low-rank
kernel representations", Journal of Machine Learning Research 2, 2001.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.array_library import Array, NumpyLibrary
from ordsvm.checks import check_positive, usable_threads
from ordsvm.problem import Treatment
from ordsvm.solvers.blas import blas_threads, threads_for
from ordsvm.solvers.kernel.interior_point.crossover import Crossover, feasible
from ordsvm.solvers.kernel.interior_point.kernel_system import is_semidefinite, kernel_system
from ordsvm.solvers.kernel.interior_point.stacked_path import StackedPath
from ordsvm.solvers.kernel.interior_point.stacked_start import first_point
from ordsvm.solvers.kernel.interior_point.stacks import CentralPathPoint, Stacks
from ordsvm.solvers.kernel.run import NOT_FINITE, Run

MATRICES = 4  # with n × n numbers each: K, its factor, a weighted copy and the system
MOST_ITERATIONS = 120
CROSSOVER_START = 1e-4  # complementarity, as a share of the objective
CROSSOVER_AGAIN = 0.1  # the same, as a share of what it was at the last attempt
LEAST_COMPLEMENTARITY = 1e-17  # the same: nothing can change below
PATIENCE = 12  # iterations in which μ has to fall to less than half


@dataclass(frozen=True)
class InteriorPoint:
    """A primal-dual interior-point method: few iterations, each with all samples, whatever C and the scale of features.

    Parameters
    ----------
    memory_limit : float, default=2000
        Megabytes for the kernel matrix and its factors, 32 n² bytes.

    Attributes
    ----------
    name : str
        "interior-point", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: all.

    See Also
    --------
    Block : Working sets of samples; faster unless features are badly scaled or C is very large.

    Notes
    -----
    `n_iter` counts iterations. `solver="auto"` goes on with this solver where another one gets nowhere. A start
    (`warm_start`) serves as the answer if it is one already; otherwise the method begins anew, as iterates near bounds
    are poor starts for it. The kernel has to be positive semidefinite; for another one the method solves the problem of
    its semidefinite part, and the result says "gap".

    References
    ----------
    .. [1] S. Fine, K. Scheinberg, "Efficient SVM training using low-rank kernel representations", Journal of Machine
       Learning Research 2, 2001.

    Examples
    --------
    >>> from ordsvm import SVOR, InteriorPoint
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(kernel="linear", C=100.0, solver=InteriorPoint()).fit(X, y)
    >>> model.result_.solver, model.result_.converged
    ('interior-point', True)
    """

    memory_limit: float = 2000.0

    name: ClassVar[str] = "interior-point"
    accepts: ClassVar[frozenset[Treatment]] = frozenset(Treatment)

    def __post_init__(self) -> None:
        check_positive("memory_limit", self.memory_limit)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.

        Raises
        ------
        ValueError
            Where the kernel matrix does not fit into the memory allowed.
        """
        self._check_memory(run.problem.n_samples)
        if run.control.monitor is not None:
            run.look_every(1)
        n_threads = threads_for(run.problem.n_samples, usable_threads(run.control.n_threads))
        with blas_threads(n_threads):
            run.close(PathFollower(run).work())

    def _check_memory(self, n_samples: int) -> None:
        needed = int(np.ceil(MATRICES * 8 * n_samples**2 / 2**20))
        if needed > self.memory_limit:
            raise ValueError(
                f"solver='interior-point' needs {needed} MB for the kernel matrix of {n_samples} samples and its "
                f"factors, more than memory_limit={self.memory_limit:g}: give InteriorPoint(memory_limit={needed}) or "
                "solver='block'."
            )


class PathFollower:
    """The method at work on one run: the samples that have hinges, as a stack of one problem."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._problem, self._samples = run.problem.restricted_to_its_samples()
        self._best_gap = np.inf

    def work(self) -> _core.Status:
        """Bring the run to its end, and return how it ended."""
        run, problem = self._run, self._problem
        constrained = problem.treatment in (Treatment.FREE, Treatment.ORDERED)
        if constrained and problem.undetermined().any():  # no α but 0, and no point inside of the box
            return _core.Status.imprecise
        alpha = run.alpha.copy()
        if self._is_optimal(alpha, self._scores(alpha)):
            return _core.Status.converged
        if not self._prepare():
            return self._without_convergence()
        with np.errstate(all="ignore"):  # overflow ends the path
            return self._follow()

    def _prepare(self) -> bool:
        """Compute K and its factors; return False if there is nothing finite to factor."""
        run, n = self._run, len(self._samples)
        K = run.matrix.part(self._samples, self._samples, run.control.n_threads)
        unit = float(K.diagonal().mean()) or 1.0
        self._is_semidefinite = unit > 0.0
        if not np.isfinite(K).all():
            raise ValueError(NOT_FINITE)
        if unit < 0.0:
            return False
        K /= unit
        kernel = kernel_system(K, n * sys.float_info.epsilon)
        self._is_semidefinite = is_semidefinite(K, kernel)
        self._stacks = Stacks.of(NumpyLibrary(), kernel, [self._problem], unit)
        self._cap = self._stacks.caps(np.ones(1))
        return True

    def _follow(self) -> _core.Status:
        run, stacks, n = self._run, self._stacks, len(self._samples)
        path, size, x = StackedPath(stacks), stacks.size(self._cap), first_point(stacks, self._cap)
        attempt, least, since = CROSSOVER_START, np.inf, 0
        for iteration in range(MOST_ITERATIONS):
            if 0 <= run.control.max_iter <= run.n_iter:
                return _core.Status.max_iter
            if run.report(iteration, n):
                return _core.Status.stopped
            x = path.advanced(x, size)
            mu = path.mu(x, size).item()
            if not mu > 0.0 or not all(np.isfinite(part).all() for part in x):
                break
            run.count(iteration + 1, n)
            self._keep_iterate(x)
            left = path.left(x, size).item()
            if left <= attempt:
                attempt = CROSSOVER_AGAIN * left
                if self._crosses_over(x):
                    return _core.Status.converged
            least, since = (mu, 0) if mu < 0.5 * least else (least, since + 1)
            if since >= PATIENCE or left <= LEAST_COMPLEMENTARITY:
                break
        return self._without_convergence()

    def _without_convergence(self) -> _core.Status:
        """Return how the method ends: for an indefinite K at the optimum of another problem.

        The gap shows that, with the scores of K in place of those of its factors.
        """
        if self._is_semidefinite:
            return _core.Status.imprecise
        alpha = self._run.alpha.copy()
        self._run.move_to(alpha, self._scores(alpha))
        return _core.Status.converged

    def _keep_iterate(self, x: CentralPathPoint) -> None:
        """Keep the iterate, made feasible, for looks at it; its scores come from the factors of K."""
        stacks, run = self._stacks, self._run
        alpha = self._feasible(x.alpha, x.order)
        score = np.zeros(run.problem.n_samples)
        beta = self._problem.beta(alpha) / stacks.alpha_unit
        score[self._samples] = stacks.score_unit * stacks.kernel.product(beta[np.newaxis, np.newaxis])[0, 0]
        self._keep(alpha, score)

    def _feasible(self, alpha: Array, order: Array) -> Floats:
        """Return α of the problem's hinges, exact at bounds, for α and ν of a point."""
        stacks, cap = self._stacks, self._problem.hinges.cap
        own = (alpha / self._cap).reshape(-1)[stacks.places[0]] * cap  # shares of the caps: 1 is a cap exactly
        gamma = stacks.order_sums(order)[0, 0] if stacks.is_ordered else np.zeros(self._problem.n_thresholds)
        return feasible(self._problem, own, gamma * stacks.alpha_unit)

    def _crosses_over(self, x: CentralPathPoint) -> bool:
        """Return True if a candidate of the crossover from this point is optimal."""
        run, stacks = self._run, self._stacks
        crossover = Crossover(stacks, x, self._cap, 0.5 * run.control.tol / stacks.score_unit)
        while not run.out_of_time() and np.isfinite(candidate := crossover.candidate()).all():
            alpha = self._feasible(candidate, crossover.x.order)
            score = self._scores(alpha)
            if self._is_optimal(alpha, score):
                return True
            inside = np.zeros(self._cap.size)
            inside[stacks.places[0]] = alpha / stacks.alpha_unit
            own_score = score[self._samples] / stacks.score_unit
            if not crossover.advance(inside.reshape(self._cap.shape), own_score[np.newaxis, np.newaxis]):
                break
        return False

    def _scores(self, alpha: Floats) -> Floats:
        return self._run.matrix.product(self._run.problem.beta(alpha), self._run.control.n_threads)

    def _is_optimal(self, alpha: Floats, score: Floats) -> bool:
        """Return True if this α passes the certificate; it is kept if so, or if it is the best so far."""
        run = self._run
        rounding = run.matrix.rounding(run.problem.beta(alpha))
        proof = run.problem.certificate(alpha, score, rounding)
        passes = max(proof.relative_gap, proof.violation) <= run.control.tol
        self._keep(alpha, score, passes)
        return passes

    def _keep(self, alpha: Floats, score: Floats, passes: bool = False) -> None:
        """Keep an α that passes, or the one with the smallest gap before."""
        if not passes:
            gap = self._run.problem.certificate(alpha, score).gap
            if not gap < self._best_gap:
                return
            self._best_gap = gap
        self._run.move_to(alpha, score)
