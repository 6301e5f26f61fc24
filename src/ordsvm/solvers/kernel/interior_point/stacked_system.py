"""Newton's equations of an interior-point method for stacks of problems: newton_system.py has them for one.

Arrays are (folds, C, samples) or (folds, C, samples, columns); samples of a fold have the same K for all C.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.solvers.kernel.interior_point.stacked_low_rank import MOST_RANK, LowRankSystem
from ordsvm.solvers.kernel.stacked_cholesky import StackedCholesky

MOST_KEPT = 0.8  # share of samples in a system from which on it is about all of them


class State(NamedTuple):
    """What moves; (folds, C, samples) or (folds, C, samples, columns). Also a direction."""

    beta: Array
    score: Array
    b: Array
    alpha: Array
    rest: Array
    lower: Array
    upper: Array

    def moved(self, step: Array, by: State) -> State:
        """`step`: (folds, C)."""
        parts = zip(self, by, strict=True)
        return State(*(own + _by_problem(step, own) * other for own, other in parts))

    def where(self, library: ArrayLibrary, problems: Array, other: State) -> State:
        """Of these problems, and the other one of the others; `problems`: (folds, C)."""
        parts = zip(self, other, strict=True)
        return State(*(library.where(_by_problem(problems, own), own, given) for own, given in parts))


def _by_problem(values: Array, part: Array) -> Array:
    """(folds, C) values, with as many axes as a part of a state has."""
    return values.reshape(*values.shape, *[1] * (part.ndim - 2))


class Move(NamedTuple):
    """What Newton's method adds to an iterate."""

    beta: Array
    score: Array
    b: Array
    alpha: Array


@dataclass(frozen=True)
class Stacks:
    """The problems but for their caps, in the units of scaled_problem.py.

    K               (folds, samples, samples)
    factor          (folds, samples, rank): F, where K = FF' has a low rank
    sign, offset    (folds, 1, samples, columns)
    has             the same: 1 where there is a hinge, else 0
    member          (columns, thresholds): which threshold a column is about
    penalty         of ½‖b‖²
    """

    library: ArrayLibrary
    K: Array
    sign: Array
    offset: Array
    has: Array
    member: Array
    penalty: float
    factor: Array | None = None

    def slope(self, x: State) -> Array:
        """G."""
        level = (x.b @ self.member.T)[:, :, None]
        return self.sign * (x.score[..., None] - level) - self.offset

    def product(self, beta: Array) -> Array:
        """Kβ."""
        return (self.K @ beta.swapaxes(1, 2)).swapaxes(1, 2)


class StackedSystem:
    """Newton's equations at an iterate, for all problems: newton_system.py has them for one.

    Samples without a weight leave the system where they are many, as at a crossover; what it has no solution for is
    NaN.
    """

    def __init__(self, stacks: Stacks, x: State, weight: Array) -> None:
        self._stacks, self._weight = stacks, weight
        library = stacks.library
        total = self._weight.sum(-1)
        self._root = total**0.5
        is_free = total > 0
        self._inverse = library.where(is_free, 1.0 / library.where(is_free, total, 1.0 + total), 0.0 * total)
        self._kept = _most_weighted(library, is_free)
        self._scaled = self._scaled_system()
        signed = stacks.sign * x.alpha
        self._left_beta = signed.sum(-1) - x.beta
        self._left_b = -(signed.sum(2) @ stacks.member) - stacks.penalty * x.b
        self._by_threshold = self._weight @ stacks.member
        self._share = self._by_threshold * self._inverse[..., None]
        self._response = self._solve(self._by_threshold)
        self._matrix = self._threshold_matrix()

    def _rows(self, values: Array) -> Array:
        """Of (folds, C, samples, sides), the samples that the system is about."""
        return values if self._kept is None else values[self._kept]

    def _scaled_system(self) -> StackedCholesky | LowRankSystem:
        root, factor = self._rows(self._root[..., None]), self._stacks.factor
        if factor is None or factor.shape[-1] > MOST_RANK * root.shape[-2]:
            return StackedCholesky(self._stacks.library, self._stack())
        own = factor[:, None] if self._kept is None else factor[self._kept[0], self._kept[2]]
        return LowRankSystem(self._stacks.library, (root * own).reshape(-1, root.shape[-2], own.shape[-1]))

    def _stack(self) -> Array:
        """√W K √W + I between these; of the fused ones the lower triangle."""
        root = self._rows(self._root[..., None])
        if self._stacks.library.fuses:
            from ordsvm.solvers.kernel.fused_stacks import scaled

            return scaled(self._stacks.K, None if self._kept is None else self._kept[2], root[..., 0])
        stack = self._values() * root
        stack *= root.swapaxes(-1, -2)
        stack = stack.reshape(-1, *stack.shape[2:])
        places = self._stacks.library.span(0, stack.shape[-1])
        stack[:, places, places] += 1.0
        return stack

    def _values(self) -> Array:
        """Of the kernel between these."""
        if self._kept is None:
            return self._stacks.K[:, None]
        fold, _, sample = self._kept
        return self._stacks.K[fold[..., None], sample[..., :, None], sample[..., None, :]]

    def _solve(self, right: Array) -> Array:
        """Z of (K + D) Z = D · right for (folds, C, samples, sides); where W is 0, Z is 0."""
        scaled = self._rows((self._inverse**0.5)[..., None] * right)
        shape = tuple(scaled.shape)
        inner = self._scaled.solve(scaled.reshape(shape[0] * shape[1], *shape[2:])).reshape(shape)
        inner = self._rows(self._root[..., None]) * inner
        if self._kept is None:
            return inner
        found = 0.0 * right
        found[self._kept] = inner
        return found

    def _threshold_matrix(self) -> Floats:
        library, share = self._stacks.library, self._share.swapaxes(-1, -2)
        m = share.shape[-2]
        if m == 0:
            return np.zeros((*share.shape[:2], 0, 0))
        apart = library.host(share @ self._by_threshold) * (1.0 - np.eye(m))
        through = library.host(share @ self._response)
        diagonal = np.eye(m) * (self._stacks.penalty + apart.sum(-1))[..., None]
        return diagonal - apart + 0.5 * (through + through.swapaxes(-1, -2))

    def move(self, force: Array) -> Move:
        """Where forces on the hinges lead."""
        stacks = self._stacks
        library, signed = stacks.library, stacks.sign * force
        weighted = self._weight * signed
        beta = self._solve((self._left_beta + weighted.sum(-1))[..., None])[..., 0]
        mean = weighted.sum(-1) * self._inverse
        spread = (self._weight * (mean[..., None] - signed)).sum(2) @ stacks.member
        shares = (self._share * (self._left_beta - beta)[..., None]).sum(2)
        b = library.array(_solved(self._matrix, library.host(self._left_b + spread + shares)))
        beta = beta + (self._response @ b[..., None])[..., 0]
        score = stacks.product(beta)
        level = (b @ stacks.member.T)[:, :, None]
        return Move(beta, score, b, self._weight * (force - stacks.sign * (score[..., None] - level)))


def _most_weighted(library: ArrayLibrary, has_weight: Array) -> tuple[Array, Array, Array] | None:
    """Places in (folds, C, samples) of samples with weights, as many of every problem; None where they are most."""
    n_folds, n_C, n = has_weight.shape
    most = max(1, int(has_weight.sum(-1).max()))
    if most > MOST_KEPT * n:
        return None
    fold, c = library.span(0, n_folds).reshape(-1, 1, 1), library.span(0, n_C).reshape(1, -1, 1)
    return fold, c, library.flagged_first(has_weight)[..., :most]


def _solved(matrices: Floats, right: Floats) -> Floats:
    """Of small systems that are positive semidefinite but for rounding; NaN where one is not."""
    if right.shape[-1] == 0:
        return right
    size = np.abs(matrices).max(axis=(-2, -1), keepdims=True)
    ridge = np.where(size > 0, 1e-14 * size, 1.0)  # without a free hinge nothing determines thresholds: they stay
    matrices, right = matrices + ridge * np.eye(right.shape[-1]), np.where(size[..., 0] > 0, right, 0.0)
    found: Floats = np.full(right.shape, np.nan)
    try:
        found[...] = np.linalg.solve(matrices, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        for place in np.ndindex(right.shape[:-1]):
            with suppress(np.linalg.LinAlgError):
                found[place] = np.linalg.solve(matrices[place], right[place])
    return found
