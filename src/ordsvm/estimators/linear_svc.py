"""Linear support vector classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from ordsvm._typing import Floats
from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.validation import classes_that_count, sample_C, warn_left_out, weighted_C, weights_or_none
from ordsvm.formulations import linear
from ordsvm.labels import Ranks, encode_classes
from ordsvm.solvers.solution import LinearSolution


class LinearSVC(ClassifierMixin, LinearMachine):
    """Linear support vector classification with a certified duality gap: scikit-learn's problem of the same name.

    min ½‖w‖² + ½·intercept² + C Σ_i max(0, 1 − s_i (w·x_i + intercept)),   s_i = ±1; with squared_hinge, max(…)²

    Two classes make one such problem, more of them one for every class against the rest. As in scikit-learn's LinearSVC
    the intercept is penalised: with features far from 0, centre them.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of loss.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        scikit-learn's default is "squared_hinge".
    fit_intercept : bool, default=True
        Whether there is an intercept.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the samples of a class.
    tol : float, default=0.01
        Training stops when the relative duality gap of all classes together is at most this.
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
    classes_ : the labels, sorted
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,) or (1,)
    result_ : `FitResult`, with the duality gap that proves how good the model is
    n_iter_ : passes over the samples
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
        class_weight: Any = None,
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
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_threads = n_threads
        self.random_state = random_state

    def decision_function(self, X: Any) -> Floats:
        """w·x + intercept: a column for every class; for two, one number a sample, which speaks for the second."""
        margins = self._margins(X)
        return margins[:, 0] if len(self.classes_) == 2 else margins

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest decision value."""
        margins = self.decision_function(X)
        return self.classes_[(margins >= 0).astype(np.int64) if margins.ndim == 1 else margins.argmax(axis=1)]

    def _check_target(self, y: Any) -> Ranks:
        return encode_classes(y, estimator_name=type(self).__name__)

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> LinearTask:
        check_consistent_length(X, target.codes)
        C = float(self.C)
        weight = sample_C(1.0, sample_weight, self.class_weight, target)
        present = classes_that_count(weighted_C(C, weight), target, type(self).__name__)
        if not present.all():
            warn_left_out(target.classes[~present])
        n_classes = int(present.sum())
        labels = (np.cumsum(present) - 1).clip(0)[target.codes]  # samples of classes left out have weight 0
        table = linear.binary(C) if n_classes == 2 else linear.one_vs_rest(n_classes, C)
        return LinearTask(table, labels.astype(np.int32), weights_or_none(weight), classes=target.classes[present])

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.coef_ = solution.coef.T
        self.intercept_ = solution.intercept
