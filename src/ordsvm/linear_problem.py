"""Linear machines as tables: what a sample with a certain label asks of every score.

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
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LaneTable:
    """Bounds on β, the score asked for, and how far off it costs nothing: arrays of shape (n_labels, n_lanes).

    lower ≤ 0 ≤ upper. Where neither is 0, both sides cost the same: the solvers know one price for a sample in a lane.
    """

    lower: Floats
    upper: Floats
    offset: Floats
    epsilon: Floats

    def __post_init__(self) -> None:
        if np.any(self.lower > 0) or np.any(self.upper < 0):
            raise ValueError("Bounds exclude 0: give lower ≤ 0 and upper ≥ 0.")
        if np.any((self.lower < 0) & (self.upper > 0) & (self.lower != -self.upper)):
            raise ValueError("The two sides of a loss differ in price: give upper = −lower where neither is 0.")

    def times(self, factor: float) -> LaneTable:
        """At so many times the price."""
        return LaneTable(self.lower * factor, self.upper * factor, self.offset, self.epsilon)

    @property
    def n_labels(self) -> int:
        return self.lower.shape[0]

    @property
    def n_lanes(self) -> int:
        return self.lower.shape[1]


@dataclass(frozen=True)
class ThresholdTable:
    """One weight vector w and penalised thresholds b: sample i with label y asks sign·(w·x_i − b_k) ≥ 1 at cost cap.

    Arrays of shape (n_labels, n_thresholds); cap 0 asks nothing.
    """

    sign: Floats
    cap: Floats

    def times(self, factor: float) -> ThresholdTable:
        """At so many times the price."""
        return ThresholdTable(self.sign, self.cap * factor)


def npsvor(n_ranks: int, C1: float, C2: float, epsilon: float) -> LaneTable:
    """NPSVOR (Shi et al. 2021, (4) and (17)), a lane per rank: within ε of 0 on its rank, beyond ±1 on the others.

    min ½‖w‖² + C1 Σ_{y_i = k} max(0, |f_i| − ε) + C2 Σ_{y_i < k} max(0, 1 + f_i) + C2 Σ_{y_i > k} max(0, 1 − f_i)
    """
    side = np.sign(np.arange(n_ranks)[:, None] - np.arange(n_ranks))  # of label y from rank k: below, own, above
    return LaneTable(
        lower=np.select([side < 0, side == 0], [-C2, -C1], 0.0),
        upper=np.select([side == 0, side > 0], [C1, C2], 0.0),
        offset=side.astype(np.float64),
        epsilon=np.where(side == 0, epsilon, 0.0),
    )


def one_vs_rest(n_classes: int, C: float) -> LaneTable:
    """C-SVC of several classes, a lane per class: beyond +1 on it, beyond −1 on all others."""
    return _questions(2.0 * np.eye(n_classes) - 1.0, C)


def binary(C: float) -> LaneTable:
    """C-SVC of two classes in one lane: beyond −1 on the first, beyond +1 on the second."""
    return _questions(np.array([[-1.0], [1.0]]), C)


def regression(C: float, epsilon: float) -> LaneTable:
    """ε-SVR, one lane and one label: within ε of the offset, to which the target of a sample is added."""
    lower, upper, offset, free = np.array([-C, C, 0.0, epsilon]).reshape(4, 1, 1)
    return LaneTable(lower, upper, offset, free)


def svor(n_ranks: int, C: float, worth: Floats | None = None) -> ThresholdTable:
    """The concise SVOR (Gu et al. 2020) and RedSVM: above the thresholds below its rank, below the others.

    `worth[rank, threshold]` scales the cap (see `ordsvm.costs.threshold_costs`); None means 1.
    """
    sign = np.where(np.arange(n_ranks)[:, None] > np.arange(n_ranks - 1), 1.0, -1.0)
    return ThresholdTable(sign, C * (np.ones_like(sign) if worth is None else worth))


def _questions(sign: Floats, C: float) -> LaneTable:
    """Yes asks for +1 and no for −1; nothing is lost beyond them."""
    lower, upper = np.where(sign < 0, -C, 0.0), np.where(sign > 0, C, 0.0)
    return LaneTable(lower, upper, offset=sign, epsilon=np.zeros_like(sign))
