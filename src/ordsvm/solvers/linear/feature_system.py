"""Newton's system of linear machines, by features: what the core adds up in a pass, and its solution.

    weight vectors   (I + X'diag(v)X) dw = X'β − w + X'(pull + τ push)       rows with a 1 appended for an intercept
    thresholds       the same for w and b together, H = [[I + X'diag(Σ_k v_k)X, −X'V], [·, I + diag(Σ_i v_ik)]]

v, pull and push: cpp/linear/interior_point/hinge_tile.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.problem.label_table import LabelTable

FIRST_RIDGE, LAST_RIDGE = 1e-13, 1e-3  # added to the diagonal of H, scaled to 1, where rounding makes it indefinite


def hinge_columns(table: LabelTable) -> _core.HingeColumns:
    """The hinges of every column (a weight vector or a threshold) and label, as the core takes them."""
    return _core.HingeColumns(*hinge_tables(table))


def hinge_tables(table: LabelTable) -> list[Floats]:
    """Sign, offset and cap of first hinges, offset and cap of second ones: (n_columns, n_labels); cap 0: none."""
    upper, lower = table.upper > 0, table.lower < 0
    sign = np.where(upper, 1.0, -1.0)  # of the first hinge; a second one is below
    arrays = (
        sign,
        sign * table.offset - table.epsilon,
        table.bounds(),
        -table.offset - table.epsilon,
        np.where(upper & lower, -table.lower, 0.0),
    )
    return [np.ascontiguousarray(array.T, dtype=np.float64) for array in arrays]


class Point(NamedTuple):
    """Weights of a vector, and thresholds where it has them: (n_weights,) and (n_thresholds,)."""

    weights: Floats
    thresholds: Floats

    def squared_norm(self) -> float:
        return float(self.weights @ self.weights + self.thresholds @ self.thresholds)

    def moved(self, direction: Point, length: float) -> Point:
        return Point(self.weights + length * direction.weights, self.thresholds + length * direction.thresholds)


@dataclass(frozen=True)
class System:
    """The sums of a pass for one weight vector: what its α and its scores prove, and the next direction.

    by_alpha        the weights and thresholds that α gives, X'β and −γ
    loss            of the primal
    linear          the part of the dual that is not quadratic
    complementarity, moved, cut, violation: see cpp/linear/interior_point/hinge_tile.hpp
    """

    matrix: Floats
    by_alpha: Point
    pull: Floats
    push: Floats
    loss: float
    linear: float
    complementarity: float
    moved: float
    cut: float
    violation: float

    @classmethod
    def of(cls, core: Any, vector: int, n_weights: int) -> System:
        """From the core's sums, or from those of a `WideSystem` or of shards."""
        if not isinstance(core, _core.FeatureSystem):
            made: System = core.system(vector)
            return made
        return cls.from_sums(core.sums(vector), core.first_extra, n_weights)

    @classmethod
    def from_sums(cls, sums: tuple[Floats, Floats, Any], first_extra: int, n_weights: int) -> System:
        panel, columns, hinges = sums
        upper, extra = panel[:n_weights, :n_weights], panel[:n_weights, first_extra:]
        m = len(columns)
        matrix = np.zeros((n_weights + m, n_weights + m))  # its upper triangle
        matrix[:n_weights, :n_weights] = np.triu(upper)
        matrix[:n_weights, n_weights:] = -extra[:, :m]
        matrix[n_weights:, n_weights:] = np.diag(columns[:, 0])
        matrix[np.diag_indices_from(matrix)] += 1.0
        beta, pull, push = extra[:, m : m + 3].T
        return cls(
            matrix,
            Point(beta, 0.0 - columns[:, 1]),
            np.concatenate([pull, -columns[:, 2]]),
            np.concatenate([push, -columns[:, 3]]),
            *hinges,
        )

    def primal(self, at: Point) -> float:
        return 0.5 * at.squared_norm() + self.loss

    def dual(self) -> float:
        return self.linear - 0.5 * self.by_alpha.squared_norm()

    def relaxed_gap(self, at: Point) -> float:
        """The gap with the complementarity of the central path in place of that of the hinges."""
        apart = self.by_alpha.moved(at, -1.0)
        return self.complementarity + 0.5 * apart.squared_norm()

    def is_finite(self) -> bool:
        sums = (self.primal(self.by_alpha), self.linear, self.complementarity, self.moved, self.violation)
        arrays = (self.matrix, self.pull, self.push)
        return bool(np.all(np.isfinite(sums)) and all(np.all(np.isfinite(array)) for array in arrays))

    def direction(self, at: Point, tau: float) -> Point:
        """Newton's direction from `at` towards τ."""
        residual = np.concatenate([self.by_alpha.weights - at.weights, self.by_alpha.thresholds - at.thresholds])
        solution = _solve(self.matrix, residual + self.pull + tau * self.push)
        n_weights = len(at.weights)
        return Point(solution[:n_weights], solution[n_weights:])


def _solve(upper: Floats, right: Floats) -> Floats:
    """By Cholesky's method, from the upper triangle."""
    scale = 1.0 / np.sqrt(np.diag(upper))
    ridge = FIRST_RIDGE
    while True:
        scaled = upper * scale  # one copy, which becomes the factor
        scaled *= scale[:, None]
        scaled[np.diag_indices_from(scaled)] = 1.0 + ridge
        try:
            factor = cho_factor(scaled, overwrite_a=True, check_finite=False)
            solution: Any = cho_solve(factor, scale * right, check_finite=False)
            return scale * solution
        except LinAlgError:
            if ridge > LAST_RIDGE:
                raise
            ridge *= 100.0
