"""Options that the asynchronous solvers share: how hinges are divided among threads and how steps are passed on."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from ordsvm import _core
from ordsvm.checks import check_number, usable_threads
from ordsvm.solvers.kernel.run import Run

PARTITIONS = ("sample", "threshold")
SHARINGS = ("log", "atomic")
SHRINKS = ("block", "global")
Partition = Literal["sample", "threshold"]
Sharing = Literal["log", "atomic"]
Shrink = Literal["block", "global"]


class Shrinking(NamedTuple):
    """After how many steps hinges are left out, 0 for never, and by which bounds."""

    every: int
    by: Shrink


NO_SHRINKING = Shrinking(0, "block")


def check_pace(pace: Any) -> None:
    check_number("pace", pace, "a number from 0 up to, but not, 1", lambda number: 0 <= number < 1)


def team(
    run: Run,
    partition: Partition,
    sharing: Sharing = "log",
    pace: float = 0.0,
    shrinking: Shrinking = NO_SHRINKING,
) -> _core.Team:
    """At most a thread a sample: each owns hinges."""
    return _core.Team(
        min(usable_threads(run.control.n_threads), run.problem.n_samples),
        getattr(_core.Partition, partition),
        getattr(_core.Sharing, sharing),
        shrinking.every,
        pace,
        getattr(_core.Shrink, shrinking.by),
    )
