"""Figures 1 to 3 of Manno et al. (2018), what happens without the gathering step, and the three step rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks import solver_cases
from benchmarks.works import make
from experiments import drawing, from_benchmarks
from experiments.from_benchmarks import Row, as_cells
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm import Decomposition

Step = Literal["exact", "armijo", "diminishing"]
STEPS: tuple[Step, ...] = ("exact", "armijo", "diminishing")
SETS = {"a9a": 2000, "ijcnn1": 2000}
LIMIT = 2000  # iterations
GOALS = (1e-1, 1e-2, 1e-3)
DATA = "The first 2,000 rows of a9a (RBF, gamma 1/123) and of ijcnn1 (RBF, gamma 1/22); C-SVC, free intercept, C = 1."
PROTOCOL = (
    "Decomposition with subproblems of at most 100 hinges, chosen by violation, one thread; relative duality gap by "
    f"iterations, at most {LIMIT}. The paper describes the three rules and does not compare them."
)


def always_best(rows: list[Row], *words: str) -> int | str:
    """8 where every doubling of q, and q = 8 against the others, needs less."""
    chosen = [row["figure"] for row in rows if all(word in row["claim"] for word in words)]
    return 8 if chosen and max(chosen) < 1.0 else "not 8 everywhere"


def figure1(rows: list[Row]) -> list[Outcome]:
    best = {"metric": "q that is always the best", "value": always_best(rows, "light: iterations to an error")}
    return [best, *as_cells(rows, "light: iterations")]


def figure2(rows: list[Row]) -> list[Outcome]:
    metric = "q that is always the best, LIBSVM 3.22 included"
    return [
        {"metric": metric, "value": always_best(rows, "light: kernel evaluations")},
        *as_cells(rows, "light: kernel evaluations"),
    ]


def figure3(rows: list[Row]) -> list[Outcome]:
    return [*as_cells(rows, "cache"), *as_cells(rows, "of LIBSVM", "seconds")]


def trace(name: str, step: Step, n: int) -> Outcome:
    """Iterations and relative gaps of one run."""
    case = solver_cases.of(make("SVC", name, n=n), name)
    result = case.solve(Decomposition(block_size=100, step=step), max_iter=LIMIT, report_every=1)
    looks = [[look.n_iter, look.relative_gap] for look in result.history]
    return {"curve": [*looks, [result.n_iter, result.relative_gap]], "status": result.status}


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for name, n in SETS.items():
        for step in STEPS:
            about = {"name": name, "step": step, "n": 300 if scope.quick else n}
            yield Unit(f"steps/{name}/{step}", trace, about, (0,), 20.0)


def summary(done: Records, scope: Scope) -> Outcome:
    cells: list[Outcome] = []
    curves = {}
    for name in SETS:
        for step in STEPS:
            if (found := done.get(f"steps/{name}/{step}")) is None:
                continue
            curves[f"{name}, {step}"] = found["curve"]
            for goal in GOALS:
                reached = [n for n, gap in found["curve"] if gap <= goal]
                value = reached[0] if reached else f"more than {found['curve'][-1][0]}"
                metric = f"iterations to a relative gap of {goal:g}"
                cells.append({"dataset": name, "method": step, "metric": metric, "value": value})
    return {"data": DATA, "protocol": PROTOCOL, "cells": cells, "_curves": curves}


def draw(found: Outcome, path: Path) -> None:
    def plot(axes: np.ndarray) -> None:
        for axis, name in zip(axes[0], SETS, strict=True):
            for label, curve in found["_curves"].items():
                if label.startswith(name):
                    axis.loglog(*np.array(curve).T, label=label.split(", ")[1])
            axis.set(title=name, xlabel="iterations", ylabel="relative duality gap")
            axis.legend(fontsize=8)

    drawing.save(path, plot, (1, 2), (4.5, 3.4))


def gathering(rows: list[Row]) -> list[Outcome]:
    return as_cells(rows, "without gathering")


ITEMS = {
    "figure1": from_benchmarks.item("PARSMO light: error by iterations", "parsmo", figure1),
    "figure2": from_benchmarks.item("PARSMO light: error by kernel evaluations", "parsmo", figure2),
    "figure3": from_benchmarks.item("PARSMO cache: error by time", "parsmo", figure3),
    "gathering": from_benchmarks.item("Oscillation without the gathering step", "parsmo", gathering),
    "steps": Item("The three step rules side by side", units, summary, draw),
}
