"""What a mistake costs: cost[true, predicted], and the caps it puts on the hinges.

A cost is paid threshold by threshold: going from rank k to rank k + 1 in the prediction changes the cost of a
sample of rank y by cost[y, k + 1] − cost[y, k], and the hinge of that sample at threshold k gets the absolute
value of that change as its share of C. This is right for rows that fall up to the true rank and rise after it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordsvm.checks import as_floats

Floats = NDArray[np.float64]

NAMES = ("absolute", "zero-one", "squared")


def cost_matrix(cost: str | ArrayLike, n_ranks: int) -> Floats:
    """The n_ranks × n_ranks matrix for a name or a checked copy of a given matrix."""
    if isinstance(cost, str):
        distance = np.abs(np.subtract.outer(np.arange(n_ranks), np.arange(n_ranks))).astype(float)
        named = {"absolute": distance, "zero-one": (distance > 0).astype(float), "squared": distance**2}
        if cost not in named:
            raise ValueError(f"cost={cost!r} is unknown: give one of {', '.join(map(repr, NAMES))} or a matrix.")
        return named[cost]
    return _checked(as_floats("cost", cost), n_ranks)


def _checked(matrix: Floats, n_ranks: int) -> Floats:
    if matrix.shape != (n_ranks, n_ranks):
        raise ValueError(
            f"The cost matrix has shape {matrix.shape}, but y has {n_ranks} ranks: give a "
            f"{n_ranks} × {n_ranks} matrix, cost[true rank, predicted rank]."
        )
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise ValueError("The cost matrix must hold finite numbers that are not negative.")
    steps = np.diff(matrix, axis=1)
    before_truth = np.arange(n_ranks - 1)[None, :] < np.arange(n_ranks)[:, None]
    wrong = np.where(before_truth, steps > 0, steps < 0).any(axis=1)
    if wrong.any():
        raise ValueError(
            f"Row {int(np.flatnonzero(wrong)[0])} of the cost matrix is not V-shaped: every row must fall (or stay) "
            "up to the true rank on the diagonal and rise (or stay) after it."
        )
    return matrix


def threshold_costs(matrix: Floats) -> Floats:
    """|cost[y, k + 1] − cost[y, k]|: what threshold k is worth to a sample of rank y."""
    return np.abs(np.diff(matrix, axis=1))
