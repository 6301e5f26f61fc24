"""Random problems: an estimator, its parameters and a recipe of samples, all of them from a seed and a number."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.campaign.samples import Recipe

TREATMENTS = {
    "SVOR": "penalized",
    "RedSVM": "penalized",
    "SVORIM": "free",
    "SVOREX": "ordered",
    "ShashuaLevinSVOR": "free",
    "NPSVOR": "penalized",
}
KERNEL_MACHINES = (*TREATMENTS, "SVC", "SVR")
LINEAR_MACHINES = ("LinearSVOR", "LinearNPSVOR", "LinearSVC", "LinearSVR")
MACHINES = KERNEL_MACHINES + LINEAR_MACHINES
WITH_COSTS = ("SVOR", "RedSVM", "SVORIM", "LinearSVOR")
REGRESSORS = ("SVR", "LinearSVR")
KERNELS = ("rbf", "linear", "poly", "laplacian", "precomputed", "callable", "sigmoid")
KERNEL_SHARES = (0.34, 0.24, 0.12, 0.1, 0.08, 0.07, 0.05)


@dataclass(frozen=True)
class Case:
    """One problem.

    solver_options   those of a named solver that differ from its defaults
    first_C          trained with before, for a warm start; 0: none
    """

    estimator: str
    parameters: dict[str, Any]
    recipe: Recipe
    solver_options: dict[str, Any]
    first_C: float = 0.0

    @property
    def scale(self) -> str:
        """The stratum of the features' magnitudes."""
        exponents = self.recipe.exponents
        if len(exponents) > 1:
            return "columns differ"
        largest = exponents[0] + math.log10(1.0 + abs(self.recipe.shift))
        return "1e-8 to 1e-2" if largest < -2 else "1e-2 to 1e2" if largest <= 2 else "1e2 to 1e8"

    @property
    def strata(self) -> dict[str, str]:
        C, p = math.log10(self.parameters["C"]), self.parameters
        edge = -6 + 3 * min(3, int((C + 6) // 3))
        return {
            "estimator": self.estimator,
            "solver": p["solver"],
            "kernel": p.get("kernel", "none (linear machine)"),
            "scale": self.scale,
            "C": f"1e{edge} to 1e{edge + 3}",
            "steps": "limited" if p.get("max_iter", -1) > 0 else "any number",
        }

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def draw(seed: int, number: int, time_limit: float) -> Case:
    """The problem of this number in the campaign of this seed."""
    rng = np.random.default_rng([seed, number])
    estimator = MACHINES[number % len(MACHINES)]
    parameters: dict[str, Any] = {"C": _C(rng), "time_limit": time_limit}
    linear = estimator in LINEAR_MACHINES
    if not linear:
        parameters["kernel"] = str(rng.choice(KERNELS, p=KERNEL_SHARES))
    recipe = _recipe(rng, estimator, parameters)
    parameters |= of_labels(rng, estimator, recipe)
    parameters |= of_linear_machine(rng, estimator) if linear else _of_kernel(rng, parameters, recipe)
    if rng.random() < 0.2:
        parameters["tol"] = float(rng.choice([1e-1, 1e-4, 1e-6]))
    parameters["n_threads"] = int(rng.choice([1, 1, 2, 3]))
    options = choose_solver(rng, estimator, parameters)
    if rng.random() < 0.04:
        parameters["max_iter"] = int(rng.choice([1, 3, 30]))
    first_C = float(f"{parameters['C'] * 10.0 ** rng.uniform(-2, 2):.3g}") if rng.random() < 0.08 else 0.0
    if first_C:
        parameters["warm_start"] = True
    return Case(estimator, parameters, recipe, options, first_C)


def _C(rng: np.random.Generator) -> float:
    exponent = rng.uniform(-3, 3) if rng.random() < 0.75 else rng.choice([-1, 1]) * rng.uniform(3, 6)
    return float(f"{10.0**exponent:.4g}")


def _recipe(rng: np.random.Generator, estimator: str, parameters: dict[str, Any]) -> Recipe:
    sizes = ((2, 10), (10, 60), (60, 200), (200, 600))
    low, high = sizes[rng.choice(4, p=(0.2, 0.55, 0.22, 0.03))]
    n = int(rng.integers(low, high))
    d = int(rng.choice([1, 2, 3, 5, 8, 12, 40], p=(0.1, 0.2, 0.2, 0.2, 0.15, 0.1, 0.05)))
    ranks = 0 if estimator in REGRESSORS else int(min(n, rng.choice([2, 3, 4, 5, 7], p=(0.2, 0.3, 0.2, 0.2, 0.1))))
    missing: tuple[int, ...] = ()
    if ranks > 2 and estimator not in ("SVC", "LinearSVC") and rng.random() < 0.2:
        missing = tuple(sorted(int(k) for k in rng.choice(ranks, size=rng.integers(1, ranks - 1), replace=False)))
    gram = parameters.get("kernel") == "precomputed"
    return Recipe(
        seed=int(rng.integers(2**31)),
        n=n,
        d=d,
        ranks=ranks,
        noise=float(rng.choice([0.0, 0.3, 1.0, 3.0])),
        missing=missing,
        duplicates=float(rng.choice([0.0, 0.0, 0.3, 0.9])),
        constant=int(rng.integers(1, d + 1)) if rng.random() < 0.1 else 0,
        exponents=_exponents(rng, d) if not gram else (float(rng.choice([0.0, 0.0, 0.5, -1.0])),),
        shift=float(rng.choice([0.0, 0.0, 0.0, 0.0, 1.0, 100.0])) if not gram else 0.0,
        dtype=str(rng.choice(["float64", "float32"], p=(0.75, 0.25))),
        indices=str(rng.choice(["", "int32", "int64"], p=(0.7, 0.12, 0.18))) if not gram else "",
        weights=str(rng.choice(["none", "uniform", "counts", "wild"], p=(0.55, 0.2, 0.15, 0.1))),
        gram=gram,
    )


def _exponents(rng: np.random.Generator, d: int) -> tuple[float, ...]:
    kind = rng.choice(["plain", "all", "each"], p=(0.6, 0.25, 0.15))
    if kind == "plain":
        return (0.0,)
    return tuple(round(float(e), 2) for e in rng.uniform(-8, 8, size=1 if kind == "all" else d))


def of_labels(rng: np.random.Generator, estimator: str, recipe: Recipe) -> dict[str, Any]:
    """What is about labels, costs and margins."""
    drawn: dict[str, Any] = {}
    if recipe.missing:
        drawn["categories"] = list(range(recipe.ranks))
    if estimator in WITH_COSTS and rng.random() < 0.5:
        drawn["cost"] = ["zero-one", "squared", _v_shaped(rng, recipe.ranks)][rng.integers(3)]
    if estimator not in REGRESSORS and rng.random() < 0.15:
        drawn["class_weight"] = "balanced" if rng.random() < 0.5 else {0: 2.5, 1: 0.5}
    if estimator in (*REGRESSORS, "NPSVOR", "LinearNPSVOR"):
        drawn["epsilon"] = float(rng.choice([0.0, 0.01, 0.1, 0.5, 2.0]))
    if estimator in ("NPSVOR", "LinearNPSVOR"):
        drawn["predictor"] = str(rng.choice(["ordered", "nearest"]))
        if rng.random() < 0.3:
            drawn["C1"] = _C(rng)
    if estimator == "SVC":
        drawn["multi_class"] = str(rng.choice(["ovo", "ovr"]))
        drawn["break_ties"] = bool(rng.random() < 0.2)
    if estimator in ("SVC", "SVR"):
        drawn["intercept"] = str(rng.choice(["free", "penalized", "none"], p=(0.5, 0.3, 0.2)))
    return drawn


def _v_shaped(rng: np.random.Generator, n: int) -> list[list[float]]:
    steps = rng.uniform(0.2, 2.0, size=(n, n)).round(3)
    return [[float(steps[y, min(y, k) : max(y, k)].sum().round(3)) for k in range(n)] for y in range(n)]


def of_linear_machine(rng: np.random.Generator, estimator: str) -> dict[str, Any]:
    """Passes are limited by time only, as steps of kernel machines are."""
    plain = "epsilon_insensitive" if estimator == "LinearSVR" else "hinge"
    loss = plain if rng.random() < 0.7 else f"squared_{plain}"
    drawn: dict[str, Any] = {"loss": loss, "max_iter": -1}
    if estimator != "LinearSVOR":
        drawn["fit_intercept"] = bool(rng.random() < 0.8)
    return drawn


def _of_kernel(rng: np.random.Generator, parameters: dict[str, Any], recipe: Recipe) -> dict[str, Any]:
    """gamma suits the features, or is drawn from six orders of magnitude around what suits them, or is a number."""
    kernel = parameters["kernel"]
    drawn: dict[str, Any] = {}
    if kernel in ("rbf", "poly", "laplacian", "sigmoid", "callable"):
        suits = 10.0 ** (-(1 if kernel == "laplacian" else 2) * max(recipe.exponents)) / recipe.d
        numbers = ["scale", suits, suits * 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-4, 2)]
        drawn["gamma"] = numbers[rng.choice(4, p=(0.5, 0.2, 0.25, 0.05))]
        if kernel == "callable" and drawn["gamma"] == "scale":
            drawn["gamma"] = suits
    if kernel in ("poly", "sigmoid"):
        drawn["coef0"] = float(rng.choice([0.0, 0.5, 1.0]))
    if kernel == "poly":
        drawn["degree"] = int(rng.choice([1, 2, 3, 4]))
    if rng.random() < 0.1:
        drawn["cache_size"] = 0.01
    return drawn


def choose_solver(rng: np.random.Generator, estimator: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Puts a name from the registry into the parameters; returns options of the solver."""
    from benchmarks.campaign.solvers import choices, some_options

    parameters["solver"] = "auto"
    if rng.random() < 0.5:
        return {}
    treatment = TREATMENTS.get(estimator, parameters.get("intercept", ""))
    names = choices(estimator, treatment, parameters)
    parameters["solver"] = str(rng.choice(names))
    return some_options(rng, parameters["solver"]) if rng.random() < 0.3 else {}
