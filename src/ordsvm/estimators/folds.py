"""Parts of the data: the folds of a cross-validation, and the samples in them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags

from ordsvm._typing import Ints


class Fold(NamedTuple):
    """Samples to train on and samples to test, by number."""

    train: Ints
    test: Ints


def make_folds(cv: Any, X: Any, codes: Ints, groups: Any = None) -> list[Fold]:
    """As scikit-learn makes them for a classifier: with a number, all ranks are spread evenly over the folds."""
    return [Fold(train, test) for train, test in check_cv(cv, codes, classifier=True).split(X, codes, groups)]


def take(values: Any, which: Ints) -> Any:
    """Rows of samples, or items of labels or weights, of whatever type; None stays None."""
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
