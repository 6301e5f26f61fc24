"""Newton's method on the hinges between their bounds, where all kernel values are in memory.

Given which hinges are at 0, which at their cap and which between, the latter's slopes vanish: a linear system. Its
solution says who leaves the box and whose slope has the wrong sign; these change sides, and the next system follows
(Hintermüller, Ito & Kunisch 2003 call it the primal-dual active set strategy). Near the optimum a handful of systems
ends where coordinate methods take a step for every digit of every hinge; far from it there is no guarantee, and
changes that do not become fewer, or hinges between their bounds that become many, are the sign to give up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ordsvm.problem import Problem, Thresholds

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOST_SYSTEMS = 8
FALL = 0.8  # the number of changes has to fall at least to this share of the last
GROWTH = 1.35  # the number of free hinges may grow to so many times what it was
RIDGE = 1e-8  # of the largest kernel value: a sample may be free at two thresholds, which makes equal rows
SLACK = 1e-6  # in slopes, which rounding changes


def newton(problem: Problem, values: Floats, alpha: Floats) -> Floats | None:
    """The optimum, if it is near α; None if it is not. Thresholds are free, penalised or none."""
    cap = problem.hinges.cap
    low, up = alpha <= 1e-9 * cap, alpha >= (1 - 1e-9) * cap
    before, n_free = np.inf, np.count_nonzero(~(low | up))
    for _ in range(MOST_SYSTEMS):
        if not 0 < np.count_nonzero(~(low | up)) <= GROWTH * n_free:
            return None
        found = _between(problem, values, low, up)
        if found is None:
            return None
        alpha, b = found
        score = values @ problem.beta(alpha)
        slope = problem.slope(score, _complete(problem, b, alpha, score))
        below, above = alpha < 0, alpha > cap
        rises, falls = low & (slope < -SLACK), up & (slope > SLACK)
        changes = int(np.count_nonzero(below | above | rises | falls))
        if changes == 0:
            return _balanced(problem, alpha, ~(low | up))
        if changes > FALL * before:
            return None
        before = changes
        low, up = (low & ~rises) | below, (up & ~falls) | above
    return None


def _between(problem: Problem, values: Floats, low: Flags, up: Flags) -> tuple[Floats, Floats] | None:
    """α with vanishing slopes of the hinges at neither bound, and the thresholds; NaN for those that nothing tells."""
    h, m = problem.hinges, problem.n_thresholds
    alpha = np.where(up, h.cap, 0.0)
    free = np.flatnonzero(~(low | up))
    sample, threshold, sign = h.sample[free], h.threshold[free], h.sign[free]
    matrix = values[np.ix_(sample, sample)]
    wanted = sign * h.offset[free] - (values @ problem.beta(alpha))[sample]
    others = problem.gamma(alpha)
    if problem.thresholds is Thresholds.PENALIZED:
        matrix += np.equal.outer(threshold, threshold)
        wanted -= others[threshold]
    matrix[np.diag_indices(len(free))] += RIDGE * values.diagonal().max()
    ties = np.zeros((len(free), m if problem.thresholds is Thresholds.FREE else 0))
    if problem.thresholds is Thresholds.FREE:
        ties[np.arange(len(free)), threshold] = 1.0
    solved = _solved(matrix, np.column_stack([wanted, ties]))
    if solved is None:
        return None
    change, response = solved[:, 0], solved[:, 1:]
    b = np.zeros(m)
    if problem.thresholds is Thresholds.FREE:
        told = np.bincount(threshold, minlength=m) > 0
        if np.any(np.abs(others[~told]) > 1e-12 * alpha.sum()):
            return None
        b[~told] = np.nan
        reach = (ties.T @ response)[np.ix_(told, told)]
        b[told] = np.linalg.solve(reach, -(others + ties.T @ change)[told])
        change = change + response[:, told] @ b[told]
    alpha[free] = sign * change
    return alpha, b


def _solved(matrix: Floats, right: Floats) -> Floats | None:
    """By Cholesky; None where the matrix is not positive definite."""
    factor, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
    return None if failed else lapack.dpotrs(factor, right, lower=1)[0]


def _complete(problem: Problem, b: Floats, alpha: Floats, score: Floats) -> Floats:
    """All thresholds: those that the system has not told are the best for these scores."""
    if problem.thresholds is Thresholds.FREE and not np.isnan(b).any():
        return b
    best = problem.best_thresholds(alpha, score)
    return np.where(np.isnan(b), best, b) if problem.thresholds is Thresholds.FREE else best


def _balanced(problem: Problem, alpha: Floats, free: Flags) -> Floats:
    """Equalities of free thresholds to the last digit: what rounding left over goes to the hinge with most room."""
    if problem.thresholds is not Thresholds.FREE:
        return alpha
    h = problem.hinges
    room = np.where(free, np.minimum(alpha, h.cap - alpha), -1.0)
    for k, excess in enumerate(problem.gamma(alpha)):  # every threshold has hinges
        here = np.flatnonzero(h.threshold == k)
        v = here[np.argmax(room[here])]
        alpha[v] -= h.sign[v] * excess
    return alpha
