"""Linear support vector ordinal regression: one score and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from ordsvm._typing import Flags, Floats
from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.threshold_model import require_cost_weights
from ordsvm.estimators.validation import classes_that_count, sample_C, weighted_C, weights_or_none
from ordsvm.formulations import cost_matrix, cost_weights, linear
from ordsvm.labels import Ranks, encode_labels
from ordsvm.linear_problem import ThresholdTable
from ordsvm.problem import undetermined
from ordsvm.solvers.solution import LinearSolution
from ordsvm.thresholds import Levels, ranks_of


class LinearSVOR(ClassifierMixin, LinearMachine):
    """Linear support vector ordinal regression (the concise SVOR of Gu et al. 2020): a score w·x, cut by thresholds.

    min ½‖w‖² + ½‖b‖² + C Σ_i Σ_k |cost(y_i, k+1) − cost(y_i, k)| · max(0, 1 − s_ik (w·x_i − b_k))

    with s_ik = +1 if y_i > k else −1, and max(…)² for squared_hinge. It is `SVOR` with a linear kernel, and RedSVM.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of loss.
    cost : {"absolute", "zero-one", "squared"} or matrix, default="absolute"
        cost[true, predicted] with V-shaped rows. Rows that are not convex (zero-one) may disorder the thresholds.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What is lost beyond the margin, or the square of it.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the samples of a class.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.
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
    classes_ : the labels, lowest first
    coef_ : array of shape (n_features,)
    thresholds_ : array of len(classes_) − 1; the predicted rank is the first k with w·x < thresholds_[k]
    result_ : `FitResult`, with the duality gap that proves how good the model is
    n_iter_ : passes over the samples
    """

    classes_: NDArray[Any]
    thresholds_: Floats

    def __init__(
        self,
        C: float = 1.0,
        *,
        cost: Any = "absolute",
        loss: str = "hinge",
        class_weight: Any = None,
        categories: Any = None,
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
        self.cost = cost
        self.loss = loss
        self.class_weight = class_weight
        self.categories = categories
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
        """The score w·x, one number a sample; compare it with `thresholds_`."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the first threshold above the score, or the highest label if there is none."""
        score = self.decision_function(X)
        return self.classes_[ranks_of(score, self.thresholds_)]

    def _check_target(self, y: Any) -> Ranks:
        return encode_labels(y, self.categories, estimator_name=type(self).__name__)

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> LinearTask:
        """A rank without samples keeps its thresholds: the penalty determines what no sample does."""
        check_consistent_length(X, target.codes)
        n_ranks = len(target.classes)
        weight = sample_C(1.0, sample_weight, self.class_weight, target)
        present = classes_that_count(weighted_C(self.C, weight), target, type(self).__name__)
        table = linear.svor(n_ranks, float(self.C), cost_weights(cost_matrix(self.cost, n_ranks)))
        require_cost_weights(_loose(table, present), present)
        return LinearTask(table, target.codes.astype(np.int32), weights_or_none(weight), classes=target.classes)

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.coef_ = solution.coef[:, 0]
        self.thresholds_ = solution.intercept

    def _biases(self) -> Floats:
        return self.thresholds_


def _loose(table: ThresholdTable, present: Flags) -> Flags:
    """Thresholds that samples hold on one side only."""
    hinges = [(table.sign[held, k], table.cap[held, k]) for k, held in enumerate((table.cap > 0).T & present)]
    return undetermined([Levels(np.zeros_like(sign), sign, cap) for sign, cap in hinges], ordered=False)
