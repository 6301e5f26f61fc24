"""The problem of linear machines, as data: for every label, bounds and offsets of every score.

Lanes are independent weight vectors over the same rows. Sample i with label y has one dual variable in lane l,

    weight_i · lower[y, l] ≤ β_il ≤ weight_i · upper[y, l],     w_l = Σ_i β_il x_i,     b_l = Σ_i β_il (or no b)
    dual     min  Σ_l ½‖w_l‖² + ½b_l²  +  Σ_il ε[y, l] |β_il| − offset[y, l] β_il
    primal   min  Σ_l ½‖w_l‖² + ½b_l²  +  Σ_il weight_i · loss_il
             loss_il = upper[y, l] · max(0, offset − f_il − ε) − lower[y, l] · max(0, f_il − offset − ε)

with scores f_il = w_l·x_i + b_l.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordsvm._typing import Floats


@dataclass(frozen=True)
class LaneTable:
    """Bounds on β, offsets, and how far from its offset a score costs nothing: arrays of shape (n_labels, n_lanes).

    lower ≤ 0 ≤ upper. Where neither is 0, both sides cost the same: the solvers take one C for a sample in a lane.
    """

    lower: Floats
    upper: Floats
    offset: Floats
    epsilon: Floats

    def __post_init__(self) -> None:
        if np.any(self.lower > 0) or np.any(self.upper < 0):
            raise ValueError("Bounds exclude 0: give lower ≤ 0 and upper ≥ 0.")
        if np.any((self.lower < 0) & (self.upper > 0) & (self.lower != -self.upper)):
            raise ValueError("The two sides of a loss differ in C: give upper = −lower where neither is 0.")

    def times(self, factor: float) -> LaneTable:
        """At so many times C."""
        return LaneTable(self.lower * factor, self.upper * factor, self.offset, self.epsilon)

    @property
    def n_labels(self) -> int:
        return self.lower.shape[0]

    @property
    def n_lanes(self) -> int:
        return self.lower.shape[1]


@dataclass(frozen=True)
class ThresholdTable:
    """One weight vector w and penalised thresholds b: hinges sign·(w·x_i − b_k) ≥ 1 with their caps, by label.

    Arrays of shape (n_labels, n_thresholds); cap 0: no hinge.
    """

    sign: Floats
    cap: Floats

    def times(self, factor: float) -> ThresholdTable:
        """At so many times C."""
        return ThresholdTable(self.sign, self.cap * factor)
