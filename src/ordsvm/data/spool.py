"""Rows that come in blocks of any size, checked and written in blocks of one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length

from ordsvm._typing import Floats, Ints
from ordsvm.checkpoint import State
from ordsvm.checks import as_floats, check_number, shortened
from ordsvm.data.row_blocks import VALUE, StoredBlock, end_of, write_block
from ordsvm.labels import label_array, ordered_dtype_categories

INT32_MAX = np.iinfo(np.int32).max
LARGEST = 1e15  # of the values: rows that are longer can't be computed with


@dataclass(frozen=True)
class BlockSize:
    """A block is full when another row would make it larger than this; a longer row is a block of its own."""

    bytes: int
    rows: int | None

    def __post_init__(self) -> None:
        check_number("block_bytes", self.bytes, "a number of bytes from 1 to 2³³", lambda size: 1 <= size <= 2**33)
        if self.rows is not None:
            check_number("block_rows", self.rows, "None or a number of rows from 1 on", lambda rows: rows >= 1)


class Spool:
    """Rows on their way into a file. Labels and weights stay in memory: training needs them there."""

    def __init__(self, file: BinaryIO, size: BlockSize) -> None:
        self.blocks: list[StoredBlock] = []
        self.n_features = 0
        self.n_samples = 0
        self.lowest_column, self.highest_column = INT32_MAX, -1
        self._labels: list[NDArray[Any]] = []
        self._weights: list[Floats] = []
        self._file, self._size = file, size
        self._received = 0
        self._start_block()

    @property
    def index(self) -> np.dtype:
        """The type of columns and starts."""
        return np.dtype(np.int32 if self.n_features <= INT32_MAX else np.int64)

    def add(self, block: Any) -> None:
        """A tuple (X, y) or (X, y, sample_weight)."""
        self._received += 1
        try:
            X, y, weight = _parts(block)
            X = _checked_rows(X, self.n_features)
            if X.shape[0] == 0:
                return
            labels = _checked_labels(y, X, self._labels)
            weights = _checked_weights(weight, X, self._weights, is_first=not self._labels)
        except (TypeError, ValueError) as error:
            raise type(error)(f"Block {self._received} (from row {self.n_samples} on): {error}") from None
        self.n_features = X.shape[1]
        self._labels.append(labels)
        self._weights.extend(weights)
        self._add_rows(X)

    def finish(self) -> None:
        """Writes the rest."""
        if self.n_samples == 0:
            raise ValueError("There are no rows: the stream is empty, or all of its blocks are.")
        if self._rows:
            self._write_block()

    def state(self) -> State:
        """What has come so far, all of it written; `restore` of another spool on the same file goes on from it."""
        if self._rows:
            self._write_block()
        facts = {"n_features": self.n_features, "received": self._received}
        columns = {"lowest": int(self.lowest_column), "highest": int(self.highest_column)}
        arrays = {"blocks": np.array(self.blocks, dtype=np.int64).reshape(-1, len(StoredBlock._fields))}
        if self._labels:
            arrays["labels"] = self.labels()
        if self._weights:
            arrays["weights"] = np.concatenate(self._weights)
        return State(facts | columns, arrays)

    def restore(self, state: State) -> None:
        """Goes on from a state; what the file holds beyond it is cut off."""
        facts, arrays = state.facts, state.arrays
        self.n_features, self._received = int(facts["n_features"]), int(facts["received"])
        self.lowest_column, self.highest_column = int(facts["lowest"]), int(facts["highest"])
        self.blocks = [StoredBlock(*block) for block in arrays["blocks"].tolist()]
        self._labels = [arrays["labels"]] if "labels" in arrays else []
        self._weights = [arrays["weights"]] if "weights" in arrays else []
        self.n_samples = sum(block.n_rows for block in self.blocks)
        self._file.truncate(end_of(self.blocks, self.index))
        self._file.seek(0, 2)

    def labels(self) -> NDArray[Any]:
        return np.concatenate(self._labels)

    def weights(self) -> Floats | None:
        return np.concatenate(self._weights) if self._weights else None

    def _add_rows(self, X: sp.csr_array) -> None:
        self.n_samples += X.shape[0]
        self.lowest_column = min(self.lowest_column, int(X.indices.min(initial=INT32_MAX)))
        self.highest_column = max(self.highest_column, int(X.indices.max(initial=-1)))
        index = self.index.itemsize
        ends = index * np.arange(X.shape[0] + 1) + (index + VALUE.itemsize) * X.indptr.astype(np.int64)  # in bytes
        first = 0
        while first < X.shape[0]:
            last = self._last_that_fits(ends, first)
            if last > first:
                self._take(X, first, last)
                self._bytes += int(ends[last] - ends[first])
                first = last
            else:
                self._write_block()

    def _last_that_fits(self, ends: Ints, first: int) -> int:
        """Behind the rows, from `first` on, that fit into the block; into an empty one, any row does."""
        last = int(np.searchsorted(ends, ends[first] + self._size.bytes - self._bytes, side="right")) - 1
        if self._size.rows is not None:
            last = min(last, first + int(self._size.rows) - self._rows)
        return max(last, first + 1) if self._rows == 0 else last

    def _take(self, X: sp.csr_array, first: int, last: int) -> None:
        """Copies: the arrays are the caller's, who may use them again."""
        part = slice(X.indptr[first], X.indptr[last])
        self._lengths.append(np.diff(X.indptr[first : last + 1]))
        self._columns.append(X.indices[part].astype(self.index))
        self._values.append(X.data[part].copy())
        self._rows += last - first

    def _write_block(self) -> None:
        starts = np.concatenate([[0], np.cumsum(np.concatenate(self._lengths))]).astype(self.index)
        columns, values = np.concatenate(self._columns), np.concatenate(self._values)
        self._start_block()
        self.blocks.append(write_block(self._file, starts, columns, values))

    def _start_block(self) -> None:
        self._lengths: list[NDArray] = []
        self._columns: list[NDArray] = []
        self._values: list[NDArray] = []
        self._rows = self._bytes = 0


def _parts(block: Any) -> tuple[Any, Any, Any]:
    if not isinstance(block, tuple) or len(block) not in (2, 3):
        raise TypeError(f"it is {shortened(block)}: give tuples (X, y) or (X, y, sample_weight).")
    return (*block, None) if len(block) == 2 else block


def _checked_rows(X: Any, n_features: int) -> sp.csr_array:
    """CSR in float32, as wide as the blocks before."""
    with np.errstate(over="ignore"):  # what does not fit float32 becomes infinite, and that is an error
        X = sp.csr_array(check_array(X, accept_sparse="csr", dtype=VALUE, ensure_min_samples=0, input_name="X"))
    if n_features and X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features, the blocks before it have {n_features}: give all the same.")
    if max(X.data.max(initial=0.0), -X.data.min(initial=0.0)) > LARGEST:
        raise ValueError(f"X holds values above {LARGEST:g}, too large to compute with: scale the features.")
    return X


def _checked_labels(y: Any, X: Any, earlier: list[NDArray[Any]]) -> NDArray[Any]:
    if y is None:
        raise ValueError("y is None: give the label or target of every row.")
    if ordered_dtype_categories(y) is not None:
        raise TypeError(
            "y has an ordered dtype, whose order would be lost: give plain labels, and the order to the estimator as "
            "categories=[...]."
        )
    labels = label_array(y)
    check_consistent_length(X, labels)
    texts = {array.dtype.kind == "U" for array in (labels, *earlier[:1])}
    if labels.dtype.kind not in "biufU" or len(texts) > 1:
        raise TypeError("y holds labels of another type: give the labels of all blocks as numbers, or all as strings.")
    return labels.copy()


def _checked_weights(weight: Any, X: Any, earlier: list[Floats], is_first: bool) -> list[Floats]:
    """The weights of the rows, or nothing."""
    if not is_first and (weight is None) == bool(earlier):
        raise ValueError("sample weights have to come with all blocks or with none.")
    if weight is None:
        return []
    weights = as_floats("sample_weight", weight)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight has the shape {weights.shape}: give one number a row.")
    check_consistent_length(X, weights)
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError("sample_weight holds numbers that are negative or not finite: give finite weights ≥ 0.")
    return [weights.copy()]
