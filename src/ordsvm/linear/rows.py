from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm import _core


def linear_rows(X: Any, bias: bool) -> _core.LinearRows:
    """Rows of checked X (CSR, or dense in C order) where they lie, as the core reads them: a 1 appended for a bias."""
    if sp.issparse(X):
        starts = X.indptr.astype(X.indices.dtype, copy=False)
        return _core.linear_rows(X.data, X.indices, starts, n_columns=X.shape[1], bias=bias)
    return _core.linear_rows(np.ascontiguousarray(X), bias=bias)
