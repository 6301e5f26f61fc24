"""Searches over C for linear machines on many rows of few features: beside one fit, and beside GridSearchCV."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks import tall, timing
from benchmarks.results import Row, row
from ordsvm import LinearSVOR, OrdinalSearchCV
from ordsvm.metrics import mae_scorer

SETS = ("synthetic 100,000 x 50", "california_housing", "cpu_act", "protein", "census_house16h")
VALUES = [float(C) for C in 10.0 ** np.arange(-3.0, 3.1, 0.5)]
MOST_FITS = {"synthetic 100,000 x 50": 25.0}  # that a search may take as long as
LARGEST_DIFFERENCE = 0.005  # between the mean errors of both winners
TOL = 1e-3  # the default on dense rows
DATA = (
    "The sets of benchmark tall. LinearSVOR with its defaults, trained by the interior-point method where auto "
    "takes it; 13 values of C from 1e-3 to 1e3, 5 folds, mean absolute error, the best one trained again on all rows. "
    "One fit: LinearSVOR() on all rows, C = 1. Iterations are passes over the rows of a fold. All cores; contestants "
    "take turns, medians of five, one call where it takes more than 10 s."
)


def run(quick: bool, names: list[str] | None = None) -> list[Row]:
    """The sets named, or all."""
    wanted = [name for name in SETS if names is None or any(name.startswith(given) for given in names)]
    return [made for name in wanted for made in ROWS[name](quick)]


class Recorder:
    """A scorer that keeps the gap and the iterations of every fit."""

    def __init__(self) -> None:
        self.results: list[Any] = []

    def __call__(self, machine: Any, X: Any, y: Any) -> float:
        self.results.append(machine.result_)
        return mae_scorer(machine, X, y)

    def iterations(self, n_fits: int) -> int:
        """Of the first so many fits: the first of several searches."""
        return sum(result.n_iter for result in self.results[:n_fits])


def compare(name: str, quick: bool) -> list[Row]:
    """Seconds of the search in fits and against GridSearchCV, the winners, and the proofs."""
    X, y = tall.data(name, 2000 if quick else None)
    searches = {
        kind.__name__: kind(LinearSVOR(), {"C": VALUES}, scoring=Recorder()) for kind in (OrdinalSearchCV, GridSearchCV)
    }
    runs: dict[str, Callable[[], Any]] = {"one fit": partial(_quietly, LinearSVOR(), X, y)}
    runs |= {which: partial(_quietly, search, X, y) for which, search in searches.items()}
    race = timing.race(runs, 1 if quick else 5, None, slow=10.0)
    errors = {which: -search.cv_results_["mean_test_score"] for which, search in searches.items()}
    best = {which: search.best_params_["C"] for which, search in searches.items()}
    n_fits = 5 * len(VALUES)
    n_iter = {which: search.scoring.iterations(n_fits) for which, search in searches.items()}
    ours = searches["OrdinalSearchCV"]
    winner = errors["GridSearchCV"][ours.best_index_]
    gaps = [result.relative_gap for result in ours.scoring.results]
    bound = {} if quick or name not in MOST_FITS else {"at_most": MOST_FITS[name]}
    return [
        row(
            f"{name}: seconds of a search of {n_fits} fits / of one fit",
            race.ratio("OrdinalSearchCV", "one fit"),
            **bound,
            seconds_of=race.medians(),
            seconds_of_all=race.seconds,
        ),
        row(f"{name}: seconds of GridSearchCV / of OrdinalSearchCV", race.ratio("GridSearchCV", "OrdinalSearchCV")),
        row(
            f"{name}: iterations of GridSearchCV / of OrdinalSearchCV",
            n_iter["GridSearchCV"] / n_iter["OrdinalSearchCV"],
            n_iter=n_iter,
        ),
        row(
            f"{name}: mean error of our winner - of GridSearchCV's, both as GridSearchCV has them",
            float(winner - errors["GridSearchCV"].min()),
            at_most=LARGEST_DIFFERENCE,
            winners=best,
            largest_difference=float(np.abs(errors["OrdinalSearchCV"] - errors["GridSearchCV"]).max()),
        ),
        row(f"{name}: largest relative gap of all fits", max(gaps), at_most=TOL),
    ]


def _quietly(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coordinate descent at a limit: the gap is in the results
        return model.fit(X, y)


ROWS: dict[str, Callable[[bool], list[Row]]] = {name: partial(compare, name) for name in SETS}
