"""The picture of Figure 2 of Gu et al. (2020): thresholds on the way, with each of the asynchronous solvers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.solver_cases import Case
from experiments import drawing
from experiments.gu_2020.figures import PRINTED, SOLVERS, THREADS, samples
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm import AsyORGCD
from ordsvm.formulations import svor
from ordsvm.kernels import RBF

NAME, ROWS = "lightgbm_rank", 2400
C, LIMIT, LOOKS = 10.0, 20.0, 100
METHODS = (*SOLVERS, PRINTED)
DATA = f"{NAME}, 80 % of {ROWS:,} rows as in figure3, five grades of relevance. The paper's MSLR is not available."
PROTOCOL = (
    f"SVOR, C = {C:g}, RBF gamma 1 / features, tol 1e-3, {THREADS} threads, at most {LIMIT:g} seconds a run. A look "
    f"every {100 // LOOKS} % of the steps of a first run; thresholds are the paper's b = -gamma of the dual, mapped to "
    "[-1, 1] by the largest of all runs."
)


def trace(method: str, n: int) -> Outcome:
    X, y, _, _ = samples(NAME, 0, n)
    case = Case(NAME, svor(y, int(y.max()) + 1, C), RBF(1 / X.shape[1]), X, y)
    solver = AsyORGCD(gathering=False) if method == PRINTED else SOLVERS[method]
    steps = case.solve(solver, THREADS, tol=1e-3, time_limit=LIMIT).n_iter
    result = case.solve(solver, THREADS, tol=1e-3, time_limit=LIMIT, report_every=max(1, steps // LOOKS))
    looks = [[look.n_iter, *map(float, look.dual_thresholds)] for look in result.history]
    return {"looks": looks, "status": result.status, "steps": result.n_iter}


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for method in METHODS[:1] if scope.quick else METHODS:
        yield Unit(f"path/{method}", trace, {"method": method, "n": 300 if scope.quick else ROWS}, cost=10.0)


def summary(done: Records, scope: Scope) -> Outcome:
    runs = {method: done[f"path/{method}"] for method in METHODS if f"path/{method}" in done}
    cells: list[Outcome] = []
    for method, run in runs.items():
        ordered = [bool(np.all(np.diff(look[1:]) >= 0)) for look in run["looks"]]
        late = [look[0] for look, fine in zip(run["looks"], ordered, strict=True) if not fine]
        about = {"dataset": NAME, "method": method}
        cells.append(about | {"metric": "share of ordered looks", "value": float(np.mean(ordered))})
        cells.append(about | {"metric": "last disorder / steps", "value": max(late, default=0) / run["steps"]})
        cells.append(about | {"metric": "converged", "value": str(run["status"] == "converged")})
    return {"data": DATA, "protocol": PROTOCOL, "cells": cells, "_runs": runs}


def draw(found: Outcome, path: Path) -> None:
    runs = found["_runs"]
    largest = max(abs(value) for run in runs.values() for look in run["looks"] for value in look[1:])

    def plot(axes: np.ndarray) -> None:
        for axis, (method, run) in zip(axes[0], runs.items(), strict=True):
            looks = np.array(run["looks"])
            for number in range(1, looks.shape[1]):
                axis.plot(looks[:, 0], looks[:, number] / largest, lw=1, label=f"b{number}")
            axis.set(title=method, xlabel="steps", ylim=(-1.05, 1.05))
            axis.tick_params(labelsize=8)
        axes[0, 0].set_ylabel("thresholds / the largest")
        axes[0, 0].legend(fontsize=7)

    drawing.save(path, plot, (1, len(runs)), (3.2, 2.8))


ITEMS = {"figure2_path": Item("Figure 2: thresholds on the way", units, summary, draw, alone=True)}
