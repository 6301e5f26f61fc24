"""The table of a search, with the columns that scikit-learn gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ordsvm._typing import Floats
from ordsvm.search.journal import Outcome
from ordsvm.search.paths import Parameters

Table = dict[str, Any]


def score_names(outcomes: Sequence[Sequence[Outcome]]) -> list[str]:
    """Return the names of the scores: those that a function gives them are not known where a fit has failed."""
    every = [list(outcome.test) for row in outcomes for outcome in row]
    return next((names for names in every if names != ["score"]), every[0])


def results_table(
    candidates: Sequence[Parameters],
    outcomes: Sequence[Sequence[Outcome]],
    scorers: Sequence[str],
    train_too: bool,
    sizes: Any = None,
) -> Table:
    """Times, parameters, scores of every fold, their means, deviations and ranks; a row for every candidate.

    `sizes`: the number of samples that each candidate was tried on, where they differ.
    """
    table: Table = {}
    for name, seconds in (("fit_time", "fit_seconds"), ("score_time", "score_seconds")):
        taken = np.ma.masked_invalid([[getattr(outcome, seconds) for outcome in row] for row in outcomes])
        for word, figure in (("mean", taken.mean(axis=1)), ("std", taken.std(axis=1))):  # of the fits that were made
            table[f"{word}_{name}"] = np.ma.filled(figure, np.nan)
    table |= _parameter_columns(candidates)
    table["params"] = list(candidates)
    for name in scorers:
        values = np.array([[_score(outcome.test, name) for outcome in row] for row in outcomes])
        table |= _score_columns(f"test_{name}", values)
        table[f"rank_test_{name}"] = _ranks(table[f"mean_test_{name}"], sizes)
    for name in scorers if train_too else ():
        values = np.array([[_score(outcome.train, name) for outcome in row] for row in outcomes])
        table |= _score_columns(f"train_{name}", values)
    return table


def _score(scores: dict[str, float], name: str) -> float:
    """Return the score of this name, or what a failed fit has in place of it."""
    return scores.get(name, scores.get("score", np.nan))


def _parameter_columns(candidates: Sequence[Parameters]) -> Table:
    """A masked array for every parameter: a list of grids need not name the same ones."""
    columns: Table = {}
    for name in sorted({name for parameters in candidates for name in parameters}):
        given = [name in parameters for parameters in candidates]
        values = [parameters.get(name) for parameters in candidates]
        dtype = _number_type([value for value, is_given in zip(values, given, strict=True) if is_given])
        column = np.ma.masked_all(len(candidates), dtype=dtype)
        for place in np.flatnonzero(given):
            column[place] = values[place]
        columns[f"param_{name}"] = column
    return columns


def _number_type(values: Sequence[Any]) -> Any:
    """Return the type of an array of these values if they are numbers, and object otherwise."""
    if not all(isinstance(value, bool | int | float | np.number | np.bool_) for value in values):
        return object
    dtype = np.array(values).dtype
    return dtype if dtype.kind in "biuf" else object


def _score_columns(name: str, values: Floats) -> Table:
    splits = {f"split{fold}_{name}": column for fold, column in enumerate(values.T)}
    return splits | {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}


def _ranks(mean: Floats, sizes: Any = None) -> NDArray[np.int32]:
    """1 is best, equal means have equal ranks; a candidate that failed on a fold, or was pruned there, comes last.

    Scores on fewer samples are no match for those on more: all of them come after these.
    """
    if np.isnan(mean).all():
        return np.ones(len(mean), dtype=np.int32)
    rank = rankdata(-np.nan_to_num(mean, nan=np.nanmin(mean) - 1), method="min")
    if sizes is not None:
        rank = rankdata(rank - np.asarray(sizes) * (len(mean) + 1.0), method="min")
    return rank.astype(np.int32)
