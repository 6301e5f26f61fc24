from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.problem import Hinges, Problem, Treatment


def svc(sign: NDArray[np.float64], C: float | NDArray[np.float64], thresholds: Treatment) -> Problem:
    """C-SVC (Gu et al. 2018, (1): none or penalised; Manno et al. 2018, (2): free); `sign` is the class, ±1.

    min ½‖w‖² [+ ½b²] + C Σ_i max(0, 1 − y_i (f(x_i) − b));   the usual intercept is −b
    """
    return Problem(Hinges.table(np.arange(len(sign)), 0, sign, offset=1.0, cap=C), thresholds, len(sign))
