"""How threads that compute are stopped: the jobs of a search at Ctrl-C, and all of them where the process ends.

At exit the interpreter ends threads wherever they wait for its lock, which a native call does not survive. `_end_calls`
stops those calls before: a thread that is training or predicting gets SystemExit, which ends it without a message.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from joblib import Parallel, delayed

from ordsvm import _core

CALL_SECONDS = 10.0  # that native calls have to end at exit; most take a twentieth of one
THREAD_SECONDS = 1.0  # that threads have to leave the functions of this package then


def _end_calls() -> None:
    """At exit, while other threads still get the interpreter's lock."""
    _core.end_calls(CALL_SECONDS)
    deadline = time.monotonic() + THREAD_SECONDS
    while _is_at_work_elsewhere() and time.monotonic() < deadline:
        time.sleep(0.002)
    if len(sys._current_frames()) > 1:  # nothing releases what the frames of such a thread hold
        _core.warn_of_leaks(False)


def _is_at_work_elsewhere() -> bool:
    """Whether a function of this package is on the stack of another thread."""
    for thread, innermost in sys._current_frames().items():
        frame = innermost if thread != threading.get_ident() else None
        while frame is not None:
            if frame.f_globals.get("__name__", "").startswith("ordsvm."):
                return True
            frame = frame.f_back
    return False


def _begin_child() -> None:
    """In a process made by fork: the other threads of its parent are not there, what they held is."""
    _core.forget_calls()
    _core.warn_of_leaks(False)


atexit.register(_end_calls)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


def submit(pool: Executor, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """`pool.submit` for a pool that is open; the end of the process closes it, and then ends this thread too."""
    try:
        return pool.submit(task, *arguments)
    except RuntimeError as error:
        if "shutdown" in str(error):
            raise SystemExit from None
        raise


class CallingThread(Executor):
    """An executor without threads: `submit` does the work."""

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(task(*arguments, **options))
        except BaseException as error:
            future.set_exception(error)
        return future


def started_pool(n_threads: int) -> Executor:
    """Return a pool of as many threads as the system starts, at most `n_threads`; where it refuses all, of none.

    A pool starts threads when it is given work, and loses that work where the system refuses one.
    """
    pool, may_go = ThreadPoolExecutor(n_threads), threading.Event()
    n_started = 0
    try:
        while n_started < n_threads:
            submit(pool, may_go.wait)
            n_started += 1
    except RuntimeError:  # can't start new thread
        may_go.set()
        pool.shutdown(cancel_futures=True)
        return started_pool(n_started) if n_started else CallingThread()
    finally:
        may_go.set()
    return pool


class Jobs:
    """Jobs by joblib, which leaves its threads at work where it is interrupted: these end before `run` does.

    What stops them is an exception in the waiting thread, be it Ctrl-C or one from a job.
    """

    def __init__(self, **options: Any) -> None:
        self.token = _core.StopToken()
        self._options = options
        self._idle = threading.Condition()
        self._running = 0

    def run(self, jobs: Iterable[Callable[[], Any]]) -> list[Any]:
        """The results in order."""
        try:
            return list(Parallel(**self._options)(delayed(_Job(self, job))() for job in jobs))
        except BaseException:
            self.token.set()
            with self._idle:
                self._idle.wait_for(lambda: self._running == 0)
            raise

    def count(self, change: int) -> None:
        with self._idle:
            self._running += change
            self._idle.notify_all()


class _Job:
    """A job that its jobs' token ends. In another process, which joblib ends itself, it is the job alone."""

    def __init__(self, jobs: Jobs, job: Callable[[], Any]) -> None:
        self._jobs = jobs
        self._job = job

    def __call__(self) -> Any:
        token = self._jobs.token
        self._jobs.count(1)
        try:
            if not token.is_set:
                with token:
                    return self._job()
        except SystemExit:
            if not token.is_set:
                raise
        finally:
            self._jobs.count(-1)

    def __reduce__(self) -> tuple[Any, ...]:
        return _bare, (self._job,)


def _bare(job: Callable[[], Any]) -> Callable[[], Any]:
    return job
