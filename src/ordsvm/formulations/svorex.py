from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.formulations._ranks import adjacent_threshold_hinges
from ordsvm.problem import Problem, Treatment


def svorex(y: NDArray[np.int64], n_ranks: int, C: float | NDArray[np.float64]) -> Problem:
    """SVOREX (Chu & Keerthi 2007, §2): only the thresholds next to the rank; b_1 ≤ … ≤ b_m is a constraint.

    min ½‖w‖² + C Σ_i [ max(0, 1 + f(x_i) − b_{y_i}) + max(0, 1 − f(x_i) + b_{y_i − 1}) ],   b ascending
    """
    return Problem(adjacent_threshold_hinges(y, n_ranks, C), Treatment.ORDERED, len(y), n_ranks - 1)
