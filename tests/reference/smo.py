"""SMO for free and for ordered thresholds, with the most violating pair: the twin of cpp/solvers/smo.hpp."""

import numpy as np

from ordsvm.problem import Problem, Thresholds


def smo(problem: Problem, K: np.ndarray, tol: float, max_iter: int) -> tuple[np.ndarray, int]:
    """α after max_iter steps, or fewer if the violation is at most tol by then; and the number of steps."""
    h, m, ordered = problem.hinges, problem.n_thresholds, problem.thresholds is Thresholds.ORDERED
    alpha, score, mu = np.zeros(len(h)), np.zeros(problem.n_samples), np.zeros(m + 1)
    of_threshold = [np.flatnonzero(h.threshold == k) for k in range(m)]
    for steps in range(max_iter + 1):
        level = score[h.sample] - h.sign * h.offset
        fall_room = np.where(h.sign > 0, alpha, h.cap - alpha)  # how far gamma can go down, or up, through a hinge
        rise_room = np.where(h.sign > 0, h.cap - alpha, alpha)
        lows = [v[np.where(fall_room[v] > 0, level[v], -np.inf).argmax()] for v in of_threshold]
        ups = [v[np.where(rise_room[v] > 0, level[v], np.inf).argmin()] for v in of_threshold]
        # gamma falls at threshold k and rises at l. Free: l = k. Ordered: the mu between take up the difference,
        # rising if l > k, falling if l < k, for which all of them must be active.
        pairs = [
            (level[lows[k]] - level[ups[l]], lows[k], ups[l])
            for k in range(m)
            for l in (range(m - 1, -1, -1) if ordered else [k])
            if np.all(mu[l + 1 : k + 1] > 0) and fall_room[lows[k]] > 0 and rise_room[ups[l]] > 0
        ]
        violation, low, up = max(pairs, default=(0.0, 0, 0), key=lambda pair: pair[0])
        if violation <= tol or steps == max_iter:
            return alpha, steps
        (i, j), (k, l) = h.sample[[low, up]], h.threshold[[low, up]]
        curvature = K[i, i] + K[j, j] - 2 * K[i, j] if i != j else 0.0
        wanted = violation / curvature if curvature > 1e-12 else np.inf
        t = min(wanted, fall_room[low], rise_room[up], *mu[l + 1 : k + 1])
        mu[l + 1 : k + 1] -= t
        mu[k + 1 : l + 1] += t
        for v, room, move in ((low, fall_room, -h.sign[low] * t), (up, rise_room, h.sign[up] * t)):
            alpha[v] = (h.cap[v] if move > 0 else 0.0) if t == room[v] else alpha[v] + move
        score += t * (K[j] - K[i])
