"""Prediction sets: runs of neighbouring ranks that hold the true one as often as a theorem says.

How badly rank k fits a score f is its nonconformity: the larger of the log-odds of P(rank < k) and P(rank > k) by an
ordered logistic of f. This is the distance of f from the scores in which k is the middle rank, in units of that
machine. So only the order of nonconformities by one machine counts: no matter how sure of itself it is.

Rank k of a new sample is in its set unless too many samples fit their own rank better than the new one would fit k.
Every sample is compared by a machine, and by an ordered logistic, that has not seen it: CV+ (Barber et al. 2021, for
classes Romano et al. 2020). With one machine that has seen none of them this is split conformal prediction (Vovk et
al. 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ordsvm._typing import Flags, Floats, Ints
from ordsvm.calibration.maps import OrderedLogistic


def middle_ranks(cumulative: Floats) -> Ints:
    """Return the median of every distribution: the rank with the least expected distance."""
    return np.argmax(cumulative >= 0.5, axis=1)


def nonconformity(ranks: OrderedLogistic, score: Floats) -> Floats:
    """Return how badly every rank fits every score, a column per rank."""
    at_most = ranks.log_odds(score)
    never = np.full((len(score), 1), -np.inf)
    return np.maximum(np.hstack([never, at_most]), np.hstack([-at_most, never]))


def effective_weights(weight: Floats) -> Floats:
    """Scale weights so that they add up to the number of equal weights that would say as much, (Σw)²/Σw².

    A prior and a new sample each count as one more sample, so that the scale of weights matters.
    """
    weight = weight / weight.max()
    return weight * (weight.sum() / np.sum(weight**2))


@dataclass(frozen=True)
class CalibrationPart:
    """Samples that one machine has not seen, and how badly their true ranks fit its scores.

    ranks           the ordered logistic of that machine's scores
    nonconformity   of the samples' true ranks, ascending
    weight          the sum of the weights up to each
    columns         of a precomputed kernel: the samples that the machine was trained on; empty for other machines
    """

    ranks: OrderedLogistic
    nonconformity: Floats
    weight: Floats
    columns: Ints

    @classmethod
    def of(
        cls, ranks: OrderedLogistic, score: Floats, codes: Ints, weight: Floats, columns: Ints | None = None
    ) -> CalibrationPart:
        """Keep the samples with these scores, true ranks and weights."""
        own = nonconformity(ranks, score)[np.arange(len(codes)), codes]
        order = np.argsort(own, kind="stable")
        columns = np.empty(0, dtype=np.int64) if columns is None else columns
        return cls(ranks, own[order], np.cumsum(weight[order]), columns)

    def weight_below(self, score: Floats) -> Floats:
        """Return, for new scores and every rank, the weight of the samples that fit their own rank better."""
        sums = np.append(0.0, self.weight)
        return sums[np.searchsorted(self.nonconformity, nonconformity(self.ranks, score), side="left")]


@dataclass(frozen=True)
class CrossConformal:
    """Prediction sets by CV+, a part per fold; by split conformal prediction where there is one part.

    n_exchangeable   the number of samples, where they have equal weights and every machine was trained on all that are
                     not in its own part; otherwise 0, for then there is no theorem
    """

    parts: tuple[CalibrationPart, ...]
    n_exchangeable: int

    def intervals(self, scores: Sequence[Floats], middle: Ints, coverage: float) -> tuple[Ints, Ints]:
        """Return the lowest and the highest rank of every set.

        A set is the shortest run that holds all ranks that fit well enough, and the predicted rank `middle`.

        Parameters
        ----------
        scores : sequence of arrays
            The scores of the new samples by the machine of every part.
        """
        total = sum(part.weight[-1] for part in self.parts if len(part.weight))
        below = sum(part.weight_below(score) for part, score in zip(self.parts, scores, strict=True))
        inside = np.asarray(below < coverage * (total + 1.0) * (1 - 1e-12))
        inside[np.arange(len(middle)), middle] = True
        return ends(inside)

    def guaranteed(self, coverage: float) -> float:
        """Return the coverage that a theorem promises where `coverage` is asked for; 0 where there is none.

        For several parts it is Theorem 4 of Barber et al. 2021.
        """
        n, n_folds = self.n_exchangeable, len(self.parts)
        if n == 0:
            return 0.0
        if n_folds == 1:
            return coverage
        small = min(2 * (1 - 1 / n_folds) / (n / n_folds + 1), (1 - n_folds / n) / (n_folds + 1))
        return max(0.0, 1 - 2 * (1 - coverage) - small)


def ends(inside: Flags) -> tuple[Ints, Ints]:
    """Return the first and the last rank that is inside, row by row."""
    return inside.argmax(axis=1), inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)


@dataclass(frozen=True)
class Conformal:
    """Prediction sets of models from before 0.2, whose files hold no machines of folds: no theorem is behind them.

    `depth` has the depths of the true ranks out of fold, ascending, and `weight` the sum of the weights up to each.
    """

    depth: Floats
    weight: Floats

    def depth_for(self, coverage: float) -> float:
        """Return how deep to go; infinity, for all ranks, if there are too few samples."""
        needed = coverage * (self.weight[-1] + 1.0)
        place = np.searchsorted(self.weight, needed * (1 - 1e-12))
        return float(self.depth[place]) if place < len(self.depth) else np.inf

    def intervals(self, cumulative: Floats, coverage: float) -> tuple[Ints, Ints]:
        """Return the lowest and the highest rank of every set."""
        return ends(depths(cumulative) <= self.depth_for(coverage))


def depths(cumulative: Floats) -> Floats:
    """Return, for every sample and rank, the probability of the ranks that come into a set of `Conformal` before it.

    The set starts at the middle rank and takes in the more probable neighbour, again and again.
    """
    n, n_ranks = cumulative.shape
    rows = np.arange(n)
    outside = np.full((n, 1), -1.0)
    padded = np.column_stack([outside, np.diff(cumulative, axis=1, prepend=0.0), outside])  # rank k is column k + 1
    low = high = middle_ranks(cumulative) + 1
    gathered = padded[rows, low]
    depth = np.zeros((n, n_ranks))
    for _ in range(n_ranks - 1):
        up = padded[rows, high + 1] > padded[rows, low - 1]
        low, high = np.where(up, low, low - 1), np.where(up, high + 1, high)
        entered = np.where(up, high, low)
        depth[rows, entered - 1] = gathered
        gathered = gathered + padded[rows, entered]
    return depth
