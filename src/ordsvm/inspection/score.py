"""What a model computes, taken apart: from rows to features, and from features to one score a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats, Ints
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.estimators.steps import transformed_by_steps
from ordsvm.findings import NumberedNames
from ordsvm.kernels import Kernel
from ordsvm.tables import TableModel


@dataclass(frozen=True, eq=False)
class KernelSum:
    """A score that is Σ weight[i] · kernel(x, vectors[i]) + constant."""

    kernel: Kernel
    vectors: Any
    weight: Floats


@dataclass(frozen=True, eq=False)
class Score:
    """The score of a fitted model.

    features   of rows as the model takes them
    machine    the estimator that gives features their score
    names      of the features
    columns    the features that every column of a table becomes, where an encoder has made them
    is_direct  whether rows are the features
    calibrated the model that makes probabilities of the score, if any: the middle of these is what it predicts
    """

    features: Callable[[Any], Any]
    machine: Any
    names: Sequence[str]
    columns: dict[str, Ints] | None
    is_direct: bool
    calibrated: CalibratedOrdinal | None

    def __call__(self, rows: Any) -> Floats:
        return self.of_features(self.features(rows))

    @property
    def cuts(self) -> Floats | None:
        """The scores at which the predicted label changes; None where there are none."""
        thresholds: Floats | None = getattr(self.machine, "thresholds_", None)
        if self.calibrated is None:
            return thresholds
        return self.calibrated.map_.medians() + (
            0.0 if thresholds is None else float(np.median(thresholds))
        )  # as rank_score

    def of_features(self, features: Any) -> Floats:
        return score_of(self.machine, features)

    def weights(self) -> Floats | None:
        """One weight a feature, where the score is linear in them."""
        if hasattr(self.machine, "landmarks_"):  # coef_ is about the features of a Nyström map
            return None
        coef = getattr(_inner(self.machine), "coef_", None)
        if coef is None or (len(np.atleast_2d(coef)) > 1 and not hasattr(self.machine, "rank_scores")):
            return None  # a score for every class or pair of classes: no single one
        return _over_ranks(coef)

    def kernel_sum(self) -> KernelSum | None:
        """The support vectors, or landmarks, and their weights, where there are any."""
        machine = _inner(self.machine)
        kernel, weight = getattr(machine, "kernel_", None), getattr(machine, "dual_coef_", None)
        vectors = getattr(machine, "landmarks_", getattr(machine, "support_vectors_", None))
        if not isinstance(kernel, Kernel) or weight is None or vectors is None:
            return None
        if len(np.atleast_2d(weight)) > 1 and not hasattr(self.machine, "rank_scores"):
            return None  # a score for every pair of classes
        return KernelSum(kernel, vectors, _over_ranks(weight))


def score_model(model: BaseEstimator) -> Score:
    """Takes a fitted model apart: searches, calibration, pipelines and tables around a machine."""
    check_is_fitted(model)
    steps: list[Callable[[Any], Any]] = []
    names: Any = None
    columns = calibrated = None
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        elif isinstance(model, CalibratedOrdinal):
            calibrated = calibrated or model
            model = model.estimator_
        elif isinstance(model, Pipeline):
            if len(model) > 1:
                steps.append(partial(transformed_by_steps, model))
                names, columns = _names_out(model[:-1]), None
            model = model[-1]
        elif isinstance(model, TableModel):
            steps.append(model.features)
            if model.encoder_ is not None:
                names, columns = model.encoder_.get_feature_names_out(), _columns(model.encoder_)
            model = model.machine_
        else:
            break
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    shown: Any = NumberedNames("x", model.n_features_in_) if names is None else [str(name) for name in names]
    return Score(lambda rows: _through(steps, rows), model, shown, columns, not steps, calibrated)


def score_of(machine: Any, features: Any) -> Floats:
    """One number a sample, the greater the higher the rank: of NPSVOR the mean of the scores of all ranks."""
    if hasattr(machine, "rank_scores"):
        return np.asarray(machine.rank_scores(features), dtype=np.float64).mean(axis=1)
    if hasattr(machine, "decision_function"):
        score = np.asarray(machine.decision_function(features), dtype=np.float64)
    elif is_regressor(machine):
        score = np.asarray(machine.predict(features), dtype=np.float64)
    else:
        score = np.empty((0, 0))
    if score.ndim != 1:
        raise TypeError(
            f"{type(machine).__name__} gives no single score a sample, which is what is explained: use a threshold "
            "model such as SVOR, NPSVOR, a regressor or a binary classifier."
        )
    return score


def _inner(machine: Any) -> Any:
    """The regressor whose predictions are rounded, or the machine itself."""
    return getattr(machine, "regressor_", machine)


def _over_ranks(values: Any) -> Floats:
    """One row of weights: of machines with a score for every rank the mean."""
    found = np.asarray(values, dtype=np.float64)
    return found if found.ndim == 1 else found.mean(axis=0)


def _through(steps: list[Callable[[Any], Any]], rows: Any) -> Any:
    for step in steps:
        rows = step(rows)
    return rows


def _names_out(steps: Pipeline) -> Any:
    try:
        return steps.get_feature_names_out()
    except (AttributeError, ValueError):  # a step that has no names
        return None


def _columns(encoder: Any) -> dict[str, Ints]:
    """The numbers of the features that every column becomes."""
    sizes = [len(column.feature_names()) for column in encoder.columns_]
    starts = np.cumsum([0, *sizes])
    return {
        column.name: np.arange(start, start + size)
        for column, start, size in zip(encoder.columns_, starts[:-1].tolist(), sizes, strict=True)
    }
