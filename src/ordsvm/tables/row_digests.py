"""Digests of rows, by which a model knows those that it was trained on in whatever file they come.

Rows of the same features and label have the same digest: all that equal a row of the training count as known, copies
of it too. Where many rows of the training are alike, as those of a few categories are, new rows equal them by chance,
and which rows are known cannot be told.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm._typing import Flags, Ints

AT_ONCE = 4096  # rows
LEAST_UNIQUE = 0.9  # share of digests that no other row has
LEAST_FOUND = 0.5  # share of the rows of the training by which a file is known to hold them

Digests = NDArray[np.uint64]


def row_digests(features: Any, codes: Ints) -> Digests:
    """BLAKE2b of every row, cut to 64 bits: the numbers and values of its features that are not 0, and its label's
    number. Dense and sparse rows have the same digests."""
    starts = range(0, features.shape[0], AT_ONCE)
    parts = [_digests(features[i : i + AT_ONCE], codes[i : i + AT_ONCE]) for i in starts]
    return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])


def known_rows(digests: Digests, trained: Digests) -> Flags | None:
    """Return which rows equal a row of the training, by these digests of it; None where that says nothing."""
    if np.count_nonzero(np.isin(trained, digests)) < LEAST_FOUND * len(trained):
        return np.zeros(len(digests), dtype=bool)
    return np.isin(digests, trained) if len(np.unique(trained)) >= LEAST_UNIQUE * len(trained) else None


def _digests(features: Any, codes: Ints) -> Digests:
    rows = sp.csr_array(features, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    indices, ends = rows.indices.astype(np.int64), rows.indptr.tolist()
    digests = bytearray()
    for code, begin, end in zip(codes.tolist(), ends[:-1], ends[1:], strict=True):
        row = indices[begin:end].tobytes() + rows.data[begin:end].tobytes()
        digests += blake2b(row, digest_size=8, salt=code.to_bytes(8, "little")).digest()
    return np.frombuffer(bytes(digests), dtype="<u8").astype(np.uint64)
