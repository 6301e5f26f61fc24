"""Runs one work of the benchmark checkpoint with its folder, in a process that is killed at any moment.

Two messages come back: None when the work begins, and how it has ended.
"""

import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

from ordsvm import SVOR, Checkpoint, LinearSVOR, OrdinalSearchCV


def rows(n, d, seed=0):
    """Standard normal columns; 5 ranks of a quadratic score with noise of its own size."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n)
    return X, np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score)


def fit(size, folder):
    X, y = rows(size["n"], 8)
    model = SVOR(size["C"], gamma=0.1, tol=1e-3, solver=size.get("solver", "gcd"), n_threads=1)
    yield
    yield found(model.fit(X, y, checkpoint=folder))


def stream(size, folder):
    """From a file that is made once."""
    path = Path(size["file"])
    if not path.exists():
        X, y = rows(size["n"], 40)
        dump_svmlight_file(X, y, str(path))
    model = LinearSVOR(size["C"], tol=1e-5, max_iter=-1, n_threads=1, random_state=0)
    yield
    yield found(model.fit(path, checkpoint=folder))


def search(size, folder):
    X, y = rows(size["n"], 8)
    tried = OrdinalSearchCV(SVOR(n_threads=1), size.get("grid", "two-stage"), cv=3, n_jobs=1)
    yield
    tried.fit(X, y, checkpoint=folder)
    scores = np.round(tried.cv_results_["mean_test_score"], 10).tolist()
    yield found(tried.best_estimator_) | {"best": tried.best_params_, "scores": scores}


def found(model):
    result = model.result_
    return {"status": result.status, "objective": result.objective, "gap": result.gap, "steps": result.n_iter}


def work(name, size, folder, interval, connection):
    warnings.simplefilter("ignore")
    checkpoint = None if folder is None else Checkpoint(folder, interval)
    for answer in {"fit": fit, "stream": stream, "search": search}[name](size, checkpoint):
        connection.send(answer)
