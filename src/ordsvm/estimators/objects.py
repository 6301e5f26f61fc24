"""Samples that are no numbers, such as texts: a callable kernel is given them as they are, a few at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ordsvm.devices import TensorRows, is_tensor

NUMBERS = "biufc"


def objects_of(X: Any) -> NDArray[Any] | None:
    """Return samples that are no numbers as an array of objects; None for numbers, and what becomes numbers.

    A list of texts, or of anything else than rows of numbers, becomes an array of one dimension. A table with a column
    of texts keeps its columns.
    """
    if sp.issparse(X) or is_tensor(X) or isinstance(X, TensorRows):
        return None
    if isinstance(X, np.ndarray) and X.dtype.kind in NUMBERS:
        return None
    array = np.asarray(X, dtype=object)
    if array.ndim not in (1, 2) or array.size == 0:
        return None
    if array.ndim == 1:
        return None if all(isinstance(each, int | float | complex | np.number) for each in array) else array
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return array
    return None


def training_objects(machine: Any, X: Any) -> NDArray[Any] | None:
    """Return training samples that are no numbers, of which the machine keeps the shape; None for numbers."""
    machine._object_shape = None
    array = objects_of(X)
    if array is None:
        return None
    if len(array) < 2:
        raise ValueError(f"X has {len(array)} sample: give at least 2.")
    for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit
        vars(machine).pop(name, None)
    if array.ndim == 2:
        validate_data(machine, X if hasattr(X, "columns") else array, skip_check_array=True)  # counts and names columns
    else:
        machine.n_features_in_ = 1
    machine._object_shape = array.shape[1:]
    return array


def new_objects(machine: Any, X: Any) -> NDArray[Any] | None:
    """Return samples for a machine that was trained on objects; None for a machine of numbers."""
    shape = getattr(machine, "_object_shape", None)  # none in pickles of earlier versions
    if shape is None:
        return None
    array = objects_of(X)
    if array is None:
        array = np.asarray(X, dtype=object)
    if array.shape[1:] != shape or array.ndim == 0:
        expected = "a list of such objects" if shape == () else f"a table of {shape[0]} columns"
        raise ValueError(
            f"X has the shape {array.shape}, but this machine was trained on samples that are no numbers: give "
            f"{expected}, as to fit."
        )
    if len(shape):
        validate_data(machine, X if hasattr(X, "columns") else array, reset=False, skip_check_array=True)
    return array
