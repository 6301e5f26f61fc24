"""What Manno, Palagi & Sagratella state about parallel decomposition, measured on small C-SVC problems."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks import datasets
from experiments.measures import Figures, item
from ordsvm import SMO, SVC, SVOREX, SVORIM, Decomposition, ParsmoCache, ParsmoLight
from ordsvm.kernels import RBF

C = 1.0


def _classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.shuffled_svmlight("a9a")
    return X[:n].toarray(), np.where(y[:n] > 0, 1.0, -1.0)


def _hessian(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = _classes(n)
    return np.outer(y, y) * RBF(1 / X.shape[1])(X, X), y


def _extremes(x: np.ndarray, G: np.ndarray, y: np.ndarray) -> tuple[int, int, float]:
    """The most violating pair and its violation m - M."""
    level = -G * y
    up = np.where(((x < C) & (y > 0)) | ((x > 0) & (y < 0)), level, -np.inf)
    low = np.where(((x < C) & (y < 0)) | ((x > 0) & (y > 0)), level, np.inf)
    i, j = int(np.argmax(up)), int(np.argmin(low))
    return i, j, float(up[i] - low[j])


def _pair_step(x: np.ndarray, G: np.ndarray, Q: np.ndarray, y: np.ndarray, pair: tuple[int, int]) -> float:
    """The exact step (10) along y_i, -y_j."""
    i, j = pair
    limit = min(C - x[i] if y[i] > 0 else x[i], x[j] if y[j] > 0 else C - x[j])
    curvature = Q[i, i] + Q[j, j] - 2 * y[i] * y[j] * Q[i, j]
    return float(min(-(G[i] * y[i] - G[j] * y[j]) / max(curvature, 1e-12), limit))


def most_violating_step(quick: bool) -> Figures:
    """S_MVP and the violation on the way of SMO with the most violating pair: 200 rows of a9a, C = 1, gamma 1/123.

    The index sets are perturbed by epsilon = 1e-6 as in section 6 and compared with the exact ones in every step.
    """
    Q, y = _hessian(100 if quick else 200)
    x, G = np.zeros(len(y)), -np.ones(len(y))
    lowest_ratio, S, violation, steps, last_difference = np.inf, np.inf, np.inf, 0, 0
    while True:
        i, j, violation = _extremes(x, G, y)
        step = _pair_step(x, G, Q, y, (i, j)) if violation > 0 else 0.0
        S = np.sqrt(2) * step
        if violation <= 1e-10 or steps == 200_000:
            break
        lowest_ratio = min(lowest_ratio, S / violation)
        if np.any((x > 0) & (x < 1e-6)) or np.any((x < C) & (x > C - 1e-6)):
            last_difference = steps
        x[i], x[j] = np.clip(x[i] + step * y[i], 0, C), np.clip(x[j] - step * y[j], 0, C)
        G += step * (y[i] * Q[i] - y[j] * Q[j])
        steps += 1
    return {
        "violation at the end": max(violation, 0.0),
        "S_MVP at the end": float(S),
        "lowest S_MVP / violation on the way": float(lowest_ratio),
        "place of the last difference of perturbed and exact index sets in the run": last_difference / max(1, steps),
    }


def summed_direction(quick: bool) -> Figures:
    """Theorem 1 at random feasible points of 200 rows of a9a: directions of 1 to 16 disjoint pairs.

    rho is the lowest eigenvalue of a pair's Hessian. Slack is -rho |d|^2 less grad f'd, which is not negative if (15)
    holds; feasible means that x + d is within the bounds and y'd = 0.
    """
    Q, y = _hessian(100 if quick else 200)
    rng = np.random.default_rng(0)
    slack, outside = np.inf, 0.0
    for _ in range(50 if quick else 2000):
        x = _feasible(rng, y)
        G, d, rho = Q @ x - 1, np.zeros(len(y)), np.inf
        chosen = rng.permutation(len(y))[: 2 * int(rng.integers(1, 17))].reshape(-1, 2)
        for i, j in chosen:
            if G[i] * y[i] - G[j] * y[j] > 0:
                i, j = j, i
            step = max(0.0, _pair_step(x, G, Q, y, (i, j)))
            d[i], d[j] = step * y[i], -step * y[j]
            rho = min(rho, float(np.linalg.eigvalsh(Q[np.ix_((i, j), (i, j))])[0]))
        slack = min(slack, float(-rho * (d @ d) - G @ d))
        outside = max(outside, abs(float(y @ d)), float(np.max(-(x + d))), float(np.max(x + d - C)))
    return {"lowest slack of (15)": slack, "largest distance from the feasible set": outside}


def _feasible(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """A random point of the box with y'x = 0; about a third of its coordinates lie at each bound."""
    x = np.clip(rng.uniform(-C, 2 * C, size=len(y)), 0, C)
    for sign in (1.0, -1.0):
        excess = float(y @ x) * sign
        if excess > 0:
            x[y == sign] *= 1 - excess / x[y == sign].sum()
    return x


def descent_blocks(quick: bool) -> Figures:
    """Theorems 5 and 6: the move of a block of 6 hinges that has the most violating pair, over S_MVP.

    Random feasible points of 200 rows of a9a; the subproblem (13) without a proximal term by 2,000 steps of pairs.
    """
    Q, y = _hessian(100 if quick else 200)
    rng = np.random.default_rng(0)
    lowest = np.inf
    for _ in range(10 if quick else 200):
        x = _feasible(rng, y)
        G = Q @ x - 1
        i, j, violation = _extremes(x, G, y)
        if violation <= 1e-9:
            continue
        block = np.array([i, j, *rng.choice(np.setdiff1d(np.arange(len(y)), (i, j)), 4, replace=False)])
        solution = _solve_block(x[block], G[block], Q[np.ix_(block, block)], y[block])
        S = np.sqrt(2) * _pair_step(x, G, Q, y, (i, j))
        lowest = min(lowest, float(np.linalg.norm(solution - x[block]) / S))
    return {"lowest move of a block / S_MVP": lowest}


def _solve_block(x: np.ndarray, G: np.ndarray, Q: np.ndarray, y: np.ndarray) -> np.ndarray:
    x, G = x.copy(), G.copy()
    for _ in range(2000):
        i, j, violation = _extremes(x, G, y)
        if violation <= 1e-10:
            break
        step = _pair_step(x, G, Q, y, (i, j))
        x[i], x[j] = np.clip(x[i] + step * y[i], 0, C), np.clip(x[j] - step * y[j], 0, C)
        G += step * (y[i] * Q[i] - y[j] * Q[j])
    return x


def step_rules(quick: bool) -> Figures:
    """Algorithm 1 by the solver Decomposition: 1,000 rows of a9a, C = 1, gamma 1/123, 10 subproblems of 100 hinges.

    tol 1e-3; exact, Armijo and diminishing steps (1 / k**0.3); sums of iterations and CPU seconds over 10 seeds of the
    random partition, the largest violation and gap.
    """
    X, y = _classes(200 if quick else 1000)
    size = max(20, len(y) // 10)
    figures: Figures = {}
    for step in ("exact", "armijo", "diminishing"):
        iterations, seconds, violation, gap = 0, 0.0, 0.0, 0.0
        for seed in range(1 if quick else 10):
            solver = Decomposition(step=step, block_size=size, partition="random", seed=seed)
            began = time.process_time()
            result = SVC(gamma=1 / 123, solver=solver, n_threads=1, max_iter=20_000, cache_size=500).fit(X, y).result_
            seconds += time.process_time() - began
            iterations += result.n_iter
            violation, gap = max(violation, result.violation), max(gap, result.relative_gap)
        figures |= {
            f"{step}: iterations": iterations,
            f"{step}: milliseconds of an iteration": 1000 * seconds / iterations,
            f"{step}: violation": violation,
            f"{step}: relative gap": gap,
        }
    fewest = min(figures[f"{step}: iterations"] for step in ("armijo", "diminishing"))
    figures["fewest iterations of the others / of exact"] = fewest / figures["exact: iterations"]
    times = {step: figures[f"{step}: milliseconds of an iteration"] for step in ("exact", "diminishing")}
    figures["milliseconds of a diminishing iteration / of an exact one"] = times["diminishing"] / times["exact"]
    return figures


def one_pair(quick: bool) -> Figures:
    """PARSMO with q = 1 and SMO with the most violating pair: a9a, C = 1, gamma 1/123, tol 1e-3, float64 rows."""
    X, y = _classes(300 if quick else 2000)
    options: dict[str, Any] = {"gamma": 1 / 123, "n_threads": 1, "cache_size": 500}
    smo = SVC(solver=SMO(selection="mvp", precision="float64"), **options).fit(X, y).result_
    parsmo = SVC(solver=ParsmoLight(q=1, precision="float64"), **options).fit(X, y).result_
    return {
        "iterations of q = 1 / of SMO": parsmo.n_iter / smo.n_iter,
        "relative difference of the objectives": abs(parsmo.objective / smo.objective - 1),
    }


def kernel_rows(quick: bool) -> Figures:
    """Rows of K an iteration, a cache of 500 rows, 6,000 rows of a9a: PARSMO light and cache, q = 8, and q = 1."""
    X, y = _classes(1000 if quick else 6000)
    cache = 500 * 4 * len(y) / 2**20
    figures = {}
    for name, solver in (
        ("q = 1", ParsmoLight(q=1)),
        ("light, q = 8", ParsmoLight(q=8)),
        ("cache, q = 8", ParsmoCache(q=8)),
    ):
        result = SVC(gamma=1 / 123, solver=solver, n_threads=1, cache_size=cache).fit(X, y).result_
        figures[f"{name}: rows of K an iteration"] = result.kernel_rows / result.n_iter
        figures[f"{name}: iterations"] = result.n_iter
    return figures


def several_constraints(quick: bool) -> Figures:
    """PARSMO light (q = 8) and Algorithm 1 on SVORIM and SVOREX: abalone, 1,000 rows, 5 and 10 ranks, C = 1 and 10.

    SVORIM has an equality for every threshold, SVOREX multipliers of the order besides. tol 1e-3.
    """
    worst, failed, runs = 0.0, 0, 0
    for bins in (5,) if quick else (5, 10):
        X, y = datasets.ordinal("abalone", 200 if quick else 1000, ranks=bins)
        for kind in (SVORIM, SVOREX):
            for cost in (1.0, 10.0):
                for solver in (ParsmoLight(q=8), Decomposition(block_size=200)):
                    result = kind(C=cost, gamma=1 / X.shape[1], solver=solver, n_threads=1).fit(X, y).result_
                    worst, failed, runs = max(worst, result.relative_gap), failed + (not result.converged), runs + 1
    return {"runs": runs, "runs that did not converge": failed, "largest relative gap": worst}


def without_bias(quick: bool) -> Figures:
    """C-SVC with a free intercept and with none: 5,000 training and 5,000 test rows.

    a9a (24 % of one class), RBF, C = 1, gamma 1/123; ijcnn1 (10 %), RBF, C = 32, gamma 2; w8a (3 %), linear, C = 1.
    The balanced error is the mean of the errors of both classes.
    """
    n = 300 if quick else 5000
    settings: dict[str, dict[str, Any]] = {
        "a9a": {"C": 1.0, "gamma": 1 / 123},
        "ijcnn1": {"C": 32.0, "gamma": 2.0},
        "w8a": {"C": 1.0, "kernel": "linear"},
    }
    figures: Figures = {}
    for name, options in settings.items():
        X, y = datasets.shuffled_svmlight(name)
        X, y = X[: 2 * n], np.where(y[: 2 * n] > 0, 1, -1)
        for intercept in ("free", "none"):
            model = SVC(intercept=intercept, n_threads=1, **options).fit(X[:n], y[:n])
            wrong = model.predict(X[n:]) != y[n:]
            balanced = float(np.mean([wrong[y[n:] == sign].mean() for sign in (-1, 1)]))
            figures[f"{name}, {intercept}: test error"] = float(wrong.mean())
            figures[f"{name}, {intercept}: balanced test error"] = balanced
        for error in ("test error", "balanced test error"):
            difference = figures[f"{name}, none: {error}"] - figures[f"{name}, free: {error}"]
            figures[f"{name}: {error} without an intercept less that with one"] = difference
    return figures


ITEM = item(
    "claims about parallel decomposition",
    "a9a (training part, rows shuffled), C-SVC with a free intercept, C = 1, RBF gamma 1/123; abalone for several "
    "constraints.",
    (
        most_violating_step,
        summed_direction,
        descent_blocks,
        step_rules,
        one_pair,
        kernel_rows,
        several_constraints,
        without_bias,
    ),
)
