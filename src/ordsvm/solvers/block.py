from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.problem import Thresholds
from ordsvm.solvers.base import PRECISIONS, Precision, Run, check_count, check_option
from ordsvm.solvers.team import usable_threads


@dataclass(frozen=True)
class Block:
    """Block SMO on three levels: working sets of working sets, and a kernel product that keeps long rows only.

    q1          samples in a working set; None: half as many again as there are free hinges, from 1024 to 4096
    q2          samples in the small sets that it is worked off by
    precision   of kernel values; scores are summed in float64 and recomputed from α before the end

    The algorithm: cpp/block/block_smo.hpp.
    """

    q1: int | None = None
    q2: int = 256
    precision: Precision = "float32"

    name: ClassVar[str] = "block"
    accepts: ClassVar[frozenset[Thresholds]] = frozenset(Thresholds)

    def __post_init__(self) -> None:
        if self.q1 is not None:
            check_count("q1", self.q1, "samples", least=2)
        check_count("q2", self.q2, "samples", least=2)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        run.native(_core.block, self.precision, self.q1 or 0, self.q2, usable_threads(run.control.n_threads))
