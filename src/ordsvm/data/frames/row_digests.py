"""Digests of rows, by which a model knows those that it was trained on in whatever file they come.

Rows of the same features and label have the same digest, and as many of them count as known as were trained on. Where
many rows are alike, as those of a few categories are, other rows have the same digests too, and none counts as known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm._typing import Flags, Ints

SEED = 2007  # of the factors: files of models depend on it
AT_ONCE = 4096  # rows of a dense array
LEAST_UNIQUE = 0.9  # share of digests that no other row has
LEAST_FOUND = 0.5  # share of the rows of the training by which a file is known to hold them

Digests = NDArray[np.uint64]


def row_digests(features: Any, codes: Ints) -> Digests:
    """A number of 64 bits for every row: Σ factor·bits of its features and the number of its label. A feature of 0 adds
    nothing: dense and sparse rows have the same digests."""
    draws = np.random.default_rng(SEED).integers(0, 2**63, features.shape[1] + 1, dtype=np.uint64)
    factors, of_label = 2 * draws[1:] + 1, 2 * draws[0] + 1
    return _mixed(_sums(features, factors) + codes.astype(np.uint64) * of_label)


def known_rows(digests: Digests, trained: Digests) -> Flags | None:
    """Which rows are those of these sorted digests; None where that cannot be told."""
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    before = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)  # rows of the same digest
    counts = np.searchsorted(trained, ordered, side="right") - np.searchsorted(trained, ordered)
    found = np.zeros(len(digests), dtype=bool)
    found[order] = before < counts
    if np.count_nonzero(found) < LEAST_FOUND * len(trained):
        return np.zeros(len(digests), dtype=bool)
    return found if len(np.unique(trained)) >= LEAST_UNIQUE * len(trained) else None


def _sums(features: Any, factors: Digests) -> Digests:
    if not sp.issparse(features):
        dense = np.asarray(features)
        starts = range(0, len(dense), AT_ONCE)
        return np.concatenate([(_bits(dense[i : i + AT_ONCE]) * factors).sum(1, dtype=np.uint64) for i in starts])
    rows = sp.csr_array(features)
    parts = _bits(rows.data) * factors[rows.indices]
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(parts, dtype=np.uint64)])
    return ends[rows.indptr[1:]] - ends[rows.indptr[:-1]]


def _bits(values: Any) -> Digests:
    """Of numbers in float64, of which −0 is 0."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mixed(sums: Digests) -> Digests:
    """So that no feature can be read from one."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        sums = (sums ^ (sums >> np.uint64(shift))) * np.uint64(factor)
    return sums ^ (sums >> np.uint64(31))
