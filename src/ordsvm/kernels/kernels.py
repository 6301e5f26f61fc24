"""Kernels: parameters, the formula in NumPy, and the rows of K that the core makes from them.

`kernel(X, Y)` gives the matrix k(x, y) in float64 for dense or CSR data; `kernel.rows(X)` gives an object of
the core that computes rows of k(X, X) when a solver needs them, so that no n × n matrix is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.kernels.arrays import Data, blockwise, centred, dot, float64
from ordsvm.kernels.base import Kernel, NativeKernel


@dataclass(frozen=True)
class Linear(NativeKernel):
    """The linear kernel, k(x, y) = x·y."""

    def __call__(self, X: Data, Y: Data) -> Floats:
        return dot(X, Y)

    def scores(self, X: Data, Y: Data, beta: Floats, n_threads: int = 1) -> Floats:
        """Compute X @ (Y.T @ beta).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples to score.
        Y : ndarray or CSR matrix of shape (n_support, n_features)
            The support vectors.
        beta : ndarray of shape (n_support,) or (n_support, n_scores)
            Their weights.
        n_threads : int, default=1
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_scores)
            The scores.
        """
        return self.scores_in_numpy(X, Y, beta)

    def scores_in_numpy(self, X: Data, Y: Data, beta: Floats) -> Floats:
        """Compute X @ (Y.T @ beta).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples to score.
        Y : ndarray or CSR matrix of shape (n_support, n_features)
            The support vectors.
        beta : ndarray of shape (n_support,) or (n_support, n_scores)
            Their weights.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_scores)
            The scores.
        """
        return np.asarray(X @ (Y.T @ beta), dtype=np.float64)

    def _native(self) -> _core.Kernel:
        return _core.Kernel(_core.KernelKind.linear)


@dataclass(frozen=True)
class RBF(NativeKernel):
    """The Gaussian kernel, k(x, y) = exp(−gamma ‖x − y‖²); Chu & Keerthi's κ is 2·gamma.

    Parameters
    ----------
    gamma : float
        The inverse width, above 0.
    """

    gamma: float

    def __call__(self, X: Data, Y: Data) -> Floats:
        return np.exp(-self.gamma * euclidean_distances(*centred(float64(X), float64(Y)), squared=True))

    def _native(self) -> _core.Kernel:
        return _core.Kernel(_core.KernelKind.rbf, gamma=self.gamma)


@dataclass(frozen=True)
class Polynomial(NativeKernel):
    """The polynomial kernel, k(x, y) = (gamma x·y + coef0)^degree.

    Parameters
    ----------
    gamma : float
        The factor of the inner product.
    coef0 : float
        The constant.
    degree : float
        The exponent.
    """

    gamma: float
    coef0: float
    degree: float

    def __call__(self, X: Data, Y: Data) -> Floats:
        return (self.gamma * dot(X, Y) + self.coef0) ** self.degree

    def _native(self) -> _core.Kernel:
        return _core.Kernel(_core.KernelKind.polynomial, self.gamma, self.coef0, self.degree)


@dataclass(frozen=True)
class Sigmoid(NativeKernel):
    """The sigmoid kernel, k(x, y) = tanh(gamma x·y + coef0).

    It is not positive semidefinite in general, and then a gap proves nothing.

    Parameters
    ----------
    gamma : float
        The factor of the inner product.
    coef0 : float
        The constant.
    """

    gamma: float
    coef0: float

    def __call__(self, X: Data, Y: Data) -> Floats:
        return np.tanh(self.gamma * dot(X, Y) + self.coef0)

    def _native(self) -> _core.Kernel:
        return _core.Kernel(_core.KernelKind.sigmoid, self.gamma, self.coef0)


@dataclass(frozen=True)
class Laplacian(NativeKernel):
    """The Laplacian kernel, k(x, y) = exp(−gamma ‖x − y‖₁).

    Parameters
    ----------
    gamma : float
        The inverse width, above 0.
    """

    gamma: float

    def __call__(self, X: Data, Y: Data) -> Floats:
        return np.exp(-self.gamma * manhattan_distances(float64(X), float64(Y)))

    def _native(self) -> _core.Kernel:
        return _core.Kernel(_core.KernelKind.laplacian, gamma=self.gamma)


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
        Returns the matrix of values between the rows of its two arguments.
    """

    kernel: Callable[[Data, Data], Any]

    def __call__(self, X: Data, Y: Data) -> Floats:
        values = np.asarray(self.kernel(X, Y), dtype=np.float64)
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"The callable kernel returned shape {values.shape} for {X.shape[0]} and {Y.shape[0]} samples: "
                "it must return one value for every pair."
            )
        if not np.all(np.isfinite(values)):
            raise ValueError("The callable kernel returned NaN or infinity: it must return finite numbers.")
        return values

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


NAMES = ("linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed")


def make_kernel(
    kernel: str | Kernel | Callable[[Data, Data], Any], gamma: float, coef0: float, degree: float
) -> Kernel:
    """Make the kernel that a name with parameters, or a callable, stands for.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name in `NAMES`, a kernel, or a callable of two sets of samples.
    gamma : float
        Parameter of the "rbf", "poly", "sigmoid" and "laplacian" kernels.
    coef0 : float
        Parameter of the "poly" and "sigmoid" kernels.
    degree : float
        Parameter of the "poly" kernel.

    Returns
    -------
    Kernel
        The kernel.

    Raises
    ------
    ValueError
        Where the name is unknown.

    See Also
    --------
    gamma_value : The gamma that "scale" or "auto" stands for.

    Examples
    --------
    >>> from ordsvm.kernels import make_kernel
    >>> make_kernel("rbf", gamma=0.5, coef0=0.0, degree=3)
    RBF(gamma=0.5)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Custom(kernel)
    named: dict[str, Callable[[], Kernel]] = {
        "linear": Linear,
        "rbf": lambda: RBF(gamma),
        "poly": lambda: Polynomial(gamma, coef0, degree),
        "sigmoid": lambda: Sigmoid(gamma, coef0),
        "laplacian": lambda: Laplacian(gamma),
        "precomputed": Precomputed,
    }
    if not isinstance(kernel, str) or kernel not in named:
        raise ValueError(
            f"kernel={kernel!r} is unknown: give one of {', '.join(map(repr, NAMES))} or a callable of two matrices."
        )
    return named[kernel]()


def gamma_value(gamma: str | float, X: Data) -> float:
    """Return the gamma that scikit-learn's "scale" or "auto" stands for.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float
        "scale" is 1 / (n_features · variance of X), "auto" is 1 / n_features.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The training samples.

    Returns
    -------
    float
        The number.

    See Also
    --------
    make_kernel : The kernel with that gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.kernels import gamma_value
    >>> gamma_value("auto", np.zeros((3, 4)))
    0.25
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        mean = X.mean(dtype=np.float64)
        variance = X.multiply(X).mean(dtype=np.float64) - mean**2 if sp.issparse(X) else X.var(dtype=np.float64)
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    return float(gamma)
