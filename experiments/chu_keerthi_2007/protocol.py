"""Section 5.3 of Chu & Keerthi (2007): partitions, methods, the two-stage search, and one trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks import datasets
from experiments.items import Outcome
from ordsvm import SVOREX, SVORIM, SVR, OrdinalSearchCV, RoundedRegressor, ShashuaLevinSVOR
from ordsvm.datasets import equal_frequency_ranks
from ordsvm.search.grids import coarse_grid, fine_grid

EPSILON = 0.1
FOLDS = 5
MEMORY = 4000.0  # megabytes for the kernel matrices of a search
METRICS = ("zero_one", "mae")  # the search may minimise either: the paper does not say which it does
TUNED_ONCE = 3000  # training rows from which on parameters are sought in the first partition alone

Errors = dict[str, float]
Point = dict[str, Any]  # C and gamma


@dataclass(frozen=True)
class DataSet:
    """A set of Table 2: its folder among the benchmark data, and the rows of a training part."""

    folder: str
    n_training: int

    @property
    def is_tuned_once(self) -> bool:
        return self.n_training >= TUNED_ONCE


DATA_SETS = {
    "pyrimidines": DataSet("pyrim", 50),
    "machine_cpu": DataSet("machine_cpu", 150),
    "boston": DataSet("boston_housing", 300),
    "abalone": DataSet("abalone", 1000),
    "bank": DataSet("bank32nh", 3000),
    "computer": DataSet("cpu_act", 4000),
    "california": DataSet("california_housing", 5000),
    "census": DataSet("census_house16h", 6000),
}


@dataclass(frozen=True)
class Part:
    """Standardised rows with ranks 0..r-1."""

    X: np.ndarray
    y: np.ndarray
    n_ranks: int


def partition(name: str, bins: int, trial: int) -> tuple[Part, Part]:
    """The training and the test part of a random partition, the same for all methods and both numbers of bins.

    Ranks are cut from the whole set, as in the paper; means and deviations are those of the training part.
    """
    X, target = datasets.table(DATA_SETS[name].folder)
    y = equal_frequency_ranks(target, bins)
    order = np.random.default_rng([2007, trial]).permutation(len(y))
    training, test = np.split(order, [DATA_SETS[name].n_training])
    deviation = X[training].std(axis=0)
    X = (X - X[training].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return tuple(Part(np.ascontiguousarray(X[rows]), y[rows], bins) for rows in (training, test))  # type: ignore


def machine(method: str, point: Point | None = None) -> Any:
    """The estimator of a method; SVR's predictions are numbers, which `ranks` rounds."""
    made = {
        "EXC": SVOREX(n_threads=1),
        "IMC": SVORIM(n_threads=1),
        "SLA": ShashuaLevinSVOR(n_threads=1),
        "SVR": SVR(epsilon=EPSILON, n_threads=1),
    }[method]
    return made.set_params(**(point or {}))


def ranks(predicted: np.ndarray, n_ranks: int) -> np.ndarray:
    """The nearest ranks: a prediction half-way goes up, as in RoundedRegressor."""
    return np.clip(np.floor(np.asarray(predicted, float) + 0.5), 0, n_ranks - 1)


def errors(model: Any, X: np.ndarray, y: np.ndarray, n_ranks: int) -> Errors:
    """Both errors of a model."""
    distance = np.abs(ranks(model.predict(X), n_ranks) - y)
    return {"zero_one": float((distance > 0).mean()), "mae": float(distance.mean())}


def _score(model: Any, X: Any, y: Any, metric: str, n_ranks: int) -> float:
    return -errors(model, X, y, n_ranks)[metric]


def errors_on_grid(
    method: str, part: Part, grid: Mapping[str, Sequence[Any]], folds: Any, device: str | None = None
) -> list[Outcome]:
    """Both errors of every point of the grid, each on every fold."""
    scorers = {metric: partial(_score, metric=metric, n_ranks=part.n_ranks) for metric in METRICS}
    how: dict[str, Any] = {"memory_limit": MEMORY, "device": device, "error_score": "raise"}
    search = OrdinalSearchCV(machine(method), dict(grid), scoring=scorers, cv=folds, refit=False, **how)
    table = search.fit(part.X, part.y).cv_results_
    return [
        {"point": point} | {m: [-float(table[f"split{k}_test_{m}"][place]) for k in range(len(folds))] for m in METRICS}
        for place, point in enumerate(table["params"])
    ]


def folds_of(part: Part, trial: int, folds: int = FOLDS) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(StratifiedKFold(folds, shuffle=True, random_state=trial).split(part.X, part.y))


def first_grid(method: str) -> dict[str, list[float]]:
    return coarse_grid(machine(method), "")


def best_point(outcomes: Sequence[Outcome], metric: str) -> Point:
    """The point with the least mean error; the first among equals: the least C, then the widest kernel."""
    means = [round(float(np.mean(outcome[metric])), 9) for outcome in outcomes]
    return dict(outcomes[int(np.argmin(means))]["point"])


def search(method: str, part: Part, trial: int) -> dict[str, Point]:
    """The two-stage search for either error."""
    folds = folds_of(part, trial)
    first = errors_on_grid(method, part, first_grid(method), folds)
    centres = {metric: best_point(first, metric) for metric in METRICS}
    second: dict[tuple[float, ...], list[Outcome]] = {}
    for centre in centres.values():
        if tuple(centre.values()) not in second:
            second[tuple(centre.values())] = errors_on_grid(method, part, fine_grid(centre), folds)
    return {metric: best_point(first + second[tuple(centres[metric].values())], metric) for metric in METRICS}


def test_errors(method: str, point: Point, training: Part, test: Part) -> Errors:
    """Trains at this point and returns both errors of the test part."""
    model = machine(method, point)
    if method == "SVR":
        model = RoundedRegressor(model, categories=range(training.n_ranks))
    model.fit(training.X, training.y)
    return errors(model, test.X, test.y, test.n_ranks)


# Units of work


def trial_with_search(name: str, bins: int, method: str, trial: int) -> Outcome:
    """A trial of a smaller set: search and test in the same partition."""
    training, _ = partition(name, bins, trial)
    return trial_at(name, bins, method, trial, search(method, training, trial))


def trial_at(name: str, bins: int, method: str, trial: int, points: Mapping[str, Point]) -> Outcome:
    """A trial with given parameters, by the error that they were chosen by."""
    training, test = partition(name, bins, trial)
    found: dict[tuple[float, ...], Errors] = {}
    for point in points.values():
        if tuple(point.values()) not in found:
            found[tuple(point.values())] = test_errors(method, point, training, test)
    return {metric: {"point": dict(point), **found[tuple(point.values())]} for metric, point in points.items()}


def search_part(name: str, bins: int, method: str, grid: Mapping[str, Sequence[float]], fold: int) -> Outcome:
    """One fold and one column of a grid, on the first partition."""
    training, _ = partition(name, bins, 0)
    return {"errors": errors_on_grid(method, training, grid, folds_of(training, 0)[fold : fold + 1])}


def search_column(name: str, bins: int, method: str, grid: Mapping[str, Sequence[float]], device: str) -> Outcome:
    """All folds of one column of a grid, on the first partition: a device trains them side by side."""
    training, _ = partition(name, bins, 0)
    return {"errors": errors_on_grid(method, training, grid, folds_of(training, 0), device), "device": device}
