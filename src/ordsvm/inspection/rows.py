"""Samples as explanations take them: an array, a CSR matrix or a data frame, and some rows of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm.checks import shortened
from ordsvm.sparse import check_structure


def rows_of(X: Any, name: str) -> Any:
    """Rows in two dimensions that can be taken by number, numbers in float64; lists of texts stay a column of texts."""
    if sp.issparse(X):
        check_structure(X, name)
        return X.tocsr().astype(np.float64)
    if hasattr(X, "iloc"):
        if X.ndim == 1:
            raise ValueError(f"{name} is a Series: give a data frame, such as X.iloc[[0]] for one row.")
        return X
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    found = np.asarray(X)
    if found.ndim == 1 and found.dtype.kind in "OUT":
        return found  # texts, for a pipeline that begins with a vectorizer
    if found.ndim != 2:
        raise ValueError(f"{name}={shortened(X)} has {found.ndim} dimensions: give a row for every sample.")
    return found.astype(np.float64, copy=False) if found.dtype.kind in "fiub" else found


def dense_rows_of(X: Any) -> Any:
    """The same for what works column by column."""
    if sp.issparse(X):
        raise TypeError("X is sparse, and columns are changed one by one: give X.toarray(), or some of its rows.")
    return rows_of(X, "X")


def row_count(X: Any) -> int:
    return int(X.shape[0])


def taken(X: Any, which: Any) -> Any:
    """Some rows."""
    return X.iloc[which] if hasattr(X, "iloc") else X[which]
