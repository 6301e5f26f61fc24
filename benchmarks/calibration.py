"""Calibrated probabilities and prediction sets: do sets cover what is asked for, and how good are the probabilities?"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split

from benchmarks import datasets
from benchmarks.contestants import PeerMissing
from benchmarks.results import Row, row

DATA = (
    "winequality-red (1599 rows, 6 ranks), ERA (1000, 9), LEV (1000, 5), abalone and california_housing (first 2000 "
    "rows of a shuffle with pandas' sample(frac=1, random_state=0), 5 equal-frequency ranks), standardised columns. "
    "Ten times 60 % of the rows, drawn at random, are for training and the rest for the figures, which are means over "
    "the ten. SVOR with C from 0.1, 1, 10 and RBF gamma from 0.01, 0.1, 1 / features by 5-fold cross-validation of "
    "the mean absolute error within the training rows, then CalibratedOrdinal's defaults. mord's LogisticAT with "
    "alpha from 0.01 to 100 in powers of ten by 5-fold cross-validation of the ranked probability score itself."
)
SETS = (
    ("winequality-red", None),
    ("ERA", None),
    ("LEV", None),
    ("abalone", 2000),
    ("california_housing", 2000),
)
COVERAGES = (0.8, 0.9, 0.95)
SPLITS = 10
OVER = "Sets by CV+ hold a rank that few of the folds' machines exclude: they cover more than is asked for, never less."


def run(quick: bool) -> list[Row]:
    """Bounds: coverage within 2 points; a better score than sure predictions on all sets, than LogisticAT on three."""
    sets, splits = (SETS[2:3], 2) if quick else (SETS, SPLITS)
    rows: list[Row] = []
    wins = 0
    for name, n in sets:
        X, y = datasets.ordinal(name, n)
        figures = [_one_split(X, y, seed) for seed in range(splits)]
        mean = {key: float(np.mean([figure[key] for figure in figures])) for key in figures[0]}
        wins += mean["rps"] < mean["rps of LogisticAT"]
        rows += _rows(name, mean)
    if not quick:
        rows.append(row("data sets with a better ranked probability score than mord's LogisticAT", wins, at_least=3))
    return rows


def _rows(name: str, mean: dict[str, float]) -> list[Row]:
    sets = [
        row(
            f"{name}: coverage of sets asked for {coverage:.0%}, distance in points",
            100 * abs(mean[f"coverage {coverage}"] - coverage),
            at_most=2.0,
            coverage=mean[f"coverage {coverage}"],
            ranks_a_set=mean[f"size {coverage}"],
            explanation=OVER if mean[f"coverage {coverage}"] > coverage else None,
        )
        for coverage in COVERAGES
    ]
    scores = {key: mean[key] for key in ("rps", "rps of sure predictions", "rps of LogisticAT")}
    return [
        *sets,
        row(
            f"{name}: ranked probability score, calibrated / of the machine's own sure predictions",
            mean["rps"] / mean["rps of sure predictions"],
            at_most=1.0,
            scores=scores,
        ),
        row(
            f"{name}: ranked probability score, calibrated / mord's LogisticAT", mean["rps"] / mean["rps of LogisticAT"]
        ),
    ]


def _one_split(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, float]:
    from ordsvm import SVOR, CalibratedOrdinal, OrdinalSearchCV
    from ordsvm.metrics import mean_absolute_error

    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [share / X.shape[1] for share in (0.01, 0.1, 1.0)]}
    search = OrdinalSearchCV(SVOR(), grid).fit(X_train, y_train)
    model = CalibratedOrdinal(SVOR(**search.best_params_)).fit(X_train, y_train)
    figures = {
        "rps": _score(model, X_test, y_test),
        "rps of sure predictions": mean_absolute_error(y_test, search.predict(X_test), categories=np.unique(y)),
        "rps of LogisticAT": _score(_logistic_at(X_train, y_train), X_test, y_test),
    }
    for coverage in COVERAGES:
        low, high = model.predict_set(X_test, coverage).T
        figures[f"coverage {coverage}"] = float(np.mean((low <= y_test) & (y_test <= high)))
        figures[f"size {coverage}"] = float(np.mean(high - low + 1))
    return figures


def _score(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    from ordsvm.metrics import rps_scorer

    return -rps_scorer(model, X, y)


def _logistic_at(X: np.ndarray, y: np.ndarray) -> Any:
    from ordsvm.metrics import rps_scorer

    try:
        from mord import LogisticAT
    except ImportError as error:
        raise PeerMissing("This benchmark compares with mord, which is not installed: pip install mord.") from error
    return GridSearchCV(LogisticAT(), {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0]}, scoring=rps_scorer, cv=5).fit(X, y)
