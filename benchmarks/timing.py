"""Stop-watches: contestants take turns, so that a busy minute of the machine slows down all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
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

    A contestant whose first call took more than `slow` seconds is not called again.
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


@dataclass(frozen=True)
class Race:
    """Seconds of every call and what the calls returned, by contestant."""

    seconds: dict[str, list[float]]
    returned: dict[str, list[Any]]

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def medians(self) -> dict[str, float]:
        return {name: self.median(name) for name in self.seconds}

    def ratio(self, a: str, b: str) -> float:
        """How many times longer a took than b, by medians."""
        return self.median(a) / self.median(b)

    def last(self, name: str) -> Any:
        return self.returned[name][-1]


def race(
    runs: Mapping[str, Callable[[], Any]], repeats: int, threads: int | None = 1, slow: float = float("inf")
) -> Race:
    """`alternate`, with what the calls returned."""
    returned: dict[str, list[Any]] = {name: [] for name in runs}

    def kept(name: str) -> Callable[[], None]:
        return lambda: returned[name].append(runs[name]())

    return Race(alternate({name: kept(name) for name in runs}, repeats, threads, slow), returned)


def median_paired_ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """The median over alternations of a's seconds over b's."""
    return statistics.median(one / other for one, other in zip(a, b, strict=True))
