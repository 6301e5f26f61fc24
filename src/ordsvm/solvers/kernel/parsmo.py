"""PARSMO: several pairs of hinges at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.checks import check_flag, check_number, usable_threads
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.options import PRECISIONS, Precision, check_count, check_option


@dataclass(frozen=True)
class ParsmoLight:
    """PARSMO (Manno, Palagi & Sagratella 2018, Algorithm 2): the q most violating pairs, and one step for all of them.

    q           pairs in an iteration, the paper's number of processes; 1 is SMO with the most violating pair. Cut to
                half the rows that the cache has room for
    epsilon     the share of its cap within which a hinge counts as being at a bound, until nothing else is left to do
    gathering   the exact step along the sum of all moves; without it they are simply added, and may go too far for ever
    precision   of cached rows of K; scores are summed in float64 and recomputed from α before the end

    Missing rows of K are computed and scores brought up to date on `n_threads` threads, whatever q is; the result does
    not depend on how many. `n_iter` counts iterations; kernel evaluations a process, as the paper counts them, are
    `kernel_rows` · n / q. The algorithm and what it adds to the paper: cpp/solvers/parsmo.hpp.
    """

    q: int = 8
    epsilon: float = 1e-12
    gathering: bool = True
    precision: Precision = "float32"

    name: ClassVar[str] = "parsmo-light"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.FREE, Treatment.ORDERED})
    others: ClassVar[_core.Others] = _core.Others.light

    def __post_init__(self) -> None:
        check_count("q", self.q, "pairs")
        check_number("epsilon", self.epsilon, "a number from 0 up to, but not, 0.5", lambda number: 0 <= number < 0.5)
        check_flag("gathering", self.gathering)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        threads = usable_threads(run.control.n_threads)
        options = _core.ParsmoOptions(self.others, int(self.q), float(self.epsilon), bool(self.gathering), threads)
        if run.control.monitor is not None:
            run.look_every(max(1, run.report_every // int(self.q)))
        run.native(_core.parsmo, self.precision, options)


@dataclass(frozen=True)
class ParsmoCache(ParsmoLight):
    """PARSMO with few kernel evaluations: beside the most violating pair, pairs whose rows of K are in the cache.

    An iteration computes at most two rows, as SMO does. Options as for `ParsmoLight`.
    """

    name: ClassVar[str] = "parsmo-cache"
    others: ClassVar[_core.Others] = _core.Others.cache
