"""What a kernel offers: values, rows of K for the solvers, scores for prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.kernels.arrays import Data, blockwise


class Kernel(ABC):
    """A positive semidefinite function of two samples (the sigmoid is not always one).

    See Also
    --------
    NativeKernel : Kernels whose values the core computes.
    Custom : A callable kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.kernels import Linear, RBF
    >>> X = np.array([[0.0], [1.0]])
    >>> RBF(gamma=0.5)(X, X).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    >>> Linear().largest(X)
    1.0
    """

    positive_semidefinite: ClassVar[bool] = True  # otherwise a gap proves nothing, and solvers differ in their answers

    @abstractmethod
    def __call__(self, X: Data, Y: Data) -> Floats:
        """k(x, y) for every row x of X and y of Y, in float64."""

    @abstractmethod
    def rows(self, X: Data) -> _core.Rows:
        """Make a source of rows of k(X, X), which computes them when a solver needs them.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Rows
            The source, an object of the core.
        """

    def largest(self, X: Data) -> float:
        """Compute the largest |k(x, x)|: no value between samples exceeds it, if the kernel is positive semidefinite.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        float
            The largest diagonal value.
        """
        blocks = (X[i : i + 64] for i in range(0, X.shape[0], 64))
        return max(float(np.abs(np.diagonal(self(block, block))).max()) for block in blocks)

    def rounding(self, X: Data) -> float:
        """Compute what a value between these samples, as NumPy makes it, is off by: about that, or at most.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        float
            The error, four units of the last place of the largest value unless a kernel knows better.
        """
        return 4 * float(np.finfo(np.float64).eps) * self.largest(X)

    def scores(self, X: Data, Y: Data, beta: Floats, n_threads: int = 1) -> Floats:
        """Compute k(X, Y) @ beta, without all values of the kernel in memory.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples to score.
        Y : ndarray or CSR matrix of shape (n_support, n_features)
            The support vectors; for a precomputed kernel, their numbers.
        beta : ndarray of shape (n_support,) or (n_support, n_scores)
            Their weights.
        n_threads : int, default=1
            Threads of the core.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_scores)
            The scores.
        """
        return self.scores_in_numpy(X, Y, beta)

    def scores_in_numpy(self, X: Data, Y: Data, beta: Floats) -> Floats:
        """Compute k(X, Y) @ beta by the kernel's formula in NumPy, a row block at a time, whatever `scores` does.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples to score.
        Y : ndarray or CSR matrix of shape (n_support, n_features)
            The support vectors; for a precomputed kernel, their numbers.
        beta : ndarray of shape (n_support,) or (n_support, n_scores)
            Their weights.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_scores)
            The scores.
        """
        return blockwise(lambda block: self(block, Y) @ beta, X, beta)
