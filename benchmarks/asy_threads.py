"""AsyGCD on two threads against one and against the serial GCD, for both ways of sharing scores."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks import timing
from benchmarks.box_problems import DATA, Case, case
from benchmarks.results import Row, row

__all__ = ["DATA", "run"]

SPEEDUP = 1.6
EXPLANATIONS = {
    "a9a": "Most of the time goes into 15,000 rows of K of 32,561 samples each, which are bound by memory that both "
    "threads share; and two threads take about twice the steps of one, as they choose within their halves."
}


def run(quick: bool) -> list[Row]:
    """The bound stands for sharing="log"; atomic sharing is printed beside it, where a run of it is short enough."""
    if quick:
        return _race(case("california", 1500), repeats=1, atomic=True)
    return _race(case("california"), repeats=5, atomic=True) + _race(case("a9a"), repeats=5, atomic=False)


def _race(problem: Case, repeats: int, atomic: bool) -> list[Row]:
    from ordsvm.solvers import GCD, AsyGCD

    results: dict[str, Any] = {}

    def contestant(name: str, solver: Any, n_threads: int) -> Any:
        def call() -> None:
            results[name] = problem.solve(solver, n_threads)

        return call

    runs = {"serial": contestant("serial", GCD(), 1)}
    for sharing in ("log", "atomic") if atomic else ("log",):
        for n_threads in (1, 2):
            runs[f"{sharing} {n_threads}"] = contestant(f"{sharing} {n_threads}", AsyGCD(sharing=sharing), n_threads)
    slow = {name: call for name, call in runs.items() if name.startswith("atomic")}
    times = timing.alternate({name: call for name, call in runs.items() if name not in slow}, repeats)
    times |= timing.alternate(slow, 1) if slow else {}
    return [
        row(
            f"{problem.name}: seconds of the serial GCD / of AsyGCD, {name} thread(s)",
            timing.ratio(times["serial"], times[name]),
            at_least=SPEEDUP if name == "log 2" else None,
            explanation=EXPLANATIONS.get(problem.name),
            seconds=statistics.median(times[name]),
            serial_seconds=statistics.median(times["serial"]),
            repeats=len(times[name]),
            steps=results[name].n_iter,
            relative_gap=results[name].relative_gap,
        )
        for name in runs
        if name != "serial"
    ]
