"""Newton's method on the hinges between their bounds, from a point near the optimum.

Given which hinges are at 0, which at their cap and which between, the slopes of the latter vanish: a linear system.
In its solution some hinges leave the box and some slopes have the wrong sign; these change sides, and the next system
follows (Hintermüller, Ito & Kunisch 2003 call it the primal-dual active set strategy). Near the optimum a handful of
systems suffices where coordinate methods take steps for every digit of every hinge; far from it there is no guarantee.

The system is one over samples. With δ what β moves by through a free hinge v = (i, k), x_i the sum of δ over the c_i
free hinges of sample i, f the scores with all other hinges at their bounds, and t_v = s_v o_v,

    f_i + (Kx)_i + ρ δ_v = b_k + t_v                        every free v
    f_i + (Kx)_i + ρ x_i / c_i = mean of (b_k + t_v)         over those of i: (K + ρ/c) x = A b + r
    δ_v = x_i / c_i + (b_k + t_v - mean of them) / ρ

and b follows from the sums of δ at each threshold: b = -γ, or γ = 0. ρ, so small that no slope is off by more than a
tenth of the tolerance, makes the solution unique where samples have two free hinges, whose thresholds are tied by
b_k + t_v being equal. Ordered thresholds that μ > 0 ties are one threshold; should they part, or others meet, the
method ends without a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ordsvm._typing import Flags, Floats, Ints
from ordsvm.problem import Hinges, Problem, Treatment
from ordsvm.solvers.kernel.block.changing_system import ChangingSystem

Stop = Callable[[], bool]

MOST_SYSTEMS = 12
MOST_GROWTH = 1.35  # of the number of free hinges, as a multiple of what it was at the start
MOST_FIRST_CHANGES = 0.12  # share of them that may change sides at first: where more do, the optimum is not near
MOST_NEXT_CHANGES = 0.6  # the same for later systems, as a share of the changes before
FEW_CHANGES = 10  # that are always allowed
B_REFINEMENTS = 2  # of a system


class Matrix(Protocol):
    """K, and the largest value of its diagonal."""

    largest: float

    def part(self, rows: Ints, columns: Ints, n_threads: int) -> Floats:
        """K[np.ix_(rows, columns)]."""

    def product(self, beta: Floats, n_threads: int) -> Floats:
        """Kβ."""


@dataclass(frozen=True)
class Point:
    """α with its scores; outside of the box on the way."""

    alpha: Floats
    score: Floats


def newton(
    problem: Problem, matrix: Matrix, start: Point, tol: float, n_threads: int = 1, stop: Stop = lambda: False
) -> Point | None:
    """The optimum up to `tol`, if it is near the given feasible point; None if it is not, or stop() returns True."""
    cap = problem.hinges.cap
    low, up = start.alpha <= 1e-9 * cap, start.alpha >= (1 - 1e-9) * cap
    n_free = np.count_nonzero(~(low | up))
    most_changes = MOST_FIRST_CHANGES * n_free
    systems = Systems(problem, matrix, start, least_ridge(problem, matrix, tol), n_threads)
    for _ in range(MOST_SYSTEMS):
        if stop() or not 0 < np.count_nonzero(~(low | up)) <= MOST_GROWTH * n_free:
            return None
        solved = systems.solve(low, up)
        if solved is None:
            return None
        point, b = solved
        slope = problem.slope(point.score, b)
        below, above = point.alpha < 0, point.alpha > cap
        rises, falls = low & (slope < -0.3 * tol), up & (slope > 0.3 * tol)
        outside = np.abs(point.alpha - np.clip(point.alpha, 0.0, cap)).sum()
        if not np.any(rises | falls) and matrix.largest * outside <= 0.1 * tol:
            return systems.feasible(point, b)
        changes = np.count_nonzero(below | above | rises | falls)
        if changes > FEW_CHANGES + most_changes:
            return None
        most_changes = MOST_NEXT_CHANGES * changes
        low, up = (low & ~rises) | below, (up & ~falls) | above
    return None


def least_ridge(problem: Problem, matrix: Matrix, tol: float) -> float:
    """ρ by which no slope is off by more than a tenth of the tolerance, if K + ρ can be factored."""
    return float(max(0.1 * tol / problem.hinges.cap.max(), 1e-11 * matrix.largest))


class FreeHinges:
    """Hinges between their bounds: whose they are (`place` among `samples`), and at which group of thresholds.

    members     how many hinges a sample has at a group; `share` is that over all its hinges, `count`
    """

    def __init__(self, hinges: Hinges, free: Ints, group: Ints) -> None:
        n_groups = int(group[-1]) + 1
        self.samples, self.place = np.unique(hinges.sample[free].astype(np.int64), return_inverse=True)
        self.group = group[hinges.threshold[free]]
        self.level = hinges.sign[free] * hinges.offset[free]
        self.count = np.bincount(self.place).astype(np.float64)
        slot = self.place * n_groups + self.group
        self.members = np.bincount(slot, minlength=len(self.samples) * n_groups).reshape(-1, n_groups)
        self.share = self.members / self.count[:, np.newaxis]

    def means(self, values: Floats) -> Floats:
        """Over the hinges of every sample."""
        return np.bincount(self.place, values) / self.count


class Systems:
    """The systems that belong to choices of sides, all relative to one starting point."""

    def __init__(self, problem: Problem, matrix: Matrix, start: Point, ridge: float, n_threads: int) -> None:
        self._problem = problem
        self._matrix = matrix
        self._start = start
        self._n_threads = n_threads
        self._ridge = ridge
        self._group = _groups(problem, start.alpha)
        self._system: ChangingSystem | None = None

    def solve(self, low: Flags, up: Flags) -> tuple[Point, Floats] | None:
        """Where the slopes of hinges on neither side vanish, and the thresholds there; None if that is nowhere."""
        problem, h = self._problem, self._problem.hinges
        free = np.flatnonzero(~(low | up))
        alpha = np.where(low, 0.0, np.where(up, h.cap, self._start.alpha))
        moved = problem.beta(alpha - self._start.alpha)
        try:
            delta, b = self._between(free, moved, self._sums(problem.gamma(alpha)))
        except np.linalg.LinAlgError:
            return None
        alpha[free] += h.sign[free] * delta
        point = Point(alpha, self._start.score + self._product(problem.beta(alpha - self._start.alpha)))
        return point, self._all_thresholds(point, b)

    def feasible(self, point: Point, b: Floats) -> Point | None:
        """The point with everything in its box and all equalities to the last digit; None if thresholds have met, or
        parted, that should not have."""
        problem, h = self._problem, self._problem.hinges
        alpha = np.clip(point.alpha, 0.0, h.cap)
        if problem.treatment in (Treatment.FREE, Treatment.ORDERED):
            distance = np.minimum(alpha, h.cap - alpha)  # to the nearer bound
            group, excess = self._group[h.threshold], self._sums(problem.gamma(alpha))
            for g in np.unique(group):  # there may be thresholds without hinges
                here = np.flatnonzero(group == g)
                v = here[np.argmax(distance[here])]
                alpha[v] -= h.sign[v] * excess[g]
        ordered = problem.treatment is not Treatment.ORDERED or bool(np.all(np.diff(b) >= 0))
        if not ordered or not np.array_equal(alpha, problem.repair(alpha)):
            return None
        return Point(alpha, point.score + self._product(problem.beta(alpha - point.alpha)))

    def _between(self, free: Ints, moved: Floats, gamma: Floats) -> tuple[Floats, Floats]:
        """δ of the free hinges and b of every group, where the others have moved and γ is now this.

        x and δ are sums of large numbers that nearly cancel, so that γ is not quite what it should be: b is mended by
        what is left over.
        """
        rho, f = self._ridge, FreeHinges(self._problem.hinges, free, self._group)
        wanted = f.means(f.level) - self._start.score[f.samples] - self._scores(f.samples, moved)
        solved = self._solved(f.samples, rho / f.count, np.column_stack([wanted, f.share]))
        x, response = solved[:, 0], solved[:, 1:]
        total = f.members.sum(axis=0)
        slope = f.share.T @ response + (np.diag(total) - f.share.T @ f.members) / rho

        def delta(b: Floats) -> Floats:
            apart = f.level + b[f.group]
            apart -= f.means(apart)[f.place]
            return ((x + response @ b) / f.count)[f.place] + apart / rho

        b = np.zeros(len(total))
        for _ in range(1 + B_REFINEMENTS):
            b += self._balance(slope, gamma + np.bincount(f.group, delta(b), len(total)), b, total > 0)
        determined = total > 0 if self._problem.treatment in (Treatment.FREE, Treatment.ORDERED) else True
        return delta(b), np.where(determined, b, np.nan)

    def _balance(self, slope: Floats, gamma: Floats, b: Floats, determined: Flags) -> Floats:
        """By how much b should change so that γ = -b, or γ = 0 where a free hinge can do something about it."""
        change = np.zeros(len(gamma))
        if self._problem.treatment is Treatment.PENALIZED:
            change[:] = np.linalg.solve(slope + np.eye(len(gamma)), -gamma - b)
        elif self._problem.treatment is not Treatment.NONE:
            if np.any(np.abs(gamma[~determined]) > 1e-12 * self._start.alpha.sum()):
                raise np.linalg.LinAlgError("No free hinge balances a threshold.")
            change[determined] = np.linalg.solve(slope[np.ix_(determined, determined)], -gamma[determined])
        return change

    def _all_thresholds(self, point: Point, b: Floats) -> Floats:
        """Of all thresholds: those that the system has not determined are the best for these scores."""
        if np.isnan(b).any():
            best = self._problem.best_thresholds(point.score)
            return np.where(np.isnan(b[self._group]), best, b[self._group])
        return b[self._group]

    def _sums(self, gamma: Floats) -> Floats:
        return np.bincount(self._group, gamma).astype(np.float64, copy=False)

    def _scores(self, samples: Ints, beta: Floats) -> Floats:
        """(Kβ)[samples]; few β are not 0."""
        support = np.flatnonzero(beta)
        return self._part(samples, support) @ beta[support]

    def _solved(self, samples: Ints, ridge: Floats, right: Floats) -> Floats:
        if self._system is None:
            self._system = ChangingSystem(self._part, self._problem.n_samples, samples, ridge)
        return self._system.solve(samples, ridge, right)

    def _product(self, beta: Floats) -> Floats:
        return self._matrix.product(beta, self._n_threads)

    def _part(self, rows: Ints, columns: Ints) -> Floats:
        return self._matrix.part(rows, columns, self._n_threads)


def _groups(problem: Problem, alpha: Floats) -> Ints:
    """For every threshold the number of its group: ordered thresholds tied by μ > 0 are in one."""
    if problem.treatment is not Treatment.ORDERED:
        return np.arange(problem.n_thresholds)
    parted = problem.mu(alpha)[1:-1] <= 1e-12 * alpha.sum()
    return np.concatenate([[0], np.cumsum(parted)])
