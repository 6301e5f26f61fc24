"""Kernel matrices that a search computes once, for all C and all folds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm.kernels import Kernel, Precomputed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK_BYTES = 32 * 2**20  # of kernel values computed at a time


@dataclass(frozen=True, eq=False)
class KnownKernel(Kernel):
    """The kernel of samples whose values are all known: what stands for a sample is its number.

    So the machines need not know: they are given numbers as their samples, one column of them. The rows of a fold
    are cut out once, and serve all fits of the fold one after the other.
    """

    values: Floats
    _last: dict[bytes, _core.Rows] = field(default_factory=dict, repr=False)

    def __call__(self, X: Any, Y: Any) -> Floats:
        return self.values[np.ix_(_numbers(X), _numbers(Y))]

    def rows(self, X: Any) -> _core.Rows:
        numbers = _numbers(X)
        key = numbers.tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = _core.precomputed_rows(self.values[np.ix_(numbers, numbers)])
        return self._last[key]


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
