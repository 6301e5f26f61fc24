"""Coordinate descent with a last resort: the interior-point method, where passes over the rows lead nowhere.

`solver="auto"` takes it. Passes are many where features are badly scaled or C is large; iterations by features are few
whatever both are, but each of them costs many passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from ordsvm._typing import Floats
from ordsvm.result import FitResult
from ordsvm.solvers.control import Control
from ordsvm.solvers.recorder import after
from ordsvm.solvers.solution import LinearSolution

Start = tuple[Floats, Floats]  # dual variables and biases


@dataclass(frozen=True)
class Ways:
    """Two solvers of one problem: from a start, on a clock that has begun at this time; and from the centre."""

    descend: Callable[[Control, Start | None, float], LinearSolution]
    by_features: Callable[[Control], LinearSolution]


def solve_with_last_resort(
    ways: Ways, control: Control, start: Start | None, passes: int, started: float
) -> LinearSolution:
    """Descends for so many passes, or until rounding ends that; then goes on by features, and, where these do not
    converge either, descends from where the descent was. `started`: when the clock did."""
    first = ways.descend(replace(control, max_iter=_fewer(control.max_iter, passes)), start, started)
    if not _gets_nowhere(first.result, control):
        return first
    second = ways.by_features(_left(control, [first.result], started))
    if second.result.converged or first.result.status == "precision" or second.result.status != "precision":
        return _better([first, second])
    left = _left(control, [first.result, second.result], started)
    third = ways.descend(left, (first.beta.array(), first.intercept), time.perf_counter())
    return _better([first, second, third])


def _gets_nowhere(result: FitResult, control: Control) -> bool:
    is_stalled = result.status == "max_iter" and not 0 <= control.max_iter <= result.n_iter
    return is_stalled or result.status == "precision"


def _fewer(max_iter: int, passes: int) -> int:
    return passes if max_iter < 0 else min(max_iter, passes)


def _left(control: Control, results: list[FitResult], started: float) -> Control:
    """What is left of the limits. In a checkpoint the state of the first descent stays: another call goes on there."""
    spent = sum(result.n_iter for result in results)
    seconds = time.perf_counter() - started
    return replace(
        control,
        max_iter=control.max_iter if control.max_iter < 0 else max(0, control.max_iter - spent),
        time_limit=None if control.time_limit is None else max(1e-9, control.time_limit - seconds),
        keeper=None,
    )


def _better(found: list[LinearSolution]) -> LinearSolution:
    """The one with the smallest gap, and the trace of all; unless that has converged, the status is the last one's."""
    best, whole = min(found, key=lambda solution: solution.result.gap), reduce(after, [each.result for each in found])
    result = replace(best.result, n_iter=whole.n_iter, seconds=whole.seconds, history=whole.history)
    return replace(best, result=result if result.converged else replace(result, status=whole.status))
