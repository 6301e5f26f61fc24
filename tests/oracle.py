"""The truth about small problems, from Clarabel, an interior-point solver for quadratic programs.

It uses none of this library's algorithms: the dual and the primal are written down as they stand in
`ordsvm.problem`, with K = LL' for the sake of conditioning, and handed over.
"""

from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp

from ordsvm.problem import Problem, Treatment


class Optimum(NamedTuple):
    """The optimal value, the same for primal and dual; α; and b, which is 0 where there are no thresholds."""

    objective: float
    alpha: np.ndarray
    b: np.ndarray


def dual_optimum(problem: Problem, K: np.ndarray) -> Optimum:
    """max o'α − ½‖w‖² [− ½‖γ‖²] over α, μ, w = L'β and 0 ≤ α ≤ c.

    Free: γ = 0. Ordered: γ_k = μ_k − μ_{k+1} and μ ≥ 0.
    """
    h, n = problem.hinges, len(problem.hinges)
    to_beta, to_gamma = beta_and_gamma_matrices(problem)
    penalised = problem.treatment is Treatment.PENALIZED
    to_w = np.vstack([factor(K).T @ to_beta, to_gamma[: len(to_gamma) * penalised]])  # penalised: (w, γ)
    equality = equality_matrix(problem)
    n_w, n_mu = len(to_w), equality.shape[1] - n
    quadratic = np.repeat([0.0, 1.0], [n + n_mu, n_w])
    linear = np.append(-h.offset, np.zeros(n_mu + n_w))
    w_is_meant = np.hstack([to_w, np.zeros((n_w, n_mu)), -np.eye(n_w)])
    equalities = np.vstack([np.pad(equality, ((0, 0), (0, n_w))), w_is_meant])
    box = np.vstack([np.eye(n, len(linear)), -np.eye(n + n_mu, len(linear))])
    x, multiplier = _solve(quadratic, linear, equalities, box, np.append(h.cap, np.zeros(n + n_mu)))
    b = -multiplier[: len(equality)] if len(equality) else -float(penalised) * (to_gamma @ x[:n])
    return Optimum(-(0.5 * x @ (quadratic * x) + linear @ x), x[:n], b)


def primal_optimum(problem: Problem, K: np.ndarray, squared: bool = False) -> Optimum:
    """min ½‖w‖² [+ ½‖b‖²] + c'ξ over w, b and ξ ≥ 0 with s (f − b) + ξ ≥ o and f = Lw. Ordered: b ascending.

    Squared: c'ξ² instead.
    """
    h, n, m = problem.hinges, len(problem.hinges), problem.n_thresholds
    to_beta, to_gamma = beta_and_gamma_matrices(problem)
    L = factor(K)
    sees_b = float(problem.treatment is not Treatment.NONE)
    penalty = float(problem.treatment is Treatment.PENALIZED)
    quadratic = np.concatenate([np.repeat([1.0, penalty], [len(L), m]), 2 * h.cap * squared])
    linear = np.append(np.zeros(len(L) + m), h.cap * (not squared))
    margins = np.hstack([-to_beta.T @ L, sees_b * to_gamma.T, -np.eye(n)])
    positive = np.eye(len(linear))[len(L) + m :]
    ascending = np.pad(np.diff(np.eye(m), axis=0), ((0, 0), (len(L), n)))
    ascending = ascending[: (m - 1) * (problem.treatment is Treatment.ORDERED)]
    at_most = np.vstack([margins, -positive, -ascending])
    right = np.append(-h.offset, np.zeros(n + len(ascending)))
    x, multiplier = _solve(quadratic, linear, np.empty((0, len(linear))), at_most, right)
    return Optimum(0.5 * x @ (quadratic * x) + linear @ x, multiplier[:n], sees_b * x[len(L) : len(L) + m])


def snapped(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """α with all that is at a bound but for rounding (μ too) put there, and the rest moved to keep equalities."""
    equality = equality_matrix(problem)
    n_mu = equality.shape[1] - len(alpha)
    x, cap = np.append(alpha, problem.mu(alpha)[1 : 1 + n_mu]), np.append(problem.hinges.cap, np.full(n_mu, np.inf))
    close = 1e-6 * problem.hinges.cap.max()
    x = np.where(x < close, 0.0, np.where(x > cap - close, cap, x))
    inside = (x > 0) & (x < cap)
    x[inside] -= np.linalg.lstsq(equality[:, inside], equality @ x)[0]
    return x[: len(alpha)]


def factor(K: np.ndarray) -> np.ndarray:
    """L with K = LL'."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(values.clip(0))


def beta_and_gamma_matrices(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The matrices that turn α into β and into γ."""
    h, every = problem.hinges, np.arange(len(problem.hinges))
    to_beta, to_gamma = np.zeros((problem.n_samples, len(h))), np.zeros((problem.n_thresholds, len(h)))
    to_beta[h.sample, every] = h.sign
    to_gamma[h.threshold, every] = h.sign
    return to_beta, to_gamma


def equality_matrix(problem: Problem) -> np.ndarray:
    """E with E (α, μ) = 0 for feasible variables; without rows, or without μ, where there are none."""
    _, to_gamma = beta_and_gamma_matrices(problem)
    if problem.treatment is Treatment.FREE:
        return to_gamma
    if problem.treatment is Treatment.ORDERED:
        return np.hstack([to_gamma, -np.diff(np.eye(problem.n_thresholds))])  # γ_k − μ_k + μ_{k+1}
    return to_gamma[:0]


class Unsolved(Exception):
    """A problem that the oracle itself does not solve to its tolerances."""


def _solve(quadratic, linear, equality, at_most, right) -> tuple[np.ndarray, np.ndarray]:
    """Minimiser and multipliers of ½ Σ quadratic·x² + linear'x with equality @ x = 0 and at_most @ x ≤ right."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-8
    cones = [clarabel.ZeroConeT(len(equality)), clarabel.NonnegativeConeT(len(at_most))]
    rows, sides = sp.csc_matrix(np.vstack([equality, at_most])), np.append(np.zeros(len(equality)), right)
    solution = clarabel.DefaultSolver(sp.diags(quadratic).tocsc(), linear, rows, sides, cones, settings).solve()
    solved = clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved  # to the reduced tolerances
    if solution.status not in solved:
        raise Unsolved(f"Clarabel ends as {solution.status}")
    return np.array(solution.x), np.array(solution.z)
