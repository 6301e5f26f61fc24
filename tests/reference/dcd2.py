"""DCD-2 (Shi et al. 2021, Algorithm 2) for one rank: the twin of cpp/linear/dcd2.hpp."""

import numpy as np

from tests.reference.shuffle import Random, shuffle


def dcd2(X, y, rank, C1, C2, epsilon, eps_s: float, max_iter: int, seed: int, shrinking: bool):
    """The weights β of the rows of X, and how many samples are in T for the next epoch, after every one."""
    side, A, everything = np.where(y > rank, 1.0, -1.0), np.sum(X**2, axis=1), list(range(len(y)))
    alpha, w, T, M, sizes = np.zeros(len(y)), np.zeros(X.shape[1]), everything.copy(), np.inf, []
    random, first = Random(seed), 0.0
    for _ in range(max_iter):
        shuffle(T, random)
        violations, kept = [0.0], []
        for i in T:
            a, B = alpha[i], side[i] * (w @ X[i])
            if y[i] != rank:
                low, cap, G, step = 0.0, C2, B - 1, -(B - 1) / A[i]
                v = min(0, G) if a == 0 else max(0, G) if a == cap else G  # (21)
                stuck = (a == 0 and G > M) or (a == cap and G < -M)  # (29)
            else:
                low, cap, up, down = -C1, C1, B + epsilon, B - epsilon
                step = -up / A[i] if up < A[i] * a else -down / A[i] if down > A[i] * a else -a  # (24)
                v = max(0, down) - min(0, up) if a == 0 else up if a > 0 else down  # (27)
                v = max(0, v) if a == cap else min(0, v) if a == low else v
                stuck = (a == 0 and down < -M and up > M) or (a == cap and up < -M) or (a == low and down > M)  # (30)
            if not (shrinking and stuck):
                kept.append(i)
                violations.append(abs(v))
                alpha[i] = np.clip(a + step, low, cap)
                w += (alpha[i] - a) * side[i] * X[i]
        T, total, M = kept, sum(violations), max(violations)
        first = first if sizes else total
        settled = total <= eps_s * first  # (28)
        if settled and len(T) == len(y):
            return side * alpha, [*sizes, len(T)]
        T, M = (everything.copy(), np.inf) if settled else (T, M)
        sizes.append(len(T))
    return side * alpha, sizes
