"""What the asynchronous solvers have in common: how hinges are divided among threads and steps passed on."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any, Literal

from ordsvm import _core
from ordsvm.checks import check_number
from ordsvm.problem import Problem

PARTITIONS = ("sample", "threshold")
SHARINGS = ("log", "atomic")
Partition = Literal["sample", "threshold"]
Sharing = Literal["log", "atomic"]


def usable_threads(n_threads: Any) -> int:
    """None: every core that this process may use, by affinity and OMP_NUM_THREADS."""
    if n_threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ValueError(f"n_threads={n_threads!r} is not valid: give None (all cores) or a whole number from 1 on.")
    return int(n_threads)


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
    """No more threads than samples: every one needs hinges of its own."""
    return _core.Team(
        min(usable_threads(n_threads), problem.n_samples),
        getattr(_core.Partition, partition),
        getattr(_core.Sharing, sharing),
        max_shrink_iter,
        pace,
    )
