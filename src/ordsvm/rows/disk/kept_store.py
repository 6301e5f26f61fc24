"""The row store of a stream in the folder of a checkpoint: written once, however often the work on it begins anew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from ordsvm.atomic_files import make_folder_durably
from ordsvm.checkpoint import Keeper, Session, State, digest
from ordsvm.rows.disk.row_store import BLOCK_BYTES, RowStore, write_index
from ordsvm.rows.disk.spool import BlockSize, Spool
from ordsvm.rows.disk.store_files import INDEX, ROWS
from ordsvm.rows.svmlight import column_range, svmlight_pieces

FOLDER, UNFINISHED = "rows", "rows-unfinished"  # in the folder of the checkpoint: the store, and where its making is

OTHER_BLOCKS = (
    "The iterator gives other blocks than those that the checkpoint has: give the same ones, or another folder."
)
PIECE = 1 << 20  # bytes of text that are parsed at once: what is lost with them takes a fraction of a second


class Source(Protocol):
    """Rows to be stored, from their beginning or from a place in them."""

    def identity(self) -> dict[str, str]:
        """What tells them from other rows, without reading all of them."""

    def blocks(self, place: Any) -> Iterator[tuple[Any, Any]]:
        """Blocks from a place on (None: from the first), each with the place behind it."""

    def columns(self, spool: Spool) -> tuple[int, int]:
        """The first column and the number of features."""


def kept_store(X: Any, session: Session) -> RowStore:
    """The store of a file or an iterator, in the folder of the checkpoint."""
    source: Source = _Blocks(X) if isinstance(X, Iterator) else _File(X)
    session.require(source.identity(), of="rows")
    folder, unfinished = session.folder / FOLDER, session.part(UNFINISHED, keeps_end=False)
    if not (folder / INDEX).is_file():
        make_folder_durably(folder)
        _write(source, folder, unfinished.keeper())
    unfinished.remove()
    return RowStore.open(folder)


def _write(source: Source, folder: Path, keeper: Keeper) -> None:
    """Goes on from the last state, if there is one."""
    path = folder / ROWS
    with open(path, "r+b" if keeper.resumed is not None and path.exists() else "w+b") as file:
        spool, place = Spool(file, BlockSize(BLOCK_BYTES, None)), None
        if keeper.resumed is not None and path.exists():
            parts = keeper.resumed.parts()
            spool.restore(parts["spool"])
            place = parts["place"].facts["place"]
        for block, behind in source.blocks(place):
            spool.add(block)
            if keeper.due():
                spooled = spool.state()
                _to_disk(file)
                keeper.keep(State.joined({"spool": spooled, "place": State({"place": behind})}))
        spool.finish()
        _to_disk(file)
    write_index(folder, spool, *source.columns(spool), durably=True)


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


class _File:
    """An svmlight file: the same one where it has the same size and the same time of its last change."""

    def __init__(self, path: Any) -> None:
        if not Path(path).is_file():
            raise FileNotFoundError(f"There is no file {os.fspath(path)!r}: give the path of an svmlight file.")
        self._path = path

    def identity(self) -> dict[str, str]:
        found = os.stat(self._path)
        return {"file": f"{found.st_size} bytes, changed at {found.st_mtime_ns}"}

    def blocks(self, place: Any) -> Iterator[tuple[Any, Any]]:
        return svmlight_pieces(self._path, (0, 1) if place is None else tuple(place), PIECE)

    def columns(self, spool: Spool) -> tuple[int, int]:
        return column_range(spool.lowest_column, spool.highest_column, None, "auto")


class _Blocks:
    """An iterator of blocks: the same one where its first block is the same, and those that are passed over are."""

    def __init__(self, blocks: Iterator[Any]) -> None:
        self._rest = blocks
        self._first = next(blocks, None)

    def identity(self) -> dict[str, str]:
        return {"first block of the iterator": _digest_of("", self._first)}

    def blocks(self, place: Any) -> Iterator[tuple[Any, Any]]:
        passed, expected = (0, "") if place is None else place
        number, so_far = 0, ""
        for number, block in enumerate(self._all(), start=1):
            so_far = _digest_of(so_far, block)
            if number == passed and so_far != expected:
                raise ValueError(OTHER_BLOCKS)
            if number > passed:
                yield block, (number, so_far)
        if number < passed:
            raise ValueError(OTHER_BLOCKS)

    def _all(self) -> Iterator[Any]:
        if self._first is not None:
            yield self._first
        yield from self._rest

    def columns(self, spool: Spool) -> tuple[int, int]:
        return 0, spool.n_features


def _digest_of(before: str, block: Any) -> str:
    """Of a block, after others with this digest."""
    return digest(before, *block) if isinstance(block, tuple) else digest(before, repr(type(block)))
