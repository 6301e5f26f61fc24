"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary name beside `path` to write to, which becomes `path` when all went well and is removed otherwise."""
    temporary = _beside(path)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())  # mkstemp's files are readable by their owner only
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raises where `replacing` would: to be called before hours of work."""
    _beside(path).unlink()


def _beside(path: str | os.PathLike[str]) -> Path:
    """A new, empty file in the folder of `path`."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder: give the name of a file.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise type(error)(
            f"{os.fspath(path)!r} can't be written ({error.strerror}): give a name in a folder that exists and that "
            "you may write to."
        ) from None
    os.close(handle)
    return Path(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
