from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.problem import Hinges, Problem, Treatment


def svr(target: NDArray[np.float64], epsilon: float, C: float | NDArray[np.float64], treatment: Treatment) -> Problem:
    """Formulate ε-SVR: two hinges a sample, one for each side of the tube.

    Parameters
    ----------
    target : ndarray of shape (n_samples,)
        The targets z.
    epsilon : float
        Half the width of the tube.
    C : float or ndarray of shape (n_samples,)
        The cost of a unit of error beyond it.
    treatment : Treatment
        Of the one threshold b.

    Returns
    -------
    Problem
        The hinges.

    See Also
    --------
    svc : Classification.

    Notes
    -----
    The primal is min ½‖w‖² [+ ½b²] + C Σ_i max(0, |z_i − (f(x_i) − b)| − ε), which is (2) of [1]_ with the ½ that it
    lacks.

    References
    ----------
    .. [1] B. Gu, Y. Shan, X. Geng, G. Zheng, "Accelerated asynchronous greedy coordinate descent algorithm for SVMs",
       IJCAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import svr
    >>> from ordsvm.problem import Treatment
    >>> len(svr(np.array([0.5, 2.0]), 0.1, 1.0, Treatment.FREE).hinges)
    4
    """
    n = len(target)
    sample, threshold = np.arange(n, dtype=np.int32).repeat(2), np.zeros(2 * n, dtype=np.int32)
    sign, cap = np.ones((n, 2)), np.empty((n, 2))
    sign[:, 1] = -1.0
    cap.T[:] = C
    offset = sign * target[:, np.newaxis] - epsilon
    return Problem(Hinges.in_order(sample, threshold, sign.ravel(), offset.ravel(), cap.ravel()), treatment, n)
