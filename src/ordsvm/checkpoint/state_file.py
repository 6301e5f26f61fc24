"""States in files: two generations, of which the older one is replaced, so that one of them is always whole.

A file is a line with its format, the length of a header and the header in JSON (the number of the state, its facts, the
names, types and shapes of its arrays), the arrays one after the other, and a digest of all that. It is written beside
its place, brought to the disk and then renamed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ordsvm.atomic_files import make_folder_durably, write_durably
from ordsvm.checkpoint.state import State

FORMAT = b"ordsvm state 1\n"
GENERATIONS = ("state.0", "state.1")
DIGEST_BYTES = 32


class DamagedError(ValueError):
    """A checkpoint that cannot be gone on from."""


class StateFiles:
    """The states in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0

    def latest(self) -> State | None:
        """The last whole state, None where there is no file.

        Raises DamagedError where there are files and none of them is whole.
        """
        for torn in self._folder.glob(".state.*"):  # what a process was writing when it was killed
            torn.unlink(missing_ok=True)
        present = [path for name in GENERATIONS if (path := self._folder / name).is_file()]
        whole = [found for path in present if (found := read_state(path)) is not None]
        if not whole:
            if present:
                raise DamagedError(
                    f"The checkpoint in {str(self._folder)!r} is damaged, in both of its states: remove that folder to "
                    "begin anew."
                )
            return None
        self._number, state = max(whole, key=lambda found: found[0])
        return state

    def write(self, state: State) -> None:
        """Replaces the older generation."""
        make_folder_durably(self._folder)
        number = self._number + 1
        write_durably(self._folder / GENERATIONS[number % 2], _pieces(number, state))
        self._number = number


def read_state(path: Path) -> tuple[int, State] | None:
    """Number and state of a file; None where it is torn or changed."""
    try:
        content = memoryview(path.read_bytes())
    except OSError:
        return None
    body, end = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    is_whole = (
        bytes(content[: len(FORMAT)]) == FORMAT and hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest() == end
    )
    if not is_whole:
        return None
    start = len(FORMAT) + 8
    size = int.from_bytes(body[len(FORMAT) : start], "little")
    header = json.loads(bytes(body[start : start + size]))
    start += size
    arrays = {}
    for name, kind, shape in header["arrays"]:
        dtype = np.dtype(kind)
        arrays[name] = np.frombuffer(body, dtype, prod(shape), start).reshape(shape).copy()
        start += dtype.itemsize * prod(shape)
    return header["number"], State(header["facts"], arrays)


def _pieces(number: int, state: State) -> Iterator[Any]:
    """The file, piece by piece."""
    arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
    table = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    header = json.dumps({"number": number, "facts": state.facts, "arrays": table}).encode()
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    columns: list[Any] = [array.reshape(-1).view(np.uint8) for array in arrays.values()]
    for piece in (FORMAT, len(header).to_bytes(8, "little"), header, *columns):
        digest.update(piece)
        yield piece
    yield digest.digest()
