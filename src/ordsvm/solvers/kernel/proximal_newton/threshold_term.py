"""What the thresholds add to the problem that Newton's method solves in a stage.

penalised   ½‖b‖²
free        ½ρ‖b − b̂‖², a proximal term whose centre b̂ moves to b after every stage, so that γ → 0
ordered     the same, and multipliers μ of b_k ≤ b_{k+1}: μ = max(0, μ̂ − τ(b_{k+1} − b_k)), with μ̂ = μ after a stage
none        nothing: there is no b
"""

from __future__ import annotations

import numpy as np

from ordsvm._typing import Floats
from ordsvm.problem import Treatment

PROXIMAL_WEIGHT = 1e-3  # ρ, over the largest value of the kernel
ORDER_WEIGHT = 2.0  # τ, as a multiple of the largest curvature of a threshold


class ThresholdTerm:
    """Value by derivative: residual and curvature, for given b; few numbers, which stay on the host."""

    def __init__(self, treatment: Treatment, start: Floats, largest: float) -> None:
        n_thresholds = len(start)
        self._ordered = treatment is Treatment.ORDERED and n_thresholds > 1
        self.is_penalised = treatment is Treatment.PENALIZED
        self.weight = 1.0 if self.is_penalised else PROXIMAL_WEIGHT / largest
        self.centre = np.zeros(n_thresholds) if self.is_penalised else start
        steps = np.diff(np.eye(n_thresholds), axis=0) if self._ordered else np.zeros((0, n_thresholds))
        self._steps = steps
        self._mu = np.zeros(len(steps))
        self._order_weight = 1.0 / largest

    def mu(self, b: Floats) -> Floats:
        return np.maximum(self._mu - self._order_weight * (self._steps @ b), 0.0)

    def residual(self, b: Floats, gamma: Floats) -> Floats:
        """The derivative by b; 0 at the solution of a stage."""
        return self.weight * (b - self.centre) + gamma - self.mu(b) @ self._steps

    def curvature(self, b: Floats) -> Floats:
        weights = self._order_weight * (self.mu(b) > 0)
        return self.weight * np.eye(len(b)) + self._steps.T @ (weights[:, None] * self._steps)

    def next_stage(self, b: Floats, curvature: float) -> None:
        """Moves the centres to b; `curvature`: the largest of a threshold by the hinges."""
        if self.is_penalised:
            return
        self._mu = self.mu(b)
        self.centre = b
        self._order_weight = max(self._order_weight, ORDER_WEIGHT * curvature)
