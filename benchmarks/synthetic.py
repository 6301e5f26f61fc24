"""Sparse rows with planted ranks, made block by block: the same block for the same generator on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

AT_ONCE = 50_000  # rows of a block
HEAD = 100  # Zipf-Mandelbrot: feature j is drawn with a probability proportional to 1 / (j + HEAD)
NOISE = 0.5  # standard deviation, beside scores of about 1
N_RANKS = 5


def columns(random: np.random.Generator, shape: Any, n_features: int) -> np.ndarray:
    """By the inverse of the distribution function."""
    drawn = HEAD * (np.exp(random.random(shape) * np.log1p(n_features / HEAD)) - 1)
    return np.minimum(drawn, n_features - 1).astype(np.int32)


def unit_rows(random: np.random.Generator, indices: np.ndarray, n_features: int) -> sparse.csr_matrix:
    """Exponential values in these columns, rows scaled to length 1."""
    n_rows, n_values = indices.shape
    values = random.standard_exponential(indices.shape, dtype=np.float32)
    values /= np.sqrt(np.einsum("ij,ij->i", values, values))[:, None]
    starts = np.arange(0, values.size + 1, n_values, dtype=np.int32)
    return sparse.csr_matrix((values.ravel(), indices.ravel(), starts), shape=(n_rows, n_features))


def noisy_score(random: np.random.Generator, X: sparse.csr_matrix, w: np.ndarray) -> np.ndarray:
    return X @ w + NOISE * random.standard_normal(X.shape[0])


def rank_cuts(score: np.ndarray) -> np.ndarray:
    """The quantiles that cut scores into N_RANKS ranks of equal frequency."""
    return np.quantile(score, np.arange(1, N_RANKS) / N_RANKS)
