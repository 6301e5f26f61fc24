"""AsyGCD (Gu et al. 2020, Algorithm 1) one thread: the twin of solvers/papers/async/asygcd.hpp without shrinking."""

import numpy as np

from ordsvm.problem import Problem, Treatment


def asygcd(problem: Problem, K: np.ndarray, tol: float, max_iter: int) -> tuple[np.ndarray, int]:
    """α after max_iter steps, or fewer if violation and relative gap are at most tol by then; and the steps."""
    h = problem.hinges
    penalty = float(problem.treatment is Treatment.PENALIZED)
    alpha, score, b = np.zeros(len(h)), np.zeros(problem.n_samples), np.zeros(problem.n_thresholds)
    work_tol, steps = tol, 0
    while True:
        slope = h.sign * (score[h.sample] - b[h.threshold]) - h.offset
        violation = np.abs(slope) * np.where(slope < 0, alpha < h.cap, alpha > 0)  # (11)
        if violation.max() <= work_tol:
            gap = problem.certificate(alpha, score).relative_gap
            if gap <= tol or steps == max_iter:
                return alpha, steps
            work_tol = violation.max() * min(0.5, max(0.1, 0.7 * tol / gap))  # it has to become smaller
            continue
        if steps == max_iter:
            return alpha, steps
        projected = np.abs(np.clip(alpha - slope, 0.0, h.cap) - alpha)  # (9)
        v = projected.argmax() if projected.max() > work_tol else violation.argmax()  # the lowest number on ties
        i, k = h.sample[v], h.threshold[v]
        target = np.clip(alpha[v] - slope[v] / max(K[i, i] + penalty, 1e-12), 0.0, h.cap[v])  # (10)
        delta = h.sign[v] * (target - alpha[v])
        score += delta * K[i]
        b[k] -= penalty * delta
        alpha[v] = target
        steps += 1
