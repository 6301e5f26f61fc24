"""Kernels by their formulas, in extended precision: values that rounding in float64 does not reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

Extended = np.longdouble


def extended(X: Any) -> np.ndarray:
    """Samples as an array of extended precision; float32 values stay what they are."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=Extended)


def gamma_of(gamma: Any, X: np.ndarray) -> float:
    """What "scale" and "auto" stand for in scikit-learn."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        variance = float(((X - X.mean()) ** 2).mean())
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return float(gamma)


def kernel_matrix(kernel: dict[str, Any], X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """k(x, y) for every row x of X and y of Y; `kernel` has its name and parameters."""
    name, gamma = kernel["name"], Extended(kernel.get("gamma", 1.0))
    if name == "linear":
        return X @ Y.T
    if name in ("rbf", "callable"):
        return np.exp(-gamma * _distances(X, Y, 2))
    if name == "laplacian":
        return np.exp(-gamma * _distances(X, Y, 1))
    inner = gamma * (X @ Y.T) + Extended(kernel["coef0"])
    if name == "poly":
        return inner ** Extended(kernel["degree"])
    if name == "sigmoid":
        return np.tanh(inner)
    raise ValueError(f"no formula for the kernel {name!r}")


def _distances(X: np.ndarray, Y: np.ndarray, power: int) -> np.ndarray:
    """Σ_j |x_j − y_j|^power, feature by feature: no difference of large squares."""
    total = np.zeros((len(X), len(Y)), dtype=Extended)
    for x, y in zip(X.T, Y.T, strict=True):
        total += np.abs(x[:, None] - y) ** power
    return total
