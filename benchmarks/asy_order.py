"""How often are the thresholds in order on the way? (Gu et al. 2020, Figure 2: with AsyORGCD always, else not.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.results import Row, row
from benchmarks.solver_cases import Case

SETS = ("california_housing", "abalone", "winequality-red")
DATA = (
    "california_housing and abalone: first 1000 rows after pandas' sample(frac=1, random_state=0), 5 equal-frequency "
    "ranks; winequality-red: its 6 ranks, 1599 rows; standardised columns. SVOR, C = 10, RBF gamma 1/features, tol "
    "1e-3. A snapshot every 1 % of the steps of a first run with the same settings, over the whole run; a snapshot "
    "counts as ordered if b_1 <= ... <= b_m, for the papers' b = -gamma."
)


def run(quick: bool) -> list[Row]:
    """Shares of ordered snapshots; nothing is bounded: the paper's claim is to be looked at, not enforced."""
    sets, threads = (SETS[:1], (2,)) if quick else (SETS, (2, 4))
    return [
        _share(name, kind, n_threads, partition)
        for name in sets
        for n_threads in threads
        for partition in ("sample", "threshold")
        for kind in ("AsyGCD", "AsyAGCD", "AsyORGCD")
    ]


def _share(name: str, kind: str, n_threads: int, partition: str) -> Row:
    from ordsvm import solvers
    from ordsvm.formulations import svor
    from ordsvm.kernels import RBF

    X, y = datasets.ordinal(name, None if name == "winequality-red" else 1000)
    case = Case(name, svor(y, int(y.max()) + 1, 10.0), RBF(1 / X.shape[1]), X, y)
    solver: Any = getattr(solvers, kind)(partition=partition)
    steps = case.solve(solver, n_threads, time_limit=60.0).n_iter
    result = case.solve(solver, n_threads, time_limit=60.0, report_every=max(1, steps // 100))
    ordered = [bool(np.all(np.diff(progress.dual_thresholds) >= 0)) for progress in result.history]
    return row(
        f"{name}, {kind}, {n_threads} threads, partition by {partition}: share of ordered snapshots",
        float(np.mean(ordered)) if ordered else float("nan"),
        snapshots=len(ordered),
        steps=result.n_iter,
        status=result.status,
        seconds=result.seconds,
        last_disorder=max((p.n_iter for p, fine in zip(result.history, ordered, strict=True) if not fine), default=0),
    )
