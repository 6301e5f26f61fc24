from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.formulations._ranks import all_threshold_hinges
from ordsvm.problem import Problem, Treatment


def svorim(
    y: NDArray[np.int64],
    n_ranks: int,
    C: float | NDArray[np.float64],
    worth: NDArray[np.float64] | None = None,
) -> Problem:
    """SVORIM (Chu & Keerthi 2007, §4): every sample faces every threshold; thresholds are free.

    min ½‖w‖² + C Σ_i Σ_k max(0, 1 − s_ik (f(x_i) − b_k)),   s_ik = +1 if y_i > k else −1

    The thresholds come out in order where caps don't decrease with the distance from the rank (Lemma 1).
    """
    return Problem(all_threshold_hinges(y, n_ranks, C, worth), Treatment.FREE, len(y), n_ranks - 1)
