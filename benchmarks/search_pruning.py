"""The exact rule of OrdinalSearchCV, and its race, beside 50 exhaustive searches of random problems."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.results import Row, row
from ordsvm import NPSVOR, SVC, SVOR, SVOREX, SVORIM, OrdinalSearchCV

SEARCHES = 50
DATA = (
    "Random problems: 40 to 160 samples of 2 to 5 features, 3 to 5 ranks cut from a noisy score that is not linear; "
    "one in four with weights, one in four in a pipeline after StandardScaler. SVOR, SVORIM, SVOREX, NPSVOR or SVC "
    "with their defaults, 3 to 5 values of C from 1e-3 to 1e3 by 2 to 4 of gamma from 1e-3 to 10, 3 to 10 folds, a "
    "scorer out of six, one job. The same search by each method."
)


@dataclass(frozen=True)
class RandomSearch:
    """An estimator, a grid, options of the search, and data."""

    estimator: Any
    grid: dict[str, list[float]]
    options: dict[str, Any]
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None

    @classmethod
    def of(cls, seed: int) -> RandomSearch:
        random = np.random.default_rng([23, seed])
        n, d, ranks = int(random.integers(40, 161)), int(random.integers(2, 6)), int(random.integers(3, 6))
        X = random.normal(size=(n, d))
        score = X[:, 0] + np.sin(2.0 * X[:, 1]) + random.uniform(0.1, 1.5) * random.normal(size=n)
        y = np.searchsorted(np.quantile(score, np.arange(1, ranks) / ranks), score)
        machine = (SVOR, SVORIM, SVOREX, NPSVOR, SVC)[random.integers(5)]()
        wrapped = random.random() < 0.25
        prefix = f"{type(machine).__name__.lower()}__" if wrapped else ""
        grid = {
            f"{prefix}C": np.sort(10.0 ** random.uniform(-3, 3, random.integers(3, 6))).tolist(),
            f"{prefix}gamma": np.sort(10.0 ** random.uniform(-3, 1, random.integers(2, 5))).tolist(),
        }
        scoring = str(random.choice(["mae", "mze", "mse", "macro_mae", "kappa", "accuracy"]))
        options = {"scoring": scoring, "cv": int(random.integers(3, 11)), "refit": False}
        weight = random.uniform(0.2, 3.0, n) if random.random() < 0.25 else None
        return cls(make_pipeline(StandardScaler(), machine) if wrapped else machine, grid, options, X, y, weight)

    def by(self, method: str, **options: Any) -> OrdinalSearchCV:
        search = OrdinalSearchCV(self.estimator, self.grid, method=method, **(self.options | options))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # folds that lack a rank, and fits that predict but one
            return search.fit(self.X, self.y, sample_weight=self.weight)

    def n_fits(self) -> int:
        n_candidates = int(np.prod([len(values) for values in self.grid.values()]))
        return n_candidates * int(self.options["cv"])


def same_where_fitted(one: OrdinalSearchCV, other: OrdinalSearchCV) -> bool:
    """Whether all scores that the first one has are those of the second, to the last bit, and the winners too."""
    names = [name for name in other.cv_results_ if name.startswith("split")]
    pairs = [(one.cv_results_[name], other.cv_results_[name]) for name in names]
    same = all(np.array_equal(ours[~np.isnan(ours)], theirs[~np.isnan(ours)]) for ours, theirs in pairs)
    return same and one.best_index_ == other.best_index_ and one.best_score_ == other.best_score_


def run(quick: bool) -> list[Row]:
    searches = [RandomSearch.of(seed) for seed in range(5 if quick else SEARCHES)]
    exhaustive = [search.by("exhaustive") for search in searches]
    pruned = [search.by("pruned") for search in searches]
    races = [search.by("racing") for search in searches]
    n_fits = sum(search.n_fits() for search in searches)
    n = len(searches)
    same = sum(same_where_fitted(one, other) for one, other in zip(pruned, exhaustive, strict=True))
    won = [one.best_index_ == other.best_index_ for one, other in zip(races, exhaustive, strict=True)]
    errors = [
        float(other.best_score_ - other.cv_results_["mean_test_score"][one.best_index_])
        for one, other in zip(races, exhaustive, strict=True)
    ]
    return [
        row(f"pruned: searches of {n} with the winner and all scores of the exhaustive one", same, at_least=n),
        row("pruned: share of fits that were not made", sum(one.n_pruned_ for one in pruned) / n_fits, fits=n_fits),
        row(f"racing: searches of {n} with the winner of the exhaustive one", sum(won)),
        row(
            "racing: largest loss of score by another winner, both by the exhaustive search",
            max(errors),
            losses=[error for error, same_one in zip(errors, won, strict=True) if not same_one],
        ),
        row("racing: share of fits that were not made", sum(one.n_pruned_ for one in races) / n_fits),
    ]
