"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_UMASK_LOCK = threading.Lock()
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # a full disk, a quota, a limit of the process


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary name to write to, whose contents become those of `path` when all went well, and vanish otherwise.

    A regular file is replaced at once by one beside it; behind a symbolic link, the file that the link points to. Into
    anything else, such as a device or a pipe, the contents are copied: it is never replaced.
    """
    target = _target(path)
    temporary = _temporary(path, target)
    try:
        yield temporary
        if _is_special(target):
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        else:
            temporary.chmod(0o666 & ~_umask())  # mkstemp's files are readable by their owner only
            temporary.replace(target)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise OSError(
            f"{os.fspath(path)!r} can't be written ({error.strerror}): free some space, or give a name on another disk."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def readable_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without its folder, which any text may hold: bytes that are not UTF-8 are escapes."""
    return os.fsencode(Path(path).name).decode("utf-8", "backslashreplace")


def write_durably(path: Path, pieces: Iterable[Any]) -> None:
    """A regular file of these bytes, which is on the disk, under its name, before this returns."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)  # the name too


def make_folder_durably(folder: Path) -> None:
    """A folder that is on the disk, under its name, before this returns."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder_durably(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """The names in a folder are on the disk before this returns; where folders cannot be opened, they are not."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def bring_to_disk(*paths: Path) -> None:
    """The contents of files are on the disk before this returns."""
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raises where `replacing` would: to be called before hours of work."""
    _temporary(path, _target(path)).unlink()


def _target(path: str | os.PathLike[str]) -> Path:
    """What is written: behind links, the file that they point to."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder: give the name of a file.")
    return target


def _is_special(target: Path) -> bool:
    return target.exists() and not target.is_file()


def _temporary(path: str | os.PathLike[str], target: Path) -> Path:
    """A new, empty file: in the folder of the target, or in that for temporary files where it will be copied."""
    try:
        if _is_special(target) and not os.access(target, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        folder = None if _is_special(target) else target.parent
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=folder)
    except OSError as error:
        raise type(error)(
            f"{os.fspath(path)!r} can't be written ({error.strerror}): give a name in a folder that exists and that "
            "you may write to."
        ) from None
    os.close(handle)
    return Path(name)


def _umask() -> int:
    """Read by setting it: two threads at once could leave the process with that of neither."""
    with _UMASK_LOCK:
        mask = os.umask(0)
        os.umask(mask)
    return mask
