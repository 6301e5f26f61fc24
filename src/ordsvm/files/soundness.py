"""Whether the arrays of a loaded model fit each other: a file may have been made by anybody."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ordsvm.calibration import CalibratedOrdinal
from ordsvm.calibration.conformal import CalibrationPart, Conformal, CrossConformal
from ordsvm.calibration.maps import OrderedLogistic
from ordsvm.checks import shortened
from ordsvm.estimators.base import check_parameters
from ordsvm.files.registry import solver_names
from ordsvm.files.step_checks import check_step
from ordsvm.files.steps import STEPS
from ordsvm.files.trials import N_TRIALS, trial_samples
from ordsvm.findings import Finding
from ordsvm.kernels import Precomputed
from ordsvm.metrics import SCORERS
from ordsvm.problem.thresholds import RANK_RULES, rank_rule_of
from ordsvm.result import STATUSES, FitResult, Progress
from ordsvm.tables import TableModel

# What the dimensions of fitted attributes count; "…" is any number of leading dimensions.
SHAPES = {
    "classes_": ("ranks",),
    "thresholds_": ("thresholds",),
    "intercept_": ("problems",),
    "support_": ("support vectors",),
    "support_vectors_": ("support vectors", "features"),
    "dual_coef_": ("…", "support vectors"),
    "landmarks_": ("landmarks", "features"),
    "projection_": ("landmarks", "components"),
    "coef_": ("…", "features"),
    "feature_names_in_": ("features",),
}


def check_sound(model: Any, size: int) -> None:
    """Raises where the file, of `size` bytes, does not hold a fitted estimator that can predict."""
    if not isinstance(model, BaseEstimator):
        raise ValueError("it holds no estimator")
    _check_each(model, size)
    check_is_fitted(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sample is made up
        if len(model.predict(trial_samples(model, size))) != N_TRIALS:
            raise ValueError("it does not predict a label for every sample")


def _check_each(value: Any, size: int) -> None:
    """Every estimator in what was loaded."""
    for item in vars(value).values():
        for inner in _estimators_in(item):
            _check_each(inner, size)
    if type(value) in STEPS:
        check_step(value)
        return
    check_parameters(value)
    if hasattr(value, "result_"):
        _check_result(value.result_)
    if rank_rule_of(value) not in tuple(RANK_RULES):
        raise ValueError(f"{shortened(value.rank_rule_)} is no rank rule of this version")
    if isinstance(value, TableModel):
        _check_about(vars(value).get("about_"))
    _check_shapes(value)
    if isinstance(value, CalibratedOrdinal) and hasattr(value, "map_"):  # it is fitted
        _check_calibration(value, size)


def _estimators_in(item: Any) -> list[BaseEstimator]:
    """An estimator, or those in the list of a pipeline."""
    if isinstance(item, list | tuple):
        return [inner for part in item for inner in _estimators_in(part)]
    return [item] if isinstance(item, BaseEstimator) else []


def _check_calibration(model: CalibratedOrdinal, size: int) -> None:
    """Raise ValueError unless the estimator, the map and the sets are about the labels of the model, all of them."""
    n_ranks = len(model.classes_)
    if not np.array_equal(model.classes_, model.estimator_.classes_):
        raise ValueError("classes_ are not the labels of the estimator that is calibrated")
    _check_map("map_", model.map_, n_ranks)
    conformal = model.conformal_
    if isinstance(conformal, Conformal):  # of a file of 0.1.0
        _check_weights(conformal.depth, conformal.weight)
    else:
        _check_parts(conformal, n_ranks)
        if len(model.fold_estimators_) != (0 if len(conformal.parts) == 1 else len(conformal.parts)):
            raise ValueError("fold_estimators_ are not as many as conformal_ has parts")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sample is made up
        if model.predict_set(trial_samples(model, size)).shape != (N_TRIALS, 2):
            raise ValueError("it does not predict a set for every sample")


def _check_parts(conformal: Any, n_ranks: int) -> None:
    if not isinstance(conformal, CrossConformal) or not isinstance(conformal.parts, tuple) or not conformal.parts:
        raise ValueError("conformal_ has no parts")
    for part in conformal.parts:
        if not isinstance(part, CalibrationPart) or not isinstance(part.ranks, OrderedLogistic):
            raise ValueError("conformal_ holds something else than its parts")
        _check_map("conformal_", part.ranks, n_ranks)
        _check_weights(part.nonconformity, part.weight, least=min(1, len(conformal.parts) - 1))


def _check_map(name: str, probabilities: Any, n_ranks: int) -> None:
    cumulative = probabilities.cumulative(np.zeros(N_TRIALS))
    if cumulative.shape != (N_TRIALS, n_ranks) or not np.isfinite(cumulative).all():
        raise ValueError(f"{name} gives no probability to each of {n_ranks} labels")


def _check_weights(values: Any, weight: Any, least: int = 1) -> None:
    if not (values.ndim == weight.ndim == 1 and len(values) == len(weight) >= least):
        raise ValueError("conformal_ does not hold a weight for every depth")


def _check_result(result: Any) -> None:
    """The texts of a result are among their values: they are printed, and shown in a page."""
    if not isinstance(result, FitResult):
        raise ValueError("result_ is no FitResult")
    if not isinstance(result.history, tuple) or not all(isinstance(look, Progress) for look in result.history):
        raise ValueError("the history of result_ holds something else than Progress")
    if result.status not in STATUSES:
        raise ValueError(f"{shortened(result.status)} is no status of a fit")
    for solver in (result.solver, *(look.solver for look in result.history)):
        if solver not in solver_names():
            raise ValueError(f"{shortened(solver)} is no solver of this version")


def _is_finding(each: Any) -> bool:
    names = {field.name for field in fields(Finding)}
    texts = ("name", "sentence", "remedy")
    return isinstance(each, dict) and set(each) <= names and all(isinstance(each.get(text), str) for text in texts)


def _check_about(about: Any) -> None:
    if not isinstance(about, dict):
        raise ValueError("about_ is no dict")
    tuning = about.get("tuning")
    if tuning is not None and not (isinstance(tuning, dict) and tuning.get("metric") in SCORERS):
        raise ValueError("the record of a search names no metric of this version")
    findings = about.get("findings", [])
    if not isinstance(findings, list) or not all(_is_finding(each) for each in findings):
        raise ValueError("the findings of training are none of this version")
    if "score_quantiles" in about:
        quantiles, n_scores = np.asarray(about["score_quantiles"]), about.get("n_scores")
        if quantiles.shape != (101,) or quantiles.dtype.kind != "f" or not np.all(np.isfinite(quantiles)):
            raise ValueError("the quantiles of the scores are not 101 finite numbers")
        if isinstance(n_scores, bool) or not isinstance(n_scores, int) or n_scores < 1:
            raise ValueError("the quantiles of the scores are those of no rows")


def _check_shapes(model: Any) -> None:
    counts: dict[str, int] = {}
    features = getattr(model, "n_features_in_", None)
    if features is not None:
        if isinstance(features, bool) or not isinstance(features, int) or features < 1:
            raise ValueError("n_features_in_ is no number of features")
        counts["features"] = features
    for name, dimensions in SHAPES.items():
        array = vars(model).get(name)
        if array is not None and not _is_absent(model, name):
            _count(name, array, _own_dimensions(model, name, dimensions), counts)
    _check_counts(counts)
    support = vars(model).get("support_", np.empty(0, dtype=np.int64))
    if support.dtype.kind not in "iu" or np.any(support < 0):
        raise ValueError("support_ holds something else than row numbers")


def _is_absent(model: Any, name: str) -> bool:
    """Machines with a precomputed kernel have no support vectors."""
    return name == "support_vectors_" and isinstance(getattr(model, "kernel_", None), Precomputed)


def _own_dimensions(model: Any, name: str, dimensions: tuple[str, ...]) -> tuple[str, ...]:
    """Nyström machines have weights of components."""
    return ("…", "components") if name == "coef_" and "projection_" in vars(model) else dimensions


def _count(name: str, array: Any, dimensions: tuple[str, ...], counts: dict[str, int]) -> None:
    """Checks the dimensions of an array against those of others, and its numbers."""
    if not (isinstance(array, np.ndarray) or sp.issparse(array)):
        raise ValueError(f"{name} is no array")
    own = dimensions[1:] if dimensions[0] == "…" else dimensions
    leading = array.ndim - len(own)
    if leading < 0 or leading > (1 if dimensions[0] == "…" else 0):
        raise ValueError(f"{name} has shape {array.shape}")
    n_problems = int(array.shape[0]) if leading else 1
    if dimensions[0] == "…" and counts.setdefault("problems", n_problems) != n_problems:
        raise ValueError(f"{name} is about {n_problems} problems, not {counts['problems']}")
    for dimension, length in zip(own, array.shape[leading:], strict=True):
        if counts.setdefault(dimension, int(length)) != length:
            raise ValueError(f"{name} is about {length} {dimension}, not {counts[dimension]}")
    numbers = array.data if sp.issparse(array) else array
    if numbers.dtype.kind == "f" and name != "support_vectors_" and not np.isfinite(numbers).all():
        raise ValueError(f"{name} holds numbers that are not finite")


def _check_counts(counts: dict[str, int]) -> None:
    ranks = counts.get("ranks")
    if ranks is None:
        return
    if ranks < 2 or counts.get("thresholds", ranks - 1) != ranks - 1:
        raise ValueError(f"there are {ranks} labels and {counts.get('thresholds')} thresholds")
    if "thresholds" in counts and counts.get("problems", 1) != 1:
        raise ValueError(f"a score that is cut by thresholds has one intercept, not {counts['problems']}")
    allowed = {ranks, ranks * (ranks - 1) // 2, 1 if ranks == 2 else ranks}
    if "thresholds" not in counts and counts.get("problems", ranks) not in allowed:
        raise ValueError(f"{counts['problems']} problems do not tell {ranks} labels apart")
