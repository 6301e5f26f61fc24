"""Findings of ordsvm.diagnose on twenty data sets, as someone would first try them: raw columns, default parameters."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.datasets import ORDINAL, REGRESSION, table
from benchmarks.results import Row, row
from ordsvm import SVOR, LinearSVOR, diagnose
from ordsvm.datasets import equal_frequency_ranks

DATA = (
    "Up to 2,000 rows of every set, in an order drawn at random, columns as they are in the file, nominal ones as one "
    "0/1 column a value, medians for missing cells; five equally frequent ranks of a regression's target, or the set's "
    "own ranks. The figure is the number of findings."
)
# fmt: off
SETS = (
    "winequality-red", "car", "ERA", "ESL", "LEV", "SWD", "balance-scale", "tae", "toy", "newthyroid", "eucalyptus",
    "automobile", "abalone", "boston_housing", "machine_cpu", "cpu_act", "california_housing", "bank32nh", "auto_mpg",
    "wisconsin",
)
# fmt: on
ROWS = SETS
MOST_ROWS = 2000


def run(quick: bool, names: list[str] | None = None) -> list[Row]:
    chosen = [name for name in SETS if names is None or any(name.startswith(part) for part in names)]
    return [made for name in chosen[: 2 if quick else None] for made in of_set(name)]


def of_set(name: str) -> list[Row]:
    X, y = data(name)
    made = []
    for model in (SVOR(), LinearSVOR()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = diagnose(model.fit(X, y), X, y)
        named = ", ".join(found.names) or "nothing"
        detail = {finding.name: str(finding) for finding in found}
        made.append(row(f"{name}, {type(model).__name__}: {named}", len(found), findings=detail))
    return made


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    assert name in REGRESSION | ORDINAL
    X, target = table(name)
    y = equal_frequency_ranks(target, 5) if name in REGRESSION else target.astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[order], y[order]
