"""Sparse samples as they come in: checks of their structure, and the form in which the core reads them.

SciPy looks at the arrays of a sparse matrix neither when it is made nor when they are changed, and follows their
indices wherever these lead, in conversions too. A check comes before anything else touches such a matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
REMEDY = "build it anew from rows, columns and values, as scipy.sparse.csr_array((values, (rows, columns)), shape=...)"


def check_structure(X: Any, name: str = "X") -> None:
    """Raise ValueError if a sparse matrix refers to rows, columns or values that it does not have.

    The cost is that of reading the indices once. A mapping or a set has no rows and is refused by a TypeError; anything
    else passes.
    """
    if not sp.issparse(X):
        if isinstance(X, Mapping | Set):
            kind = type(X).__name__
            raise TypeError(f"{name} is a {kind}: give an array, a sparse matrix, a data frame or a list of rows.")
        return
    check = _CHECKS.get(X.format)
    problem = None if check is None else check(X)
    if problem is not None:
        raise ValueError(f"{name} is a malformed {X.format.upper()} matrix of shape {X.shape}: {problem}; {REMEDY}.")


def canonical(X: Any) -> Any:
    """Return CSR rows with sorted columns, each of them once, as kernels need them; dense samples as they are.

    SciPy's own flag does not change when the arrays do.
    """
    if sp.issparse(X) and not _ascends_by_row(X):
        X = X.copy()
        X.has_sorted_indices = X.has_canonical_format = False
        X.sum_duplicates()
    return readable(X)


def readable(X: Any) -> Any:
    """Return CSR rows with both index arrays of one type, as the core reads them; anything else as it is."""
    if not sp.issparse(X):
        return X
    if X.indices.dtype != X.indptr.dtype:
        X = type(X)((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
        if X.indices.dtype != X.indptr.dtype:  # SciPy may narrow what it is given
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _ascends_by_row(X: Any) -> bool:
    """Return True if the columns of every row of a CSR matrix ascend."""
    steps = X.indices[1:] > X.indices[:-1]
    starts = X.indptr[1:-1]
    steps[starts[(starts > 0) & (starts < len(X.indices))] - 1] = True
    return bool(steps.all())


def _compressed_problem(X: Any) -> str | None:
    """Return what is wrong with a CSR, CSC or BSR matrix; None if nothing is."""
    rows, columns = (1, *X.shape)[-2:]
    if X.format == "csc":
        rows, columns = columns, rows
    if X.format == "bsr":
        if X.data.ndim != 3 or rows % X.data.shape[1] or columns % X.data.shape[2]:
            return f"its blocks, of shape {X.data.shape[1:]}, do not divide it"
        rows, columns = rows // X.data.shape[1], columns // X.data.shape[2]
    for part in ("indptr", "indices"):
        array = getattr(X, part)
        if array.ndim != 1 or array.dtype not in INDEX_TYPES:
            return f"{part} has {array.ndim} dimensions and dtype {array.dtype}, not 1 and int32 or int64"
    n_values = len(X.data)
    if len(X.indices) != n_values:
        return f"it has {len(X.indices)} indices for {n_values} values"
    return starts_problem(X.indptr, rows, n_values) or range_problem("indices", X.indices, columns)


def starts_problem(starts: NDArray[Any], n_rows: int, n_values: int) -> str | None:
    """Return what is wrong with the starts of rows; None if nothing is."""
    if len(starts) != n_rows + 1:
        return f"indptr has {len(starts)} elements, not {n_rows + 1}"
    if starts[0] != 0 or starts[-1] != n_values:
        return f"indptr goes from {starts[0]} to {starts[-1]}, not from 0 to the {n_values} values that there are"
    falls = starts[1:] < starts[:-1]
    if falls.any():
        place = int(falls.argmax())
        return f"indptr falls from {starts[place]} to {starts[place + 1]} at position {place + 1}"
    return None


def range_problem(part: str, indices: NDArray[Any], count: int) -> str | None:
    """Return which index is not from 0 to count − 1; None if all are."""
    if not len(indices):
        return None
    unsigned = indices.view(np.dtype(f"u{indices.itemsize}"))  # negative ones are the largest: one pass finds both
    if int(unsigned.max()) < count:
        return None
    place = int(np.argmax(unsigned))
    return f"{part} has {indices[place]} at position {place}, where 0 to {count - 1} are allowed"


def _coordinates_problem(X: Any) -> str | None:
    """Return what is wrong with a COO matrix; None if nothing is."""
    coords = X.coords if hasattr(X, "coords") else (X.row, X.col)  # SciPy before 1.13
    for number, (array, count) in enumerate(zip(coords, X.shape, strict=True)):
        part = f"coords[{number}]"
        if array.shape != X.data.shape or array.dtype not in INDEX_TYPES:
            return f"{part} has shape {array.shape} and dtype {array.dtype}, not {X.data.shape} and int32 or int64"
        if (problem := range_problem(part, array, count)) is not None:
            return problem
    return None


def _lists_problem(X: Any) -> str | None:
    """Return what is wrong with a matrix of lists; None if nothing is."""
    if len(X.rows) != X.shape[0] or len(X.data) != X.shape[0]:
        return f"it has {len(X.rows)} lists of columns and {len(X.data)} of values"
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            return f"row {row} has {len(columns)} columns and {len(values)} values"
    return range_problem("rows", np.fromiter(chain.from_iterable(X.rows), dtype=np.int64), X.shape[1])


# SciPy checks those of the formats DIA and DOK itself where it converts them.
_CHECKS = {
    "csr": _compressed_problem,
    "csc": _compressed_problem,
    "bsr": _compressed_problem,
    "coo": _coordinates_problem,
    "lil": _lists_problem,
}
