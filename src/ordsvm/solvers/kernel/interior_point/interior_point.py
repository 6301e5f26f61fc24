"""A primal-dual interior-point method with a crossover to exact zeros and caps.

Solves    the dual with any treatment of the thresholds.
Keeps     an iterate strictly inside of the box with multipliers of all bounds (central_path.py), and, as the α of the
          run, the best feasible one that was met.
Step      Newton's method on the optimality conditions with complementarity relaxed by μ: Mehrotra's predictor chooses
          how much μ falls, Gondzio's correctors mend products that are far from it.
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
from ordsvm.checks import check_positive, usable_threads
from ordsvm.problem import Treatment
from ordsvm.solvers.blas import blas_threads, threads_for
from ordsvm.solvers.kernel.interior_point.central_path import CentralPath
from ordsvm.solvers.kernel.interior_point.crossover import Crossover, feasible
from ordsvm.solvers.kernel.interior_point.kernel_system import is_semidefinite, kernel_system
from ordsvm.solvers.kernel.interior_point.scaled_problem import ScaledProblem
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
            run.close(Search(run).work())

    def _check_memory(self, n_samples: int) -> None:
        needed = int(np.ceil(MATRICES * 8 * n_samples**2 / 2**20))
        if needed > self.memory_limit:
            raise ValueError(
                f"solver='interior-point' needs {needed} MB for the kernel matrix of {n_samples} samples and its "
                f"factors, more than memory_limit={self.memory_limit:g}: give InteriorPoint(memory_limit={needed}) or "
                "solver='block'."
            )


class Search:
    """A run of the method, on the samples that have hinges."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._problem, self._samples = run.problem.restricted_to_its_samples()
        self._best_gap = np.inf

    def work(self) -> _core.Status:
        if self._is_undetermined():
            return _core.Status.imprecise
        if self._is_optimal(self._run.alpha.copy()):
            return _core.Status.converged
        if not self._prepare():
            return self._without_convergence()
        with np.errstate(all="ignore"):  # overflow ends the search
            return self._follow()

    def _prepare(self) -> bool:
        """K and its factors; False where there is nothing finite to factor."""
        run, n = self._run, len(self._samples)
        K = run.matrix.part(self._samples, self._samples, run.control.n_threads)
        unit = float(K.diagonal().mean()) or 1.0
        self._is_semidefinite = unit > 0.0
        if not np.isfinite(K).all():
            raise ValueError(NOT_FINITE)
        if unit < 0.0:
            return False
        K /= unit
        self._kernel = kernel_system(K, n * sys.float_info.epsilon)
        self._is_semidefinite = is_semidefinite(K, self._kernel)
        self._path = CentralPath(ScaledProblem.of(self._problem, unit), self._kernel)
        return True

    def _is_undetermined(self) -> bool:
        """Whether a threshold could be anything: then there is no α but 0, and no point inside of the box."""
        constrained = self._problem.treatment in (Treatment.FREE, Treatment.ORDERED)
        return constrained and bool(self._problem.undetermined().any())

    def _follow(self) -> _core.Status:
        run, path, n = self._run, self._path, len(self._samples)
        attempt, least, since = CROSSOVER_START, np.inf, 0
        for iteration in range(MOST_ITERATIONS):
            if 0 <= run.control.max_iter <= run.n_iter:
                return _core.Status.max_iter
            if run.report(iteration, n):
                return _core.Status.stopped
            try:
                path.advance()
            except np.linalg.LinAlgError:
                break
            mu = path.mu(path.now)
            if not path.now.is_finite() or not mu > 0.0:
                break
            run.count(iteration + 1, n)
            self._keep_iterate()
            left = path.relative_complementarity()
            if left <= attempt:
                attempt = CROSSOVER_AGAIN * left
                if self._crosses_over():
                    return _core.Status.converged
            least, since = (mu, 0) if mu < 0.5 * least else (least, since + 1)
            if since >= PATIENCE or left <= LEAST_COMPLEMENTARITY:
                break
        return self._without_convergence()

    def _without_convergence(self) -> _core.Status:
        """For an indefinite K the end of the method, which is one of another problem: its gap shows that, with the
        scores of K in place of those of its factors."""
        if self._is_semidefinite:
            return _core.Status.imprecise
        alpha = self._run.alpha.copy()
        self._run.move_to(alpha, self._scores(alpha))
        return _core.Status.converged

    def _keep_iterate(self) -> None:
        """The iterate, made feasible, is what looks see; its scores come from the factors of K."""
        x, scaled, run = self._path.now, self._path.scaled, self._run
        inside = np.minimum(x.alpha * scaled.alpha_unit, self._problem.hinges.cap)
        alpha = feasible(self._problem, inside, scaled.order_sums(x.order) * scaled.alpha_unit)
        score = np.zeros(run.problem.n_samples)
        score[self._samples] = scaled.score_unit * self._kernel.product(scaled.beta(alpha / scaled.alpha_unit))
        self._keep(alpha, score)

    def _crosses_over(self) -> bool:
        run, unit = self._run, self._path.scaled.score_unit

        def scores(alpha: Floats) -> Floats:
            return self._scores(alpha)[self._samples] / unit

        crossover = Crossover(self._problem, self._path, self._kernel, scores, run.control.tol / unit)
        for alpha in crossover.candidates():
            if run.out_of_time():
                return False
            if self._is_optimal(alpha):
                return True
        return False

    def _scores(self, alpha: Floats) -> Floats:
        return self._run.matrix.product(self._run.problem.beta(alpha), self._run.control.n_threads)

    def _is_optimal(self, alpha: Floats) -> bool:
        """Whether this α passes the certificate; it is kept if so, or if it is the best so far."""
        run, score = self._run, self._scores(alpha)
        rounding = run.matrix.rounding(run.problem.beta(alpha))
        proof = run.problem.certificate(alpha, score, rounding)
        passes = max(proof.relative_gap, proof.violation) <= run.control.tol
        self._keep(alpha, score, passes)
        return passes

    def _keep(self, alpha: Floats, score: Floats, passes: bool = False) -> None:
        gap = self._run.problem.certificate(alpha, score).gap
        if passes or gap < self._best_gap:
            self._best_gap = gap
            self._run.move_to(alpha, score)
