"""The row of `benchmarks.gpu` about linear machines: many rows of few columns, by features.

Seconds are those of a second fit from an array in memory: X crosses to the device once in each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.results import Row, row
from ordsvm import LinearSVOR, certify

N_FEATURES = 100
BLOCK = 1_000_000  # rows that are made at a time
WITHOUT_GPU = 20_000  # rows where there is none, to try the program out


def tall_ranks(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns in float32, and five ranks of a linear function of them with as much noise."""
    random = np.random.default_rng(0)
    X, t = np.empty((n, N_FEATURES), dtype=np.float32), np.empty(n, dtype=np.float32)
    w = random.standard_normal(N_FEATURES, dtype=np.float32) / np.float32(np.sqrt(N_FEATURES))
    for first in range(0, n, BLOCK):
        block = X[first : first + BLOCK]
        random.standard_normal(out=block, dtype=np.float32)
        t[first : first + BLOCK] = block @ w + random.standard_normal(len(block), dtype=np.float32)
    return X, np.searchsorted(np.quantile(t[:BLOCK], [0.2, 0.4, 0.6, 0.8]), t)


def linear(measure: Any) -> Row:
    """LinearSVOR on ten million rows; beside it, unless alone, the same solver on the CPU."""
    n = 10_000_000 if measure.is_cuda else WITHOUT_GPU
    X, y = tall_ranks(n)
    model = LinearSVOR(C=1.0, tol=1e-3, solver="linear-interior-point", device=measure.device)
    seconds, model = measure.second(lambda: model.fit(X, y))
    facts = measure.facts() | {"judged_gap": certify(model, X, y).relative_gap}
    if not measure.alone:
        here = LinearSVOR(C=1.0, tol=1e-3, solver="linear-interior-point").fit(X, y)
        facts |= {"seconds_of_the_cpu": here.result_.seconds, "objective_of_the_cpu": here.result_.objective}
    result = model.result_
    return row(
        f"LinearSVOR on {n:,} rows of {N_FEATURES} columns: seconds",
        seconds,
        at_most=10.0,
        explanation="X crosses to the device once a fit, and of an iteration only sums come back.",
        solver_seconds=result.seconds,
        iterations=result.n_iter,
        status=result.status,
        relative_gap=result.relative_gap,
        objective=result.objective,
        ran_on=result.device,
        **facts,
    )
