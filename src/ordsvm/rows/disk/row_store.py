"""Rows on disk, for training on more of them than memory holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self

import numpy as np

from ordsvm import _core
from ordsvm._typing import Ints
from ordsvm.checks import check_number, shortened
from ordsvm.rows.disk.layouts import Arrays, DenseLayout, stored_layout
from ordsvm.rows.disk.row_blocks import StoredBlock
from ordsvm.rows.disk.spool import BlockSize, Spool
from ordsvm.rows.disk.store_files import (
    BLOCKS,
    LABELS,
    ROWS,
    WEIGHTS,
    StoreIndex,
    TemporaryFolder,
    load_array,
    new_store,
    save_array,
)
from ordsvm.rows.svmlight import column_range, svmlight_blocks
from ordsvm.stopping import started_pool, submit

BLOCK_BYTES = 1 << 20  # read at once: enough for a disk
WINDOW_BYTES = 1 << 27  # in memory at once: enough to mix rows from all over the store
ORDERED_BYTES = 1 << 24  # of a window of rows in their order: the memory of the last one is used again
SAMPLE_BLOCKS = 8  # that stand for all rows

PathName = str | os.PathLike[str]
ColumnRule = Callable[[Spool], tuple[int, int]]  # the first column and the number of features


class RowStore:
    """Rows with their labels or targets in a folder on disk, to be given to `fit` of a linear machine as X.

    A store is made by `from_blocks`, `from_svmlight` or `open`. Without a folder given, the rows lie in the system's
    temporary folder and are removed when the store is closed, left as a context manager, or no longer used.

    Parameters
    ----------
    folder : Path
        The folder that holds the files.
    index : StoreIndex
        The shape of the rows, and the checksums of the files.
    window_bytes : int
        The size of a window, the rows that are in memory at once.
    owned : TemporaryFolder or None, default=None
        The folder, if it is to be removed with the store.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Number of features.
    y : ndarray of shape (n_samples,)
        Labels or targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows; None where there are none.

    See Also
    --------
    ordsvm.LinearSVOR : Linear machine that takes a store as X.
    sklearn.datasets.load_svmlight_file : Reads svmlight files into memory.

    Notes
    -----
    Values are kept in float32, with their columns or, where the first block is dense and mostly not 0, without them. In
    memory are a window of rows that is worked on and one that is read meanwhile, each of about `window_bytes`, besides
    labels, weights and what the solver keeps of a row. For coordinate descent a window takes row blocks from all over
    the store, others in every pass, so that rows may be in any order: sorted by label, for instance. For that it has to
    hold many of them, a hundred by default.

    `for X, y in store` gives the rows back, a window after the other, X as CSR matrix or, where the rows lie without
    columns, as array (and sample weights as a third item, where there are any): to predict on, for instance.

    Examples
    --------
    >>> from ordsvm import LinearSVOR, RowStore
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> with RowStore.from_blocks((X[i : i + 100], y[i : i + 100]) for i in range(0, 400, 100)) as store:
    ...     model = LinearSVOR().fit(store)
    ...     store.shape
    (400, 10)
    >>> model.result_.converged
    True
    """

    def __init__(
        self, folder: Path, index: StoreIndex, *, window_bytes: int, owned: TemporaryFolder | None = None
    ) -> None:
        self.folder = folder
        self.y = load_array(folder / LABELS, index.labels)
        self.sample_weight = None if index.weights is None else load_array(folder / WEIGHTS, index.weights)
        self.n_samples, self.n_features = len(self.y), index.n_features
        self._index = index
        self._layout = stored_layout(index.n_features, index.columns, index.first_column)
        self._blocks: Ints = load_array(folder / BLOCKS, index.blocks)  # a StoredBlock a row
        self._first_rows = np.concatenate([[0], np.cumsum(self._blocks[:, 1])])
        self._n_windows = min(len(self._blocks), -(-self.n_bytes // window_bytes))
        self._unchecked = np.full(len(self._blocks), owned is None)
        self._is_open = True
        self._owned = owned

    @classmethod
    def from_blocks(
        cls,
        blocks: Iterable[Any],
        folder: PathName | None = None,
        *,
        block_bytes: int = BLOCK_BYTES,
        block_rows: int | None = None,
        window_bytes: int = WINDOW_BYTES,
    ) -> Self:
        """Write blocks of rows to a new store, in one pass.

        Parameters
        ----------
        blocks : iterable of tuples
            Tuples (X, y) or (X, y, sample_weight); X is CSR or dense, of any number of rows.
        folder : str or path-like, default=None
            The folder to write to; None: a temporary one.
        block_bytes : int, default=1048576
            The largest size of the row blocks that the rows are regrouped into, which are read at once.
        block_rows : int or None, default=None
            The largest number of rows in a row block; None: any.
        window_bytes : int, default=134217728
            The size of a window, the rows that are in memory at once.

        Returns
        -------
        RowStore
            The store.
        """
        size = BlockSize(block_bytes, block_rows)
        return cls._written(blocks, folder, size, window_bytes, lambda spool: (0, spool.n_features))

    @classmethod
    def from_svmlight(
        cls,
        path: PathName,
        folder: PathName | None = None,
        *,
        n_features: int | None = None,
        zero_based: bool | Literal["auto"] = "auto",
        block_bytes: int = BLOCK_BYTES,
        block_rows: int | None = None,
        window_bytes: int = WINDOW_BYTES,
    ) -> Self:
        """Write the rows of an svmlight file, read in pieces, to a new store; ids of queries (`qid:`) are left out.

        Parameters
        ----------
        path : str or path-like
            The file, also compressed as .gz or .bz2; query ids are left out.
        folder : str or path-like, default=None
            The folder to write to; None: a temporary one.
        n_features : int or None, default=None
            The number of features; None: as many as the highest column says.
        zero_based : bool or "auto", default="auto"
            Whether columns count from 0; "auto": as in scikit-learn, from 1 where there is no column 0.
        block_bytes : int, default=1048576
            The largest size of the row blocks that the rows are regrouped into, which are read at once.
        block_rows : int or None, default=None
            The largest number of rows in a row block; None: any.
        window_bytes : int, default=134217728
            The size of a window, the rows that are in memory at once.

        Returns
        -------
        RowStore
            The store.
        """
        if n_features is not None:
            check_number("n_features", n_features, "None or a number from 1 on", lambda number: number >= 1)
        if zero_based not in (True, False, "auto"):
            raise ValueError(f"zero_based={shortened(zero_based)} is not valid: give True, False or 'auto'.")
        if not Path(path).is_file():
            raise FileNotFoundError(f"There is no file {os.fspath(path)!r}: give the path of an svmlight file.")

        def columns(spool: Spool) -> tuple[int, int]:
            return column_range(spool.lowest_column, spool.highest_column, n_features, zero_based)

        return cls._written(svmlight_blocks(path), folder, BlockSize(block_bytes, block_rows), window_bytes, columns)

    @classmethod
    def open(cls, folder: PathName, *, window_bytes: int = WINDOW_BYTES) -> Self:
        """Open a store that was written to a folder before.

        Row blocks are compared with their checksums when they are first read.

        Parameters
        ----------
        folder : str or path-like
            The folder.
        window_bytes : int, default=134217728
            The size of a window, the rows that are in memory at once.

        Returns
        -------
        RowStore
            The store.
        """
        index = StoreIndex.read(Path(folder))
        return cls(Path(folder), index, window_bytes=_checked_window(window_bytes))

    @classmethod
    def _written(
        cls, blocks: Iterable[Any], folder: PathName | None, size: BlockSize, window_bytes: int, columns: ColumnRule
    ) -> Self:
        window_bytes = _checked_window(window_bytes)
        owned = TemporaryFolder("ordsvm-rows-") if folder is None else None
        try:
            place = Path(folder or "") if owned is None else owned.path
            with new_store(place):
                with open(place / ROWS, "wb") as file:
                    spool = Spool(file, size)
                    for block in blocks:
                        spool.add(block)
                    spool.finish()
                index = write_index(place, spool, *columns(spool))
            return cls(place, index, window_bytes=window_bytes, owned=owned)
        except BaseException:
            if owned is not None:  # at once: who has the error has this frame, and what it owns
                owned.remove()
            raise

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix, (n_samples, n_features)."""
        return self.n_samples, self.n_features

    @property
    def fingerprint(self) -> str:
        """What differs between stores of other rows, labels or weights: the checksums of all files."""
        return repr(self._index)

    @property
    def n_values(self) -> int:
        """The number of stored values."""
        return int(self._blocks[:, 2].sum())

    @property
    def n_bytes(self) -> int:
        """The size of the rows on disk."""
        return self._layout.n_bytes(self.n_samples, self.n_values)

    @property
    def is_dense(self) -> bool:
        """Whether the rows lie without columns."""
        return isinstance(self._layout, DenseLayout)

    def sample(self) -> Any:
        """Read some rows from all over the store.

        Returns
        -------
        ndarray or CSR matrix of shape (some rows, n_features)
            The rows of a few row blocks.
        """
        numbers = np.unique(np.linspace(0, len(self._blocks) - 1, SAMPLE_BLOCKS).astype(np.int64))
        _, rows = next(self._read([numbers]))
        return self._layout.matrix(rows)

    def blocks(self) -> Iterator[tuple[int, _core.RowBlock]]:
        """Read the rows in their order, a small window after the other.

        Yields
        ------
        first : int
            The number of the first row of the window.
        block : Block
            The window, as the core takes it.
        """
        n_windows = min(len(self._blocks), max(self._n_windows, -(-self.n_bytes // ORDERED_BYTES)))
        for numbers, rows in self._read(self._windows_in_order(n_windows)):
            yield int(self._first_rows[numbers[0]]), self._layout.core_block(rows)

    def shuffled(self, random: np.random.Generator) -> Iterator[tuple[Ints, _core.RowBlock]]:
        """Read the rows in random windows; every row is in one of them.

        Parameters
        ----------
        random : numpy.random.Generator
            Chooses the row blocks of every window.

        Yields
        ------
        numbers : ndarray of int64
            The numbers of the rows of the window.
        block : Block
            The window, as the core takes it.
        """
        for numbers, rows in self._read(self._random_windows(random)):
            yield self._row_numbers(numbers), self._layout.core_block(rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        columns = [self.y] if self.sample_weight is None else [self.y, self.sample_weight]
        for numbers, rows in self._read(self._windows_in_order(self._n_windows)):
            place = slice(self._first_rows[numbers[0]], self._first_rows[numbers[-1] + 1])
            yield self._layout.matrix(rows), *(column[place] for column in columns)

    def close(self) -> None:
        """Remove the rows if they lie in the temporary folder; the store cannot be read any more."""
        self._is_open = False
        if self._owned is not None:
            self._owned.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        size = f"{self.n_samples:,} rows x {self.n_features:,} features, {self.n_values:,} values"
        return f"RowStore({size}, in {str(self.folder)!r})"

    def _windows_in_order(self, n_windows: int) -> list[Ints]:
        """Numbers of neighbouring blocks."""
        return np.array_split(np.arange(len(self._blocks)), n_windows)

    def _random_windows(self, random: np.random.Generator) -> list[Ints]:
        """One row block from every stretch of the store goes to every window: each is a fair sample of all rows."""
        n_windows, n_blocks = self._n_windows, len(self._blocks)
        stretches = [random.permutation(n_windows) for _ in range(-(-n_blocks // n_windows))]
        window = np.concatenate(stretches)[:n_blocks]  # of every block
        ends = np.cumsum(np.bincount(window, minlength=n_windows))
        return np.split(np.argsort(window, kind="stable"), ends[:-1])

    def _row_numbers(self, numbers: Ints) -> Ints:
        """Of all rows of some blocks."""
        return np.concatenate([np.arange(*self._first_rows[number : number + 2]) for number in numbers])

    def _read(self, windows: Sequence[Ints]) -> Iterator[tuple[Ints, Arrays]]:
        """Windows one after the other; a thread reads the next one while the caller works on this one."""
        if not self._is_open:
            raise ValueError("The row store is closed: open or write it anew.")
        with self._file() as file, started_pool(1) as reader:
            ahead = submit(reader, self._load, file, windows[0])
            for numbers, following in zip(windows, [*windows[1:], None], strict=True):
                rows = ahead.result()
                if following is not None:
                    ahead = submit(reader, self._load, file, following)
                yield numbers, rows

    def _file(self) -> BinaryIO:
        try:
            return open(self.folder / ROWS, "rb", buffering=0)
        except OSError as error:
            raise self._unreadable(error) from None

    def _load(self, file: BinaryIO, numbers: Ints) -> Arrays:
        stored = [StoredBlock(*block) for block in self._blocks[numbers].tolist()]
        try:
            rows = self._layout.read(file, stored, self._unchecked[numbers].tolist())
        except OSError as error:
            raise self._unreadable(error) from None
        self._unchecked[numbers] = False
        return rows

    def _unreadable(self, error: OSError) -> OSError:
        return OSError(f"{str(self.folder / ROWS)!r} can't be read ({error}): write the store anew.")


def write_index(place: Path, spool: Spool, first_column: int, n_features: int, durably: bool = False) -> StoreIndex:
    """Writes what describes the rows of a spool, and makes a store of the folder with that."""
    weights = spool.weights()
    index = StoreIndex(
        n_features=n_features,
        first_column=first_column,
        columns=spool.layout.columns,
        blocks=save_array(place / BLOCKS, np.array(spool.blocks, dtype=np.int64)),
        labels=save_array(place / LABELS, spool.labels()),
        weights=None if weights is None else save_array(place / WEIGHTS, weights),
    )
    index.write(place, durably)
    return index


def _checked_window(window_bytes: Any) -> int:
    allowed = "a number of bytes from 1 to 2³³"
    return int(check_number("window_bytes", window_bytes, allowed, lambda size: 1 <= size <= 2**33))
