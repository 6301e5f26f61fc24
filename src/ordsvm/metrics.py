"""How far predicted ranks, or probabilities of ranks, are from true ones, as functions and as scorers for scikit-learn.

Every function takes `categories`, the labels listed lowest first. With them a label counts as its rank
0, 1, ..., r - 1, the convention of the papers: neighbouring labels are one apart whatever they are called.
Without them an ordered dtype of y_true (pandas Categorical, polars Enum) supplies them; failing that the
labels have to be numbers, and they count with their own values: 2 and 5 are three apart.

The scorers take `categories` from the fitted estimator, so that a fold lacking a rank is no exception.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import MetadataRequest

from ordsvm._typing import Floats
from ordsvm.labels import category_array, label_array, ordered_dtype_categories, rank_codes


def mean_absolute_error(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """The mean distance |true - predicted| in ranks. 0 is best."""
    true, predicted = _as_numbers(y_true, y_pred, categories)
    return float(np.average(np.abs(true - predicted), weights=_weights(sample_weight, true)))


def mean_zero_one_error(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """The share of samples whose rank is wrong, by however much: one minus the accuracy. 0 is best."""
    true, predicted = _as_numbers(y_true, y_pred, categories)
    return float(np.average(true != predicted, weights=_weights(sample_weight, true)))


def mean_squared_error(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """The mean squared distance in ranks. 0 is best."""
    true, predicted = _as_numbers(y_true, y_pred, categories)
    return float(np.average((true - predicted) ** 2, weights=_weights(sample_weight, true)))


def off_by_one_accuracy(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """The share of samples whose rank is at most one off. 1 is best."""
    true, predicted = _as_numbers(y_true, y_pred, categories)
    return float(np.average(np.abs(true - predicted) <= 1, weights=_weights(sample_weight, true)))


def macro_mean_absolute_error(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """The mean absolute error within each true rank, averaged over the ranks that occur. 0 is best.

    A rank with few samples counts as much as one with many, which the plain error does not show. A rank whose
    samples all weigh nothing is left out.
    """
    return float(np.mean(_errors_by_rank(y_true, y_pred, categories, sample_weight)))


def maximum_mean_absolute_error(
    y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None
) -> float:
    """The mean absolute error within the true rank where it is largest. 0 is best.

    Cruz-Ramírez et al. (2014) call it MMAE: no rank is sacrificed to the others. Ranks are left out as by
    `macro_mean_absolute_error`.
    """
    return float(np.max(_errors_by_rank(y_true, y_pred, categories, sample_weight)))


def quadratic_weighted_kappa(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """Agreement beyond chance with squared distances (Cohen 1968): 1 is perfect, 0 is chance.

    kappa = 1 - E(t - p)² / E(t - p')², where p' is distributed as p but independent of t, so that the
    denominator is var t + var p + (mean t - mean p)². For consecutive ranks this is scikit-learn's
    `cohen_kappa_score(weights="quadratic")`; unlike it, gaps between numeric labels count in full. Where
    all true and predicted labels are one and the same, 0/0, the value is 1.0: they agree.
    """
    true, predicted = _as_numbers(y_true, y_pred, categories)
    weight = _weights(sample_weight, true)
    observed = np.average((true - predicted) ** 2, weights=weight)
    if observed == 0.0:
        return 1.0
    mean_true, mean_predicted = np.average(true, weights=weight), np.average(predicted, weights=weight)
    spread = np.average((true - mean_true) ** 2 + (predicted - mean_predicted) ** 2, weights=weight)
    return float(1.0 - observed / (spread + (mean_true - mean_predicted) ** 2))


def kendall_tau_b(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """Kendall's rank correlation, corrected for ties: 1 is the same order, -1 the reverse, 0 no association.

    Where all true or all predicted labels are equal the coefficient is 0/0; the value is then 0.0, for such
    a vector orders nothing. A sample of weight 2 counts as two samples.
    """
    true, predicted = _as_numbers(y_true, y_pred, categories)
    if sample_weight is None:
        return 0.0 if np.ptp(true) == 0 or np.ptp(predicted) == 0 else float(kendalltau(true, predicted).statistic)
    table = _weight_table(true, predicted, _weights(sample_weight, true))
    return _tau_b(table) if min(table.shape) > 1 else 0.0


def spearman_rho(y_true: Any, y_pred: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """Spearman's rank correlation, with mean places for ties: 1 is the same order, -1 the reverse.

    Labels that are all equal, and weights, are taken as by `kendall_tau_b`.
    """
    true, predicted = _as_numbers(y_true, y_pred, categories)
    if sample_weight is None:
        return 0.0 if np.ptp(true) == 0 or np.ptp(predicted) == 0 else float(spearmanr(true, predicted).statistic)
    table = _weight_table(true, predicted, _weights(sample_weight, true))
    return _rho(table) if min(table.shape) > 1 else 0.0


def ranked_probability_score(y_true: Any, y_proba: Any, *, categories: Any = None, sample_weight: Any = None) -> float:
    """Σ_k (P(rank ≤ k) − [true rank ≤ k])², averaged over the samples (Epstein 1969). 0 is best.

    `y_proba` has a column for every rank, lowest first, as `predict_proba` gives it. The sum is not divided by the
    number of thresholds, so that for sure predictions (one 1, the rest 0) the score is the mean absolute error
    in ranks. It is proper: in expectation nothing beats the true probabilities. Without categories, and without an
    ordered dtype, y_true has to hold every label there is a column for.
    """
    labels = label_array(y_true, "y_true")
    if categories is None:
        categories = ordered_dtype_categories(y_true)
    classes = np.unique(_own_values(labels, "y_true")) if categories is None else category_array(categories)
    true = rank_codes(labels, classes, "y_true")
    cumulated = np.cumsum(_probabilities(y_proba, (len(true), len(classes))), axis=1)[:, :-1]
    reached = true[:, np.newaxis] <= np.arange(len(classes) - 1)
    weight = _weights(sample_weight, true.astype(np.float64))
    return float(np.average(((cumulated - reached) ** 2).sum(axis=1), weights=weight))


@dataclass(frozen=True)
class OrdinalScorer:
    """A metric as scikit-learn's model selection wants it: `scorer(estimator, X, y)`, greater is better.

    The order of the labels is `estimator.classes_`, lowest first, which pipelines and searches pass on. (The
    classifiers of scikit-learn sort their classes: with them, use numbers.) y may hold a label the estimator
    has not seen, in a fold: among numbers in ascending order its place is clear; otherwise that is an error,
    which giving the estimator `categories` or an ordered dtype avoids.

    Searches pass on the weights they are given. `cross_val_score` does so with scikit-learn's metadata routing, if
    asked: `mae_scorer.set_score_request(sample_weight=True)`; without it, scores there are those of equal weights.
    """

    metric: Callable[..., float]
    greater_is_better: bool
    name: str
    weight_request: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        order = self._label_order(estimator, y)
        score = self.metric(y, self._answers(estimator, X, order), categories=order, **weighted)
        return score if self.greater_is_better else -score

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """A copy that wants weights (True, or the name they go by) or does not (False)."""
        return replace(self, weight_request=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        request = MetadataRequest(owner=repr(self))
        request.score.add_request(param="sample_weight", alias=self.weight_request)
        return request

    def _accept_sample_weight(self) -> bool:
        """Asked by scikit-learn's searches, which without metadata routing then pass weights on."""
        return True

    def _answers(self, estimator: Any, X: Any, order: NDArray[Any]) -> NDArray[Any]:
        """What the metric compares with y."""
        return estimator.predict(X)

    def _label_order(self, estimator: Any, y: Any) -> NDArray[Any]:
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise TypeError(
                f"The scorer {self.name!r} takes the order of the labels from estimator.classes_, which "
                f"{type(estimator).__name__} lacks; use a fitted classifier or ordsvm.RoundedRegressor."
            )
        labels = label_array(y)
        is_numeric = classes.dtype.kind in "biuf" and labels.dtype.kind in "biuf"
        return np.union1d(classes, labels) if is_numeric and (classes[:-1] < classes[1:]).all() else classes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class ProbabilityScorer(OrdinalScorer):
    """A metric of probabilities as a scorer, for estimators with `predict_proba`.

    A label that the estimator has not seen has probability 0.
    """

    def _answers(self, estimator: Any, X: Any, order: NDArray[Any]) -> NDArray[Any]:
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"The scorer {self.name!r} takes probabilities, which {type(estimator).__name__} does not give: "
                "wrap it in ordsvm.CalibratedOrdinal."
            )
        known = estimator.predict_proba(X)
        probability = np.zeros((len(known), len(order)))
        probability[:, rank_codes(estimator.classes_, order)] = known
        return probability


mae_scorer = OrdinalScorer(mean_absolute_error, greater_is_better=False, name="mae")
mze_scorer = OrdinalScorer(mean_zero_one_error, greater_is_better=False, name="mze")
mse_scorer = OrdinalScorer(mean_squared_error, greater_is_better=False, name="mse")
macro_mae_scorer = OrdinalScorer(macro_mean_absolute_error, greater_is_better=False, name="macro_mae")
max_mae_scorer = OrdinalScorer(maximum_mean_absolute_error, greater_is_better=False, name="max_mae")
off_by_one_scorer = OrdinalScorer(off_by_one_accuracy, greater_is_better=True, name="off_by_one")
kappa_scorer = OrdinalScorer(quadratic_weighted_kappa, greater_is_better=True, name="kappa")
tau_scorer = OrdinalScorer(kendall_tau_b, greater_is_better=True, name="tau")
spearman_scorer = OrdinalScorer(spearman_rho, greater_is_better=True, name="spearman")
rps_scorer = ProbabilityScorer(ranked_probability_score, greater_is_better=False, name="rps")

_ALL = (
    mae_scorer,
    mze_scorer,
    mse_scorer,
    macro_mae_scorer,
    max_mae_scorer,
    off_by_one_scorer,
    kappa_scorer,
    tau_scorer,
    spearman_scorer,
)
SCORERS = {scorer.name: scorer for scorer in _ALL}  # of predicted ranks, which every classifier gives
PROBABILITY_SCORERS = {rps_scorer.name: rps_scorer}


def _as_numbers(y_true: Any, y_pred: Any, categories: Any) -> tuple[Floats, Floats]:
    """Both label vectors as ranks if an order is known, else as the numbers they are."""
    if categories is None:
        categories = ordered_dtype_categories(y_true)
    named = {"y_true": label_array(y_true, "y_true"), "y_pred": label_array(y_pred, "y_pred")}
    check_consistent_length(*named.values())
    if categories is None:
        true, predicted = (_own_values(labels, name) for name, labels in named.items())
    else:
        classes = category_array(categories)
        true, predicted = (rank_codes(labels, classes, name) for name, labels in named.items())
    return true.astype(np.float64), predicted.astype(np.float64)


def _errors_by_rank(y_true: Any, y_pred: Any, categories: Any, sample_weight: Any) -> Floats:
    """The mean absolute error within each true rank that has samples of positive weight."""
    true, predicted = _as_numbers(y_true, y_pred, categories)
    weight = _weights(sample_weight, true)
    _, rank = np.unique(true, return_inverse=True)
    total_error = np.bincount(rank, weights=weight * np.abs(true - predicted))
    total_weight = np.bincount(rank, weights=weight)
    occurs = total_weight > 0
    return total_error[occurs] / total_weight[occurs]


def _weight_table(true: Floats, predicted: Floats, weight: Floats) -> Floats:
    """Sums of weights by true (rows) and predicted (columns) label, for the labels that have any."""
    rows, row = np.unique(true[weight > 0], return_inverse=True)
    columns, column = np.unique(predicted[weight > 0], return_inverse=True)
    table = np.zeros((len(rows), len(columns)))
    np.add.at(table, (row, column), weight[weight > 0])
    return table


def _tau_b(table: Floats) -> float:
    """Weights of pairs in the same order, less those in the opposite one, over the geometric mean of the untied."""
    after = np.cumsum(table[::-1], axis=0)[::-1] - table  # in later rows, by column
    ahead = np.cumsum(after[:, ::-1], axis=1)[:, ::-1] - after
    behind = np.cumsum(after, axis=1) - after
    untied = [(table.sum() ** 2 - np.sum(table.sum(axis=axis) ** 2)) / 2 for axis in (0, 1)]
    return float(np.sum(table * (ahead - behind)) / np.sqrt(untied[0] * untied[1]))


def _rho(table: Floats) -> float:
    """The correlation of mean places."""
    totals = [table.sum(axis=1), table.sum(axis=0)]
    places = [np.cumsum(total) - total / 2 for total in totals]
    row, column = (place - np.average(place, weights=total) for place, total in zip(places, totals, strict=True))
    return float(row @ table @ column / np.sqrt((totals[0] @ row**2) * (totals[1] @ column**2)))


def _probabilities(y_proba: Any, shape: tuple[int, int]) -> Floats:
    """One distribution over the ranks per sample."""
    probability = np.asarray(y_proba, dtype=np.float64)
    if probability.shape != shape:
        raise ValueError(
            f"y_proba has shape {probability.shape}; give a row for every sample and a column for every label, "
            f"{shape}, or list all labels in categories, lowest first."
        )
    if not (probability.min() >= 0 and np.allclose(probability.sum(axis=1), 1.0, rtol=0, atol=1e-6)):
        raise ValueError("y_proba holds rows that are no probabilities: give numbers of at least 0 that add up to 1.")
    return probability


def _own_values(labels: NDArray[Any], name: str) -> NDArray[Any]:
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} holds labels that are not numbers, such as {labels.tolist()[0]!r}; "
            "pass categories=[...], all labels listed lowest first."
        )
    return labels


def _weights(sample_weight: Any, true: Floats) -> Floats:
    """One finite, non-negative weight per sample, 1 where none are given."""
    if sample_weight is None:
        return np.ones(len(true))
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != true.shape:
        raise ValueError(f"sample_weight has shape {weight.shape}; give one weight per sample: {true.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ValueError(
            "sample_weight holds negative, infinite or NaN values, or only zeros; "
            "give finite weights of at least 0, and one above 0."
        )
    return weight
