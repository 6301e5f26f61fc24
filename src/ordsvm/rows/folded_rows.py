"""Rows that several fits read in the same passes, each of them those of its fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ordsvm import _core
from ordsvm._typing import Ints
from ordsvm.rows.memory import block_of

BLOCK_BYTES = 4 << 20  # of a block: stays in cache while one fit after the other works on it
FEW_RUNS, ROWS_OF_A_RUN = 16, 2000  # so many runs are few, or as many as have this length on average
SHORT_RUN = 1 << 19  # bytes: shorter ones are worth no second thread, and copies of all are small
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

    A fold has its rows in the order of this copy: `numbers(fold)` says which these are. Where the runs of rows in the
    same folds are short, every fold has a copy of its own instead.
    """

    def __init__(self, X: Any, folds: Sequence[Ints]) -> None:
        self.n_features = X.shape[1]
        self._sizes = [len(rows) for rows in folds]
        self._order, kinds = _ordered(X.shape[0], folds)
        if _n_bytes(X) < SHORT_RUN * len(np.unique(kinds)):
            self._order = np.concatenate(folds)
            kinds = np.repeat([1 << number for number in range(len(folds))], self._sizes)
        values, starts = np.unique(kinds, return_index=True)
        self._runs = list(zip(values.tolist(), starts.tolist(), [*starts[1:].tolist(), len(kinds)], strict=True))
        self.blocks = list(self._cut(X[self._order]))

    def numbers(self, fold: int) -> Ints:
        """Which rows of X the fold has, in its order."""
        return np.concatenate([self._order[begin:end] for kind, begin, end in self._runs if kind >> fold & 1])

    def fold(self, number: int) -> FoldRows:
        blocks = [(block.first[number], block.rows) for block in self.blocks if number in block.first]
        return FoldRows(self._sizes[number], self.n_features, blocks)

    def _cut(self, X: Any) -> Iterator[SharedBlock]:
        n_rows = max(ROWS_OF_A_RUN, int(BLOCK_BYTES * X.shape[0] / max(1, _n_bytes(X))))
        place = [0] * len(self._sizes)
        for kind, begin, end in self._runs:
            members = [fold for fold in range(len(place)) if kind >> fold & 1]
            for start in range(begin, end, n_rows):
                stop = min(end, start + n_rows)
                yield SharedBlock(block_of(X[start:stop]), {fold: place[fold] for fold in members})
                for fold in members:
                    place[fold] += stop - start


def _ordered(n_rows: int, folds: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Numbers of rows by the folds that they are in, and these folds as bits, for every one of them."""
    kinds = np.zeros(n_rows, dtype=np.int64)
    for number, rows in enumerate(folds):
        kinds[rows] += 1 << number
    order = np.argsort(kinds, kind="stable")
    order = order[np.searchsorted(kinds[order], 1) :]
    return order, kinds[order]


def _n_bytes(X: Any) -> int:
    """Of the values of an array or of CSR."""
    return int(X.data.nbytes)


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
