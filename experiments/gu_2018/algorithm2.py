"""Algorithms 2 and 3 of Gu et al. 2018 with one thread, in NumPy, counting what Table 1 counts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ordsvm.problem import Problem


@dataclass
class Counts:
    """Steps, shrinkings, outer loops, and updates of G bar; sizes of the active set after every shrinking."""

    iter_total: int = 0
    iter_inner: int = 0
    iter_outer: int = 0
    gbar_count: int = 0
    active: list[int] = field(default_factory=list)


def accelerated_descent(problem: Problem, K: np.ndarray, tol: float, max_shrink_iter: int) -> tuple[np.ndarray, Counts]:
    """The dual variables and counts of C-SVC or SVR with a penalised intercept, p = -offset, at M - m < tol.

    Q_ij = s_i s_j (K_ij + 1). A step by (4) from the hinge with the largest |projected gradient|; every max_shrink_iter
    steps hinges are left out by Algorithm 3; G of all is computed anew at the end of an inner loop. G bar (12) changes
    whenever a variable arrives at its cap or leaves it.
    """
    h = problem.hinges
    Q = np.outer(h.sign, h.sign) * (K[np.ix_(h.sample, h.sample)] + 1.0)
    alpha, counts = np.zeros(len(h)), Counts()
    while True:
        G, active, steps = Q @ alpha - h.offset, np.ones(len(h), dtype=bool), 0
        if _spread(alpha, G, h.cap, active)[0] < tol:
            return alpha, counts
        while True:
            spread, highest, lowest = _spread(alpha, G, h.cap, active)
            if spread < tol:
                break
            if steps and steps % max_shrink_iter == 0:
                active &= ~((alpha == 0) & ((highest if highest > 0 else np.inf) < G))
                active &= ~((alpha == h.cap) & ((lowest if lowest < 0 else -np.inf) > G))
                counts.iter_inner += 1
                counts.active.append(int(active.sum()))
            i = int(np.argmax(np.abs(alpha - np.clip(alpha - G, 0, h.cap)) * active))
            target = float(np.clip(alpha[i] - G[i] / Q[i, i], 0, h.cap[i]))
            counts.gbar_count += (alpha[i] == h.cap[i]) != (target == h.cap[i])
            G += (target - alpha[i]) * Q[i]
            alpha[i] = target
            steps += 1
            counts.iter_total += 1
        counts.iter_outer += 1


def _spread(alpha: np.ndarray, G: np.ndarray, cap: np.ndarray, active: np.ndarray) -> tuple[float, float, float]:
    """M - m, M and m of the active hinges."""
    projected = np.where(alpha == 0, np.minimum(0, G), np.where(alpha == cap, np.maximum(0, G), G))[active]
    highest, lowest = float(projected.max(initial=0)), float(projected.min(initial=0))
    return highest - lowest, highest, lowest
