"""The one judge that tests, benchmarks and users share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordsvm.estimators.base import reordered
from ordsvm.estimators.ordinal import ThresholdModel
from ordsvm.kernels import Precomputed
from ordsvm.labels import encode_labels
from ordsvm.problem import Certificate


def certify(model: ThresholdModel, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
    """Recomputes objective, duality gap and violation in float64 from `model.result_.alpha`.

    X, y and sample_weight are those that the model was trained on. Nothing of the solver is trusted: the hinges
    come from the labels, α is made feasible should it not be, and the scores come from the kernel's formula in
    NumPy, not from the core.
    """
    check_is_fitted(model)
    X = model._check_new_data(X)
    ranks = encode_labels(y, model.categories, estimator_name=type(model).__name__)
    _, problem, order = model._formulate(X, ranks, sample_weight)
    if len(problem.hinges) != len(model.result_.alpha):
        raise ValueError(
            f"The model has {len(model.result_.alpha)} dual variables, but these data make {len(problem.hinges)}: "
            "pass the X, y and sample_weight that it was trained on."
        )
    alpha = problem.repair(model.result_.alpha)
    beta = problem.beta(alpha)
    support = np.flatnonzero(beta)
    X = reordered(X, order)
    if isinstance(model.kernel_, Precomputed):
        score = X[:, support].astype(np.float64) @ beta[support]
    else:
        score = model.kernel_.scores(X, X[support], beta[support])
    return problem.certificate(alpha, score)
