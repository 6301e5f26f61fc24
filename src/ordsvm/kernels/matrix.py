"""The kernel matrix of the training samples."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats, Ints
from ordsvm.kernels.base import Kernel

LARGEST_VALUE = 1e150  # of a kernel: products of two do not overflow
LARGEST_FLOAT_VALUE = 1e30  # the same for rows in float32


class KernelMatrix:
    """K of the training samples: rows on demand, and a cache of them within `cache_size` megabytes.

    Several fits may share it one after another; side by side they could wait for each other's rows for ever.
    """

    def __init__(self, rows: _core.Rows, cache_size: float = 200.0) -> None:
        needed, budget = 2 * 8 * len(rows), cache_size * 2**20
        if budget < needed:
            raise ValueError(
                f"cache_size={cache_size:g} MB does not hold two rows of the kernel matrix of {len(rows)} samples: "
                f"give at least {needed / 2**20:.2g} MB."
            )
        largest = np.max(np.abs(rows.diagonal()))
        if not largest < LARGEST_VALUE:
            raise ValueError(
                f"Kernel values reach {largest:.0e}, too large to compute with: scale the features, for instance with "
                "sklearn.preprocessing.StandardScaler."
            )
        self.rows = rows
        self.largest = float(largest)
        self._roundings = rows.roundings()
        self.fits_float = bool(largest < LARGEST_FLOAT_VALUE)
        self._budget = int(min(budget, 16 * len(rows) * len(rows)))
        self._caches: dict[bool, _core.Cache] = {}

    @classmethod
    def of(cls, kernel: Kernel, samples: Any, cache_size: float) -> KernelMatrix:
        """The matrix of these samples. A kernel that serves many fits may keep the last one that it has made."""
        kept = getattr(kernel, "matrix", None)
        return cls(kernel.rows(samples), cache_size) if kept is None else kept(samples, cache_size)

    def rounding(self, beta: Floats) -> float:
        """How far Kβ, summed in float64, may be from what it should be: an estimate."""
        return float(self._roundings * sys.float_info.epsilon * self.largest * np.abs(beta).sum())

    def product(self, beta: Floats, n_threads: int = 1) -> Floats:
        """Kβ."""
        return self.rows.product(beta, n_threads)

    def part(self, rows: Ints, columns: Ints, n_threads: int = 1) -> Floats:
        """K[np.ix_(rows, columns)]."""
        return self.rows.part(rows, columns, n_threads)

    def release_rows(self) -> None:
        """Frees the memory of all cached rows."""
        self._caches = {}

    def cache(self, double_rows: bool) -> _core.Cache:
        """The one cache there is, in the wanted precision: the budget is for all rows together."""
        if double_rows not in self._caches:
            self._caches = {double_rows: _core.cache(self.rows, self._budget, double_rows)}
        return self._caches[double_rows]
