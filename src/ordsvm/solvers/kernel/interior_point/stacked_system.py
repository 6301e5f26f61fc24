"""Newton's equations of an interior-point method for stacks of problems, with everything of a single hinge eliminated.

    dβ = r_β + Σ_i s·dα        df = K dβ        p·db = r_b − Σ_k s·dα − E'(h·E db)        dα = w (g − s(df − db))

w is how much a hinge gives way, g the force on it, h the stiffness of the order of thresholds; r_β and r_b are what is
left over in β = Σsα and p·b = −γ + E'ν. With W the sums of w over samples, D = 1/W and V the sums over samples and
thresholds, (K + D) dβ = D (r_β + Σ_i s·w·g + V db), and a system over thresholds is left:

    (p + L + (DV)'Z + E'hE) db = r_b + Σ_v w (mean of s·g over the sample − s·g) + (DV)'(r_β − z)

where Z and z solve (K + D) Z = DV and (K + D) z = D (r_β + Σ_i s·w·g). L = diag(ΣV) − V'DV has zero row sums, and a
sample with one hinge has no part in it nor in the spread of s·g: both are computed as differences, not as what large
sums leave.

The systems of K are those of one problem by LAPACK (kernel_system.py), or those of many together (`StackedKernel`),
scaled to √W K √W + I, which is positive definite whatever W is, and has ones for samples without hinges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ordsvm._typing import Flags, Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.solvers.kernel.interior_point.stacked_low_rank import MOST_RANK, LowRankSystem
from ordsvm.solvers.kernel.interior_point.stacks import CentralPathPoint, Stacks
from ordsvm.solvers.kernel.stacked_cholesky import StackedCholesky

MOST_KEPT = 0.8  # share of samples in a system from which on it is about all of them
SINGULAR = 1e-15  # share of the largest eigenvalue


class NewtonMove(NamedTuple):
    """What Newton's method adds to a point."""

    beta: Array
    score: Array
    b: Array
    alpha: Array


class StackedSystem:
    """Newton's equations at a point, for all problems and given w and h; NaN where they have no solution."""

    def __init__(self, stacks: Stacks, x: CentralPathPoint, weight: Array, stiffness: Array) -> None:
        self._stacks, self._weight = stacks, weight
        library, total = stacks.library, weight.sum(-1)
        is_free = total > 0
        self._inverse = library.where(is_free, 1.0 / library.where(is_free, total, 1.0 + total), 0.0 * total)
        heaviest = library.number(weight == library.largest(weight, -1)[..., None])
        self._heaviest = heaviest / heaviest.sum(-1)[..., None]
        signed = stacks.sign * x.alpha
        self._left_beta = signed.sum(-1) - x.beta
        self._left_b = stacks.order_sums(x.order) if stacks.is_ordered else -stacks.penalty * x.b
        self._left_b = self._left_b - stacks.gamma(signed)
        stacks.kernel.weigh(total, self._inverse)
        if stacks.member.shape[1]:
            self._eliminate_samples(weight @ stacks.member, stiffness)

    def _eliminate_samples(self, by_threshold: Array, stiffness: Array) -> None:
        host = self._stacks.library.host
        self._share = by_threshold * self._inverse[..., None]
        self._beta_response, self._score_response = self._stacks.kernel.solve(by_threshold)
        share = self._share.swapaxes(-1, -2)
        m = share.shape[-2]
        apart = host(share @ by_threshold) * (1.0 - np.eye(m))
        through = host(share @ self._beta_response)
        diagonal = np.eye(m) * (self._stacks.penalty + apart.sum(-1))[..., None]
        self._matrix = diagonal - apart + 0.5 * (through + through.swapaxes(-1, -2))
        if self._stacks.is_ordered:
            ends = np.diff(np.eye(m), axis=0)
            self._matrix += ends.T @ (host(stiffness)[..., None] * ends)

    def move(self, force: Array, pull: Array) -> NewtonMove:
        """Return the move that forces on the hinges and on the order of thresholds lead to."""
        stacks, signed = self._stacks, self._stacks.sign * force
        right = self._left_beta + (self._weight * signed).sum(-1)
        beta, score = (found[..., 0] for found in stacks.kernel.solve(right[..., None]))
        b = stacks.library.zeros(*beta.shape[:2], stacks.member.shape[1])
        if stacks.member.shape[1]:
            shares = (self._share * (self._left_beta - beta)[..., None]).sum(2)
            wanted = self._left_b + self._spread(signed) + shares
            if stacks.is_ordered:
                wanted = wanted + stacks.order_sums(pull)
            b = stacks.library.array(_solved(self._matrix, stacks.library.host(wanted)))
            beta = beta + (self._beta_response @ b[..., None])[..., 0]
            score = score + (self._score_response @ b[..., None])[..., 0]
        level = (b @ stacks.member.T)[:, :, None]
        return NewtonMove(beta, score, b, self._weight * (force - stacks.sign * (score[..., None] - level)))

    def _spread(self, force: Array) -> Array:
        """Return Σ_v w (mean − s·g), measured from the hinge with the sample's largest w: one alone gives exactly 0."""
        apart = force - (self._heaviest * force).sum(-1)[..., None]
        mean = (self._weight * apart).sum(-1) * self._inverse
        return self._stacks.gamma(self._weight * (mean[..., None] - apart))


class StackedKernel:
    """K of every fold, (folds, samples, samples), and F if K = FF' has a low rank: the systems of many problems.

    Samples without a weight leave the systems where they are many, as at a crossover.
    """

    def __init__(self, library: ArrayLibrary, K: Array, factor: Array | None = None) -> None:
        self._library, self._K, self._factor = library, K, factor

    def product(self, beta: Array) -> Array:
        return (self._K @ beta.swapaxes(1, 2)).swapaxes(1, 2)

    def weigh(self, weight: Array, inverse: Array) -> None:
        self._system: StackedCholesky | LowRankSystem | None = None  # memory that the next one needs
        library = self._library
        self._root, self._inverse_root = weight**0.5, inverse**0.5
        self._kept = _most_weighted(library, weight > 0)
        root = self._rows(self._root[..., None])
        if self._factor is None or self._factor.shape[-1] > MOST_RANK * root.shape[-2]:
            self._system = StackedCholesky(library, self._scaled(root))
        else:
            factor, kept = self._factor, self._kept
            own = factor[:, None] if kept is None else factor[kept[0], kept[2]]
            self._system = LowRankSystem(library, (root * own).reshape(-1, root.shape[-2], own.shape[-1]))

    def solve(self, right: Array) -> tuple[Array, Array]:
        assert self._system is not None
        scaled = self._rows(self._inverse_root[..., None] * right)
        shape = tuple(scaled.shape)
        inner = self._system.solve(scaled.reshape(shape[0] * shape[1], *shape[2:])).reshape(shape)
        found = inner = self._rows(self._root[..., None]) * inner
        if self._kept is not None:
            found = 0.0 * right
            found[self._kept] = inner
        beside = found.swapaxes(1, 2)
        scores = self._K @ beside.reshape(*beside.shape[:2], -1)
        return found, scores.reshape(beside.shape).swapaxes(1, 2)

    def _rows(self, values: Array) -> Array:
        """Return those of (folds, C, samples, sides) that the systems are about."""
        return values if self._kept is None else values[self._kept]

    def _scaled(self, root: Array) -> Array:
        """Return √W K √W + I for these rows, of the fused ones the lower triangle."""
        if self._library.fuses:
            from ordsvm.solvers.kernel.fused_stacks import scaled

            return scaled(self._K, None if self._kept is None else self._kept[2], root[..., 0])
        if self._kept is None:
            stack = self._K[:, None] * root
        else:
            fold, _, sample = self._kept
            stack = self._K[fold[..., None], sample[..., :, None], sample[..., None, :]] * root
        stack *= root.swapaxes(-1, -2)
        stack = stack.reshape(-1, *stack.shape[2:])
        places = self._library.span(0, stack.shape[-1])
        stack[:, places, places] += 1.0
        return stack


def _most_weighted(library: ArrayLibrary, has_weight: Array) -> tuple[Array, Array, Array] | None:
    """Return places in (folds, C, samples) of samples with weights, as many of every problem; None if they are most."""
    n_folds, n_C, n = has_weight.shape
    most = max(1, int(has_weight.sum(-1).max()))
    if most > MOST_KEPT * n:
        return None
    fold, c = library.span(0, n_folds).reshape(-1, 1, 1), library.span(0, n_C).reshape(1, -1, 1)
    return fold, c, library.flagged_first(has_weight)[..., :most]


def _solved(matrices: Floats, right: Floats) -> Floats:
    """Solve small systems that are positive semidefinite but for rounding; NaN where one is not finite.

    They are scaled to diagonals of ones, and what rounding makes singular is left out: without a free hinge nothing
    determines thresholds, and these stay.
    """
    is_finite: Flags = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)) & np.isfinite(right).all(axis=-1))
    matrices = np.where(is_finite[..., None, None], matrices, 0.0)
    scale = np.sqrt(np.maximum(np.diagonal(matrices, axis1=-2, axis2=-1), 0.0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = np.linalg.eigh(matrices * inverse[..., None] * inverse[..., None, :])
    inner = (vectors.swapaxes(-1, -2) @ (inverse * right)[..., None])[..., 0]
    inner = np.divide(inner, values, out=np.zeros_like(values), where=values > SINGULAR * values[..., -1:])
    return np.where(is_finite[..., None], inverse * (vectors @ inner[..., None])[..., 0], np.nan)
