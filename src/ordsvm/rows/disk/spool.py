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
from ordsvm.problem.labels import label_array, ordered_dtype_categories
from ordsvm.rows.disk.layouts import INT32_MAX, Arrays, CsrLayout, DenseLayout, Layout, smaller_layout
from ordsvm.rows.disk.row_blocks import VALUE, StoredBlock, write_block
from ordsvm.sparse import check_structure

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
    """Rows on their way into a file. Labels and weights stay in memory: training needs them there.

    The first block with rows decides the layout: dense where that takes less space than CSR.
    """

    def __init__(self, file: BinaryIO, size: BlockSize) -> None:
        self.blocks: list[StoredBlock] = []
        self.n_features = 0
        self.n_samples = 0
        self.layout: Layout = CsrLayout.of_width(0)
        self.lowest_column, self.highest_column = INT32_MAX, -1
        self._labels: list[NDArray[Any]] = []
        self._weights: list[Floats] = []
        self._file, self._size = file, size
        self._received = 0
        self._start_block()

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
        if self.n_samples == 0:
            self.n_features, self.layout = X.shape[1], smaller_layout(X)
        self._labels.append(labels)
        self._weights.extend(weights)
        self._add_rows(self.layout.taken(X))

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
        dense = isinstance(self.layout, DenseLayout)
        facts = {"n_features": self.n_features, "received": self._received, "dense": dense}
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
        is_dense = bool(facts.get("dense"))
        self.layout = DenseLayout(self.n_features) if is_dense else CsrLayout.of_width(self.n_features)
        self._file.truncate(self._written())
        self._file.seek(0, 2)

    def labels(self) -> NDArray[Any]:
        return np.concatenate(self._labels)

    def weights(self) -> Floats | None:
        return np.concatenate(self._weights) if self._weights else None

    def _written(self) -> int:
        """Where the last block ends in the file."""
        if not self.blocks:
            return 0
        last = self.blocks[-1]
        return last.offset + self.layout.n_bytes(last.n_rows, last.n_values)

    def _add_rows(self, X: Any) -> None:
        self.n_samples += X.shape[0]
        if sp.issparse(X):
            self.lowest_column = min(self.lowest_column, int(X.indices.min(initial=INT32_MAX)))
            self.highest_column = max(self.highest_column, int(X.indices.max(initial=-1)))
        ends, first = self.layout.ends(X), 0
        while first < X.shape[0]:
            last = self._last_that_fits(ends, first)
            if last > first:
                self._parts.append(self.layout.part(X, first, last))
                self._rows += last - first
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

    def _write_block(self) -> None:
        n_rows, arrays = self._rows, self.layout.joined(self._parts)
        self._start_block()
        self.blocks.append(write_block(self._file, n_rows, arrays[-1].size, arrays))

    def _start_block(self) -> None:
        self._parts: list[Arrays] = []
        self._rows = self._bytes = 0


def _parts(block: Any) -> tuple[Any, Any, Any]:
    if not isinstance(block, tuple) or len(block) not in (2, 3):
        raise TypeError(f"it is {shortened(block)}: give tuples (X, y) or (X, y, sample_weight).")
    return (*block, None) if len(block) == 2 else block


def _checked_rows(X: Any, n_features: int) -> Any:
    """Dense or CSR in float32, as wide as the blocks before."""
    check_structure(X)
    with np.errstate(over="ignore"):  # what does not fit float32 becomes infinite, and that is an error
        X = check_array(X, accept_sparse="csr", dtype=VALUE, ensure_min_samples=0, input_name="X")
    if n_features and X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features, the blocks before it have {n_features}: give all the same.")
    values = X.data if sp.issparse(X) else X
    if max(values.max(initial=0.0), -values.min(initial=0.0)) > LARGEST:
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
