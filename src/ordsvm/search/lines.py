"""Lines of a search on the disk: one clock for all the files that a process writes them to."""

from __future__ import annotations

import threading
import time
import warnings
from pathlib import Path
from typing import ClassVar

from ordsvm.atomic_files import bring_to_disk, make_folder_durably, sync_folder
from ordsvm.checks import caller_level


class Lines:
    """The files of lines in a folder. A line that can't be written costs that line, and a warning: one for all.

    The system writes lines when it likes; what a power loss can cost is what was written in the last interval.
    """

    _open: ClassVar[dict[Path, Lines]] = {}
    _lock: ClassVar[threading.RLock] = threading.RLock()

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._synced = time.monotonic()
        self._waiting: set[Path] = set()  # written, and perhaps not on the disk
        self._has_warned = False

    @classmethod
    def of(cls, folder: Path) -> Lines:
        """Those of this process."""
        with cls._lock:
            return cls._open.setdefault(folder, cls(folder))

    def append(self, name: str, line: bytes, interval: float) -> bool:
        """Whether the line was written."""
        path = self._folder / name
        with self._lock:
            try:
                make_folder_durably(self._folder)
                with open(path, "ab") as file:
                    file.write(line)
                self._waiting.add(path)
                if time.monotonic() - self._synced >= interval:
                    self._sync()
            except OSError as error:  # which ends no search
                self._warn(error)
                return False
        return True

    def finish(self) -> None:
        """Brings all lines to the disk, those of other processes too: the work on them is done."""
        with self._lock:
            try:
                self._waiting |= set(self._folder.glob("stage*"))
                self._sync()
            except OSError as error:
                self._warn(error)
            self._open.pop(self._folder, None)

    def _sync(self) -> None:
        bring_to_disk(*self._waiting)
        if self._waiting:
            sync_folder(self._folder)
        self._waiting.clear()
        self._synced = time.monotonic()

    def _warn(self, error: OSError) -> None:
        if not self._has_warned:
            warnings.warn(
                f"Outcomes could not be written to the checkpoint, and the search goes on without: {error}",
                RuntimeWarning,
                stacklevel=caller_level(),
            )
        self._has_warned = True
