"""Support vector regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ordsvm import formulations
from ordsvm._typing import Floats, Gamma, Ints, Samples
from ordsvm.checks import check_number
from ordsvm.conventions import coefficient_of_determination
from ordsvm.estimators._docs import KERNEL, documented
from ordsvm.estimators.base import Fit, gives_back_tensors
from ordsvm.estimators.intercept_machine import InterceptMachine
from ordsvm.estimators.kernel import KernelTask, Trained
from ordsvm.estimators.validation import check_same_length, check_sample_weight, check_targets, weighted_C
from ordsvm.kernels.kernels import KernelLike
from ordsvm.problem import Certificate, Problem, Treatment
from ordsvm.result import Callback
from ordsvm.solvers.registry import SolverLike
from ordsvm.solvers.solution import Solution


@documented(KERNEL)
class SVR(RegressorMixin, InterceptMachine):
    """Support vector regression with the ε-insensitive loss, scikit-learn's parameters and a certified duality gap.

    Errors up to epsilon are free; beyond it every unit costs C.

    Parameters
    ----------
    {C}
    {epsilon}
    {kernel}
    {gamma}
    {degree}
    {coef0}
    {intercept}
    {tol}
    {cache_size}
    {max_iter}
    {time_limit}
    {solver}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {device}

    Attributes
    ----------
    {support_}
    {support_vectors_}
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their weights β.
    intercept_ : ndarray of shape (1,)
        Added to the score.
    coef_ : ndarray of shape (1, n_features_in_)
        Weights of the features, for the linear kernel.
    {result_}
    {n_iter_}
    {kernel_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    LinearSVR : The same with weights of features instead of a kernel, for many or sparse samples.
    RoundedRegressor : Makes an ordinal model of it.

    References
    ----------
    .. [1] B. Gu, Y. Shan, X. Geng, G. Zheng, "Accelerated asynchronous greedy coordinate descent algorithm for SVMs",
       IJCAI 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ordsvm import SVR
    >>> X, y = load_diabetes(return_X_y=True, scaled=True)
    >>> model = SVR(C=100.0).fit(X, y)
    >>> model.result_.converged
    True
    """

    n_support_: Ints
    score = coefficient_of_determination

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: KernelLike = "rbf",
        gamma: Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        intercept: str = "free",
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        solver: SolverLike = "auto",
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        device: str = "cpu",
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.intercept = intercept
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_threads = n_threads
        self.deterministic = deterministic
        self.device = device

    @gives_back_tensors
    def predict(self, X: Samples) -> Floats:
        """Predict f(x) + intercept.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted targets.
        """
        return self._margins(X)[:, 0]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("epsilon", self.epsilon, "a number that is not negative", lambda number: number >= 0)

    def _check_target(self, y: Any) -> Floats:
        return check_targets(y, type(self).__name__)

    def _formulate(self, X: Any, target: Floats, sample_weight: Any) -> KernelTask:
        check_same_length(X, target)
        C = weighted_C(self.C, check_sample_weight(sample_weight, len(target), in_need="some samples"))
        epsilon, order = float(self.epsilon), np.arange(len(target))
        problem = formulations.svr(target, epsilon, C, self._treatment())
        if problem.treatment is not Treatment.FREE:
            return KernelTask([problem], order)
        origin = _middle(target[C > 0])
        moved = formulations.svr(target - origin, epsilon, C, Treatment.FREE)
        return KernelTask([moved], order, origin=origin, offsets=problem.hinges.offset)

    def _recover(self, fit: Fit, solution: Trained) -> None:
        problem, origin = fit.task.problems[0], fit.task.origin
        solutions = [_kept(each, problem, origin, self._tolerance(fit.X)) for each in solution.solutions]
        super()._recover(fit, solution._replace(solutions=solutions))
        self.intercept_ = self.intercept_ + origin
        self.n_support_ = np.array([len(self.support_)])


def _middle(target: Floats) -> float:
    """Return the lower median of the targets.

    It is one of them, so that differences from it are exact where all are multiples of one number, as large ones are.
    Targets that grow by the same number have a middle that does: differences, and all that follows, stay as they are.
    """
    place = (len(target) - 1) // 2
    return float(np.partition(target, place)[place])


def _kept(solution: Solution, problem: Problem, origin: float, tol: float) -> Solution:
    """Return the solution with the threshold b that float64 keeps as origin − b, and a gap that holds for it."""
    b = origin - (origin - solution.thresholds)
    moved, result = float(np.abs(b - solution.thresholds).max()), solution.result
    if moved == 0.0:
        return solution
    gap = result.gap + moved * 0.5 * float(problem.hinges.cap.sum())  # one of a sample's two hinges pays at a time
    relative_gap = Certificate(result.objective, result.objective - gap, gap, result.violation, b).relative_gap
    status = "precision" if result.converged and not relative_gap <= tol else result.status
    return replace(solution, thresholds=b, result=replace(result, gap=gap, relative_gap=relative_gap, status=status))
