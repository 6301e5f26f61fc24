"""α of a stage: what hinges have at given scores, and the α whose sums by sample are a given β."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.solvers.kernel.proximal_newton.columns import Columns

ROUNDING = 1e-13  # share of the caps
SETTLED, SETTLED_BY_SIZE = 5e-13, 2e-15  # shares of the caps and of |u| up to which sums are those asked for
MOST_BISECTIONS = 60


@dataclass
class Stage:
    """A stage of the method: centre α̂ and width h, half the range of slopes over which α goes from 0 to its cap."""

    library: ArrayLibrary
    columns: Columns
    centre: Array
    width: float

    @property
    def weight(self) -> Array:
        """σ of every hinge, cap / 2h: by how much α falls where the slope rises by 1."""
        return self.columns.cap / (2 * self.width)

    def unclipped(self, score: Array, b: Array) -> Array:
        """u = α̂ − σG; α is u within the box."""
        return self.centre - self.weight * self.columns.slope(score, b)

    def alpha(self, score: Array, b: Array) -> Array:
        return self.library.clip(self.unclipped(score, b), 0.0, self.columns.cap)

    def consistent_alpha(self, score: Array, b: Array, beta: Array) -> Array:
        """α at scores that are shifted, for every sample so far that its sum is β.

        Where no shift of at most h does that, the shift is 0 and the sum another than β.
        """
        columns, clip = self.columns, self.library.clip
        u = self.unclipped(score, b)
        alpha = clip(u, 0.0, columns.cap)
        signed_cap = columns.sign * columns.cap
        top, low = clip(signed_cap, 0.0, float("inf")).sum(1), clip(signed_cap, -float("inf"), 0.0).sum(1)
        off = abs(beta - (columns.sign * alpha).sum(1)) > ROUNDING * columns.cap.sum(1)
        rows = self.library.places(off & (beta <= top) & (beta >= low))
        if len(rows):
            part = replace(columns, sign=columns.sign[rows], offset=columns.offset[rows], cap=columns.cap[rows])
            shift, moved = self._shifted(part, u[rows], beta[rows])
            found = abs(shift) <= self.width
            alpha[rows[found]] = moved[found]
        return alpha

    def _shifted(self, columns: Columns, u: Array, beta: Array) -> tuple[Array, Array]:
        """The shift e of every row with Σ s·clip(u − σ·s·e) = β, by Newton's method within a bracket, and that α."""
        library, sign, cap = self.library, columns.sign, columns.cap
        weight = cap / (2 * self.width)
        reach = library.where(cap > 0, (abs(u) + cap) / library.where(cap > 0, weight, 1.0 + 0.0 * cap), 0.0 * cap)
        high = library.largest(reach, 1)
        low, shift = -high, 0.0 * high
        settled = SETTLED * cap.sum(1) + SETTLED_BY_SIZE * abs(u).sum(1)
        for _ in range(MOST_BISECTIONS):
            v = u - weight * sign * shift[:, None]
            excess = (sign * library.clip(v, 0.0, cap)).sum(1) - beta
            if not bool((abs(excess) > settled).any()):
                break
            slope = (weight * library.number((v > 0) & (v < cap))).sum(1)
            low, high = library.where(excess > 0, shift, low), library.where(excess < 0, shift, high)
            step = shift + excess / library.where(slope > 0, slope, 1.0 + 0.0 * slope)
            inside = (slope > 0) & (step > low) & (step < high)
            step = library.where(inside, step, 0.5 * (low + high))
            shift = library.where(abs(excess) > settled, step, shift)  # a bisection would lead away from the solution
        return shift, self._corrected(columns, u - weight * sign * shift[:, None], beta)

    def _corrected(self, columns: Columns, v: Array, beta: Array) -> Array:
        """α of a v whose sums are β but for rounding, which may be that of numbers far larger than the caps."""
        library, sign, cap = self.library, columns.sign, columns.cap
        alpha = library.clip(v, 0.0, cap)
        free = cap * library.number((v > 0) & (v < cap))
        total = free.sum(1)
        share = free / library.where(total > 0, total, 1.0 + 0.0 * total)[:, None]
        return library.clip(alpha + sign * share * (beta - (sign * alpha).sum(1))[:, None], 0.0, cap)
