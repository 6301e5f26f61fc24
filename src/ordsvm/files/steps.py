"""Steps of scikit-learn that a model file may hold: the class, its fitted attributes, and what parameters may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from ordsvm.checks import shortened
from ordsvm.text import StemmedWords

PREFIX = "sklearn."  # of their names in a file
OUTPUT = "_sklearn_output_config"  # what set_output leaves in a transformer
EVERY_STEP = ("n_features_in_", "feature_names_in_", OUTPUT)
NOT_OF_THE_MODEL = ("_metadata_request", "_skl_callbacks", "_callback_fit_ctx", "_stop_words_id")
OF_TRAINING = {"n_jobs": None, "memory": None, "verbose": False}  # parameters that are left at their defaults
OUTPUTS = ("default", "pandas", "polars")


class BadStep(ValueError):
    """A step with a parameter or an attribute that a model file may not hold."""


@dataclass(frozen=True)
class Step:
    """What a model file may hold of a class.

    fitted     attributes after `fit`, besides those that every step has, in any version of scikit-learn
    allowed    the only values of some parameters, or classes of values: of those that name code, files or patterns
    """

    fitted: tuple[str, ...] = ()
    allowed: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def parameters(self, step: BaseEstimator) -> dict[str, Any]:
        """To be written."""
        given = step.get_params(deep=False)
        self.check_parameters(type(step), given)
        return {name: OF_TRAINING.get(name, value) for name, value in given.items()}

    def state(self, step: BaseEstimator) -> dict[str, Any]:
        """To be written."""
        known = step.get_params(deep=False)
        state = {name: value for name, value in vars(step).items() if name not in known}
        state = {name: value for name, value in state.items() if not name.startswith(NOT_OF_THE_MODEL)}
        self.check_state(type(step), state)
        return state

    def check_parameters(self, kind: type, given: dict[str, Any]) -> None:
        if isinstance(given.get("dtype"), np.dtype | str) and np.dtype(given["dtype"]).kind in "USV":
            raise BadStep(f"dtype={shortened(given['dtype'])} of {kind.__name__} is no type of numbers")
        for name, values in self.allowed.items():
            if name in given and not any(_is_allowed(given[name], value) for value in values):
                shown = ", ".join(value.__name__ if isinstance(value, type) else repr(value) for value in values)
                raise BadStep(f"{name}={shortened(given[name])} of {kind.__name__} is none of {shown}")

    def check_state(self, kind: type, state: dict[str, Any]) -> None:
        unknown = [name for name in state if name not in (*self.fitted, *EVERY_STEP)]
        if unknown:
            raise BadStep(f"{shortened(unknown[0])} of {kind.__name__} is on no list of fitted attributes")


def check_output(kind: type, state: dict[str, Any]) -> None:
    """What `set_output` has left is one of its choices."""
    output = state.get(OUTPUT, {"transform": "default"})
    if not isinstance(output, dict) or any(value not in OUTPUTS for value in output.values()):
        raise BadStep(f"the output of {kind.__name__} is {shortened(output)}")


def _is_allowed(given: Any, allowed: Any) -> bool:
    """Whether it is that value, that text, or an object of that very class."""
    is_same_text = isinstance(given, str) and isinstance(allowed, str) and given == allowed
    return given is allowed or is_same_text or (isinstance(allowed, type) and type(given) is allowed)


_WORDS: dict[str, tuple[Any, ...]] = {
    "input": ("content",),
    "token_pattern": (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", None),  # another one could take forever
    "analyzer": ("word", "char", "char_wb"),
    "preprocessor": (None,),
    "tokenizer": (None, StemmedWords),
}
_GROUPS = ("_infrequent_enabled", "_infrequent_indices", "_default_to_infrequent_mappings", "infrequent_categories_")
_COMPONENTS = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_")

STEPS: dict[type, Step] = {
    StandardScaler: Step(("n_samples_seen_", "mean_", "var_", "scale_")),
    MinMaxScaler: Step(("n_samples_seen_", "scale_", "min_", "data_min_", "data_max_", "data_range_")),
    MaxAbsScaler: Step(("n_samples_seen_", "max_abs_", "scale_")),
    RobustScaler: Step(("center_", "scale_")),
    Normalizer: Step(),
    PCA: Step((*_COMPONENTS, "_fit_svd_solver", "mean_", "noise_variance_", "n_samples_", "n_components_")),
    TruncatedSVD: Step(_COMPONENTS),
    SimpleImputer: Step(("_fit_dtype", "_fill_dtype", "indicator_", "statistics_")),
    MissingIndicator: Step(("_precomputed", "_n_features", "features_")),
    OneHotEncoder: Step(
        (*_GROUPS, "categories_", "drop_idx_", "_drop_idx_after_grouping", "_n_features_outs"),
        {"feature_name_combiner": ("concat",)},
    ),
    OrdinalEncoder: Step((*_GROUPS, "categories_", "_missing_indices")),
    CountVectorizer: Step(("fixed_vocabulary_", "vocabulary_"), _WORDS),
    TfidfVectorizer: Step(("fixed_vocabulary_", "vocabulary_", "_tfidf"), _WORDS),
    TfidfTransformer: Step(("idf_", "_idf_diag")),
    FunctionTransformer: Step(
        (), {"func": (None,), "inverse_func": (None,), "feature_names_out": ("one-to-one", None)}
    ),
    ColumnTransformer: Step(
        (
            "_columns",
            "_transformer_to_input_indices",
            "_remainder",
            "_name_to_fitted_passthrough",
            "_transformers_feature_names_out",
            "_n_features",
            "sparse_output_",
            "transformers_",
            "output_indices_",
        ),
        {"verbose_feature_names_out": (True, False)},  # a text would be a format, of any width
    ),
    Pipeline: Step(),
}


def step_classes() -> dict[str, type]:
    """The classes by their names in a file."""
    return {PREFIX + kind.__name__: kind for kind in STEPS}
