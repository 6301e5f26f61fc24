"""Linear nonparallel support vector ordinal regression: a score for every rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.rank_scores import RankScores
from ordsvm.estimators.validation import classes_that_count, sample_C, weighted_C, weights_or_none
from ordsvm.formulations import linear
from ordsvm.labels import Ranks
from ordsvm.solvers.solution import LinearSolution


class LinearNPSVOR(RankScores, LinearMachine):
    """Linear nonparallel support vector ordinal regression (Shi et al. 2021): a score f_k for every rank k.

    f_k(x) = w_k·x + intercept_k should be within epsilon of 0 on the samples of rank k, at most −1 on those below and
    at least 1 on those above:

        min ½‖w_k‖² + ½·intercept_k² + C1 Σ_{y_i = k} max(0, |f_k(x_i)| − epsilon)
                                     + C2 Σ_{y_i ≠ k} max(0, 1 − s_ik f_k(x_i)),   s_ik = +1 if y_i > k else −1

    and max(…)² for squared_hinge. It is `NPSVOR` with a linear kernel. A rank in `categories` that no sample has keeps
    its score, which then divides the ranks below it from those above.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of loss, where C1 or C2 does not say otherwise.
    C1, C2 : float or None, default=None
        The price for the samples of a score's own rank, and for those of other ranks; None is C.
    epsilon : float, default=0.1
        How far from 0 a score may be on its own rank without a loss.
    predictor : {"ordered", "nearest"}, default="ordered"
        What makes a rank of the scores. "ordered", the paper's r_new, counts the k with f_k(x) + f_{k+1}(x) > 0;
        "nearest", its r_old, takes the k with the least |f_k(x)|. See `ordsvm.predictors`. May be changed after
        training.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What is lost, or the square of it.
    fit_intercept : bool, default=True
        Whether the scores have intercepts. They are penalised: with features far from 0, centre them.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C1 and C2 for the samples of a class.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.
    tol : float, default=0.01
        Training stops when the relative duality gap of all ranks together is at most this.
    max_iter : int, default=1000
        The largest number of passes over the samples; -1 for no limit.
    time_limit : float or None, default=None
        Seconds; training stops with a usable model and a `ConvergenceWarning`.
    solver : "auto", "rank-dcd", "dcd-1", "dcd-2" or an options object, default="auto"
        "auto" is "rank-dcd"; "dcd-1" and "dcd-2" are the paper's, for loss="hinge". Options go into `RankDCD`, `DCD1`
        or `DCD2`.
    warm_start : bool, default=False
        Start from the dual variables of the previous fit; "dcd-1" and "dcd-2" start from 0 all the same.
    callback : callable or None, default=None
        Called with a `Progress` several times a second; returning True stops training.
    verbose : bool, default=False
        Write a line about every pass to stderr, or several a second where passes are short.
    n_threads : int or None, default=None
        None is every core that this process may use; ranks are divided among them.
    random_state : int, RandomState or None, default=None
        Draws the order in which samples are visited; None is the seed in the solver's options, the same every time.

    Attributes
    ----------
    classes_ : the labels, lowest first
    coef_ : array of shape (n_ranks, n_features)
    intercept_ : array of shape (n_ranks,)
    result_ : `FitResult` of all ranks together, with the duality gap that proves how good the model is
    n_iter_ : passes over the samples
    """

    _solvers = ("rank-dcd", "dcd-1", "dcd-2")

    def __init__(
        self,
        C: float = 1.0,
        *,
        C1: float | None = None,
        C2: float | None = None,
        epsilon: float = 0.1,
        predictor: str = "ordered",
        loss: str = "hinge",
        fit_intercept: bool = True,
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
        self.C1 = C1
        self.C2 = C2
        self.epsilon = epsilon
        self.predictor = predictor
        self.loss = loss
        self.fit_intercept = fit_intercept
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

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> LinearTask:
        check_consistent_length(X, target.codes)
        weight = sample_C(1.0, sample_weight, self.class_weight, target)
        C1, C2 = self._both_C()
        for C in (C1, C2):
            classes_that_count(weighted_C(C, weight), target, type(self).__name__)
        table = linear.npsvor(len(target.classes), C1, C2, float(self.epsilon))
        return LinearTask(table, target.codes.astype(np.int32), weights_or_none(weight), classes=target.classes)

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.coef_ = solution.coef.T
        self.intercept_ = solution.intercept
