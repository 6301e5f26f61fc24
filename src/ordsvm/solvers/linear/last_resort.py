"""Coordinate descent with a last resort: the interior-point method, where passes over the rows lead nowhere.

`solver="auto"` takes it. Passes are many where features are badly scaled or C is large; iterations by features are few
whatever both are, but each of them costs many passes. How many steps of conjugate gradients an iteration over many
features takes is not known before. So both have shares of the work by turns, which grow: no fit lasts much longer than
by the better one of both. What is counted is work, not time, so that the same data give the same model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from ordsvm._typing import Floats
from ordsvm.solvers.control import Control
from ordsvm.solvers.recorder import after
from ordsvm.solvers.solution import LinearSolution

STEPS_OF_A_PASS = 4.0  # of conjugate gradients, for every pass before: on text a step takes 0.4 to 1.6 times as long
GROWTH = 4  # of both shares from turn to turn

Start = tuple[Floats, Floats]  # dual variables and biases


@dataclass(frozen=True)
class Ways:
    """Two solvers of one problem: from a start, on a clock that has begun at this time; and from the centre, with at
    most so many steps of conjugate gradients."""

    descend: Callable[[Control, Start | None, float], LinearSolution]
    by_features: Callable[[Control, float], LinearSolution]


def solve_with_last_resort(
    ways: Ways, control: Control, start: Start | None, passes: int, started: float
) -> LinearSolution:
    """Descend for so many passes, or until rounding ends that; then go on by features, and so by turns.

    Where rounding ends the interior-point method, the descent goes on to its end. Where max_iter leaves no room for the
    next share of the descent, that method has its own next share at once. `started`: when the clock did.
    """
    descent = ways.descend(replace(control, max_iter=_fewer(control.max_iter, passes)), start, started)
    found = [descent]
    while _gets_nowhere(found, control):
        left = _left(control, found, started)
        n_shares = GROWTH if 0 <= left.max_iter < GROWTH * passes else 1
        found.append(ways.by_features(left, STEPS_OF_A_PASS * n_shares * passes))
        if not _gets_nowhere(found, control):
            break
        is_over = found[-1].result.status == "precision"
        if is_over and descent.result.status == "precision":
            break
        left, passes = _left(control, found, started), GROWTH * passes
        limit = left.max_iter if is_over else _fewer(left.max_iter, passes)
        begin = (descent.beta.array(), descent.intercept)
        descent = ways.descend(replace(left, max_iter=limit), begin, time.perf_counter())
        found.append(descent)
        if is_over:
            break
    return _better(found)


def _gets_nowhere(found: list[LinearSolution], control: Control) -> bool:
    """Return True if the last solver has had its share of the work, or has ended for rounding, and max_iter has not
    been reached."""
    spent = sum(each.result.n_iter for each in found)
    return found[-1].result.status in ("max_iter", "precision") and not 0 <= control.max_iter <= spent


def _fewer(max_iter: int, passes: int) -> int:
    return passes if max_iter < 0 else min(max_iter, passes)


def _left(control: Control, found: list[LinearSolution], started: float) -> Control:
    """What is left of the limits. In a checkpoint the state of the first descent stays: another call goes on there."""
    spent = sum(each.result.n_iter for each in found)
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
