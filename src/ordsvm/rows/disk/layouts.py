"""How rows lie in a row block: CSR, with starts and columns, or dense, values alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm._typing import Ints
from ordsvm.rows.disk.row_blocks import VALUE, StoredBlock, read_block
from ordsvm.sparse import range_problem, starts_problem

INT32_MAX = np.iinfo(np.int32).max
DENSE = ""  # the name of the type of columns, where rows have none

Arrays = tuple[NDArray, ...]  # of one or more row blocks; the values are the last


class Layout(Protocol):
    """What the arrays of a row block are."""

    @property
    def columns(self) -> str:
        """The name of the type of columns and starts."""

    def taken(self, X: Any) -> Any:
        """Checked rows, dense or CSR, in this layout."""

    def ends(self, X: Any) -> Ints:
        """Where every row would end in a file, in bytes, from 0 on."""

    def part(self, X: Any, first: int, last: int) -> Arrays:
        """Copies of some rows: the arrays of X are the caller's, who may use them again."""

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        """One block of several parts."""

    def n_bytes(self, n_rows: int, n_values: int) -> int:
        """Of a block."""

    def read(self, file: Any, blocks: Sequence[StoredBlock], unchecked: Sequence[bool]) -> Arrays:
        """Some blocks as one, in memory of its own; `unchecked` are held against their checksums."""

    def core_block(self, rows: Arrays) -> _core.RowBlock:
        """As the core takes it."""

    def matrix(self, rows: Arrays) -> Any:
        """As NumPy or SciPy has it."""


@dataclass(frozen=True)
class CsrLayout:
    """Starts, columns and values. Columns count from `first_column` in the file."""

    n_features: int
    columns: str
    first_column: int = 0

    @classmethod
    def of_width(cls, n_features: int) -> CsrLayout:
        return cls(n_features, np.dtype(np.int32 if n_features <= INT32_MAX else np.int64).name)

    @property
    def index(self) -> np.dtype:
        return np.dtype(self.columns)

    def taken(self, X: Any) -> sp.csr_array:
        return sp.csr_array(X)

    def ends(self, X: sp.csr_array) -> Ints:
        size = self.index.itemsize
        return size * np.arange(X.shape[0] + 1) + (size + VALUE.itemsize) * X.indptr.astype(np.int64)

    def part(self, X: sp.csr_array, first: int, last: int) -> Arrays:
        """Lengths of the rows, columns and values."""
        values = slice(X.indptr[first], X.indptr[last])
        return np.diff(X.indptr[first : last + 1]), X.indices[values].astype(self.index), X.data[values].copy()

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        lengths, columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return np.concatenate([[0], np.cumsum(lengths)]).astype(self.index), columns, values

    def n_bytes(self, n_rows: int, n_values: int) -> int:
        return self.index.itemsize * (n_rows + 1) + (self.index.itemsize + VALUE.itemsize) * n_values

    def read(self, file: Any, blocks: Sequence[StoredBlock], unchecked: Sequence[bool]) -> Arrays:
        starts = np.empty(sum(block.n_rows for block in blocks) + 1, dtype=self.index)
        columns = np.empty(sum(block.n_values for block in blocks), dtype=self.index)
        values = np.empty(len(columns), dtype=VALUE)
        row = value = 0
        for block, check in zip(blocks, unchecked, strict=True):
            rows = starts[row : row + block.n_rows + 1]
            entries = slice(value, value + block.n_values)
            read_block(file, block, (rows, columns[entries], values[entries]), check)
            if check:
                self._require_sound(rows, columns[entries])
            rows += value
            row, value = row + block.n_rows, value + block.n_values
        if self.first_column:
            columns -= self.first_column
        return starts, columns, values

    def _require_sound(self, starts: Ints, columns: Ints) -> None:
        """Raise OSError if the rows of a block as it is stored refer to columns or values that there are not."""
        problem = starts_problem(starts, len(starts) - 1, len(columns))
        problem = problem or range_problem("columns", columns - columns.dtype.type(self.first_column), self.n_features)
        if problem is not None:
            raise OSError(f"its rows are malformed: {problem}")

    def core_block(self, rows: Arrays) -> _core.RowBlock:
        starts, columns, values = rows
        return _core.csr_row_block(values, columns, starts, self.n_features)

    def matrix(self, rows: Arrays) -> sp.csr_matrix:
        starts, columns, values = rows
        return sp.csr_matrix((values, columns, starts), shape=(len(starts) - 1, self.n_features))


@dataclass(frozen=True)
class DenseLayout:
    """Values alone, row by row."""

    n_features: int
    columns: str = DENSE

    def taken(self, X: Any) -> NDArray[np.float32]:
        return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X)

    def ends(self, X: NDArray[np.float32]) -> Ints:
        return VALUE.itemsize * self.n_features * np.arange(X.shape[0] + 1)

    def part(self, X: NDArray[np.float32], first: int, last: int) -> Arrays:
        return (X[first:last].copy(),)

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        return (np.concatenate([values for (values,) in parts]),)

    def n_bytes(self, n_rows: int, n_values: int) -> int:
        return VALUE.itemsize * n_values

    def read(self, file: Any, blocks: Sequence[StoredBlock], unchecked: Sequence[bool]) -> Arrays:
        rows = np.empty((sum(block.n_rows for block in blocks), self.n_features), dtype=VALUE)
        first = 0
        for block, check in zip(blocks, unchecked, strict=True):
            read_block(file, block, (rows[first : first + block.n_rows],), check)
            first += block.n_rows
        return (rows,)

    def core_block(self, rows: Arrays) -> _core.RowBlock:
        return _core.dense_row_block(rows[0])

    def matrix(self, rows: Arrays) -> NDArray[np.float32]:
        return rows[0]


def smaller_layout(X: Any) -> Layout:
    """The one that checked rows take less space in; rows that are CSR stay so."""
    n_rows, n_features = X.shape
    csr, dense = CsrLayout.of_width(n_features), DenseLayout(n_features)
    if sp.issparse(X) or csr.n_bytes(n_rows, int(np.count_nonzero(X))) < dense.n_bytes(n_rows, X.size):
        return csr
    return dense


def stored_layout(n_features: int, columns: str, first_column: int) -> Layout:
    """The layout of a store."""
    return DenseLayout(n_features) if columns == DENSE else CsrLayout(n_features, columns, first_column)
