"""The few array operations that NumPy and torch write differently, so that array code is written once for both.

Arrays are float64 unless a name says otherwise; operators, indexing and `sum(axis)` are those that both have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np
import scipy.linalg

from ordsvm._typing import Floats

Array = Any  # ndarray or tensor


class ArrayLibrary(Protocol):
    """Operations on the arrays of one library on one device."""

    fuses: bool  # whether Triton makes kernels for its device
    queues: bool  # whether operations return before they are done
    out_of_memory: type[Exception]  # what is raised where an array does not fit into memory

    def current(self) -> AbstractContextManager[Any]:
        """Within it, kernels are launched on this device."""

    def apart(self) -> AbstractContextManager[Any]:
        """Within it, operations of this thread do not wait for those of others; they are done where it ends."""

    def array(self, values: Any) -> Array:
        """A float64 array here, without a copy where it is one already."""

    def index(self, values: Any) -> Array:
        """An int64 array here."""

    def span(self, begin: int, end: int) -> Array:
        """begin, begin + 1, …, end − 1 as such an array."""

    def host(self, values: Array) -> Floats:
        """The same numbers as an ndarray."""

    def floats(self, *scalars: Array) -> list[float]:
        """Scalars as Python numbers, fetched together."""

    def floats_later(self, *scalars: Array) -> Callable[[], list[float]]:
        """The same, fetched while more is computed: what it returns waits for them, and for nothing begun since."""

    def fetch_later(self, values: Array) -> Callable[[], list[float]]:
        """The same for the numbers of an array, which may be changed afterwards."""

    def zeros(self, *shape: int) -> Array: ...

    def eye(self, size: int) -> Array: ...

    def where(self, condition: Array, yes: Array, no: Array) -> Array: ...

    def clip(self, values: Array, low: Array, high: Array) -> Array: ...

    def root(self, values: Array) -> Array:
        """Square roots."""

    def add(self, matrix: Array, low_rank: Array, diagonal: Array) -> None:
        """matrix += EE' + a diagonal."""

    def add_product(self, out: Array, left: Array, right: Array, factor: float = 1.0) -> None:
        """out += factor · left @ right, of matrices or stacks of them."""

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """left @ right of stacks of matrices, into another array where one is given."""

    def product(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """Element by element, into an array where one is given."""

    def number(self, flags: Array) -> Array:
        """Flags as 0.0 and 1.0."""

    def compact(self, values: Array) -> Array:
        """In float32 where that saves time, for what need not be precise."""

    def compact_zeros(self, *shape: int) -> Array:
        """Zeros of the kind that `compact` makes."""

    def largest(self, values: Array, axis: int) -> Array: ...

    def places(self, flags: Array) -> Array:
        """Where flags are set, ascending."""

    def join(self, parts: Sequence[Array], axis: int = 0) -> Array: ...

    def permutation(self, size: int, seed: int) -> Array:
        """A random order of the first so many numbers."""

    def cholesky(self, matrix: Array) -> Array | None:
        """The lower factor, or that of every matrix of a stack; None where one is not positive definite."""

    def cholesky_or_nan(self, matrices: Array) -> Array:
        """The lower factors of a stack; NaN for those that are not positive definite, which is not waited for."""

    def flagged_first(self, flags: Array) -> Array:
        """Places along the last axis: those whose flags are set, then the others."""

    def inverse_of_lower(self, lower: Array) -> Array:
        """The inverse of a lower triangular matrix, or of every one of a stack."""

    def solve_factored(self, lower: Array, right: Array) -> Array:
        """x with lower·lower'·x = right."""

    def free_memory(self) -> float:
        """Bytes; NaN where that is not known."""

    def release(self) -> None:
        """Gives memory back that is kept for arrays to come."""


class NumpyLibrary:
    """NumPy."""

    fuses = False
    queues = False
    out_of_memory: type[Exception] = MemoryError

    def current(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def apart(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def array(self, values: Any) -> Array:
        return np.asarray(values, dtype=np.float64)

    def index(self, values: Any) -> Array:
        return np.asarray(values, dtype=np.int64)

    def span(self, begin: int, end: int) -> Array:
        return np.arange(begin, end)

    def host(self, values: Array) -> Floats:
        return np.asarray(values)

    def floats(self, *scalars: Array) -> list[float]:
        return [float(scalar) for scalar in scalars]

    def floats_later(self, *scalars: Array) -> Callable[[], list[float]]:
        return lambda: self.floats(*scalars)

    def fetch_later(self, values: Array) -> Callable[[], list[float]]:
        return values.copy().tolist

    def zeros(self, *shape: int) -> Array:
        return np.zeros(shape)

    def eye(self, size: int) -> Array:
        return np.eye(size)

    def where(self, condition: Array, yes: Array, no: Array) -> Array:
        return np.where(condition, yes, no)

    def clip(self, values: Array, low: Array, high: Array) -> Array:
        return np.minimum(np.maximum(values, low), high)

    def root(self, values: Array) -> Array:
        return np.sqrt(values)

    def add(self, matrix: Array, low_rank: Array, diagonal: Array) -> None:
        matrix += low_rank @ low_rank.T
        matrix[np.diag_indices(len(diagonal))] += diagonal

    def add_product(self, out: Array, left: Array, right: Array, factor: float = 1.0) -> None:
        out += factor * (left @ right)

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return np.matmul(left, right, out=out)

    def product(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return np.multiply(left, right, out=out)

    def number(self, flags: Array) -> Array:
        return flags.astype(np.float64)

    def compact(self, values: Array) -> Array:
        return values

    def compact_zeros(self, *shape: int) -> Array:
        return np.zeros(shape)

    def largest(self, values: Array, axis: int) -> Array:
        return values.max(axis)

    def places(self, flags: Array) -> Array:
        return np.flatnonzero(flags)

    def join(self, parts: Sequence[Array], axis: int = 0) -> Array:
        return np.concatenate(parts, axis=axis)

    def permutation(self, size: int, seed: int) -> Array:
        return np.random.default_rng(seed).permutation(size)

    def cholesky(self, matrix: Array) -> Array | None:
        try:
            return np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return None

    def cholesky_or_nan(self, matrices: Array) -> Array:
        found = self.cholesky(matrices)
        if found is None:
            each = [self.cholesky(matrix) for matrix in matrices]
            found = np.stack([np.full(matrices.shape[1:], np.nan) if lower is None else lower for lower in each])
        return found

    def flagged_first(self, flags: Array) -> Array:
        return np.argsort(~flags, axis=-1, kind="stable")

    def inverse_of_lower(self, lower: Array) -> Array:
        return np.linalg.inv(lower)

    def solve_factored(self, lower: Array, right: Array) -> Array:
        if right.size == 0:  # which SciPy before 1.14 refuses
            return right
        return scipy.linalg.cho_solve((lower, True), right, check_finite=False)

    def free_memory(self) -> float:
        return math.nan

    def release(self) -> None:
        pass
