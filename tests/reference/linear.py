"""Linear machines by plain coordinate descent, slow and exact: the signatures of `ordsvm.solvers.linear.solve`.

A sweep takes every sample once, in a fresh random order, to the exact minimum along each of its dual variables.
"""

import time

import numpy as np
import scipy.sparse as sp

from ordsvm.result import FitResult
from ordsvm.solvers.linear.losses import certificate, losses, weights
from ordsvm.solvers.solution import DualVariables, LinearSolution


def solve_linear(
    X,
    labels,
    table,
    *,
    targets=None,
    weight=None,
    intercept=True,
    squared=False,
    solver=None,
    control,
    start=None,
):
    """Lanes are independent: a sample moves in all of them at once. Thresholds share w."""
    if table.shared:
        return solve_thresholds(X, labels, table, weight, squared, control, start)
    X, loss = dense(X), losses(table, labels, weight, targets, squared)
    curvature = (X**2).sum(axis=1) + intercept
    beta = np.zeros_like(loss.lower) if start is None else start[0].copy()
    coef, b = weights(X, beta, False, intercept)

    def sweep(order):
        nonlocal b
        for i in order:
            move = best(loss, i, X[i] @ coef + b, beta[i], curvature[i]) - beta[i]
            beta[i] += move
            coef[:] += np.outer(X[i], move)
            b = b + intercept * move

    return finished(X, beta, loss, False, intercept, control, sweep)


def solve_thresholds(X, labels, table, weight, squared, control, start):
    """A sample moves at one threshold after the other."""
    X, loss = dense(X), losses(table, labels, weight, None, squared)
    curvature = (X**2).sum(axis=1) + 1.0
    beta = np.zeros_like(loss.lower) if start is None else start[0].copy()
    coef, b = weights(X, beta, True, True)

    def sweep(order):
        for i in order:
            for k in range(len(b)):
                move = best(loss, i, X[i] @ coef[:, 0] - b, beta[i], curvature[i])[k] - beta[i, k]
                beta[i, k] += move
                coef[:, 0] += move * X[i]
                b[k] -= move

    return finished(X, beta, loss, True, True, control, sweep)


def best(loss, i, score, beta, curvature):
    """The minimum along every dual variable of sample i while the others stay; a row of zeros goes to a bound."""
    low, high = (bound[i] for bound in loss.bounds())
    price = np.maximum(loss.upper[i], -loss.lower[i])
    bend = np.divide(1.0, 2 * price, out=np.zeros_like(price), where=loss.squared & (price > 0))
    curvature = np.maximum(curvature + bend, 1e-12)
    free = beta - (score - loss.offset[i] + bend * beta) / curvature
    shrunk = np.sign(free) * np.maximum(np.abs(free) - loss.epsilon[i] / curvature, 0.0)
    return np.clip(shrunk, low, high)


def finished(X, beta, loss, thresholds, intercept, control, sweep):
    """Sweeps until the gap says so."""
    began, rng, n_iter = time.perf_counter(), np.random.default_rng(0), 0
    last = control.max_iter if control.max_iter >= 0 else 100_000
    proof = certificate(X, beta, loss, thresholds, intercept)
    while proof.relative_gap > control.tol and n_iter < last:
        sweep(rng.permutation(len(X)))
        n_iter += 1
        proof = certificate(X, beta, loss, thresholds, intercept)
    result = FitResult(
        status="converged" if proof.relative_gap <= control.tol else "max_iter",
        solver="reference",
        n_iter=n_iter,
        objective=proof.primal,
        gap=proof.gap,
        relative_gap=proof.relative_gap,
        violation=proof.violation,
        seconds=time.perf_counter() - began,
        kernel_rows=0,
        alpha=np.abs(beta).ravel(),
    )
    return LinearSolution(*weights(X, beta, thresholds, intercept), DualVariables([beta]), result)


def dense(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
