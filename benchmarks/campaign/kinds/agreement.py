"""Agreement of two trained machines whose problems are equivalent, by their certificates.

The optimum of a problem lies in [objective − gap, objective], so the intervals of equivalent problems intersect. The
objective is strongly convex in w: ‖w − w*‖ ≤ √(2·gap) for either machine, which bounds how far their scores may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.campaign.judge.kernel_values import extended, kernel_matrix

CLOSE = 1e-9  # rounding of objectives and of scores in float64, as a share of what is summed
CLOSE_FLOAT32 = 1e-5  # the same of scores that are summed from float32 values

Turn = Callable[[np.ndarray], np.ndarray]


def same(scores: np.ndarray) -> np.ndarray:
    """Return the scores."""
    return scores


def disjoint(first: Any, second: Any, unit: float = 1.0) -> list[str]:
    """Return a complaint if no optimum suits both; objectives of `second` times `unit` are in units of `first`."""
    (low, high), (other_low, other_high) = (
        (scale * (model.result_.objective - model.result_.gap), scale * model.result_.objective)
        for model, scale in ((first, 1.0), (second, unit))
    )
    slack = CLOSE * max(abs(high), abs(other_high))
    if max(low, other_low) <= min(high, other_high) + slack:
        return []
    return [f"the optimum lies in [{low!r}, {high!r}] and in [{other_low!r}, {other_high!r}]"]


def scores_of(model: Any, X: Any) -> np.ndarray | None:
    """Return f(x), a column for each problem; None where votes hide it."""
    if hasattr(model, "rank_scores"):
        return np.asarray(model.rank_scores(X), dtype=float)
    scores = getattr(model, "decision_function", model.predict)(X)
    several = not hasattr(model, "thresholds_") and len(getattr(model, "classes_", "")) > 2
    return None if several else np.asarray(scores, dtype=float).reshape(len(scores), -1)


def far_apart(first: Any, second: Any, X: Any, X_second: Any, turn: Turn = same) -> list[str]:
    """Return a complaint if scores differ by more than the two gaps allow.

    Compared are differences from the first row, in which thresholds and intercepts cancel. `turn` makes of scores of
    `second` what those of `first` ought to be.
    """
    f, g = scores_of(first, X), scores_of(second, X_second)
    if f is None or g is None:
        return []
    is_gram = getattr(second, "kernel", "") == "precomputed"  # of the rows of X, by the linear kernel
    bound = _reach(first, X) + _reach(second, X if is_gram else X_second)
    apart = np.abs((f - f[0]) - (turn(g) - turn(g)[0])).max(axis=1) - (bound + bound[0])
    worst = int(np.argmax(apart))
    if apart[worst] <= 0:
        return []
    return [f"the scores of row {worst} differ by {apart[worst]:.3g} more than the gaps allow ({bound[worst]:.3g})"]


def far_thresholds(first: Any, second: Any) -> list[str]:
    """Return a complaint if penalised thresholds are not those of `second` mirrored, within what the gaps allow."""
    bound = sum(np.sqrt(2 * max(0.0, model.result_.gap)) for model in (first, second))
    bound += CLOSE * (1 + float(np.abs(first.thresholds_).max(initial=0.0)))
    apart = float(np.abs(first.thresholds_ + second.thresholds_[::-1]).max(initial=0.0))
    return [] if apart <= bound else [f"mirrored thresholds differ by {apart:.3g}, where {bound:.3g} is allowed"]


def _reach(model: Any, X: Any) -> np.ndarray:
    """Return √(2·gap)·‖φ(x)‖ for every row, and what rounding may add."""
    rows = extended(X)
    unit = CLOSE_FLOAT32 if getattr(X, "dtype", np.float64) != np.float64 else CLOSE
    if hasattr(model, "dual_coef_"):
        name = "linear" if model.kernel == "precomputed" else model.kernel
        kernel = {"name": name, "gamma": model.gamma, "coef0": model.coef0, "degree": model.degree}
        norms = np.sqrt(np.maximum(kernel_matrix(kernel, rows, rows).diagonal(), 0.0).astype(float))
        total = float(np.abs(model.dual_coef_).sum()) * max(1.0, float(norms.max())) ** 2
    else:
        norms = np.sqrt((rows**2).sum(axis=1)).astype(float)
        total = float(np.abs(model.coef_).sum()) * max(1.0, float(norms.max()))
    return np.sqrt(2 * max(0.0, model.result_.gap)) * norms + unit * (1.0 + total)
