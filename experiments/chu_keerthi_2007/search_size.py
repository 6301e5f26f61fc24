"""How the errors of Table 2 depend on the rows that the search for C and kappa sees, on sets that are tuned once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments.chu_keerthi_2007 import protocol
from experiments.chu_keerthi_2007.protocol import METRICS, Part
from experiments.items import Item, Outcome, Records, Scope, Unit
from experiments.results import expected
from experiments.sides import DEVIATIONS

PAPER = "chu_keerthi_2007"
BINS = 5
SETS = ("california", "census", "bank")
METHODS = ("EXC", "IMC", "SVR")
ROWS = (500, 1000)
TRIALS = 3
LATE = (0, 10, 5, 9)  # after the smaller sets of Table 3 (tables.Column.urgency)
DATA = "california, census and bank as in table2."
PROTOCOL = (
    "As table2, but for the rows of the search: the first 500 or 1,000 training rows of the first partition. With the "
    f"parameters found there all training rows of {TRIALS} partitions are used. Counted are the cells of EXC and IMC "
    "within two of the paper's standard deviations. Not an experiment of the paper: a test of the conjecture that its "
    "search on larger sets was a smaller one."
)


def trials(name: str, method: str, rows: int, n_trials: int) -> Outcome:
    """Parameters by a search among a few training rows, and the errors of whole trials with them."""
    training, _ = protocol.partition(name, BINS, 0)
    points = protocol.search(method, Part(training.X[:rows], training.y[:rows], training.n_ranks), 0)
    found = [protocol.trial_at(name, BINS, method, trial, points) for trial in range(n_trials)]
    return {m: {"point": points[m], "errors": [trial[m][m] for trial in found]} for m in METRICS}


def _key(name: str, method: str, rows: int) -> str:
    return f"search_size/{name}/{method}/{rows}"


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for rows in (60,) if scope.quick else ROWS:
        for name in SETS[-1:] if scope.quick else SETS:
            for method in METHODS[:1] if scope.quick else METHODS:
                about = {"name": name, "method": method, "rows": rows, "n_trials": 1 if scope.quick else TRIALS}
                yield Unit(_key(name, method, rows), trials, about, (*LATE, rows), 30.0)


def summary(done: Records, scope: Scope) -> Outcome:
    paper = {(c["dataset"], c["method"], c["metric"]): c for c in expected(PAPER)["items"]["table2"]["cells"]}
    cells: list[Outcome] = []
    for rows in ROWS:
        for name in SETS:
            own = {method: done[k] for method in METHODS if (k := _key(name, method, rows)) in done}
            within = []
            for method, outcome in own.items():
                for metric in METRICS:
                    value, theirs = float(np.mean(outcome[metric]["errors"])), paper[name, method, metric]
                    point = outcome[metric]["point"]
                    cell = {"dataset": name, "method": method, "metric": f"{metric}, {rows} rows searched"}
                    chosen = {"C": point["C"], "kappa": 2 * point["gamma"], "paper": theirs["value"]}
                    cells.append(cell | {"value": value, "trials": len(outcome[metric]["errors"])} | chosen)
                    if method != "SVR":
                        within.append(abs(value - theirs["value"]) <= DEVIATIONS * theirs["sd"])
            if len(own) == len(METHODS):
                metric = f"cells of EXC and IMC within two deviations, {rows} rows searched"
                cells.append({"dataset": name, "metric": metric, "value": sum(within)})
    return {"data": DATA, "protocol": PROTOCOL, "cells": cells}


ITEM = Item("Errors by the rows that the search for C and kappa sees", units, summary)
