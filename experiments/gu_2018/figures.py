"""Figures 1 and 2 of Gu et al. (2018): C-SVC and SVR by AsyGCD and AsyAGCD, and by LIBSVM."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

from benchmarks import datasets
from experiments import asynchronous
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm import SVC, SVR, AsyAGCD, AsyGCD

CLASSES = {"ijcnn1": 20_000, "skin_nonskin": 20_000, "a9a": 20_000}  # rows taken
TARGETS = {"cadata": 20_640, "cpu_act": 8192, "census": 12_000}
FOLDERS = {"cadata": "california_housing", "census": "census_house16h"}
SOLVERS = {"AsyGCD": AsyGCD, "AsyAGCD": AsyAGCD}
METHODS = (*SOLVERS, "ordsvm's default", "LIBSVM")
LIMIT = 10.0  # seconds of a run; LIBSVM has none
SHARE = 0.8  # of the rows for training, as in the paper
DATA = (
    "ijcnn1, skin_nonskin and a9a (C-SVC), california_housing (the paper's cadata), cpu_act and census_house16h (SVR), "
    "inputs scaled to [0, 1] as in the paper; rows of a permutation, 20,000 of every set of the first kind, all of "
    "cadata and cpu_act, 12,000 of census; 80 % for training. Covtype, webspam, YearPredictionMSD, slice localization "
    "and the 3D network are not available; a9a, cpu_act and census are not the paper's."
)
PROTOCOL = (
    "C = 1, RBF gamma 1 / features, penalised intercept of all solvers but LIBSVM, as many threads as 'threads' says, "
    f"tol 1e-3, 2,000 MB of cache, {LIMIT:g} seconds at most; LIBSVM is scikit-learn's, one thread, without a limit. "
    "Seconds are of the wall clock, one run at a time. The paper has C, gamma and epsilon of LIBSVM's defaults too; it "
    "had 20 threads, which computed LIBSVM's rows of K as well."
)


def samples(name: str, n: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Training and test rows, inputs in [0, 1]."""
    if name in CLASSES:
        X, y = datasets.shuffled_svmlight(name)
        X, y = MaxAbsScaler().fit_transform(X[:n]), np.where(y[:n] == y.max(), 1, -1)
    else:
        X, y = datasets.table(FOLDERS.get(name, name))
        order = np.random.default_rng(0).permutation(len(y))[:n]
        X, y = MinMaxScaler().fit_transform(X[order]), y[order].astype(float)
        y = (y - y.mean()) / y.std()
    cut = int(SHARE * n)
    return X[:cut], y[:cut], X[cut:], y[cut:]


def machine(name: str, method: str, gamma: float, threads: int) -> Any:
    is_class = name in CLASSES
    if method == "LIBSVM":
        from sklearn import svm

        return (svm.SVC if is_class else svm.SVR)(C=1.0, gamma=gamma, cache_size=2000)
    solver = SOLVERS[method]() if method in SOLVERS else "auto"
    options: dict[str, Any] = {
        "C": 1.0,
        "gamma": gamma,
        "intercept": "penalized",
        "n_threads": threads,
        "cache_size": 2000,
    }
    return (SVC if is_class else SVR)(solver=solver, **options)


def trace(name: str, method: str, n: int, limit: float, threads: int) -> Outcome:
    X, y, X_test, y_test = samples(name, n)
    gamma = 1.0 / X.shape[1]

    def fit(seconds: float | None) -> Any:
        model = machine(name, method, gamma, threads)
        return (model if method == "LIBSVM" else model.set_params(time_limit=seconds)).fit(X, y)

    def error(model: Any) -> dict[str, float]:
        predicted = model.predict(X_test)
        key = "error" if name in CLASSES else "mae"
        return {key: float(np.mean(predicted != y_test) if name in CLASSES else np.abs(predicted - y_test).mean())}

    return asynchronous.curves(fit, error, limit)


def _item(title: str, sets: dict[str, int], metric: str) -> Item:
    def units(done: Records, scope: Scope) -> Iterator[Unit]:
        for name, n in sets.items():
            for method in METHODS:
                key = asynchronous.key_of(done, f"figures/{name}/{method}")
                about: dict[str, Any] = {"name": name, "method": method, "n": 400 if scope.quick else n}
                about |= {"limit": 2.0 if scope.quick else LIMIT, "threads": asynchronous.threads_of(key)}
                yield Unit(key, trace, about, (0,), 20.0)

    def runs(done: Records) -> dict[str, dict[str, Outcome]]:
        found = {n: {m: o for m in METHODS if (o := asynchronous.measured(done, f"figures/{n}/{m}"))} for n in sets}
        return {name: own for name, own in found.items() if own}

    def summary(done: Records, scope: Scope) -> Outcome:
        cells = []
        for name, own in runs(done).items():
            best = min(run["objective"][-1][1] for run in own.values() if run["objective"])
            for method, run in own.items():
                about = {"dataset": name, "method": method}
                cells.append(about | {"metric": f"test {metric}", "value": run["errors"][-1][1][metric]})
                cells.append(about | {"metric": "seconds of the whole run", "value": asynchronous.seconds_of(run)})
                if run["objective"]:
                    reached = asynchronous.seconds_to(run["objective"], best)
                    cells.append(about | {"metric": "seconds to 1 % above the best objective", "value": reached})
        threads = sorted({run["threads"] for own in runs(done).values() for run in own.values()})
        return {"data": DATA, "protocol": PROTOCOL, "threads": threads, "cells": cells, "_runs": runs(done)}

    def draw(found: Outcome, path: Path) -> None:
        asynchronous.draw(path, found["_runs"], metric)

    return Item(title, units, summary, draw, alone=True)


ITEMS = {
    "figure1": _item("C-SVC: error and objective by time", CLASSES, "error"),
    "figure2": _item("SVR: MAE and objective by time", TARGETS, "mae"),
}
