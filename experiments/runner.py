"""Runs the units of items on all cores, in the order of their urgency, and keeps every one that ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from experiments.items import Item, Scope, Unit
from experiments.pool import Pool
from experiments.records import RecordFile

REPORT_SECONDS = 10.0  # between two lines of progress, where they do not overwrite each other


@dataclass(frozen=True)
class Limits:
    """Processes at once, and seconds after which what still runs is given up."""

    jobs: int
    budget: float | None = None


def run(items: Mapping[str, Item], records: RecordFile, scope: Scope, limits: Limits) -> list[str]:
    """Runs all units that the records lack; what could not be run, one text each."""
    failed: dict[str, str] = {}
    progress = Progress(limits)
    with Pool(1 if any(item.alone for item in items.values()) else limits.jobs) as pool:
        while True:
            left = [unit for unit in planned(items, records, scope) if unit.key not in failed]
            started = {unit.key for unit in pool.running()}
            ready = (unit for unit in left if unit.arguments is not None and unit.key not in started)
            for unit in ready:
                if pool.is_full() or progress.is_over():
                    break
                pool.start(unit)
            if not pool.running() or progress.is_over():
                break
            for end in pool.wait(progress.next_pause()):
                if end.outcome is None:
                    failed[end.unit.key] = f"{end.unit.key}: {end.error}"
                else:
                    records.add(end.unit.key, end.outcome)
                    progress.note(end.unit, float(end.outcome["seconds"]))
            progress.show(len(records), left, pool.jobs)
        progress.finish(planned(items, records, scope))
    return list(failed.values())


def planned(items: Mapping[str, Item], records: RecordFile, scope: Scope) -> list[Unit]:
    """The units without a record, the most urgent first; two items may share one."""
    units = {unit.key: unit for item in items.values() for unit in item.units(records, scope)}
    return sorted((unit for unit in units.values() if unit.key not in records), key=lambda unit: unit.urgency)


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
