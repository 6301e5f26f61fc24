"""Metrics of predicted probabilities of the ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordsvm._typing import Categories, Floats, SampleWeight
from ordsvm.metrics.inputs import own_values, weights
from ordsvm.problem.labels import category_array, label_array, ordered_dtype_categories, rank_codes


def ranked_probability_score(
    y_true: ArrayLike, y_proba: ArrayLike, *, categories: Categories = None, sample_weight: SampleWeight = None
) -> float:
    """Squared error of cumulative probabilities, averaged over the samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_proba : array-like of shape (n_samples, n_classes)
        Predicted probabilities, a column for every label, lowest first.
    categories : array-like of shape (n_classes,), default=None
        All labels, lowest first; labels then count as ranks. None: the order of an ordered dtype of `y_true`, or else
        the distinct values of `y_true`, which have to be numbers and to include every label that has a column.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. None: all weigh 1.

    Returns
    -------
    float
        The mean of Σ_k (P(rank ≤ k) − [true rank ≤ k])²; 0 is best.

    See Also
    --------
    rps_scorer : The same as a scorer for scikit-learn's searches.
    mean_absolute_error : Mean distance in ranks.

    Notes
    -----
    The sum is not divided by the number of thresholds, so that for sure predictions (one 1, the rest 0) the score is
    the mean absolute error in ranks. It is proper: in expectation no probabilities score better than the true ones.

    References
    ----------
    .. [1] E. S. Epstein, "A scoring system for probability forecasts of ranked categories", Journal of Applied
       Meteorology 8, 1969.

    Examples
    --------
    >>> from ordsvm.metrics import ranked_probability_score
    >>> round(ranked_probability_score([0, 2], [[0.8, 0.2, 0.0], [0.0, 0.5, 0.5]], categories=[0, 1, 2]), 3)
    0.145
    """
    labels = label_array(y_true, "y_true")
    if categories is None:
        categories = ordered_dtype_categories(y_true)
    classes = np.unique(own_values(labels, "y_true")) if categories is None else category_array(categories)
    true = rank_codes(labels, classes, "y_true")
    cumulated = np.cumsum(_probabilities(y_proba, (len(true), len(classes))), axis=1)[:, :-1]
    reached = true[:, np.newaxis] <= np.arange(len(classes) - 1)
    weight = weights(sample_weight, true.astype(np.float64))
    return float(np.average(((cumulated - reached) ** 2).sum(axis=1), weights=weight))


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
