"""Linear support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length

from ordsvm._typing import Floats
from ordsvm.checks import check_number
from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.validation import check_sample_weight, check_targets, weighted_C, weights_or_none
from ordsvm.formulations import linear
from ordsvm.solvers.solution import LinearSolution


class LinearSVR(RegressorMixin, LinearMachine):
    """Linear ε-insensitive regression with a certified duality gap: scikit-learn's problem of the same name.

    min ½‖w‖² + ½·intercept² + C Σ_i max(0, |y_i − w·x_i − intercept| − epsilon);   squared: max(…)²

    As in scikit-learn's LinearSVR the intercept is penalised: with targets or features far from 0, centre them.
    On ranks, rounded by `RoundedRegressor`, it is the simplest ordinal model.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of error beyond epsilon.
    epsilon : float, default=0.1
        Half the width of the tube in which errors are free.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Whether errors beyond epsilon are squared.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    tol : float, default=0.01
        Training stops when the relative duality gap is at most this.
    max_iter : int, default=1000
        The largest number of passes over the samples; -1 for no limit.
    time_limit : float or None, default=None
        Seconds; training stops with a usable model and a `ConvergenceWarning`.
    solver : "auto", "rank-dcd" or `RankDCD`, default="auto"
        A name, or an options object.
    warm_start : bool, default=False
        Start from the dual variables of the previous fit.
    callback : callable or None, default=None
        Called with a `Progress` several times a second; returning True stops training.
    verbose : bool, default=False
        Write a line about every pass to stderr, or several a second where passes are short.
    n_threads : int or None, default=None
        None is every core that this process may use.
    random_state : int, RandomState or None, default=None
        Draws the order in which samples are visited; None is the seed in the solver's options, the same every time.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : array of shape (1,)
    result_ : `FitResult`, with the duality gap that proves how good the model is
    n_iter_ : passes over the samples
    """

    _loss_names = ("epsilon_insensitive", "squared_epsilon_insensitive")

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        tol: float = 0.01,
        max_iter: int = 1000,
        time_limit: float | None = None,
        solver: Any = "auto",
        warm_start: bool = False,
        callback: Any = None,
        verbose: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
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
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """w·x + intercept, one number a sample."""
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
