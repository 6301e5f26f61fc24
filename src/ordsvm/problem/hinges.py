"""The one problem of this library, as data: hinges on a shared score, and how the thresholds are treated.

    primal   min  ½‖w‖² [+ ½‖b‖²]  +  Σ_v c_v · max(0, o_v − s_v (f_{i(v)} − b_{k(v)}))
    dual     max  o'α  −  ½ β'Kβ [− ½ γ'γ]        0 ≤ α_v ≤ c_v
             β_i = Σ_{v of i} s_v α_v     γ_k = Σ_{v of k} s_v α_v     f = Kβ

Everything here is plain NumPy in float64 and is what every solver is checked by: objective, duality gap and
violation of the optimality conditions are computed from α and f = Kβ alone. Where a score may be off, what is claimed
allows for it (docs/rounding.md).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordsvm._typing import Flags, Floats
from ordsvm.problem.thresholds import MANY_LEVELS, Levels, free_thresholds, ordered_thresholds, sorted_near

NEGATIVE_NORM = 1e-6  # share of the objective of w = 0, b = 0 by which rounding of K may have ‖w‖² below 0


class Treatment(Enum):
    """How the thresholds b are treated; nothing else separates the formulations.

    NONE: b = 0.  PENALIZED: ½‖b‖² is added, so b = −γ at the optimum.  FREE: γ = 0.
    ORDERED: b ascending, so γ_k = μ_k − μ_{k+1} with μ ≥ 0 and μ = 0 at both ends.
    """

    NONE = "none"
    PENALIZED = "penalized"
    FREE = "free"
    ORDERED = "ordered"


@dataclass(frozen=True)
class Hinges:
    """The table of hinges, grouped by threshold, then in order of samples; hinges with cap 0 are left out.

    sample: whose score it is about; threshold: at which threshold (0 where there are none);
    sign: +1 if the score should be above, −1 if below; offset: the margin; cap: the cost of a unit of loss, C times
    weights.
    """

    sample: NDArray[np.int32]
    threshold: NDArray[np.int32]
    sign: Floats
    offset: Floats
    cap: Floats

    @classmethod
    def table(
        cls, sample: ArrayLike, threshold: ArrayLike, sign: ArrayLike, offset: ArrayLike, cap: ArrayLike
    ) -> Hinges:
        """Builds the table from columns (arrays or scalars) in any order."""
        given = [np.asarray(column) for column in (sample, threshold, sign, offset, cap)]
        length = max(column.size for column in given)
        columns = [column if column.size == length else np.broadcast_to(column, length) for column in given]
        keep = np.flatnonzero(columns[4] > 0)
        if len(keep) == length and _ascends(columns[1], columns[0]):  # as most formulations make it: nothing to sort
            kinds = (np.int32, np.int32, np.float64, np.float64, np.float64)
            return cls(*(np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)))
        order = keep[np.lexsort((columns[0][keep], columns[1][keep]))]
        return cls(
            sample=columns[0][order].astype(np.int32, copy=False),
            threshold=columns[1][order].astype(np.int32, copy=False),
            sign=columns[2][order].astype(np.float64, copy=False),
            offset=columns[3][order].astype(np.float64, copy=False),
            cap=columns[4][order].astype(np.float64, copy=False),
        )

    @classmethod
    def in_order(cls, sample: ArrayLike, threshold: ArrayLike, sign: Floats, offset: Floats, cap: Floats) -> Hinges:
        """The same from columns that are grouped by threshold, then in order of samples already; sign, offset and cap
        have the length of the table."""
        if not (cap > 0).all():
            return cls.table(sample, threshold, sign, offset, cap)
        return cls(np.asarray(sample, dtype=np.int32), np.asarray(threshold, dtype=np.int32), sign, offset, cap)

    def __len__(self) -> int:
        return len(self.sample)


@dataclass(frozen=True)
class Certificate:
    """What α proves: primal ≥ optimum ≥ dual, so neither objective is further than `gap` from the optimum.

    The gap includes what scores may be off by: the rounding of float64 sums by an estimate, that of scores that a
    solver leaves in float32 by a proven bound (docs/rounding.md).
    `violation` is the largest |projected gradient| (none, penalised) or max_k (b_low − b_up) (free, ordered).
    `thresholds` are those that the primal and the gap are about. `dual_thresholds` are those of the dual's gradient,
    0 or −γ, where the treatment has such: the iterates of the papers.
    """

    primal: float
    dual: float
    gap: float
    violation: float
    thresholds: Floats
    dual_thresholds: Floats | None = None

    def __post_init__(self) -> None:
        if self.gap < 0.0:  # by rounding: both objectives bound the same optimum
            object.__setattr__(self, "gap", 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective; 0 where both objectives are 0."""
        scale = max(abs(self.primal), abs(self.dual))
        return self.gap / scale if scale != 0 else 0.0

    def __repr__(self) -> str:
        objectives = f"primal={self.primal:.10g}, dual={self.dual:.10g}"
        proven = f"gap={self.gap:.3g}, relative_gap={self.relative_gap:.3g}, violation={self.violation:.3g}"
        thresholds = np.array2string(self.thresholds, precision=4, separator=", ", threshold=20, max_line_width=1000)
        return f"Certificate({objectives}, {proven}, thresholds={thresholds})"


@dataclass(frozen=True)
class Problem:
    """A table of hinges over n_samples scores and n_thresholds thresholds, and their treatment."""

    hinges: Hinges
    treatment: Treatment
    n_samples: int
    n_thresholds: int = 1

    def uses_all_samples(self) -> bool:
        """Whether every sample has a hinge."""
        return bool(np.bincount(self.hinges.sample, minlength=self.n_samples).all())

    def restricted_to_its_samples(self) -> tuple[Problem, NDArray[np.int64]]:
        """The same problem over those samples alone that have a hinge, and which they are."""
        samples = np.unique(self.hinges.sample).astype(np.int64)
        place = np.zeros(self.n_samples, dtype=np.int32)
        place[samples] = np.arange(len(samples))
        hinges = replace(self.hinges, sample=place[self.hinges.sample])
        return replace(self, hinges=hinges, n_samples=len(samples)), samples

    # What α means

    def beta(self, alpha: Floats) -> Floats:
        """β, the weight of every sample's feature vector in w."""
        return _sums(self.hinges.sample, self.hinges.sign * alpha, self.n_samples)

    def gamma(self, alpha: Floats) -> Floats:
        """γ, the same sum over the hinges of every threshold."""
        return _sums(self.hinges.threshold, self.hinges.sign * alpha, self.n_thresholds)

    def mu(self, alpha: Floats) -> Floats:
        """μ of ordered thresholds: mu[k] ties thresholds k − 1 and k; both ends are 0 for a feasible α."""
        return _mu(self.gamma(alpha))

    def slope(self, score: Floats, b: Floats) -> Floats:
        """G, the gradient of the dual (as a minimum) by α."""
        h = self.hinges
        return h.sign * (score[h.sample] - b[h.threshold]) - h.offset

    # Objectives and certificate

    def square_norm(self, alpha: Floats, score: Floats) -> float:
        """‖w‖² = β'f"""
        return _dot(self.beta(alpha), score)

    def primal(self, alpha: Floats, score: Floats, b: Floats) -> float:
        return self._primal(self.square_norm(alpha, score), self.slope(score, b), b)

    def _primal(self, square_norm: float, slope: Floats, b: Floats) -> float:
        penalty = b @ b if self.treatment is Treatment.PENALIZED else 0.0
        return float(0.5 * (square_norm + penalty) + _dot(self.hinges.cap, np.maximum(0.0, -slope)))

    def dual(self, alpha: Floats, score: Floats) -> float:
        return self._dual(alpha, self.square_norm(alpha, score), self.gamma(alpha))

    def _dual(self, alpha: Floats, square_norm: float, gamma: Floats) -> float:
        penalty = np.sum(gamma**2) if self.treatment is Treatment.PENALIZED else 0.0
        return float(_dot(self.hinges.offset, alpha) - 0.5 * (square_norm + penalty))

    def gap(self, alpha: Floats, score: Floats, b: Floats) -> float:
        """P − D as a sum of terms that are all ≥ 0, free of cancellation; α must be feasible, f = Kβ."""
        return self._gap(alpha, self.slope(score, b), b, self.gamma(alpha))

    def _gap(self, alpha: Floats, slope: Floats, b: Floats, gamma: Floats) -> float:
        terms = float((self.hinges.cap * np.maximum(0.0, -slope) + alpha * slope).sum())
        if self.treatment is Treatment.PENALIZED:
            return terms + 0.5 * float(np.sum((b + gamma) ** 2))
        if self.treatment is Treatment.ORDERED:
            return terms + float(_mu(gamma)[1:-1] @ np.diff(b))
        return terms

    def best_thresholds(self, score: Floats) -> Floats:
        """The b that minimises the primal for this f; 0 where there are no thresholds.

        Where minimisers form an interval its midpoint is taken; at the optimum that interval is Chu &
        Keerthi's [b_low, b_up]. Penalised thresholds have one minimiser. At the optimum it is −γ; before, −γ can be far
        from it, and out of order where it is not.
        """
        return self._best_thresholds(self._level(score), self._parts())

    def _best_thresholds(self, level: Floats, parts: list[slice]) -> Floats:
        if self.treatment is Treatment.NONE:
            return np.zeros(self.n_thresholds)
        h, levels = self.hinges, self._levels(level, parts)
        if self.treatment is Treatment.PENALIZED:
            return penalized_thresholds(levels, _sums(h.threshold, h.cap * (h.sign < 0), self.n_thresholds))
        return free_thresholds(levels) if self.treatment is Treatment.FREE else ordered_thresholds(levels)

    def dual_thresholds(self, alpha: Floats) -> Floats:
        """The b of the dual's gradient, where that is a function of α: 0 or −γ."""
        return -self.gamma(alpha) if self.treatment is Treatment.PENALIZED else np.zeros(self.n_thresholds)

    def certificate(self, alpha: Floats, score: Floats, rounding: float = 0.0, b: Floats | None = None) -> Certificate:
        """Everything that α proves, given f = Kβ up to `rounding`, for thresholds b or else the best ones.

        α is assumed feasible: see `repair`. An error of `rounding` in a score changes the gap by at most (cap + α)
        times that for each of its hinges, and the smaller gap is not claimed; so does that of `rounding_of_margins`.
        Scores that are off by more than that: see `allowing_for`.
        """
        level, parts = self._level(score), self._parts()
        b = self._best_thresholds(level, parts) if b is None else b
        square_norm, slope, gamma = self.square_norm(alpha, score), self.slope(score, b), self.gamma(alpha)
        primal, dual = self._primal(square_norm, slope, b), self._dual(alpha, square_norm, gamma)
        if self.treatment is Treatment.ORDERED and np.any(np.diff(b) < 0):
            primal = np.inf  # not allowed
        error = rounding * float((self.hinges.cap + alpha).sum()) + self.rounding_of_margins(alpha, b)
        return Certificate(
            primal=primal,
            dual=dual,
            gap=max(self._gap(alpha, slope, b, gamma), primal - dual) + error,
            violation=self._violation(alpha, gamma, level, parts),
            thresholds=b,
            dual_thresholds=-gamma if self.treatment is Treatment.PENALIZED else None,
        )

    def rounding_of_margins(self, alpha: Floats, b: Floats) -> float:
        """The most by which a gap changes where s (f − b) − o is off by half a unit in the last place of b.

        That is more than the rounding of a score where targets of a regression are far from 0. The difference from an
        offset is exact where it matters, near 0.
        """
        sizes = np.abs(b)[self.hinges.threshold]
        return 0.5 * sys.float_info.epsilon * _dot(self.hinges.cap + alpha, sizes)

    def error_of_gap(self, alpha: Floats, error: Floats) -> float:
        """The most by which a gap changes where the score of sample i changes by error[i]."""
        return float((self.hinges.cap + alpha) @ error[self.hinges.sample])

    def allowing_for(self, error: Floats) -> Problem:
        """The problem whose certificate holds although scores may be off by `error`, where all hinges have α = 0.

        A margin that is larger by the error costs at least what the exact score costs, for any b, and violates at
        least as much; the dual objective does not change, for its offsets count by α. docs/rounding.md has the proof.
        """
        if not error.any():
            return self
        return replace(self, hinges=replace(self.hinges, offset=self.hinges.offset + error[self.hinges.sample]))

    def negative_norm(self, alpha: Floats, dual: float) -> float:
        """How far ‖w‖² = β'Kβ is below 0 by this dual objective, where K is not positive semidefinite; else 0.

        Below a millionth of the objective of w = 0, b = 0 it is 0 too. Where it is 0, no dual objective is above that
        one by more, for o'α is not.
        """
        penalty = np.sum(self.gamma(alpha) ** 2) if self.treatment is Treatment.PENALIZED else 0.0
        square_norm = 2.0 * (_dot(self.hinges.offset, alpha) - dual) - float(penalty)
        if square_norm >= 0.0:
            return 0.0
        of_nothing = _dot(self.hinges.cap, np.maximum(0.0, self.hinges.offset))
        return -square_norm if -square_norm > NEGATIVE_NORM * of_nothing else 0.0

    # Optimality conditions

    def levels(self, score: Floats) -> list[Levels]:
        """For every threshold, where its hinges change slope: F_v = f − s·o, with sign and cap."""
        return self._levels(self._level(score), self._parts())

    def _level(self, score: Floats) -> Floats:
        return score[self.hinges.sample] - self.hinges.sign * self.hinges.offset

    def _levels(self, level: Floats, parts: list[slice]) -> list[Levels]:
        h = self.hinges
        return [Levels(level[part], h.sign[part], h.cap[part]) for part in parts]

    def undetermined(self) -> Flags:
        """Which thresholds could run off to infinity."""
        h = self.hinges
        sides = np.bincount(2 * h.threshold + (h.sign > 0), minlength=2 * self.n_thresholds).reshape(-1, 2) > 0
        return _undetermined(sides[:, 0], sides[:, 1], self.treatment is Treatment.ORDERED)

    def _parts(self) -> list[slice]:
        """Where in the table the hinges of every threshold are."""
        ends = self.hinges.threshold.searchsorted(np.arange(self.n_thresholds + 1)).tolist()
        return [slice(*part) for part in pairwise(ends)]

    def bounds(self, alpha: Floats, score: Floats) -> tuple[Floats, Floats]:
        """b_low and b_up of every threshold: the tightest bounds that hinges free to move put on it."""
        return self._bounds(alpha, self._level(score), self._parts())

    def _bounds(self, alpha: Floats, level: Floats, parts: list[slice]) -> tuple[Floats, Floats]:
        h = self.hinges
        above, below_cap, positive = h.sign > 0, alpha < h.cap, alpha > 0
        from_above = np.where(np.where(above, below_cap, positive), level, np.inf)
        from_below = np.where(np.where(above, positive, below_cap), level, -np.inf)
        low = np.array([from_below[part].max(initial=-np.inf) for part in parts])
        up = np.array([from_above[part].min(initial=np.inf) for part in parts])
        return low, up

    def violation(self, alpha: Floats, score: Floats) -> float:
        """How far α is from the optimality conditions; 0 at the optimum."""
        return self._violation(alpha, self.gamma(alpha), self._level(score), self._parts())

    def _violation(self, alpha: Floats, gamma: Floats, level: Floats, parts: list[slice]) -> float:
        low, up = self._bounds(alpha, level, parts)
        if self.treatment in (Treatment.NONE, Treatment.PENALIZED):
            b = -gamma if self.treatment is Treatment.PENALIZED else 0.0
            return float(max(0.0, np.max(low - b), np.max(b - up)))
        if self.treatment is Treatment.ORDERED:
            low, up = self._tie(low, up, _mu(gamma), rounding=1e-12 * alpha.sum())
        return float(max(0.0, np.max(low - up)))

    def _tie(self, low: Floats, up: Floats, mu: Floats, rounding: float) -> tuple[Floats, Floats]:
        """B_low and B_up of Chu & Keerthi's (18), carried over whole runs of thresholds tied by μ > 0."""
        low = np.maximum.accumulate(low)
        up = np.minimum.accumulate(up[::-1])[::-1]
        tied = mu[1:-1] > rounding
        for k in range(self.n_thresholds - 2, -1, -1):
            low[k] = low[k + 1] if tied[k] else low[k]
        for k in range(1, self.n_thresholds):
            up[k] = up[k - 1] if tied[k - 1] else up[k]
        return low, up

    # Feasibility

    def repair(self, alpha: Floats) -> Floats:
        """The same α where it is feasible up to rounding, else one nearby that is.

        Clips to the box; then, where an equality does not hold, scales down the heavier sign of every
        threshold until γ = 0, which is feasible for free and for ordered thresholds alike.
        """
        alpha = np.minimum(np.maximum(alpha, 0.0), self.hinges.cap)
        if self.treatment in (Treatment.NONE, Treatment.PENALIZED) or self._equalities_hold(alpha):
            return alpha
        h = self.hinges
        plus = _sums(h.threshold, alpha * (h.sign > 0), self.n_thresholds)
        minus = _sums(h.threshold, alpha * (h.sign < 0), self.n_thresholds)
        common = np.minimum(plus, minus)
        scale = np.where(h.sign > 0, _share(common, plus)[h.threshold], _share(common, minus)[h.threshold])
        return alpha * scale

    def _equalities_hold(self, alpha: Floats) -> bool:
        rounding = 1e-12 * alpha.sum()
        if self.treatment is Treatment.FREE:
            return bool(np.all(np.abs(self.gamma(alpha)) <= rounding))
        mu = self.mu(alpha)
        return bool(np.all(mu >= -rounding) and abs(mu[-1]) <= rounding)


def penalized_thresholds(levels: list[Levels], below: Floats) -> Floats:
    """Every threshold at the minimiser of its losses and ½b²; `below`: the caps of its hinges with sign −1, summed."""
    return np.array([_penalized_minimiser(part, caps) for part, caps in zip(levels, below.tolist(), strict=True)])


def _penalized_minimiser(levels: Levels, below: float) -> float:
    """The slope, (caps with level < b) − below as in problem/thresholds.py, plus b, rises strictly: one minimiser.

    It is the first level above which the slope is not negative any more, or lies before it, where the slope is 0.
    """
    if len(levels.level) < MANY_LEVELS:
        order = levels.level.argsort(kind="stable")
        level, passed = levels.level[order], levels.cap[order].cumsum()
    else:
        level, passed = sorted_near(levels, below, slope=1.0)
    place = int((level + passed).searchsorted(below))
    between = below - float(passed[place - 1]) if place > 0 else below
    if abs(between) <= len(level) * sys.float_info.epsilon * below:
        between = 0.0  # a difference of equal sums: what rounding leaves of it would be the objective where that is 0
    return min(between, float(level[place])) if place < len(level) else between


def _ascends(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether pairs are in order, by the first numbers and then by the second."""
    rises = first[1:] > first[:-1]
    return bool((rises | ((first[1:] == first[:-1]) & (second[1:] >= second[:-1]))).all())


def _mu(gamma: Floats) -> Floats:
    return np.concatenate([[0.0], -np.cumsum(gamma)])


def undetermined(levels: list[Levels], ordered: bool) -> Flags:
    """Which thresholds could run off to infinity: no hinge holds them from below, or none from above."""
    held_below = np.array([bool(np.any(part.sign < 0)) for part in levels])
    held_above = np.array([bool(np.any(part.sign > 0)) for part in levels])
    return _undetermined(held_below, held_above, ordered)


def _undetermined(held_below: Flags, held_above: Flags, ordered: bool) -> Flags:
    if ordered:
        held_below = np.logical_or.accumulate(held_below)
        held_above = np.logical_or.accumulate(held_above[::-1])[::-1]
    return ~(held_below & held_above)


def _dot(a: Floats, b: Floats) -> float:
    """a·b without BLAS, whose threads go on waiting for work after a call and take a core from a running solver."""
    return float((a * b).sum())


def _sums(group: NDArray[np.int32], values: Floats, n_groups: int) -> Floats:
    return np.bincount(group, values, n_groups).astype(np.float64, copy=False)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
