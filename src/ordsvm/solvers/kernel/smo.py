from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ordsvm import _core
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.options import PRECISIONS, Precision, check_option


@dataclass(frozen=True)
class SMO:
    """Sequential minimal optimisation (Chu & Keerthi 2007, §3 and §4.4): pairs of hinges, one step at a time.

    selection   "second-order": the partner of the worst hinge is the one with the largest decrease;
                "mvp": the most violating pair, the paper's choice
    precision   of cached rows of K; scores are summed in float64 and recomputed from α before the end

    The algorithm and what it adds to the paper: cpp/solvers/smo.hpp.
    """

    selection: Literal["second-order", "mvp"] = "second-order"
    precision: Precision = "float32"

    name: ClassVar[str] = "smo"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.FREE, Treatment.ORDERED})

    def __post_init__(self) -> None:
        check_option("selection", self.selection, ("second-order", "mvp"))
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        selection = _core.Selection.mvp if self.selection == "mvp" else _core.Selection.second_order
        run.native(_core.smo, self.precision, selection)
