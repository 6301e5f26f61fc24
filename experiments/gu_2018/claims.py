"""What Gu et al. 2018 state about active sets in asynchronous coordinate descent, measured on small problems."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.solver_cases import Case, box_problem
from experiments.coordinate_descent import last_change_at_bounds
from experiments.gu_2018.algorithm2 import accelerated_descent
from experiments.measures import Figures, item
from ordsvm import GCD, SVC, SVR, AsyAGCD, AsyGCD
from ordsvm.formulations import svc, svr
from ordsvm.kernels import RBF
from ordsvm.problem import Treatment

LIBSVM_SETS = ("a9a", "ijcnn1", "skin_nonskin", "california_housing", "cpu_act", "census_house16h")


def _classes(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Dense rows, from 0 to 1 as in the paper, and classes -1 and 1."""
    X, y = datasets.shuffled_svmlight(name)
    X = X[:n].toarray()
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.maximum(high - low, 1e-12), np.where(y[:n] == y.max(), 1.0, -1.0)


def fixed_at_bounds(quick: bool) -> Figures:
    """GCD on C-SVC with a penalised intercept, 400 rows of a9a and ijcnn1, C = 1, gamma 1/columns, tol 1e-6."""
    figures = {}
    for name in ("a9a",) if quick else ("a9a", "ijcnn1"):
        X, y = _classes(name, 400)
        share = last_change_at_bounds(
            svc(y, 1.0, Treatment.PENALIZED), RBF(1 / X.shape[1]).rows(X), GCD(precision="float64")
        )
        figures[f"{name}: share of the run after which bounded variables stay"] = share
    return figures


def iteration_counts(quick: bool) -> Figures:
    """Algorithm 2 in NumPy on 600 rows of a9a, ijcnn1 (C-SVC) and california (SVR, epsilon 0.1), C = 1, tol 1e-3.

    Shrinking every 100 steps, in the proportion of the paper's 10,000 to its numbers of samples.
    """
    n = 200 if quick else 600
    figures = {}
    for name in ("a9a", "ijcnn1", "california"):
        if name == "california":
            X, target = datasets.regression("california_housing", n)
            problem = svr(target, 0.1, 1.0, Treatment.PENALIZED)
        else:
            X, y = _classes(name, n)
            problem = svc(y, 1.0, Treatment.PENALIZED)
        _, counts = accelerated_descent(problem, RBF(1 / X.shape[1])(X, X), 1e-3, 100)
        total = counts.iter_total + counts.iter_inner
        figures[f"{name}: (IterTotal + IterInner) / GbarCount"] = total / max(1, counts.gbar_count)
        figures[f"{name}: GbarCount / IterOuter"] = counts.gbar_count / counts.iter_outer
        figures[f"{name}: lowest active set / all"] = min(counts.active) / len(problem.hinges)
        figures[f"{name}: mean active set / all"] = float(np.mean(counts.active)) / len(problem.hinges)
    return figures


def active_sets(quick: bool) -> Figures:
    """AsyAGCD with one thread, shrinking every n/2 steps, tol 1e-3, 8,000 rows of california (SVOR), a9a and ijcnn1.

    The share of hinges that are active, in the first and in the last quarter of the looks before all are taken back.
    """
    n = 500 if quick else 8000
    figures = {}
    for name in ("california", "a9a", "ijcnn1"):
        case = box_problem(name, n)
        result = case.solve(AsyAGCD(max_shrink_iter=n // 2), 1, report_every=max(1, n // 4))
        active = np.array([progress.n_active for progress in result.history]) / len(case.problem.hinges)
        quarter = max(1, len(active) // 4)
        figures[f"{name}: mean active share in the first quarter"] = float(active[:quarter].mean())
        figures[f"{name}: mean active share in the last quarter"] = float(active[-quarter:].mean())
        figures[f"{name}: lowest active share"] = float(active.min())
    return figures


def second_half(quick: bool) -> Figures:
    """AsyGCD and AsyAGCD, one thread, 8,000 rows of california (SVOR), a9a and ijcnn1, C = 1, tol 1e-3.

    CPU seconds of the second half of each one's steps: those of a run less those of a run that is ended half-way, the
    lower of two. Work is the sum of active hinges over these steps, the cost by Table 1. Shrinking every 10,000 steps
    as in the paper, and every 2,000.
    """
    n = 500 if quick else 8000
    figures = {}
    for name in ("a9a",) if quick else ("california", "a9a", "ijcnn1"):
        case = box_problem(name, n)
        plain_seconds, plain_work = _second_half(case, AsyGCD())
        for every in (10_000, 2_000):
            seconds, work = _second_half(case, AsyAGCD(max_shrink_iter=every))
            figures[f"{name}, shrinking every {every}: seconds of AsyGCD / of AsyAGCD"] = plain_seconds / seconds
            figures[f"{name}, shrinking every {every}: work of AsyGCD / of AsyAGCD"] = plain_work / work
    return figures


def _second_half(case: Case, solver: AsyGCD | AsyAGCD) -> tuple[float, float]:
    """CPU seconds, and active hinges summed over steps."""
    result = case.solve(solver, 1, report_every=200)
    steps = np.array([progress.n_iter for progress in result.history] + [result.n_iter])
    active = np.array([progress.n_active for progress in result.history] + [result.history[-1].n_active])
    half = steps > result.n_iter / 2
    work = float(np.sum(np.diff(np.append(result.n_iter / 2, steps[half])) * active[half]))
    seconds = min(_cpu_seconds(case, solver, -1) - _cpu_seconds(case, solver, result.n_iter // 2) for _ in range(2))
    return max(seconds, 1e-3), work


def _cpu_seconds(case: Case, solver: AsyGCD | AsyAGCD, max_iter: int) -> float:
    began = time.process_time()
    case.solve(solver, 1, max_iter=max_iter)
    return time.process_time() - began


def regression(quick: bool) -> Figures:
    """SVR with a penalised intercept, 3,000 rows of california and cpu_act, C = 1, epsilon 0.1, gamma 1/columns."""
    figures = {}
    for name in ("cpu_act",) if quick else ("california_housing", "cpu_act"):
        X, target = datasets.regression(name, 300 if quick else 3000)
        options = {"intercept": "penalized", "gamma": 1 / X.shape[1], "n_threads": 2, "cache_size": 500}
        exact = SVR(**options).fit(X, target).result_
        model = SVR(solver=AsyAGCD(), **options).fit(X, target).result_
        figures[f"{name}: relative gap of AsyAGCD"] = model.relative_gap
        figures[f"{name}: objective of AsyAGCD / of the block method, less 1"] = model.objective / exact.objective - 1
    return figures


def without_offset(quick: bool) -> Figures:
    """C-SVC, 4,000 rows, C = 1, gamma 1/columns, one thread: CPU seconds with an offset / without, by one solver.

    The block method, and Algorithm 1 of Manno et al. (`Decomposition`), tol 1e-3; the lower of two.
    """
    n = 500 if quick else 4000
    figures = {}
    for name in ("a9a",) if quick else ("a9a", "ijcnn1"):
        X, y = _classes(name, n)
        options = {"gamma": 1 / X.shape[1], "n_threads": 1, "cache_size": 1000}
        for solver in ("block", "decomposition"):
            models = {offset: SVC(intercept=offset, solver=solver, **options) for offset in ("free", "none")}
            seconds = {offset: min(_fit_seconds(m, X, y) for _ in range(2)) for offset, m in models.items()}
            figures[f"{name}, {solver}: seconds with an offset / without"] = seconds["free"] / seconds["none"]
    return figures


def against_libsvm(quick: bool) -> Figures:
    """CPU seconds of LIBSVM / of AsyGCD and AsyAGCD, one thread each: 4,000 rows from 0 to 1, C = 1, gamma 1/columns.

    C-SVC on a9a, ijcnn1 and skin_nonskin, SVR (epsilon 0.1, standardised target) on california, cpu_act and census;
    penalised intercepts of the asynchronous solvers, tol 1e-3, all of K fitting the cache.
    """
    from sklearn import svm

    n = 300 if quick else 4000
    figures: Figures = {}
    ours: Any
    for name in LIBSVM_SETS[:1] if quick else LIBSVM_SETS:
        if name in datasets.REGRESSION:
            X, y = datasets.regression(name, n)
            X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
            ours, peer = SVR, svm.SVR
        else:
            X, y = _classes(name, n)
            ours, peer = SVC, svm.SVC
        options = {"gamma": 1 / X.shape[1], "cache_size": 500}
        theirs = _fit_seconds(peer(**options), X, y)
        for solver in (AsyGCD(), AsyAGCD()):
            model = ours(intercept="penalized", solver=solver, n_threads=1, **options)
            ratio = theirs / _fit_seconds(model, X, y)
            figures[f"{name}: seconds of LIBSVM / of {type(solver).__name__}"] = ratio
    return figures


def _fit_seconds(model: SVC | SVR, X: np.ndarray, y: np.ndarray) -> float:
    began = time.process_time()
    model.fit(X, y)
    return time.process_time() - began


ITEM = item(
    "claims about active sets in asynchronous coordinate descent",
    "a9a and ijcnn1 (training part), california_housing and cpu_act; rows and parameters by the protocol of each.",
    (
        fixed_at_bounds,
        iteration_counts,
        active_sets,
        second_half,
        regression,
        without_offset,
        against_libsvm,
    ),
)
