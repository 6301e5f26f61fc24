"""OrdinalSearchCV against scikit-learn's GridSearchCV: the same grids, folds, machine and answers."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import numpy as np

from benchmarks import datasets, timing
from benchmarks.results import Row, row

DATA = (
    "All 1,599 rows of winequality-red (11 columns, 6 ranks), all 1,000 of ERA (4 columns, 9 ranks) and 2,000 of "
    "california_housing (8 columns, 5 equal-frequency ranks), in the order of pandas' sample(frac=1, random_state=0); "
    "standardised columns. SVORIM, RBF kernel, its defaults (solver auto, tol 1e-3), 5 folds, mean absolute error. The "
    "grids of Chu & Keerthi (2007): 7 × 7 values of C and kappa = 2 gamma from 1e-3 to 1e3, then 9 × 9 spaced by 0.2 "
    "in log10 around the best of these. Nothing is refitted. Two jobs on both sides: processes of GridSearchCV, which "
    "have started before, and threads of OrdinalSearchCV. Wall-clock seconds of both grids together, medians of three "
    "turns, taken alternately; whoever takes more than 40 seconds has one."
)
GRID, OURS, GRID_BLOCK = CONTESTANTS = "GridSearchCV", "OrdinalSearchCV", "GridSearchCV, block"
SETS = {"winequality-red": 1599, "ERA": 1000, "california_housing": 2000}
JOBS, TURNS, SLOW = 2, 3, 40.0
EXPLANATION = (
    "Most of the time goes to the largest C, where both sides take the most steps: what is shared (kernel values, "
    "checks, tables) is a small part there, and the solver of the search is three to four times as fast."
)


def run(quick: bool) -> list[Row]:
    sets = {"winequality-red": 300} if quick else SETS
    return [r for name, n in sets.items() for r in _compare(name, n, 4 if quick else 7)]


def _compare(name: str, n: int, values: int) -> list[Row]:
    from ordsvm import SVORIM
    from ordsvm.model_selection.grids import coarse_grid, fine_grid

    X, y = datasets.ordinal(name, n)
    _search(GRID, {"C": [1.0]}).fit(X, y)  # starts the processes
    coarse = _Race(X, y, {key: points[:values] for key, points in coarse_grid(SVORIM(), "").items()})
    races = [coarse, _Race(X, y, fine_grid(coarse.searches[GRID].best_params_))]
    total = {which: sum(statistics.median(race.seconds[which]) for race in races) for which in CONTESTANTS}
    claim = f"{name}, {n} rows, both grids: "
    return [
        row(
            claim + "seconds of GridSearchCV / OrdinalSearchCV",
            total[GRID] / total[OURS],
            at_least=5.0,
            explanation=EXPLANATION,
            seconds={"coarse": races[0].seconds, "fine": races[1].seconds},
        ),
        row(claim + "the same, if GridSearchCV is given solver='block'", total[GRID_BLOCK] / total[OURS]),
        row(
            claim + "largest difference between two mean scores, in ranks",
            max(race.difference() for race in races),
            at_most=0.01,
            same_best_parameters=all(race.same_best() for race in races),
        ),
    ]


class _Race:
    """All contestants on one grid, in turns."""

    def __init__(self, X: np.ndarray, y: np.ndarray, grid: dict[str, list[float]]) -> None:
        self.searches: dict[str, Any] = {}

        def run(which: str) -> None:
            self.searches[which] = _search(which, grid).fit(X, y)

        runs = {which: partial(run, which) for which in CONTESTANTS}
        self.seconds = timing.alternate(runs, TURNS, threads=None, slow=SLOW)

    def difference(self) -> float:
        theirs, ours = (self.searches[which].cv_results_["mean_test_score"] for which in (GRID, OURS))
        return float(np.abs(theirs - ours).max())

    def same_best(self) -> bool:
        return bool(self.searches[GRID].best_params_ == self.searches[OURS].best_params_)


def _search(which: str, grid: dict[str, list[float]]) -> Any:
    from sklearn.model_selection import GridSearchCV

    from ordsvm import SVORIM, OrdinalSearchCV
    from ordsvm.metrics import mae_scorer

    kind = OrdinalSearchCV if which == OURS else GridSearchCV
    machine = SVORIM(solver="block") if which == GRID_BLOCK else SVORIM()
    return kind(machine, grid, scoring=mae_scorer, cv=5, refit=False, n_jobs=JOBS)
