"""The kernel matrix of the training samples on a device, for what a fit asks of it after its solver."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm import _core
from ordsvm._typing import Floats, Ints
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.devices import TensorRows, usable_device
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.given import Custom
from ordsvm.kernels.kernels import RBF, Laplacian
from ordsvm.kernels.matrix import KernelMatrix
from ordsvm.kernels.products.dense_rows import dense_on
from ordsvm.kernels.products.norm_rounding import NormRounding
from ordsvm.kernels.products.on_torch import TorchProducts, torch_products
from ordsvm.torch_library import TorchLibrary, torch_library


class DeviceMatrix(KernelMatrix):
    """A matrix whose products are computed on a device, in float64."""

    def __init__(self, matrix: KernelMatrix, library: ArrayLibrary, products: TorchProducts, order: Ints) -> None:
        self.__dict__.update(matrix.__dict__)
        self._before = matrix
        self._library, self._products, self._order = library, products, order
        self.roundings = max(self.roundings, products.roundings() or 0.0)
        half_squares = products.half_squares()
        self._of_norms = None if half_squares is None else self._norm_rounding(half_squares)

    def _make_rows(self) -> _core.Rows:
        return self._before.rows

    def _norm_rounding(self, half_squares: Array) -> NormRounding:
        in_order = np.empty(len(self._order))
        in_order[self._order] = self._library.host(half_squares)
        assert self.source is not None
        return NormRounding(in_order, self.source[1].shape[1])

    def rounding_by_sample(self, beta: Floats) -> Floats | None:
        """Bound what scores may be off by for exponents that are made of norms.

        Parameters
        ----------
        beta : ndarray of shape (n_samples,)
            The weights β.

        Returns
        -------
        ndarray of shape (n_samples,) or None
            The bounds; None for kernels whose values are made otherwise.
        """
        return None if self._of_norms is None else self._of_norms.of(beta)

    def elsewhere(self) -> KernelMatrix:
        """Return the matrix that this one was made of: for another solver, which may compute by the core.

        Returns
        -------
        KernelMatrix
            The matrix.
        """
        return self._before.elsewhere()

    def product(self, beta: Floats, n_threads: int = 1) -> Floats:
        """Compute Kβ on the device.

        Parameters
        ----------
        beta : ndarray of shape (n_samples,)
            The weights β.
        n_threads : int, default=1
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        weights = beta[self._order]
        support = np.flatnonzero(weights)
        score = np.empty(len(beta))
        with self._library.current():
            which, values = self._library.index(support), self._library.array(weights[support])
            made = self._products.scores(len(beta), which, values, exact=True)
            score[self._order] = self._library.host(made)
        return score

    def part(self, rows: Ints, columns: Ints, n_threads: int = 1) -> Floats:
        """Compute K[np.ix_(rows, columns)] on the device.

        Parameters
        ----------
        rows : ndarray of int64
            Numbers of the rows.
        columns : ndarray of int64
            Numbers of the columns.
        n_threads : int, default=1
            Ignored.

        Returns
        -------
        ndarray of shape (len(rows), len(columns))
            The part of the matrix.
        """
        place = np.argsort(self._order)
        with self._library.current():
            index = self._library.index
            return self._library.host(self._products.part(index(place[rows]), index(place[columns])))


class LateMatrix(KernelMatrix):
    """The matrix of samples in memory, for solvers that compute on a device: it makes no rows for those of the core,
    which takes longer than some fits.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose values are at most 1.
    samples : ndarray or CSR matrix of shape (n_samples, n_features)
        The training samples.
    cache_size : float, default=200
        Megabytes for cached rows, should another solver need them.
    """

    def __init__(self, kernel: RBF | Laplacian, samples: Any, cache_size: float = 200.0) -> None:
        self._rows, self._kernel, self._samples = None, kernel, samples
        self._describe(samples.shape[0], cache_size, (kernel, samples), 1.0, few_roundings(samples.shape[1]))

    def _make_rows(self) -> _core.Rows:
        return self._kernel.rows(self._samples)


def on_device(device: str, samples: Any) -> TensorRows:
    """Samples as tensors in their own precision, for kernels that are called with such."""
    if isinstance(samples, TensorRows):
        return samples
    library = torch_library(usable_device(device))
    with library.current():
        return TensorRows(dense_on(library, samples) if sp.issparse(samples) else library.kept(samples))


def few_roundings(n_features: int) -> float:
    """As many as the core makes of a value (cpp/kernels/tiles)."""
    return 4.0 + math.sqrt(n_features)


class TensorMatrix(KernelMatrix):
    """The matrix of samples in a tensor, for solvers that compute on a device: it has no rows for those of the core.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    samples : TensorRows
        The training samples.
    cache_size : float, default=200
        Megabytes for cached rows, should another solver need them.
    """

    def __init__(self, kernel: Kernel, samples: TensorRows, cache_size: float = 200.0) -> None:
        self._rows, self._kernel, self._samples = None, kernel, samples
        largest = 1.0 if isinstance(kernel, RBF | Laplacian) else self._largest(kernel, samples)
        self._describe(len(samples), cache_size, (kernel, samples), largest, few_roundings(samples.shape[1]))

    def _make_rows(self) -> _core.Rows:
        return self.elsewhere().rows

    @staticmethod
    def _largest(kernel: Kernel, samples: TensorRows) -> float:
        library = TorchLibrary(str(samples.tensor.device))
        with library.current():
            return float(abs(torch_products(library, kernel, samples).diagonal(len(samples))).max())

    def product(self, beta: Floats, n_threads: int = 1) -> Floats:
        """Compute Kβ on the device of the tensor.

        Parameters
        ----------
        beta : ndarray of shape (n_samples,)
            The weights β.
        n_threads : int, default=1
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        return self._on_device().product(beta)

    def rounding_by_sample(self, beta: Floats) -> Floats | None:
        """Bound what scores may be off by for exponents that are made of norms.

        Parameters
        ----------
        beta : ndarray of shape (n_samples,)
            The weights β.

        Returns
        -------
        ndarray of shape (n_samples,) or None
            The bounds; None for kernels whose values are made otherwise.
        """
        return self._on_device().rounding_by_sample(beta)

    def part(self, rows: Ints, columns: Ints, n_threads: int = 1) -> Floats:
        """Compute K[np.ix_(rows, columns)] on the device of the tensor.

        Parameters
        ----------
        rows : ndarray of int64
            Numbers of the rows.
        columns : ndarray of int64
            Numbers of the columns.
        n_threads : int, default=1
            Ignored.

        Returns
        -------
        ndarray of shape (len(rows), len(columns))
            The part of the matrix.
        """
        return self._on_device().part(rows, columns)

    def elsewhere(self) -> KernelMatrix:
        """Make the matrix of the same samples on the host; values of a callable kernel, which are the device's.

        Returns
        -------
        KernelMatrix
            The matrix.
        """
        if isinstance(self._kernel, Custom):
            every = np.arange(len(self._samples))
            return KernelMatrix(_core.precomputed_rows(self._on_device().part(every, every)), self.budget / 2**20)
        X = self._samples.on_host()
        return KernelMatrix(self._kernel.rows(X), self.budget / 2**20, (self._kernel, X))

    def _on_device(self) -> DeviceMatrix:
        library = TorchLibrary(str(self._samples.tensor.device))
        with library.current():
            products = torch_products(library, self._kernel, self._samples)
            return DeviceMatrix(self, library, products, np.arange(len(self._samples)))
