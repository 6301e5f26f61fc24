"""Samples as kernels take them, dense or CSR: types, products, and scores in row blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from ordsvm._typing import Floats
from ordsvm.sparse import canonical, check_structure

Data = Any  # a dense array or a SciPy CSR matrix or array

FINE = 1e-12  # of exponents
DENSE_VALUES = 2**26  # of sparse rows that may be made dense
BLOCK_BYTES = 32 * 2**20  # of kernel values that are in memory at once when scores are computed


def blockwise(scores: Callable[[Data], Floats], X: Data, beta: Floats) -> Floats:
    """Compute the scores of X, so many rows at a time that their kernel values fit into BLOCK_BYTES."""
    check_structure(X)
    if len(beta) == 0:
        return np.zeros((X.shape[0], *beta.shape[1:]))
    step = max(1, BLOCK_BYTES // (8 * len(beta)))
    return np.concatenate([scores(X[i : i + step]) for i in range(0, X.shape[0], step)])


def float64(X: Data) -> Data:
    """In double, and where sparse with 32-bit indices if they suffice: not all of scikit-learn takes others."""
    if sp.issparse(X) and max(X.nnz, *X.shape) < np.iinfo(np.int32).max:
        return retyped(X, np.dtype(np.float64), np.dtype(np.int32))
    return X.astype(np.float64, copy=False)


def alike(X: Data, Y: Data) -> tuple[Data, Data]:
    """Both sparse if one is, and of one type, the wider of theirs, so that one loop of the core serves them."""
    dtype = np.result_type(X.dtype, Y.dtype)
    if sp.issparse(X) != sp.issparse(Y):
        X, Y = sp.csr_array(X), sp.csr_array(Y)
    if not sp.issparse(X):
        return np.ascontiguousarray(X, dtype=dtype), np.ascontiguousarray(Y, dtype=dtype)
    index = np.result_type(*(array.dtype for matrix in (X, Y) for array in (matrix.indices, matrix.indptr)))
    return retyped(X, dtype, index), retyped(Y, dtype, index)


def retyped(X: Data, dtype: Any, index: Any) -> Data:
    """CSR with values and indices of these types; X itself if it has them."""
    if (X.dtype, X.indices.dtype, X.indptr.dtype) == (dtype, index, index):
        return X
    X = type(X)(X, dtype=dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)  # given to SciPy, it might narrow them
    return X


def compact(*matrices: Data) -> tuple[Data, ...]:
    """Return CSR matrices without the columns that none of them has values in, where most columns are such.

    The others keep their order, so that sums have the same terms in the same order. A row of K costs as much as there
    are columns, and of hashed words or numbers in place of names there may be 2³². Anything else is returned as it is.
    Kernels may be called with any samples: malformed ones are refused here, and columns that occur twice in a row are
    summed, before the core or SciPy follows the indices.
    """
    for matrix, name in zip(matrices, "XY", strict=False):
        check_structure(matrix, name)
    matrices = tuple(map(canonical, matrices))
    if not all(map(sp.issparse, matrices)):
        return matrices
    n_values = sum(int(matrix.nnz) for matrix in matrices)
    if matrices[0].shape[1] <= n_values:
        return matrices
    columns, places = np.unique(np.concatenate([matrix.indices for matrix in matrices]), return_inverse=True)
    index = np.dtype(np.int32 if n_values < np.iinfo(np.int32).max else np.int64)
    ends, made = np.cumsum([len(matrix.indices) for matrix in matrices]), []
    for matrix, own in zip(matrices, np.split(places.astype(index), ends[:-1]), strict=True):
        arrays = (matrix.data, own, matrix.indptr.astype(index))
        made.append(type(matrix)(arrays, shape=(matrix.shape[0], max(1, len(columns)))))
    return tuple(made)


def csr_arrays(X: Data) -> tuple[NDArray[np.floating], NDArray[np.integer], NDArray[np.integer]]:
    return X.data, X.indices, X.indptr


def centred(X: Data, Y: Data) -> tuple[Data, Data]:
    """Moves dense samples to where Y is centred: distances stay, and scikit-learn's way to them cancels less."""
    if sp.issparse(X) or sp.issparse(Y):
        return X, Y
    centre = Y.mean(axis=0)
    return X - centre, Y - centre


def squared_distances(X: Data, Y: Data, gamma: float) -> Floats:
    """‖x − y‖², by norms where gamma times it is then off by FINE at most, as of all but rows far apart; else by
    differences, which cost more. Sparse rows that have no room as dense ones are left to norms."""
    X, Y = compact(X, Y)
    moved = centred(float64(X), float64(Y))
    if norm_error(*moved, gamma) <= FINE or not all(map(has_dense_room, moved)):
        return euclidean_distances(*moved, squared=True)
    return cdist(
        *(np.asarray(each.toarray() if sp.issparse(each) else each, np.float64) for each in (X, Y)), "sqeuclidean"
    )


def norm_error(X: Data, Y: Data, gamma: float) -> float:
    """What gamma ‖x − y‖² is off by where it is ‖x‖² + ‖y‖² − 2 x·y: a bound of the first order."""
    unit = np.finfo(np.float64).eps * (X.shape[1] + 7)
    return gamma * unit * sum(float(row_norms(each, squared=True).max(initial=0.0)) for each in (X, Y))


def has_dense_room(X: Data) -> bool:
    return X.shape[0] * X.shape[1] <= DENSE_VALUES


def dot(X: Data, Y: Data) -> Floats:
    X, Y = compact(X, Y)
    return safe_sparse_dot(float64(X), float64(Y).T, dense_output=True)
