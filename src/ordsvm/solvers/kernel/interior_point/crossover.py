"""From an iterate inside of the box to exact zeros and caps: feasible, and optimal up to the tolerance.

Which bounds hold at the optimum shows in the iterate, where α is small beside its multiplier λ, or c − α beside ξ. One
system of Newton's then moves the hinges between their bounds to where their slopes vanish:

    α_new = α − (c / 2h)·G_new        h = 0.1 for all hinges between their bounds

centred at the iterate, so that it is well posed where the dual has many solutions. Hinges that leave the box and bounds
whose slopes have the wrong sign change sides, a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ordsvm._typing import Flags, Floats
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.interior_point.central_path import CentralPath, Iterate
from ordsvm.solvers.kernel.interior_point.kernel_system import KernelSystem
from ordsvm.solvers.kernel.interior_point.newton_system import NewtonSystem
from ordsvm.solvers.kernel.interior_point.scaled_problem import ScaledProblem

HALF_WIDTH = 0.1  # h, as a share of the largest offset
MOST_ROUNDS = 4
MOST_CHANGES = 0.05  # share of the free hinges that may change sides, besides FEW_CHANGES
FEW_CHANGES = 5
ROUNDING = 1e-14  # of sums of α

Scores = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Sides:
    """Which hinges are at 0, which at their caps, and which neighbouring thresholds are tied."""

    low: Flags
    up: Flags
    tied: Flags

    @classmethod
    def of(cls, path: CentralPath) -> Sides:
        x, scaled = path.now, path.scaled
        low, up = x.alpha < scaled.size * x.lower, x.rest < scaled.size * x.upper
        nearer_zero = x.alpha < x.rest
        tied = x.order > scaled.size.mean() * scaled.differences(x.threshold)
        return cls(low & ~(up & ~nearer_zero), up & ~(low & nearer_zero), tied)

    @property
    def free(self) -> Flags:
        return ~(self.low | self.up)


class Crossover:
    """Candidates for the optimum, made of an iterate.

    problem     whose α they are
    scores      Kβ in float64, for β of the problem, in units of the path: the factor of K is less precise
    tol         that of slopes, in these units
    """

    def __init__(self, problem: Problem, path: CentralPath, kernel: KernelSystem, scores: Scores, tol: float) -> None:
        self._problem, self._path, self._kernel = problem, path, kernel
        self._scores, self._tol = scores, tol

    def candidates(self) -> Iterator[Floats]:
        """Feasible α, each hoped to be better than the last one."""
        scaled, sides = self._path.scaled, Sides.of(self._path)
        x = self._path.now
        x = replace(x, alpha=_at_bounds(x, scaled, sides), order=np.where(sides.tied, x.order, 0.0))
        alpha = _unscaled(self._problem, scaled, x)
        yield alpha
        for _ in range(MOST_ROUNDS):
            x = self._centred(x, alpha)
            try:
                x = self._solved(x, sides)
            except np.linalg.LinAlgError:
                return
            if not x.is_finite():
                return
            slope = scaled.slope(x.score, x.threshold)
            low = (sides.low & (slope > -0.5 * self._tol)) | (sides.free & (x.alpha <= 0.0))
            up = (sides.up & (slope < 0.5 * self._tol)) | (sides.free & (x.alpha >= scaled.cap))
            alpha = _unscaled(self._problem, scaled, x)
            yield alpha
            changes = np.count_nonzero(low != sides.low) + np.count_nonzero(up != sides.up)
            if changes > FEW_CHANGES + MOST_CHANGES * np.count_nonzero(sides.free):
                return
            sides = Sides(low, up, sides.tied)

    def _centred(self, x: Iterate, alpha: Floats) -> Iterate:
        """At this α, with exact scores."""
        scaled = self._path.scaled
        inside = alpha / scaled.alpha_unit
        return replace(x, alpha=inside, beta=scaled.beta(inside), score=self._scores(alpha))

    def _solved(self, x: Iterate, sides: Sides) -> Iterate:
        """Where the slopes of free hinges vanish, but for 2h·(α_new − α)/c; α may be outside of the box there."""
        path, scaled = self._path, self._path.scaled
        x = replace(x, alpha=_at_bounds(x, scaled, sides))
        weight = np.where(sides.free, scaled.size / (2.0 * HALF_WIDTH), 0.0)
        stiffness = np.where(sides.tied, path.now.order / scaled.differences(path.now.threshold), 0.0)
        force = np.where(sides.free, -scaled.slope(x.score, x.threshold), 0.0)
        move = NewtonSystem(scaled, self._kernel, weight, stiffness).move(force, path.residuals(x))
        return replace(
            x,
            beta=x.beta + move.beta,
            score=x.score + move.score,
            threshold=x.threshold + move.threshold,
            alpha=x.alpha + move.alpha,
            order=np.maximum(x.order - stiffness * scaled.differences(move.threshold), 0.0),
        )


def _at_bounds(x: Iterate, scaled: ScaledProblem, sides: Sides) -> Floats:
    return np.where(sides.low, 0.0, np.where(sides.up, scaled.cap, x.alpha))


def _unscaled(problem: Problem, scaled: ScaledProblem, x: Iterate) -> Floats:
    cap = problem.hinges.cap
    within = np.minimum(x.alpha * scaled.alpha_unit, cap)
    exact = np.where(x.alpha <= 0.0, 0.0, np.where(x.alpha >= scaled.cap, cap, within))
    return feasible(problem, exact, scaled.order_sums(x.order) * scaled.alpha_unit)


def feasible(problem: Problem, alpha: Floats, gamma: Floats) -> Floats:
    """α with sums `gamma` over thresholds, where these are constrained.

    Hinges move in proportion to their distance to the nearer bound, so that those at a bound stay there; where that is
    too little, in proportion to how far they can move.
    """
    h = problem.hinges
    if problem.treatment in (Treatment.NONE, Treatment.PENALIZED):
        return alpha
    excess = problem.gamma(alpha) - gamma
    excess[np.abs(excess) <= ROUNDING * alpha.sum()] = 0.0
    falls = h.sign * excess[h.threshold] > 0
    for movable in (np.minimum(alpha, h.cap - alpha), np.where(falls, alpha, h.cap - alpha)):
        total = np.bincount(h.threshold, movable, problem.n_thresholds)
        share = np.divide(excess, total, out=np.zeros_like(total), where=total > 0)
        if np.all(np.abs(share) <= 1.0) and np.all((total > 0) | (excess == 0.0)):
            alpha = np.clip(alpha - h.sign * share[h.threshold] * movable, 0.0, h.cap)
            break
    return problem.repair(alpha)
