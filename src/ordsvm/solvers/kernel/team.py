"""Options that the asynchronous solvers share: how hinges are divided among threads and how steps are passed on."""

from __future__ import annotations

from typing import Any, Literal

from ordsvm import _core
from ordsvm.checks import check_number, usable_threads
from ordsvm.problem import Problem

PARTITIONS = ("sample", "threshold")
SHARINGS = ("log", "atomic")
Partition = Literal["sample", "threshold"]
Sharing = Literal["log", "atomic"]


def check_pace(pace: Any) -> None:
    check_number("pace", pace, "a number from 0 up to, but not, 1", lambda number: 0 <= number < 1)


def team(
    problem: Problem,
    n_threads: int,
    partition: Partition,
    sharing: Sharing = "log",
    max_shrink_iter: int = 0,
    pace: float = 0.0,
) -> _core.Team:
    """At most a thread a sample: each owns hinges."""
    return _core.Team(
        min(usable_threads(n_threads), problem.n_samples),
        getattr(_core.Partition, partition),
        getattr(_core.Sharing, sharing),
        max_shrink_iter,
        pace,
    )
