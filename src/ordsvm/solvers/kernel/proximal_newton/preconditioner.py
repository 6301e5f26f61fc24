"""The preconditioner of a Newton system over the samples I: BB' + diag(residual) + D + EE', with BB' the Nyström
approximation of K on randomly drawn samples."""

from __future__ import annotations

import math
from typing import NamedTuple

from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.kernels.products.host import KernelProducts
from ordsvm.solvers.kernel.stacked_cholesky import inverse_of_factor

JITTER = 1e-6  # on the diagonal of drawn samples, and the least residual, as a share of the largest value of K
SAMPLED = 8192  # samples that tell the mean residual
BLOCK = 16384  # rows at a time
COLUMNS = 512  # of the inner matrix at a time


class NotSemidefinite(FloatingPointError):
    """The kernel has a negative eigenvalue."""


class Nystroem:
    """K ≈ BB' + diag(residual) over the first so many samples; a row of B is made when it is first asked for."""

    def __init__(self, library: ArrayLibrary, products: KernelProducts, size: int, rank: int, seed: int) -> None:
        self.library, self._products = library, products
        self._drawn = drawn = library.permutation(size, seed)[: max(1, min(rank, size // 4))]
        self._diagonal = products.diagonal(size)
        self._jitter = JITTER * (float(self._diagonal.max()) or 1.0)
        self._root = inverse_of_factor(library, products.part(drawn, drawn) + self._jitter * library.eye(len(drawn)))
        if not math.isfinite(float(self._root.sum())):
            raise NotSemidefinite
        self._factor, self._residual = library.compact_zeros(size, len(drawn)), library.zeros(size)
        self._is_made = library.zeros(size)

    def rows(self, which: Array) -> tuple[Array, Array]:
        """Rows of B, and residuals."""
        missing = which[self.library.places(self._is_made[which] == 0)]
        for i in range(0, len(missing), BLOCK):
            self._make(missing[i : i + BLOCK])
        return self._factor[which], self._residual[which]

    def _make(self, which: Array) -> None:
        factor = self._products.part(which, self._drawn) @ self._root.T
        left = self._diagonal[which] - (factor * factor).sum(1)
        self._factor[which] = self.library.compact(factor)
        self._residual[which] = self.library.clip(left, self._jitter, math.inf)
        self._is_made[which] = 1.0

    def mean_residual(self) -> float:
        """Of the first samples, which are in random order."""
        some = self.library.span(0, min(SAMPLED, len(self._residual)))
        return float(self.rows(some)[1].mean())


class Preconditioner(NamedTuple):
    """(BB' + EE' + diagonal)⁻¹ by the formula of Woodbury: `root` is the inverse of the lower factor of
    I + [B E]'[B E]/diagonal; NaN where rounding has left that no factor, which ends conjugate gradients."""

    library: ArrayLibrary
    factor: Array
    low_rank: Array
    diagonal: Array
    root: Array

    @classmethod
    def of(cls, nystroem: Nystroem, free: Array, diagonal: Array, low_rank: Array) -> Preconditioner:
        """For the samples `free`, with D their `diagonal` and E the part of the thresholds."""
        library = nystroem.library
        factor, residual = nystroem.rows(free)
        diagonal = diagonal + residual
        root = inverse_of_factor(library, _inner(library, factor, low_rank, diagonal))
        return cls(library, factor, low_rank, diagonal, root)

    def solve(self, values: Array) -> Array:
        library, rank = self.library, self.factor.shape[1]
        scaled = values / self.diagonal
        small = library.array(self.factor.T @ library.compact(scaled))
        w = self.root.T @ (self.root @ library.join([small, self.low_rank.T @ scaled]))
        back = library.array(self.factor @ library.compact(w[:rank])) + self.low_rank @ w[rank:]
        return scaled - back / self.diagonal


def _inner(library: ArrayLibrary, factor: Array, low_rank: Array, diagonal: Array) -> Array:
    """I + [B E]'[B E]/diagonal: the lower triangle, in blocks of columns, and what comes with these."""
    rank = factor.shape[1]
    inner = library.eye(rank + low_rank.shape[1])
    for i in range(0, len(diagonal), BLOCK):
        part = slice(i, i + BLOCK)
        root = library.root(diagonal[part])[:, None]
        B, E = library.array(factor[part]) / root, low_rank[part] / root
        for begin in range(0, rank, COLUMNS):
            columns = slice(begin, min(begin + COLUMNS, rank))
            library.add_product(inner[begin:rank, columns], B[:, begin:].T, B[:, columns])
        library.add_product(inner[rank:, :rank], E.T, B)
        library.add_product(inner[rank:, rank:], E.T, E)
    return inner
