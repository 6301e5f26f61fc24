"""Linear support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length

from ordsvm._typing import Floats, RandomState, Samples
from ordsvm.checks import check_number
from ordsvm.conventions import coefficient_of_determination
from ordsvm.estimators._docs import LINEAR, documented
from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.validation import check_sample_weight, check_targets, weighted_C, weights_or_none
from ordsvm.formulations import linear
from ordsvm.result import Callback
from ordsvm.solvers.registry import LinearSolverLike
from ordsvm.solvers.solution import LinearSolution


@documented(LINEAR)
class LinearSVR(RegressorMixin, LinearMachine):
    """Linear support vector regression with a certified duality gap: scikit-learn's problem of the same name.

    On ranks, rounded by `RoundedRegressor`, it is the simplest ordinal model::

        min ½‖w‖² + ½·intercept² + C Σ_i max(0, |y_i − w·x_i − intercept| − epsilon);   squared: max(…)²

    As in scikit-learn's LinearSVR the intercept is penalised: with targets or features far from 0, centre them.

    Parameters
    ----------
    {C}
    {epsilon}
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Whether errors beyond epsilon are squared.
    {fit_intercept}
    {tol}
    {max_iter}
    {time_limit}
    {solver}
    {warm_start}
    {callback}
    {verbose}
    {n_threads}
    {deterministic}
    {random_state}
    {device}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,)
        Weights of the features. With `intercept_` at most √(2 · result_.gap) from the optimal ones.
    intercept_ : ndarray of shape (1,)
        Added to the score.
    {result_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVR : The same with a kernel.
    RoundedRegressor : Makes an ordinal model of it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ordsvm import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> LinearSVR(C=100).fit(X, y - y.mean()).coef_.shape
    (10,)
    """

    score = coefficient_of_determination
    _loss_names = ("epsilon_insensitive", "squared_epsilon_insensitive")

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        tol: float | None = None,
        max_iter: int = 1000,
        time_limit: float | None = None,
        solver: LinearSolverLike = "auto",
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        random_state: RandomState = None,
        device: str = "cpu",
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_threads = n_threads
        self.deterministic = deterministic
        self.random_state = random_state
        self.device = device

    def predict(self, X: Samples) -> Floats:
        """Predict w·x + intercept.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted targets.
        """
        return self._margins(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("epsilon", self.epsilon, "a number that is not negative", lambda number: number >= 0)

    def _check_target(self, y: Any) -> Floats:
        return check_targets(y, type(self).__name__)

    def _formulate(self, X: Any, target: Floats, sample_weight: Any) -> LinearTask:
        check_consistent_length(X, target)
        weight = check_sample_weight(sample_weight, len(target), in_need="some samples")
        weighted_C(self.C, weight)  # neither all zero nor infinite
        table = linear.regression(float(self.C), float(self.epsilon))
        return LinearTask(table, np.zeros(len(target), dtype=np.int32), weights_or_none(weight), target)

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        self.coef_ = solution.coef[:, 0]
        self.intercept_ = solution.intercept
