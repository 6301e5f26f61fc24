"""Rows that are equal and have different labels: the error that no model of these columns can avoid."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.findings import Finding

Hashes = NDArray[np.uint64]

LEAST_ERROR = 0.01  # share of the rows, and
LEAST_SHARE = 0.1  # share of the model's own error, from one of which on the error of duplicates is worth a finding
ROWS_AT_ONCE = 4096


class Unavoidable(NamedTuple):
    """Least errors of any model that gives equal rows equal labels, and how many rows disagree with an equal one.

    absolute is the mean distance in ranks, or in units of a regression's target.
    """

    zero_one: float
    absolute: float
    n_rows: int
    n_groups: int


def unavoidable_error(features: Any, target: Floats) -> Unavoidable:
    """Exact but for collisions of 64-bit hashes, of which a million rows have one with probability 3e-8."""
    _, group = np.unique(row_hashes(features), return_inverse=True)
    order = np.lexsort((target, group))
    group, target = group[order], target[order]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(first, append=len(group))
    middle = target[first + (sizes - 1) // 2]
    absolute = float(np.abs(target - np.repeat(middle, sizes)).sum())
    new_value = (np.diff(group, prepend=-1) != 0) | (np.diff(target, prepend=np.nan) != 0)
    starts = np.flatnonzero(new_value)
    counts = np.diff(starts, append=len(group))
    most = np.maximum.reduceat(counts, np.searchsorted(starts, first))
    disagree = sizes > most
    n = len(group)
    return Unavoidable(float((sizes - most).sum()) / n, absolute / n, int(sizes[disagree].sum()), int(disagree.sum()))


def disagreeing_duplicates(features: Any, target: Floats, own: tuple[float, float], is_ranked: bool) -> Finding | None:
    """`own`: the model's share of wrong labels and mean distance on these rows; is_ranked: whether distances count."""
    if features is None:
        return None
    least = unavoidable_error(features, target)
    share = max(least.zero_one / own[0] if own[0] > 0 else 0.0, least.absolute / own[1] if own[1] > 0 else 0.0)
    if least.n_groups == 0 or (least.zero_one < LEAST_ERROR and share < LEAST_SHARE):
        return None
    bound, now = f"{least.zero_one:.1%} of these labels wrong", f"{own[0]:.1%}"
    if is_ranked:
        bound, now = f"{bound}, or a mean absolute error below {least.absolute:.4g}", f"{now} and {own[1]:.4g}"
    sentence = (
        f"{least.n_rows:,} of {len(target):,} rows are equal to rows with another label: no model of these columns "
        f"gets less than {bound} (now {now})."
    )
    remedy = "Add a column that tells such rows apart, or judge the model by its distance from this bound."
    return Finding("duplicates-disagree", sentence, remedy, least._asdict())


def row_hashes(features: Any) -> Hashes:
    """A number for every row, the same for equal rows, dense or sparse: the sum of mixed bits of its values but 0."""
    if sp.issparse(features):
        values = _hashed(features.data, _mixed(features.indices.astype(np.uint64) + np.uint64(1)))
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
        return sums[features.indptr[1:]] - sums[features.indptr[:-1]]
    keys = _mixed(np.arange(1, features.shape[1] + 1, dtype=np.uint64))
    starts = range(0, features.shape[0], ROWS_AT_ONCE)
    parts = [_hashed(features[at : at + ROWS_AT_ONCE], keys).sum(axis=1, dtype=np.uint64) for at in starts]
    return np.concatenate(parts)


def _hashed(values: Any, keys: Hashes) -> Hashes:
    numbers = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # −0 is 0
    numbers[np.isnan(numbers)] = np.nan
    return np.where(numbers == 0.0, np.uint64(0), _mixed(numbers.view(np.uint64) ^ keys))


def _mixed(bits: Hashes) -> Hashes:
    """Bits that depend on all bits (the finaliser of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def errors(true: Floats | Ints, predicted: Floats | Ints) -> tuple[float, float]:
    """Share of wrong labels, and mean distance."""
    return float(np.mean(true != predicted)), float(np.mean(np.abs(true - predicted)))
