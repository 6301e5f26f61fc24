"""The folder of a checkpoint while a fit uses it: one process at a time, and the same fit every time."""

from __future__ import annotations

import json
import os
import platform
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ordsvm.atomic_files import make_folder_durably, write_durably
from ordsvm.checkpoint.state import Keeper, State
from ordsvm.checkpoint.state_file import DamagedError, StateFiles
from ordsvm.checks import caller_level, check_positive, shortened

try:
    import fcntl
except ImportError:  # Windows: no lock
    fcntl = None  # type: ignore[assignment]

FORMAT = "2"  # of the folder; a checkpoint of another format is refused
INTERVAL = 60.0  # seconds between two states
IDENTITY, LOCK = "identity.json", "lock"
_parent = [os.getppid()]  # of this process, when it began
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _parent.__setitem__(0, os.getppid()))
ABSENT = "none"  # stands for what an identity has no word about


class OtherFitError(ValueError):
    """The checkpoint is of another fit."""


@dataclass(frozen=True)
class Checkpoint:
    """A folder that keeps a long fit, stream or search, for `fit(..., checkpoint=...)`.

    The name of a folder in its place stands for the same with the default interval.

    Parameters
    ----------
    folder : str or path-like
        The folder, which is made if need be.
    interval : float, default=60.0
        Seconds between two states that are written: what a crash can cost at most, besides a look.

    See Also
    --------
    ordsvm.save : Writes a trained model.

    Notes
    -----
    The first call with a folder begins, the same call goes on from the last state in it, and after the end it returns
    what was found, with the same certificate. Another fit, by its data or parameters, is refused. docs/checkpoints.md
    says what counts as the same.

    Examples
    --------
    >>> import tempfile
    >>> from ordsvm import SVOR, Checkpoint
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = SVOR().fit(X, y, checkpoint=Checkpoint(folder, interval=10.0))
    ...     again = SVOR().fit(X, y, checkpoint=folder)
    >>> first.result_.converged, again.result_.n_iter == first.result_.n_iter
    (True, True)
    """

    # kept by tests/test_checkpoints.py::test_the_same_call_after_the_end_returns_the_answer

    folder: str | os.PathLike[str]
    interval: float = INTERVAL

    def __post_init__(self) -> None:
        check_positive("interval", self.interval)
        if not isinstance(self.folder, str | os.PathLike):
            raise TypeError(f"folder={shortened(self.folder)} is not valid: give the name of a folder.")


@dataclass(frozen=True)
class Session:
    """A checkpoint in use. It can be sent to other processes, which work in parts of it.

    is_part       a fit among others, whose identity is that of the whole
    keeps_end     whether the end of a fit is written too
    owner, host   the process that has the lock, and where it runs
    """

    folder: Path
    interval: float = INTERVAL
    is_part: bool = False
    keeps_end: bool = True
    owner: int = field(default_factory=os.getpid)
    host: str = field(default_factory=platform.node)

    def require(self, identity: dict[str, str], of: str = "fit") -> None:
        """Keeps what the fit, or something that comes before it, is of.

        Raises OtherFitError where that was different, or where there was none and the fit was there already.
        """
        if self.is_part:
            return
        kept, now = self._read_identity(), {"format": {"format": FORMAT}, of: identity}
        for name, about in now.items():
            if name in kept or "fit" in kept:
                self._compare(kept.get(name, {}), about)
        if of not in kept:
            make_folder_durably(self.folder)
            text = json.dumps(kept | now, indent=1, ensure_ascii=False) + "\n"
            write_durably(self.folder / IDENTITY, [text.encode()])

    def _compare(self, before: dict[str, str], now: dict[str, str]) -> None:
        for name in now | before:
            one, other = before.get(name, ABSENT), now.get(name, ABSENT)
            if one != other:
                raise OtherFitError(_refusal(self.folder, name, one, other))

    def keeper(self) -> Keeper:
        """Takes the states of a fit, and has the last one of before."""
        files = StateFiles(self.folder)
        resumed, failed = files.latest(), list[OSError]()

        def write(state: State) -> None:
            self.end_if_orphaned()
            try:
                files.write(state)
            except OSError as error:  # which ends no fit
                if not failed:
                    warnings.warn(
                        f"A checkpoint could not be written, and the fit goes on without: {error}",
                        RuntimeWarning,
                        stacklevel=caller_level(),
                    )
                failed.append(error)

        return Keeper(write, self.interval, resumed, self.keeps_end)

    def part(self, name: str, keeps_end: bool = True) -> Session:
        """For a fit among others."""
        return replace(self, folder=self.folder / name, is_part=True, keeps_end=keeps_end)

    def inner(self, name: str) -> Session:
        """For a fit inside, whose identity is compared too."""
        return replace(self, folder=self.folder / name)

    def end_if_orphaned(self) -> None:
        """Ends the fit of a worker whose parent was killed, without a word: the lock is free for another."""
        if os.getpid() == self.owner:
            return
        if os.getppid() != _parent[0] or (platform.node() == self.host and not _is_alive(self.owner)):
            raise SystemExit

    def remove(self) -> None:
        """Removes the folder of a part."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read_identity(self) -> dict[str, dict[str, str]]:
        path = self.folder / IDENTITY
        if not path.exists():
            return {}
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            return {of: _texts(about) for of, about in kept.items()}
        except (ValueError, AttributeError):
            raise DamagedError(f"{str(path)!r} is damaged: remove the folder to begin anew.") from None


def _texts(about: Any) -> dict[str, str]:
    """Of a part of the identity; in format 1 there was one, not named."""
    return {str(name): str(text) for name, text in (about.items() if isinstance(about, dict) else [("format", about)])}


def check_checkpoint(checkpoint: Any) -> Checkpoint | Session | None:
    """What was given as `checkpoint`, or one clear sentence."""
    if checkpoint is None or isinstance(checkpoint, Checkpoint | Session):
        return checkpoint
    if not isinstance(checkpoint, str | os.PathLike) or not os.fspath(checkpoint):
        raise TypeError(
            f"checkpoint={shortened(checkpoint)} is not valid: give None, the name of a folder or a Checkpoint."
        )
    return Checkpoint(checkpoint)


@contextmanager
def opened(checkpoint: Any) -> Iterator[Session | None]:
    """The session of a checkpoint, its folder locked; None for None. The session of a larger work stays open."""
    given = check_checkpoint(checkpoint)
    if given is None or isinstance(given, Session):
        yield given
        return
    folder = Path(given.folder)
    try:
        make_folder_durably(folder)
        lock = open(folder / LOCK, "ab")  # noqa: SIM115
    except OSError as error:
        raise type(error)(
            f"The checkpoint {str(folder)!r} can't be written ({error.strerror}): give a folder that you may write to."
        ) from None
    with lock:
        _lock(lock, folder)
        yield Session(folder, float(given.interval))


def _is_alive(process: int) -> bool:
    """On this machine; True where that cannot be told."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # no signal
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _lock(file: Any, folder: Path) -> None:
    """Until the file is closed, or the process ends in whatever way."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(
            f"The checkpoint {str(folder)!r} is in use by another fit: wait for its end, or give another folder."
        ) from None
    except OSError:  # a file system without locks
        return


def _refusal(folder: Path, name: str, before: str, now: str) -> str:
    parted = f"{name} was {before} and is {now} now" if len(before) + len(now) < 60 else f"{name} differs"
    return (
        f"The checkpoint in {str(folder)!r} is of other data or parameters, as its {parted}: give what it was made "
        "with, or another folder."
    )
