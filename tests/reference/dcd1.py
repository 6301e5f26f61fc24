"""DCD-1 (Shi et al. 2021, Algorithm 1) for one rank: the twin of cpp/linear/dcd1.hpp."""

import numpy as np

from tests.reference.shuffle import Random, shuffle


def dcd1(X, y, rank, C1, C2, epsilon, eps_s: float, max_iter: int, seed: int | None) -> tuple[np.ndarray, int]:
    """The weights β of the rows of X and the epochs it took; a random order of variables if there is a seed."""
    own, others = np.flatnonzero(y == rank), np.flatnonzero(y != rank)
    sample = np.concatenate([own, own, others])  # α+, α−, β
    direction = np.concatenate([-np.ones(len(own)), np.ones(len(own)), np.where(y[others] > rank, 1.0, -1.0)])
    offset = np.repeat([epsilon, -1.0], [2 * len(own), len(others)])
    cap = np.repeat([C1, C2], [2 * len(own), len(others)])
    alpha, w, order, random = np.zeros(len(sample)), np.zeros(X.shape[1]), list(range(len(sample))), Random(seed or 0)
    epochs, largest = 0, np.inf
    while epochs < max_iter and largest > eps_s:
        if seed is not None:
            shuffle(order, random)
        epochs, largest = epochs + 1, 0.0
        for v in order:
            x = X[sample[v]]
            slope = direction[v] * (w @ x) + offset[v]  # (12)
            violation = min(slope, 0) if alpha[v] == 0 else max(slope, 0) if alpha[v] == cap[v] else slope  # (15)
            largest = max(largest, abs(violation))
            if violation != 0:
                target = np.clip(alpha[v] - slope / (x @ x), 0.0, cap[v])  # (13)
                w += direction[v] * (target - alpha[v]) * x  # (14)
                alpha[v] = target
    return np.bincount(sample, direction * alpha, len(y)), epochs
