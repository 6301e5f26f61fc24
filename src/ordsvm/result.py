"""What a fit leaves behind: the proof of how good it is, and how it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ordsvm._typing import Floats

# How a fit can end, worst first; `FitResult` says what each means.
STATUSES = ("callback", "time_limit", "max_iter", "early_stopping", "gap", "precision", "converged")


@dataclass(frozen=True)
class Progress:
    """A look at a running fit.

    While a solver runs its scores come from rows of K in float32, so gap and violation are close, not exact.

    Parameters
    ----------
    solver : str
        Name of the solver.
    n_iter : int
        Steps of the solver so far.
    seconds : float
        Time since training began.
    objective : float
        The primal objective, for the best thresholds at this moment.
    gap : float
        Primal minus dual objective.
    relative_gap : float
        The gap divided by the larger of both.
    violation : float
        Violation of the optimality conditions.
    n_support : int
        Number of support vectors.
    kernel_rows : int
        Rows of K computed.
    n_active : int
        Hinges that the solver works on; solvers that shrink leave others out for a while.
    thresholds : ndarray of shape (n_thresholds,)
        The best thresholds for f at this moment, before a fitted model of two ranks moves its own into `intercept_`;
        of `SVR` with a free intercept for targets less their lower median, which it subtracts to train. The errors of
        validation samples are about these.
    validation_mae : float or None, default=None
        Mean distance in ranks of validation samples; None where there are none.
    validation_mze : float or None, default=None
        Share of wrong ranks among validation samples; None where there are none.
    dual_thresholds : ndarray of shape (n_thresholds,)
        Of penalised thresholds −γ, the iterate of the papers, which can be out of order before the end; else the same
        as `thresholds`. Empty in results of 0.1.0.
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
    dual_thresholds: Floats = field(default_factory=lambda: np.empty(0), repr=False)


Callback = Callable[[Progress], object] | None  # a callback that returns True stops training


@dataclass(frozen=True)
class FitResult:
    """The end of a fit, with objective, gap and violation recomputed in float64 from alpha.

    Scores on which they do not depend may be left in float32 by the solver "block"; what these can be off by, at most,
    and an estimate of the rounding of float64 are part of what is claimed (docs/rounding.md).

    Parameters
    ----------
    status : str
        "converged", or what stopped it: "max_iter", "time_limit", "callback", "precision" (tol is finer than float64
        sums are), "gap" (the kernel is not positive semidefinite: the gap does not close, or ‖w‖² < 0),
        "early_stopping" (the error on validation samples no longer fell).
    solver : str
        Name of the solver that ran.
    n_iter : int
        Steps of the solver.
    objective : float
        The primal objective of this model; the optimum lies between objective − gap and objective.
    gap : float
        How far from the optimum the model can be at most, if the kernel is positive semidefinite; with others a small
        gap is no proof. What rounding of scores can do to the objective is part of
        it: where values of the kernel times C reach 1e12, that can be all of it, whatever the status.
    relative_gap : float
        The gap divided by the larger of both objectives.
    violation : float
        Violation of the optimality conditions. A kernel machine converges when this and the relative gap are at most
        tol, a linear machine when the relative gap is.
    seconds : float
        Time of training.
    kernel_rows : int
        Rows of K computed.
    alpha : ndarray of shape (n_hinges,)
        The dual variables, one for every hinge of the formulation.
    history : tuple of Progress, default=()
        The looks at the fit, at a cadence.
    best_look : int or None, default=None
        With early stopping, the place in history of the look whose model this is; None: it is the last one.
    solver_options : dict, default={}
        The options of the solver that ran.
    device : str, default="cpu"
        Where it ran: "cpu", or the GPU, such as "cuda".
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
    device: str = "cpu"

    @property
    def converged(self) -> bool:
        """Whether the solver met its tolerance."""
        return self.status == "converged"

    @property
    def coef_error(self) -> float:
        """How far the weights w are from the optimal ones at most, √(2 · gap): the objective is strongly convex.

        It holds for `coef_` of linear machines, with thresholds or intercepts that are penalised as one vector, and, in
        the norm of the kernel's space, for scores of kernel machines.
        """
        return float(np.sqrt(2.0 * max(0.0, self.gap)))
