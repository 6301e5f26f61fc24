from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.kernel.team import PARTITIONS, Partition, team
from ordsvm.solvers.options import PRECISIONS, Precision, check_count, check_option


@dataclass(frozen=True)
class AsyORGCD:
    """Blocks on private scores (Gu et al. 2020, Algorithm 4): meant to keep the thresholds in order on the way.

    A thread works on its own view of the scores and takes over what others did only when it has nothing left to do.

    max_inner_iter   steps of a thread before all threads meet
    partition, precision   as for `AsyGCD`

    The algorithm and what it adds to the paper: cpp/solvers/asyorgcd.hpp.
    """

    max_inner_iter: int = 1_000
    partition: Partition = "sample"
    precision: Precision = "float32"

    name: ClassVar[str] = "asyorgcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_count("max_inner_iter", self.max_inner_iter)
        check_option("partition", self.partition, PARTITIONS)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        threads = team(run.problem, run.control.n_threads, self.partition)
        run.scores_follow = False  # α is written by several threads, scores are their own
        run.native(_core.asyorgcd, self.precision, threads, self.max_inner_iter)
