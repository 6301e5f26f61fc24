"""Which of the compared models to take, and why: by its error, the interval of the difference, and its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from ordsvm._typing import Floats

SHARE = 0.95  # of the intervals
CLEARLY_FASTER, WORTH_IT = 3.0, 1.0  # times, and seconds of a fit: below that time is no reason


@dataclass(frozen=True)
class Difference:
    """How much worse a model is than another one, with its interval."""

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        return self.low > 0

    def __str__(self) -> str:
        return f"{self.mean:+.3f}, {100 * SHARE:.0f} % interval {self.low:+.3f} to {self.high:+.3f}"


def difference(worse: Floats, better: Floats, greater: bool, n_folds: int) -> Difference:
    """Of scores in the same folds, above 0 where the first ones are worse.

    Folds share rows to train with, so that their differences vary together: the variance is that of Nadeau & Bengio
    (2003), with rows to test over rows to train with added to 1 / number of folds.
    """
    by_fold = (better - worse) if greater else (worse - better)
    mean, count = float(by_fold.mean()), len(by_fold)
    if count < 2:
        return Difference(mean, -np.inf, np.inf)
    error = float(np.sqrt((1.0 / count + 1.0 / (n_folds - 1)) * by_fold.var(ddof=1)))
    reach = float(student.ppf(0.5 + SHARE / 2, count - 1)) * error
    return Difference(mean, mean - reach, mean + reach)


@dataclass(frozen=True)
class Recommendation:
    """The model to take, and the reason in words."""

    model: str
    reason: str


def recommended(rows: list[dict[str, Any]], metric: str, constant: str) -> Recommendation:
    """Of rows best first: the best one, or one that is about as good and clearly faster where that matters.

    `constant` names the model that predicts one rank for all.
    """
    best = rows[0]
    alike = [row for row in rows[1:] if not row["difference"].is_clear and row["model"] != constant]
    fastest = min(alike, key=lambda row: row["seconds"], default=best)
    chosen = best
    if best["seconds"] >= WORTH_IT and fastest["seconds"] * CLEARLY_FASTER <= best["seconds"]:
        chosen = fastest
    reason = _about_error(chosen, rows, metric) + _about_time(chosen, best)
    floor = next((row for row in rows if row["model"] == constant), None)
    if floor is not None and (floor is best or not floor["difference"].is_clear):
        reason += " But it is not clearly better than one rank for all rows: the columns say little about the labels."
    return Recommendation(chosen["model"], reason)


def _about_error(chosen: dict[str, Any], rows: list[dict[str, Any]], metric: str) -> str:
    best, others = rows[0], rows[1:]
    own = f"its {metric}, {chosen['mean']:.3f},"
    if chosen is not best:
        told = f"{best['model']} with {best['mean']:.3f} (difference {chosen['difference']})"
        return f"{own} is about that of the best, {told};"
    if not others:
        return f"{own} is that of the only model compared;"
    alike = [row for row in others if not row["difference"].is_clear]
    if not alike:
        return f"{own} is clearly the best, {others[0]['model']} comes next (difference {others[0]['difference']});"
    more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
    told = f"{alike[0]['model']} (difference {alike[0]['difference']}){more}"
    return f"{own} is the best, though not clearly better than that of {told};"


def _about_time(chosen: dict[str, Any], best: dict[str, Any]) -> str:
    own = f" {'a search' if chosen['chosen'] else 'a fit'} takes {chosen['seconds']:.2g} s"
    if chosen is best:
        return own + "."
    return f"{own}, and {best['seconds'] / max(chosen['seconds'], 1e-9):.0f} times as long with {best['model']}."
