"""Where a linear machine reads its rows: arrays in memory, as one block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ordsvm import _core
from ordsvm._typing import Ints


class RowSource(Protocol):
    """Row blocks, for any number of passes."""

    n_samples: int
    n_features: int

    def blocks(self) -> Iterator[tuple[int, _core.RowBlock]]:
        """The number of the first row of a block, and the block; from the first row to the last."""

    def shuffled(self, random: np.random.Generator) -> Iterator[tuple[int | Ints, _core.RowBlock]]:
        """All rows in random blocks: the number of the first row of a block or the numbers of all, and the block."""


class RowsInMemory:
    """A CSR matrix (whichever indices, float32 or float64) or a C-ordered array, used where it lies."""

    def __init__(self, X: Any) -> None:
        self.n_samples, self.n_features = X.shape
        self.X = X
        self._block = block_of(X)

    def blocks(self) -> Iterator[tuple[int, _core.RowBlock]]:
        yield 0, self._block

    def shuffled(self, random: np.random.Generator) -> Iterator[tuple[int, _core.RowBlock]]:
        return self.blocks()  # the core visits the rows of a block in random order


def block_of(X: Any) -> _core.RowBlock:
    if not sp.issparse(X):
        return _core.dense_row_block(X)
    index = np.result_type(X.indices, X.indptr)  # SciPy's are of one type, but others may have been set by hand
    columns, starts = (np.ascontiguousarray(array, dtype=index) for array in (X.indices, X.indptr))
    return _core.csr_row_block(np.ascontiguousarray(X.data), columns, starts, X.shape[1])
