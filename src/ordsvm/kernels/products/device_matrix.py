"""The kernel matrix of the training samples on a device, for what a fit asks of it after its solver."""

from __future__ import annotations

import numpy as np

from ordsvm._typing import Floats, Ints
from ordsvm.array_library import ArrayLibrary
from ordsvm.kernels.matrix import KernelMatrix
from ordsvm.kernels.products.on_torch import TorchProducts


class DeviceMatrix(KernelMatrix):
    """A matrix whose products are computed on a device, in float64."""

    def __init__(self, matrix: KernelMatrix, library: ArrayLibrary, products: TorchProducts, order: Ints) -> None:
        self.__dict__.update(matrix.__dict__)
        self._library, self._products, self._order = library, products, order
        roundings = products.roundings()
        self.roundings = self.roundings if roundings is None else max(self.roundings, roundings)

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
        columns = self._products.rows(self._library.index(support))
        rows = self._products.first(len(beta))
        score = np.empty(len(beta))
        with self._library.current():
            made = self._products.exact_product(rows, columns, self._library.array(weights[support]))
            score[self._order] = self._library.host(made)
        return score
