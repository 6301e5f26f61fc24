"""Findings about the kernel: K near the identity, where no sample is like another, or near a constant.

A hundred rows of K, spread evenly, are compared with all samples, or with some fifty thousand of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from ordsvm._typing import Floats, Ints
from ordsvm.findings import Finding
from ordsvm.kernels import RBF, Kernel, Laplacian, Polynomial, Precomputed

ROWS, MOST_SAMPLES = 100, 50_000
ALONE = 0.1  # of k(x, x): what all others together have of it, below which a sample is alone
ALIKE = 0.99  # of √(k(x, x) k(y, y)): what nearly all pairs have of it, where the kernel is nearly constant
NEARLY_ALL = 0.01  # share of pairs that may be less alike


def kernel_findings(machine: Any, samples: Any, training: bool) -> list[Finding]:
    """`training`: whether the samples are those that a precomputed kernel is about."""
    kernel: Any = getattr(machine, "kernel_", None)
    known = isinstance(kernel, RBF | Laplacian | Polynomial) or (isinstance(kernel, Precomputed) and training)
    if not known or samples.shape[0] < 3:
        return []
    likeness, scale = _likeness(kernel, samples)
    near = [] if isinstance(kernel, Polynomial) else [_identity(kernel, samples, likeness, scale)]
    return [finding for finding in (*near, _constant(kernel, samples, likeness)) if finding is not None]


def spread(n: int, most: int) -> Ints:
    """Some numbers of rows, at even distances: the same in every call."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _likeness(kernel: Kernel, samples: Any) -> tuple[Floats, float]:
    """k(x, y) / √(k(x, x) k(y, y)) of some x and y, NaN where y is x; and how many y each of these stands for."""
    n = samples.shape[0]
    rows, others = spread(n, ROWS), spread(n, MOST_SAMPLES)
    if isinstance(kernel, Precomputed):
        values, diagonal = samples[np.ix_(rows, others)].astype(np.float64), np.diagonal(samples).astype(np.float64)
    else:
        values, diagonal = kernel(samples[rows], samples[others]), _diagonal(kernel, samples)
    size = np.sqrt(np.maximum(diagonal[rows], 0.0)[:, None] * np.maximum(diagonal[others], 0.0))
    likeness = np.divide(values, size, out=np.zeros_like(values), where=size > 0)
    likeness[rows[:, None] == others] = np.nan
    return likeness, (n - 1) / max(1, len(others) - 1)


def _diagonal(kernel: Kernel, samples: Any) -> Floats:
    if not isinstance(kernel, Polynomial):
        return np.ones(samples.shape[0])
    squares = samples.multiply(samples).sum(axis=1) if hasattr(samples, "multiply") else np.square(samples).sum(axis=1)
    return np.asarray((kernel.gamma * np.asarray(squares).ravel() + kernel.coef0) ** kernel.degree, dtype=np.float64)


def _identity(kernel: Kernel, samples: Any, likeness: Floats, scale: float) -> Finding | None:
    others = scale * np.nansum(np.abs(likeness), axis=1)
    middle = float(np.median(others))
    if middle >= ALONE:
        return None
    sentence = (
        f"{_said(kernel, 'large')} the kernel matrix is nearly the identity: to half of the samples all others are "
        f"together {middle:.2g} times as like as they are to themselves, so that samples are learnt by heart."
    )
    return Finding("gamma-too-large", sentence, _remedy(kernel, samples), {"others": middle} | _figures(kernel))


def _constant(kernel: Kernel, samples: Any, likeness: Floats) -> Finding | None:
    least = float(np.nanquantile(likeness, NEARLY_ALL))
    if least < ALIKE:
        return None
    sentence = (
        f"{_said(kernel, 'small')} the kernel matrix is nearly constant: {1 - NEARLY_ALL:.0%} of the pairs of samples "
        f"are at least {least:.4f} alike. What is left is a linear machine with a much smaller C."
    )
    return Finding("gamma-too-small", sentence, _remedy(kernel, samples), {"likeness": least} | _figures(kernel))


def _said(kernel: Kernel, size: str) -> str:
    gamma = getattr(kernel, "gamma", None)
    return "With these values" if gamma is None else f"gamma={gamma:.3g} is so {size} that"


def _figures(kernel: Kernel) -> dict[str, float]:
    return {"gamma": float(kernel.gamma)} if hasattr(kernel, "gamma") else {}


def _remedy(kernel: Kernel, samples: Any) -> str:
    """The gamma at which half of the pairs are more alike than 1/e."""
    if isinstance(kernel, Precomputed):
        return "Compute the kernel with another width."
    if isinstance(kernel, Polynomial):
        return "Give gamma='scale', or a smaller coef0."
    some = spread(samples.shape[0], ROWS)
    rows = samples[some].astype(np.float64)
    distances = manhattan_distances(rows) if isinstance(kernel, Laplacian) else euclidean_distances(rows, squared=True)
    apart = distances[np.triu_indices(len(some), 1)]
    middle = float(np.median(apart[apart > 0])) if np.any(apart > 0) else 1.0
    return f"Try gamma={1.0 / middle:.2g}, at which half of the pairs are more alike than 1/e."
