"""Figure 6 of Chu & Keerthi (2007): retrieval, 20 to 60 rows of a query for training, linear kernel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks import datasets
from experiments import drawing
from experiments.chu_keerthi_2007 import protocol
from experiments.chu_keerthi_2007.protocol import Part
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm.search.grids import COARSE

METHODS = ("SVR", "EXC", "IMC")
SIZES = (20, 30, 40, 50, 60)
REPEATS, BATCH = 100, 25
LATE = (0, 10, 5, 10)  # after the smaller sets of Table 3 (tables.Column.urgency)
LEAST_ROWS, LEAST_OF_A_RANK = 100, 10
DATA = (
    "ohsumed_part (LETOR's part of OHSUMED): the queries with at least 100 rows and 10 of each rank. Other queries "
    "than the paper's query 1, and 45 features of LETOR, standardised by the training rows, in place of 462 terms."
)
PROTOCOL = (
    "The paper's: a random training part of 20 to 60 rows with all three ranks, the rest for testing, 100 repeats, "
    "linear kernel. The paper does not say how C was chosen: here by 3 stratified folds of the training rows, log10 C "
    "from -3 to 3, zero-one or absolute error each for its own column. Cells are means over all queries and repeats."
)


@lru_cache(maxsize=1)
def queries() -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """The rows and ranks 0, 1, 2 of every query that has enough of them."""
    file = datasets.data_folder() / "ohsumed_part" / "train.svm.gz"
    if not file.is_file():
        raise datasets.DataMissing("The data folder has no file ohsumed_part/train.svm.gz.")
    X, y, query = load_svmlight_file(str(file), n_features=45, query_id=True)
    found = {}
    for number in np.unique(query):
        own = query == number
        counts = np.bincount(y[own].astype(int), minlength=3)
        if counts.sum() >= LEAST_ROWS and counts.min() >= LEAST_OF_A_RANK:
            found[int(number)] = (X[own].toarray(), y[own].astype(np.int64))
    return found


def parts(query: int, size: int, repeat: int) -> tuple[Part, Part]:
    """A random training part with two rows of every rank at least, and the rest."""
    X, y = queries()[query]
    for attempt in range(1000):
        order = np.random.default_rng([6, query, size, repeat, attempt]).permutation(len(y))
        training, test = order[:size], order[size:]
        if np.bincount(y[training], minlength=3).min() >= 2:
            break
    deviation = X[training].std(axis=0)
    X = (X - X[training].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return Part(X[training], y[training], 3), Part(X[test], y[test], 3)


def repeats(query: int, size: int, method: str, first: int) -> Outcome:
    """Both errors of some repeats, each with the C that has the least of it on the folds."""
    found: dict[str, list[float]] = {metric: [] for metric in protocol.METRICS}
    for repeat in range(first, first + BATCH):
        training, test = parts(query, size, repeat)
        grid = {"C": [10.0**exponent for exponent in COARSE], "kernel": ["linear"]}
        table = protocol.errors_on_grid(method, training, grid, protocol.folds_of(training, repeat, 3))
        for metric in protocol.METRICS:
            point = protocol.best_point(table, metric)
            found[metric].append(protocol.test_errors(method, point, training, test)[metric])
    return found


def _key(query: int, size: int, method: str, first: int) -> str:
    return f"figure6/{query}/{size}/{method}/{first}"


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for first in range(0, BATCH if scope.quick else REPEATS, BATCH):
        for query in list(queries())[: 1 if scope.quick else None]:
            for size in (20,) if scope.quick else SIZES:
                for method in METHODS:
                    about = {"query": query, "size": size, "method": method, "first": first}
                    yield Unit(_key(query, size, method, first), repeats, about, (*LATE, first, query), 4.0)


def summary(done: Records, scope: Scope) -> Outcome:
    values = {(size, m): _values(done, size, m) for size in SIZES for m in METHODS}
    cells = [
        {"dataset": f"{size} rows", "method": method, "metric": metric, "value": float(np.mean(found[metric]))}
        | {"sd": float(np.std(found[metric], ddof=1)), "trials": len(found[metric])}
        for metric in protocol.METRICS
        for (size, method), found in values.items()
        if found[metric]
    ]
    boxes = {f"{size}/{method}": found for (size, method), found in values.items() if found["mae"]}
    return {
        "data": DATA,
        "protocol": PROTOCOL,
        "cells": cells,
        "quartiles": {k: _quartiles(v) for k, v in boxes.items()},
    }


def _values(done: Records, size: int, method: str) -> dict[str, list[float]]:
    """The mean over all queries of every repeat's errors would hide their spread: all are kept."""
    keys = [_key(q, size, method, first) for q in queries() for first in range(0, REPEATS, BATCH)]
    return {m: [value for key in keys if key in done for value in done[key][m]] for m in protocol.METRICS}


def _quartiles(found: dict[str, list[float]]) -> dict[str, list[float]]:
    return {
        metric: [float(q) for q in np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])]
        for metric, values in found.items()
    }


def draw(found: Outcome, path: Path) -> None:
    def plot(axes: np.ndarray) -> None:
        for axis, metric in zip(axes[0], protocol.METRICS, strict=True):
            boxes = [_box(name, quartiles[metric]) for name, quartiles in found["quartiles"].items()]
            axis.bxp(boxes, showfliers=False)
            axis.tick_params(axis="x", labelsize=7, rotation=60)
            axis.set(title=metric)
            axis.grid(axis="y", alpha=0.3)

    drawing.save(path, plot, (1, 2), (5.5, 3.8))


def _box(name: str, five: list[float]) -> dict[str, object]:
    low, lower, median, upper, high = five
    return {"label": name, "whislo": low, "q1": lower, "med": median, "q3": upper, "whishi": high, "fliers": []}


ITEM = Item("OHSUMED, linear kernel, 20 to 60 training rows", units, summary, draw)
