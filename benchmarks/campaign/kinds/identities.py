"""Identities: problems that are written in two ways, and one model that is used in two ways, give the same answer."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.campaign import cases
from benchmarks.campaign.cases import LINEAR_MACHINES, MACHINES, REGRESSORS, TREATMENTS
from benchmarks.campaign.judge.tables import cost_matrix
from benchmarks.campaign.kinds.agreement import disjoint, far_apart, far_thresholds, same
from benchmarks.campaign.kinds.verdict import Verdict, quiet, verdict
from benchmarks.campaign.samples import Recipe, make, new_samples

KERNELS = ("rbf", "linear", "poly", "laplacian")
PENALISED = ("SVOR", "RedSVM", "LinearSVOR")  # their thresholds are unique, so they can be compared
TEXTS = [f"{letter} rank" for letter in "hgfedcba"]  # whose order is not that of the alphabet


@dataclass(frozen=True)
class Problem:
    """A machine, samples, and the identity that is tried on them."""

    what: str
    estimator: str
    parameters: dict[str, Any]
    recipe: Recipe
    solver_options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Data:
    """What a machine is trained on, its parameters, and rows to predict."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    parameters: dict[str, Any]
    new: Any


@dataclass(frozen=True)
class Twins:
    """Two problems that are equivalent.

    unit       of the objective of `second`, in that of `first`
    mirrored   scores change their sign, and ranks and thresholds their order
    exact      the steps of the solver are the same, so scores have the same bits
    """

    first: Data
    second: Data
    unit: float = 1.0
    mirrored: bool = False
    exact: bool = False


def draw(rng: np.random.Generator, time_limit: float) -> Problem:
    """Return a problem of moderate scale: what rounding does to extreme ones is judged by the kind "fit"."""
    estimator = str(rng.choice(MACHINES))
    linear = estimator in LINEAR_MACHINES
    ranks = 0 if estimator in REGRESSORS else int(rng.choice([2, 3, 4, 5]))
    n, d = int(rng.integers(12, 60)), int(rng.choice([1, 2, 3, 5, 12]))
    duplicates = float(rng.choice([0.0, 0.0, 0.5]))
    recipe = Recipe(int(rng.integers(2**31)), n, d, ranks, duplicates=duplicates, weights=_weights(rng))
    parameters: dict[str, Any] = {"C": float(f"{10.0 ** rng.uniform(-2.5, 2.5):.4g}"), "time_limit": time_limit}
    parameters |= {"tol": float(rng.choice([1e-2, 1e-3, 1e-5])), "n_threads": 1}
    if not linear:
        gamma = float(f"{10.0 ** rng.uniform(-1.5, 0.5) / d:.3g}")
        parameters |= {"kernel": str(rng.choice(KERNELS)), "gamma": gamma, "coef0": 0.5, "degree": 2}
    parameters |= cases.of_labels(rng, estimator, recipe)
    if linear:
        parameters |= cases.of_linear_machine(rng, estimator)
    applicable = [name for name in IDENTITIES if _applies(name, estimator, parameters)]
    what = str(rng.choice(applicable))
    options: dict[str, Any] = {}
    if what not in NEED_DETERMINISM:
        options = cases.choose_solver(rng, estimator, parameters)
    return Problem(what, estimator, parameters, recipe, options)


def judge(problem: Problem) -> Verdict:
    """Train what the identity needs, and compare."""
    with quiet():
        X, y, weight = make(problem.recipe)
        data = Data(X, y, weight, dict(problem.parameters), new_samples(problem.recipe))
        rng = np.random.default_rng(problem.recipe.seed + 2)
        if problem.what in COPIES:
            return COPIES[problem.what](problem, data)
        return verdict(_twins_differ(problem, TWINS[problem.what](rng, data)))


def trained(problem: Problem, data: Data) -> Any:
    """Return the machine trained on the data."""
    import ordsvm
    from benchmarks.campaign.solvers import make as make_solver

    parameters = dict(data.parameters)
    if "solver" in parameters:
        parameters["solver"] = make_solver(parameters["solver"], problem.solver_options)
    return getattr(ordsvm, problem.estimator)(**parameters).fit(data.X, data.y, sample_weight=data.weight)


def _twins_differ(problem: Problem, twins: Twins) -> list[str]:
    first, second = trained(problem, twins.first), trained(problem, twins.second)
    reasons = disjoint(first, second, twins.unit)
    turn = (lambda scores: -scores[:, ::-1]) if twins.mirrored else same
    reasons += far_apart(first, second, twins.first.new, twins.second.new, turn)
    if twins.mirrored and problem.estimator in PENALISED:
        reasons += far_thresholds(first, second)
    if twins.exact and "time_limit" not in (first.result_.status, second.result_.status):
        reasons += _other_bits(first, second, twins.first.new, twins.second.new)
    return reasons


def _other_bits(first: Any, second: Any, X: Any, X_second: Any) -> list[str]:
    """Return a complaint if scores differ at all."""
    name = "decision_function" if hasattr(first, "decision_function") else "predict"
    one, other = getattr(first, name)(X), getattr(second, name)(X_second)
    return [] if np.array_equal(one, other) else [f"{name} differs by {np.abs(one - other).max():.3g}, not in no bit"]


# Problems written in two ways


def _counts_as_rows(rng: np.random.Generator, data: Data) -> Twins:
    counts = _whole_weights(rng, data.y)
    repeated = np.repeat(np.arange(len(data.y)), counts)
    return Twins(replace(data, weight=counts.astype(float)), _of_rows(replace(data, weight=None), repeated))


def _zeros_as_absent(rng: np.random.Generator, data: Data) -> Twins:
    weight = _whole_weights(rng, data.y) * 0.5
    return Twins(replace(data, weight=weight), _of_rows(replace(data, weight=weight), np.flatnonzero(weight)))


def _permuted_rows(rng: np.random.Generator, data: Data) -> Twins:
    return Twins(data, _of_rows(data, rng.permutation(len(data.y))))


def _permuted_columns(rng: np.random.Generator, data: Data) -> Twins:
    order = rng.permutation(data.X.shape[1])
    return Twins(data, replace(data, X=data.X[:, order], new=data.new[:, order]))


def _mirrored(rng: np.random.Generator, data: Data) -> Twins:
    if data.y.dtype.kind == "f":
        return Twins(data, replace(data, y=-data.y), mirrored=True)
    last, parameters = int(data.y.max()), dict(data.parameters)
    if isinstance(parameters.get("class_weight"), dict):
        parameters["class_weight"] = {last - label: value for label, value in parameters["class_weight"].items()}
    if "cost" in parameters:
        parameters["cost"] = cost_matrix(parameters["cost"], last + 1)[::-1, ::-1].tolist()
    if "categories" in parameters:
        parameters["categories"] = list(range(last + 1))
    return Twins(data, replace(data, y=last - data.y, parameters=parameters), mirrored=True)


def _scaled_gamma(rng: np.random.Generator, data: Data) -> Twins:
    factor = float(rng.choice([1e-3, 0.3, 7.0, 1e4]))
    power = 1 if data.parameters["kernel"] == "laplacian" else 2
    parameters = data.parameters | {"gamma": data.parameters["gamma"] / factor**power}
    return Twins(data, replace(data, X=data.X * factor, new=data.new * factor, parameters=parameters))


def _scaled_C(rng: np.random.Generator, data: Data) -> Twins:
    factor = float(rng.choice([0.1, 0.3, 7.0, 30.0]))
    parameters = data.parameters | _times(data.parameters, factor**-2)
    return Twins(data, replace(data, X=data.X * factor, new=data.new * factor, parameters=parameters), factor**2)


def _weights_for_C(rng: np.random.Generator, data: Data) -> Twins:
    factor = float(rng.choice([1e-6, 0.2, 1000.0]))
    weight = (np.ones(len(data.y)) if data.weight is None else data.weight) * factor
    return Twins(data, replace(data, weight=weight, parameters=data.parameters | _times(data.parameters, 1 / factor)))


def _zero_columns(rng: np.random.Generator, data: Data) -> Twins:
    def wider(X: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros((len(X), 2)), X, np.zeros((len(X), 3))], axis=1)

    return Twins(data, replace(data, X=wider(data.X), new=wider(data.new)))


def _sparse(rng: np.random.Generator, data: Data) -> Twins:
    holes = replace(data, X=np.where(np.abs(data.X) < 0.5, 0.0, data.X))
    return Twins(holes, replace(holes, X=sp.csr_array(holes.X), new=sp.csr_array(holes.new)))


def _float32(rng: np.random.Generator, data: Data) -> Twins:
    single = replace(data, X=data.X.astype(np.float32), new=data.new.astype(np.float32))
    return Twins(single, replace(single, X=single.X.astype(float), new=single.new.astype(float)))


def _gram(rng: np.random.Generator, data: Data) -> Twins:
    parameters = data.parameters | {"kernel": "precomputed"}
    gram = replace(data, X=data.X @ data.X.T, new=data.new @ data.X.T, parameters=parameters)
    return Twins(data, gram)


def _texts(rng: np.random.Generator, data: Data) -> Twins:
    last, parameters = int(data.y.max()), dict(data.parameters)
    parameters["categories"] = TEXTS[: last + 1]
    if isinstance(parameters.get("class_weight"), dict):
        parameters["class_weight"] = {TEXTS[label]: value for label, value in parameters["class_weight"].items()}
    return Twins(data, replace(data, y=np.array(TEXTS)[data.y], parameters=parameters), exact=True)


def _threads(rng: np.random.Generator, data: Data) -> Twins:
    one, two = (data.parameters | {"deterministic": True, "n_threads": threads} for threads in (1, 2))
    return Twins(replace(data, parameters=one), replace(data, parameters=two), exact=True)


def _again(rng: np.random.Generator, data: Data) -> Twins:
    return Twins(data, data, exact=True)


TWINS: dict[str, Callable[[np.random.Generator, Data], Twins]] = {
    "weights as repeated rows": _counts_as_rows,
    "weights of 0 as absent rows": _zeros_as_absent,
    "permuted rows": _permuted_rows,
    "permuted columns": _permuted_columns,
    "reversed ranks, negated targets": _mirrored,
    "scaled features and gamma": _scaled_gamma,
    "scaled features and C": _scaled_C,
    "weights for C": _weights_for_C,
    "columns of zeros": _zero_columns,
    "sparse rows": _sparse,
    "float32 rows in float64": _float32,
    "a Gram matrix": _gram,
    "texts for ranks": _texts,
    "two threads, deterministic": _threads,
    "trained twice": _again,
}


def _whole_weights(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Return whole numbers, with one sample of every rank at least that has more than 0."""
    weight = rng.integers(0, 4, len(y))
    kept = np.unique(y, return_index=True)[1] if y.dtype.kind != "f" else [0, 1]
    weight[kept] = np.maximum(weight[kept], 1)
    return weight


def _of_rows(data: Data, rows: np.ndarray) -> Data:
    weight = None if data.weight is None else data.weight[rows]
    return replace(data, X=data.X[rows], y=data.y[rows], weight=weight)


def _times(parameters: dict[str, Any], factor: float) -> dict[str, Any]:
    return {name: parameters[name] * factor for name in ("C", "C1") if name in parameters}


# One model used in two ways


def _from_a_file(problem: Problem, data: Data) -> Verdict:
    import ordsvm

    model = trained(problem, data)
    with tempfile.TemporaryDirectory() as folder:
        ordsvm.save(model, Path(folder) / "model.ordsvm")
        copy = ordsvm.load(Path(folder) / "model.ordsvm")
    return verdict(_other_model(model, copy, data.new))


def _from_a_pickle(problem: Problem, data: Data) -> Verdict:
    model = trained(problem, data)
    return verdict(_other_model(model, pickle.loads(pickle.dumps(model)), data.new))


def _warm_start(problem: Problem, data: Data) -> Verdict:
    cold = trained(problem, data)
    away = data.parameters | {"warm_start": True, "C": data.parameters["C"] * 5}
    warm = trained(problem, replace(data, parameters=away)).set_params(C=cold.C)
    warm.fit(data.X, data.y, sample_weight=data.weight)
    return verdict(disjoint(cold, warm) + far_apart(cold, warm, data.new, data.new))


def _in_batches(problem: Problem, data: Data) -> Verdict:
    """Products by BLAS may sum up one row and many in different orders (docs/guide/reproducibility.md)."""
    model = trained(problem, data)
    by_blas = problem.estimator in LINEAR_MACHINES or data.parameters["kernel"] == "linear"
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    whole = getattr(model, name)(data.new)
    parts = np.concatenate([getattr(model, name)(data.new[at : at + 7]) for at in range(0, len(data.new), 7)])
    allowed = 1e-10 * (1 + np.abs(whole).max()) if by_blas else 0.0
    apart = float(np.abs(whole - parts).max())
    return verdict([] if apart <= allowed else [f"{name} of 7 rows at a time differs by {apart:.3g}"])


def _onnx(problem: Problem, data: Data) -> Verdict:
    from ordsvm import to_onnx

    try:
        from onnxruntime import InferenceSession
    except ImportError:
        return Verdict("left out", ["onnxruntime is not installed"])
    model = trained(problem, data)
    session = InferenceSession(to_onnx(model).SerializeToString())
    score, label = session.run(["score", "label"], {"X": np.asarray(data.new, dtype=float)})
    own, labels = model.decision_function(data.new), model.predict(data.new)
    rounding = 1e-9 * (1 + np.abs(own).max())
    reasons = []
    if not np.abs(score - own).max() <= rounding:
        reasons.append(f"ONNX Runtime's scores differ by {np.abs(score - own).max():.3g}")
    far = np.abs(own[:, None] - model.thresholds_).min(axis=1) > rounding
    if np.any(np.asarray(label)[far] != labels[far]):
        reasons.append("ONNX Runtime's labels differ")
    return verdict(reasons)


def _other_model(model: Any, copy: Any, X: Any) -> list[str]:
    reasons = _other_bits(model, copy, X, X)
    if not np.array_equal(model.predict(X), copy.predict(X)):
        reasons.append("predictions differ")
    if repr(model.get_params()) != repr(copy.get_params()):
        reasons.append(f"parameters differ: {model.get_params()} and {copy.get_params()}")
    return reasons


COPIES: dict[str, Callable[[Problem, Data], Verdict]] = {
    "saved and loaded": _from_a_file,
    "pickled": _from_a_pickle,
    "a warm start": _warm_start,
    "predicted in batches": _in_batches,
    "exported to ONNX": _onnx,
}
IDENTITIES = (*TWINS, *COPIES)
NEED_DETERMINISM = ("two threads, deterministic", "trained twice")
BY_COUNTS = ("weights as repeated rows", "weights of 0 as absent rows")


def _applies(what: str, estimator: str, parameters: dict[str, Any]) -> bool:
    kernel = parameters.get("kernel")
    if what in BY_COUNTS:  # "balanced" counts rows
        return parameters.get("class_weight") != "balanced"
    if what == "reversed ranks, negated targets":
        return estimator not in ("SVC", "LinearSVC")
    if what == "scaled features and gamma":
        return kernel in ("rbf", "laplacian")
    if what == "scaled features and C":
        free = TREATMENTS.get(estimator, parameters.get("intercept")) in ("free", "ordered", "none")
        return free and kernel == "linear"
    if what == "a Gram matrix":
        return kernel == "linear"
    one_score = estimator in (*TREATMENTS, "LinearSVOR") and estimator != "NPSVOR"
    if what == "texts for ranks":
        return one_score or estimator in ("NPSVOR", "LinearNPSVOR")
    return one_score or what != "exported to ONNX"


def _weights(rng: np.random.Generator) -> str:
    return str(rng.choice(["none", "uniform", "counts"], p=(0.6, 0.25, 0.15)))
