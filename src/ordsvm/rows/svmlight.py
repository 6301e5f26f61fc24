"""Reads an svmlight (libsvm) file in pieces, however large it is."""

from __future__ import annotations

import bz2
import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from ordsvm.rows.disk.row_blocks import VALUE
from ordsvm.rows.disk.spool import INT32_MAX

PIECE = 1 << 24  # bytes of text that are parsed at once
Place = tuple[int, int]  # a byte of the text, and the number of the line that begins there
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


def svmlight_blocks(path: str | os.PathLike[str]) -> Iterator[tuple[Any, np.ndarray]]:
    """Blocks (X, y) with columns as they stand in the file. Query ids are left out.

    The number of features follows from the last line at the earliest: until then every block is as wide as can be.
    """
    for block, _ in svmlight_pieces(path):
        yield block


def svmlight_pieces(
    path: str | os.PathLike[str], start: Place = (0, 1), size: int = PIECE, with_queries: bool = False
) -> Iterator[tuple[tuple[Any, ...], Place]]:
    """The same from a place in the file on, which is the end of a line; every block comes with the place behind it.

    With queries blocks are (X, y, ids): an id for every row that has one.
    """
    position, line = start
    for text in _pieces(path, position, size):
        n_lines = text.count(b"\n")
        try:
            block = load_svmlight_file(
                io.BytesIO(text), n_features=INT32_MAX, dtype=VALUE, zero_based=True, query_id=with_queries
            )
        except (ValueError, OverflowError) as error:
            raise ValueError(
                f"{os.fspath(path)!r} is not an svmlight file: somewhere in its lines {line} to {line + n_lines}, "
                f"{error}; lines read 'label column:value column:value', columns ascending."
            ) from None
        position, line = position + len(text), line + n_lines
        yield block, (position, line)


def column_range(lowest: int, highest: int, n_features: int | None, zero_based: bool | str) -> tuple[int, int]:
    """The number of the first column and how many features there are, given the lowest and highest column seen."""
    is_zero_based = lowest == 0 if zero_based == "auto" else bool(zero_based)
    first = 0 if is_zero_based else 1
    if lowest < first:
        raise ValueError("The file has a column 0, so columns do not count from 1: give zero_based=True.")
    found = max(1, highest + 1 - first)
    if n_features is not None and n_features < found:
        raise ValueError(f"The file has {found} features: give at least that many as n_features, not {n_features}.")
    return first, found if n_features is None else int(n_features)


def _pieces(path: str | os.PathLike[str], start: int = 0, size: int = PIECE) -> Iterator[bytes]:
    """Whole lines, about `size` bytes of them at a time, from byte `start` of the text on."""
    rest = b""
    try:
        with OPENERS.get(Path(path).suffix, open)(path, "rb") as file:
            file.seek(start)
            while text := file.read(size):
                head, newline, tail = text.rpartition(b"\n")
                if newline:
                    yield rest + head + newline
                rest = tail if newline else rest + tail
    except (EOFError, gzip.BadGzipFile) as error:
        raise OSError(f"{os.fspath(path)!r} can't be read: {error}.") from None
    if rest:
        yield rest
