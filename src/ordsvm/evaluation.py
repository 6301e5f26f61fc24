"""How good predictions are: every ordinal metric with a bootstrap interval, and the confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm._typing import Ints
from ordsvm.labels import label_array, rank_codes
from ordsvm.metrics import PROBABILITY_SCORERS, SCORERS

WORK = 2_000_000  # samples that a metric without weights may look at in all draws together


@dataclass(frozen=True)
class Estimate:
    """A metric on all samples, and the range that holds 95 % of its values on samples drawn again."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """classes: lowest first. confusion[true, predicted]: numbers of samples. metrics: by name, see `ordsvm.metrics`."""

    classes: NDArray[Any]
    confusion: Ints
    metrics: dict[str, Estimate]

    @property
    def n_samples(self) -> int:
        return int(self.confusion.sum())


def evaluate(
    y_true: Any, y_pred: Any, classes: Any, probabilities: Any = None, n_draws: int = 500, seed: int = 0
) -> Evaluation:
    """Compares predicted labels with true ones; `classes` are all labels, lowest first.

    Metrics of predicted ranks depend on the confusion matrix alone. So the bootstrap draws that: as many samples as
    there are, each cell as probable as it is frequent.
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
