"""Tasks of Python on threads, while the calling one checks for a stop signal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

from ordsvm.stopping import CallingThread, started_pool, submit

CHECK_INTERVAL = 0.02  # seconds between two checks for a stop signal


class Stopped(Exception):
    """The run is interrupted."""


class StopSignal:
    """Whether a task is to be left unfinished; the core calls `report` in the middle of one.

    `should_stop` is called every time; None: the signal is set from outside. Every tolerance is accepted.
    """

    report_every = 0

    def __init__(self, should_stop: Callable[[], bool] | None) -> None:
        self._event = Event()
        self._should_stop = should_stop

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def report(self, steps: int, kernel_rows: int) -> bool:
        if self._should_stop is not None and self._should_stop():
            self.set()
        return self.is_set()

    def out_of_time(self) -> bool:
        return self.report(0, 0)

    def judge(self, tol: float, violation: float) -> float:
        return tol


class Workers:
    """Threads for tasks that release the interpreter's lock. `should_stop` is called meanwhile; True stops them all.

    One thread is the calling one: the tasks themselves then call `should_stop`, through `stop_signal`.
    """

    def __init__(self, n_threads: int, should_stop: Callable[[], bool]) -> None:
        pool = started_pool(n_threads) if n_threads > 1 else CallingThread()
        self._pool = None if isinstance(pool, CallingThread) else pool
        self.stop_signal = StopSignal(should_stop if self._pool is None else None)
        self._should_stop = should_stop

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop_signal.set()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The results in order."""
        if self._pool is None:
            return [self._finished(task(*each)) for each in arguments]
        futures = [submit(self._pool, task, *each) for each in arguments]
        done: SimpleQueue[Future[Any]] = SimpleQueue()  # Ctrl-C leaves its lock whole, which it may not in `wait`
        for future in futures:
            future.add_done_callback(done.put)
        for _ in futures:
            self._wait_for_one(done)
        return [future.result() for future in futures]

    def _wait_for_one(self, done: SimpleQueue[Future[Any]]) -> None:
        while True:
            try:
                done.get(timeout=CHECK_INTERVAL)
                return
            except Empty:
                if self._should_stop():
                    self.stop_signal.set()
                    raise Stopped from None

    def _finished(self, result: Any) -> Any:
        if self.stop_signal.is_set():
            raise Stopped
        return result
