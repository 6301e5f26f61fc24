"""What a checkpoint is of: digests of arrays and of what else a fit is given."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def digest(*values: Any) -> str:
    """Of arrays, sparse matrices, data frames, row stores, texts or None: differs where one of them does."""
    hasher = hashlib.blake2b(digest_size=16)
    for value in values:
        _feed(hasher, value)
    return hasher.hexdigest()


def _feed(hasher: Any, value: Any) -> None:
    if value is None or isinstance(value, str):
        hasher.update(repr(value).encode())
    elif isinstance(fingerprint := getattr(value, "fingerprint", None), str):  # of a row store
        hasher.update(fingerprint.encode())
    elif hasattr(value, "columns") and hasattr(value, "items"):  # a data frame
        for name, column in value.items():
            _feed(hasher, str(name))
            _feed(hasher, np.asarray(column))
    elif sp.issparse(value):
        csr = value.tocsr()
        for part in (np.asarray(csr.shape), csr.data, csr.indices, csr.indptr):
            _feed(hasher, part)
    else:
        _feed_array(hasher, np.asarray(value))


def _feed_array(hasher: Any, array: NDArray[Any]) -> None:
    hasher.update(f"{array.dtype.str} {array.shape}".encode())
    if array.dtype.hasobject:
        hasher.update(repr(array.tolist()).encode())
    else:
        hasher.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def data_identity(X: Any, rest: str) -> dict[str, str]:
    """Of samples in memory, and of what targets and weights make of them."""
    return {"X": digest(X), "labels, targets, weights or samples held out": rest}
