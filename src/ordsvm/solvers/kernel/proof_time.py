"""How long the proof at the end of a fit will take: a fit with a time limit stops that much earlier.

Nearly all of it is f = Kβ in float64, a row of K for every support vector. What the rows cost is measured on a few.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ordsvm._typing import Floats, Ints

FEW_VALUES = 10**7  # of K: they take some hundredths of a second
FIRST_ROWS = 8
MEASURING_SHARE = 0.01  # of the time limit
LARGEST_SHARE = 0.5  # of the time limit: at least as much is for the solver


class ProofTime:
    """Seconds that Kβ takes, by products with some of its rows; `product` computes Kβ."""

    def __init__(self, product: Callable[[Floats], Floats], time_limit: float) -> None:
        self._product = product
        self._limit = time_limit
        self._overhead = 0.0
        self._per_value: float | None = None  # None: not measured yet

    def seconds(self, beta: Floats) -> float:
        support = np.flatnonzero(beta)
        n_values = _values(len(support), len(beta))
        if n_values < FEW_VALUES or len(support) < 2 * FIRST_ROWS:  # too few to measure
            return 0.0
        if self._per_value is None:
            self._per_value = self._measured(beta, support)
        return min(self._overhead + self._per_value * n_values, LARGEST_SHARE * self._limit)

    def _measured(self, beta: Floats, support: Ints) -> float:
        """Twice as many rows each time, until that takes long enough; the last two tell rows from all else."""
        times: list[tuple[int, float]] = []
        n_rows = FIRST_ROWS
        while n_rows <= len(support) and (len(times) < 2 or times[-1][1] < MEASURING_SHARE * self._limit):
            few = np.zeros_like(beta)
            few[support[:n_rows]] = beta[support[:n_rows]]
            began = time.perf_counter()
            self._product(few)
            times.append((_values(n_rows, len(beta)), time.perf_counter() - began))
            n_rows *= 2
        (fewer, less), (more, longer) = times[-2:]
        per_value = max(0.0, longer - less) / (more - fewer)
        self._overhead = longer - per_value * more
        return per_value


def _values(n_rows: int, n: int) -> int:
    """Of K in so many rows, each used for both of its samples."""
    return n_rows * n - n_rows * (n_rows - 1) // 2
