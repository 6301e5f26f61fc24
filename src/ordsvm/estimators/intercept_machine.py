"""What SVC and SVR share: one threshold a problem, whose negative is an intercept, treated as the user chooses."""

from __future__ import annotations

from typing import Any

from ordsvm._typing import Floats
from ordsvm.checks import check_choice
from ordsvm.estimators.base import Fit
from ordsvm.estimators.kernel import KernelMachine, Trained, intercepts
from ordsvm.problem import Treatment
from ordsvm.solvers.auto import is_auto
from ordsvm.solvers.kernel.run import Solver
from ordsvm.solvers.registry import SOLVERS, check_solver

INTERCEPTS = {"free": Treatment.FREE, "penalized": Treatment.PENALIZED, "none": Treatment.NONE}


class InterceptMachine(KernelMachine):
    """A machine whose problems have one threshold each, and a parameter for how it is treated."""

    intercept: Any
    intercept_: Floats

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("intercept", self.intercept, INTERCEPTS)
        _check_pair(self.solver, self.intercept)

    def _treatment(self) -> Treatment:
        return INTERCEPTS[self.intercept]

    def _recover(self, fit: Fit, solution: Trained) -> None:
        super()._recover(fit, solution)
        self.intercept_ = intercepts(solution.solutions)

    def _is_suspect(self, fit: Fit, solution: Trained) -> bool:
        """Whether C may be too small: of one problem with a free intercept that is seen at once."""
        problems = fit.task.problems
        is_free = len(problems) == 1 and problems[0].treatment is Treatment.FREE
        return not is_free or self._may_be_saturated(problems[0])


def _check_pair(solver: Any, intercept: str) -> None:
    """Whether the solver can treat the intercept: if not, which solvers can, and which intercepts it can."""
    if is_auto(solver):
        return
    kind: type[Solver] | Solver | None = SOLVERS.get(solver) if isinstance(solver, str) else solver
    trained = [name for name, treatment in INTERCEPTS.items() if treatment in getattr(kind, "accepts", ())]
    if kind is None or isinstance(solver, type) or intercept in trained or not trained:
        check_solver(solver, INTERCEPTS[intercept])
        return
    able = [name for name, other in SOLVERS.items() if INTERCEPTS[intercept] in other.accepts]
    raise ValueError(
        f"solver={kind.name!r} does not train with intercept={intercept!r}: give intercept="
        f"{' or '.join(map(repr, trained))}, or solver={' or '.join(map(repr, able))}."
    )
