from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.formulations.svor import svor
from ordsvm.problem import Problem


def redsvm(
    y: NDArray[np.int64],
    n_ranks: int,
    C: float | NDArray[np.float64],
    worth: NDArray[np.float64] | None = None,
) -> Problem:
    """RedSVM (Lin & Li 2012; Shi et al. 2021): the ranks reduced to weighted binary questions "above k?".

    min ½‖w‖² + ½‖b‖² + C Σ_i Σ_k |cost(y_i, k+1) − cost(y_i, k)| · max(0, 1 − s_ik (f(x_i) − b_k))

    With absolute costs this is the concise SVOR. (Existing programs add a free offset common to all thresholds.)
    """
    return svor(y, n_ranks, C, worth)
