"""How far a Nyström machine is from the exact kernel machine: what is proven, and what is estimated.

Let K be the kernel's matrix and K̃ = ΦΦ' that of the features (kernels/nystroem.py), R = K − K̃, and let P, D and P̃, D̃ be
the objectives with K and with K̃. φ(x) is a projection, so w of the features is a point of the kernel's own feature
space, with the same norm and the same scores: P(w, b) = P̃(w, b). And D(α) = D̃(α) − ½β'Rβ for every α, for the dual
depends on the kernel through −½β'Kβ alone. So, with P* the optimum of the exact kernel machine, for t from 0 to 1,

    0 ≤ P(w, b) − P* ≤ P̃(w, b) − D̃(tα) + ½t² β'Rβ,      β'Rβ ≤ (Σ_i |β_i| √R_ii)²

the latter because R is a matrix of products r_i'r_j with ‖r_i‖² = R_ii. D̃(tα) is t·linear − t²·quadratic, so the best
t is known. β'Rβ itself takes n² values of the kernel, its bound n of them, and some rows of R give an estimate. All of
this up to rounding, and for positive semidefinite kernels only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.solvers.linear.losses import Losses, weights


@dataclass(frozen=True)
class NystroemError:
    """How far a Nyström machine is from the exact kernel machine.

    Parameters
    ----------
    mean_residual : float
        The mean of k(x, x) − ‖φ(x)‖² over the training samples.
    largest_residual : float
        The largest of these.
    excess_bound : float
        A proven bound, up to rounding, on how far the objective of this machine, which is also its objective in the
        problem of the exact kernel machine, is above the optimum of that. It takes the residuals only, and is loose
        where these are not small. NaN where the kernel is not positive semidefinite.
    excess_estimate : float
        A tighter bound, with β'Rβ itself in place of what the residuals say about it, from so many rows of R. Proven
        where all rows were taken, which is so up to 7,071 samples; otherwise an estimate.
    standard_error : float
        Of the estimate, by the scatter over the rows; 0 where all were taken.
    n_sampled : int
        How many rows were taken.

    See Also
    --------
    NystroemSVOR : A machine that keeps it as `approximation_`.

    Examples
    --------
    >>> from ordsvm import NystroemSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> error = NystroemSVOR(n_landmarks=50).fit(X, y).approximation_
    >>> error.excess_estimate <= error.excess_bound
    True
    """

    mean_residual: float
    largest_residual: float
    excess_bound: float
    excess_estimate: float
    standard_error: float
    n_sampled: int


class LeftOut(NamedTuple):
    """β'Rβ, summed over the weight vectors, from so many rows of R."""

    product: float
    standard_error: float
    n_rows: int


class ScaledDual(NamedTuple):
    """The dual of the approximate problem at tα: t·linear − t²·quadratic."""

    linear: float
    quadratic: float

    @classmethod
    def of(cls, features: Any, beta: Floats, loss: Losses, thresholds: bool, intercept: bool) -> ScaledDual:
        coef, b = weights(features, beta, thresholds, intercept)
        whole, half = float(loss.conjugate(beta).sum()), float(loss.conjugate(0.5 * beta).sum())
        bend = 2.0 * (whole - 2.0 * half)  # the conjugate is bend·t² − linear·t
        return cls(bend - whole, bend + 0.5 * float(np.sum(coef**2) + b @ b))

    def best(self, product: float) -> tuple[float, float]:
        """The t of the largest dual with the exact kernel, where β'Rβ is this, and that dual."""
        quadratic = self.quadratic + 0.5 * product
        t = min(1.0, max(0.0, self.linear / (2.0 * quadratic))) if quadratic > 0 else 1.0
        return t, t * self.linear - t * t * quadratic


def bound_by_residuals(residuals: Floats, beta: Floats) -> float:
    """(Σ_i |β_i| √R_ii)², summed over the weight vectors."""
    return float(np.sum((np.sqrt(np.maximum(0.0, residuals)) @ np.abs(beta)) ** 2))
