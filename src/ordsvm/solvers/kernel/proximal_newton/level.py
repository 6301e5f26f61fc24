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

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.kernels.products.host import KernelProducts
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage
from ordsvm.solvers.kernel.proximal_newton.newton_system import Accuracy, NewtonSystem, Step, Stop
from ordsvm.solvers.kernel.proximal_newton.passes import Iterate, Passes, PlainPasses, State
from ordsvm.solvers.kernel.proximal_newton.preconditioner import Nystroem
from ordsvm.solvers.kernel.proximal_newton.threshold_term import ThresholdTerm

NO_RESIDUAL = 1e-9  # of β, as a share of the mean cap: such samples are where they should be
FULL_STEP_SLOPE = 0.3  # of the slope at the start: a whole step that leaves less is taken
MOST_SEARCHES = 14
NO_DIFFERENCE = 1e-12  # of β, likewise: sums of α are rounded
MOST_CORRECTED = 0.05  # share of the samples
NARROWED = 2.0**-64  # share of the range of a threshold that is left to it


class Direction(NamedTuple):
    """A Newton step: what it adds, of how many samples it is about, and how many iterations its system took."""

    to: Iterate
    n_free: int
    n_outside: int
    curvature: float
    iterations: int = 0


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
    primal: float
    gap: float
    is_consistent: bool

    @property
    def relative_gap(self) -> float:
        return self.gap / self.primal if self.primal > 0 else 0.0


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


Approximations = dict[tuple[int, int, int], Nystroem]  # by samples, rank and seed


class Level:
    """The problem over the first so many samples, and the stage it is in."""

    def __init__(
        self,
        library: ArrayLibrary,
        products: KernelProducts,
        columns: Columns,
        term: ThresholdTerm,
        effort: Effort,
        approximations: Approximations,
    ) -> None:
        self.library, self.products, self.columns, self.term = library, products, columns, term
        self.size = len(columns.cap)
        self.mean_cap = float(columns.cap.sum()) / max(1, int((columns.cap > 0).sum()))
        self.effort = effort
        self.passes = _passes(library, columns)
        self._approximations = approximations

    @property
    def nystroem(self) -> Nystroem:
        effort = self.effort
        kind = self.size, effort.rank, effort.seed
        if kind not in self._approximations:
            self._approximations[kind] = Nystroem(self.library, self.products, *kind)
        return self._approximations[kind]

    def scores(self, beta: Array, exact: bool = False) -> Array:
        support = self.library.places(beta != 0)
        return self.products.scores(self.size, support, beta[support], exact)

    def first_scores(self, size: int, beta: Array) -> Array:
        """Exact ones of the first so many samples, which are in random order."""
        support = self.library.places(beta != 0)
        products = self.products
        return products.exact_product(products.first(size), products.rows(support), beta[support])

    # Newton's method

    def direction(self, stage: Stage, at: Iterate, accuracy: Accuracy) -> Direction:
        state = self.passes.state(stage, at, NO_RESIDUAL * self.mean_cap)
        free, outside = state.free, state.outside
        g = self._moved_by(outside, -state.residual[outside])
        thresholds = self._thresholds(at.b, state)
        right = self.passes.right_side(state, g, thresholds.step, thresholds.root)
        system = NewtonSystem(self.library, self.products, free, state.D, right.low_rank)
        step = Step(right.values, state.r, float(thresholds.r_b @ thresholds.step) - right.constant)
        x = self._solve(system, step, accuracy)
        dbeta, weighted = self.passes.change(state, x)
        db = -(thresholds.step + thresholds.inverse @ weighted)
        df = self._moved_by(free, x, g)
        return Direction(Iterate(dbeta, df, db), len(free), len(outside), thresholds.curvature, system.iterations)

    def _thresholds(self, b: Floats, state: State) -> Thresholds:
        """T and what it makes of the residuals."""
        r_b = self.term.residual(b, self.columns.gamma(state.sums))
        apart = state.shared * (1.0 - np.eye(len(b)))
        laplacian = np.diag(apart.sum(1)) - apart
        try:
            root = np.linalg.inv(np.linalg.cholesky(self.term.curvature(b) + laplacian)).T
        except np.linalg.LinAlgError:
            raise FloatingPointError("The system of the thresholds is not positive definite.") from None
        inverse = root @ root.T
        step = inverse @ (r_b + state.weighted)
        return Thresholds(r_b, inverse, root, step, float(laplacian.max(initial=0.0)))

    def _moved_by(self, samples: Array, change: Array, score: Array | None = None) -> Array:
        """What scores are, from `score` or 0, after a change of some β."""
        if len(samples) == 0:
            return self.library.zeros(self.size) if score is None else score
        moved = self.products.scores(self.size, samples, change)
        return moved if score is None else moved + score

    def _solve(self, system: NewtonSystem, step: Step, accuracy: Accuracy) -> Array:
        if len(step.right) <= self.effort.direct:
            return system.solve_directly(step.right)
        return system.solve_by_gradients(step, self.nystroem, accuracy, self.effort.stop)

    def steepest(self, stage: Stage, at: Iterate) -> Direction:
        """Downhill in the metric of K, where a Newton step is not."""
        own, sums = self.columns.sums(stage.alpha(at.score, at.b))
        r, gamma = at.beta - own, self.columns.gamma(self.library.host(sums))
        to = Iterate(-r, self.scores(-r), -self.term.residual(at.b, gamma))
        return Direction(to, 0, self.size, 0.0)

    def slopes(self, stage: Stage, at: Iterate, direction: Direction, steps: list[float]) -> list[float]:
        """Of the stage's objective along a direction, after some steps."""
        to = direction.to
        found = self.passes.slopes(stage, at, to, steps)
        return [
            by_score + float(self.term.residual(at.b + step * to.b, self.columns.gamma(sums)) @ to.b)
            for step, (by_score, sums) in zip(steps, found, strict=True)
        ]

    def moves_nothing(self, direction: Direction, least: float) -> bool:
        """Whether neither scores nor thresholds change by as much as `least`."""
        to = direction.to
        return bool((abs(to.score) < least).all()) and bool((abs(to.b) < least).all())

    def step_length(self, stage: Stage, at: Iterate, direction: Direction, slopes: tuple[float, float]) -> float:
        """1 where a whole step does not go far uphill, else where the slope is about 0; `slopes`: at 0 and 1."""
        slope, right_slope = slopes
        left, right, left_slope = 0.0, 1.0, slope
        step = 1.0
        if right_slope <= FULL_STEP_SLOPE * abs(slope):
            return step
        for _ in range(MOST_SEARCHES):
            share = -left_slope / (right_slope - left_slope) if right_slope > left_slope else 0.5
            step = left + (right - left) * min(0.9, max(0.1, share))
            here = self.slopes(stage, at, direction, [step])[0]
            if abs(here) <= 0.2 * abs(slope):
                break
            if here < 0:
                left, left_slope = step, here
            else:
                right, right_slope = step, here
        return step

    # Proofs

    def judge(self, stage: Stage, at: Iterate) -> Judged:
        least = NO_DIFFERENCE * self.mean_cap
        alpha, beta, sums, n_off = self.passes.consistent(stage, at, least)
        b = -self.columns.gamma(sums) if self.term.is_penalised else at.b
        score, is_consistent = at.score, n_off <= MOST_CORRECTED * self.size
        if n_off and is_consistent:
            change = beta - at.beta
            off = self.library.places(abs(change) > least)
            score = self._moved_by(off, change[off], score)
        return self._judged(alpha, beta, score, b, is_consistent)

    def with_own_scores(self, judged: Judged, at: Iterate) -> Judged:
        """The same α with the scores of its β: those of an iterate, and what β differs by."""
        score = at.score + self.scores(judged.beta - at.beta)
        return self._judged(judged.alpha, judged.beta, score, judged.b, is_consistent=True)

    def _judged(self, alpha: Array, beta: Array, score: Array, b: Floats, is_consistent: bool) -> Judged:
        gap, loss, product, violation = self.passes.proof(alpha, beta, score, b)
        primal = 0.5 * product + loss + (0.5 * float(b @ b) if self.term.is_penalised else 0.0)
        return Judged(alpha, beta, score, b, violation, primal, gap, is_consistent)

    def objective_and_gap(self, judged: Judged, b: Floats) -> tuple[float, float]:
        """Of an α with other penalised thresholds than its own, −γ."""
        gap, loss, product, _ = self.passes.proof(judged.alpha, judged.beta, judged.score, b)
        return 0.5 * (product + float(b @ b)) + loss, gap + 0.5 * float((b - judged.b) @ (b - judged.b))

    def best_thresholds(self, score: Array) -> Floats:
        """Penalised thresholds that minimise the primal for these scores, as `Problem.best_thresholds`: b is where it
        and the caps of hinges whose level f − s·o is below it add up to the caps of sign −1."""
        rising, falling = self.passes.caps()
        low, high = -rising, falling
        sections = np.arange(1, self.passes.sections) / self.passes.sections
        for _ in range(math.ceil(math.log(NARROWED, 1.0 / self.passes.sections))):
            points = low + (high - low) * sections[:, np.newaxis]
            is_above = points + self.passes.caps_below(score, points) > falling
            n_below = (~is_above).sum(0)
            ends = np.concatenate([low[np.newaxis], points, high[np.newaxis]])
            low, high = (np.take_along_axis(ends, (n_below + k)[np.newaxis], 0)[0] for k in (0, 1))
        return 0.5 * (low + high)


def _passes(library: ArrayLibrary, columns: Columns) -> Passes:
    if library.fuses:
        from ordsvm.solvers.kernel.proximal_newton.fused_passes import FusedPasses, fit_registers

        if fit_registers(columns):
            return FusedPasses(library, columns)
    return PlainPasses(library, columns)
