"""Kernel matrices that a search computes once, for all C and all folds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm.kernels import Kernel, Precomputed
from ordsvm.solvers import KernelMatrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")

_BLOCK_BYTES = 32 * 2**20  # of kernel values computed at a time


class KnownMatrix(KernelMatrix):
    """A kernel matrix whose values are all in memory."""

    def __init__(self, values: Floats, cache_size: float) -> None:
        super().__init__(_core.precomputed_rows(values), cache_size)
        self.values = values


@dataclass(frozen=True, eq=False)
class KnownKernel(Kernel):
    """The kernel of samples whose values are all known: what stands for a sample is its number.

    So the machines need not know: they are given numbers as their samples, one column of them. What a fold needs is
    cut out once, and serves all fits of the fold one after the other.
    """

    values: Floats
    _matrix: dict[bytes, KnownMatrix] = field(default_factory=dict, repr=False)
    _tested: dict[bytes, Floats] = field(default_factory=dict, repr=False)

    def __call__(self, X: Any, Y: Any) -> Floats:
        return self.values.take(_numbers(X), axis=0).take(_numbers(Y), axis=1)

    def rows(self, X: Any) -> _core.Rows:
        return _core.precomputed_rows(self(X, X))

    def matrix(self, X: Any, cache_size: float) -> KnownMatrix:
        return _kept(self._matrix, X.tobytes(), lambda: KnownMatrix(self(X, X), cache_size))

    def scores(self, X: Any, Y: Any, beta: Floats, n_threads: int = 1) -> Floats:
        rows = _kept(self._tested, X.tobytes(), lambda: self.values[_numbers(X)])
        everywhere = np.zeros((len(self.values), *beta.shape[1:]))
        everywhere[_numbers(Y)] = beta
        return rows @ everywhere


def _kept(store: dict[bytes, T], key: bytes, make: Callable[[], T]) -> T:
    """What was made last, if it was made for the same key."""
    if key not in store:
        store.clear()
        store[key] = make()
    return store[key]


def _numbers(X: Any) -> Ints:
    return X[:, 0].astype(np.int64)


def kernel_values(kernel: Kernel, X: Any) -> Floats:
    """k(x, y) for all rows of X, in blocks of rows, so that little memory is needed beside the matrix."""
    if isinstance(kernel, Precomputed):
        return X
    n = X.shape[0]
    step = max(1, _BLOCK_BYTES // (8 * n))
    values = np.empty((n, n))
    for i in range(0, n, step):
        values[i : i + step] = kernel(X[i : i + step], X)
    return values


class KernelStore:
    """Kernel matrices by name, each made when it is first asked for and dropped after its last use.

    Threads may ask at the same time: the first one computes, the others wait for it.
    """

    def __init__(self, uses: Iterable[Hashable]) -> None:
        self._left = Counter(uses)
        self._values: dict[Hashable, Floats] = {}
        self._locks = {name: threading.Lock() for name in self._left}

    def get(self, name: Hashable, kernel: Kernel, X: Any) -> Floats:
        with self._locks[name]:
            if name not in self._values:
                self._values[name] = kernel_values(kernel, X)
            return self._values[name]

    def used(self, name: Hashable) -> None:
        with self._locks[name]:
            self._left[name] -= 1
            if self._left[name] == 0:
                self._values.pop(name, None)
