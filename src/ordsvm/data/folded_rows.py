"""Rows that several fits read in the same passes, each of them those of its fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ordsvm import _core
from ordsvm._typing import Ints
from ordsvm.data.rows import block_of

BLOCK_BYTES = 4 << 20  # of a block: stays in cache while one fit after the other works on it
FEW_RUNS, ROWS_OF_A_RUN = 16, 2000  # so many runs are few, or as many as have this length on average
MOST_FOLDS = 60  # of one object: which ones a row is in are the bits of a number


class SharedBlock(NamedTuple):
    """Neighbouring rows, and for every fold that has them the place of the first among those of the fold."""

    rows: _core.RowBlock
    first: dict[int, int]


@dataclass
class FoldRows:
    """The rows of one fold: a `RowSource`."""

    n_samples: int
    n_features: int
    _blocks: list[tuple[int, _core.RowBlock]]

    def blocks(self) -> Iterator[tuple[int, _core.RowBlock]]:
        return iter(self._blocks)

    def shuffled(self, random: np.random.Generator) -> Iterator[tuple[int, _core.RowBlock]]:
        return self.blocks()  # the core visits the rows of a block in random order


class FoldedRows:
    """A copy of the rows of X, ordered by the folds that they are in; those of no fold are left out.

    A fold has its rows in the order of this copy: `numbers(fold)` says which these are.
    """

    def __init__(self, X: Any, folds: Sequence[Ints]) -> None:
        codes = np.zeros(X.shape[0], dtype=np.int64)
        for number, rows in enumerate(folds):
            codes[rows] += 1 << number
        order = np.argsort(codes, kind="stable")
        self._order = order[np.searchsorted(codes[order], 1) :]
        kinds, starts = np.unique(codes[self._order], return_index=True)
        self._runs = list(zip(kinds.tolist(), starts.tolist(), [*starts[1:].tolist(), len(self._order)], strict=True))
        self.n_features = X.shape[1]
        self._sizes = [len(rows) for rows in folds]
        self.blocks = list(self._cut(X[self._order]))

    def numbers(self, fold: int) -> Ints:
        """Which rows of X the fold has, in its order."""
        return np.concatenate([self._order[begin:end] for kind, begin, end in self._runs if kind >> fold & 1])

    def fold(self, number: int) -> FoldRows:
        blocks = [(block.first[number], block.rows) for block in self.blocks if number in block.first]
        return FoldRows(self._sizes[number], self.n_features, blocks)

    def _cut(self, X: Any) -> Iterator[SharedBlock]:
        n_bytes = X.data.nbytes / max(1, X.shape[0])  # of a row: an array or CSR
        n_rows = max(ROWS_OF_A_RUN, int(BLOCK_BYTES / max(1.0, n_bytes)))
        place = [0] * len(self._sizes)
        for kind, begin, end in self._runs:
            members = [fold for fold in range(len(place)) if kind >> fold & 1]
            for start in range(begin, end, n_rows):
                stop = min(end, start + n_rows)
                yield SharedBlock(block_of(X[start:stop]), {fold: place[fold] for fold in members})
                for fold in members:
                    place[fold] += stop - start


def shareable_folds(n_rows: int, folds: Sequence[Ints]) -> Iterator[list[int]]:
    """Folds in groups whose rows can be ordered into long runs: all of a partition, some of those drawn at random."""
    most = max(FEW_RUNS, n_rows // ROWS_OF_A_RUN)
    group: list[int] = []
    codes = np.zeros(n_rows, dtype=np.int64)
    for number, rows in enumerate(folds):
        more = codes.copy()
        more[rows] += 1 << len(group)
        if group and (len(np.unique(more)) > most or len(group) == MOST_FOLDS):
            yield group
            group, more = [], np.zeros(n_rows, dtype=np.int64)
            more[rows] = 1
        group, codes = [*group, number], more
    if group:
        yield group
