"""Row blocks in one file, one after the other: the arrays of a block lie side by side."""

from __future__ import annotations

import zlib
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

VALUE = np.dtype(np.float32)


class StoredBlock(NamedTuple):
    """Where a block lies in the file, how large it is, and what it should contain."""

    offset: int
    n_rows: int
    n_values: int
    checksum: int


def write_block(file: BinaryIO, n_rows: int, n_values: int, arrays: tuple[NDArray, ...]) -> StoredBlock:
    """Appends the arrays of a block."""
    offset, checksum = file.tell(), 0
    for array in arrays:
        file.write(array.data)
        checksum = zlib.crc32(array.data, checksum)
    return StoredBlock(offset, n_rows, n_values, checksum)


def read_block(file: Any, block: StoredBlock, arrays: tuple[NDArray, ...], check: bool) -> None:
    """Fills the arrays with those of a block; `check`: they are held against its checksum."""
    file.seek(block.offset)
    checksum = 0
    for array in arrays:
        if file.readinto(array.data) != array.nbytes:
            raise OSError("it is shorter than it was")
        checksum = zlib.crc32(array.data, checksum) if check else block.checksum
    if checksum != block.checksum:
        raise OSError("its contents have changed")
