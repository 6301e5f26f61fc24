"""The machine inside of a model, and the features that reach it, through pipelines, searches and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ordsvm._typing import Floats
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.estimators import RoundedRegressor
from ordsvm.estimators.base import Machine, checked_samples
from ordsvm.estimators.steps import transformed_by_steps
from ordsvm.findings import NumberedNames
from ordsvm.tables import TableEncoder, TableModel
from ordsvm.tables.reading import with_texts_as_names


@dataclass(frozen=True)
class Parts:
    """What a model is made of.

    machine    the last estimator, a machine of this library or another one
    features   what it is given for the rows, checked: an array, a CSR matrix, or None where these are no numbers
    names      of the features
    columns    of the rows, by name: those that the model reads
    is_encoded whether a `TableEncoder` made the features, which scales them
    """

    machine: Any
    features: Any
    names: Sequence[str]
    columns: dict[str, Any]
    is_encoded: bool

    @property
    def is_ours(self) -> bool:
        return isinstance(self.machine, Machine)


def parts_of(model: Any, X: Any) -> Parts:
    """Of a fitted model and rows."""
    machine, features, names, read = model, X, None, None
    is_encoded = False
    while True:
        if hasattr(machine, "best_estimator_"):
            machine = machine.best_estimator_
        elif isinstance(machine, FrozenEstimator):
            machine = machine.estimator
        elif isinstance(machine, CalibratedOrdinal):
            machine = machine.estimator_
        elif isinstance(machine, RoundedRegressor):
            machine = machine.regressor_
        elif isinstance(machine, Pipeline):
            if len(machine) > 1:
                features, names = transformed_by_steps(machine, features), _names_out(machine[:-1])
                is_encoded |= any(isinstance(step, TableEncoder) for step in machine)
            machine = machine[-1]
        elif isinstance(machine, TableModel):
            features = machine.features(features)
            if machine.encoder_ is not None:
                names, is_encoded = machine.encoder_.get_feature_names_out(), True
                read = [column.name for column in machine.encoder_.columns_]
            machine = machine.machine_
        else:
            break
    checked = checked_samples(machine, features) if isinstance(machine, Machine) else _numbers(features)
    return Parts(machine, checked, _feature_names(names, features, checked), columns_of(X, read), is_encoded)


def _names_out(steps: Pipeline) -> Any:
    """None where a step does not name its features."""
    try:
        return steps.get_feature_names_out()
    except (AttributeError, ValueError, TypeError):
        return None


def _feature_names(names: Any, features: Any, checked: Any) -> Sequence[str]:
    n_features = 0 if checked is None or checked.dtype == object else checked.shape[1]
    if names is None:
        names = getattr(features, "columns", None)
    if names is None or len(names) != n_features:
        return NumberedNames("column ", n_features)
    return [str(name) for name in names]


def _numbers(features: Any) -> Any:
    """Features of another library's estimator, where they are numbers."""
    if sp.issparse(features):
        return sp.csr_array(features)
    try:
        found = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 2 else None


def columns_of(X: Any, read: list[str] | None) -> dict[str, Any]:
    """The columns of rows as arrays, by name; none of sparse rows."""
    if sp.issparse(X):
        return {}
    if hasattr(X, "columns"):
        if read is not None:
            X = with_texts_as_names(X)
        return {str(name): np.asarray(X[name]) for name in (X.columns if read is None else read)}
    rows = np.asarray(X)
    return {f"column {place}": rows[:, place] for place in range(rows.shape[1])} if rows.ndim == 2 else {}


def column_ranges(features: Any) -> Floats:
    """Largest minus least value of every column; of sparse columns with few values, which say little, NaN."""
    if not sp.issparse(features):
        low = np.nanmin(features, axis=0) if features.dtype.kind == "f" else features.min(axis=0)
        high = np.nanmax(features, axis=0) if features.dtype.kind == "f" else features.max(axis=0)
        return np.asarray(high - low, dtype=np.float64)
    high, low = (np.asarray(extreme.todense()).ravel() for extreme in (features.max(axis=0), features.min(axis=0)))
    filled = np.bincount(features.indices, minlength=features.shape[1])
    return np.where(filled >= 0.01 * features.shape[0], (high - low).astype(np.float64), np.nan)
