"""Agreement and rank correlation of predicted and true ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, spearmanr

from ordsvm._typing import Categories, Floats, SampleWeight
from ordsvm.metrics.inputs import as_numbers, weights


def quadratic_weighted_kappa(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Kappa of Cohen with squared distances: agreement beyond chance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    categories : array-like of shape (n_classes,), default=None
        All labels, lowest first; labels then count as ranks. None: the order of an ordered dtype of `y_true`, or else
        the values of the labels, which have to be numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. None: all weigh 1.

    Returns
    -------
    float
        The agreement: 1 is perfect, 0 is chance. Where all labels, true and predicted, are one and the same (0/0): 1.

    See Also
    --------
    kendall_tau_b : Kendall's rank correlation.
    spearman_rho : Spearman's rank correlation.
    mean_squared_error : Mean squared distance in ranks.

    Notes
    -----
    kappa = 1 − E(t − p)² / E(t − p')², where p' is distributed as p but independent of t, so that the denominator is
    var t + var p + (mean t − mean p)². For consecutive ranks this is scikit-learn's
    `cohen_kappa_score(weights="quadratic")`; unlike it, gaps between numeric labels count in full.

    References
    ----------
    .. [1] J. Cohen, "Weighted kappa", Psychological Bulletin 70, 1968.

    Examples
    --------
    >>> from ordsvm.metrics import quadratic_weighted_kappa
    >>> round(quadratic_weighted_kappa([0, 1, 2, 2], [0, 2, 2, 2]), 3)
    0.833
    """
    true, predicted = as_numbers(y_true, y_pred, categories)
    weight = weights(sample_weight, true)
    observed = np.average((true - predicted) ** 2, weights=weight)
    if observed == 0.0:
        return 1.0
    mean_true, mean_predicted = np.average(true, weights=weight), np.average(predicted, weights=weight)
    spread = np.average((true - mean_true) ** 2 + (predicted - mean_predicted) ** 2, weights=weight)
    return float(1.0 - observed / (spread + (mean_true - mean_predicted) ** 2))


def kendall_tau_b(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Rank correlation of Kendall, corrected for ties.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    categories : array-like of shape (n_classes,), default=None
        All labels, lowest first; labels then count as ranks. None: the order of an ordered dtype of `y_true`, or else
        the values of the labels, which have to be numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. None: all weigh 1.

    Returns
    -------
    float
        1: the same order, −1: the reverse, 0: no association; also 0 where all true or all predicted labels are equal.

    See Also
    --------
    spearman_rho : Spearman's rank correlation.
    quadratic_weighted_kappa : Agreement beyond chance, with squared distances.

    Notes
    -----
    A sample of weight 2 counts as two samples.

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945.

    Examples
    --------
    >>> from ordsvm.metrics import kendall_tau_b
    >>> round(kendall_tau_b([0, 1, 2, 2], [0, 2, 2, 1]), 3)
    0.4
    """
    true, predicted = as_numbers(y_true, y_pred, categories)
    if sample_weight is None:
        return 0.0 if np.ptp(true) == 0 or np.ptp(predicted) == 0 else float(kendalltau(true, predicted).statistic)
    table = _weight_table(true, predicted, weights(sample_weight, true))
    return _tau_b(table) if min(table.shape) > 1 else 0.0


def spearman_rho(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Rank correlation of Spearman, with mean places for ties.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    categories : array-like of shape (n_classes,), default=None
        All labels, lowest first; labels then count as ranks. None: the order of an ordered dtype of `y_true`, or else
        the values of the labels, which have to be numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. None: all weigh 1.

    Returns
    -------
    float
        1: the same order, −1: the reverse. Where all true or all predicted labels are equal (0/0): 0.

    See Also
    --------
    kendall_tau_b : Kendall's rank correlation.
    quadratic_weighted_kappa : Agreement beyond chance, with squared distances.

    Notes
    -----
    A sample of weight 2 counts as two samples.

    References
    ----------
    .. [1] C. Spearman, "The proof and measurement of association between two things", American Journal of
       Psychology 15, 1904.

    Examples
    --------
    >>> from ordsvm.metrics import spearman_rho
    >>> round(spearman_rho([0, 1, 2, 2], [0, 2, 2, 1]), 3)
    0.5
    """
    true, predicted = as_numbers(y_true, y_pred, categories)
    if sample_weight is None:
        return 0.0 if np.ptp(true) == 0 or np.ptp(predicted) == 0 else float(spearmanr(true, predicted).statistic)
    table = _weight_table(true, predicted, weights(sample_weight, true))
    return _rho(table) if min(table.shape) > 1 else 0.0


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
