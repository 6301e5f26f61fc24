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


class Levels(NamedTuple):
    """The hinges of one threshold: where each changes slope, its sign and its cap."""

    level: Floats
    sign: Floats
    cap: Floats


def minimisers(levels: Levels) -> tuple[float, float]:
    """The interval of minimisers; its ends are infinite where nothing holds the threshold back."""
    order = np.argsort(levels.level, kind="stable")
    level, passed = levels.level[order], levels.cap[order].cumsum()
    negative = levels.sign < 0
    n_negative = np.count_nonzero(negative)
    below, rounding = (levels.cap * negative).sum(), 1e-12 * passed[-1:].sum()  # no BLAS: see problem._dot
    left = int(passed.searchsorted(below - rounding)) if n_negative > 0 else -1
    right = int(passed.searchsorted(below + rounding, side="right"))
    if n_negative < len(level):  # something holds the threshold from above, be it ever so weak
        right = min(right, len(level) - 1)
    return _at(level, left), _at(level, right)


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
