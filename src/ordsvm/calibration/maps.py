"""From a score to the probabilities P(rank ≤ k): two monotone maps, fitted by what ranks came with which scores.

Both see every sample as a distribution over the ranks, nearly all of it on its own rank (`smoothed`), and give
probabilities that never contradict each other: P(rank ≤ k) rises with k and falls as the score rises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, log_expit, logit
from sklearn.isotonic import IsotonicRegression

from ordsvm._typing import Floats, Ints


class ProbabilityMap(Protocol):
    """A fitted map."""

    def cumulative(self, score: Floats) -> Floats:
        """P(rank ≤ k), a row for every score and a column for every rank; the last column is 1."""

    def medians(self) -> Floats:
        """The score beyond which the middle of the distribution is above rank k, for all k but the last; infinite where
        no score or every one is beyond it."""


def smoothed(codes: Ints, n_ranks: int, weight: Floats) -> Floats:
    """A distribution over the ranks for every sample: its own rank, and a little of all of them.

    The little adds up to one more sample, spread evenly over scores and ranks. Without it ranks that scores
    separate, or that no sample has, would have probabilities of 0 and 1 and an infinite slope.
    """
    own = np.eye(n_ranks)[codes]
    return own + (1.0 / n_ranks - own) / (1.0 + weight.sum())


@dataclass(frozen=True)
class OrderedLogistic:
    """P(rank ≤ k) = σ(θ_k − slope·(f − centre)): the proportional-odds model (McCullagh 1980) of one feature.

    Fitted by maximum likelihood. With u_k = θ_k − slope·z the probability of rank k is
    σ(u_k) σ(−u_{k−1}) (1 − exp(θ_{k−1} − θ_k)), so that its logarithm is a sum in which nothing cancels, each term
    concave; Newton's method with halved steps therefore ends at the one maximum. Scores that rank the samples worse
    than chance get the slope 0.
    """

    theta: Floats
    slope: float
    centre: float

    @classmethod
    def fit(cls, score: Floats, codes: Ints, n_ranks: int, weight: Floats) -> OrderedLogistic:
        target = smoothed(codes, n_ranks, weight)
        centre = float(np.average(score, weights=weight))
        spread = float(np.sqrt(np.average((score - centre) ** 2, weights=weight))) or 1.0
        likelihood = _Likelihood((score - centre) / spread, target, weight)
        theta, slope = likelihood.maximum()
        return cls(theta, slope / spread, centre)

    def log_odds(self, score: Floats) -> Floats:
        """Return the logarithm of the odds of rank ≤ k, for all k but the last."""
        return self.theta - self.slope * (score - self.centre)[:, np.newaxis]

    def cumulative(self, score: Floats) -> Floats:
        return np.column_stack([expit(self.log_odds(score)), np.ones(len(score))])

    def medians(self) -> Floats:
        if self.slope == 0:
            return np.where(self.theta < 0, -np.inf, np.inf)
        return self.centre + self.theta / self.slope


class _Likelihood:
    """Minus the mean log-likelihood of an ordered logistic as a function of (θ, slope)."""

    def __init__(self, z: Floats, target: Floats, weight: Floats) -> None:
        self.z = z
        share = target * (weight / weight.sum())[:, np.newaxis]
        self.at, self.above = share[:, :-1], share[:, 1:]  # of the ranks on both sides of every threshold
        self.total = share.sum(axis=0)

    def maximum(self, most_steps: int = 100) -> tuple[Floats, float]:
        alone = np.append(logit(np.cumsum(self.total)[:-1]), 0.0)  # the best θ without a slope
        point, value = alone, self.value(alone)
        for _ in range(most_steps):
            gradient, curvature = self.derivatives(point)
            step = -np.linalg.solve(curvature + 1e-12 * np.eye(len(point)), gradient)
            expected = -float(gradient @ step)
            if expected <= 1e-14:
                break
            length = 1.0
            while length > 1e-10 and not self.value(point + length * step) <= value - 1e-4 * length * expected:
                length /= 2
            if length <= 1e-10:
                break
            point = point + length * step
            value = self.value(point)
        best = point if point[-1] > 0 else alone
        return best[:-1], float(best[-1])

    def value(self, point: Floats) -> float:
        gaps = np.diff(point[:-1])
        if np.any(gaps <= 0):
            return np.inf
        u = self._arguments(point)
        fit = np.sum(self.at * log_expit(u)) + np.sum(self.above * log_expit(-u))
        return -float(fit + self.total[1:-1] @ np.log(-np.expm1(-gaps)))

    def derivatives(self, point: Floats) -> tuple[Floats, Floats]:
        """Gradient and matrix of second derivatives by θ_1, …, θ_m and, last, the slope."""
        sigma = expit(self._arguments(point))
        first = (self.at + self.above) * sigma - self.at
        second = (self.at + self.above) * sigma * (1 - sigma)
        gradient = np.append(first.sum(axis=0), -self.z @ first.sum(axis=1))
        curvature = np.diag(np.append(second.sum(axis=0), self.z**2 @ second.sum(axis=1)))
        curvature[:-1, -1] = curvature[-1, :-1] = -self.z @ second
        rise = np.expm1(np.diff(point[:-1]))
        pull = self.total[1:-1] / rise
        bend = pull * (1 + 1 / rise)
        for k in range(len(rise)):
            gradient[k : k + 2] += [pull[k], -pull[k]]
            curvature[k : k + 2, k : k + 2] += bend[k] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        return gradient, curvature

    def _arguments(self, point: Floats) -> Floats:
        return point[:-1] - point[-1] * self.z[:, np.newaxis]


@dataclass(frozen=True)
class IsotonicThresholds:
    """P(rank > k) by isotonic regression on the score, for every threshold k by itself.

    They are in order without further ado: what is regressed is in order sample by sample, and isotonic regression,
    a maximum of minima of averages, keeps that order.

    at      for every threshold, scores in ascending order
    above   the probabilities there; in between the line through them, beyond the ends those of the ends
    """

    at: tuple[Floats, ...]
    above: tuple[Floats, ...]

    @classmethod
    def fit(cls, score: Floats, codes: Ints, n_ranks: int, weight: Floats) -> IsotonicThresholds:
        above = 1.0 - np.cumsum(smoothed(codes, n_ranks, weight), axis=1)[:, :-1]
        fitted = [IsotonicRegression(out_of_bounds="clip").fit(score, column, weight) for column in above.T]
        return cls(tuple(each.X_thresholds_ for each in fitted), tuple(each.y_thresholds_ for each in fitted))

    def exceedance(self, score: Floats) -> Floats:
        """Return P(rank > k), a column for all k but the last, each by its own regression."""
        return np.column_stack([np.interp(score, *points) for points in zip(self.at, self.above, strict=True)])

    def cumulative(self, score: Floats) -> Floats:
        below = np.column_stack([1.0 - self.exceedance(score), np.ones(len(score))])
        return np.maximum.accumulate(below, axis=1)  # but for rounding they are ascending

    def medians(self) -> Floats:
        return np.array([_where_half(*points) for points in zip(self.at, self.above, strict=True)])


def _where_half(x: Floats, y: Floats) -> float:
    """Where the line through these points rises above a half."""
    k = int(np.searchsorted(y, 0.5, side="right"))
    if k == len(y):
        return np.inf
    return float(x[k - 1] + (0.5 - y[k - 1]) / (y[k] - y[k - 1]) * (x[k] - x[k - 1])) if k else -np.inf


FitMap = Callable[[Floats, Ints, int, Floats], ProbabilityMap]
MAPS: dict[str, FitMap] = {"logistic": OrderedLogistic.fit, "isotonic": IsotonicThresholds.fit}
