"""Whether the fitted attributes of a step of scikit-learn fit each other: some become positions in sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import OneHotEncoder

# Attributes with a number for every feature; those of imputers may be of any type, or missing.
BY_FEATURE = ("mean_", "var_", "scale_", "min_", "data_min_", "data_max_", "data_range_", "max_abs_", "center_")

PARTS = {
    "steps": 2,
    "transformers": 3,
    "transformers_": 3,
}  # of pipelines and ColumnTransformers: a name, and what it is


def check_step(step: Any) -> None:
    """Raises where an array has not the length that others give it, or points to a feature that there is not."""
    _check_by_feature(step)
    for parts, size in PARTS.items():
        if parts in vars(step):
            _check_names(parts, vars(step)[parts], size)
    if isinstance(step, CountVectorizer) and "vocabulary_" in vars(step):  # it is fitted
        _check_words(vars(step)["vocabulary_"])
    if isinstance(step, OneHotEncoder) and "categories_" in vars(step):
        _check_categories(step)


def _check_names(parts: str, given: Any, size: int) -> None:
    """Every part of a pipeline or of a ColumnTransformer has a name, a text of its own, by which attributes find it."""
    if not isinstance(given, list) or not all(isinstance(part, tuple) and len(part) == size for part in given):
        raise ValueError(f"{parts} is no list of tuples of {size}")
    names = [part[0] for part in given]
    if not all(isinstance(name, str) and name and "__" not in name for name in names) or len(set(names)) < len(names):
        raise ValueError(f"the names in {parts} are not texts that differ")


def _check_by_feature(step: Any) -> None:
    n_features = vars(step).get("n_features_in_")
    if n_features is None:
        return
    for name in BY_FEATURE:
        values = vars(step).get(name)
        if values is None:
            continue
        if not isinstance(values, np.ndarray) or values.shape != (n_features,) or not np.isfinite(values).all():
            raise ValueError(f"{name} does not hold a finite number for each of {n_features} features")
    statistics = vars(step).get("statistics_")
    if statistics is not None and np.shape(statistics) != (n_features,):
        raise ValueError(f"statistics_ does not hold a value for each of {n_features} features")


def _check_words(words: Any) -> None:
    """Every word has a column of its own, and there is no other."""
    if not isinstance(words, dict) or not all(isinstance(word, str) for word in words):
        raise ValueError("vocabulary_ is no dict of words")
    columns = list(words.values())
    if not all(type(column) is int for column in columns) or sorted(columns) != list(range(len(columns))):
        raise ValueError("vocabulary_ does not give every word a column of its own")


def _check_categories(step: OneHotEncoder) -> None:
    """As many features as categories, less those that are gathered or dropped."""
    state = vars(step)
    categories, counts = state.get("categories_"), state.get("_n_features_outs")
    if not isinstance(categories, list) or not isinstance(counts, list) or len(counts) != len(categories):
        raise ValueError("categories_ and the numbers of features do not fit each other")
    rare, codes, dropped = (
        _for_each(state.get(name), len(categories))
        for name in ("_infrequent_indices", "_default_to_infrequent_mappings", "_drop_idx_after_grouping")
    )
    for values, count, few, code, drop in zip(categories, counts, rare, codes, dropped, strict=True):
        expected = len(values) if few is None else len(values) - len(few) + 1
        if code is not None and not (len(code) == len(values) and np.min(code) >= 0 and np.max(code) < expected):
            raise ValueError("a rare category points to a feature that there is not")
        if drop is not None and not 0 <= int(drop) < expected:
            raise ValueError("a category is dropped that there is not")
        if count != expected - (drop is not None):
            raise ValueError(f"{len(values)} categories do not make {count} features")


def _for_each(values: Any, count: int) -> list[Any]:
    if values is None:
        return [None] * count
    if len(values) != count:
        raise ValueError("what was learned about categories is of another number of columns")
    return list(values)
