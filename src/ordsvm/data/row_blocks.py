"""CSR blocks in one file, one after the other: starts, columns and values of a block lie side by side."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

VALUE = np.dtype(np.float32)

Csr = tuple[NDArray, NDArray, NDArray[np.float32]]  # starts, columns, values


class StoredBlock(NamedTuple):
    """Where a block lies in the file, how large it is, and what it should contain."""

    offset: int
    n_rows: int
    n_values: int
    checksum: int


def write_block(file: BinaryIO, starts: NDArray, columns: NDArray, values: NDArray) -> StoredBlock:
    """Appends a block: starts and columns of one type, values in float32."""
    offset, checksum = file.tell(), 0
    for array in (starts, columns, values):
        file.write(array.data)
        checksum = zlib.crc32(array.data, checksum)
    return StoredBlock(offset, len(starts) - 1, len(values), checksum)


def end_of(blocks: Sequence[StoredBlock], index: np.dtype) -> int:
    """Where the file ends whose blocks these are."""
    if not blocks:
        return 0
    last = blocks[-1]
    return last.offset + index.itemsize * (last.n_rows + 1) + (index.itemsize + VALUE.itemsize) * last.n_values


def read_blocks(file: Any, blocks: Sequence[StoredBlock], index: np.dtype, unchecked: Sequence[bool]) -> Csr:
    """The rows of some blocks as one matrix in memory of its own; `unchecked` are held against their checksums."""
    starts = np.empty(sum(block.n_rows for block in blocks) + 1, dtype=index)
    columns = np.empty(sum(block.n_values for block in blocks), dtype=index)
    values = np.empty(len(columns), dtype=VALUE)
    row = value = 0
    for block, check in zip(blocks, unchecked, strict=True):
        rows = starts[row : row + block.n_rows + 1]
        entries = slice(value, value + block.n_values)
        _read(file, block, (rows, columns[entries], values[entries]), check)
        rows += value
        row, value = row + block.n_rows, value + block.n_values
    return starts, columns, values


def _read(file: Any, block: StoredBlock, arrays: Csr, check: bool) -> None:
    file.seek(block.offset)
    checksum = 0
    for array in arrays:
        if file.readinto(array.data) != array.nbytes:
            raise OSError("it is shorter than it was")
        checksum = zlib.crc32(array.data, checksum) if check else block.checksum
    if checksum != block.checksum:
        raise OSError("its contents have changed")
