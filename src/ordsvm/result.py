"""What a fit leaves behind: the proof of how good it is, and how it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ordsvm._typing import Floats


@dataclass(frozen=True)
class Progress:
    """A look at a running fit. The objective is the primal one, for the best thresholds at this moment.

    n_active counts the hinges that the solver is working on; solvers that shrink leave others out for a while.
    While a solver runs its scores come from rows of K in float32, so gap and violation are close, not exact.
    validation_mae and validation_mze are the mean distance in ranks and the share of wrong ranks among validation
    samples; None where there are none.
    """

    solver: str
    n_iter: int
    seconds: float
    objective: float
    gap: float
    relative_gap: float
    violation: float
    n_support: int
    kernel_rows: int
    n_active: int
    thresholds: Floats = field(repr=False)
    validation_mae: float | None = None
    validation_mze: float | None = None


@dataclass(frozen=True)
class FitResult:
    """The end of a fit, with objective, gap and violation recomputed in float64 from alpha.

    status        "converged", or what stopped it: "max_iter", "time_limit", "callback", "precision" (tol is finer than
                  float64 sums are), "gap" (the kernel is not positive semidefinite: the gap does not close),
                  "early_stopping" (the error on validation samples no longer fell)
    objective     the primal objective of this model; the optimum lies between objective − gap and objective
    gap           how far from the optimum the model can be at most
    violation     of the optimality conditions; a solver converges when it is at most tol
    n_iter        steps of the solver; kernel_rows: rows of K it computed; seconds: of training
    alpha         the dual variables, one per hinge of the formulation
    history       `Progress` at a cadence
    best_look     with early stopping, the place in history of the look whose model this is; None: it is the last one
    """

    status: str
    solver: str
    n_iter: int
    objective: float
    gap: float
    relative_gap: float
    violation: float
    seconds: float
    kernel_rows: int
    alpha: Floats = field(repr=False)
    history: tuple[Progress, ...] = field(default=(), repr=False)
    best_look: int | None = None
    solver_options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def converged(self) -> bool:
        return self.status == "converged"
