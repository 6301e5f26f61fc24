"""The kernel matrix of the training samples on a device, for what a fit asks of it after its solver."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ordsvm._typing import Floats, Ints
from ordsvm.array_library import ArrayLibrary, TorchLibrary
from ordsvm.devices import TensorRows
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.kernels import RBF, Laplacian
from ordsvm.kernels.matrix import LARGEST_FLOAT_VALUE, KernelMatrix, check_largest
from ordsvm.kernels.products.on_torch import TorchProducts, torch_products


class DeviceMatrix(KernelMatrix):
    """A matrix whose products are computed on a device, in float64."""

    def __init__(self, matrix: KernelMatrix, library: ArrayLibrary, products: TorchProducts, order: Ints) -> None:
        self.__dict__.update(matrix.__dict__)
        self._library, self._products, self._order = library, products, order
        roundings = products.roundings()
        if roundings is not None and not roundings <= self.roundings:  # NaN where samples are beyond float64
            self.roundings = roundings

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
    """

    def __init__(self, kernel: RBF | Laplacian, samples: Any) -> None:
        self.source = (kernel, samples)
        self._kernel, self._samples = kernel, samples
        self.largest, self.fits_float = 1.0, True
        self.roundings = few_roundings(samples.shape[1])
        self._caches = {}

    def product(self, beta: Floats, n_threads: int = 1) -> Floats:
        """Compute Kβ by rows of the core.

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
        return self._kernel.rows(self._samples).product(beta, n_threads)


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
    """

    def __init__(self, kernel: Kernel, samples: TensorRows) -> None:
        self.source = (kernel, samples)
        self._kernel, self._samples = kernel, samples
        self.largest = 1.0 if isinstance(kernel, RBF | Laplacian) else self._largest(kernel, samples)
        check_largest(self.largest)
        self.fits_float = self.largest < LARGEST_FLOAT_VALUE
        self.roundings = few_roundings(samples.shape[1])
        self._caches = {}

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
        library = TorchLibrary(str(self._samples.tensor.device))
        with library.current():
            products = torch_products(library, self._kernel, self._samples)
        return DeviceMatrix(self, library, products, np.arange(len(beta))).product(beta)
