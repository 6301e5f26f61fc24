"""What the threshold models share: one score, cut into ranks by thresholds."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from ordsvm.checks import caller_level, check_flag
from ordsvm.costs import threshold_costs
from ordsvm.estimators.callbacks import reports_to_callbacks
from ordsvm.estimators.early_stopping import Validation, hold_out
from ordsvm.estimators.kernel import KernelMachine, Task
from ordsvm.estimators.validation import (
    check_fraction,
    check_pair,
    check_patience,
    check_sample_weight,
    check_seed,
    class_prices,
    classes_with_a_price,
)
from ordsvm.labels import Ranks, encode_labels, label_array, rank_codes
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers import Solution
from ordsvm.thresholds import ranks_of, undetermined

Floats = NDArray[np.float64]


def _loose_ranks(problem: Problem, present: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Ranks without samples beside a threshold that nothing determines."""
    loose = undetermined(problem.levels(np.zeros(problem.n_samples)), problem.treatment is Treatment.ORDERED)
    require_prices(loose, present)
    if problem.treatment is Treatment.PENALIZED:  # the penalty determines what no sample does
        return np.zeros(len(present), dtype=bool)
    return (np.append(loose, False) | np.insert(loose, 0, False)) & ~present


def require_prices(loose: NDArray[np.bool_], present: NDArray[np.bool_]) -> None:
    """A loose threshold between two ranks that have samples is the cost's doing."""
    between = loose & present[:-1] & present[1:]
    if between.any():
        raise ValueError(
            f"The cost puts no price on one side of the threshold above rank {int(np.flatnonzero(between)[0])}: "
            "give a cost matrix in which neighbouring ranks differ."
        )


def _warn_loose(labels: NDArray[Any]) -> None:
    warnings.warn(
        f"No sample of positive weight has the label {', '.join(map(str, labels))}, and nothing determines the "
        "thresholds beside it: it is left out of classes_ and will not be predicted.",
        UserWarning,
        stacklevel=caller_level(),
    )


class ThresholdModel(ClassifierMixin, KernelMachine):
    """Support vector ordinal regression: a score f(x), cut into ranks by thresholds.

    Parameters
    ----------
    C : float, default=1.0
        The price of a unit of hinge loss.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of samples and returns the matrix of kernel values between them.
    gamma : {"scale", "auto"} or float, default="scale"
        As in scikit-learn. Chu & Keerthi's κ is 2·gamma.
    degree, coef0 : float
        Of the polynomial and sigmoid kernels.
    cost : {"absolute", "zero-one", "squared"} or matrix, default="absolute" (SVOR, RedSVM and SVORIM only)
        cost[true, predicted] with V-shaped rows. Rows that are not convex (zero-one) may disorder the thresholds.
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
        A name such as "smo" or an options object such as `SMO(selection="mvp")`. SVOR and RedSVM with a linear kernel
        take "rank-dcd", the solver of `LinearSVOR`, too, for which max_iter counts passes; "auto" is that for sparse or
        many samples, unless there are others for validation.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for the samples of a class.
    categories : sequence or None, default=None
        The labels, lowest first. Otherwise an ordered dtype of y gives the order, otherwise numbers do.
    warm_start : bool, default=False
        Start from the dual variables of the previous fit.
    callback : callable or None, default=None
        Called with a `Progress` several times a second; returning True stops training.
    verbose : bool, default=False
        Write a line about the progress to stderr several times a second.
    n_threads : int or None, default=None
        For prediction and the solvers that take several; None is every core that this process may use.
    early_stopping : bool, default=False
        Stop when the mean absolute error of validation samples no longer falls. A run that this, max_iter, time_limit
        or the callback cuts short leaves the model of the look with the least error; a run that converges, the optimum.
    validation_fraction : float, default=0.1
        The share of the samples that early stopping holds out, rank by rank, where `fit` is given no `validation`.
        They are not trained on.
    n_iter_no_change : int, default=10
        How many looks may pass without a smaller error before early stopping. Looks at validation samples, and calls
        of the callback with them, come every half a step a sample; those with a relative gap above ½ do not count.
    random_state : int, RandomState or None, default=None
        Draws the samples to hold out.

    Attributes
    ----------
    classes_ : the labels, lowest first
    thresholds_ : array of len(classes_) − 1; the predicted rank is the first k with f(x) < thresholds_[k]
    result_ : `FitResult`, with the duality gap that proves how good the model is
    support_, support_vectors_, dual_coef_ : the samples in the score and their weights β
    coef_ : w, for the linear kernel
    validation_indices_ : the rows of X that early stopping held out
    """

    classes_: NDArray[Any]
    thresholds_: Floats
    validation_indices_: NDArray[np.int64]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """The models share their parameters and attributes, so they share the text about them."""
        super().__init_subclass__(**kwargs)
        shared = (ThresholdModel.__doc__ or "").partition("    Parameters\n")
        cls.__doc__ = f"{(cls.__doc__ or '').rstrip()}\n\n{''.join(shared[1:])}"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        solver: Any = "auto",
        class_weight: Any = None,
        categories: Any = None,
        warm_start: bool = False,
        callback: Any = None,
        verbose: bool = False,
        n_threads: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver = solver
        self.class_weight = class_weight
        self.categories = categories
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_threads = n_threads
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    @reports_to_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None) -> Self:
        """Trains on samples X with labels y.

        `validation=(X_val, y_val)`: samples whose errors are to be recorded in `result_.history`, and used for early
        stopping. With a precomputed kernel X_val has a column for every training sample. In a pipeline X_val is taken
        as it is: transform it first.
        """
        X, target = self._check_input(X, y)
        samples = None if validation is None else self._check_validation(validation, target)
        weight = check_sample_weight(sample_weight, len(target.codes))
        holds_out = self.early_stopping and validation is None
        chosen = self._hold_out(target, weight) if holds_out else np.empty(0, dtype=np.int64)
        self.validation_indices_ = chosen
        task = self._formulate(X, target, weight)
        if holds_out:
            samples = X[chosen], target.codes[chosen], weight[chosen]
        if samples is not None:
            patience = int(self.n_iter_no_change) if self.early_stopping else None
            task = replace(task, validation=Validation(*samples, rank_codes(task.classes, target.classes), patience))
        return self._fit_task(X, target, task)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Task]:
        self.validation_indices_ = np.empty(0, dtype=np.int64)  # nothing is held out
        return super()._prepare(X, y, sample_weight)

    def decision_function(self, X: Any) -> Floats:
        """The score f(x), one number a sample; compare it with `thresholds_`."""
        return self._scores(self._check_new_data(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the first threshold above the score, or the highest label if there is none."""
        score = self.decision_function(X)
        return self.classes_[ranks_of(score, self.thresholds_)]

    @abstractmethod
    def _hinges(self, codes: NDArray[np.int64], n_ranks: int, C: Floats, worth: Floats | None) -> Problem:
        """The formulation; `worth` scales the caps of all-threshold models (see `ordsvm.costs`)."""

    def _costs(self, n_ranks: int) -> Floats | None:
        """The cost matrix of models that take one."""
        return None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag("early_stopping", self.early_stopping)
        check_fraction("validation_fraction", self.validation_fraction)
        check_patience(self.n_iter_no_change)
        check_seed(self.random_state)

    def _check_validation(self, validation: Any, target: Ranks) -> tuple[Any, NDArray[np.int64], Floats]:
        """Samples, ranks and weights of what was given as validation."""
        X, y = check_pair("validation", validation)
        try:
            X = self._check_more_data(X)
            codes = rank_codes(label_array(y), target.classes)
            check_consistent_length(X, codes)
        except ValueError as error:
            raise ValueError(f"validation=(X, y): {error}") from None
        return X, codes, np.ones(len(codes))

    def _hold_out(self, target: Ranks, weight: Floats) -> NDArray[np.int64]:
        return hold_out(target.codes, weight, float(self.validation_fraction), check_seed(self.random_state))

    def _check_target(self, y: Any) -> Ranks:
        return encode_labels(y, self.categories, estimator_name=type(self).__name__)

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> Task:
        """Ranks and weights as one problem, over the samples that are not held out.

        A rank without samples that leaves a threshold beside it undetermined is dropped.
        """
        classes = target.classes
        check_consistent_length(X, target.codes)
        weight = check_sample_weight(sample_weight, len(target.codes))
        rows = np.setdiff1d(np.arange(len(target.codes)), self.validation_indices_)
        trained = Ranks(classes, target.codes[rows])
        C = class_prices(self.C, weight[rows], self.class_weight, trained)
        present = classes_with_a_price(C, trained, type(self).__name__)
        order = self._sample_order(trained.codes)
        codes, C = trained.codes[order], C[order]
        keep = np.arange(len(classes))
        problem = self._problem(codes, C, keep, len(classes))
        loose = _loose_ranks(problem, present)
        if loose.any():
            _warn_loose(classes[loose])
            keep = np.flatnonzero(~loose)
            problem = self._problem(codes, C, keep, len(classes))
            _loose_ranks(problem, present[keep])  # the cost may leave open what is next to each other now
        return Task([problem], rows[order], classes[keep], ranks=codes)

    def _sample_order(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Models of adjacent thresholds: by rank, so that the hinges of a threshold look at consecutive samples."""
        return self._by_class(codes)

    def _model_thresholds(self) -> list[Floats]:
        return [self.thresholds_]

    def _recover(self, task: Task, target: Ranks, solutions: Sequence[Solution]) -> None:
        self.classes_ = task.classes
        self.thresholds_ = solutions[0].thresholds
        self.dual_coef_ = self.dual_coef_[0]  # one problem, one β

    def _problem(self, codes: NDArray[np.int64], C: Floats, keep: NDArray[np.int64], n_classes: int) -> Problem:
        """The problem over the ranks in `keep`; samples of other ranks have weight 0 and so no hinges."""
        costs = self._costs(n_classes)
        worth = None if costs is None else threshold_costs(costs[np.ix_(keep, keep)])
        kept_codes = np.searchsorted(keep, codes).clip(0, len(keep) - 1)
        return self._hinges(kept_codes, len(keep), C, worth)
