"""Samples that a loaded model has to predict: what they look like is read off its first steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import get_tags

from ordsvm.tables import TableEncoder
from ordsvm.tables.reading import import_pandas

NOT_OF_NUMBERS = (Pipeline, ColumnTransformer, CountVectorizer, OneHotEncoder, OrdinalEncoder, TableEncoder)
N_TRIALS = 2  # one sample would be stretched to fit arrays of any length


def trial_samples(model: Any, size: int) -> Any:
    """Samples for a model in a file of `size` bytes.

    Numbers are 0, in a sparse matrix where the model takes one, so that they take no memory whatever the number of
    features is said to be; categories are the first of those that an encoder has learned.
    """
    if hasattr(model, "trial_samples"):  # a model that makes its own
        return model.trial_samples(N_TRIALS)
    for inner in ("estimator_", "regressor_"):
        if inner in vars(model):
            return trial_samples(vars(model)[inner], size)
    if isinstance(model, Pipeline):
        return _of_pipeline(model, size)
    if isinstance(model, ColumnTransformer):
        return _of_columns(model, size)
    if isinstance(model, CountVectorizer):
        return np.array(["a text"] * N_TRIALS, dtype=object)
    if isinstance(model, OneHotEncoder | OrdinalEncoder):
        return _of_encoder(model)
    if isinstance(model, TableEncoder):
        return import_pandas().DataFrame({column.name: [None] * N_TRIALS for column in model.columns_})
    return _zeros(model, size)


def _of_pipeline(model: Pipeline, size: int) -> Any:
    """An imputer leaves values that are there, so that they are for the step after it."""
    steps = [step for _, step in model.steps if not isinstance(step, str) and step is not None]
    if not steps:
        raise ValueError("a pipeline has no steps")
    if len(steps) > 1 and isinstance(steps[0], SimpleImputer) and isinstance(steps[1], OneHotEncoder | OrdinalEncoder):
        return _of_encoder(steps[1])[:, : steps[0].n_features_in_]  # others are of its indicator
    of_numbers = not isinstance(steps[0], NOT_OF_NUMBERS) and not hasattr(steps[0], "trial_samples")
    if of_numbers and not get_tags(model).input_tags.sparse:  # though the first step may take sparse samples
        return _rows_of(steps[0], size)
    return trial_samples(steps[0], size)


def _of_columns(model: ColumnTransformer, size: int) -> Any:
    """A column for every input, as the transformer that takes it would have it."""
    n_columns = _checked_count(model.n_features_in_, size)
    cells: list[Any] = [np.zeros(N_TRIALS)] * n_columns
    for name, transformer, _ in model.transformers_:
        places = model._transformer_to_input_indices[name]
        if isinstance(transformer, str) or not places:
            continue
        samples = trial_samples(transformer, size)
        samples = samples.toarray() if sp.issparse(samples) else np.asarray(samples, dtype=object)
        columns = samples[:, np.newaxis] if samples.ndim == 1 else samples
        for place, column in zip(places, columns.T, strict=True):
            cells[place] = column
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        is_number = all(np.asarray(cell).dtype.kind == "f" for cell in cells)
        return np.column_stack([np.asarray(cell, dtype=np.float64 if is_number else object) for cell in cells])
    return import_pandas().DataFrame(dict(zip(names.tolist(), cells, strict=True)))


def _of_encoder(model: Any) -> Any:
    columns = [np.repeat(np.asarray(values, dtype=object)[:1], N_TRIALS) for values in model.categories_]
    return np.column_stack(columns)


def _zeros(model: Any, size: int) -> Any:
    tags = get_tags(model).input_tags
    if tags.sparse and not tags.pairwise:
        return sp.csr_array((N_TRIALS, model.n_features_in_))
    return _rows_of(model, size)


def _rows_of(model: Any, size: int) -> Any:
    """Rows of zeros."""
    return np.zeros((N_TRIALS, _checked_count(model.n_features_in_, size)))


def _checked_count(n_features: int, size: int) -> int:
    """What has rows has a number for every feature, such as a mean or a dual variable."""
    if isinstance(n_features, bool) or not isinstance(n_features, int) or not 0 < n_features <= size:
        raise ValueError(f"{n_features} features need more bytes than there are")
    return n_features
