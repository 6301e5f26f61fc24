"""Greedy coordinate descent for box problems: the twin of cpp/solvers/gcd.hpp."""

import numpy as np

from ordsvm.problem import Problem, Treatment


def gcd(problem: Problem, K: np.ndarray, tol: float, max_iter: int) -> tuple[np.ndarray, int]:
    """α after max_iter steps, or fewer if the violation is at most tol by then; and the number of steps."""
    h = problem.hinges
    penalty = float(problem.treatment is Treatment.PENALIZED)
    alpha, score, b = np.zeros(len(h)), np.zeros(problem.n_samples), np.zeros(problem.n_thresholds)
    for steps in range(max_iter + 1):
        slope = h.sign * (score[h.sample] - b[h.threshold]) - h.offset
        may_move = np.where(slope < 0, alpha < h.cap, alpha > 0)
        violation = np.abs(slope) * may_move  # (11)
        if violation.max() <= tol or steps == max_iter:
            return alpha, steps
        projected = np.abs(np.clip(alpha - slope, 0.0, h.cap) - alpha)  # (9)
        v = projected.argmax() if projected.max() > tol else violation.argmax()  # the lowest number on ties
        i, k = h.sample[v], h.threshold[v]
        target = np.clip(alpha[v] - slope[v] / max(K[i, i] + penalty, 1e-12), 0.0, h.cap[v])
        delta = h.sign[v] * (target - alpha[v])
        score += delta * K[i]
        b[k] -= penalty * delta
        alpha[v] = target
