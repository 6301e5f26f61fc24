"""What dual variables of a linear machine prove, in plain NumPy and float64: what every linear solver is checked by.

    primal   min  ½‖w‖² + ½‖b‖²  +  Σ_il loss_il(g_il)
    dual     max  −½‖w‖² − ½‖b‖²  −  Σ_il conjugate_il(β_il)        Σ_il β_il g_il = ‖w‖² + ‖b‖²

Lanes: w_l = Σ_i β_il x_i, b_l = Σ_i β_il, g_il = w_l·x_i + b_l. Thresholds: w = Σ_il β_il x_i, b_l = −Σ_i β_il,
g_il = w·x_i − b_l. So the gap is Σ [loss(g) + conjugate(β) + β g], a sum of terms that are all ≥ 0. Other w and b, with
their own g, add half their squared distance from these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm._typing import Floats, Labels
from ordsvm.problem import Certificate
from ordsvm.problem.label_table import LabelTable

TILE_VALUES = 2**18  # of float32 that become float64 at a time


@dataclass(frozen=True)
class Losses:
    """The loss of every sample in every lane, or at every threshold: arrays of shape (n_samples, n_lanes).

    As `LabelTable` says, with the weights of the samples in the bounds. Squared, the distances are squared, and the
    bounds are caps of the loss only: β is bounded by 0 where a cap is 0.
    """

    lower: Floats
    upper: Floats
    offset: Floats
    epsilon: Floats
    squared: bool

    def of(self, score: Floats) -> Floats:
        power = 2 if self.squared else 1
        too_low = np.maximum(0.0, self.offset - score - self.epsilon) ** power
        too_high = np.maximum(0.0, score - self.offset - self.epsilon) ** power
        return self.upper * too_low - self.lower * too_high

    def conjugate(self, beta: Floats) -> Floats:
        """Of loss, at −β."""
        return self.epsilon * np.abs(beta) - self.offset * beta + 0.5 * beta * self._bend(beta)

    def bounds(self) -> tuple[Floats, Floats]:
        if not self.squared:
            return self.lower, self.upper
        return np.where(self.lower < 0, -np.inf, 0.0), np.where(self.upper > 0, np.inf, 0.0)

    def violation(self, beta: Floats, score: Floats) -> float:
        """The largest |projected gradient|."""
        low, high = self.bounds()
        slope = score - self.offset + self._bend(beta)
        falls_upward = np.where(beta < high, -(slope + np.where(beta >= 0, 1, -1) * self.epsilon), 0.0)
        falls_downward = np.where(beta > low, slope + np.where(beta > 0, 1, -1) * self.epsilon, 0.0)
        return float(max(0.0, falls_upward.max(), falls_downward.max()))

    def _bend(self, beta: Floats) -> Floats:
        """The derivative of β²/4c, which squared losses add to the dual."""
        cap = np.where(beta > 0, self.upper, -self.lower)
        return np.divide(beta, 2 * cap, out=np.zeros_like(beta), where=self.squared & (beta != 0))


def losses(table: LabelTable, labels: Labels, weight: Floats | None, targets: Floats | None, squared: bool) -> Losses:
    """The rows of the table, one for every sample."""
    factor = np.ones((len(labels), 1)) if weight is None else weight[:, None]
    offset = table.offset[labels] + (0.0 if targets is None else targets[:, None])
    return Losses(factor * table.lower[labels], factor * table.upper[labels], offset, table.epsilon[labels], squared)


def weights(X: Any, beta: Floats, thresholds: bool, intercept: bool = True) -> tuple[Floats, Floats]:
    """w, (n_features, n_lanes), and the best b, (n_lanes,), for these dual variables."""
    b = beta.sum(axis=0) * intercept
    if thresholds:
        return _sums(X, beta.sum(axis=1, keepdims=True)), 0.0 - b
    return _sums(X, beta), b


def _sums(X: Any, columns: Floats) -> Floats:
    """X'·columns in float64."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ columns, dtype=np.float64)
    total = np.zeros((X.shape[1], columns.shape[1]))
    for rows in _tiles(X):
        total += X[rows].astype(np.float64).T @ columns[rows]
    return total


def _scores(X: Any, coef: Floats) -> Floats:
    """X·coef in float64."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ coef, dtype=np.float64)
    score = np.empty((X.shape[0], coef.shape[1]))
    for rows in _tiles(X):
        score[rows] = X[rows].astype(np.float64) @ coef
    return score


def _tiles(X: Any) -> list[slice]:
    """Of rows that become float64: all at once, they would take twice the memory of X."""
    step = max(1, TILE_VALUES // max(1, X.shape[1]))
    return [slice(first, first + step) for first in range(0, X.shape[0], step)]


def certificate(
    X: Any,
    beta: Floats,
    loss: Losses,
    thresholds: bool = False,
    intercept: bool = True,
    b: Floats | None = None,
    coef: Floats | None = None,
) -> Certificate:
    """What a feasible β proves for weights and for intercepts or thresholds b, or for those that it gives."""
    own, best = weights(X, beta, thresholds, intercept)
    b = best if b is None else b
    coef = own if coef is None else coef
    score = _scores(X, coef) + (-b if thresholds else b)
    paid, conjugate, product = loss.of(score), loss.conjugate(beta), beta * score
    return Certificate(
        primal=float(0.5 * (np.sum(coef**2) + b @ b) + paid.sum()),
        dual=float(-0.5 * (np.sum(own**2) + best @ best) - conjugate.sum()),
        gap=float(np.sum(paid + conjugate + product) + 0.5 * (np.sum((coef - own) ** 2) + np.sum((b - best) ** 2))),
        violation=loss.violation(beta, score),
        thresholds=b if thresholds else 0.0 - b,
    )
