"""Early stopping by validation samples: how much of AsyORGCD's time does it save, and what does it cost in errors?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import datasets, timing
from benchmarks.results import Row, row

DATA = (
    "Rows shuffled with pandas' sample(frac=1, random_state=0), standardised columns; the first 60 % are trained on, "
    "the next 20 % are for validation, the last 20 % for neither. C = 10: california_housing, first 5000 rows, and "
    "abalone, 4177 rows, in 5 equal-frequency ranks; winequality-red, 1599 rows in its 6 ranks. C = 1: all 20640 "
    "rows of california_housing in 5 equal-frequency ranks. SVOR, RBF gamma 1/features, AsyORGCD with 2 threads, tol "
    "1e-3, 2000 MB of cache; early stopping after 10 looks without a smaller error."
)
MAE_RATIO = 1.01

# name, rows, C
SETS = (
    ("california_housing", 5000, 10.0),
    ("abalone", None, 10.0),
    ("winequality-red", None, 10.0),
    ("california_housing", None, 1.0),
)

EXPLANATION = (
    "A few mistakes in a thousand validation rows are one per cent, and ten looks without a better one is all "
    "the patience there is: at C = 10 the error goes on falling slowly, with a relative gap of a quarter at "
    "the stop, after less than a hundredth of the time. A larger n_iter_no_change buys it back."
)


def run(quick: bool) -> list[Row]:
    """The paper expects "good performance with much lower time" (Gu et al. 2020, §3.3); the bound is on performance."""
    sets = (("california_housing", 1000, 1.0),) if quick else SETS
    return [r for name, n, C in sets for r in _compare(name, n, C)]


def _compare(name: str, n: int | None, C: float) -> list[Row]:
    X, y = datasets.ordinal(name, n)
    first, second = len(y) * 6 // 10, len(y) * 8 // 10
    validation, test = (X[first:second], y[first:second]), (X[second:], y[second:])
    fits = {
        "early": partial(_model(C, 1 / X.shape[1], True).fit, X[:first], y[:first], validation=validation),
        "full": partial(_model(C, 1 / X.shape[1], False).fit, X[:first], y[:first]),
    }
    race = timing.race(fits, repeats=1)
    models = {which: race.last(which) for which in fits}
    early, full = (models[which].result_ for which in ("early", "full"))
    claim = f"{name}, {first} of {len(y)} rows trained on: "
    best = early.n_iter if early.best_look is None else early.history[early.best_look].n_iter
    return [
        row(
            claim + "seconds until the early stop / of the full run",
            race.ratio("early", "full"),
            seconds=race.medians(),
            steps={"early": early.n_iter, "best look": best, "full": full.n_iter},
            status={"early": early.status, "full": full.status},
            relative_gap={"early": early.relative_gap, "full": full.relative_gap},
        ),
        _errors(claim + "validation MAE at the early stop / of the full run", models, validation, MAE_RATIO),
        _errors(claim + "MAE on rows kept from both, at the early stop / of the full run", models, test, None),
    ]


def _model(C: float, gamma: float, early_stopping: bool) -> Any:
    from ordsvm import SVOR

    options = {"solver": "asyorgcd", "n_threads": 2, "cache_size": 2000, "early_stopping": early_stopping}
    return SVOR(C, gamma=gamma, **options)


def _errors(claim: str, models: dict[str, Any], samples: tuple[np.ndarray, np.ndarray], bound: float | None) -> Row:
    mae = {which: float(np.abs(model.predict(samples[0]) - samples[1]).mean()) for which, model in models.items()}
    return row(claim, mae["early"] / mae["full"], at_most=bound, mae=mae, explanation=EXPLANATION)
