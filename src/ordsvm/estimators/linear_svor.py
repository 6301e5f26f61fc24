"""Linear support vector ordinal regression: one score and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from ordsvm._typing import Categories, ClassWeight, Cost, Flags, Floats, Ints, RandomState, Samples
from ordsvm.conventions import NoProbabilities, refuse_calibration_by_class, share_of_right_labels
from ordsvm.estimators._docs import LINEAR, documented
from ordsvm.estimators.base import Fit
from ordsvm.estimators.linear import LinearMachine, LinearTask
from ordsvm.estimators.threshold_model import require_cost_weights
from ordsvm.estimators.validation import classes_that_count, sample_C, weighted_C, weights_or_none
from ordsvm.formulations import cost_matrix, cost_weights, linear, svor
from ordsvm.formulations.threshold import public_cuts
from ordsvm.problem import undetermined
from ordsvm.problem.label_table import LabelTable
from ordsvm.problem.labels import Ranks, encode_labels
from ordsvm.problem.thresholds import Levels, RankRule, intercept_of, rank_rule_of, ranks_of, thresholds_on_f
from ordsvm.result import Callback
from ordsvm.solvers.registry import LinearSolverLike
from ordsvm.solvers.solution import LinearSolution


@documented(LINEAR)
class LinearSVOR(ClassifierMixin, LinearMachine):
    """Linear support vector ordinal regression: a score w·x, cut into ranks by thresholds.

    The concise SVOR with weights of features; it is `SVOR` with a linear kernel, and RedSVM::

        min ½‖w‖² + ½‖b‖² + C Σ_i Σ_k |cost(y_i, k+1) − cost(y_i, k)| · max(0, 1 − s_ik (w·x_i − b_k))

    with s_ik = +1 if y_i > k else −1, and max(…)² for squared_hinge. The predicted rank is the number of thresholds
    below the score, h(x) = 1 + Σ_k I[w·x > b_k] with ranks from 1.

    Parameters
    ----------
    {C}
    {cost}
    {loss}
    {class_weight}
    {categories}
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
    {classes_}
    coef_ : ndarray of shape (n_features_in_,)
        Weights of the features. With the thresholds at most √(2 · result_.gap) from the optimal ones.
    {counted_thresholds_}
    {cut_intercept_}
    {rank_rule_}
    {result_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    SVOR : The same with a kernel.
    LinearNPSVOR : A score for every rank.
    RowStore : Rows that do not fit into memory.

    References
    ----------
    .. [1] B. Gu et al., "Solving large-scale support vector ordinal regression with asynchronous parallel coordinate
       descent algorithms", Pattern Recognition, 2020.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ordsvm import LinearSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks()
    >>> X = StandardScaler().fit_transform(X)
    >>> model = LinearSVOR(C=0.1).fit(X, y)
    >>> model.result_.relative_gap <= 1e-3
    True
    """

    classes_: NDArray[Any]
    thresholds_: Floats
    rank_rule_: RankRule
    score = share_of_right_labels
    predict_proba = predict_log_proba = predict_cumproba = predict_set = NoProbabilities()

    def __init__(
        self,
        C: float = 1.0,
        *,
        cost: Cost = "absolute",
        loss: str = "hinge",
        class_weight: ClassWeight = None,
        categories: Categories = None,
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
        self.deterministic = deterministic
        self.random_state = random_state
        self.device = device

    def decision_function(self, X: Samples) -> Floats:
        """Compute the score w·x + `intercept_` of every sample, to be compared with `thresholds_`.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; for two ranks, as in scikit-learn, those above 0 are of the higher one.
        """
        score = self._scores(X)
        refuse_calibration_by_class(self)
        return score + intercept_of(self)

    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict the label of the rank that the thresholds give to the score, by the rule `rank_rule_`.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        score = self.decision_function(X)
        return self.classes_[ranks_of(score, self.thresholds_, rank_rule_of(self))]

    def _ranks_of_products(self, products: Floats) -> Ints:
        return ranks_of(products + intercept_of(self), self.thresholds_, rank_rule_of(self))

    def _check_target(self, y: Any) -> Ranks:
        return encode_labels(y, self.categories, estimator_name=type(self).__name__)

    def _formulate(self, X: Any, target: Ranks, sample_weight: Any) -> LinearTask:
        """A rank without samples keeps its thresholds: the penalty determines what no sample does."""
        check_consistent_length(X, target.codes)
        n_ranks = len(target.classes)
        weight = sample_C(1.0, sample_weight, self.class_weight, target)
        present = classes_that_count(weighted_C(self.C, weight), target, type(self).__name__)
        table = linear.svor(n_ranks, float(self.C), cost_weights(cost_matrix(self.cost, n_ranks, target.classes)))
        require_cost_weights(_loose(table, present), present)
        return LinearTask(table, target.codes.astype(np.int32), weights_or_none(weight), classes=target.classes)

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        super()._recover(fit, solution)
        self.classes_ = fit.task.classes
        self.coef_ = solution.coef[:, 0]
        self.thresholds_, self.intercept_ = public_cuts(solution.intercept)
        self.rank_rule_ = svor.rule

    def _biases(self) -> Floats:
        return thresholds_on_f(self)


def _loose(table: LabelTable, present: Flags) -> Flags:
    """Thresholds that samples hold on one side only."""
    cap = table.widths()
    hinges = [(table.offset[held, k], cap[held, k]) for k, held in enumerate((cap > 0).T & present)]
    return undetermined([Levels(np.zeros_like(sign), sign, cap) for sign, cap in hinges], ordered=False)
