"""Seconds of the asynchronous solvers by numbers of threads: the speed-up that Gu et al. (2020) speak of."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import solver_cases
from experiments import asynchronous, drawing
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm import AsyAGCD, AsyGCD, AsyORGCD

SOLVERS = {"AsyGCD": AsyGCD(), "AsyAGCD": AsyAGCD(), "AsyORGCD": AsyORGCD(), "atomic AsyGCD": AsyGCD(sharing="atomic")}
CASES = {"california": ("AsyGCD", "AsyAGCD", "AsyORGCD", "atomic AsyGCD"), "a9a": ("AsyGCD", "AsyAGCD")}
ROWS = {"california": 8000, "a9a": 16000}
SLOW = ("AsyORGCD", "atomic AsyGCD")  # last
LIMIT = 8.0  # seconds of a run
DATA = (
    "california: the first 8,000 rows of california_housing, 5 ranks of equal frequency, standardised, SVOR, C = 1, "
    "RBF gamma 0.5. a9a: its first 16,000 rows, C-SVC with a penalised intercept, C = 1, RBF gamma 1/123."
)
PROTOCOL = (
    "One run a count, one at a time, from zero with an empty cache of 2,000 MB, tol 1e-3, at most "
    f"{LIMIT:g} seconds; seconds of the wall clock. 'atomic': additions to a shared gradient as the paper prints them, "
    "in place of a log of steps."
)


def run(name: str, method: str, threads: int, n: int) -> Outcome:
    case = solver_cases.box_problem(name, n)
    began = time.perf_counter()
    result = case.solve(SOLVERS[method], threads, tol=1e-3, time_limit=LIMIT)
    seconds = time.perf_counter() - began
    return {"whole": seconds, "steps": result.n_iter, "status": result.status, "relative_gap": result.relative_gap}


def _key(name: str, method: str, threads: int) -> str:
    return f"threads/{name}/{method}/{threads}"


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for name, methods in CASES.items():
        for method in methods:
            for threads in asynchronous.COUNTS:
                if threads > asynchronous.own_threads() or (scope.quick and threads > 1):
                    continue
                n = 300 if scope.quick else ROWS[name]
                about = {"name": name, "method": method, "threads": threads, "n": n}
                yield Unit(_key(name, method, threads), run, about, (int(method in SLOW),), 5.0)


def summary(done: Records, scope: Scope) -> Outcome:
    cells: list[Outcome] = []
    seconds: dict[str, dict[int, float]] = {}
    for name, methods in CASES.items():
        for method in methods:
            found = {t: done[k] for t in asynchronous.COUNTS if (k := _key(name, method, t)) in done}
            ended = {t: o for t, o in found.items() if o["status"] == "converged"}
            about = {"dataset": name, "method": method}
            for threads, outcome in found.items():
                value = outcome["whole"] if threads in ended else f"more than {outcome['whole']:.3g}"
                cells.append(about | {"metric": f"seconds, {threads} threads", "value": value})
                if 1 in ended and threads > 1 and threads in ended:
                    ratio = ended[1]["whole"] / outcome["whole"]
                    cells.append(about | {"metric": f"speed-up, {threads} threads", "value": ratio})
                    steps = outcome["steps"] / ended[1]["steps"]
                    cells.append(
                        about | {"metric": f"steps over those of one thread, {threads} threads", "value": steps}
                    )
            if ended:
                seconds[f"{name}, {method}"] = {t: o["whole"] for t, o in ended.items()}
    return {"data": DATA, "protocol": PROTOCOL, "cells": cells, "_seconds": seconds}


def draw(found: Outcome, path: Path) -> None:
    names = list(dict.fromkeys(label.split(", ")[0] for label in found["_seconds"]))

    def plot(axes: np.ndarray) -> None:
        for axis, name in zip(axes[0], names, strict=True):
            for label, own in found["_seconds"].items():
                if label.startswith(name):
                    axis.loglog(list(own), list(own.values()), "o-", base=2, label=label.split(", ")[1])
            axis.set(title=name, xlabel="threads", ylabel="seconds")
            axis.legend(fontsize=8)

    if names:
        drawing.save(path, plot, (1, len(names)), (4.5, 3.4))


ITEMS = {"threads": Item("Seconds by threads", units, summary, draw, alone=True)}
