"""Measurements that the two papers on asynchronous coordinate descent share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordsvm.problem import Problem
from ordsvm.solvers import Control, KernelMatrix, solve

STRICT = 1e-2  # a gradient at a bound that is larger than this at the optimum counts as strict


def last_change_at_bounds(problem: Problem, rows: Any, solver: Any, looks: int = 40) -> float:
    """The share of a run after which no variable that ends strictly at a bound is anywhere else.

    The run is deterministic: it is made again with ever more steps allowed.
    """

    def run(max_iter: int) -> Any:
        return solve(problem, KernelMatrix(rows, 500.0), solver, Control(tol=1e-6, max_iter=max_iter, n_threads=1))

    final = run(-1)
    steps, alpha = final.result.n_iter, final.result.alpha
    score = KernelMatrix(rows, 500.0).product(final.beta)
    slope = problem.slope(score, final.thresholds)
    cap = problem.hinges.cap
    fixed = ((alpha == 0) & (slope > STRICT)) | ((alpha == cap) & (slope < -STRICT))
    last = 0.0
    for look in range(1, looks):
        before = run(max(1, steps * look // looks)).result.alpha
        if np.any(before[fixed] != alpha[fixed]):
            last = look / looks
    return last


def disorder(history: Any) -> tuple[float, float]:
    """The share of looks with ordered thresholds, by the dual's b = -gamma, and where in the run the last other was."""
    ordered = [bool(np.all(np.diff(progress.dual_thresholds) >= 0)) for progress in history]
    last = max((progress.n_iter for progress, fine in zip(history, ordered, strict=True) if not fine), default=0)
    return float(np.mean(ordered)), last / history[-1].n_iter
