"""Stages of the method on the first so many samples: Newton steps, and the proof of where they are.

A stage minimises, over β (through f = Kβ) and b,

    ½β'Kβ + [threshold term] + Σ_v (prox of the hinge v around α̂_v with weight σ_v)

whose derivative is r = β − Σ s·α and r_b = [threshold term]' + γ with α = clip(α̂ − σG, 0, cap). Newton's method solves
r = 0, r_b = 0; hinges with 0 < α < cap are free, their samples are I. Samples outside take their new β at once, and for
those in I, with w = σ at free hinges, W their sum by sample, D = 1/W, w_k their sums by sample and threshold:

    (K_II + D + Dw T (Dw)') x = −D r − g − Dw T (r_b + (Dw)'r),   T⁻¹ = [curvature of the term] + diag(Σw) − w'Dw
    db = −T (r_b + (Dw)'(r + x)),   df = g + K[:, I] x,   g = what the samples outside I move f by
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.kernels.products.host import KernelProducts
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage
from ordsvm.solvers.kernel.proximal_newton.newton_system import Accuracy, NewtonSystem, Nystroem, Stop
from ordsvm.solvers.kernel.proximal_newton.threshold_term import ThresholdTerm

NO_RESIDUAL = 1e-9  # of β, as a share of the mean cap: such samples are where they should be
FULL_STEP_SLOPE = 0.3  # of the slope at the start: a whole step that leaves less is taken
MOST_SEARCHES = 14
MOST_CORRECTED = 0.05  # share of the samples


class Iterate(NamedTuple):
    """β, f = Kβ and the thresholds b."""

    beta: Array
    score: Array
    b: Floats

    def moved(self, direction: Direction, step: float) -> Iterate:
        to = direction.to
        return Iterate(self.beta + step * to.beta, self.score + step * to.score, self.b + step * to.b)


class Direction(NamedTuple):
    """A Newton step: what it adds, and of how many samples it is about."""

    to: Iterate
    n_free: int
    n_outside: int
    curvature: float


@dataclass(frozen=True)
class Judged:
    """The α that an iterate stands for, with what it proves but for rounding.

    is_consistent: whether few samples, whose share of the scores is corrected, have a sum of α that is not β.
    """

    alpha: Array
    beta: Array
    score: Array
    b: Floats
    violation: float
    relative_gap: float
    is_consistent: bool


class Thresholds(NamedTuple):
    """What a Newton step needs of the thresholds, on the host.

    r_b         the derivative by b
    inverse     T = root · root'
    step        T (r_b + (Dw)'r)
    curvature   the largest of a threshold by the hinges
    """

    r_b: Floats
    inverse: Floats
    root: Floats
    step: Floats
    curvature: float


class Effort(NamedTuple):
    """How systems are solved: directly up to so many samples, else with a Nyström approximation of this rank."""

    direct: int
    rank: int
    seed: int
    stop: Stop


class Level:
    """The problem over the first so many samples, and the stage it is in."""

    def __init__(
        self, library: ArrayLibrary, products: KernelProducts, columns: Columns, term: ThresholdTerm, effort: Effort
    ) -> None:
        self.library, self.products, self.columns, self.term = library, products, columns, term
        self.size = len(columns.cap)
        self.rows = products.first(self.size)
        self.mean_cap = float(columns.cap.sum()) / max(1, int((columns.cap > 0).sum()))
        self.effort = effort
        self._nystroem: Nystroem | None = None

    @property
    def nystroem(self) -> Nystroem:
        if self._nystroem is None:
            effort = self.effort
            self._nystroem = Nystroem(self.library, self.products, self.size, effort.rank, effort.seed)
        return self._nystroem

    def scores(self, beta: Array, exact: bool = False) -> Array:
        support = self.library.places(beta != 0)
        product = self.products.exact_product if exact else self.products.product
        return product(self.rows, self.products.rows(support), beta[support])

    # Newton's method

    def direction(self, stage: Stage, at: Iterate, accuracy: Accuracy) -> Direction:
        library, columns = self.library, self.columns
        u = stage.unclipped(at.score, at.b)
        own, sums = columns.sums(library.clip(u, 0.0, columns.cap))
        r = at.beta - own
        weight = stage.weight * library.number((u > 0) & (u < columns.cap))
        total = weight.sum(1)
        free = library.places(total > 0)
        outside = library.places((total == 0) & (abs(r) > NO_RESIDUAL * self.mean_cap))
        g = self._moved_by(outside, -r[outside])
        D, r_free, g_free = 1.0 / total[free], r[free], g[free]
        by_threshold = weight[free] @ columns.membership
        mean = D[:, None] * by_threshold
        thresholds = self._thresholds(at.b, sums, mean.T @ by_threshold, r_free @ mean)
        shift = mean @ library.array(thresholds.step)
        right = -D * r_free - g_free - shift
        still = thresholds.r_b @ thresholds.step - r_free @ g_free - r[outside] @ g[outside]
        size = _step_size(still, r_free, right)
        system = NewtonSystem(library, self.products, free, D, mean @ library.array(thresholds.root))
        x = self._solve(system, right, size, accuracy)
        db = -(thresholds.step + thresholds.inverse @ library.host(x @ mean))
        dbeta = library.zeros(self.size)
        dbeta[outside] = -r[outside]
        dbeta[free] = x
        df = g + self._moved_by(free, x)
        return Direction(Iterate(dbeta, df, db), len(free), len(outside), thresholds.curvature)

    def _thresholds(self, b: Floats, sums: Array, shared: Array, weighted: Array) -> Thresholds:
        """T and what it makes of the residuals; `shared` is w'Dw, `weighted` (Dw)'r."""
        m, n_columns = len(b), len(sums)
        together = self.library.host(self.library.join([sums, weighted, shared.reshape(-1)]))  # fetched at once
        r_b = self.term.residual(b, self.columns.gamma(together[:n_columns]))
        apart = together[n_columns + m :].reshape(m, m) * (1.0 - np.eye(m))
        laplacian = np.diag(apart.sum(1)) - apart
        try:
            root = np.linalg.inv(np.linalg.cholesky(self.term.curvature(b) + laplacian)).T
        except np.linalg.LinAlgError:
            raise FloatingPointError("The system of the thresholds is not positive definite.") from None
        inverse = root @ root.T
        step = inverse @ (r_b + together[n_columns : n_columns + m])
        return Thresholds(r_b, inverse, root, step, float(laplacian.max(initial=0.0)))

    def _moved_by(self, samples: Array, change: Array) -> Array:
        if len(samples) == 0:
            return self.library.zeros(self.size)
        return self.products.product(self.rows, self.products.rows(samples), change)

    def _solve(
        self, system: NewtonSystem, right: Array, size: Callable[[Array, Array], Array], accuracy: Accuracy
    ) -> Array:
        if len(right) <= self.effort.direct:
            return system.solve_directly(right)
        return system.solve_by_gradients(right, self.nystroem, size, accuracy, self.effort.stop)

    def steepest(self, stage: Stage, at: Iterate) -> Direction:
        """Downhill in the metric of K, where a Newton step is not."""
        own, sums = self.columns.sums(stage.alpha(at.score, at.b))
        r, gamma = at.beta - own, self.columns.gamma(self.library.host(sums))
        to = Iterate(-r, self.scores(-r), -self.term.residual(at.b, gamma))
        return Direction(to, 0, self.size, 0.0)

    def slope(self, stage: Stage, at: Iterate, direction: Direction, step: float) -> float:
        """Of the stage's objective along a direction."""
        there, to = at.moved(direction, step), direction.to
        own, sums = self.columns.sums(stage.alpha(there.score, there.b))
        by_score = ((there.beta - own) @ to.score).reshape(1)
        by_score, *sums = self.library.host(self.library.join([by_score, sums]))
        return float(by_score + self.term.residual(there.b, self.columns.gamma(np.array(sums))) @ to.b)

    def moves_nothing(self, direction: Direction, least: float) -> bool:
        """Whether neither scores nor thresholds change by as much as `least`."""
        to = direction.to
        return bool((abs(to.score) < least).all()) and bool((abs(to.b) < least).all())

    def step_length(self, stage: Stage, at: Iterate, direction: Direction, slope: float) -> float:
        """1 where a whole step does not go far uphill, else where the slope is about 0."""
        left, right, left_slope = 0.0, 1.0, slope
        right_slope = self.slope(stage, at, direction, 1.0)
        step = 1.0
        if right_slope <= FULL_STEP_SLOPE * abs(slope):
            return step
        for _ in range(MOST_SEARCHES):
            share = -left_slope / (right_slope - left_slope) if right_slope > left_slope else 0.5
            step = left + (right - left) * min(0.9, max(0.1, share))
            here = self.slope(stage, at, direction, step)
            if abs(here) <= 0.2 * abs(slope):
                break
            if here < 0:
                left, left_slope = step, here
            else:
                right, right_slope = step, here
        return step

    # Proofs

    def judge(self, stage: Stage, at: Iterate) -> Judged:
        library, columns = self.library, self.columns
        alpha = stage.consistent_alpha(at.score, at.b, at.beta)
        beta, sums = columns.sums(alpha)
        b = -columns.gamma(library.host(sums)) if self.term.is_penalised else at.b
        off = library.places(abs(beta - at.beta) > 1e-12 * self.mean_cap)
        score, is_consistent = at.score, len(off) <= MOST_CORRECTED * self.size
        if is_consistent:
            score = score + self._moved_by(off, (beta - at.beta)[off])
        slope = columns.slope(score, b)
        loss = (columns.cap * library.clip(-slope, 0.0, float("inf"))).sum()
        gap = loss + (alpha * slope).sum()
        primal = 0.5 * (beta @ score) + loss + (0.5 * float(b @ b) if self.term.is_penalised else 0.0)
        violating = self._violations(alpha, slope).max()
        gap, primal, violation = library.floats(gap, primal, violating)
        return Judged(alpha, beta, score, b, violation, gap / primal if primal > 0 else 0.0, is_consistent)

    def _violations(self, alpha: Array, slope: Array) -> Array:
        """|Projected gradient| of every hinge."""
        clip, cap, infinity = self.library.clip, self.columns.cap, float("inf")
        at_zero, at_cap = clip(-slope, 0.0, infinity), clip(slope, 0.0, infinity)
        size = self.library.where(alpha <= 0, at_zero, self.library.where(alpha >= cap, at_cap, abs(slope)))
        return size * self.library.number(cap > 0)


def _step_size(still: Array, r: Array, right: Array) -> Callable[[Array, Array], Array]:
    """The square of a Newton step's size, −r'df − r_b'db, for a solution x and what it leaves of the right side.

    `still`: its value at x = 0. K x = right − residual − D x − EE'x, and all that is linear in x adds up to −right'x.
    """
    constant = still - r @ right

    def size(x: Array, residual: Array) -> Array:
        return constant - right @ x + r @ residual

    return size
