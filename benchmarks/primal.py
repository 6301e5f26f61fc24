"""The primal of SVORIM ("implicit") and SVOREX ("explicit"), computed here and not by the library under test.

    P(w, b) = 1/2 ||w||^2 + C * sum over hinges of max(0, 1 - s (f - b_k)),    f = K beta,  ||w||^2 = beta' f

Threshold k = 0..r-2 separates ranks <= k (hinges with s = -1) from ranks > k (s = +1). In the implicit
model every sample has a hinge at every threshold; in the explicit one only ranks k and k+1 have one at
threshold k, and the thresholds must be in order. Ranks are 0..r-1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Primal:
    """One training problem but for its kernel matrix."""

    y: np.ndarray
    constraints: str
    C: float

    def sides(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Which samples must lie below, and which above, threshold k."""
        if self.constraints == "implicit":
            return self.y <= k, self.y > k
        return self.y == k, self.y == k + 1

    def hinge_sum(self, score: np.ndarray, thresholds: np.ndarray) -> float:
        """The sum of all hinges, without C."""
        total = 0.0
        for k, b in enumerate(thresholds):
            below, above = self.sides(k)
            total += np.maximum(0.0, 1.0 + score[below] - b).sum() + np.maximum(0.0, 1.0 - score[above] + b).sum()
        return float(total)

    def objective(self, K: np.ndarray, beta: np.ndarray, thresholds: np.ndarray) -> float:
        """P, with everything recomputed from beta and the thresholds."""
        score = K @ beta
        return 0.5 * float(beta @ score) + self.C * self.hinge_sum(score, thresholds)

    def best_thresholds(self, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest thresholds that minimise P for these scores: unique where they agree.

        As a function of b_k the sum of hinges bends at the breakpoints F = f + 1 (if s = -1) and F = f - 1
        (if s = +1). Its slope is #{F < b_k} - N, N being the number of hinges with s = -1, because all caps
        are equal. So it is flat exactly between the N-th and the (N+1)-th smallest breakpoint: integers
        decide, and "slope zero" needs no tolerance. The length of that piece does. Where the optimum has b_k
        in one point only, free hinges (0 < alpha < C) sit there, F = b_k; a solver that stops at violation
        tol leaves them up to about tol apart, so at its scores the piece is of the order of tol long instead
        of 0. Call b_k unique if it is shorter than ten tol.

        Explicit model: thresholds must ascend, so neighbours that would come out in the wrong order are
        pooled: one b for all of them, with all their breakpoints (pool adjacent violators). The minimisers
        form a lattice: pooling on the lower ends gives its least element, pooling on the upper ends its
        greatest.
        """
        hinges = [self._breakpoints(score, k) for k in range(int(self.y.max()))]
        if self.constraints == "implicit":
            ends = np.array([_flat_piece(*h) for h in hinges])
            return ends[:, 0], ends[:, 1]
        return _pooled(hinges, end=0), _pooled(hinges, end=1)

    def _breakpoints(self, score: np.ndarray, k: int) -> tuple[np.ndarray, int]:
        below, above = self.sides(k)
        return np.sort(np.concatenate([score[below] + 1.0, score[above] - 1.0])), int(below.sum())


def _flat_piece(breakpoints: np.ndarray, n_below: int) -> tuple[float, float]:
    """Where the slope #{F < b} - n_below changes sign; unbounded if one side has no hinges."""
    padded = np.concatenate([[-np.inf], breakpoints, [np.inf]])
    return float(padded[n_below]), float(padded[n_below + 1])


def _pooled(hinges: list[tuple[np.ndarray, int]], end: int) -> np.ndarray:
    """Pool adjacent violators on one end (0 lower, 1 upper) of the flat pieces."""
    blocks: list[tuple[np.ndarray, int, int]] = []
    for breakpoints, n_below in hinges:
        block = (breakpoints, n_below, 1)
        while blocks and _flat_piece(*blocks[-1][:2])[end] > _flat_piece(*block[:2])[end]:
            previous = blocks.pop()
            merged = np.sort(np.concatenate([previous[0], block[0]]))
            block = (merged, previous[1] + block[1], previous[2] + block[2])
        blocks.append(block)
    return np.concatenate([np.full(size, _flat_piece(F, n_below)[end]) for F, n_below, size in blocks])
