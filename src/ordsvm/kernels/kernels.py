"""Kernels: parameters, the formula in NumPy, and the rows of K that the core makes from them.

`kernel(X, Y)` gives the matrix k(x, y) in float64 for dense or CSR data; `kernel.rows(X)` gives an object of
the core that computes rows of k(X, X) when a solver needs them, so that no n × n matrix is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils.extmath import safe_sparse_dot

from ordsvm import _core
from ordsvm._typing import Floats

Data = Any  # a dense array or a SciPy CSR matrix or array

_BLOCK_BYTES = 32 * 2**20  # of a block of kernel values when scores are computed


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
        return _blockwise(lambda block: self(block, Y) @ beta, X, beta)


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
        X, Y = _alike(X, Y)
        weights = np.ascontiguousarray(beta.reshape(len(beta), -1))
        if sp.issparse(X):
            scores = _core.csr_scores(self._native(), _arrays(X), _arrays(Y), X.shape[1], weights, n_threads)
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
            return _core.csr_rows(self._native(), X.data, X.indices, X.indptr, X.shape[1])
        return _core.dense_rows(self._native(), X)


@dataclass(frozen=True)
class Linear(NativeKernel):
    """The linear kernel, k(x, y) = x·y."""

    def __call__(self, X: Data, Y: Data) -> Floats:
        return _dot(X, Y)

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
        return np.exp(-self.gamma * euclidean_distances(*_centred(_float64(X), _float64(Y)), squared=True))

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
        return (self.gamma * _dot(X, Y) + self.coef0) ** self.degree

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
        return np.tanh(self.gamma * _dot(X, Y) + self.coef0)

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
        return np.exp(-self.gamma * manhattan_distances(_float64(X), _float64(Y)))

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
        return _blockwise(lambda block: block[:, Y].astype(np.float64, copy=False) @ beta, X, beta)

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


def _blockwise(scores: Callable[[Data], Floats], X: Data, beta: Floats) -> Floats:
    """The scores of X, so many rows at a time that a kernel value for each of them and of beta is not too much."""
    if len(beta) == 0:
        return np.zeros((X.shape[0], *beta.shape[1:]))
    step = max(1, _BLOCK_BYTES // (8 * len(beta)))
    return np.concatenate([scores(X[i : i + step]) for i in range(0, X.shape[0], step)])


def _float64(X: Data) -> Data:
    """In double, and where sparse with 32-bit indices if they suffice: not all of scikit-learn takes others."""
    if sp.issparse(X) and max(X.nnz, *X.shape) < np.iinfo(np.int32).max:
        return _retyped(X, np.dtype(np.float64), np.dtype(np.int32))
    return X.astype(np.float64, copy=False)


def _alike(X: Data, Y: Data) -> tuple[Data, Data]:
    """Both sparse if one is, and of one type, the wider of theirs, so that one loop of the core serves them."""
    dtype = np.result_type(X.dtype, Y.dtype)
    if sp.issparse(X) != sp.issparse(Y):
        X, Y = sp.csr_array(X), sp.csr_array(Y)
    if not sp.issparse(X):
        return np.ascontiguousarray(X, dtype=dtype), np.ascontiguousarray(Y, dtype=dtype)
    index = np.result_type(*(array.dtype for matrix in (X, Y) for array in (matrix.indices, matrix.indptr)))
    return _retyped(X, dtype, index), _retyped(Y, dtype, index)


def _retyped(X: Data, dtype: Any, index: Any) -> Data:
    """CSR with values and indices of these types; X itself if it has them."""
    if (X.dtype, X.indices.dtype, X.indptr.dtype) == (dtype, index, index):
        return X
    X = type(X)(X, dtype=dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)  # given to SciPy, it might narrow them
    return X


def _arrays(X: Data) -> tuple[NDArray[np.floating], NDArray[np.integer], NDArray[np.integer]]:
    return X.data, X.indices, X.indptr


def _centred(X: Data, Y: Data) -> tuple[Data, Data]:
    """Moves dense samples to where Y is centred: distances stay, and scikit-learn's way to them cancels less."""
    if sp.issparse(X) or sp.issparse(Y):
        return X, Y
    centre = Y.mean(axis=0)
    return X - centre, Y - centre


def _dot(X: Data, Y: Data) -> Floats:
    return safe_sparse_dot(_float64(X), _float64(Y).T, dense_output=True)
