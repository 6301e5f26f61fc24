"""From an iterate inside of the box to exact zeros and caps: feasible, and optimal up to the tolerance.

Which bounds hold at the optimum shows in the iterate, where α is small beside its multiplier λ, or c − α beside ξ. One
system of Newton's then moves the hinges between their bounds to where their slopes vanish:

    α_new = α − (c / 2h)·G_new        h = HALF_WIDTH for all hinges between their bounds

centred at the iterate, so that it is well posed where the dual has many solutions. Hinges that leave the box and bounds
whose slopes have the wrong sign change sides, a few times.
"""

from __future__ import annotations

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.interior_point.stacked_system import StackedSystem
from ordsvm.solvers.kernel.interior_point.stacks import CentralPathPoint, Stacks

HALF_WIDTH = 0.01  # h, as a share of the largest offset; 0.1 takes 1.5 % more iterations on 1,500 random problems
MOST_ROUNDS = 4
MOST_CHANGES = 0.05  # share of the free hinges that may change sides, besides FEW_CHANGES
FEW_CHANGES = 5
ROUNDING = 1e-14  # of sums of α


class Crossover:
    """Candidates for the optimum, made of the iterates of all problems.

    x       where the last system has led: its α is outside of the box where hinges leave it
    cap     of the hinges
    slack   by which slopes of hinges at bounds may have the wrong sign
    """

    def __init__(self, stacks: Stacks, x: CentralPathPoint, cap: Array, slack: float) -> None:
        self._stacks, self._library, self._cap, self._slack = stacks, stacks.library, cap, slack
        self._size = size = stacks.size(cap)
        low, up, nearer_zero = x.alpha < size * x.lower, x.rest < size * x.upper, x.alpha < x.rest
        self._low, self._up = low & ~(up & ~nearer_zero), up & ~(low & nearer_zero)
        differences, nothing = stacks.differences(x.b), 0.0 * x.order
        is_tied = x.order > stacks.order_weights(size) * differences
        self._stiffness = self._library.where(is_tied, x.order / differences, nothing)
        self._rounds, self._settles = 0, True
        self.x = x._replace(alpha=self._at_bounds(x.alpha), order=self._library.where(is_tied, x.order, nothing))

    def candidate(self) -> Array:
        """Return α in the box."""
        return self._library.clip(self.x.alpha, 0.0, self._cap)

    def advance(self, alpha: Array, score: Array) -> bool:
        """Move on from an α near the candidate, with its scores, to where slopes of free hinges vanish.

        Return False, and stay, after some rounds, or if many hinges have changed sides in every problem.
        """
        if self._rounds == MOST_ROUNDS or not self._settles:
            return False
        stacks, sign, library = self._stacks, self._stacks.sign, self._library
        bounded = self._at_bounds(alpha)
        beta = (sign * bounded).sum(-1)
        score = score + stacks.kernel.product(beta - (sign * alpha).sum(-1))
        x = self.x._replace(alpha=bounded, beta=beta, score=score)
        is_free = ~(self._low | self._up)
        free = library.number(is_free) * stacks.has
        weight = free * self._size / (2.0 * HALF_WIDTH)
        move = StackedSystem(stacks, x, weight, self._stiffness).move(-free * stacks.slope(x), 0.0 * x.order)
        self.x = x = x._replace(
            beta=x.beta + move.beta,
            score=x.score + move.score,
            b=x.b + move.b,
            alpha=x.alpha + move.alpha,
            order=library.clip(x.order - self._stiffness * stacks.differences(move.b), 0.0, float("inf")),
        )
        slope = stacks.slope(x)
        low = (self._low & (slope > -self._slack)) | (is_free & (x.alpha <= 0.0))
        up = (self._up & (slope < self._slack)) | (is_free & (x.alpha >= self._cap))
        changes = stacks.total(library.number(low != self._low) + library.number(up != self._up))
        self._settles = bool((changes <= FEW_CHANGES + MOST_CHANGES * stacks.total(free)).any())
        self._rounds, self._low, self._up = self._rounds + 1, low, up
        return True

    def _at_bounds(self, alpha: Array) -> Array:
        return self._library.where(self._low, 0.0 * alpha, self._library.where(self._up, self._cap, alpha))


def feasible(problem: Problem, alpha: Floats, gamma: Floats) -> Floats:
    """Return α with sums `gamma` over thresholds, where these are constrained.

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
