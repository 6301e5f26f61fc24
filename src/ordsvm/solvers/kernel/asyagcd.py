from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.kernel.team import PARTITIONS, SHARINGS, Partition, Sharing, check_pace, team
from ordsvm.solvers.options import PRECISIONS, Precision, check_count, check_option


@dataclass(frozen=True)
class AsyAGCD:
    """AsyGCD with active sets (Gu et al. 2020, Algorithms 2 and 3; 2018, Algorithms 2 and 3).

    Hinges that are safely at a bound are left out for a while, and with them the scores of their samples.

    max_shrink_iter   steps of a thread between two looks at what can be left out
    sharing, partition, pace, precision   as for `AsyGCD`

    The algorithm and what it adds to the papers: cpp/solvers/asygcd.hpp.
    """

    max_shrink_iter: int = 10_000
    sharing: Sharing = "log"
    partition: Partition = "sample"
    pace: float = 0.1
    precision: Precision = "float32"

    name: ClassVar[str] = "asyagcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_count("max_shrink_iter", self.max_shrink_iter)
        check_option("sharing", self.sharing, SHARINGS)
        check_option("partition", self.partition, PARTITIONS)
        check_pace(self.pace)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        threads = team(
            run.problem, run.control.n_threads, self.partition, self.sharing, self.max_shrink_iter, self.pace
        )
        run.scores_follow = False  # α is written by several threads, scores are their own
        run.native(_core.asygcd, self.precision, threads)
