"""Whether scores are those of the model, and labels those that the rule of its paper makes of them.

f(x) and b are compared as the model gives them. Where a comparison is a tie but for rounding, either label is right.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

ROUNDING = 1e-12

# Gu et al. 2020 and the reduction behind RedSVM count the thresholds below f; Chu & Keerthi take the first above it.
COUNTING = ("SVOR", "RedSVM", "LinearSVOR")


def wrong_predictions(answer: dict[str, Any], scores: np.ndarray) -> int:
    """How many labels are not those of the rule; `scores`: own ones, a column for every problem."""
    predicted = answer["predictions"]
    if answer["estimator"] in ("SVR", "LinearSVR"):
        return 0  # the predictions are the scores, which are compared by themselves
    codes = {label: code for code, label in enumerate(answer["classes"].tolist())}
    predicted = np.array([codes.get(label, -1) for label in predicted.tolist()])
    if "rank_scores" in answer:
        allowed = _npsvor(answer["rank_scores"], answer["parameters"].get("predictor", "ordered"))
    elif answer["thresholds"] is not None:
        allowed = _thresholds(answer)
    else:
        allowed = _classes(answer, scores)
    return int(np.count_nonzero(~allowed[np.arange(len(predicted)), predicted] | (predicted < 0)))


def _thresholds(answer: dict[str, Any]) -> np.ndarray:
    """Which ranks the rule allows: those of f, and of f moved by its rounding to either side."""
    f, b = answer["decision_function"], answer["thresholds"]
    allowed = np.zeros((len(f), len(b) + 1), dtype=bool)
    step = ROUNDING * np.maximum(np.abs(f), np.abs(b).max(initial=0.0))
    for moved in (f - step, f, f + step):
        for above in (moved[:, None] > b, moved[:, None] >= b):
            if answer["estimator"] in COUNTING:
                rank = above.sum(axis=1)
            else:
                rank = np.where(above.all(axis=1), len(b), np.argmin(above, axis=1))
            allowed[np.arange(len(f)), rank] = True
    return allowed


def _npsvor(scores: np.ndarray, predictor: str) -> np.ndarray:
    """Shi et al. 2021: (32)-(33) counts k with f_k + f_{k+1} > 0; (5) takes the least |f_k|."""
    step = ROUNDING * np.abs(scores).max(axis=1, initial=0.0, keepdims=True)
    if predictor == "nearest":
        distance = np.abs(scores)
        return distance <= distance.min(axis=1, keepdims=True) + step
    g = scores[:, :-1] + scores[:, 1:]
    least, most = (g > step).sum(axis=1), (g >= -step).sum(axis=1)
    ranks = np.arange(scores.shape[1])
    return (ranks >= least[:, None]) & (ranks <= most[:, None])


def _classes(answer: dict[str, Any], scores: np.ndarray) -> np.ndarray:
    """Two classes: the sign. One against the rest: the largest. Pairs: the most votes, and the first of equal ones."""
    n_classes = len(answer["classes"])
    slack = answer["score_error"]
    if n_classes == 2:
        return np.stack([scores[:, 0] <= slack, scores[:, 0] >= -slack], axis=1)
    if answer["parameters"].get("multi_class", "ovr") == "ovr":
        return scores >= scores.max(axis=1, keepdims=True) - 2 * slack
    least, most = np.zeros((2, len(scores), n_classes))
    for column, (first, second) in enumerate(combinations(range(n_classes), 2)):
        least[:, first] += scores[:, column] > slack
        most[:, first] += scores[:, column] >= -slack
        least[:, second] += scores[:, column] < -slack
        most[:, second] += scores[:, column] <= slack
    allowed = most >= least.max(axis=1, keepdims=True)
    is_sure = (least == most).all(axis=1) & (not answer["parameters"].get("break_ties", False))
    first_best = np.eye(n_classes, dtype=bool)[least.argmax(axis=1)]
    return np.where(is_sure[:, None], first_best, allowed)
