"""OrdinalSearchCV against scikit-learn's GridSearchCV: the same grids, folds, machine and answers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import datasets, timing
from benchmarks.results import Row, row

DATA = (
    "All 1,599 rows of winequality-red (11 columns, 6 ranks), all 1,000 of ERA (4 columns, 9 ranks) and 2,000 of "
    "california_housing (8 columns, 5 equal-frequency ranks), in the order of pandas' sample(frac=1, random_state=0); "
    "standardised columns. Two sets with wide rows: 2,000 of lightgbm_rank (300 columns, of which 218 vary, "
    "standardised; 5 ranks) and of treebank (8,569 columns, sparse; 5 ranks), in the order of NumPy's permutation "
    "(seed 0). RBF kernel, the machines' defaults (solver auto, tol 1e-3), 5 folds, mean absolute error. "
    "SVORIM: the grids of Chu & Keerthi (2007), 7 × 7 values of C and kappa = 2 gamma from 1e-3 to 1e3, then 9 × 9 "
    "spaced by 0.2 in log10 around the best of these; of wide sets the first only. SVOR: 5 × 7 of the first grid, C up "
    "to 10, for at 1000 a single fit of GridSearchCV takes half a minute. Nothing is refitted. Two jobs on both sides: "
    "processes of GridSearchCV, which have started before, and threads of OrdinalSearchCV. Wall-clock seconds, medians "
    "of three turns, taken alternately; whoever takes more than 10 seconds has one."
)
SETS = {"winequality-red": 1599, "ERA": 1000, "california_housing": 2000, "lightgbm_rank": 2000, "treebank": 2000}
WIDE = ("lightgbm_rank", "treebank")
JOBS, TURNS, SLOW = 2, 3, 10.0
EXPLANATION = (
    "GridSearchCV's fits are made by the block method too, since 'auto' stands for it: at these sizes most take 8 to "
    "15 milliseconds, so checks, tables, certificates and scores count. Ours share one matrix for all folds, have the "
    "scores of tested samples at the end of a fit, have the certificate made by the core, start from the best multiple "
    "of the fit before (or, with penalised thresholds, from that of the kernel before) and end by Newton's method "
    "at large C. What bounds them: easy fits of 1 to 4 milliseconds read nearly all rows of the matrix once in float32 "
    "and once in float64, and a third to a half of their time is Python (checks, machines, scorers), which threads do "
    "not divide; where C K leaves no sample at a bound (gamma 0.5, C from 10 on) a start from a tenth of "
    "C saves little. So it is data with wide rows, whose kernel values GridSearchCV computes anew in every fit, that "
    "gain most. Tried and not better: Newton's method on hinges with rounded corners, from afar; starts from the "
    "kernel before everywhere; Newton's method along C in small steps (150 systems from C to 10 C, which take as long "
    "as steps on pairs); paths along C without a shared matrix, each for itself (SVOR 1.56 seconds against 2.15 with a "
    "matrix copied for every fold and 1.75 of GridSearchCV; SVORIM 7.35, 7.46 and 14.75)."
)


def run(quick: bool) -> list[Row]:
    sets = {"winequality-red": 300} if quick else SETS
    values = 4 if quick else 7
    return [r for name, n in sets.items() for r in _svorim(name, n, values) + _svor(name, n, values - 2)]


def _svorim(name: str, n: int, values: int) -> list[Row]:
    from ordsvm import SVORIM
    from ordsvm.model_selection.grids import fine_grid

    X, y = _data(name, n)
    coarse = _Comparison(SVORIM(), X, y, _grid(values, values))
    if name in WIDE:
        return _rows(f"{name}, {n} rows, SVORIM, first grid", {"coarse": coarse})
    fine = _Comparison(SVORIM(), X, y, fine_grid(coarse.theirs.best_params_))
    return _rows(f"{name}, {n} rows, SVORIM, both grids", {"coarse": coarse, "fine": fine})


def _svor(name: str, n: int, values_of_C: int) -> list[Row]:
    from ordsvm import SVOR

    X, y = _data(name, n)
    return _rows(f"{name}, {n} rows, SVOR, C up to 10", {"coarse": _Comparison(SVOR(), X, y, _grid(values_of_C, 7))})


def _data(name: str, n: int) -> tuple[Any, np.ndarray]:
    if name not in WIDE:
        return datasets.ordinal(name, n)
    X, y = datasets.shuffled_svmlight(name)
    X, y = X[:n], y[:n].astype(np.int64)
    return (datasets.standardised(X.toarray()) if name == "lightgbm_rank" else X), y


def _grid(values_of_C: int, values_of_gamma: int) -> dict[str, list[float]]:
    from ordsvm import SVORIM
    from ordsvm.model_selection.grids import coarse_grid

    grid = coarse_grid(SVORIM(), "")
    return {"C": grid["C"][:values_of_C], "gamma": grid["gamma"][:values_of_gamma]}


class _Comparison:
    """Both searches on one grid, in turns."""

    def __init__(self, machine: Any, X: np.ndarray, y: np.ndarray, grid: dict[str, list[float]]) -> None:
        from sklearn.model_selection import GridSearchCV

        from ordsvm import OrdinalSearchCV
        from ordsvm.metrics import mae_scorer

        options = {"scoring": mae_scorer, "cv": 5, "refit": False, "n_jobs": JOBS}
        GridSearchCV(machine, {"C": [1.0]}, **options).fit(X, y)  # starts the processes
        self.theirs = GridSearchCV(machine, grid, **options)
        self.ours = OrdinalSearchCV(machine, grid, **options)
        runs = {"GridSearchCV": partial(self.theirs.fit, X, y), "OrdinalSearchCV": partial(self.ours.fit, X, y)}
        self.race = timing.race(runs, TURNS, threads=None, slow=SLOW)

    def difference(self) -> float:
        return float(
            np.abs(self.theirs.cv_results_["mean_test_score"] - self.ours.cv_results_["mean_test_score"]).max()
        )


def _rows(claim: str, races: dict[str, _Comparison]) -> list[Row]:
    def total(which: str) -> float:
        return sum(one.race.median(which) for one in races.values())

    return [
        row(
            f"{claim}: seconds of GridSearchCV / OrdinalSearchCV",
            total("GridSearchCV") / total("OrdinalSearchCV"),
            at_least=5.0,
            explanation=EXPLANATION,
            seconds={stage: one.race.seconds for stage, one in races.items()},
        ),
        row(
            f"{claim}: largest difference between two mean scores, in ranks",
            max(one.difference() for one in races.values()),
            at_most=0.01,
            same_best_parameters=all(one.theirs.best_params_ == one.ours.best_params_ for one in races.values()),
        ),
    ]
