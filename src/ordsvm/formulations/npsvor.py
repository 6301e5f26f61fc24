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
    """Formulate the machine of one rank in NPSVOR: near 0 on its rank, below −1 or above +1 elsewhere.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Ranks 0, ..., r − 1.
    rank : int
        The rank of the machine.
    epsilon : float
        How far from 0 a score may be on the rank without a loss.
    C1 : float or ndarray of shape (n_samples,)
        The cost for the samples of the rank.
    C2 : float or ndarray of shape (n_samples,)
        The cost for those of other ranks.

    Returns
    -------
    Problem
        The hinges, with a penalised threshold.

    See Also
    --------
    svor : One score with thresholds.

    Notes
    -----
    The primal is (4) of [1]_, with g_i = f(x_i) − b::

        min ½‖w‖² + ½b² + C1 Σ_{y_i = rank} max(0, |g_i| − ε) + C2 Σ_{y_i < rank} max(0, 1 + g_i)
                        + C2 Σ_{y_i > rank} max(0, 1 − g_i)

    References
    ----------
    .. [1] Y. Shi, H. Wang, X. Shen, L. Niu, "A novel large-scale ordinal regression model", 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import npsvor
    >>> npsvor(np.array([0, 1, 2]), rank=1, epsilon=0.1, C1=1.0, C2=1.0).hinges.sign
    array([-1.,  1., -1.,  1.])
    """
    own, others = np.flatnonzero(y == rank), np.flatnonzero(y != rank)
    C1, C2 = np.broadcast_to(C1, len(y)), np.broadcast_to(C2, len(y))
    sample = np.concatenate([own, own, others])
    sign = np.concatenate([np.ones(len(own)), -np.ones(len(own)), np.where(y[others] > rank, 1.0, -1.0)])
    offset = np.repeat([-epsilon, 1.0], [2 * len(own), len(others)])
    cap = np.concatenate([C1[own], C1[own], C2[others]])
    return Problem(Hinges.table(sample, 0, sign, offset, cap), Treatment.PENALIZED, len(y))
