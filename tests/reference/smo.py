"""SMO for free and for ordered thresholds, with the most violating pair: the twin of cpp/solvers/smo.hpp."""

import numpy as np

from ordsvm.problem import Problem
from tests.reference.pairs import length, move, rooms, worst_pair


def smo(problem: Problem, K: np.ndarray, tol: float, max_iter: int) -> tuple[np.ndarray, int]:
    """α after max_iter steps, or fewer if the violation is at most tol by then; and the number of steps."""
    h = problem.hinges
    alpha, score, mu = np.zeros(len(h)), np.zeros(problem.n_samples), np.zeros(problem.n_thresholds + 1)
    for steps in range(max_iter + 1):
        violation, low, up = pair = worst_pair(problem, score, *rooms(problem, alpha), mu)
        if violation <= tol or steps == max_iter:
            return alpha, steps
        t = length(problem, K, alpha, mu, pair)
        move(problem, alpha, mu, low, up, t)
        score += t * (K[h.sample[up]] - K[h.sample[low]])
