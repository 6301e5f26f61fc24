"""Many problems in one fit: SVC with many classes against LIBSVM and oneDAL, NPSVOR's ranks against one by one.

Targets are those of issue 23. The sets were fixed before anything was tuned.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.contestants import CONTESTANTS, TOL
from benchmarks.results import Row, speed_row
from benchmarks.timing import race

REPEATS = 15
TARGETS = {"libsvm": 1.5, "onedal": 2.0}
MOST_OF_A_CLASS = 500  # rows of kddcup99
DATA = (
    "digits: scikit-learn's 1,797 rows, 10 classes. kddcup99: its 10 most frequent classes, at most 500 rows of each "
    "(seed 0), 4,764 rows. protein: the first 5,000 rows of benchmarks.datasets.ordinal, cut into 26 "
    "classes of equal frequency. abalone, california: 2,000 rows with 10 ranks of equal frequency. All standardised, "
    "constant columns dropped, RBF kernel with gamma 1 / number of columns, tol 1e-3, all else the defaults of each "
    "program. Medians of 15 alternating fits on all cores, after one of each that is not counted. ovr: one class "
    "against the rest, LIBSVM by scikit-learn's OneVsRestClassifier. One by one: the same machine with the solver "
    "'block', which solves a problem after the other."
)


@dataclass(frozen=True)
class Fit:
    """A model on a set, and the scheme of its problems."""

    model: str
    data: str
    C: float
    scheme: str = "ovo"

    @property
    def name(self) -> str:
        return f"{self.model.lower()}-{self.data}-C{self.C:g}" + ("-ovr" if self.scheme == "ovr" else "")


FITS = (
    *(Fit("SVC", data, C) for data in ("digits", "kddcup99", "protein26") for C in (1.0, 10.0)),
    Fit("SVC", "digits", 1.0, "ovr"),
    *(Fit("NPSVOR", data, C) for data in ("abalone10", "california10") for C in (1.0, 10.0)),
)
ROWS = tuple(fit.name for fit in FITS)


def run(quick: bool, names: list[str] | None = None) -> list[Row]:
    wanted = [fit for fit in FITS if names is None or any(fit.name.startswith(name) for name in names)]
    return [made for fit in wanted for made in _rows(fit, quick)]


def samples(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return datasets.standardised(X), y
    if name == "kddcup99":
        return _frequent_classes(*datasets.table("kddcup99"))
    if name == "protein26":
        return datasets.ordinal("protein", 5000, ranks=26)
    return datasets.ordinal({"abalone10": "abalone", "california10": "california_housing"}[name], 2000, ranks=10)


def _frequent_classes(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most so many rows of each of the ten classes that have most."""
    random = np.random.default_rng(0)
    classes, counts = np.unique(y, return_counts=True)
    frequent = classes[np.argsort(-counts, kind="stable")[:10]]
    rows = np.concatenate([random.permutation(np.flatnonzero(y == one))[:MOST_OF_A_CLASS] for one in sorted(frequent)])
    rows = random.permutation(rows)
    return datasets.standardised(X[rows]), y[rows]


def _rows(fit: Fit, quick: bool) -> list[Row]:
    X, y = samples(fit.data)
    if quick:
        X, y = X[:400], y[:400]
    calls = {name: partial(_train, make, X, y) for name, make in _contestants(fit, X.shape[1]).items()}
    for call in calls.values():
        call()
    raced = race(calls, 2 if quick else REPEATS, threads=None)
    ours = raced.last("ordsvm")
    detail = {
        "n_problems": len(ours.results_),
        "converged": bool(ours.result_.converged),
        "relative_gap": ours.result_.relative_gap,
        "solver": ours.result_.solver,
    }
    has_target = fit.scheme == "ovo" and not quick
    made = []
    for peer in (name for name in calls if name != "ordsvm"):
        title = CONTESTANTS[peer].title if peer in CONTESTANTS else "one by one"
        claim, bound = f"{fit.name}: times as fast as {title}", TARGETS.get(peer) if has_target else None
        agreement = float(np.mean(ours.predict(X) == raced.last(peer).predict(X)))
        made.append(speed_row(claim, raced, "ordsvm", peer, at_least=bound, agreement=agreement, **detail))
    return made


def _train(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> Any:
    return make().fit(X, y)


def _contestants(fit: Fit, n_columns: int) -> dict[str, Callable[[], Any]]:
    import ordsvm

    options = {"C": fit.C, "gamma": 1.0 / n_columns, "tol": TOL}
    kind = getattr(ordsvm, fit.model)
    more = {"multi_class": fit.scheme} if fit.model == "SVC" else {}
    made: dict[str, Callable[[], Any]] = {
        "ordsvm": partial(kind, **options, **more),
        "one-by-one": partial(kind, **options, **more, solver="block"),
    }
    if fit.model == "SVC":
        made |= {peer: partial(_peer, peer, fit.scheme, options) for peer in TARGETS if not CONTESTANTS[peer].missing()}
    if fit.scheme == "ovr":
        made.pop("onedal", None)
    return made


def _peer(name: str, scheme: str, options: dict[str, float]) -> Any:
    from sklearn.multiclass import OneVsRestClassifier

    svc = importlib.import_module({"libsvm": "sklearn.svm", "onedal": "sklearnex.svm"}[name]).SVC(**options)
    return OneVsRestClassifier(svc) if scheme == "ovr" else svc
