"""All of K in memory: kernel matrices that a search computes once, for all C and all folds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats, Ints
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.given import Custom, warn_of_diagonal
from ordsvm.kernels.matrix import KernelMatrix

T = TypeVar("T")

_BLOCK_BYTES = 32 * 2**20  # of kernel values computed at a time


class SampleNumbers(np.ndarray):
    """A column of numbers that stand for samples whose kernel values are in memory: there is nothing to check."""

    @classmethod
    def up_to(cls, n: int) -> SampleNumbers:
        return np.arange(n, dtype=np.float64)[:, np.newaxis].view(cls)


@dataclass(frozen=True, eq=False)
class FullKernel(Kernel):
    """The kernel of samples whose values are all in memory: what stands for a sample is its number.

    Machines take it as any other kernel; their samples are numbers, one column of them. What a fold needs is cut out
    once, and serves all fits of the fold one after the other. `all_scores`: those of a trained machine, a row for every
    sample and a column for every problem, where the fit has computed them.
    """

    values: Any  # of the core; None where all_scores are all that is asked for
    all_scores: Floats | None = None
    _matrix: dict[bytes, KernelMatrix] = field(default_factory=dict, repr=False)
    _tested: dict[bytes, Floats] = field(default_factory=dict, repr=False)

    def __call__(self, X: Any, Y: Any) -> Floats:
        return self.values.values().take(_numbers(X), axis=0).take(_numbers(Y), axis=1)

    def rows(self, X: Any) -> _core.Rows:
        return _core.precomputed_rows(self(X, X))

    def matrix(self, X: Any, cache_size: float) -> KernelMatrix:
        return _kept(self._matrix, X.tobytes(), lambda: KernelMatrix(self.rows(X), cache_size))

    def scores(self, X: Any, Y: Any, beta: Floats, n_threads: int = 1) -> Floats:
        if self.all_scores is not None:
            return self.all_scores[_numbers(X)].reshape(len(X), *beta.shape[1:])
        rows = _kept(self._tested, X.tobytes(), lambda: self.values.values()[_numbers(X)])
        everywhere = np.zeros((len(self.values), *beta.shape[1:]))
        everywhere[_numbers(Y)] = beta
        return rows @ everywhere


class FullKernelMatrix:
    """The same values with the interface of a `KernelMatrix`, as Newton's method takes it."""

    def __init__(self, values: _core.FullKernel) -> None:
        self._full = values
        self._values = values.values()
        self.largest = values.largest

    def part(self, rows: Ints, columns: Ints, n_threads: int) -> Floats:
        return self._values[np.ix_(rows, columns)]

    def product(self, beta: Floats, n_threads: int) -> Floats:
        score = np.empty(self._full.stride)
        self._full.product(beta, score)
        return score[: len(beta)]


def _kept(store: dict[bytes, T], key: bytes, make: Callable[[], T]) -> T:
    """What was made last, if it was made for the same key."""
    if key not in store:
        store.clear()
        store[key] = make()
    return store[key]


def _numbers(X: Any) -> Ints:
    return X[:, 0].astype(np.int64)


def full_kernel(kernel: Kernel, X: Any, n_threads: int) -> _core.FullKernel:
    """k(x, y) for all rows of X; a callable kernel is called for many rows at a time, once."""
    rows = _core.precomputed_rows(_kernel_values(kernel, X)) if isinstance(kernel, Custom) else kernel.rows(X)
    return _core.FullKernel(rows, n_threads)


def _kernel_values(kernel: Kernel, X: Any) -> Floats:
    """Row block by row block, so that little memory is needed beside the matrix."""
    n = X.shape[0]
    step = max(1, _BLOCK_BYTES // (8 * n))
    values = np.empty((n, n))
    for i in range(0, n, step):
        values[i : i + step] = kernel(X[i : i + step], X)
    warn_of_diagonal(values.diagonal())
    return values


class KeptKernels:
    """Matrices that are not dropped after their last use, as many as a number of bytes has room for."""

    def __init__(self, n_bytes: float) -> None:
        self._room = n_bytes
        self._lock = threading.Lock()
        self.matrices: dict[Hashable, _core.FullKernel] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has none: jobs that share matrices are threads."""
        return KeptKernels, (0.0,)

    def keep(self, name: Hashable, matrix: _core.FullKernel) -> None:
        with self._lock:
            size = 12.0 * len(matrix) ** 2  # in both precisions
            if name not in self.matrices and size <= self._room:
                self._room -= size
                self.matrices[name] = matrix


class FullKernelStore:
    """Kernel matrices by name, each made at its first use and dropped after its last.

    Several threads may need one at the same time: the first one computes it, the others wait.
    """

    def __init__(self, uses: Iterable[Hashable], n_threads: int = 1, kept: KeptKernels | None = None) -> None:
        self._n_threads = n_threads
        self._left = Counter(uses)
        self._kept = KeptKernels(0) if kept is None else kept
        self._matrices: dict[Hashable, _core.FullKernel] = {}
        self._locks = {name: threading.Lock() for name in self._left}

    def get(self, name: Hashable, kernel: Kernel, X: Any) -> _core.FullKernel:
        with self._locks[name]:
            if name not in self._matrices:
                known = self._kept.matrices.get(name)
                self._matrices[name] = full_kernel(kernel, X, self._n_threads) if known is None else known
                self._kept.keep(name, self._matrices[name])
            return self._matrices[name]

    def used(self, name: Hashable) -> None:
        with self._locks[name]:
            self._left[name] -= 1
            if self._left[name] == 0:
                self._matrices.pop(name, None)
