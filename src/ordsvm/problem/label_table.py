"""The problem of linear machines, as data: for every label, bounds and offsets of every score.

A column is a weight vector of its own, a lane, or a threshold of the only weight vector. In a table of lanes, sample i
with label y has one dual variable in lane l,

    weight_i · lower[y, l] ≤ β_il ≤ weight_i · upper[y, l],     w_l = Σ_i β_il x_i,     b_l = Σ_i β_il (or no b)
    dual     min  Σ_l ½‖w_l‖² + ½b_l²  +  Σ_il ε[y, l] |β_il| − offset[y, l] β_il
    primal   min  Σ_l ½‖w_l‖² + ½b_l²  +  Σ_il weight_i · loss_il
             loss_il = upper[y, l] · max(0, offset − f_il − ε) − lower[y, l] · max(0, f_il − offset − ε)

with scores f_il = w_l·x_i + b_l. Where the columns share one weight vector, the same holds with

    w = Σ_il β_il x_i,     b_l = −Σ_i β_il,     f_il = w·x_i − b_l

and a hinge sign·(w·x_i − b_l) ≥ 1 is a loss on one side of its offset, which is its sign.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordsvm._typing import Floats


@dataclass(frozen=True)
class LabelTable:
    """Bounds on β, offsets, and how far from its offset a score costs nothing: arrays of shape (n_labels, n_columns).

    lower ≤ 0 ≤ upper. Where neither is 0, both sides cost the same: the solvers take one C for a sample in a column.
    shared: the columns are penalised thresholds of one weight vector.
    """

    lower: Floats
    upper: Floats
    offset: Floats
    epsilon: Floats
    shared: bool = False

    def __post_init__(self) -> None:
        if np.any(self.lower > 0) or np.any(self.upper < 0):
            raise ValueError("Bounds exclude 0: give lower ≤ 0 and upper ≥ 0.")
        if np.any((self.lower < 0) & (self.upper > 0) & (self.lower != -self.upper)):
            raise ValueError("The two sides of a loss differ in C: give upper = −lower where neither is 0.")

    @classmethod
    def of_thresholds(cls, sign: Floats, cap: Floats) -> LabelTable:
        """Return the table of hinges sign·(w·x_i − b_k) ≥ 1, by label and threshold; cap 0: no hinge."""
        return cls(0.0 - cap * (sign < 0), cap * (sign > 0), sign, np.zeros_like(cap), shared=True)

    def times(self, factor: float) -> LabelTable:
        """Return the table with `factor` times C."""
        return replace(self, lower=self.lower * factor, upper=self.upper * factor)

    def columns(self, chosen: Any) -> LabelTable:
        """Return the table with these columns alone."""
        lower, upper, offset, epsilon = (
            np.ascontiguousarray(part[:, chosen]) for part in (self.lower, self.upper, self.offset, self.epsilon)
        )
        return LabelTable(lower, upper, offset, epsilon, self.shared)

    def widths(self) -> Floats:
        """Return how far β may go: the caps of both hinges together."""
        return self.upper - self.lower

    def bounds(self) -> Floats:
        """Return how large |β| may be: the cap of each hinge."""
        return np.maximum(-self.lower, self.upper)

    @property
    def n_labels(self) -> int:
        return self.lower.shape[0]

    @property
    def n_columns(self) -> int:
        """Lanes or thresholds: dual variables of a sample."""
        return self.lower.shape[1]

    @property
    def n_vectors(self) -> int:
        return 1 if self.shared else self.n_columns

    @property
    def n_thresholds(self) -> int:
        return self.n_columns if self.shared else 0
