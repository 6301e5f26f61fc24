"""Cost matrices as they are given, with labels or without, and in the order of the ranks.

pandas is recognised by its attributes, so it need not be installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordsvm._typing import Floats
from ordsvm.checks import as_floats, shortened


def costs_by_rank(cost: ArrayLike, n_ranks: int, classes: NDArray[Any] | None = None) -> Floats:
    """The matrix cost[true, predicted], checked, its rows and columns in the order of the ranks.

    Those of a frame go by its labels, among which all `classes` have to be. Without labels they are in order already.
    """
    if classes is not None and _has_labels(cost):
        cost = _in_order(cost, classes.tolist())
    matrix = as_floats("cost", cost)
    if matrix.shape != (n_ranks, n_ranks):
        raise ValueError(
            f"The cost matrix has shape {matrix.shape}, but y has {n_ranks} ranks: give a "
            f"{n_ranks} × {n_ranks} matrix, cost[true rank, predicted rank]."
        )
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise ValueError("The cost matrix must hold finite numbers that are not negative.")
    return matrix


def labels_or_numbers(cost: Any) -> Any:
    """The labels of the rows, or numbers from 0 where they have none."""
    return cost.index if _has_labels(cost) else np.arange(len(np.atleast_1d(cost)))


def _has_labels(cost: Any) -> bool:
    """Whether this is a frame of pandas whose rows or columns are not just numbered from 0."""
    if not (hasattr(cost, "index") and hasattr(cost, "columns")):
        return False
    return not (_is_numbered(cost.index) and _is_numbered(cost.columns))


def _is_numbered(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _in_order(frame: Any, classes: list[Any]) -> NDArray[Any]:
    rows, columns = (_places(axis, frame, classes) for axis in ("index", "columns"))
    return frame.to_numpy()[np.ix_(rows, columns)]


def _places(axis: str, frame: Any, classes: Sequence[Any]) -> list[int]:
    """Where along an axis of the frame the classes are."""
    given = getattr(frame, axis).tolist()
    places = {label: place for place, label in enumerate(given)}
    if len(places) < len(given) or not all(label in places for label in classes):
        raise ValueError(
            f"The cost matrix has the {axis} {shortened(given)}, but the classes are {shortened(list(classes))}: give "
            "each of these once as index (true) and once as columns (predicted), or an array in the order of the ranks."
        )
    return [places[label] for label in classes]
