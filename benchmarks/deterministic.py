"""What deterministic=True costs, and how far models of 1 and 2 threads differ without it."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.results import Row, row
from ordsvm import SVOR, LinearNPSVOR, LinearSVOR

DATA = (
    "SVOR: 1,500 rows of 10 standard normal columns, 4 ranks. LinearSVOR, LinearNPSVOR: 3,000 sparse rows of 5,000 "
    "columns, 0.4 % of them filled; tall: 30,000 dense rows of 20 columns. Fits take turns; medians of 3."
)


def run(quick: bool) -> list[Row]:
    made = []
    for name, (kind, X, y) in works(quick).items():
        models = [kind(n_threads=threads).fit(X, y) for threads in (1, 2)]
        scores = [model.decision_function(X[:500]) for model in models]
        made.append(
            row(f"{name}: largest difference of a score, 1 and 2 threads", float(np.abs(np.subtract(*scores)).max()))
        )
        same = [kind(n_threads=threads, deterministic=True).fit(X, y).decision_function(X[:500]) for threads in (1, 2)]
        equal = float(np.abs(np.subtract(*same)).max())
        made.append(row(f"{name}: the same with deterministic=True", equal, at_most=0.0))
        ratio = slower(kind, X, y, 1 if quick else 3)
        made.append(row(f"{name}: seconds of deterministic=True / seconds with 2 threads", ratio))
    return made


def slower(kind: Any, X: Any, y: np.ndarray, repeats: int) -> float:
    taken: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(repeats):
        for deterministic, seconds in taken.items():
            began = time.perf_counter()
            kind(n_threads=2, deterministic=deterministic).fit(X, y)
            seconds.append(time.perf_counter() - began)
    return statistics.median(taken[True]) / statistics.median(taken[False])


def works(quick: bool) -> dict[str, tuple[Any, Any, np.ndarray]]:
    random = np.random.default_rng(0)
    X = random.normal(size=(300 if quick else 1500, 10))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=len(X)), [-1.0, 0.0, 1.0])
    S = sparse.random_array((500 if quick else 3000, 5000), density=0.004, format="csr", random_state=random)
    score = S @ random.normal(size=5000)
    ranks = np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))
    T = random.normal(size=(1000 if quick else 30_000, 20))
    tall = np.digitize(T[:, 0] + T[:, 1] + random.normal(size=len(T)), [-1.5, 0.0, 1.5])
    return {
        "SVOR": (SVOR, X, y),
        "LinearSVOR, sparse": (LinearSVOR, S, ranks),
        "LinearNPSVOR, sparse": (LinearNPSVOR, S, ranks),
        "LinearSVOR, tall": (LinearSVOR, T, tall),
    }
