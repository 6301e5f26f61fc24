from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.formulations._ranks import all_threshold_hinges
from ordsvm.problem import Problem, Treatment


def svor(
    y: NDArray[np.int64],
    n_ranks: int,
    C: float | NDArray[np.float64],
    worth: NDArray[np.float64] | None = None,
) -> Problem:
    """The concise SVOR (Gu et al. 2020, (6)–(8)): SVORIM's hinges with penalised thresholds.

    min ½‖w‖² + ½‖b‖² + C Σ_i Σ_k max(0, 1 − s_ik (f(x_i) − b_k)),   s_ik = +1 if y_i > k else −1

    The dual has no equality constraint, and b = −γ is unique.
    """
    return Problem(all_threshold_hinges(y, n_ranks, C, worth), Treatment.PENALIZED, len(y), n_ranks - 1)
