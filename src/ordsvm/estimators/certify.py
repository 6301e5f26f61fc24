"""The proof of a trained model, recomputed: what tests, benchmarks and users go by."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ordsvm._typing import Floats, Ints, Samples, SampleWeight
from ordsvm.checks import caller_level
from ordsvm.estimators.base import NO_PROOF, Fit
from ordsvm.estimators.kernel import KernelMachine, KernelTask
from ordsvm.estimators.linear import LinearMachine, feature_task
from ordsvm.kernels import Precomputed
from ordsvm.problem import Certificate
from ordsvm.result import FitResult
from ordsvm.rows.memory import RowsInMemory
from ordsvm.solvers.kernel.interior_point.interior_point import InteriorPoint
from ordsvm.solvers.linear.losses import certificate, weights
from ordsvm.solvers.linear.rounding import with_rounding
from ordsvm.solvers.linear.solve import squared_norms
from ordsvm.solvers.solution import DualVariables


def certify(
    model: KernelMachine | LinearMachine, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None
) -> Certificate:
    """Recompute objective, duality gap and violation in float64 from the dual variables that a model has kept.

    Parameters
    ----------
    model : KernelMachine or LinearMachine
        A fitted machine.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples that `fit` was given, held-out ones included.
    y : array-like of shape (n_samples,)
        Their labels or targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights.

    Returns
    -------
    Certificate
        Objectives, gap and violation; for a machine of several problems objectives and gaps are summed.

    Raises
    ------
    ValueError
        Where the data are not those of the fit, or a parameter was changed since.

    See Also
    --------
    FitResult : The same as computed during training.

    Notes
    -----
    Only α is the solver's: the hinges come from the labels, α is made feasible should it not be, the scores come from
    the kernel's formula in NumPy, in float64 for every sample, not from the core, and the objective is that of the
    model's own thresholds. The gap includes an estimate of float64's rounding, that of the solvers (docs/rounding.md).
    It bounds the distance from the optimum if the kernel is positive semidefinite: with others a small gap is no proof.
    There is a `ConvergenceWarning` where α itself shows that the kernel is not; nothing else of that is checked.

    Examples
    --------
    >>> from ordsvm import SVOR, certify
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(C=10, tol=1e-3).fit(X[:100], y[:100])
    >>> bool(certify(model, X[:100], y[:100]).relative_gap <= 1e-3)
    True
    """
    if not isinstance(model, KernelMachine | LinearMachine):
        raise TypeError(f"certify takes a machine of ordsvm, not {type(model).__name__}{_machine_inside(model)}.")
    check_is_fitted(model)
    if isinstance(model, LinearMachine) and model._beta.shape[0] == 0:
        raise ValueError(
            "The dual variables of this model stayed on the workers that trained it, for they are too many to bring "
            "together: its proof is in result_."
        )
    fit = model._retrace(X, y, sample_weight)
    if fit.task.fingerprint() != model._fingerprint:
        raise ValueError(
            "These are not the labels, weights and parameters that the model was trained with: pass the X, y and "
            "sample_weight of its fit, and do not change its parameters in between."
        )
    is_linear = isinstance(model, LinearMachine)
    return _linear(model, fit) if is_linear else _with_kernel(model, fit.X, fit.task)


def _machine_inside(model: Any) -> str:
    """What to pass in place of a model around a machine."""
    inside = {
        "encoder_": "model.machine_ with model.features(X)",
        "best_estimator_": "model.best_estimator_",
        "estimator_": "model.estimator_",
        "regressor_": "model.regressor_ with ranks from 0 for y",
    }
    if hasattr(model, "steps"):
        return ": pass the last step of a pipeline, model[-1], with model[:-1].transform(X)"
    found = [place for name, place in inside.items() if hasattr(model, name)]
    return f": pass the machine inside, {found[0]}" if found else ""


def _with_kernel(model: KernelMachine, X: Any, task: KernelTask) -> Certificate:
    ends = np.cumsum([len(problem.hinges) for problem in task.problems])
    parts = np.split(model.result_.alpha, ends[:-1])
    alphas = [problem.repair(part) for problem, part in zip(task.problems, parts, strict=True)]
    beta = np.stack([problem.beta(alpha) for problem, alpha in zip(task.problems, alphas, strict=True)], axis=1)
    _check_support(model, X, beta, task.order)
    scores, off = _scores(model, model._samples(X, task.order), beta)
    rounding = off * np.abs(beta).sum(axis=0)
    thresholds = [task.origin + b for b in model._model_thresholds()]
    columns = zip(task.problems, alphas, scores.T, rounding, thresholds, strict=True)
    proofs = [problem.certificate(*proof) for problem, *proof in columns]
    own = zip(task.problems, alphas, proofs, rounding * np.abs(beta).sum(axis=0), strict=True)
    if any(problem.negative_norm(alpha, proof.dual) > error for problem, alpha, proof, error in own):
        warnings.warn(f"This is no certificate: {NO_PROOF}.", ConvergenceWarning, stacklevel=caller_level())
    return _total(proofs)


def _linear(model: LinearMachine, fit: Fit) -> Certificate:
    X, task = fit.X, fit.task
    loss = model._losses_of(task)
    beta = np.clip(model._beta.array(), *loss.bounds())
    thresholds = task.table.shared
    coef, _ = weights(X, beta, thresholds)
    if not _belong_together(np.atleast_2d(model.coef_).T, coef, _rounding(X, beta), model.result_):
        raise ValueError(
            "The model's weights are not those that its dual variables give on this X: pass the X that it was trained "
            "on, row by row, and an unchanged model."
        )
    own = np.atleast_2d(model.coef_).T
    proof = certificate(X, beta, loss, thresholds, bool(model.fit_intercept), model._biases(), own)
    norms = squared_norms(RowsInMemory(X), n_threads=1)
    return with_rounding(proof, feature_task(fit), norms, DualVariables([beta]), own)


def _rounding(X: Any, beta: Floats) -> float:
    """Of sums X'β, which depends on the order of their terms, however small the sums are."""
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return 4 * np.finfo(np.float64).eps * largest * float(np.abs(beta).sum())


def _belong_together(coef: Floats, given: Floats, rounding: float, result: FitResult) -> bool:
    """Whether these are the weights that the dual variables give, or, where a solver keeps weights of its own, whether
    they are as near as its gap says: half the squared distance is a part of that."""
    if result.solver.endswith(InteriorPoint.name):  # of linear machines too: older files name theirs so
        return bool(0.5 * np.sum((coef - given) ** 2) <= result.gap + 1e-9 * (1.0 + abs(result.objective)))
    return np.allclose(given, coef, rtol=1e-9, atol=1e-9 * np.abs(given).max(initial=0.0) + rounding)


def _check_support(model: KernelMachine, X: Any, beta: Floats, order: Ints) -> None:
    """The machine must be the one that α makes of these samples."""
    own, expected = np.zeros((2, X.shape[0], beta.shape[1]))
    own[order] = beta
    expected[model.support_] = np.atleast_2d(model.dual_coef_).T
    same = np.allclose(own, expected, rtol=1e-9, atol=1e-12 * np.abs(beta).max(initial=0.0))
    if same and not isinstance(model.kernel_, Precomputed):
        same = _equal(X[model.support_], model.support_vectors_)
    if not same:
        raise ValueError(
            "The model's support vectors and weights are not those that its dual variables give on this X: pass the X "
            "that it was trained on, row by row, and an unchanged model."
        )


def _equal(rows: Any, others: Any) -> bool:
    if sp.issparse(rows) and sp.issparse(others):
        return (rows != others).nnz == 0
    return (
        not sp.issparse(rows)
        and not sp.issparse(others)
        and np.array_equal(rows, others, equal_nan=rows.dtype != object)
    )


def _scores(model: KernelMachine, X: Any, beta: Floats) -> tuple[Floats, float]:
    """Kβ for every problem, and what a kernel value is off by."""
    support = np.flatnonzero(beta.any(axis=1))
    if isinstance(model.kernel_, Precomputed):
        largest = float(np.abs(np.diagonal(X)).max())
        return X[:, support].astype(np.float64) @ beta[support], 4 * np.finfo(np.float64).eps * largest
    return model.kernel_.scores_in_numpy(X, X[support], beta[support]), model.kernel_.rounding(X)


def _total(proofs: Sequence[Certificate]) -> Certificate:
    return Certificate(
        primal=sum(proof.primal for proof in proofs),
        dual=sum(proof.dual for proof in proofs),
        gap=sum(proof.gap for proof in proofs),
        violation=max(proof.violation for proof in proofs),
        thresholds=np.concatenate([proof.thresholds for proof in proofs]),
    )
