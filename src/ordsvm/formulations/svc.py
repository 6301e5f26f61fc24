from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ordsvm._typing import Floats, Ints
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


def svc_pairs(codes: Ints, C: Floats, treatment: Treatment) -> list[Problem]:
    """Formulate C-SVC of every class against every other.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        The classes.
    C : ndarray of shape (n_samples,)
        The cost of a unit of hinge loss; a sample whose cost is 0 has no hinge.
    treatment : Treatment
        Of the one threshold of every problem.

    Returns
    -------
    list of Problem
        For the pairs (0, 1), (0, 2), ..., (1, 2), ... of the classes that have hinges, the first of which is above the
        threshold: what `svc` makes of the samples of both. Tables share their columns of equal numbers.

    See Also
    --------
    svc : Two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import svc_pairs
    >>> from ordsvm.problem import Treatment
    >>> [problem.hinges.sample for problem in svc_pairs(np.array([0, 1, 1, 2]), np.ones(4), Treatment.FREE)]
    [array([0, 1, 2], dtype=int32), array([0, 3], dtype=int32), array([1, 2, 3], dtype=int32)]
    """
    kept = np.flatnonzero(C > 0).astype(np.int32)
    kept = kept[np.argsort(codes[kept], kind="stable")]
    firsts = np.flatnonzero(np.diff(codes[kept])) + 1
    samples, caps = np.split(kept, firsts), np.split(C[kept].astype(np.float64, copy=False), firsts)
    threshold, above = np.zeros(len(kept), dtype=np.int32), np.ones(len(kept))
    below, in_order = -above, bool(np.all(kept[1:] > kept[:-1]))
    problems = []
    for yes, no in combinations(range(len(samples)), 2):
        n_yes, n = len(samples[yes]), len(samples[yes]) + len(samples[no])
        sample = np.concatenate((samples[yes], samples[no]))
        sign = np.concatenate((above[:n_yes], below[: n - n_yes]))
        cap = np.concatenate((caps[yes], caps[no]))
        if not in_order:
            order = np.argsort(sample)
            sample, sign, cap = sample[order], sign[order], cap[order]
        problems.append(Problem(Hinges(sample, threshold[:n], sign, above[:n], cap), treatment, len(codes)))
    return problems
