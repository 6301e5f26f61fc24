"""diagnose: all findings about a trained model and the data that it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats, Ints, Samples, SampleWeight
from ordsvm.devices import on_host
from ordsvm.diagnosis.columns import identifier_columns, unscaled_features
from ordsvm.diagnosis.duplicates import disagreeing_duplicates, errors
from ordsvm.diagnosis.kernel_values import kernel_findings, spread
from ordsvm.diagnosis.parts import Parts, parts_of
from ordsvm.estimators import SVC, LinearSVC
from ordsvm.estimators.base import Machine, saturation_of, trained_task
from ordsvm.estimators.folds import is_pairwise, take
from ordsvm.estimators.model_findings import (
    RankCounts,
    bad_thresholds,
    large_C,
    never_predicted,
    one_rank,
    one_value,
    small_C,
)
from ordsvm.estimators.saturation import Saturation
from ordsvm.findings import Finding, Findings
from ordsvm.problem.labels import label_array, rank_codes
from ordsvm.rows.streams import is_stream
from ordsvm.search import OrdinalSearchCV
from ordsvm.search.remarks import edges_of_search
from ordsvm.sparse import check_structure

#: The names of all findings.
NAMES = (
    "one-rank",
    "never-predicted",
    "thresholds-equal",
    "thresholds-disordered",
    "C-too-small",
    "C-too-large",
    "gamma-too-large",
    "gamma-too-small",
    "unscaled-features",
    "identifier-column",
    "duplicates-disagree",
    "grid-edge",
)
MOST_VALUES = 2e9  # of the kernel times features, to predict rows: others are left out, at even distances


def diagnose(model: BaseEstimator, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None) -> Findings:
    """Find what speaks against trusting a trained model, with figures and what to do about it.

    Parameters
    ----------
    model : estimator
        A fitted machine, or a pipeline, search, `CalibratedOrdinal`, `RoundedRegressor` or `TableModel` with one in it.
        For estimators of other libraries there are the findings about predictions and data.
    X : array-like, CSR matrix or data frame of shape (n_samples, n_columns)
        The training rows, as `fit` was given them. Other rows do too, but for what is about C.
    y : array-like of shape (n_samples,)
        Their labels or targets.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights that `fit` was given.

    Returns
    -------
    Findings
        A list of `Finding`, empty where nothing was found.

    Raises
    ------
    ValueError
        Where y has a label that the model was not trained with, or another length than X.

    See Also
    --------
    ModelWarning : What `fit` says by itself.
    certify : Proof of how near the optimum a model is, which is no proof that it is of use.

    Notes
    -----
    The findings, and when they are made (docs/guide/diagnosis.md has the reasons):

    - "one-rank": all rows get one label. "never-predicted": labels that rows have and no prediction.
    - "thresholds-equal", "thresholds-disordered": thresholds less than 1/1000 of the margin apart, or out of order.
    - "C-too-small": all dual variables are at their bounds; "C-too-large": none is.
    - "gamma-too-large": to half of the samples all others together are less than 0.1 times as like as they are to
      themselves; "gamma-too-small": 99 % of pairs of samples are alike to 0.99.
    - "unscaled-features": the ranges and the standard deviations of features differ by a factor of 100 or more.
    - "identifier-column": a column of other values in each of 20 rows or more, in even steps or numbered without gaps.
    - "duplicates-disagree": equal rows with different labels make at least 1 % of all labels, or a tenth of the model's
      error, unavoidable.
    - "grid-edge": the best parameter of a search is the least or the largest that was tried.

    Where predicting all rows takes long, rows at even distances are predicted; kernel values are those of a hundred
    rows. The work grows as n log n.

    Examples
    --------
    >>> from ordsvm import SVOR, diagnose
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> diagnose(SVOR(C=10, gamma=1e6).fit(X, y), X, y).names
    ['C-too-large', 'gamma-too-large']
    >>> diagnose(SVOR().fit(X, y), X, y)
    Nothing was found.
    """
    check_is_fitted(model)
    if is_stream(X):
        raise ValueError("diagnose needs rows in memory: give some of them as an array with their labels.")
    X, y, sample_weight = on_host(X), on_host(y, "y"), on_host(sample_weight, "sample_weight")
    check_structure(X)
    check_consistent_length(X, y)
    parts = parts_of(model, X)
    saturation = _saturation(parts, y, sample_weight)
    if sample_weight is not None and not np.all(counted := np.asarray(sample_weight) > 0):
        X, y = (take(values, np.flatnonzero(counted)) for values in (X, y))  # the others are not trained on
        parts = parts_of(model, X)
    rows = _rows_to_predict(parts)
    found = _of_numbers if is_regressor(model) else _of_labels
    findings = found(model, parts, X, y, rows, saturation)
    if isinstance(model, OrdinalSearchCV):
        findings += edges_of_search(model)
    return Findings(finding for finding in findings if finding is not None)


def _of_labels(
    model: Any, parts: Parts, X: Any, y: Any, rows: Ints | None, saturation: Saturation | None
) -> list[Finding | None]:
    """Of a classifier."""
    machine, classes = parts.machine, np.asarray(model.classes_)
    true = rank_codes(label_array(y), classes)
    predicted = _predicted(model, X, rows)
    codes, some = rank_codes(label_array(predicted), classes), true if rows is None else true[rows]
    is_ranked = not isinstance(machine, SVC | LinearSVC)
    counts = RankCounts.of(classes, some, codes, "rank" if is_ranked else "class")
    of_one = one_rank(counts, machine, saturation, parts.features)
    of_thresholds, lost = None, np.zeros(len(classes), dtype=bool)
    if parts.is_ours and hasattr(machine, "thresholds_"):
        of_thresholds, lost = bad_thresholds(machine, classes)
    return [
        of_one,
        never_predicted(counts, machine, lost),
        of_thresholds,
        *_of_the_machine(parts, saturation),
        *_of_the_data(parts, true.astype(np.float64), errors(some, codes), is_ranked),
    ]


def _of_numbers(
    model: Any, parts: Parts, X: Any, y: Any, rows: Ints | None, saturation: Saturation | None
) -> list[Finding | None]:
    """Of a regressor."""
    target = np.asarray(y, dtype=np.float64)
    predicted = np.asarray(_predicted(model, X, rows), dtype=np.float64)
    some = target if rows is None else target[rows]
    return [
        one_value(some, predicted, parts.machine),
        *_of_the_machine(parts, saturation),
        *_of_the_data(parts, target, errors(some, predicted), True),
    ]


def _of_the_machine(parts: Parts, saturation: Saturation | None) -> list[Finding | None]:
    if not parts.is_ours:
        return []
    is_training = is_pairwise(parts.machine) and parts.features.shape[0] == parts.features.shape[1]
    of_kernel = kernel_findings(parts.machine, parts.features, is_training)
    return [small_C(parts.machine, saturation), large_C(parts.machine, saturation), *of_kernel]


def _of_the_data(parts: Parts, target: Floats, own: tuple[float, float], is_ranked: bool) -> list[Finding | None]:
    if parts.is_ours and (is_pairwise(parts.machine) or parts.features.dtype == object):
        return []
    return [
        None if parts.is_encoded else unscaled_features(parts.features, parts.names),
        identifier_columns(parts.columns),
        disagreeing_duplicates(parts.features, target, own, is_ranked),
    ]


def _saturation(parts: Parts, y: Any, sample_weight: Any) -> Saturation | None:
    """Of the dual variables, where the machine was trained with these labels and weights."""
    if not parts.is_ours:
        return None
    task = trained_task(parts.machine, parts.features, y, sample_weight)
    return None if task is None else saturation_of(parts.machine, task)


def _rows_to_predict(parts: Parts) -> Ints | None:
    """None: all."""
    machine, features = parts.machine, parts.features
    if not isinstance(machine, Machine) or not hasattr(machine, "support_") or is_pairwise(machine):
        return None
    values = features.nnz / features.shape[0] if hasattr(features, "nnz") else features.shape[-1]
    most = max(1000, int(MOST_VALUES / (max(1, len(machine.support_)) * max(1.0, values))))
    return None if most >= features.shape[0] else spread(features.shape[0], most)


def _predicted(model: Any, X: Any, rows: Ints | None) -> NDArray[Any]:
    return model.predict(X if rows is None else take(X, rows))
