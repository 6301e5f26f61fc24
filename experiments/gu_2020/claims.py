"""What Gu et al. 2020 state about the concise formulation and its asynchronous solvers, measured on small problems."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import authors, datasets
from experiments.coordinate_descent import disorder, last_change_at_bounds
from experiments.measures import Figures, halves, item, random_ranks
from ordsvm import GCD, SMO, SVOR, SVOREX, SVORIM, AsyAGCD, AsyGCD, AsyORGCD
from ordsvm.formulations import svor
from ordsvm.kernels import RBF
from ordsvm.solvers import Control, KernelMatrix, solve

SETS = ("california_housing", "abalone", "winequality-red")  # those of the benchmark asy-order


def _first(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    return datasets.ordinal(name, None if name == "winequality-red" else n)


def extended_kernel(quick: bool) -> Figures:
    """K + J of 5 ranks on 30 standard normal points, RBF gamma 0.5, repeated once for each of 4 thresholds."""
    lowest, ranks = np.inf, []
    for seed in range(5 if quick else 50):
        X = np.random.default_rng(seed).normal(size=(30, 3))
        K = np.kron(np.ones((4, 4)), RBF(0.5)(X, X))
        J = np.kron(np.eye(4), np.ones((30, 30)))
        values = np.linalg.eigvalsh(K + J)
        lowest = min(lowest, float(values[0] / values[-1]))
        ranks.append(int(np.linalg.matrix_rank(K + J, hermitian=True)))
    return {
        "lowest eigenvalue of K + J, relative to the largest": lowest,
        "rank of J": int(np.linalg.matrix_rank(J, hermitian=True)),
        "largest rank of K + J": max(ranks),
        "order of both": len(J),
    }


def ordered_at_the_end(quick: bool) -> Figures:
    """SVOR on random problems (40 samples, 4 ranks of random sizes) at C = 0.01, 1 and 100, RBF gamma 0.5, tol 1e-6."""
    steps = []
    for seed in range(10 if quick else 200):
        X, y = random_ranks(seed)
        for C in (0.01, 1.0, 100.0):
            steps.append(float(np.diff(SVOR(C=C, gamma=0.5, tol=1e-6).fit(X, y).thresholds_).min()))
    return {"problems": len(steps), "lowest difference of neighbouring thresholds": min(steps)}


def fixed_at_bounds(quick: bool) -> Figures:
    """GCD on SVOR, 300 rows of abalone and winequality-red, C = 1, RBF gamma 1/columns, tol 1e-6."""
    figures = {}
    for name in ("abalone",) if quick else ("abalone", "winequality-red"):
        X, y = datasets.ordinal(name, 300)
        problem = svor(y, int(y.max()) + 1, 1.0)
        rows = RBF(1 / X.shape[1]).rows(X)
        figures[f"{name}: share of the run after which bounded variables stay"] = last_change_at_bounds(
            problem, rows, GCD(precision="float64")
        )
    return figures


def one_thread(quick: bool) -> Figures:
    """The runs of the benchmark asy-order (C = 10, tol 1e-3, b = -gamma) with one thread: where disorder ends."""
    figures = {}
    for name in SETS[:1] if quick else SETS:
        X, y = _first(name, 300 if quick else 1000)
        problem, rows = svor(y, int(y.max()) + 1, 10.0), RBF(1 / X.shape[1]).rows(X)
        for solver in (GCD(), AsyGCD(), AsyAGCD()):
            steps = solve(problem, KernelMatrix(rows, 500.0), solver, Control(n_threads=1)).result.n_iter
            control = Control(n_threads=1, report_every=max(1, steps // 100))
            history = solve(problem, KernelMatrix(rows, 500.0), solver, control).result.history
            share, last = disorder(history)
            figures[f"{name}, {solver.name}: share of ordered looks"] = share
            figures[f"{name}, {solver.name}: place of the last disorder in the run"] = last
    return figures


def few_kernel_rows(quick: bool) -> Figures:
    """Rows of K that GCD computes for the 4n hinges of SVOR, all of K fitting the cache: california, C = 1."""
    n = 500 if quick else 4000
    X, y = datasets.ordinal("california_housing", n)
    problem = svor(y, 5, 1.0)
    result = solve(problem, KernelMatrix(RBF(0.5).rows(X), 500.0), GCD(), Control(n_threads=1)).result
    return {"hinges / samples": len(problem.hinges) / n, "rows of K computed / samples": result.kernel_rows / n}


def generalisation(quick: bool) -> Figures:
    """Test errors of SVOR, SVORIM and SVOREX: 10 partitions, 500 training rows, C and gamma by 5 folds of each.

    C in {0.1, 1, 10, 100}, gamma in {0.1, 1, 10}/columns. The distance of SVOR's mean error from those of the other
    two is given in units of the larger standard deviation of the two over the partitions.
    """
    names = ("machine_cpu",) if quick else ("california_housing", "abalone", "cpu_act", "census_house16h", "mq2008")
    figures = {}
    for name in names:
        X, y = _ranking(name) if name == "mq2008" else datasets.ordinal(name)
        errors = {kind.__name__: _errors(kind, X, y, 2 if quick else 10) for kind in (SVOR, SVORIM, SVOREX)}
        for place, error in enumerate(("mae", "mze")):
            mean = {kind: float(found[place].mean()) for kind, found in errors.items()}
            spread = {kind: float(found[place].std(ddof=1)) for kind, found in errors.items()}
            for kind in ("SVORIM", "SVOREX"):
                distance = abs(mean["SVOR"] - mean[kind]) / max(spread["SVOR"], spread[kind], 1e-12)
                figures[f"{name}, {error}: distance of SVOR from {kind}, in standard deviations"] = distance
            figures[f"{name}, {error} of SVOR"] = mean["SVOR"]
    distances = [value for key, value in figures.items() if "distance" in key]
    return figures | {"largest distance": max(distances)}


def _ranking(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.svmlight(name)
    order = np.random.default_rng(0).permutation(len(y))
    return datasets.standardised(X.toarray())[order], y[order].astype(np.int64)


def _errors(kind: type, X: np.ndarray, y: np.ndarray, partitions: int) -> np.ndarray:
    from sklearn.model_selection import GridSearchCV

    width = X.shape[1]
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1 / width, 1 / width, 10 / width]}
    errors = []
    n_training = min(500, len(y) // 2)
    for seed in range(partitions):
        X_train, y_train, X_test, y_test = halves(X, y, seed, n_training)
        search = GridSearchCV(kind(n_threads=1), grid, scoring="neg_mean_absolute_error", cv=5)
        wrong = np.abs(search.fit(X_train, y_train).predict(X_test) - y_test)
        errors.append((wrong.mean(), (wrong > 0).mean()))
    return np.transpose(errors)


def seconds_against_smo(quick: bool) -> Figures:
    """california, 3,000 rows, 5 ranks, C = 1 and 10, gamma 0.5, tol 1e-3, one thread: CPU seconds, the lower of two.

    SMO on SVORIM and SVOREX is this library's, with the most violating pair, over each solver on SVOR.
    """
    X, y = datasets.ordinal("california_housing", 300 if quick else 3000)
    figures = {}
    for C in (1.0, 10.0):
        options: dict[str, Any] = {"C": C, "gamma": 0.5, "cache_size": 500, "n_threads": 1}
        slow = {kind.__name__: kind(solver=SMO(selection="mvp"), **options) for kind in (SVORIM, SVOREX)}
        fast = {kind.__name__: SVOR(solver=kind(), **options) for kind in (AsyGCD, AsyAGCD, AsyORGCD)}
        seconds = {name: min(_cpu_seconds(model, X, y) for _ in range(2)) for name, model in (slow | fast).items()}
        for peer in slow:
            for name in fast:
                figures[f"C = {C:g}: seconds of {peer} by SMO / of {name}"] = seconds[peer] / seconds[name]
    return figures


def seconds_against_authors(quick: bool) -> Figures:
    """california, 2,000 rows, 5 ranks, C = 1 and 10, gamma 0.5, tol 1e-3, one thread: CPU seconds, the lower of two.

    Chu & Keerthi's own program (skordinal) on SVORIM and SVOREX, over each solver on SVOR.
    """
    X, y = datasets.ordinal("california_housing", 300 if quick else 2000)
    figures = {}
    for C in (1.0, 10.0):
        options: dict[str, Any] = {"C": C, "gamma": 0.5, "cache_size": 500, "n_threads": 1}
        slow = {kind: authors.estimator(kind, C, 0.5, 1e-3) for kind in ("SVORIM", "SVOREX")}
        fast = {kind.__name__: SVOR(solver=kind(), **options) for kind in (AsyGCD, AsyAGCD)}
        seconds = {name: min(_cpu_seconds(model, X, y) for _ in range(2)) for name, model in (slow | fast).items()}
        for peer in slow:
            for name in fast:
                figures[f"C = {C:g}: seconds of the authors' {peer} / of {name}"] = seconds[peer] / seconds[name]
    return figures


def _cpu_seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    began = time.process_time()
    model.fit(X, y)
    return time.process_time() - began


def fluctuation(quick: bool) -> Figures:
    """Test MAE on the way, predicted with the dual's b = -gamma: 400 training rows, C = 1, gamma 1/columns, 2 threads.

    A run is ended after 1 % of the steps of a full one, and after 11 more numbers up to 100 % in equal ratios. Rises
    are those of the MAE from one look to the next, added up; california and abalone (5 ranks), 1,000 test rows each.
    """
    figures = {}
    n, shares = (100, (0.1, 1.0)) if quick else (400, tuple(np.logspace(-2, 0, 12)))
    for name in ("abalone",) if quick else ("california_housing", "abalone"):
        X, y = datasets.ordinal(name, n + 1000)
        problem, kernel = svor(y[:n], 5, 1.0), RBF(1 / X.shape[1])
        rows, cross = kernel.rows(X[:n]), kernel(X[n:], X[:n])
        for solver in (AsyGCD(), AsyAGCD(), AsyORGCD()):
            steps = solve(problem, KernelMatrix(rows, 100.0), solver, Control(n_threads=2)).result.n_iter
            errors = []
            for share in shares:
                control = Control(n_threads=2, max_iter=max(1, int(steps * share)))
                alpha = solve(problem, KernelMatrix(rows, 100.0), solver, control).result.alpha
                score, b = cross @ problem.beta(alpha), -problem.gamma(alpha)
                errors.append(float(np.abs((score[:, None] > b).sum(axis=1) - y[n:]).mean()))
            figures[f"{name}, {solver.name}: rises of the MAE, added up"] = float(np.maximum(0, np.diff(errors)).sum())
            figures[f"{name}, {solver.name}: MAE at the end"] = errors[-1]
    return figures


ITEM = item(
    "claims about the concise formulation and the asynchronous solvers",
    "Random problems (experiments/measures.py), and real sets that the protocol of each measurement names.",
    (
        extended_kernel,
        ordered_at_the_end,
        fixed_at_bounds,
        one_thread,
        few_kernel_rows,
        generalisation,
        seconds_against_smo,
        *((seconds_against_authors,) if find_spec("skordinal") else ()),
        fluctuation,
    ),
)
