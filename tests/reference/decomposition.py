"""Parallel decomposition with exact subproblems: the twin of solvers/papers/decomposition/decomposition.py."""

import numpy as np

from ordsvm.problem import Problem, Treatment
from tests.oracle import beta_and_gamma_matrices
from tests.reference.pairs import rooms, worst_pair
from tests.reference.subproblem import minimiser


def decomposition(problem: Problem, K, blocks: list, step: str, max_iter: int, tau: float, theta=0.1, xi=0.3):
    """α after max_iter iterations with these blocks; with equalities one of them is given the most violating pair."""
    h, (to_beta, to_gamma) = problem.hinges, beta_and_gamma_matrices(problem)
    Q = to_beta.T @ K @ to_beta + (problem.treatment is Treatment.PENALIZED) * to_gamma.T @ to_gamma
    ordered = problem.treatment is Treatment.ORDERED
    equal = ordered or problem.treatment is Treatment.FREE
    alpha, near = np.zeros(len(h)), 1e-3 * h.cap if step == "diminishing" else 1e-7
    for steps in range(max_iter):
        gradient, mu, room = Q @ alpha - h.offset, problem.mu(alpha).round(7), np.array([alpha, h.cap - alpha])
        seen = np.where(alpha < near, 0.0, np.where(alpha > h.cap - near, h.cap, alpha))
        worst = worst_pair(problem, K @ problem.beta(alpha), *rooms(problem, seen), mu)[1:] if equal else (0,)
        parts = [set(block) for block in blocks]
        first = next(part for part in parts if worst[0] in part)
        for other in set(worst) - first:
            leaving, away = min(first - set(worst)), next(part for part in parts if other in part)
            first ^= {leaving, other}
            away ^= {leaving, other}
        d = np.zeros(len(h))
        for part in parts:
            B, own_mu = sorted(part), mu if ordered and part is first else None
            d[B] = minimiser(Q[np.ix_(B, B)], gradient[B], tau, room[:, B], equal * to_gamma[:, B], own_mu)
        slope, curvature = -gradient @ d, d @ Q @ d
        longest = min(np.where(d < 0, *room)[d != 0] / np.abs(d[d != 0]), default=1.0)
        if ordered and np.any(falls := problem.mu(d) < -1e-7):
            longest = min(longest, *(mu[falls] / -problem.mu(d)[falls]))
        armijo = next(t for t in 0.5 ** np.arange(50.0) if (1 - theta) * slope >= 0.5 * t * curvature)
        exact, diminishing = min(slope / curvature, max(1.0, longest)), (steps + 1) ** -xi
        alpha += d * {"exact": exact, "armijo": armijo, "diminishing": diminishing}[step]
        alpha = np.where(alpha < 1e-7, 0.0, np.where(alpha > h.cap - 1e-7, h.cap, alpha))
    return alpha
