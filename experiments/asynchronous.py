"""Runs of asynchronous and serial solvers for the two papers of Gu et al.: objective and errors by time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments import drawing
from experiments.items import Outcome, Records

FRACTIONS = (0.1, 0.3)  # of a whole run, after which errors of the test rows are measured too
MOST_LOOKS = 60  # of a run that are kept
WITHIN = 0.01  # of the best objective
COUNTS = (1, 2, 4, 8, 16)  # threads
FEWEST = 2  # threads of a run that is timed


def own_threads() -> int:
    """The most of the counts that this process has cores for."""
    return max(FEWEST, *(count for count in COUNTS if count <= cores()))


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def key_of(done: Records, stem: str) -> str:
    """The key of a timed run: that with the most threads of the records, unless this machine has more cores."""
    found = [count for count in COUNTS if _with_threads(stem, count) in done]
    return _with_threads(stem, max(found + [own_threads()]))


def measured(done: Records, stem: str) -> Outcome | None:
    """The outcome with the most threads."""
    found = [count for count in COUNTS if _with_threads(stem, count) in done]
    return done[_with_threads(stem, max(found))] | {"threads": max(found)} if found else None


def threads_of(key: str) -> int:
    return int(key.rsplit("/", 1)[1].split()[0])


def _with_threads(stem: str, count: int) -> str:
    return f"{stem}/{count} threads"


def curves(fit: Callable[[float | None], Any], error: Callable[[Any], dict[str, float]], limit: float) -> Outcome:
    """One whole run, and shorter ones for the errors on the way; `fit` takes a time limit.

    The whole run may take `limit` seconds.
    """
    began = time.perf_counter()
    model = fit(limit)
    seconds = time.perf_counter() - began
    result = getattr(model, "result_", None)
    looks = result.history if result is not None else []
    history = [[look.seconds, look.objective] for look in looks[:: 1 + len(looks) // MOST_LOOKS]]
    errors = [[seconds, error(model)]]
    if result is not None:
        history.append([seconds, result.objective])
        errors = [[share * seconds, error(fit(share * seconds))] for share in FRACTIONS] + errors
    found = {"objective": history, "errors": errors, "whole": seconds}
    if result is not None:
        found |= {"status": result.status, "relative_gap": result.relative_gap, "steps": result.n_iter}
    return found


def seconds_of(run: Outcome) -> float | None:
    """Of a whole run; None if a limit has ended it."""
    return float(run["whole"]) if run.get("status", "converged") == "converged" else None


def seconds_to(history: Sequence[Sequence[float]], best: float) -> float | None:
    """When the objective was first within 1 % of the best; None if never."""
    reached = [seconds for seconds, objective in history if objective <= (1 + WITHIN) * best]
    return reached[0] if reached else None


def draw(path: Path, found: dict[str, dict[str, Outcome]], metric: str | None, others: Sequence[str] = ()) -> None:
    """The objective by time, and below it an error of the test rows, if one is named; a column for every data set.

    `others` have another objective, which is not drawn.
    """

    def plot(axes: np.ndarray) -> None:
        from matplotlib.ticker import NullFormatter

        for column, (name, runs) in enumerate(found.items()):
            for place, (method, run) in enumerate(runs.items()):
                style = {"color": f"C{place}", "label": method, "lw": 1, "ms": 3}
                if run["objective"] and method not in others:
                    axes[0, column].loglog(*_positive(run["objective"]), ".-", **style)
                if metric is not None:
                    points = [(seconds, errors[metric]) for seconds, errors in run["errors"]]
                    axes[1, column].semilogx(*np.array(points).T, "o-", **style)
                    axes[1, column].set_ylabel(metric)
            axes[0, column].set(title=name, ylabel="objective")
            axes[-1, column].set_xlabel("seconds")
            axes[-1, column].legend(fontsize=6)
            for axis in axes[:, column]:
                axis.xaxis.set_minor_formatter(NullFormatter())

    drawing.save(path, plot, (1 if metric is None else 2, len(found)), (3.2, 2.6))


def _positive(history: Sequence[Sequence[float]]) -> np.ndarray:
    seconds, objective = np.array(history).T
    return np.array([np.maximum(seconds, 1e-4), objective])
