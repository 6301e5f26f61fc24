"""Tasks of Python on threads, while the calling one listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any

LISTEN = 0.02  # seconds between two questions


class Stopped(Exception):
    """Somebody has said stop."""


class Ear:
    """What the core asks in the middle of a task: whether to leave it unfinished. Takes every answer."""

    report_every = 0

    def __init__(self, ask: Callable[[], bool] | None) -> None:
        self.stop = Event()
        self._ask = ask

    def report(self, steps: int, kernel_rows: int) -> bool:
        if self._ask is not None and self._ask():
            self.stop.set()
        return self.stop.is_set()

    def out_of_time(self) -> bool:
        return self.report(0, 0)

    def judge(self, tol: float, violation: float) -> float:
        return tol


class Workers:
    """Threads for tasks that give the interpreter's lock away. `ask` is asked meanwhile; True stops all of them.

    One thread is the calling one, whose tasks ask themselves, through `ear`.
    """

    def __init__(self, n_threads: int, ask: Callable[[], bool]) -> None:
        self.ear = Ear(ask if n_threads == 1 else None)
        self._ask = ask
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.ear.stop.set()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The results in order."""
        if self._pool is None:
            return [self._finished(task(*each)) for each in arguments]
        futures = [self._pool.submit(task, *each) for each in arguments]
        for future in futures:
            while not wait([future], LISTEN).done:
                if self._ask():
                    self.ear.stop.set()
                    raise Stopped
        return [future.result() for future in futures]

    def _finished(self, result: Any) -> Any:
        if self.ear.stop.is_set():
            raise Stopped
        return result
