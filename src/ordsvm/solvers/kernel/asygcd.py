from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.kernel.team import PARTITIONS, SHARINGS, Partition, Sharing, check_pace, team
from ordsvm.solvers.options import PRECISIONS, Precision, check_option


@dataclass(frozen=True)
class AsyGCD:
    """Asynchronous greedy coordinate descent (Gu et al. 2020, Algorithm 1; 2018, Algorithm 1).

    Every thread owns a share of the hinges and takes steps on them without waiting for the others.

    sharing     "log": a thread writes its steps to a log that the others apply to their own scores;
                "atomic": it adds them to shared scores by atomic additions, as in the papers
    partition   "sample": a thread owns samples with all their hinges; "threshold": hinges threshold by threshold
    pace        a thread whose step would be shorter than this share of another thread's waits: it would work on what
                is about to change. 0, the papers' way, never waits, and takes up to eight times the steps
    precision   of cached rows of K; scores are summed in float64 and recomputed from α before the end

    The algorithm and what it adds to the papers: cpp/solvers/asygcd.hpp.
    """

    sharing: Sharing = "log"
    partition: Partition = "sample"
    pace: float = 0.1
    precision: Precision = "float32"

    name: ClassVar[str] = "asygcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_option("sharing", self.sharing, SHARINGS)
        check_option("partition", self.partition, PARTITIONS)
        check_pace(self.pace)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        threads = team(run.problem, run.control.n_threads, self.partition, self.sharing, pace=self.pace)
        run.scores_follow = False  # α is written by several threads, scores are their own
        run.native(_core.asygcd, self.precision, threads)
