"""Errors of predicted ranks: how far they are from the true ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordsvm._typing import Categories, Floats, SampleWeight
from ordsvm.metrics.inputs import as_numbers, weights
from ordsvm.problem.cost_labels import costs_by_rank, labels_or_numbers
from ordsvm.problem.labels import category_array, ordered_dtype_categories


def mean_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Mean absolute error in ranks.

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
        The mean of abs(true − predicted); 0 is best.

    See Also
    --------
    macro_mean_absolute_error : Mean over the ranks of the mean absolute error of each.
    maximum_mean_absolute_error : Mean absolute error of the rank where it is largest.
    mean_squared_error : Mean squared distance in ranks.

    Examples
    --------
    >>> from ordsvm.metrics import mean_absolute_error
    >>> mean_absolute_error([0, 1, 2, 2], [0, 2, 2, 0])
    0.75
    >>> mean_absolute_error(["low", "high"], ["high", "high"], categories=["low", "medium", "high"])
    1.0
    """
    true, predicted = as_numbers(y_true, y_pred, categories)
    return float(np.average(np.abs(true - predicted), weights=weights(sample_weight, true)))


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    cost: ArrayLike,
    *,
    categories: Categories = None,
    sample_weight: SampleWeight = None,
) -> float:
    """Mean cost by a matrix of costs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    cost : array-like of shape (n_classes, n_classes)
        The costs, cost[true, predicted]: an array in the order of the ranks, or a pandas frame with the labels as index
        and columns.
    categories : array-like of shape (n_classes,), default=None
        All labels, lowest first. None: the order of an ordered dtype of `y_true`, or else the labels are those of the
        frame, or the ranks 0, 1, and so on.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. None: all weigh 1.

    Returns
    -------
    float
        The mean of cost[true, predicted]; the smaller, the better.

    See Also
    --------
    cost_scorer : The same as a scorer.
    mean_absolute_error : The mean of the cost that a distance in ranks is.

    Examples
    --------
    >>> from ordsvm.metrics import mean_cost
    >>> mean_cost([0, 1, 2, 2], [0, 2, 2, 0], [[0, 1, 2], [3, 0, 1], [6, 3, 0]])
    1.75
    """
    if categories is None:
        categories = ordered_dtype_categories(y_true)
    classes = category_array(labels_or_numbers(cost) if categories is None else categories)
    true, predicted = as_numbers(y_true, y_pred, classes)
    costs = costs_by_rank(cost, len(classes), classes)
    return float(np.average(costs[true.astype(int), predicted.astype(int)], weights=weights(sample_weight, true)))


def mean_zero_one_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Share of samples whose rank is wrong, by however much.

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
        One minus the accuracy; 0 is best.

    See Also
    --------
    mean_absolute_error : Mean distance in ranks.
    off_by_one_accuracy : Share of ranks that are at most one off.

    Examples
    --------
    >>> from ordsvm.metrics import mean_zero_one_error
    >>> mean_zero_one_error([0, 1, 2, 2], [0, 2, 2, 0])
    0.5
    """
    true, predicted = as_numbers(y_true, y_pred, categories)
    return float(np.average(true != predicted, weights=weights(sample_weight, true)))


def mean_squared_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Mean squared error in ranks.

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
        The mean of (true − predicted)²; 0 is best.

    See Also
    --------
    mean_absolute_error : Mean distance in ranks.
    quadratic_weighted_kappa : Agreement beyond chance, with squared distances.

    Examples
    --------
    >>> from ordsvm.metrics import mean_squared_error
    >>> mean_squared_error([0, 1, 2, 2], [0, 2, 2, 0])
    1.25
    """
    true, predicted = as_numbers(y_true, y_pred, categories)
    return float(np.average((true - predicted) ** 2, weights=weights(sample_weight, true)))


def off_by_one_accuracy(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Share of samples whose rank is at most one off.

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
        The share; 1 is best.

    See Also
    --------
    mean_zero_one_error : Share of wrong ranks.
    mean_absolute_error : Mean distance in ranks.

    Examples
    --------
    >>> from ordsvm.metrics import off_by_one_accuracy
    >>> off_by_one_accuracy([0, 1, 2, 2], [0, 2, 2, 0])
    0.75
    """
    true, predicted = as_numbers(y_true, y_pred, categories)
    return float(np.average(np.abs(true - predicted) <= 1, weights=weights(sample_weight, true)))


def macro_mean_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Mean absolute error within each true rank, averaged over the ranks that occur.

    A rank with few samples counts as much as one with many, which the plain error does not show. A rank whose samples
    all have weight 0 is left out.

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
        The average of the errors; 0 is best.

    See Also
    --------
    mean_absolute_error : Mean distance in ranks.
    maximum_mean_absolute_error : Mean absolute error of the rank where it is largest.

    References
    ----------
    .. [1] S. Baccianella, A. Esuli, F. Sebastiani, "Evaluation measures for ordinal regression", ISDA 2009.

    Examples
    --------
    >>> from ordsvm.metrics import macro_mean_absolute_error
    >>> macro_mean_absolute_error([0, 0, 0, 2], [0, 0, 0, 0])
    1.0
    """
    return float(np.mean(_errors_by_rank(y_true, y_pred, categories, sample_weight)))


def maximum_mean_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Mean absolute error within the true rank where it is largest.

    The metric called MMAE in [1]_: it shows a rank that was given up for the others. A rank whose samples all have
    weight 0 is left out.

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
        The largest of the errors; 0 is best.

    See Also
    --------
    mean_absolute_error : Mean distance in ranks.
    macro_mean_absolute_error : Mean over the ranks of the mean absolute error of each.

    References
    ----------
    .. [1] M. Cruz-Ramírez, C. Hervás-Martínez, J. Sánchez-Monedero, P. A. Gutiérrez, "Metrics to guide a
       multi-objective evolutionary algorithm for ordinal classification", Neurocomputing 135, 2014.

    Examples
    --------
    >>> from ordsvm.metrics import maximum_mean_absolute_error
    >>> maximum_mean_absolute_error([0, 0, 1, 2], [0, 0, 1, 0])
    2.0
    """
    return float(np.max(_errors_by_rank(y_true, y_pred, categories, sample_weight)))


def _errors_by_rank(y_true: Any, y_pred: Any, categories: Any, sample_weight: Any) -> Floats:
    """The mean absolute error within each true rank that has samples of positive weight."""
    true, predicted = as_numbers(y_true, y_pred, categories)
    weight = weights(sample_weight, true)
    _, rank = np.unique(true, return_inverse=True)
    total_error = np.bincount(rank, weights=weight * np.abs(true - predicted))
    total_weight = np.bincount(rank, weights=weight)
    occurs = total_weight > 0
    return total_error[occurs] / total_weight[occurs]
