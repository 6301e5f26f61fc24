"""How near the weights of linear machines are to the optimal ones at the default tolerance, and what that costs."""

from __future__ import annotations

import statistics
import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.datasets import DataMissing, reviews, table
from benchmarks.results import Row, row
from ordsvm import LinearSVOR

DATA = (
    "text: TF-IDF of 4,000 reviews of tripadvisor, words of two reviews or more. sparse: 4,000 rows of 5,000 columns, "
    "0.4 % of them filled. tall: 50,000 dense rows of 20 columns. constant: 1,500 rows of 8 columns whose certified "
    "optimum is w = 0. winequality-red: standardised. LinearSVOR, C = 1; the optimum is that at tol = 1e-6."
)
COARSE, DEFAULT, FINE = 1e-2, None, 1e-6  # tolerances
REPEATS = 5


def run(quick: bool) -> list[Row]:
    made = []
    for name, (X, y) in sets(quick).items():
        fits = {tol: LinearSVOR(tol=tol).fit(X, y) for tol in (COARSE, DEFAULT, FINE)}
        optimum, scale = vector(fits[FINE]), float(np.linalg.norm(vector(fits[FINE])))
        for tol, label in ((COARSE, "tol = 0.01"), (DEFAULT, "default")):
            model = fits[tol]
            error = float(np.linalg.norm(vector(model) - optimum)) / scale
            made.append(row(f"{name}, {label}: distance from the optimal weights and thresholds, relative", error))
            made.append(row(f"{name}, {label}: proven bound of it", model.result_.coef_error / scale))
            made.append(row(f"{name}, {label}: largest weight", float(np.abs(model.coef_).max())))
        passes = fits[DEFAULT].n_iter_ / fits[COARSE].n_iter_
        made.append(row(f"{name}: passes of the default / of tol = 0.01", passes, at_most=5.0))
        ratio = seconds(X, y, DEFAULT, quick) / seconds(X, y, COARSE, quick)
        made.append(row(f"{name}: CPU seconds of the default / of tol = 0.01", ratio))
    return made


def vector(model: Any) -> np.ndarray:
    return np.append(model.coef_, model.thresholds_ - model.intercept_)


def seconds(X: Any, y: np.ndarray, tol: float | None, quick: bool) -> float:
    taken = []
    for _ in range(1 if quick else REPEATS):
        began = time.process_time()
        LinearSVOR(tol=tol).fit(X, y)
        taken.append(time.process_time() - began)
    return statistics.median(taken)


def sets(quick: bool) -> dict[str, tuple[Any, np.ndarray]]:
    warnings.simplefilter("ignore")
    random = np.random.default_rng(0)
    n = 500 if quick else 4000
    X = sparse.random_array((n, 5000), density=0.004, format="csr", random_state=random)
    score = X @ random.normal(size=5000)
    found: dict[str, tuple[Any, np.ndarray]] = {
        "sparse": (X, np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75])))
    }
    T = random.normal(size=(1000 if quick else 50_000, 20))
    found["tall"] = (T, np.digitize(T[:, 0] + T[:, 1] + random.normal(size=len(T)), [-1.5, 0.0, 1.5]))
    W = random.normal(size=(1500, 8))
    found["constant"] = (W, np.digitize(0.3 * W[:, 0] + random.normal(size=1500), [-2.2, -1.4, -0.75, 0.75, 1.6, 2.4]))
    try:
        return found | of_files(quick)
    except DataMissing:
        if quick:
            return found
        raise


def of_files(quick: bool) -> dict[str, tuple[Any, np.ndarray]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, ratings = reviews("tripadvisor")
    n = 400 if quick else 4000
    wines, quality = table("winequality-red")
    return {
        "text": (TfidfVectorizer(min_df=2).fit_transform(texts[:n]), ratings[:n]),
        "winequality-red": ((wines - wines.mean(axis=0)) / wines.std(axis=0), quality.astype(np.int64)),
    }
