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

TIE = 1e-6  # log-odds that differ by less, relative to 1 or to themselves if that is more, differ by rounding alone


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
        """Return, for new scores and every rank, the weight of the samples that fit their own rank better.

        Nearly equal is not better. Otherwise the rounding of a score, which depends on how many samples are predicted
        at once, would decide between the many equal samples that there are with features of few values.
        """
        sums = np.append(0.0, self.weight)
        new = nonconformity(self.ranks, score)
        return sums[np.searchsorted(self.nonconformity, new - TIE * np.maximum(1.0, np.abs(new)), side="left")]


@dataclass(frozen=True)
class CrossConformal:
    """Prediction sets by CV+, a part per fold; by split conformal prediction where there is one part.

    n_exchangeable   the number of samples, where they have equal weights and every machine was trained on all that are
                     not in its own part, once each; otherwise 0, for then there is no theorem
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

        For several parts it is Theorem 4 of Barber et al. 2021, with `fold_slack` for folds of several sizes.
        """
        if self.n_exchangeable == 0:
            return 0.0
        if len(self.parts) == 1:
            return coverage
        slack = fold_slack(np.array([len(part.nonconformity) for part in self.parts]))
        return max(0.0, 1 - 2 * (1 - coverage) - slack)


def fold_slack(sizes: Ints) -> float:
    """Return what the guarantee of CV+ with folds of these sizes is less than 1 − 2α.

    With K folds of one size m it is min{2(K − 1)/(n + K), (m − 1)/(n + m)}, as in Theorem 4 of Barber et al. 2021. The
    first term takes every fold by itself: the share of its samples that fit no better is a p-value. The second one
    compares all samples with each other, as the theorem's proof does, which needs machines trained on equally many.

    Of several sizes m, with K_m folds each, either argument is made for every size by itself. Let B_m be how many
    samples in folds of size m fit better than the new one. For any b and a = K_m m − b, either argument bounds the mean
    of max(0, B_m − b): the first one by (a + K_m)²/(2 (K_m m + K_m)), for all of these folds together; the second one,
    as a set of s samples of K_m + 1 folds wins K_m m − (s − m)/2 comparisons each at most, by
    (a + m/2)²/(2 (K_m m + m)). A rank is left out if the sum of B_m is (1 − α)(n + 1) or more. With the bounds of all
    sizes, Markov's inequality and the best b, the probability of this is at most (2α(n + 1) − 2 + Δ)/(n + Γ), where a
    size adds 2 K_m to Δ and K_m to Γ by the first argument, m and m by the second. The theorem has m + 1 in place of
    the second one's m in Δ, and so it is here.
    """
    size, n_folds = np.unique(sizes, return_counts=True)
    order = np.argsort(size / n_folds, kind="stable")  # the second argument is the better one for many small folds
    size, n_folds = size[order], n_folds[order]
    second = np.tri(len(size) + 1, len(size), -1, dtype=bool)  # for none of the sizes, the first of them, and so on
    delta = np.where(second, size + 1, 2 * n_folds).sum(axis=1)
    gamma = np.where(second, size, n_folds).sum(axis=1)
    return float(np.min((delta - 2) / (sizes.sum() + gamma)))


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
