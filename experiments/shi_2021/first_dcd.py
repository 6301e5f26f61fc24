"""DCD-1 (Algorithm 1) of one rank in NumPy, with the two variables of an own sample kept apart."""

from __future__ import annotations

import numpy as np


def complementary(X: np.ndarray, y: np.ndarray, rank: int, C: float, epsilon: float) -> tuple[float, int, float]:
    """At the end: the largest product of the two variables of a sample; variables less n + l; the largest violation.

    w = sum of direction * alpha * x over the variables; own samples have one variable of each direction with offset
    epsilon, the others one with offset -1.
    """
    X = np.hstack([X, np.ones((len(X), 1))])
    own, others = np.flatnonzero(y == rank), np.flatnonzero(y != rank)
    sample = np.concatenate([own, own, others])
    direction = np.concatenate([-np.ones(len(own)), np.ones(len(own)), np.where(y[others] > rank, 1.0, -1.0)])
    offset = np.concatenate([np.full(2 * len(own), epsilon), -np.ones(len(others))])
    Q = (direction[:, None] * X[sample]) @ (direction[:, None] * X[sample]).T
    alpha, G = np.zeros(len(sample)), offset.copy()
    rng = np.random.default_rng(0)
    worst = np.inf
    for _ in range(20_000):
        worst = 0.0
        for v in rng.permutation(len(sample)):
            target = np.clip(alpha[v] - G[v] / Q[v, v], 0.0, C)
            if target != alpha[v]:
                worst = max(worst, abs(target - alpha[v]) * Q[v, v])
                G += (target - alpha[v]) * Q[:, v]
                alpha[v] = target
        if worst < 1e-8:
            break
    product = float(np.max(alpha[: len(own)] * alpha[len(own) : 2 * len(own)]))
    return product, len(sample) - len(y) - len(own), worst
