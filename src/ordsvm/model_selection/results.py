"""The table of a search, with the columns that scikit-learn gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ordsvm._typing import Floats
from ordsvm.model_selection.journal import Outcome
from ordsvm.model_selection.paths import Parameters

Table = dict[str, Any]


def results_table(
    candidates: Sequence[Parameters], outcomes: Sequence[Sequence[Outcome]], scorers: Sequence[str], train_too: bool
) -> Table:
    """Times, parameters, scores of every fold, their means, deviations and ranks; a row for every candidate."""
    table: Table = {}
    for name, seconds in (("fit_time", "fit_seconds"), ("score_time", "score_seconds")):
        taken = np.ma.masked_invalid([[getattr(outcome, seconds) for outcome in row] for row in outcomes])
        for word, figure in (("mean", taken.mean(axis=1)), ("std", taken.std(axis=1))):  # of the fits that were made
            table[f"{word}_{name}"] = np.ma.filled(figure, np.nan)
    table |= _parameter_columns(candidates)
    table["params"] = list(candidates)
    for name in scorers:
        table |= _score_columns(f"test_{name}", np.array([[outcome.test[name] for outcome in row] for row in outcomes]))
        mean = table[f"mean_test_{name}"]
        table[f"rank_test_{name}"] = _ranks(mean)
    for name in scorers if train_too else ():
        values = np.array([[outcome.train[name] for outcome in row] for row in outcomes])
        table |= _score_columns(f"train_{name}", values)
    return table


def _parameter_columns(candidates: Sequence[Parameters]) -> Table:
    """A masked array for every parameter: a list of grids need not name the same ones."""
    columns: Table = {}
    for name in sorted({name for parameters in candidates for name in parameters}):
        given = [name in parameters for parameters in candidates]
        values = [parameters.get(name) for parameters in candidates]
        numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        column = np.ma.masked_all(len(candidates), dtype=float if numeric else object)
        for place in np.flatnonzero(given):
            column[place] = values[place]
        columns[f"param_{name}"] = column
    return columns


def _score_columns(name: str, values: Floats) -> Table:
    splits = {f"split{fold}_{name}": column for fold, column in enumerate(values.T)}
    return splits | {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}


def _ranks(mean: Floats) -> NDArray[np.int32]:
    """1 is best, equal means have equal ranks; a candidate that failed on a fold, or was pruned there, comes last."""
    if np.isnan(mean).all():
        return np.ones(len(mean), dtype=np.int32)
    return rankdata(-np.nan_to_num(mean, nan=np.nanmin(mean) - 1), method="min").astype(np.int32)
