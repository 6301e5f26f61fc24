"""PARSMO with one thread: the twin of cpp/solvers/papers/parsmo/parsmo.hpp."""

import numpy as np

from ordsvm.problem import Problem
from tests.reference.pairs import length, move, rooms, worst_pair


def parsmo(problem: Problem, K, tol: float, max_iter: int, q: int, cache_rows=0, gathering=True, epsilon=0.0):
    """α and the number of iterations. With cache_rows, all pairs but the first come from so many rows used last."""
    h, cached = problem.hinges, []
    alpha, score, mu = np.zeros(len(h)), np.zeros(problem.n_samples), np.zeros(problem.n_thresholds + 1)
    for steps in range(max_iter + 1):
        left, pairs, samples = np.array(rooms(problem, alpha)), [], []
        if worst_pair(problem, score, *np.where(left > epsilon * h.cap, left, 0.0), mu)[0] <= tol:
            epsilon = 0.0
        left[left <= epsilon * h.cap] = 0.0
        while len(pairs) < q and (pair := worst_pair(problem, score, *left, mu))[0] > tol:
            pairs.append(pair)
            samples += [i for i in dict.fromkeys(h.sample[list(pair[1:])]) if i not in samples]
            if cache_rows and len(pairs) == 1:
                others = [i for i in cached if i not in samples]
                cached = others[max(0, len(others) + len(samples) - cache_rows) :] + samples
                left[:, ~np.isin(h.sample, cached)] = 0.0
            left[:, pair[1:]] = 0.0
        if not pairs or steps == max_iter:
            return alpha, steps
        cached = [i for i in cached if i not in samples] + samples
        lengths, direction = [length(problem, K, alpha, mu, pair) for pair in pairs], np.zeros(len(h))
        for t, (_, low, up) in zip(lengths, pairs, strict=True):
            direction[[low, up]] = -h.sign[low] * t, h.sign[up] * t
        room = np.where(direction < 0, alpha, h.cap - alpha)[direction != 0] / np.abs(direction[direction != 0])
        mu_move, beta = problem.mu(direction), problem.beta(direction)
        longest = min(*room, *(mu[mu_move < -1e-12] / -mu_move[mu_move < -1e-12]))
        slope, curvature = np.dot(lengths, [pair[0] for pair in pairs]), beta @ K @ beta
        factor = min((slope / curvature if curvature > 1e-12 else np.inf) if gathering else 1.0, longest)
        factor = factor if len(pairs) > 1 else 1.0
        for t, (_, low, up) in zip(lengths, pairs, strict=True):
            move(problem, alpha, mu, low, up, factor * t)
        score += factor * (K @ beta)
