"""Parts of the data: the folds of a cross-validation, and the samples in them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags

from ordsvm._typing import Ints
from ordsvm.checks import shortened


class Fold(NamedTuple):
    """Samples to train on and samples to test, by number."""

    train: Ints
    test: Ints


def make_folds(cv: Any, X: Any, y: Any, groups: Any = None, classifier: bool = True) -> list[Fold]:
    """Return the folds that scikit-learn makes; with a number, for a classifier, all labels are spread evenly.

    Folds that are given one by one, as pairs of row numbers, are taken as they are.
    """
    is_given = np.iterable(cv) and not hasattr(cv, "split") and not isinstance(cv, str)
    parts = cv if is_given else check_cv(cv, y, classifier=classifier).split(X, y, groups)
    return [Fold(*_row_numbers(cv, part)) for part in parts]


def _row_numbers(cv: Any, part: Any) -> list[Ints]:
    """Return the training and test rows of a fold, or raise ValueError if it is no pair of these."""
    pair = [np.asarray(side) for side in part] if np.iterable(part) else []
    if len(pair) != 2 or any(side.ndim != 1 or (len(side) and side.dtype.kind not in "iub") for side in pair):
        raise ValueError(
            f"cv={shortened(cv)} has a fold that is no pair of row numbers: give a number of folds, a splitter such as "
            "StratifiedKFold, or pairs (training rows, test rows)."
        )
    return [np.flatnonzero(side) if side.dtype.kind == "b" else side.astype(np.int64) for side in pair]


def take(values: Any, which: Ints) -> Any:
    """Return rows of samples, or items of labels or weights, of whatever type; None stays None."""
    return None if values is None else _safe_indexing(values, which)


def is_pairwise(estimator: Any) -> bool:
    """Whether its samples are rows of a kernel matrix."""
    return bool(get_tags(estimator).input_tags.pairwise)


def take_samples(X: Any, which: Ints, trained_on: Ints, pairwise: bool) -> Any:
    """Rows of X for an estimator trained on the rows `trained_on`: of a kernel matrix, only their columns."""
    if not pairwise:
        return take(X, which)
    matrix = np.asarray(X) if isinstance(X, list | tuple) else X  # lists of lists have no columns to take
    return _safe_indexing(take(matrix, which), trained_on, axis=1)
