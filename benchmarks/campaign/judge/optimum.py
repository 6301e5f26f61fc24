"""The optimum of small problems by Clarabel, from the primal: none of this library's algorithms, and no dual.

What is returned is the primal objective at Clarabel's weights and thresholds, which can't be below the optimum, however
far Clarabel has got.
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp

from benchmarks.campaign.judge.kernel_values import Extended
from benchmarks.campaign.judge.proof import primal
from benchmarks.campaign.judge.tables import Table

MOST_HINGES = 160


def optimum(table: Table, K: np.ndarray, X: np.ndarray | None = None) -> float | None:
    """The objective of Clarabel's solution, or None where K is not positive semidefinite or Clarabel fails.

    X: the samples, where K = XX'. A factor of K, by its eigenvectors, would have directions that are its rounding, and
    scores that no weights of features give.
    """
    L = _factor(np.asarray(K, dtype=np.float64)) if X is None else np.asarray(X, dtype=np.float64)
    if L is None:
        return None
    scale = np.sqrt(max(float((L**2).sum(axis=1).max()), 1e-200))  # of the scores, for conditioning
    n, m, d = len(table), table.n_thresholds, L.shape[1]
    has_b, penalised = table.treatment != "none", table.treatment == "penalized"
    unit = float(table.cap.max())  # the objective is divided by it
    quadratic = np.concatenate([np.full(d, scale**-2), np.full(m, float(penalised)), np.zeros(n)]) / unit
    quadratic[d + m :] = 2 * table.cap / unit * table.squared
    linear = np.concatenate([np.zeros(d + m), (not table.squared) * table.cap / unit])
    pick_f = sp.csr_array((table.sign, (np.arange(n), table.sample)), shape=(n, table.n_samples))
    pick_b = sp.csr_array((table.sign * has_b, (np.arange(n), table.threshold)), shape=(n, m))
    margins = sp.hstack([-(pick_f @ sp.csr_array(L / scale)), pick_b, -sp.eye_array(n)])
    positive = sp.hstack([sp.csr_array((n, d + m)), -sp.eye_array(n)])
    rows, right = [margins, positive], [-table.offset, np.zeros(n)]
    if table.treatment == "ordered" and m > 1:
        rows.append(sp.csr_array(-np.pad(np.diff(np.eye(m), axis=0), ((0, 0), (d, n)))))
        right.append(np.zeros(m - 1))
    x = _solve(sp.diags_array(quadratic), linear, sp.vstack(rows), np.concatenate(right))
    if x is None:
        return None
    b = np.maximum.accumulate(x[d : d + m]) if table.treatment == "ordered" else x[d : d + m]
    w = x[:d].astype(Extended) / scale
    return primal(table, (w**2).sum(), L @ w, b)


def _factor(K: np.ndarray) -> np.ndarray | None:
    """L with K = LL', without directions that are rounding."""
    values, vectors = np.linalg.eigh(K)
    if values[0] < -1e-10 * values[-1]:
        return None
    kept = values > 1e-14 * max(float(values.max()), 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


def _solve(quadratic: sp.dia_array, linear: np.ndarray, rows: sp.csr_array, right: np.ndarray) -> np.ndarray | None:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 100
    settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = 1e-13, 1e-9, 1e-9
    cones = [clarabel.NonnegativeConeT(len(right))]
    matrices = sp.csc_matrix(quadratic), sp.csc_matrix(rows)
    solution = clarabel.DefaultSolver(matrices[0], linear, matrices[1], right, cones, settings).solve()
    solved = clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved
    return np.array(solution.x) if solution.status in solved and np.all(np.isfinite(solution.x)) else None
