"""What a search says at its end: a best parameter at the edge of what was tried, and fits that did not converge."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ordsvm._typing import Floats
from ordsvm.checks import caller_level, shortened
from ordsvm.findings import Finding, ModelWarning
from ordsvm.search.grids import short_number
from ordsvm.search.journal import FAILED, Outcome
from ordsvm.search.paths import takes_weight

SCALES = ("C", "C1", "C2", "gamma")  # parameters that may be any positive number
LEAST_VALUES = 3  # of two, each is at an edge


def edges_of_grid(table: dict[str, Any], best: int, by: str = "mean_test_score") -> list[Finding]:
    """A finding for every parameter whose best value is the least or the largest that was tried, and better than all
    values in between."""
    if by not in table:
        return []
    score = np.asarray(table[by], dtype=np.float64)
    names = [name for name in table if name.startswith("param_") and name.rpartition("_")[2] in SCALES]
    found = [_edge(name.removeprefix("param_"), table[name], score, best) for name in names]
    return [finding for finding in found if finding is not None]


def edges_of_search(search: Any) -> list[Finding]:
    """Of a fitted `OrdinalSearchCV`."""
    return search._edges()


def _edge(name: str, column: Any, score: Floats, best: int) -> Finding | None:
    given = ~np.ma.getmaskarray(column)
    values = [value if is_given else None for value, is_given in zip(np.ma.getdata(column), given, strict=True)]
    if not given[best] or not all(_is_number(value) for value in values if value is not None):
        return None
    numbers = np.array([np.nan if value is None else float(value) for value in values])
    tried = np.unique(numbers[given])
    if len(tried) < LEAST_VALUES or tried[0] < numbers[best] < tried[-1]:
        return None
    inside = score[given & (numbers > tried[0]) & (numbers < tried[-1])]
    if not np.all(np.isnan(inside)) and not score[best] > np.nanmax(inside):
        return None
    is_low = numbers[best] == tried[0]
    word, edge, neighbour = ("least", *tried[:2]) if is_low else ("largest", *tried[:-3:-1])
    onward = short_number(edge * edge / neighbour)
    sentence = f"The best {name}, {short_number(edge)}, is the {word} that was tried: a better one may lie beyond it."
    remedy = f"Extend the grid {'downwards' if is_low else 'upwards'}: try {name}={onward} and further."
    return Finding("grid-edge", sentence, remedy, {"parameter": name, "best": float(edge), "tried": tried.tolist()})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and float(value) > 0


def warn_of_edges(found: Sequence[Finding]) -> None:
    for finding in found:
        warnings.warn(ModelWarning(finding), stacklevel=caller_level())


def warn_of_unweighted_scores(scorers: Mapping[str, Any]) -> None:
    """One warning for each of these that takes no weights, though there are some."""
    for name, scorer in scorers.items():
        if not takes_weight(scorer):
            warnings.warn(
                f"The scorer {name!r} does not support sample_weight: models are trained with the weights, but its "
                "scores are those of equal weights. Give one whose function has a parameter sample_weight.",
                UserWarning,
                stacklevel=caller_level(),
            )


def require_fits(outcomes: Sequence[Sequence[Outcome]], reasons: Iterable[str]) -> None:
    """Raise ValueError where all fits have failed; `reasons`: what warnings said of that, as far as is known here."""
    made = [outcome for row in outcomes for outcome in row if not outcome.is_pruned]
    if not made:
        raise ValueError("The search has no fits to make: give a `cv` that makes folds and a `param_grid` with points.")
    if all(outcome.status == FAILED for outcome in made):
        first = next((f" The first to be named: {reason.rstrip('.')}." for reason in reasons), "")
        raise ValueError(
            f"All {len(made)} fits of the search failed.{first} Correct the estimator, the grid or the samples."
        )


def require_scores(table: Mapping[str, Any], name: str) -> None:
    """Raise ValueError where no candidate has a finite mean of the scores of this name."""
    if np.isfinite(table[f"mean_test_{name}"]).any():
        return
    splits = [column for key, column in table.items() if key.startswith("split") and key.endswith(f"_test_{name}")]
    missing = [str(fold) for fold, column in enumerate(splits) if not np.isfinite(column).any()]
    folds = f"no candidate has one on fold {', '.join(missing)}" if missing else "each lacks it on some fold"
    raise ValueError(
        f"No candidate has a finite mean of the score {name!r}, so that none is the best: {folds}. Give folds and a "
        "scorer that work for some candidate, error_score='raise' to see what fails, or refit=False to keep the table."
    )


def warn_of_missing_scores(table: Mapping[str, Any]) -> None:
    """One warning for each kind of score that is not finite for some candidates, but for those that were pruned."""
    is_whole = ~np.asarray(table.get("pruned", np.zeros(len(table["params"]), dtype=bool)))
    for name in table:
        if not name.startswith(("mean_test_", "mean_train_")):
            continue
        is_missing = is_whole & ~np.isfinite(table[name])
        if is_missing.any():
            first = table["params"][int(np.argmax(is_missing))]
            warnings.warn(
                f"One or more of the {name.split('_')[1]} scores are non-finite: {name} of {is_missing.sum()} of "
                f"{len(is_missing)} candidates, the first of which is {shortened(first)}. Those of NaN rank last.",
                UserWarning,
                stacklevel=caller_level(),
            )


def warn_of_limits(outcomes: Sequence[Sequence[Outcome]]) -> None:
    """One warning for all fits that did not converge."""
    made = [outcome for row in outcomes for outcome in row if not outcome.is_pruned]
    statuses = Counter(outcome.status for outcome in made if outcome.status and outcome.status != FAILED)
    if not statuses:
        return
    n_fits, n_stopped = len(made), sum(statuses.values())
    stopped_by = ", ".join(f"{status} ({count})" for status, count in statuses.most_common())
    warnings.warn(
        f"{n_stopped} of the {n_fits} fits of the search did not converge, stopped by {stopped_by}: their scores are "
        "of models as far as they got. Raise the limit or tol, standardise the features, or leave out the largest C.",
        ConvergenceWarning,
        stacklevel=caller_level(),
    )
