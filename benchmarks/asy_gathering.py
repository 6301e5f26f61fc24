"""AsyORGCD with and without its gathering step: its steps against GCD's, and the order of the thresholds on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.results import Row, row
from benchmarks.solver_cases import Case

SETS = ("california_housing", "abalone", "winequality-red")
DATA = (
    "california_housing and abalone: first 1000 rows after pandas' sample(frac=1, random_state=0), 5 equal-frequency "
    "ranks; winequality-red: its 6 ranks, 1599 rows; standardised columns. SVOR, C = 1, RBF gamma 1/features, tol "
    "1e-3, at most 50 times the steps of GCD. Thresholds are looked at every 1 % of these. Steps are deterministic."
)
LIMIT = 50  # times GCD's steps


def run(quick: bool) -> list[Row]:
    """Nothing is bounded: the paper's algorithm is to be looked at, not enforced."""
    sets, threads = (SETS[:1], (2,)) if quick else (SETS, (2, 4, 8))
    return [made for name in sets for made in _rows(name, threads)]


def _rows(name: str, threads: tuple[int, ...]) -> list[Row]:
    from ordsvm.formulations import svor
    from ordsvm.kernels import RBF
    from ordsvm.solvers import GCD

    X, y = datasets.ordinal(name, None if name == "winequality-red" else 1000)
    case = Case(name, svor(y, int(y.max()) + 1, 1.0), RBF(1 / X.shape[1]), X, y)
    alone = case.solve(GCD()).n_iter
    return [_row(case, alone, n_threads, gathering) for n_threads in threads for gathering in (True, False)]


def _row(case: Case, alone: int, n_threads: int, gathering: bool) -> Row:
    from ordsvm.solvers import AsyORGCD

    limits: dict[str, Any] = {"max_iter": LIMIT * alone, "report_every": LIMIT * alone // 100}
    result = case.solve(AsyORGCD(gathering=gathering), n_threads, **limits)
    ordered = [bool(np.all(np.diff(progress.thresholds) >= 0)) for progress in result.history]
    return row(
        f"{case.name}, {n_threads} threads, {'gathering' if gathering else 'as printed'}: steps of AsyORGCD / of GCD",
        result.n_iter / alone,
        status=result.status,
        relative_gap=result.relative_gap,
        steps_of_gcd=alone,
        ordered_looks=float(np.mean(ordered)) if ordered else None,
        looks=len(ordered),
    )
