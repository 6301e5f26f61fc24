"""What SVC, SVR and NPSVOR share: scores with an intercept, which is −b of their one threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm.checks import check_choice
from ordsvm.estimators.kernel import KernelMachine, Task
from ordsvm.problem import Treatment
from ordsvm.solvers import SOLVERS, Solution, Solver, check_solver, is_auto

Floats = NDArray[np.float64]

INTERCEPTS = {"free": Treatment.FREE, "penalized": Treatment.PENALIZED, "none": Treatment.NONE}


class OneThresholdMachine(KernelMachine):
    """A machine whose problems have one threshold each."""

    intercept_: Floats

    def _recover(self, task: Task, target: Any, solutions: Sequence[Solution]) -> None:
        self.intercept_ = 0.0 - np.concatenate([solution.thresholds for solution in solutions])

    def _model_thresholds(self) -> list[Floats]:
        return [np.array([-intercept]) for intercept in self.intercept_]

    def _margins(self, X: Any) -> Floats:
        """f(x) + intercept: a row for every sample, a column for every problem."""
        return self._scores(self._check_new_data(X)) + self.intercept_


class InterceptMachine(OneThresholdMachine):
    """Its user chooses how the intercept is treated."""

    intercept: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("intercept", self.intercept, INTERCEPTS)
        _check_pair(self.solver, self.intercept)

    def _thresholds(self) -> Treatment:
        return INTERCEPTS[self.intercept]


def _check_pair(solver: Any, intercept: str) -> None:
    """Whether the solver can treat the intercept: if not, which solvers can, and which intercepts it can."""
    if is_auto(solver):
        return
    kind: type[Solver] | Solver | None = SOLVERS.get(solver) if isinstance(solver, str) else solver
    trained = [name for name, thresholds in INTERCEPTS.items() if thresholds in getattr(kind, "accepts", ())]
    if kind is None or isinstance(solver, type) or intercept in trained or not trained:
        check_solver(solver, INTERCEPTS[intercept])
        return
    able = [name for name, other in SOLVERS.items() if INTERCEPTS[intercept] in other.accepts]
    raise ValueError(
        f"solver={kind.name!r} does not train with intercept={intercept!r}: give intercept="
        f"{' or '.join(map(repr, trained))}, or solver={' or '.join(map(repr, able))}."
    )
