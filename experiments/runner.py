"""Runs the units of items on all cores, in the order of their urgency, and keeps every one that ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from experiments.items import Item, Scope, Unit
from experiments.pool import Pool
from experiments.records import RecordFile

PLAN_SECONDS = 1.0  # that a plan of what is to be run holds
REPORT_SECONDS = 10.0  # between two lines of progress, where they do not overwrite each other


@dataclass(frozen=True)
class Limits:
    """Processes at once, and seconds after which what still runs is given up."""

    jobs: int
    budget: float | None = None


def run(items: Mapping[str, Item], records: RecordFile, scope: Scope, limits: Limits) -> list[str]:
    """Runs all units that the records lack; what could not be run, one text each.

    Items that take times come first, one unit at a time.
    """
    failed: dict[str, str] = {}
    progress = Progress(limits)
    for alone in (True, False):
        group = {name: item for name, item in items.items() if item.alone is alone}
        if group:
            with Pool(1 if alone else limits.jobs) as pool:
                _run(pool, lambda group=group: planned(group, records, scope), (records, progress), failed)  # type: ignore
    progress.finish(planned(items, records, scope))
    return list(failed.values())


def _run(pool: Pool, plan: Callable[[], list[Unit]], kept: tuple[RecordFile, Progress], failed: dict[str, str]) -> None:
    """A plan takes a tenth of a second where there are thousands of units: it is renewed once a second, or at need."""
    records, progress = kept
    left: list[Unit] = []
    ready: list[Unit] = []
    planned_at = -PLAN_SECONDS
    while True:
        if not ready or time.monotonic() - planned_at >= PLAN_SECONDS:
            left = [unit for unit in plan() if unit.key not in failed]
            started = {unit.key for unit in pool.running()}
            ready = [unit for unit in left if unit.arguments is not None and unit.key not in started]
            planned_at = time.monotonic()
        while ready and not pool.is_full() and not progress.is_over():
            pool.start(ready.pop(0))
        if not pool.running() or progress.is_over():
            return
        for end in pool.wait(progress.next_pause()):
            if end.outcome is None:
                failed[end.unit.key] = f"{end.unit.key}: {end.error}"
            else:
                records.add(end.unit.key, end.outcome)
                progress.note(end.unit, float(end.outcome["seconds"]))
        progress.show(len(records), left, pool.jobs)


def planned(items: Mapping[str, Item], records: RecordFile, scope: Scope) -> list[Unit]:
    """The units of the scope without a record, the most urgent first; two items may share one."""
    units = {unit.key: unit for item in items.values() for unit in item.units(records, scope)}
    missing = [unit for unit in units.values() if unit.key not in records and scope.has(unit.key)]
    return sorted(missing, key=lambda unit: unit.urgency)


class Progress:
    """How far a run is: a line to standard error, with the time left by what units have taken so far."""

    def __init__(self, limits: Limits) -> None:
        self._began = self._shown = time.monotonic()
        self._end = self._began + limits.budget if limits.budget is not None else float("inf")
        self._expected = self._taken = 0.0

    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def next_pause(self) -> float:
        return max(0.0, min(1.0, self._end - time.monotonic()))

    def note(self, unit: Unit, seconds: float) -> None:
        self._expected += unit.cost
        self._taken += seconds

    def show(self, done: int, left: list[Unit], jobs: int) -> None:
        overwrites = sys.stderr.isatty()
        if not overwrites and time.monotonic() - self._shown < REPORT_SECONDS:
            return
        self._shown = time.monotonic()
        rate = self._taken / self._expected if self._expected else 1.0
        seconds = rate * sum(unit.cost for unit in left) / jobs
        line = f"{done} units done, {len(left)} left, about {clock(seconds)}; {clock(self._shown - self._began)} so far"
        print(f"\r{line:<78}" if overwrites else line, end="" if overwrites else "\n", file=sys.stderr, flush=True)

    def finish(self, left: list[Unit]) -> None:
        end = f"{len(left)} units left: the same command goes on." if left else "All units done."
        print(("\n" if sys.stderr.isatty() else "") + end, file=sys.stderr, flush=True)


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min {rest:02} s"
