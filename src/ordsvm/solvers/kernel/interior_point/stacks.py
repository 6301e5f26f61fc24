"""Stacks of problems in units of their own, and the points of their central paths.

Arrays are (folds, C, samples) or (folds, C, samples, columns). All problems of a fold have the same samples and K; a
single problem is a stack of one.

With K = κ·K' and scores f = ω·f', ω the largest offset, the problem in K', f', b' = b/ω and α' = α·κ/ω is the same one:
caps become c·κ/ω, and the weight p of ½‖b‖² becomes κ. Answers stay as they are, for features of any scale, and the
constants of the method are plain numbers. The other solvers need no such units: a step to the minimum along a hinge or
a pair is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ordsvm._typing import Floats, Ints
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.proximal_newton.columns import Columns

LARGEST_SIZE = 1e9  # caps above are hardly ever a limit in these units, and the path does not have them as one


class KernelStack(Protocol):
    """K of every fold, and the systems (K + D) Z = D Q of all problems, with a diagonal D = 1/W."""

    def product(self, beta: Array) -> Array:
        """Return Kβ for (folds, C, samples)."""

    def weigh(self, weight: Array, inverse: Array) -> None:
        """Prepare the systems with this W, (folds, C, samples), and its inverse, which is 0 where W is."""

    def solve(self, right: Array) -> tuple[Array, Array]:
        """Return Z and KZ for Q, (folds, C, samples, sides), which has to be 0 where W is; NaN for a failed system."""


class CentralPathPoint(NamedTuple):
    """A point near the central path of every problem, or a direction from there.

    rest            c − α, kept apart: near the cap the difference has few digits
    lower, upper    λ and ξ, the multipliers of α ≥ 0 and α ≤ c
    order           ν, those of b_{k+1} ≥ b_k: (folds, C, thresholds − 1), no columns unless thresholds are ordered
    """

    beta: Array
    score: Array
    b: Array
    alpha: Array
    rest: Array
    lower: Array
    upper: Array
    order: Array

    def moved(self, step: Array, by: CentralPathPoint) -> CentralPathPoint:
        """Return the point after a step, (folds, C), along a direction."""
        parts = zip(self, by, strict=True)
        return CentralPathPoint(*(own + by_problem(step, own) * other for own, other in parts))

    def where(self, library: ArrayLibrary, problems: Array, other: CentralPathPoint) -> CentralPathPoint:
        """Return this point for the flagged problems, (folds, C), and the other point for the rest."""
        parts = zip(self, other, strict=True)
        return CentralPathPoint(*(library.where(by_problem(problems, own), own, given) for own, given in parts))


def by_problem(values: Array, part: Array) -> Array:
    """Return (folds, C) values with as many axes as a part of a point has."""
    return values.reshape(*values.shape, *[1] * (part.ndim - 2))


@dataclass(frozen=True)
class Stacks:
    """The problems at C = 1, in units of their own.

    sign, offset, cap   (folds, 1, samples, columns)
    has                 the same: 1 where there is a hinge, else 0
    member              (columns, thresholds): 1 where a column is about a threshold; no columns where b = 0
    penalty             p, the weight of ½‖b‖²; 0 unless thresholds are penalised
    alpha_unit, score_unit  what α and scores were divided by
    places              of every fold: where in a table, (samples, columns), the hinges of its problem are
    """

    library: ArrayLibrary
    kernel: KernelStack
    sign: Array
    offset: Array
    cap: Array
    has: Array
    member: Array
    penalty: float
    is_ordered: bool
    alpha_unit: float
    score_unit: float
    places: Sequence[Ints]

    @classmethod
    def of(cls, library: ArrayLibrary, kernel: KernelStack, problems: Sequence[Problem], kernel_unit: float) -> Stacks:
        """Stack problems that have the same thresholds and columns; the smaller ones get samples without hinges.

        kernel_unit     what values of K were divided by for `kernel`
        """
        most = max(problem.n_samples for problem in problems)
        tables = [Columns.of(problem, np.arange(problem.n_samples), library) for problem in problems]

        def stack(name: str) -> Array:
            return library.join([_padded(library, getattr(table, name), most)[None, None] for table in tables])

        treatment, cap = problems[0].treatment, stack("cap")
        score_unit = max(float(np.abs(problem.hinges.offset).max()) for problem in problems) or 1.0
        return cls(
            library=library,
            kernel=kernel,
            sign=stack("sign"),
            offset=stack("offset") / score_unit,
            cap=cap * (kernel_unit / score_unit),
            has=library.number(cap > 0),
            member=library.array(tables[0].member),
            penalty=kernel_unit if treatment is Treatment.PENALIZED else 0.0,
            is_ordered=treatment is Treatment.ORDERED and problems[0].n_thresholds > 1,
            alpha_unit=score_unit / kernel_unit,
            score_unit=score_unit,
            places=[library.host(table.place).astype(np.int64) for table in tables],
        )

    def caps(self, C: Floats) -> Array:
        """Return the caps at each C; 1 where there is no hinge: nothing is divided by 0, and its weight is 0."""
        return self.library.array(C).reshape(1, -1, 1, 1) * self.cap + (1.0 - self.has)

    def size(self, cap: Array) -> Array:
        """Return what α may come to on the path."""
        return self.library.clip(cap, 0.0, LARGEST_SIZE)

    def total(self, values: Array) -> Array:
        """Sum (folds, C, samples, columns) over the hinges of every problem."""
        values = values * self.has
        return values.reshape(*values.shape[:2], -1).sum(-1)

    def slope(self, x: CentralPathPoint) -> Array:
        """Return G = s(f − b) − o."""
        level = (x.b @ self.member.T)[:, :, None]
        return self.sign * (x.score[..., None] - level) - self.offset

    def gamma(self, signed: Array) -> Array:
        """Sum (folds, C, samples, columns) by threshold."""
        return signed.sum(2) @ self.member

    def differences(self, b: Array) -> Array:
        """Return Eb, the differences of neighbouring thresholds, if these are ordered."""
        return b[..., 1:] - b[..., :-1] if self.is_ordered else b[..., :0]

    def order_weights(self, size: Array) -> Array:
        """Return the mean size of every problem's hinges, as often as it has pairs of ordered thresholds."""
        if not self.is_ordered:
            return self.library.zeros(*size.shape[:2], 0)
        mean = self.total(size) / self.total(0.0 * size + 1.0)
        return mean[..., None] + self.library.zeros(*mean.shape, self.member.shape[1] - 1)

    def order_sums(self, order: Array) -> Array:
        """Return E'ν, which γ is for multipliers ν of the order."""
        nothing = self.library.zeros(*order.shape[:2], 1)
        return self.library.join([nothing, order], -1) - self.library.join([order, nothing], -1)


def _padded(library: ArrayLibrary, table: Array, size: int) -> Array:
    missing = size - table.shape[0]
    return table if missing == 0 else library.join([table, library.zeros(missing, table.shape[1])])
