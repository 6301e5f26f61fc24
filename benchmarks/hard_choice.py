"""What solver="auto" costs beside the best choice at large C, on works that its rules were not made from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks import datasets, timing
from benchmarks.contestants import CONTESTANTS
from benchmarks.results import Row, row
from benchmarks.works import Work

WORST = 1.3
REPEATS, SLOW = 5, 5.0
FAR = 2.0  # times that of auto: after that a solver is ended
C_VALUES = (10.0, 100.0, 1000.0)
DATA = (
    "Works kept apart: no rule of 'auto' was made by looking at them. Rows shuffled with pandas' sample(frac=1, "
    "random_state=seed), standardised columns, equal-frequency ranks of the target (ordinal sets keep their own) cut "
    "on the whole set, then the first n rows; SVC: the upper half of the ranks, SVR: the standardised target, epsilon "
    "0.1; Gaussian kernel, gamma 1 / columns, tol 1e-3, 2000 MB of cache, all cores. Seconds of whole fits by "
    "'auto', 'block', 'interior-point' and 'gcd' (SVOR) or 'smo', taking turns, medians of five; one that takes more "
    "than 5 s runs once. All but 'auto' are ended when they have taken twice as long as a first fit by it and a second "
    "more (status_of: time_limit). The figure of a row is the time of 'auto' over that of the fastest."
)
EXPLANATION = (
    "See seconds_of: which solver was faster, and by how much. SVC on keggundirected ends within hundredths of a "
    "second, at C = 10 in half the time by 'smo'; no rule was made from it."
)


@dataclass(frozen=True)
class Apart:
    """A model on the first n rows of a set, in another order than those of the benchmark `hard`."""

    model: str
    source: str
    n: int
    ranks: int
    seed: int

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        if self.model == "SVR":
            return datasets.regression(self.source, self.n, self.seed)
        X, y = datasets.ordinal(self.source, self.n, self.ranks, self.seed)
        return X, (y >= self.ranks // 2).astype(np.int64) if self.model == "SVC" else y


# Chosen before anything was measured on them; none of them is to be looked at while a rule is made.
APART = (
    Apart("SVOR", "winequality-red", 1599, 6, 1),
    Apart("SVOR", "car", 1728, 4, 1),
    Apart("SVOR", "keggundirected", 3000, 6, 1),
    Apart("SVOR", "california_housing", 2500, 5, 11),
    Apart("SVOR", "cpu_act", 2000, 5, 12),
    Apart("SVORIM", "protein", 2500, 6, 13),
    Apart("SVORIM", "winequality-red", 1599, 6, 2),
    Apart("SVOREX", "space_ga", 2000, 5, 14),
    Apart("SVC", "keggundirected", 4000, 2, 2),
    Apart("SVC", "puma32h", 3000, 2, 15),
    Apart("SVR", "bank32nh", 2500, 2, 16),
    Apart("SVR", "house_8L", 3000, 2, 17),
)
ROWS = {f"{one.model}-{one.source}-{one.n}-C{C:g}": (one, C) for one in APART for C in C_VALUES}


def run(quick: bool, rows: list[str] | None = None) -> list[Row]:
    """The rows whose names begin with one of `rows`, or all. Quick: 300 samples, one turn, no bound."""
    wanted = [name for name in ROWS if rows is None or any(name.startswith(prefix) for prefix in rows)]
    return [_race(name, quick) for name in wanted]


def summary(rows: list[Row], quick: bool) -> list[Row]:
    """The worst of all works."""
    worst = max(one["figure"] for one in rows if "seconds_of" in one)
    claim = "auto at large C: time over that of the best choice, the worst of all works"
    return [row(claim, worst, at_most=None if quick else WORST, explanation=EXPLANATION)]


def _race(name: str, quick: bool) -> Row:
    part, C = ROWS[name]
    X, y = part.data()
    if quick:
        X, y = X[:300], y[:300]
    work = Work(name, part.model, part.source, C, 1.0 / X.shape[1], part.n, part.ranks)
    solvers = ("auto", "block", "interior-point", "gcd" if part.model == "SVOR" else "smo")
    limit = 1.0 + FAR * timing.seconds(partial(_fit, work, "auto", X, y, None))
    fits = {solver: partial(_fit, work, solver, X, y, None if solver == "auto" else limit) for solver in solvers}
    race = timing.race(fits, 1 if quick else REPEATS, threads=None, slow=SLOW)
    seconds = race.medians()
    return row(
        f"{name}: time of auto over that of the fastest",
        seconds["auto"] / min(seconds.values()),
        seconds_of=seconds,
        chosen=race.last("auto").result_.solver,
        status_of={solver: race.last(solver).result_.status for solver in solvers},
    )


def _fit(work: Work, solver: str, X: Any, y: Any, limit: float | None) -> Any:
    estimator = CONTESTANTS["ordsvm"].estimator(work).set_params(solver=solver, time_limit=limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the time limit
        return estimator.fit(X, y)
