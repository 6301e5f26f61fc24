"""The linear system of a Newton step, (K_II + D + EE') x = q over the free samples I.

Few samples: a Cholesky factor. Many: conjugate gradients, whose products make K anew, preconditioned by
BB' + diag(residual) + D + EE' with BB' the Nyström approximation of K on randomly drawn samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.kernels.products.host import KernelProducts

JITTER = 1e-6  # on the diagonal of drawn samples, and the least residual, as a share of the largest value of K
BLOCK = 65536  # rows at a time
MOST_ITERATIONS = 200  # of conjugate gradients
FEW_FREE = 30000  # samples up to which an iteration takes a GPU less time than its launches take the host
MOST_FACTORED = 45000  # samples up to which a system that these do not solve is factored, on a GPU
MOST_FACTORED_ON_CPU = 10000

Stop = Callable[[], object]  # raises an exception where the fit is to end


class NotSemidefinite(FloatingPointError):
    """The kernel has a negative eigenvalue."""


class Nystroem:
    """K ≈ BB' + diag(residual) over the first so many samples."""

    def __init__(self, library: ArrayLibrary, products: KernelProducts, size: int, rank: int, seed: int) -> None:
        drawn = library.permutation(size, seed)[: max(1, min(rank, size // 4))]
        diagonal = products.diagonal(size)
        jitter = JITTER * (float(diagonal.max()) or 1.0)
        lower = library.cholesky(products.part(drawn, drawn) + jitter * library.eye(len(drawn)))
        if lower is None:
            raise NotSemidefinite
        factors, residuals = [], []
        for i in range(0, size, BLOCK):
            rows = library.span(i, min(i + BLOCK, size))
            factor = library.solve_lower(lower, products.part(drawn, rows)).T
            factors.append(library.compact(factor))
            residuals.append(library.clip(diagonal[i : i + BLOCK] - (factor * factor).sum(1), jitter, math.inf))
        self.factor = library.join(factors)
        self.residual = library.join(residuals)


class Accuracy(NamedTuple):
    """When conjugate gradients end: where the error ρ in the norm of Newton's model, that of D⁻¹, is `share` of the
    size of the step, or ρ is nowhere above `least` and its norm a fifth of that size."""

    share: float
    least: float

    def is_met(self, norm2: float, top: float, size2: float) -> bool:
        """By the square of ρ's norm, its largest entry, and the square of the step's size."""
        fine = norm2 <= self.share**2 * size2 or (top <= self.least and norm2 <= 0.04 * size2)
        return (size2 > 0 and fine) or top <= 1e-7 * self.least


@dataclass
class NewtonSystem:
    """The system for the samples `free`; `iterations`: those of conjugate gradients."""

    library: ArrayLibrary
    products: KernelProducts
    free: Array
    diagonal: Array
    low_rank: Array
    iterations: int = 0

    def solve_directly(self, right: Array) -> Array:
        matrix = self.products.part(self.free, self.free) + self.low_rank @ self.low_rank.T
        places = self.library.span(0, len(self.free))
        matrix[places, places] += self.diagonal
        lower = self.library.cholesky(matrix)
        if lower is None:
            raise NotSemidefinite
        return self.library.solve_factored(lower, right)

    def solve_by_gradients(
        self, right: Array, nystroem: Nystroem, size: Callable[[Array, Array], Array], accuracy: Accuracy, stop: Stop
    ) -> Array:
        """`size` of a solution and its residual: the square of the step's size in the norm of Newton's model."""
        precondition = self._preconditioner(nystroem)
        rows = self.products.rows(self.free)
        x, residual, inverse_diagonal = 0.0 * right, 1.0 * right, 1.0 / self.diagonal
        z = precondition(residual)
        p, rz = z, residual @ z
        looks_back = self.library.queues and len(right) <= FEW_FREE  # at the iteration before: no waiting for the host
        seen: Callable[[], list[float]] | None = None
        while self.iterations < MOST_ITERATIONS:
            stop()
            self.iterations += 1
            image = self.products.product(rows, rows, p) + self.diagonal * p + self.low_rank @ (self.low_rank.T @ p)
            step = rz / (p @ image)
            x = x + step * p
            before, residual = residual, residual - step * image
            sizes = residual @ (residual * inverse_diagonal), abs(residual).max(), size(x, residual)
            seen, last = self.library.floats_later(*sizes), seen
            if not looks_back:
                last = seen
            if last is not None:
                norm2, top, size2 = last()
                if not math.isfinite(norm2):
                    break
                if accuracy.is_met(norm2, top, size2):
                    return x
            z = precondition(residual)
            p, rz = z + (z @ (residual - before)) / rz * p, residual @ z
        most = MOST_FACTORED if self.library.fuses else MOST_FACTORED_ON_CPU
        if len(right) > most:
            return x
        try:
            return self.solve_directly(right)
        except self.library.out_of_memory:
            self.library.release()
            return x

    def _preconditioner(self, nystroem: Nystroem) -> Callable[[Array], Array]:
        library, low_rank = self.library, self.low_rank
        factor = nystroem.factor[self.free]
        diagonal = self.diagonal + nystroem.residual[self.free]
        rank = factor.shape[1]
        inner = library.eye(rank + low_rank.shape[1])
        for i in range(0, len(diagonal), BLOCK):
            part = slice(i, i + BLOCK)
            both = library.join([library.array(factor[part]), low_rank[part]], axis=1)
            inner = inner + both.T @ (both / diagonal[part][:, None])
        lower = library.cholesky(inner)
        if lower is None:
            raise FloatingPointError("The preconditioner is not positive definite.")
        root = library.solve_lower(lower, library.eye(len(lower)))  # one solve: an inverse of lower·lower' takes three

        def precondition(values: Array) -> Array:
            scaled = values / diagonal
            small = library.array(factor.T @ library.compact(scaled))
            w = root.T @ (root @ library.join([small, low_rank.T @ scaled]))
            back = library.array(factor @ library.compact(w[:rank])) + low_rank @ w[rank:]
            return scaled - back / diagonal

        return precondition
