from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.formulations._ranks import adjacent_threshold_hinges
from ordsvm.problem import Problem, Treatment


def shashua_levin(y: NDArray[np.int64], n_ranks: int, C: float | NDArray[np.float64]) -> Problem:
    """Shashua & Levin 2003 (Chu & Keerthi 2007, (2)–(3)): SVOREX without the order of the thresholds.

    min ½‖w‖² + C Σ_i [ max(0, 1 + f(x_i) − b_{y_i}) + max(0, 1 − f(x_i) + b_{y_i − 1}) ]

    The thresholds may come out disordered.
    """
    return Problem(adjacent_threshold_hinges(y, n_ranks, C), Treatment.FREE, len(y), n_ranks - 1)
