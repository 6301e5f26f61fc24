"""Support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length

from ordsvm import formulations
from ordsvm._typing import Floats, Ints
from ordsvm.checks import check_number
from ordsvm.estimators.base import Fit
from ordsvm.estimators.intercept_machine import InterceptMachine
from ordsvm.estimators.kernel import KernelTask, Trained
from ordsvm.estimators.validation import check_sample_weight, check_targets, weighted_C


class SVR(RegressorMixin, InterceptMachine):
    """ε-insensitive support vector regression, with scikit-learn's parameters and a certified duality gap.

    Errors up to epsilon are free; beyond it every unit costs C.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of error beyond epsilon.
    epsilon : float, default=0.1
        Half the width of the tube in which errors are free.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float, default="scale"
        As in scikit-learn.
    degree, coef0 : float
        Of the polynomial and sigmoid kernels.
    intercept : {"free", "penalized", "none"}, default="free"
        "free" is scikit-learn's. "penalized" adds ½·intercept² to the objective, "none" leaves the intercept out:
        these two make the simpler problem that the box solvers (gcd and the asynchronous ones) need.
    tol : float, default=1e-3
        Training stops when both the violation of the optimality conditions and the relative duality gap are
        at most this.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix; never exceeded.
    max_iter : int, default=-1
        The largest number of steps; -1 for no limit.
    time_limit : float or None, default=None
        Seconds; training stops with a usable model and a `ConvergenceWarning`.
    solver : str or solver object, default="auto"
        A name such as "smo" or an options object such as `SMO(selection="mvp")`.
    warm_start : bool, default=False
        Start from the dual variables of the previous fit.
    callback : callable or None, default=None
        Called with a `Progress` several times a second; returning True stops training.
    verbose : bool, default=False
        Write a line about the progress to stderr several times a second.
    n_threads : int or None, default=None
        For prediction and the solvers that take several; None is every core that this process may use.

    Attributes
    ----------
    support_, support_vectors_ : the samples in the prediction, and where they are in X
    n_support_ : array of shape (1,), how many they are
    dual_coef_ : array of shape (1, n_SV), their weights β
    intercept_ : array of shape (1,)
    coef_ : array of shape (1, n_features), for the linear kernel
    result_ : `FitResult`, with the duality gap that proves how good the model is
    n_iter_ : steps of the solver
    kernel_ : the kernel, with the gamma that was used
    """

    n_support_: Ints

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        intercept: str = "free",
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        solver: Any = "auto",
        warm_start: bool = False,
        callback: Any = None,
        verbose: bool = False,
        n_threads: int | None = None,
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

    def predict(self, X: Any) -> Floats:
        """f(x) + intercept, one number a sample."""
        return self._margins(X)[:, 0]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("epsilon", self.epsilon, "a number that is not negative", lambda number: number >= 0)

    def _check_target(self, y: Any) -> Floats:
        return check_targets(y, type(self).__name__)

    def _formulate(self, X: Any, target: Floats, sample_weight: Any) -> KernelTask:
        check_consistent_length(X, target)
        C = weighted_C(self.C, check_sample_weight(sample_weight, len(target), in_need="some samples"))
        problem = formulations.svr(target, float(self.epsilon), C, self._treatment())
        return KernelTask([problem], np.arange(len(target)))

    def _recover(self, fit: Fit, solution: Trained) -> None:
        super()._recover(fit, solution)
        self.n_support_ = np.array([len(self.support_)])
