"""One score a sample from an estimator of any kind, and its scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ordsvm._typing import Floats
from ordsvm.devices import on_host
from ordsvm.estimators.steps import transformed_by_steps


def rank_score(estimator: Any, X: Any) -> Floats:
    """Return one number a sample, the greater the higher the rank.

    A threshold model's score counts from its middle threshold: nothing else fixes where a score with free thresholds
    begins, and the machines of two folds may begin far apart.
    """
    if isinstance(estimator, FrozenEstimator):
        return rank_score(estimator.estimator, X)
    if hasattr(estimator, "best_estimator_"):
        return rank_score(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        return rank_score(estimator[-1], transformed_by_steps(estimator, X))
    if hasattr(estimator, "rank_scores"):
        return on_host(estimator.rank_scores(X)).mean(axis=1)
    score = np.asarray(on_host(estimator.decision_function(X)) if hasattr(estimator, "decision_function") else None)
    if score.ndim != 1:
        raise TypeError(
            f"CalibratedOrdinal needs one score a sample, which {type(estimator).__name__} does not give: use a "
            "threshold model such as SVOR, a RoundedRegressor, NPSVOR or a binary classifier."
        )
    return score - np.median(estimator.thresholds_) if hasattr(estimator, "thresholds_") else score.astype(np.float64)


def spread(score: Floats, weight: Floats) -> float:
    """Return the weighted standard deviation of scores; 1 where they are all the same."""
    centre = np.average(score, weights=weight)
    return float(np.sqrt(np.average((score - centre) ** 2, weights=weight))) or 1.0
