from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.problem import Hinges, Problem, Treatment


def svr(target: NDArray[np.float64], epsilon: float, C: float | NDArray[np.float64], thresholds: Treatment) -> Problem:
    """ε-SVR (Gu et al. 2018, (2), which lacks its ½): two hinges a sample, one for each side of the tube.

    min ½‖w‖² [+ ½b²] + C Σ_i max(0, |z_i − (f(x_i) − b)| − ε)
    """
    n = len(target)
    sample = np.concatenate([np.arange(n), np.arange(n)])
    sign = np.concatenate([np.ones(n), np.full(n, -1.0)])
    cap = np.concatenate([np.broadcast_to(C, n), np.broadcast_to(C, n)])
    return Problem(Hinges.table(sample, 0, sign, sign * target[sample] - epsilon, cap), thresholds, n)
