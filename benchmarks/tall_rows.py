"""Dense rows of 50 features with planted ranks, made block by block: the same block for the same number everywhere."""

from __future__ import annotations

import numpy as np

from benchmarks.synthetic import AT_ONCE, rank_cuts

N_FEATURES = 50
MADE = (
    "normal columns in float32, 5 ranks of equal frequency of x.w/7 + 0.7 z, w and z standard normal, seed 0, made in "
    f"blocks of {AT_ONCE:,} rows"
)


def block(number: int, n_rows: int = AT_ONCE) -> tuple[np.ndarray, np.ndarray]:
    """Rows and ranks."""
    w = np.random.default_rng(0).standard_normal(N_FEATURES)
    cuts = rank_cuts(_scored(np.random.default_rng(1), w, AT_ONCE)[1])
    X, score = _scored(np.random.default_rng([2, number]), w, n_rows)
    return X, np.searchsorted(cuts, score).astype(np.int8)


def _scored(random: np.random.Generator, w: np.ndarray, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X = random.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    return X, X @ w / 7 + 0.7 * random.standard_normal(n_rows)
