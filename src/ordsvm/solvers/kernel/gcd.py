from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.options import PRECISIONS, Precision, check_option


@dataclass(frozen=True)
class GCD:
    """Greedy coordinate descent (Gu et al. 2020, Algorithm 1 with one thread): the worst hinge goes to its minimum.

    precision   of cached rows of K; scores are summed in float64 and recomputed from α before the end

    The algorithm: cpp/solvers/gcd.hpp.
    """

    precision: Precision = "float32"

    name: ClassVar[str] = "gcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        run.native(_core.gcd, self.precision)
