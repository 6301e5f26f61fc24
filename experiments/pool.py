"""Processes that run one unit after the other, with one thread each."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from experiments.items import Outcome, Unit

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Ended:
    """A unit that has ended: with an outcome, or with what went wrong."""

    unit: Unit
    outcome: Outcome | None
    error: str = ""


class Pool:
    """At most `jobs` processes. They end with the pool, and, where this process is killed, after their unit."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        for worker in self._idle + self._busy:
            worker.end()

    def is_full(self) -> bool:
        return len(self._busy) >= self.jobs

    def running(self) -> list[Unit]:
        return [worker.unit for worker in self._busy if worker.unit is not None]

    def start(self, unit: Unit) -> None:
        worker = self._idle.pop() if self._idle else _Worker()
        worker.give(unit)
        self._busy.append(worker)

    def wait(self, seconds: float) -> list[Ended]:
        """The units that have ended within this time; returns with the first."""
        if self._busy:
            wait([worker.connection for worker in self._busy], timeout=seconds)
        ended = [(worker, end) for worker in self._busy if (end := worker.ended()) is not None]
        for worker, _ in ended:
            self._busy.remove(worker)
            if worker.process.is_alive():
                self._idle.append(worker)
        return [end for _, end in ended]


class _Worker:
    def __init__(self) -> None:
        self.unit: Unit | None = None
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        with _one_thread():
            self.process.start()
        other.close()

    def give(self, unit: Unit) -> None:
        self.unit = unit
        self.connection.send((unit.function, dict(unit.arguments or {})))

    def ended(self) -> Ended | None:
        if self.unit is None or not self.connection.poll():
            return None
        try:
            outcome, error = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join(10)
            outcome, error = None, f"The process ended with status {self.process.exitcode}."
        return Ended(self.unit, outcome, error)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


@contextmanager
def _one_thread() -> Iterator[None]:
    """The environment that a process inherits: libraries read it when they are loaded."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def serve(connection: Connection) -> None:
    """The loop of a process, until the other end is closed."""
    warnings.simplefilter("ignore")
    while True:
        try:
            function, arguments = connection.recv()
            connection.send(attempt(function, arguments))
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            return


def attempt(function: Any, arguments: dict[str, Any]) -> tuple[Outcome | None, str]:
    """The outcome, with the seconds it took, or the error."""
    began = time.perf_counter()
    try:
        outcome = function(**arguments)
    except Exception:
        return None, traceback.format_exc()
    return outcome | {"seconds": round(time.perf_counter() - began, 3)}, ""
