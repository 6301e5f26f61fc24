"""The linear system of a Newton step, (K_II + D + EE') x = q over the free samples I.

Few samples: a Cholesky factor. Many: conjugate gradients, whose products make K anew, with preconditioner.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.kernels.products.host import KernelProducts
from ordsvm.solvers.kernel.proximal_newton.preconditioner import NotSemidefinite, Nystroem, Preconditioner
from ordsvm.solvers.kernel.stacked_cholesky import StackedCholesky

MOST_ITERATIONS = 200  # of conjugate gradients
FEW_FREE = 30000  # samples up to which an iteration takes a GPU less time than its launches take the host
LARGE = 12000  # samples from which on the matrix is factored in place
MOST_FACTORED = 45000  # samples up to which a system that these do not solve is factored, on a GPU
MOST_FACTORED_ON_CPU = 10000

Stop = Callable[[], object]  # raises an exception where the fit is to end


class Accuracy(NamedTuple):
    """When conjugate gradients end: where the error ρ in the norm of Newton's model, that of D⁻¹, is `share` of the
    size of the step, or ρ is nowhere above `least` and its norm a fifth of that size."""

    share: float
    least: float

    def is_met(self, norm2: float, top: float, size2: float) -> bool:
        """By the square of ρ's norm, its largest entry, and the square of the step's size."""
        fine = norm2 <= self.share**2 * size2 or (top <= self.least and norm2 <= 0.04 * size2)
        return (size2 > 0 and fine) or top <= 1e-7 * self.least


class Step(NamedTuple):
    """What is solved for: x, for the right side q; r and the constant tell the size of the Newton step."""

    right: Array
    r: Array
    constant: Array

    def size2(self, x: Array, residual: Array) -> Array:
        """The square of the step's size in the norm of Newton's model, −r'df − r_b'db, for a solution x and what it
        leaves of the right side: K x = q − residual − D x − EE'x, and all that is linear in x adds up to −q'x."""
        return self.constant - self.right @ x + self.r @ residual


Sizes = Callable[[], list[float]]  # the square of ρ's norm, its largest entry, the square of the step's size


class Gradients(Protocol):
    """Conjugate gradients under way."""

    x: Array

    def iterate(self) -> Sizes:
        """One more iteration; what it returns waits for it."""


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
        matrix = self.products.part(self.free, self.free)
        self.library.add(matrix, self.low_rank, self.diagonal)
        if len(matrix) > LARGE:
            found = StackedCholesky(self.library, matrix[None]).solve(right[None, :, None])[0, :, 0]
            if not math.isfinite(float(found.sum())):
                raise NotSemidefinite
            return found
        lower = self.library.cholesky(matrix)
        if lower is None:
            raise NotSemidefinite
        return self.library.solve_factored(lower, right)

    def solve_by_gradients(self, step: Step, nystroem: Nystroem, accuracy: Accuracy, stop: Stop) -> Array:
        gradients = self._gradients(step, nystroem)
        looks_back = self.library.queues and len(step.right) <= FEW_FREE  # at the one before: no waiting for the host
        seen: Sizes | None = None
        while self.iterations < MOST_ITERATIONS:
            stop()
            self.iterations += 1
            seen, last = gradients.iterate(), seen
            if not looks_back:
                last = seen
            if last is not None:
                norm2, top, size2 = last()
                if not math.isfinite(norm2):
                    break
                if accuracy.is_met(norm2, top, size2):
                    return gradients.x
        most = MOST_FACTORED if self.library.fuses else MOST_FACTORED_ON_CPU
        if len(step.right) > most:
            return gradients.x
        try:
            return self.solve_directly(step.right)
        except self.library.out_of_memory:
            self.library.release()
            return gradients.x

    def _gradients(self, step: Step, nystroem: Nystroem) -> Gradients:
        preconditioner = Preconditioner.of(nystroem, self.free, self.diagonal, self.low_rank)
        if self.library.fuses:
            from ordsvm.solvers.kernel.proximal_newton.fused_gradients import FusedGradients

            return FusedGradients(self, step, preconditioner)
        return PlainGradients(self, step, preconditioner)


class PlainGradients:
    """By operations on whole arrays."""

    def __init__(self, system: NewtonSystem, step: Step, preconditioner: Preconditioner) -> None:
        self._system, self._step, self._by = system, step, preconditioner
        self._rows = system.products.rows(system.free)
        self._weight = 1.0 / system.diagonal
        self.x, self._residual = 0.0 * step.right, 1.0 * step.right
        self._last: tuple[Array, Array, Array] | None = None  # direction, residual before and its product with z

    def iterate(self) -> Sizes:
        system = self._system
        z = self._by.solve(self._residual)
        rz, p = self._residual @ z, z
        if self._last is not None:
            direction, before, last_rz = self._last
            p = z + (z @ (self._residual - before)) / last_rz * direction
        low_rank = system.low_rank
        image = system.products.product(self._rows, self._rows, p) + system.diagonal * p + low_rank @ (low_rank.T @ p)
        step = rz / (p @ image)
        self._last = p, self._residual, rz
        self.x = self.x + step * p
        self._residual = self._residual - step * image
        norm2 = self._residual @ (self._residual * self._weight)
        top, size2 = abs(self._residual).max(), self._step.size2(self.x, self._residual)
        return system.library.floats_later(norm2, top, size2)
