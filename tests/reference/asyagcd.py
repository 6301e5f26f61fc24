"""AsyAGCD (Gu et al. 2020, Algorithms 2, 3), one thread: the twin of solvers/papers/async/asygcd.hpp with shrinking."""

import numpy as np

from ordsvm.problem import Problem, Treatment


def asyagcd(problem: Problem, K: np.ndarray, tol: float, max_iter: int, max_shrink_iter: int, at_once: bool = False):
    """α after max_iter steps, or fewer if M − m is at most tol by then; the steps; sizes of active sets. `at_once`, as
    printed: line 4 of Algorithm 2 shrinks at k = 0 too."""
    h = problem.hinges
    penalty = float(problem.treatment is Treatment.PENALIZED)
    alpha, steps, sizes = np.zeros(len(h)), 0, []

    def slopes() -> tuple[np.ndarray, np.ndarray]:
        slope = h.sign * (score[h.sample] - b[h.threshold]) - h.offset
        return slope, slope * np.where(slope < 0, alpha < h.cap, alpha > 0) * active  # (11)

    def shrink() -> None:
        most, least = partial.max(initial=0), partial.min(initial=0)  # Algorithm 3 with (14)
        active[(alpha == 0) & (slope > most) & (most > 0)] = 0
        active[(alpha == h.cap) & (slope < least) & (least < 0)] = 0
        sizes.append(int(active.sum()))

    while True:
        score, b = K @ problem.beta(alpha), -penalty * problem.gamma(alpha)  # (17)
        active, own_steps = np.ones(len(h)), 0
        slope, partial = slopes()
        if partial.max(initial=0) - partial.min(initial=0) <= tol or steps == max_iter:
            return alpha, steps, sizes
        if at_once:
            shrink()
        while np.abs(partial).max() > tol / 2 and steps < max_iter:
            projected = np.abs(np.clip(alpha - slope, 0.0, h.cap) - alpha) * active  # (9)
            v = projected.argmax() if projected.max() > tol / 2 else np.abs(partial).argmax()
            i, k = h.sample[v], h.threshold[v]
            target = np.clip(alpha[v] - slope[v] / max(K[i, i] + penalty, 1e-12), 0.0, h.cap[v])  # (10)
            delta = h.sign[v] * (target - alpha[v])
            score += delta * K[i]
            b[k] -= penalty * delta
            alpha[v] = target
            steps, own_steps = steps + 1, own_steps + 1
            slope, partial = slopes()
            if own_steps % max_shrink_iter == 0:
                shrink()
