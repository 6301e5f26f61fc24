"""What every metric does first: labels become numbers, weights are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from ordsvm._typing import Floats
from ordsvm.problem.labels import category_array, label_array, ordered_dtype_categories, rank_codes


def as_numbers(y_true: Any, y_pred: Any, categories: Any) -> tuple[Floats, Floats]:
    """Both label vectors as ranks if an order is known, else as the numbers they are."""
    if categories is None:
        categories = ordered_dtype_categories(y_true)
    named = {"y_true": label_array(y_true, "y_true"), "y_pred": label_array(y_pred, "y_pred")}
    check_consistent_length(*named.values())
    if categories is None:
        true, predicted = (own_values(labels, name) for name, labels in named.items())
    else:
        classes = category_array(categories)
        true, predicted = (rank_codes(labels, classes, name) for name, labels in named.items())
    return true.astype(np.float64), predicted.astype(np.float64)


def own_values(labels: NDArray[Any], name: str) -> NDArray[Any]:
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} holds labels that are not numbers, such as {labels.tolist()[0]!r}; "
            "pass categories=[...], all labels listed lowest first."
        )
    return labels


def weights(sample_weight: Any, true: Floats) -> Floats:
    """One finite, non-negative weight per sample, 1 where none are given."""
    if sample_weight is None:
        return np.ones(len(true))
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != true.shape:
        raise ValueError(f"sample_weight has shape {weight.shape}; give one weight per sample: {true.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ValueError(
            "sample_weight holds negative, infinite or NaN values, or only zeros; "
            "give finite weights of at least 0, and one above 0."
        )
    return weight
