"""Passes over the table of hinges: what a Newton step, its length and a proof need of every sample.

Plain array code; fused_passes.py makes each of them one or two kernels of a GPU.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage


class Iterate(NamedTuple):
    """β, f = Kβ and the thresholds b."""

    beta: Array
    score: Array
    b: Floats

    def moved(self, to: Iterate, step: float) -> Iterate:
        if step == 1.0:
            return Iterate(self.beta + to.beta, self.score + to.score, self.b + to.b)
        return Iterate(self.beta + step * to.beta, self.score + step * to.score, self.b + step * to.b)


class State(NamedTuple):
    """Where a Newton step begins.

    residual      r of all samples
    free          the samples I, and `outside` the others whose r is not 0
    D, r, mean    of those in I: 1/W, r, and Dw by threshold
    sums, weighted, shared    on the host: Σsα by column, (Dw)'r, w'Dw
    listed        where fused: `free` and then `outside`
    """

    residual: Array
    free: Array
    outside: Array
    D: Array
    r: Array
    mean: Array
    sums: Floats
    weighted: Floats
    shared: Floats
    listed: Array = None


class RightSide(NamedTuple):
    """−Dr − g − Dw·step; Dw·root, whose square is what the thresholds add to K; and r'g over I and the samples outside
    plus r'(right side) over I."""

    values: Array
    low_rank: Array
    constant: Array


class Consistent(NamedTuple):
    """The α whose sums by sample are β, where there is one; its sums, and how many differ."""

    alpha: Array
    beta: Array
    sums: Floats
    n_off: int


class Passes(Protocol):
    sections: int  # into which it pays to divide a range, whose ends `caps_below` looks at together

    def state(self, stage: Stage, at: Iterate, least: float) -> State:
        """`least`: an r that is not more than this is 0."""

    def right_side(self, state: State, g: Array, step: Floats, root: Floats) -> RightSide:
        """For the thresholds' `step` and `root` of level.py, where samples outside I have moved scores by g."""

    def change(self, state: State, x: Array) -> tuple[Array, Floats]:
        """What is added to β, x in I and −r outside; and x'Dw."""

    def slopes(self, stage: Stage, at: Iterate, to: Iterate, steps: list[float]) -> list[tuple[float, Floats]]:
        """(β − Σsα)'df at each of some steps, and Σsα by column there."""

    def consistent(self, stage: Stage, at: Iterate, least: float) -> Consistent:
        """`least`: sums that differ by no more are the same."""

    def proof(self, alpha: Array, beta: Array, score: Array, b: Floats) -> tuple[float, float, float, float]:
        """The gap, the losses, β'f and the largest violation."""

    def caps(self) -> tuple[Floats, Floats]:
        """Sums by threshold of the caps of sign 1 and of sign −1."""

    def caps_below(self, score: Array, points: Floats) -> Floats:
        """Sums by threshold of the caps of hinges whose level f − s·o is below that of `points`, a row each."""


class PlainPasses:
    """By operations on whole arrays."""

    sections = 2

    def __init__(self, library: ArrayLibrary, columns: Columns) -> None:
        self.library, self.columns = library, columns

    def state(self, stage: Stage, at: Iterate, least: float) -> State:
        library, columns = self.library, self.columns
        u = stage.unclipped(at.score, at.b)
        own, sums = columns.sums(library.clip(u, 0.0, columns.cap))
        r = at.beta - own
        weight = stage.weight * library.number((u > 0) & (u < columns.cap))
        total = weight.sum(1)
        free = library.places(total > 0)
        outside = library.places((total == 0) & (abs(r) > least))
        D, r_free = 1.0 / total[free], r[free]
        by_threshold = weight[free] @ columns.membership
        mean = D[:, None] * by_threshold
        m, n_columns = columns.member.shape[1], len(sums)
        together = library.host(library.join([sums, r_free @ mean, (mean.T @ by_threshold).reshape(-1)]))
        sums, weighted, shared = np.split(together, [n_columns, n_columns + m])
        return State(r, free, outside, D, r_free, mean, sums, weighted, shared.reshape(m, m))

    def right_side(self, state: State, g: Array, step: Floats, root: Floats) -> RightSide:
        array, outside, g_free = self.library.array, state.outside, g[state.free]
        values = -state.D * state.r - g_free - state.mean @ array(step)
        moved = state.r @ g_free + state.residual[outside] @ g[outside]
        return RightSide(values, state.mean @ array(root), moved + state.r @ values)

    def change(self, state: State, x: Array) -> tuple[Array, Floats]:
        beta = self.library.zeros(len(state.residual))
        beta[state.outside] = -state.residual[state.outside]
        beta[state.free] = x
        return beta, self.library.host(x @ state.mean)

    def slopes(self, stage: Stage, at: Iterate, to: Iterate, steps: list[float]) -> list[tuple[float, Floats]]:
        parts = []
        for step in steps:
            there = at.moved(to, step)
            own, sums = self.columns.sums(stage.alpha(there.score, there.b))
            parts += [((there.beta - own) @ to.score).reshape(1), sums]
        together = self.library.host(self.library.join(parts)).reshape(len(steps), -1)
        return [(float(row[0]), row[1:]) for row in together]

    def consistent(self, stage: Stage, at: Iterate, least: float) -> Consistent:
        alpha = stage.consistent_alpha(at.score, at.b, at.beta)
        beta, sums = self.columns.sums(alpha)
        n_off = self.library.number(abs(beta - at.beta) > least).sum()
        *sums, n_off = self.library.host(self.library.join([sums, n_off.reshape(1)]))
        return Consistent(alpha, beta, np.array(sums), int(n_off))

    def proof(self, alpha: Array, beta: Array, score: Array, b: Floats) -> tuple[float, float, float, float]:
        library, cap, infinity = self.library, self.columns.cap, float("inf")
        slope = self.columns.slope(score, b)
        short, over = library.clip(-slope, 0.0, infinity), library.clip(slope, 0.0, infinity)
        loss = (cap * short).sum()
        gap = loss + (alpha * slope).sum()
        violating = library.where(alpha <= 0, short, library.where(alpha >= cap, over, abs(slope)))
        worst = (violating * library.number(cap > 0)).max()
        gap, loss, product, worst = library.floats(gap, loss, beta @ score, worst)
        return gap, loss, product, worst

    def caps(self) -> tuple[Floats, Floats]:
        return caps_by_sign(self.columns)

    def caps_below(self, score: Array, points: Floats) -> Floats:
        columns, number = self.columns, self.library.number
        levels = score[:, None] - columns.sign * columns.offset
        sums = [(columns.cap * number(levels < columns.level(row))).sum(0)[None] for row in points]
        return columns.gamma(self.library.host(self.library.join(sums)))


def caps_by_sign(columns: Columns) -> tuple[Floats, Floats]:
    """Sums by threshold of the caps of sign 1 and of sign −1."""
    number = columns.library.number
    sums = [(columns.cap * number(flags)).sum(0)[None] for flags in (columns.sign > 0, columns.sign < 0)]
    rising, falling = columns.gamma(columns.library.host(columns.library.join(sums)))
    return rising, falling
