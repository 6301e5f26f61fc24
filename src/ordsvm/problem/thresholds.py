"""Thresholds on scores: the ranks they cut out, and those that minimise the primal.

A rank rule says which rank a score f has. For ascending thresholds the two differ at f = b_k alone, which "count" puts
below the threshold and "first" above it; for thresholds out of order they differ widely.

For one threshold the primal is piecewise linear in b. A hinge of sign s and offset o at score f changes its
slope at the level F = f − s·o: with sign +1 it starts to cost above F, with sign −1 it ceases to cost there. So
the slope at b is (sum of the caps with F < b) − (sum of the caps with sign −1): a weighted quantile.
Ordered thresholds are an isotonic regression with these losses, solved by pooling adjacent violators.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ordsvm._typing import Floats, Ints

RankRule = Literal["count", "first"]

MANY_LEVELS = 20_000
SAMPLED_LEVELS = 4096  # of these
SAMPLING_ERROR = 400  # places, six standard errors of a quantile of the sample

#: What the predicted rank (from 0) is. "count": Gu et al. 2020, h(x) = 1 + Σ_k I[f(x) > b_k], and the reduction of Lin
#: & Li behind RedSVM. "first": Chu & Keerthi 2007, the smallest k with f(x) < b_k.
RANK_RULES: dict[RankRule, str] = {
    "count": "the number of thresholds below the score",
    "first": "the first threshold above the score, the last rank if there is none",
}


def ranks_of(score: Floats, thresholds: Floats, rule: RankRule) -> Ints:
    """The rank of every score; thresholds may be out of order."""
    if rule == "count":
        return np.count_nonzero(score[:, None] > thresholds, axis=1)
    below = score[:, None] < thresholds
    return np.where(below.any(axis=1), below.argmax(axis=1), len(thresholds))


def rank_rule_of(model: Any) -> RankRule:
    """The rule of a fitted model. Those of 0.1.0, whose files and pickles name none, go by the first threshold."""
    return getattr(model, "rank_rule_", "first")


def intercept_of(model: Any) -> Floats:
    """Return what a fitted model adds to f. Models of before `intercept_` keep their scores: it is 0."""
    return getattr(model, "intercept_", np.zeros(1))


def thresholds_on_f(model: Any) -> Floats:
    """Return the thresholds b of a fitted model that cut f itself, which its problem and its history are about."""
    return np.asarray(model.thresholds_ - intercept_of(model))


class Levels(NamedTuple):
    """The hinges of one threshold: where each changes slope, its sign and its cap."""

    level: Floats
    sign: Floats
    cap: Floats


def minimisers(levels: Levels) -> tuple[float, float]:
    """The interval of minimisers; its ends are infinite where nothing holds the threshold back."""
    negative = levels.sign < 0
    n_negative = np.count_nonzero(negative)
    below, rounding = (levels.cap * negative).sum(), 1e-12 * levels.cap.sum()  # no BLAS: see problem._dot
    level, passed = sorted_near(levels, below)
    left = int(passed.searchsorted(below - rounding)) if n_negative > 0 else -1
    right = int(passed.searchsorted(below + rounding, side="right"))
    if n_negative < len(level):  # something holds the threshold from above, be it ever so weak
        right = min(right, len(level) - 1)
    return _at(level, left), _at(level, right)


def sorted_near(levels: Levels, below: float, slope: float = 0.0) -> tuple[Floats, Floats]:
    """Levels in ascending order with the sums of all caps up to each: where there are very many, only those around the
    place where slope · level + sum passes `below`, which a sample of them tells.
    """
    level, cap = levels.level, levels.cap
    if len(level) >= MANY_LEVELS:
        step = len(level) // SAMPLED_LEVELS
        order = level[::step].argsort()
        drawn = level[::step][order]
        place = int((slope * drawn + step * cap[::step][order].cumsum()).searchsorted(below))
        low, high = place - SAMPLING_ERROR, place + SAMPLING_ERROR
        if low >= 0 and high < len(drawn) and np.isfinite(drawn[[low, high]]).all():
            before, inside = level < drawn[low], (level >= drawn[low]) & (level <= drawn[high])
            passed, margin = float((cap * before).sum()), 1e-9 * float(cap.sum())
            level, cap = level[inside], cap[inside]
            order = level.argsort(kind="stable")
            near, sums = level[order], passed + cap[order].cumsum()
            if slope * near[0] + sums[0] < below - margin and slope * near[-1] + sums[-1] > below + margin:
                return near, sums
        level, cap = levels.level, levels.cap
    order = level.argsort(kind="stable")
    return level[order], cap[order].cumsum()


def _at(level: Floats, place: int) -> float:
    if place < 0:
        return -np.inf
    return float(level[place]) if place < len(level) else np.inf


def free_thresholds(levels: list[Levels]) -> Floats:
    """Every threshold at the midpoint of its own minimisers."""
    return np.array([(low + high) / 2 for low, high in map(minimisers, levels)])


def ordered_thresholds(levels: list[Levels]) -> Floats:
    """The midpoint of the lowest and the highest ascending minimiser."""
    return (_pooled(levels, end=0) + _pooled(levels, end=1)) / 2


def _pooled(levels: list[Levels], end: int) -> Floats:
    """Pool adjacent violators with one end of the interval of minimisers as every pool's value."""
    pools: list[tuple[Levels, float, int]] = []
    for part in levels:
        pool, value, size = part, minimisers(part)[end], 1
        while pools and pools[-1][1] > value:
            before, _, before_size = pools.pop()
            pool, size = Levels(*map(np.concatenate, zip(before, pool, strict=True))), size + before_size
            value = minimisers(pool)[end]
        pools.append((pool, value, size))
    return np.repeat([value for _, value, _ in pools], [size for _, _, size in pools])
