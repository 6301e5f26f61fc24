"""The one judge that tests, benchmarks and users share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ordsvm.estimators.base import KernelMachine, reordered
from ordsvm.kernels import Precomputed
from ordsvm.problem import Certificate


def certify(model: KernelMachine, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
    """Recomputes objective, duality gap and violation in float64 from `model.result_.alpha`.

    X, y and sample_weight are those that the model was trained on. Nothing of the solver is trusted: the hinges
    come from the labels, α is made feasible should it not be, and the scores come from the kernel's formula in
    NumPy, not from the core. For a machine of several problems objectives and gaps are summed.
    """
    check_is_fitted(model)
    X = model._check_new_data(X)
    task = model._formulate(X, model._check_target(y), sample_weight)
    ends = np.cumsum([len(problem.hinges) for problem in task.problems])
    if ends[-1] != len(model.result_.alpha):
        raise ValueError(
            f"The model has {len(model.result_.alpha)} dual variables, but these data make {ends[-1]}: "
            "pass the X, y and sample_weight that it was trained on."
        )
    parts = np.split(model.result_.alpha, ends[:-1])
    alphas = [problem.repair(part) for problem, part in zip(task.problems, parts, strict=True)]
    beta = np.stack([problem.beta(alpha) for problem, alpha in zip(task.problems, alphas, strict=True)], axis=1)
    support = np.flatnonzero(beta.any(axis=1))
    X = reordered(X, task.order)
    if isinstance(model.kernel_, Precomputed):
        score = X[:, support].astype(np.float64) @ beta[support]
    else:
        score = model.kernel_.scores(X, X[support], beta[support])
    return _total([p.certificate(alpha, f) for p, alpha, f in zip(task.problems, alphas, score.T, strict=True)])


def _total(proofs: Sequence[Certificate]) -> Certificate:
    return Certificate(
        primal=sum(proof.primal for proof in proofs),
        dual=sum(proof.dual for proof in proofs),
        gap=sum(proof.gap for proof in proofs),
        violation=max(proof.violation for proof in proofs),
        thresholds=np.concatenate([proof.thresholds for proof in proofs]),
    )
