"""AsyGCD on two threads against one and against the serial GCD, for both ways of sharing scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks import timing
from benchmarks.results import Row, row
from benchmarks.solver_cases import DATA, Case, box_problem

__all__ = ["DATA", "run"]

SPEEDUP = 1.6
EXPLANATIONS = {
    "a9a": "Most of the time goes into 15,000 rows of K of 32,561 samples each, which are bound by memory that both "
    "threads share; and two threads take about twice the steps of one, as they choose within their halves."
}


def run(quick: bool) -> list[Row]:
    """The bound stands for sharing="log"; atomic sharing is printed beside it, where a run of it is short enough."""
    if quick:
        return _race(box_problem("california", 1500), repeats=1, atomic=True)
    return _race(box_problem("california"), 5, atomic=True) + _race(box_problem("a9a"), 5, atomic=False)


def _race(problem: Case, repeats: int, atomic: bool) -> list[Row]:
    from ordsvm.solvers import GCD, AsyGCD

    def threads(sharing: str) -> dict[str, Callable[[], Any]]:
        return {f"{sharing} {n}": partial(problem.solve, AsyGCD(sharing=sharing), n) for n in (1, 2)}

    race = timing.race({"serial": partial(problem.solve, GCD(), 1)} | threads("log"), repeats)
    if atomic:  # slow: once
        once = timing.race(threads("atomic"), 1)
        race = timing.Race(race.seconds | once.seconds, race.returned | once.returned)
    return [
        row(
            f"{problem.name}: seconds of the serial GCD / of AsyGCD, {name} thread(s)",
            race.ratio("serial", name),
            at_least=SPEEDUP if name == "log 2" else None,
            explanation=EXPLANATIONS.get(problem.name),
            seconds=race.median(name),
            serial_seconds=race.median("serial"),
            repeats=len(race.seconds[name]),
            steps=race.last(name).n_iter,
            relative_gap=race.last(name).relative_gap,
        )
        for name in race.seconds
        if name != "serial"
    ]
