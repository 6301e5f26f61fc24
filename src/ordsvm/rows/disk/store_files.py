"""The files of a row store, and the small one among them that describes the others."""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ordsvm.atomic_files import NO_SPACE, bring_to_disk, write_durably

ROWS, BLOCKS, LABELS, WEIGHTS, INDEX = "rows.bin", "blocks.npy", "labels.npy", "weights.npy", "store.json"
VERSION, DENSE_VERSION = 1, 2


@dataclass(frozen=True)
class StoreIndex:
    """The shape of the rows, the number of their first column, the type of columns, and what the files contain.

    columns: empty where rows are dense, and lie without columns; such stores are of version 2, others of version 1.
    blocks, labels, weights: checksums of the files; weights is None where there are none.
    """

    n_features: int
    first_column: int
    columns: str
    blocks: int
    labels: int
    weights: int | None

    def write(self, folder: Path, durably: bool = False) -> None:
        """Makes a store of the folder; `durably`: the files that it describes are on the disk before."""
        text = json.dumps({"format": "rows of ordsvm", "version": self._version()} | asdict(self)) + "\n"
        if durably:
            bring_to_disk(*(path for name in (BLOCKS, LABELS, WEIGHTS) if (path := folder / name).exists()))
            write_durably(folder / INDEX, [text.encode()])
        else:
            (folder / INDEX).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        if not (folder / INDEX).is_file():
            raise FileNotFoundError(f"There is no finished row store in {str(folder)!r}: write one there first.")
        try:
            fields = json.loads((folder / INDEX).read_text(encoding="utf-8"))
            version = fields.pop("version") if fields.pop("format") == "rows of ordsvm" else None
            index = cls(**fields) if version in (VERSION, DENSE_VERSION) else None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(f"{str(folder / INDEX)!r} is damaged: write the store anew.") from None
        if index is None:
            versions = f"{VERSION} or {DENSE_VERSION}"
            raise ValueError(f"{str(folder / INDEX)!r} is of version {version}, not {versions}: write the store anew.")
        return index

    def _version(self) -> int:
        return VERSION if self.columns else DENSE_VERSION


def save_array(path: Path, array: NDArray[Any]) -> int:
    """Returns the checksum."""
    np.save(path, array, allow_pickle=False)
    return checksum(array)


def load_array(path: Path, expected: int) -> NDArray[Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise OSError(f"{str(path)!r} can't be read ({error}): write the store anew.") from None
    if checksum(array) != expected:
        raise OSError(f"{str(path)!r} has other contents than were written: write the store anew.")
    return array


def checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)


class TemporaryFolder:
    """A folder in the system's temporary one, which is removed with this object, or when the process ends.

    It is to be removed before it is there, so that no interrupt leaves one behind.

    Parameters
    ----------
    prefix : str
        The beginning of its name.
    """

    def __init__(self, prefix: str) -> None:
        self.path = Path(tempfile.gettempdir()) / f"{prefix}{uuid4().hex}"
        self.remove = weakref.finalize(self, _persistently, shutil.rmtree, self.path, ignore_errors=True)
        self.path.mkdir(mode=0o700)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *error: object) -> None:
        self.remove()


def _persistently(clean: Callable[..., None], *given: Any, **options: Any) -> None:
    """Call a function that can be called again, and again if it is interrupted."""
    try:
        clean(*given, **options)
    except BaseException:
        clean(*given, **options)
        raise


@contextmanager
def new_store(place: Path) -> Iterator[None]:
    """Have a store written to a folder, which is made if need be; whatever goes wrong leaves no part of it behind."""
    if any((place / name).exists() for name in (ROWS, INDEX)):
        raise FileExistsError(f"{str(place)!r} holds a row store already: open it, or give another folder.")
    is_new = not place.exists()
    try:
        place.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        _persistently(_remove_store, place, is_new)
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            full = (
                "A file is as large as files may be (ulimit -f)" if error.errno == errno.EFBIG else "The disk is full"
            )
            message = f"{full}: make room for {str(place)!r}, or give a folder on another disk"
            raise OSError(error.errno, message) from None
        raise


def _remove_store(place: Path, and_folder: bool) -> None:
    for name in (ROWS, BLOCKS, LABELS, WEIGHTS, INDEX):
        (place / name).unlink(missing_ok=True)
    if and_folder and place.exists():
        place.rmdir()
