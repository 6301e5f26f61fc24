"""Kernels: parameters, the formula in NumPy, and the rows of K that the core makes from them.

`kernel(X, Y)` gives the matrix k(x, y) in float64 for dense or CSR data; `kernel.rows(X)` gives an object of
the core that computes rows of k(X, X) when a solver needs them, so that no n × n matrix is needed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.extmath import row_norms

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.devices import TensorRows
from ordsvm.kernels.arrays import (
    FINE,
    Data,
    alike,
    centred,
    compact,
    csr_arrays,
    dot,
    float64,
    has_dense_room,
    norm_error,
    squared_distances,
)
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.given import Custom, Precomputed


class NativeKernel(Kernel):
    """A kernel whose values the core computes from the data themselves.

    See Also
    --------
    Kernel : What every kernel offers.
    RBF : The one used most.

    Examples
    --------
    >>> from ordsvm.kernels import RBF, Custom, NativeKernel
    >>> isinstance(RBF(gamma=1.0), NativeKernel), issubclass(Custom, NativeKernel)
    (True, False)
    """

    @abstractmethod
    def _native(self) -> _core.Kernel: ...

    def scores(self, X: Data, Y: Data, beta: Floats, n_threads: int = 1) -> Floats:
        """Compute k(X, Y) @ beta by the core, without all values of the kernel in memory.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples to score.
        Y : ndarray or CSR matrix of shape (n_support, n_features)
            The support vectors.
        beta : ndarray of shape (n_support,) or (n_support, n_scores)
            Their weights.
        n_threads : int, default=1
            Threads of the core.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_scores)
            The scores, in float64. For dense float32 data and kernels of distances, values are computed in float32 and
            summed in float64.
        """
        if len(beta) == 0:
            return np.zeros((X.shape[0], *beta.shape[1:]))
        X, Y = compact(*alike(X, Y))
        weights = np.ascontiguousarray(beta.reshape(len(beta), -1))
        if sp.issparse(X):
            scores = _core.csr_scores(self._native(), csr_arrays(X), csr_arrays(Y), X.shape[1], weights, n_threads)
        else:
            scores = _core.dense_scores(self._native(), X, Y, weights, n_threads)
        return scores.reshape(X.shape[0], *beta.shape[1:])

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
        if sp.issparse(X):
            (X,) = compact(X)
            return _core.csr_rows(self._native(), X.data, X.indices, X.indptr, X.shape[1])
        return _core.dense_rows(self._native(), X)


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
        X, Y = compact(X, Y)
        beta = np.ascontiguousarray(beta)  # BLAS's last bits depend on the layout, which model files do not keep
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
        return np.exp(-self.gamma * squared_distances(X, Y, self.gamma))

    def rounding(self, X: Data) -> float:
        """Compute about what a value between these samples is off by, as `Kernel.rounding`; exponents of norms by more.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        float
            The error.
        """
        (X,) = compact(X)
        moved, unit = centred(float64(X), float64(X)), 4 * float(np.finfo(np.float64).eps)
        if norm_error(*moved, self.gamma) > FINE and has_dense_room(X):
            return unit  # by differences
        return unit * (1.0 + 2.0 * self.gamma * float(row_norms(moved[0], squared=True).mean()))

    def _native(self) -> _core.Kernel:
        return _core.Kernel(_core.KernelKind.rbf, gamma=self.gamma)


@dataclass(frozen=True)
class Polynomial(NativeKernel):
    """The polynomial kernel, k(x, y) = (gamma x·y + coef0)^degree.

    It is positive semidefinite where coef0 is not negative and degree is an integer.

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

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]  # a property of its parameters
        """Whether the expanded power is a sum of products of features, none with a negative factor."""
        return self.gamma >= 0 and self.coef0 >= 0 and float(self.degree).is_integer()

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

    positive_semidefinite: ClassVar[bool] = False

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
        return np.exp(-self.gamma * manhattan_distances(*map(float64, compact(X, Y))))

    def _native(self) -> _core.Kernel:
        return _core.Kernel(_core.KernelKind.laplacian, gamma=self.gamma)


NAMES = ("linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed")
NAMES_WITHOUT_GAMMA = ("linear", "precomputed")


KernelLike = str | Kernel | Callable[[Data, Data], Any]


def make_kernel(kernel: KernelLike, gamma: float, coef0: float, degree: float) -> Kernel:
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
        variance = _variance(X)
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    return float(gamma)


def _variance(X: Data) -> float:
    """Of all values, summed in float64 from their distances to the mean; 0 where these are rounding errors."""
    size = float(X.shape[0]) * X.shape[1]
    if isinstance(X, TensorRows):
        mean, squares = X.moments()
    else:
        values = X.data if sp.issparse(X) else X
        mean = values.sum(dtype=np.float64) / size
        squares = np.square(np.subtract(values, mean, dtype=np.float64)).sum() + (size - values.size) * mean**2
    return float(squares / size) if squares / size > (8 * np.finfo(np.float64).eps * mean) ** 2 else 0.0
