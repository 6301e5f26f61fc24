"""How good predictions are: every ordinal metric with a bootstrap interval, the confusion matrix, drift of scores."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.metrics import PROBABILITY_SCORERS, SCORERS
from ordsvm.problem.labels import label_array, rank_codes

__all__ = ["Estimate", "Evaluation", "evaluate", "score_quantiles", "score_shift"]

WORK = 2_000_000  # samples that a metric without weights may look at in all draws together


@dataclass(frozen=True)
class Estimate:
    """A metric on all samples with its bootstrap interval.

    Parameters
    ----------
    value : float
        The metric on all samples.
    low : float
        The 2.5 % quantile of its values on samples drawn again.
    high : float
        The 97.5 % quantile.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Metrics and confusion matrix of predictions.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, lowest first.
    confusion : ndarray of shape (n_classes, n_classes)
        Numbers of samples, confusion[true, predicted].
    metrics : dict of str to Estimate
        The metrics of `ordsvm.metrics` by the names of their scorers.
    """

    classes: NDArray[Any]
    confusion: Ints
    metrics: dict[str, Estimate]

    @property
    def n_samples(self) -> int:
        """Number of samples compared."""
        return int(self.confusion.sum())


def evaluate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    classes: ArrayLike,
    probabilities: ArrayLike | None = None,
    n_draws: int = 500,
    seed: int = 0,
) -> Evaluation:
    """Compare predicted labels with true ones by every ordinal metric, with bootstrap intervals.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_pred : array-like of shape (n_samples,)
        The predicted labels.
    classes : array-like of shape (n_classes,)
        All labels, lowest first.
    probabilities : array-like of shape (n_samples, n_classes), default=None
        Predicted probabilities; with them metrics of probabilities are computed too.
    n_draws : int, default=500
        Samples of the bootstrap.
    seed : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    Evaluation
        Metrics with 95 % intervals, and the confusion matrix.

    See Also
    --------
    ordsvm.metrics : The metrics by themselves.

    Notes
    -----
    Metrics of predicted ranks depend on the confusion matrix alone. So the bootstrap draws that: as many samples as
    there are, each cell as probable as it is frequent.

    Examples
    --------
    >>> from ordsvm.evaluation import evaluate
    >>> found = evaluate([0, 1, 2, 2], [0, 2, 2, 1], classes=[0, 1, 2])
    >>> found.metrics["mae"].value
    0.5
    >>> found.confusion
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 1]])
    """
    classes = np.asarray(classes)
    true, predicted = (rank_codes(label_array(labels), classes) for labels in (y_true, y_pred))
    n_ranks = len(classes)
    confusion = np.bincount(true * n_ranks + predicted, minlength=n_ranks**2).reshape(n_ranks, n_ranks)
    random = np.random.default_rng(seed)
    draws = random.multinomial(len(true), confusion.ravel() / len(true), size=n_draws)
    metrics = {name: _estimate(scorer.metric, confusion, draws) for name, scorer in SCORERS.items()}
    if probabilities is not None:
        metrics |= _of_probabilities(true, np.asarray(probabilities), random, n_draws)
    return Evaluation(classes, confusion, metrics)


def _estimate(metric: Any, confusion: Ints, draws: Ints) -> Estimate:
    """Every cell is a pair of labels, weighted by its count; metrics without weights get it that many times instead."""
    ranks = np.arange(len(confusion))
    true, predicted = np.repeat(ranks, len(ranks)), np.tile(ranks, len(ranks))
    weighted = "sample_weight" in signature(metric).parameters

    def of(counts: Ints) -> float:
        if weighted:
            return metric(true, predicted, categories=ranks, sample_weight=counts)
        return metric(np.repeat(true, counts), np.repeat(predicted, counts), categories=ranks)

    if not weighted:
        draws = draws[: max(50, WORK // int(confusion.sum()))]
    low, high = np.quantile([of(counts) for counts in draws], [0.025, 0.975])
    return Estimate(of(confusion.ravel()), float(low), float(high))


def _of_probabilities(true: Ints, probabilities: Any, random: np.random.Generator, n_draws: int) -> dict[str, Estimate]:
    """These metrics are means over the samples: their bootstrap draws samples."""
    found = {}
    ranks = np.arange(probabilities.shape[1])
    for name, scorer in PROBABILITY_SCORERS.items():
        values = []
        for _ in range(min(n_draws, 200)):
            chosen = random.integers(len(true), size=len(true))
            values.append(scorer.metric(true[chosen], probabilities[chosen], categories=ranks))
        low, high = np.quantile(values, [0.025, 0.975])
        found[name] = Estimate(scorer.metric(true, probabilities, categories=ranks), float(low), float(high))
    return found


def score_quantiles(scores: ArrayLike) -> Floats:
    """Return the quantiles of scores from 0 to 100 %, to compare later ones with.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores of samples, best of some that the model was not trained on.

    Returns
    -------
    ndarray of shape (101,)
        The quantiles, in steps of a hundredth.

    See Also
    --------
    score_shift : Compares scores with quantiles.

    Examples
    --------
    >>> from ordsvm.evaluation import score_quantiles
    >>> score_quantiles([0.0, 1.0, 2.0])[[0, 50, 100]]
    array([0., 1., 2.])
    """
    return np.quantile(_finite_scores(scores), np.linspace(0.0, 1.0, 101))


def score_shift(quantiles: ArrayLike, scores: ArrayLike) -> float:
    """Return how far the distribution of scores is from that with these quantiles.

    Parameters
    ----------
    quantiles : array-like of shape (n_quantiles,)
        Quantiles at equal steps from 0 to 1, as `score_quantiles` returns them.
    scores : array-like of shape (n_samples,)
        New scores.

    Returns
    -------
    float
        The largest difference between the shares of scores up to a value, from 0 (the same) to 1 (nothing in common):
        the distance of Kolmogorov and Smirnov.

    See Also
    --------
    score_quantiles : The quantiles of scores.

    Notes
    -----
    Of n scores from the same distribution as m earlier ones it is above 1.63 √(1/n + 1/m) in one case of a hundred.

    Examples
    --------
    >>> from ordsvm.evaluation import score_quantiles, score_shift
    >>> before = score_quantiles([0.0, 1.0, 2.0, 3.0])
    >>> score_shift(before, [4.0, 5.0])
    1.0
    """
    known, new = np.sort(_finite_scores(quantiles)), np.sort(_finite_scores(scores))
    expected = np.interp(new, known, np.linspace(0.0, 1.0, len(known)))
    place = np.arange(len(new) + 1) / len(new)
    return float(max(np.max(place[1:] - expected), np.max(expected - place[:-1])))


def _finite_scores(scores: ArrayLike) -> Floats:
    found = np.asarray(scores, dtype=np.float64)
    if found.ndim != 1 or not len(found) or not np.all(np.isfinite(found)):
        raise ValueError(f"Scores of shape {found.shape} can't be compared: give a finite number for every sample.")
    return found
