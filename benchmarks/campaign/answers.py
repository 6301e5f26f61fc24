"""A case trained, and the trained model as plain numbers for the judge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.campaign.cases import LINEAR_MACHINES, Case
from benchmarks.campaign.samples import make, new_samples


def gaussian(gamma: float) -> Any:
    """A kernel as a user may write it."""

    def kernel(X: Any, Y: Any) -> np.ndarray:
        X, Y = (np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64) for Z in (X, Y))
        return np.exp(-gamma * ((X[:, None] - Y) ** 2).sum(axis=2))

    return kernel


def estimator_of(case: Case) -> Any:
    """The estimator, not trained."""
    import ordsvm
    from benchmarks.campaign.solvers import make as make_solver

    parameters = dict(case.parameters)
    parameters["solver"] = make_solver(parameters["solver"], case.solver_options)
    if parameters.get("kernel") == "callable":
        parameters["kernel"] = gaussian(parameters.pop("gamma"))
    if isinstance(parameters.get("class_weight"), dict):  # JSON has no numbers as keys
        parameters["class_weight"] = {int(label): weight for label, weight in parameters["class_weight"].items()}
    return getattr(ordsvm, case.estimator)(**parameters)


def train(case: Case) -> tuple[Any, tuple[Any, np.ndarray, np.ndarray | None], list[str]]:
    """The trained model, its data, and the names of the warnings that it gave."""
    X, y, weight = make(case.recipe)
    model = estimator_of(case)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if case.first_C:
            model.set_params(C=case.first_C).fit(X, y, sample_weight=weight).set_params(C=case.parameters["C"])
            caught.clear()
        model.fit(X, y, sample_weight=weight)
    return model, (X, y, weight), [warning.category.__name__ for warning in caught]


def answer_of(case: Case, model: Any, data: tuple[Any, np.ndarray, np.ndarray | None]) -> dict[str, Any]:
    """What the judge reads: parameters, data, dual variables, weights, thresholds, claims and predictions."""
    X, y, weight = data
    linear = case.estimator in LINEAR_MACHINES
    parameters = model.get_params()
    parameters["gamma"] = case.parameters.get("gamma", parameters.get("gamma"))
    X_new = X if parameters.get("kernel") == "precomputed" else new_samples(case.recipe)
    results = getattr(model, "results_", [model.result_])
    names = ("status", "objective", "gap", "relative_gap", "violation")
    answer = {
        "estimator": case.estimator,
        "parameters": parameters,
        "X": X,
        "y": y,
        "sample_weight": weight,
        "tol": tolerance(model.tol, X),
        "linear": linear,
        "precomputed": parameters.get("kernel") == "precomputed",
        "float32": case.recipe.dtype == "float32",
        "classes": getattr(model, "classes_", None),
        "thresholds": getattr(model, "thresholds_", None),
        "claims": [{name: getattr(result, name) for name in names} for result in results],
        "total": {name: getattr(model.result_, name) for name in names},
        "X_new": X_new,
        "predictions": model.predict(X_new),
        "kernel": {"name": "linear"} if linear else _kernel(case, model),
    }
    return answer | _numbers(model, len(y), linear) | _scores(model, X_new, answer)


def tolerance(tol: float | None, X: Any) -> float:
    """None, for linear machines, is 1e-3 for dense samples and 1e-2 for sparse ones."""
    if tol is not None:
        return float(tol)
    return 1e-3 if isinstance(X, np.ndarray) else 1e-2


def _kernel(case: Case, model: Any) -> dict[str, Any]:
    name = case.parameters["kernel"]
    if name == "callable":
        return {"name": name, "gamma": case.parameters["gamma"]}
    fields = ("gamma", "coef0", "degree")
    return {"name": name} | {field: getattr(model.kernel_, field) for field in fields if hasattr(model.kernel_, field)}


def _numbers(model: Any, n_samples: int, linear: bool) -> dict[str, Any]:
    """α, β of all samples or the weights of features, and thresholds, problem by problem."""
    has_thresholds = hasattr(model, "thresholds_")
    b = [model.thresholds_ - model.intercept_] if has_thresholds else [np.array([-each]) for each in model.intercept_]
    if linear:
        return {"alpha": model._beta.array(), "coef": np.atleast_2d(model.coef_), "b": b}
    dual_coef = np.atleast_2d(model.dual_coef_)
    beta = np.zeros((len(dual_coef), n_samples))
    beta[:, model.support_] = dual_coef
    return {"alpha": model.result_.alpha, "beta": beta, "b": b}


def _scores(model: Any, X: Any, answer: dict[str, Any]) -> dict[str, Any]:
    if hasattr(model, "rank_scores"):
        return {"rank_scores": model.rank_scores(X)}
    if not hasattr(model, "decision_function"):
        return {"decision_function": answer["predictions"]}
    pairs = answer["parameters"].get("multi_class") == "ovo" and len(answer["classes"]) > 2
    return {"decision_function": model.decision_function(X), "votes": pairs}
