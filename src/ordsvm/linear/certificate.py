from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.linear.table import LaneTable
from ordsvm.problem import Certificate

Floats = NDArray[np.float64]


def lane_certificate(
    table: LaneTable,
    labels: NDArray[np.int32],
    weight: Floats,
    beta: Floats,
    norm: Floats,
    score: Floats,
    rounding: Floats,
) -> Certificate:
    """What β (n_samples, n_lanes) proves, over all lanes together; it is assumed to be within its bounds.

    norm[l] is ‖w_l‖² + b_l² and score[i, l] = w_l·x_i + b_l, of w and b summed from β; rounding[i, l] is how far off a
    score may be, by which the gap is widened as in `Problem.certificate`. The gap is a sum of terms that are all ≥ 0.
    """
    lower, upper = weight[:, None] * table.lower[labels], weight[:, None] * table.upper[labels]
    offset, epsilon = table.offset[labels], table.epsilon[labels]
    slope = score - offset
    loss = upper * np.maximum(0.0, -slope - epsilon) - lower * np.maximum(0.0, slope - epsilon)
    price = epsilon * np.abs(beta)
    primal = float(norm.sum() / 2 + loss.sum())
    dual = float((offset * beta - price).sum() - norm.sum() / 2)
    error = float(np.sum((upper - lower + np.abs(beta)) * rounding))
    return Certificate(
        primal=primal,
        dual=dual,
        gap=max(float(np.sum(loss + beta * slope + price)), primal - dual) + error,
        violation=_violation(lower, upper, beta, slope, epsilon),
        thresholds=np.empty(0),
    )


def _violation(lower: Floats, upper: Floats, beta: Floats, slope: Floats, epsilon: Floats) -> float:
    """The largest slope along which a β can still go: |β| has one on either side of 0."""
    up = slope + np.where(beta >= 0, epsilon, -epsilon)
    down = slope + np.where(beta > 0, epsilon, -epsilon)
    return float(max(np.max(-up, where=beta < upper, initial=0.0), np.max(down, where=beta > lower, initial=0.0)))
