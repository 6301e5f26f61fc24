"""The threshold models as a family: one score, cut into ranks by thresholds."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from ordsvm._typing import (
    Categories,
    CheckpointPath,
    ClassWeight,
    Cost,
    Flags,
    Floats,
    Gamma,
    Ints,
    RandomState,
    Samples,
    SampleWeight,
)
from ordsvm.checkpoint import check_checkpoint
from ordsvm.checks import caller_level, check_flag
from ordsvm.conventions import NoProbabilities, refuse_calibration_by_class, share_of_right_labels
from ordsvm.devices import on_host
from ordsvm.estimators.base import Fit, gives_back_tensors, may_be_tensors, reports_to_callbacks
from ordsvm.estimators.early_stopping import Validation, hold_out
from ordsvm.estimators.kernel import KernelMachine, KernelTask, Trained
from ordsvm.estimators.model_findings import RankCounts
from ordsvm.estimators.validation import (
    check_fraction,
    check_pair,
    check_patience,
    check_same_length,
    check_sample_weight,
    check_seed,
    classes_that_count,
    sample_C,
)
from ordsvm.formulations import ThresholdFormulation, cost_matrix, cost_weights
from ordsvm.formulations.threshold import public_cuts
from ordsvm.kernels import Linear
from ordsvm.kernels.kernels import KernelLike
from ordsvm.problem import Problem, Treatment
from ordsvm.problem.labels import Ranks, encode_labels, label_array, rank_codes
from ordsvm.problem.thresholds import RankRule, intercept_of, rank_rule_of, ranks_of, thresholds_on_f
from ordsvm.result import Callback
from ordsvm.solvers.auto import is_auto
from ordsvm.solvers.registry import SolverLike, is_rank_dcd


class ThresholdModel(ClassifierMixin, KernelMachine):
    """A score f(x), cut into ranks by thresholds.

    A model names its formulation; one with costs takes `init_with_cost`.
    """

    formulation: ClassVar[ThresholdFormulation]
    classes_: NDArray[Any]
    thresholds_: Floats
    intercept_: Floats
    rank_rule_: RankRule
    validation_indices_: Ints
    score = share_of_right_labels
    predict_proba = predict_log_proba = predict_cumproba = predict_set = NoProbabilities()

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        gamma: Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        solver: SolverLike = "auto",
        class_weight: ClassWeight = None,
        categories: Categories = None,
        warm_start: bool = False,
        callback: Callback = None,
        verbose: bool = False,
        n_threads: int | None = None,
        deterministic: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: RandomState = None,
        device: str = "cpu",
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
        self.deterministic = deterministic
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.device = device

    @reports_to_callbacks
    def fit(
        self,
        X: Samples,
        y: ArrayLike,
        sample_weight: SampleWeight = None,
        *,
        validation: tuple[Samples, ArrayLike] | None = None,
        checkpoint: CheckpointPath = None,
    ) -> Self:
        """Train on samples X with labels y.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Training samples; for a precomputed kernel, its values between them.
        y : array-like of shape (n_samples,)
            Labels, in the order that `categories`, their dtype or their values give.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Multiplies C for every sample; None is 1.
        validation : tuple (X_val, y_val) or None, default=None
            Samples whose errors are recorded in `result_.history`, and used for early stopping. With a precomputed
            kernel X_val has a column for every training sample. In a pipeline X_val is taken as it is: transform it
            first.
        checkpoint : str, path-like, Checkpoint or None, default=None
            A folder that keeps the fit every minute: the same call goes on from there.

        Returns
        -------
        object
            The trained machine.
        """
        if checkpoint is not None:
            check_checkpoint(checkpoint)
        if may_be_tensors():
            is_plain = checkpoint is None and validation is None and not self.early_stopping
            X, y, sample_weight = self._taken(X, is_plain), on_host(y, "y"), on_host(sample_weight, "sample_weight")
        return self._prepare(X, y, sample_weight, validation).run(checkpoint)

    @gives_back_tensors
    def decision_function(self, X: Samples) -> Floats:
        """Compute the score f(x) + `intercept_` of every sample, to be compared with `thresholds_`.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; for two ranks, as in scikit-learn, those above 0 are of the higher one.
        """
        X = self._check_new_data(X)
        refuse_calibration_by_class(self)
        return self._scores(X) + intercept_of(self)

    @gives_back_tensors
    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the label of the rank that the thresholds give to the score, by the rule `rank_rule_`.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples; for a precomputed kernel, its values between them and the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        ranks = self._ranks(self.decision_function(X))
        return self.classes_[ranks]

    def _ranks(self, score: Floats) -> Ints:
        """Return ranks, from 0, of scores as `decision_function` gives them."""
        return ranks_of(score, self.thresholds_, rank_rule_of(self))

    # Prepare

    def _prepare(self, X: Any, y: Any, sample_weight: Any, validation: Any = None) -> Fit:
        """Early stopping without given validation samples holds some of the training samples out."""
        self._check_before_fit()
        X, target = self._check_training_data(X), self._check_target(y)
        samples = None if validation is None else self._check_validation(validation, target)
        self.validation_indices_ = np.empty(0, dtype=np.int64)
        holds_out = self.early_stopping and validation is None
        weight = sample_weight
        if holds_out:
            weight = check_sample_weight(sample_weight, len(target.codes))
            fraction, random = float(self.validation_fraction), check_seed(self.random_state)
            self.validation_indices_ = hold_out(target.codes, weight, fraction, random)
        task = self._formulate(X, target, weight)
        if holds_out:
            chosen = self.validation_indices_
            samples = X[chosen], target.codes[chosen], weight[chosen]
        if samples is not None:
            patience = int(self.n_iter_no_change) if self.early_stopping else None
            ranks = rank_codes(task.classes, target.classes)
            task = replace(task, validation=Validation(*samples, ranks, self.formulation.rule, patience))
        return Fit(self, X, target, task)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag("early_stopping", self.early_stopping)
        check_fraction("validation_fraction", self.validation_fraction)
        check_patience(self.n_iter_no_change)
        check_seed(self.random_state)
        if not is_auto(self.solver) and self.formulation.treatment is Treatment.PENALIZED:
            self._check_rank_dcd()

    def _check_rank_dcd(self) -> None:
        """The solver of linear machines trains models with penalised thresholds, where the kernel is linear."""
        if not is_rank_dcd(self.solver):
            return
        if not (isinstance(self.kernel, Linear) or (isinstance(self.kernel, str) and self.kernel == "linear")):
            raise ValueError(f"solver='rank-dcd' is for kernel='linear', not for kernel={self.kernel!r}: use 'auto'.")
        if self.early_stopping:
            raise ValueError("solver='rank-dcd' has no early stopping: use 'auto', or early_stopping=False.")

    def _check_target(self, y: Any) -> Ranks:
        return encode_labels(y, self.categories, estimator_name=type(self).__name__)

    def _check_validation(self, validation: Any, target: Ranks) -> tuple[Any, Ints, Floats]:
        """Samples, ranks and weights of what was given as validation."""
        X, y = check_pair("validation", validation)
        try:
            X = self._check_more_data(X)
            codes = rank_codes(label_array(on_host(y, "y")), target.classes)
            check_consistent_length(X, codes)
        except ValueError as error:
            raise ValueError(f"validation=(X, y): {error}") from None
        return X, codes, np.ones(len(codes))

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> KernelTask:
        """Ranks and weights as one problem, over the samples that are not held out.

        A rank without samples that leaves a threshold beside it undetermined is dropped.
        """
        classes = target.classes
        check_same_length(X, target.codes)
        rows, trained, weight = np.arange(len(target.codes)), target, sample_weight
        if weight is not None:
            weight = check_sample_weight(weight, len(rows))
        if len(self.validation_indices_):
            rows = np.delete(rows, self.validation_indices_)
            trained, weight = replace(target, codes=target.codes[rows]), None if weight is None else weight[rows]
        C = sample_C(self.C, weight, self.class_weight, trained)
        present = classes_that_count(C, trained, type(self).__name__)
        order = self._sample_order(trained.codes)
        codes, C = trained.codes[order], C[order]
        keep = np.arange(len(classes))
        problem = self._problem(codes, C, keep, classes)
        loose = _loose_ranks(problem, present)
        if loose.any():
            _warn_loose(classes[loose])
            keep = np.flatnonzero(~loose)
            problem = self._problem(codes, C, keep, classes)
            _loose_ranks(problem, present[keep])  # the cost may leave open what is next to each other now
        has_table = bool((problem.hinges.offset == 1.0).all())
        return KernelTask([problem], rows[order], classes[keep], ranks=codes if has_table else codes[:0])

    def _sample_order(self, codes: Ints) -> Ints:
        """By rank where samples have hinges at adjacent thresholds only, so that those of a threshold are
        about consecutive samples."""
        return self._by_class(codes) if self.formulation.hinges == "adjacent" else np.arange(len(codes))

    def _problem(self, codes: Ints, C: Floats, keep: Ints, classes: NDArray[Any]) -> Problem:
        """The problem over the ranks in `keep`; samples of other ranks have weight 0 and so no hinges."""
        kept_codes = codes if len(keep) == len(classes) else np.searchsorted(keep, codes).clip(0, len(keep) - 1)
        has_cost = self.formulation.hinges == "all" and hasattr(self, "cost")
        if not has_cost or (isinstance(self.cost, str) and self.cost == "absolute"):  # whose weights are 1
            return self.formulation(kept_codes, len(keep), C)
        costs = cost_matrix(self.cost, len(classes), classes)
        return self.formulation(kept_codes, len(keep), C, cost_weights(costs[np.ix_(keep, keep)]))

    # Recover

    def _recover(self, fit: Fit, solution: Trained) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.thresholds_, self.intercept_ = public_cuts(solution.solutions[0].thresholds)
        self.rank_rule_ = self.formulation.rule
        self.dual_coef_ = self.dual_coef_[0]  # one problem, one β

    def _model_thresholds(self) -> list[Floats]:
        return [thresholds_on_f(self)]

    def _is_suspect(self, fit: Fit, solution: Trained) -> bool:
        """Whether not all ranks are predicted, or thresholds are close to each other, or C may be too small."""
        found, problem = solution.solutions[0], fit.task.problems[0]
        score, b = found.score, found.thresholds
        if score is None or (b[1:] - b[:-1]).min(initial=1.0) < 2e-3 or self._may_be_saturated(problem):
            return True
        hit = np.bincount(np.searchsorted(b, score), minlength=len(b) + 1)
        return not hit.all()

    def _rank_counts(self, fit: Fit, solution: Trained) -> RankCounts | None:
        score, order = solution.solutions[0].score, fit.task.order
        if score is None and isinstance(self.kernel_, Linear):
            score = self.kernel_.scores(fit.X, self.support_vectors_, self.dual_coef_)[order]
        if score is None:
            return None
        true, problem = fit.target.codes[order], fit.task.problems[0]
        if not problem.uses_all_samples():  # samples of weight 0 are not trained on
            trained = np.unique(problem.hinges.sample)
            score, true = score[trained], true[trained]
        if len(self.classes_) < len(fit.target.classes):  # ranks without samples were dropped
            kept = rank_codes(self.classes_, fit.target.classes)
            score, true = score[np.isin(true, kept)], np.searchsorted(kept, true[np.isin(true, kept)])
        return RankCounts.of(self.classes_, true, self._ranks(score + self.intercept_))


def init_with_cost(
    self: Any,
    C: float = 1.0,
    *,
    kernel: KernelLike = "rbf",
    gamma: Gamma = "scale",
    degree: float = 3,
    coef0: float = 0.0,
    cost: Cost = "absolute",
    tol: float = 1e-3,
    cache_size: float = 200,
    max_iter: int = -1,
    time_limit: float | None = None,
    solver: SolverLike = "auto",
    class_weight: ClassWeight = None,
    categories: Categories = None,
    warm_start: bool = False,
    callback: Callback = None,
    verbose: bool = False,
    n_threads: int | None = None,
    deterministic: bool = False,
    early_stopping: bool = False,
    validation_fraction: float = 0.1,
    n_iter_no_change: int = 10,
    random_state: RandomState = None,
    device: str = "cpu",
) -> None:
    """`__init__` of the models whose samples have hinges at every threshold, so that mistakes can have costs."""
    ThresholdModel.__init__(
        self,
        C,
        kernel=kernel,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        tol=tol,
        cache_size=cache_size,
        max_iter=max_iter,
        time_limit=time_limit,
        solver=solver,
        class_weight=class_weight,
        categories=categories,
        warm_start=warm_start,
        callback=callback,
        verbose=verbose,
        n_threads=n_threads,
        deterministic=deterministic,
        early_stopping=early_stopping,
        validation_fraction=validation_fraction,
        n_iter_no_change=n_iter_no_change,
        random_state=random_state,
        device=device,
    )
    self.cost = cost


def require_cost_weights(loose: Flags, present: Flags) -> None:
    """An undetermined threshold between two ranks that have samples is due to the cost."""
    between = loose & present[:-1] & present[1:]
    if between.any():
        raise ValueError(
            f"The cost gives no weight to one side of the threshold above rank {int(np.flatnonzero(between)[0])}: "
            "give a cost matrix in which neighbouring ranks differ."
        )


def _loose_ranks(problem: Problem, present: Flags) -> Flags:
    """Ranks without samples beside a threshold that nothing determines."""
    loose = problem.undetermined()
    require_cost_weights(loose, present)
    if problem.treatment is Treatment.PENALIZED:  # the penalty determines what no sample does
        return np.zeros(len(present), dtype=bool)
    return (np.append(loose, False) | np.insert(loose, 0, False)) & ~present


def _warn_loose(labels: NDArray[Any]) -> None:
    warnings.warn(
        f"No sample of positive weight has the label {', '.join(map(str, labels))}, and nothing determines the "
        "thresholds beside it: it is left out of classes_ and will not be predicted.",
        UserWarning,
        stacklevel=caller_level(),
    )
