"""Kernels that are given as they are: a matrix of their values, or a callable."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm._typing import Floats, Ints
from ordsvm.checks import caller_level
from ordsvm.kernels.arrays import Data, blockwise
from ordsvm.kernels.base import Kernel

COMPLEX_VALUES = "The callable kernel returned complex numbers: it must return real ones."
VALUES_NOT_FINITE = "The callable kernel returned NaN or infinity: it must return finite numbers."
KERNEL_VALUES = "kernel, by its values on some rows,"  # in the identity of a checkpoint
LOOKED_AT = 8  # rows whose kernel values tell a callable from another
DIGITS = {True: 3, False: 6}  # decimals of values, of the largest; float32 rounds otherwise elsewhere
NEGATIVE_SHARE = 1e-5  # of the largest |k(x, x)|, below 0: more than float32 rounds


def warn_of_diagonal(diagonal: Floats, numbers: Ints | None = None) -> None:
    """Where a k(x, x) = ‖φ(x)‖² is below 0; `numbers` are those of the samples, where these are in another order.

    No error: scikit-learn's checks have precomputed kernels trained on any symmetric matrix.
    """
    place = int(diagonal.argmin())
    least = float(diagonal[place])
    if least < -NEGATIVE_SHARE * float(np.abs(diagonal).max()):
        number = place if numbers is None else int(numbers[place])
        warnings.warn(
            f"The kernel value k(x, x) of sample {number} is {least:.3g}. No positive semidefinite kernel has one "
            "below 0, and with others the model may be worse than a constant, and its gap proves nothing: give a "
            "kernel that is positive semidefinite; look at its sign first.",
            UserWarning,
            stacklevel=caller_level(),
        )


def values_in_words(kernel: Any, X: Any) -> str:
    """Return the values of a callable kernel between some rows of X, rounded, as a text.

    They differ between kernels of the same code that read other globals or imports. Rows are taken from all over X,
    for neighbours may be equal. Where the call fails, as with rows that a pipeline transforms first, the text is empty.
    """
    n_rows = X.shape[0]
    which = np.unique(np.linspace(0, n_rows - 1, min(n_rows, LOOKED_AT)).astype(np.int64))
    try:
        values = np.asarray(kernel(X[which], X[which]))
        largest = float(np.abs(values).max()) or 1.0
        rounded = np.round(values.astype(np.float64) / largest, DIGITS[values.dtype == np.float32]) + 0.0
    except Exception:  # of the user's code; training says what is wrong
        return ""
    return f"{largest:.{DIGITS[values.dtype == np.float32]}g} {rounded.tolist()}"


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel whose matrix is given as X: training × training to fit, new × training to predict."""

    def __call__(self, X: Data, Y: Data) -> Floats:
        raise TypeError("A precomputed kernel is a matrix; it cannot be evaluated on samples.")

    def scores_in_numpy(self, X: Data, Y: Data, beta: Floats) -> Floats:
        """Compute X[:, Y] @ beta, a row block at a time.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_training_samples)
            Kernel values of the samples to score.
        Y : ndarray of shape (n_support,)
            The numbers of the support vectors among the training samples.
        beta : ndarray of shape (n_support,) or (n_support, n_scores)
            Their weights.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_scores)
            The scores.
        """
        return blockwise(lambda block: block[:, Y].astype(np.float64, copy=False) @ beta, X, beta)

    def rows(self, X: Data) -> _core.Rows:
        """Make a source of the rows of a given matrix.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_samples)
            The kernel matrix.

        Returns
        -------
        Rows
            The source, an object of the core.
        """
        return _core.precomputed_rows(X)


@dataclass(frozen=True)
class Custom(Kernel):
    """A callable kernel: a Python callable of two sets of samples, called for a few rows at a time, by one thread.

    Parameters
    ----------
    kernel : callable
        Returns the matrix of values between the rows of its two arguments: arrays on the CPU, tensors on a device.
    """

    kernel: Callable[[Data, Data], Any]

    def __call__(self, X: Data, Y: Data) -> Floats:
        values = self.kernel(X, Y)
        if sp.issparse(values):
            raise ValueError(
                "The callable kernel returned a sparse matrix: it must return a dense one, .toarray() of it."
            )
        values = self._real(np.asarray(values))
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"The callable kernel returned shape {values.shape} for {X.shape[0]} and {Y.shape[0]} samples: "
                "it must return one value for every pair."
            )
        if not np.all(np.isfinite(values)):
            raise ValueError(VALUES_NOT_FINITE)
        return values

    @staticmethod
    def _real(values: NDArray[Any]) -> Floats:
        if np.iscomplexobj(values):
            raise ValueError(COMPLEX_VALUES)
        try:
            return values.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise ValueError(
                "The callable kernel returned something else than real numbers: it must return these."
            ) from None

    def rows(self, X: Data) -> _core.Rows:
        """Make a source of rows of k(X, X) that calls the kernel for the rows a solver needs.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Rows
            The source, an object of the core.
        """
        blocks = (X[i : i + 64] for i in range(0, X.shape[0], 64))
        diagonal = np.concatenate([np.diagonal(self(block, block)) for block in blocks])
        return _core.callable_rows(diagonal, lambda which: self(X[which], X))
