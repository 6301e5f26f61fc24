"""What the asynchronous solvers have in common: how hinges are divided among threads and steps passed on."""

from __future__ import annotations

from typing import Literal

from ordsvm import _core
from ordsvm.problem import Problem

PARTITIONS = ("sample", "threshold")
SHARINGS = ("log", "atomic")
Partition = Literal["sample", "threshold"]
Sharing = Literal["log", "atomic"]


def team(
    problem: Problem, n_threads: int, partition: Partition, sharing: Sharing = "log", max_shrink_iter: int = 0
) -> _core.Team:
    """No more threads than samples: every one needs hinges of its own."""
    return _core.Team(
        min(n_threads, problem.n_samples),
        getattr(_core.Partition, partition),
        getattr(_core.Sharing, sharing),
        max_shrink_iter,
    )
