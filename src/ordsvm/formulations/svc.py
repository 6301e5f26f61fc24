from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.problem import Hinges, Problem, Treatment


def svc(sign: NDArray[np.float64], C: float | NDArray[np.float64], treatment: Treatment) -> Problem:
    """Formulate C-SVC of two classes.

    Parameters
    ----------
    sign : ndarray of shape (n_samples,)
        The classes, ±1.
    C : float or ndarray of shape (n_samples,)
        The cost of a unit of hinge loss.
    treatment : Treatment
        Of the one threshold b: none or penalised as in [1]_, (1), or free as in [2]_, (2).

    Returns
    -------
    Problem
        One hinge a sample.

    See Also
    --------
    svr : Regression.

    Notes
    -----
    The primal is min ½‖w‖² [+ ½b²] + C Σ_i max(0, 1 − y_i (f(x_i) − b)); the usual intercept is −b.

    References
    ----------
    .. [1] B. Gu, Y. Shan, X. Geng, G. Zheng, "Accelerated asynchronous greedy coordinate descent algorithm for SVMs",
       IJCAI 2018.
    .. [2] A. Manno, L. Palagi, S. Sagratella, "Parallel decomposition methods for linearly constrained problems subject
       to simple bound with application to the SVMs training", Computational Optimization and Applications 71, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import svc
    >>> from ordsvm.problem import Treatment
    >>> len(svc(np.array([-1.0, 1.0, 1.0]), 1.0, Treatment.FREE).hinges)
    3
    """
    n = len(sign)
    sample, threshold = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    cap = np.full(n, C, dtype=np.float64)
    return Problem(Hinges.in_order(sample, threshold, np.array(sign, dtype=np.float64), np.ones(n), cap), treatment, n)
