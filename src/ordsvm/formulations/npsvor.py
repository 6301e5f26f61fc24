from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.problem import Hinges, Problem, Treatment


def npsvor(
    y: NDArray[np.int64],
    rank: int,
    epsilon: float,
    C1: float | NDArray[np.float64],
    C2: float | NDArray[np.float64],
) -> Problem:
    """The machine of one rank in NPSVOR (Shi et al. 2021, (4)): near 0 on its rank, below −1 or above +1 elsewhere.

    min ½‖w‖² + ½b² + C1 Σ_{y_i = rank} max(0, |g_i| − ε) + C2 Σ_{y_i < rank} max(0, 1 + g_i)
                    + C2 Σ_{y_i > rank} max(0, 1 − g_i),   g_i = f(x_i) − b
    """
    own, others = np.flatnonzero(y == rank), np.flatnonzero(y != rank)
    C1, C2 = np.broadcast_to(C1, len(y)), np.broadcast_to(C2, len(y))
    sample = np.concatenate([own, own, others])
    sign = np.concatenate([np.ones(len(own)), -np.ones(len(own)), np.where(y[others] > rank, 1.0, -1.0)])
    offset = np.repeat([-epsilon, 1.0], [2 * len(own), len(others)])
    cap = np.concatenate([C1[own], C1[own], C2[others]])
    return Problem(Hinges.table(sample, 0, sign, offset, cap), Treatment.PENALIZED, len(y))
