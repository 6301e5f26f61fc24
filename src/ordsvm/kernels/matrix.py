"""The kernel matrix of the training samples."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats, Ints
from ordsvm.devices import TensorRows
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.kernels import RBF, Laplacian

LARGEST_VALUE = 1e150  # of a kernel: products of two do not overflow
LARGEST_FLOAT_VALUE = 1e30  # the same for rows in float32


def check_largest(value: float) -> None:
    """Refuses kernel values that can't be computed with."""
    if not value < LARGEST_VALUE:
        raise ValueError(
            f"Kernel values reach {value:.0e}, too large to compute with: scale the features, for instance with "
            "sklearn.preprocessing.StandardScaler."
        )


class KernelMatrix:
    """The kernel matrix K of the training samples: rows on demand, and a cache of them.

    Parameters
    ----------
    rows : Rows
        A source of rows of the core, such as `kernel.rows(X)`.
    cache_size : float, default=200
        Megabytes for cached rows.
    source : tuple of Kernel and samples, default=None
        What the matrix is made of, for solvers that compute its values on another device.

    See Also
    --------
    Kernel : The kernel by itself.

    Notes
    -----
    Several fits may share it one after another; side by side they could wait for each other's rows for ever.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.kernels import RBF, KernelMatrix
    >>> X = np.array([[0.0], [1.0]])
    >>> KernelMatrix(RBF(gamma=0.5).rows(X)).product(np.array([1.0, 0.0])).round(3)
    array([1.   , 0.607])
    """

    # Where several problems are about the same samples: what a solver has made of these for the problems to come.
    shared: dict[Any, Any] | None = None

    def __init__(self, rows: _core.Rows, cache_size: float = 200.0, source: tuple[Kernel, Any] | None = None) -> None:
        self._rows: _core.Rows | None = rows
        _require_two_rows(len(rows), cache_size)
        self._describe(len(rows), cache_size, source, np.max(np.abs(rows.diagonal())), rows.roundings())

    def _describe(
        self, n_samples: int, cache_size: float, source: tuple[Kernel, Any] | None, largest: float, roundings: float
    ) -> None:
        """Set what is known of the matrix without its rows."""
        check_largest(largest)
        self.source = source
        self.largest = float(largest)
        self.roundings = roundings
        self.fits_float = bool(largest < LARGEST_FLOAT_VALUE)
        self.budget = cache_size * 2**20
        self._budget = int(min(self.budget, 16 * n_samples * n_samples))
        self._caches: dict[bool, _core.Cache] = {}

    @property
    def rows(self) -> _core.Rows:
        """The source of rows; subclasses make it when it is first asked for."""
        if self._rows is None:
            self._rows = self._make_rows()
            self.roundings = max(self.roundings, self._rows.roundings())  # its values may be made of norms
        return self._rows

    def _make_rows(self) -> _core.Rows:
        """Make the source of rows of a matrix that was made without one."""
        raise NotImplementedError

    @classmethod
    def of(cls, kernel: Kernel, samples: Any, cache_size: float, on_device: bool = False) -> KernelMatrix:
        """Make the matrix of these samples.

        A kernel that serves many fits may keep the last one that it has made.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        samples : ndarray or CSR matrix of shape (n_samples, n_features)
            The training samples.
        cache_size : float
            Megabytes for cached rows.
        on_device : bool, default=False
            Whether the solver computes values of K on a device: rows of the core are made only if they are needed.

        Returns
        -------
        KernelMatrix
            The matrix.
        """
        kept = getattr(kernel, "matrix", None)
        if kept is not None:
            return kept(samples, cache_size)
        if isinstance(samples, TensorRows):
            from ordsvm.kernels.products.device_matrix import TensorMatrix

            return TensorMatrix(kernel, samples, cache_size)
        if on_device and isinstance(kernel, RBF | Laplacian):
            from ordsvm.kernels.products.device_matrix import LateMatrix

            return LateMatrix(kernel, samples, cache_size)
        return cls(kernel.rows(samples), cache_size, (kernel, samples))

    def rounding(self, beta: Floats) -> float:
        """Estimate how far Kβ, summed in float64, may be from its true value.

        Every one of n sums rounds by half an epsilon of what has been added up; together they make about the root of n.

        Parameters
        ----------
        beta : ndarray of shape (n_samples,)
            The weights β.

        Returns
        -------
        float
            The estimate.
        """
        roundings = self.roundings + 0.5 * np.sqrt(np.count_nonzero(beta))
        return float(roundings * sys.float_info.epsilon * self.largest * np.abs(beta).sum())

    def rounding_by_sample(self, beta: Floats) -> Floats | None:
        """Bound what scores may be off by besides, where that differs by sample.

        Parameters
        ----------
        beta : ndarray of shape (n_samples,)
            The weights β.

        Returns
        -------
        ndarray of shape (n_samples,) or None
            The bounds; None where `rounding` is all.
        """
        return None

    def product(self, beta: Floats, n_threads: int = 1) -> Floats:
        """Compute Kβ.

        Parameters
        ----------
        beta : ndarray of shape (n_samples,)
            The weights β.
        n_threads : int, default=1
            Threads of the core.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        return self.rows.product(beta, n_threads)

    def part(self, rows: Ints, columns: Ints, n_threads: int = 1) -> Floats:
        """Compute K[np.ix_(rows, columns)].

        Parameters
        ----------
        rows : ndarray of int64
            Numbers of the rows.
        columns : ndarray of int64
            Numbers of the columns.
        n_threads : int, default=1
            Threads of the core.

        Returns
        -------
        ndarray of shape (len(rows), len(columns))
            The part of the matrix.
        """
        return self.rows.part(rows, columns, n_threads)

    def elsewhere(self) -> KernelMatrix:
        """Return the matrix for another solver to go on with.

        Returns
        -------
        KernelMatrix
            This one, unless it was for a device.
        """
        return self

    def release_rows(self) -> None:
        """Free the memory of all cached rows."""
        self._caches = {}

    def cache(self, double_rows: bool) -> _core.Cache:
        """Return the one cache there is, in the given precision: the budget is for all rows together.

        Parameters
        ----------
        double_rows : bool
            Whether rows are float64; otherwise float32.

        Returns
        -------
        Cache
            The cache, an object of the core.
        """
        if double_rows not in self._caches:
            _require_two_rows(len(self.rows), self.budget / 2**20)
            self._caches = {double_rows: _core.cache(self.rows, self._budget, double_rows)}
        return self._caches[double_rows]


def _require_two_rows(n_samples: int, cache_size: float) -> None:
    """Raise ValueError if a cache has no room for the two rows that a step of the core needs."""
    needed = 2 * 8 * n_samples / 2**20
    if cache_size < needed:
        raise ValueError(
            f"cache_size={cache_size:g} MB does not hold two rows of the kernel matrix of {n_samples} samples: "
            f"give at least {needed:.2g} MB."
        )
