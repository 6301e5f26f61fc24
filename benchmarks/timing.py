"""Fair stop-watches: contestants take turns, so that a busy minute of the machine hits all of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any


def thread_limit(threads: int | None) -> AbstractContextManager[Any]:
    """At most so many threads in the BLAS and OpenMP libraries now loaded; None leaves them alone."""
    if threads is None:
        return nullcontext()
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(threads)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def seconds(run: Callable[[], Any]) -> float:
    """Wall-clock seconds of one call, without garbage collection in between."""
    with _no_garbage_collection():
        start = time.perf_counter()
        run()
        return time.perf_counter() - start


def alternate(
    runs: Mapping[str, Callable[[], Any]], repeats: int, threads: int | None = 1, slow: float = float("inf")
) -> dict[str, list[float]]:
    """Seconds of every call: all contestants once, then all again with another one first, `repeats` times.

    Who took longer than `slow` seconds has had its only turn.
    """
    names = list(runs)
    times: dict[str, list[float]] = {name: [] for name in names}
    with thread_limit(threads):
        for turn in range(repeats):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                if not times[name] or times[name][0] <= slow:
                    times[name].append(seconds(runs[name]))
    return times


def ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """How many times longer a took than b, by medians."""
    return statistics.median(a) / statistics.median(b)
