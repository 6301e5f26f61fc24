"""Violating pairs of hinges for free and for ordered thresholds: the twin of cpp/optimality/pairs.hpp."""

import numpy as np

from ordsvm.problem import Problem, Treatment


def rooms(problem: Problem, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far gamma can go down, and up, through every hinge."""
    h = problem.hinges
    return np.where(h.sign > 0, alpha, h.cap - alpha), np.where(h.sign > 0, h.cap - alpha, alpha)


def worst_pair(problem: Problem, score, fall_room, rise_room, mu) -> tuple[float, int, int]:
    """The largest violation and its pair: gamma falls at threshold k and rises at l.

    Free: l = k. Ordered: the mu between take up the difference, rising if l > k, falling if l < k, for which all of
    them must be active.
    """
    h, m, ordered = problem.hinges, problem.n_thresholds, problem.treatment is Treatment.ORDERED
    level = score[h.sample] - h.sign * h.offset
    of_threshold = [np.flatnonzero(h.threshold == k) for k in range(m)]
    lows = [v[np.where(fall_room[v] > 0, level[v], -np.inf).argmax()] for v in of_threshold]
    ups = [v[np.where(rise_room[v] > 0, level[v], np.inf).argmin()] for v in of_threshold]
    pairs = [
        (level[lows[k]] - level[ups[l]], lows[k], ups[l])
        for k in range(m)
        for l in (range(m - 1, -1, -1) if ordered else [k])
        if np.all(mu[l + 1 : k + 1] > 0) and fall_room[lows[k]] > 0 and rise_room[ups[l]] > 0
    ]
    return max(pairs, default=(0.0, 0, 0), key=lambda pair: pair[0])


def length(problem: Problem, K: np.ndarray, alpha, mu, pair: tuple[float, int, int]) -> float:
    """To the minimum along a pair, or as far as the box and mu >= 0 let it."""
    h, (fall_room, rise_room), (violation, low, up) = problem.hinges, rooms(problem, alpha), pair
    (i, j), (k, l) = h.sample[[low, up]], h.threshold[[low, up]]
    curvature = K[i, i] + K[j, j] - 2 * K[i, j] if i != j else 0.0
    wanted = violation / curvature if curvature > 1e-12 else np.inf
    return min(wanted, fall_room[low], rise_room[up], *mu[l + 1 : k + 1])


def move(problem: Problem, alpha, mu, low: int, up: int, t: float) -> None:
    """gamma falls by t through `low` and rises by t through `up`; where alpha gets to a bound it is put there."""
    h, (fall_room, rise_room) = problem.hinges, rooms(problem, alpha)
    k, l = h.threshold[[low, up]]
    mu[l + 1 : k + 1] -= t
    mu[k + 1 : l + 1] += t
    for v, room, change in ((low, fall_room[low], -h.sign[low] * t), (up, rise_room[up], h.sign[up] * t)):
        alpha[v] = (h.cap[v] if change > 0 else 0.0) if t >= room * (1 - 1e-15) else alpha[v] + change
