"""Contributions to a score: sums of exact ones, and how often sampled intervals hold brute force."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from benchmarks import datasets
from benchmarks.results import Row, row

DATA = (
    "winequality-red (11 columns), standardised, first 400 rows of a shuffle with seed 0, and 300 samples of 12 normal "
    "columns with 4 ranks of a sum of products and squares, seed 0. Background: 10 rows; explained: 4 other rows, 25 "
    "seeds each, 100 orders a seed. Brute force: all subsets of the columns with the weights of Shapley's formula. "
    "Text for linear machines: 600 made-up reviews of 400 words, seed 0."
)
EXPLAINED, SEEDS, BACKGROUND = 4, 25, 10


def run(quick: bool) -> list[Row]:
    """Bounds: sums to 1e-12, exact values to 1e-10, and 95 % intervals that hold between 95 and 99 of 100 values."""
    rows = [_linear_row(), *(_exact_row(kernel) for kernel in ("rbf", "laplacian"))]
    seeds = 5 if quick else SEEDS
    hits: list[np.ndarray] = []
    for name, (X, y) in _sets(quick).items():
        for machine, model in _machines().items():
            held = _coverage(model.fit(X[BACKGROUND:], y[BACKGROUND:]), X, seeds)
            hits.append(held.ravel())
            rows.append(row(f"{name}, {machine}: share of 95 % intervals that hold brute force", float(held.mean())))
    total = float(np.concatenate(hits).mean())
    rows.append(row("all: share of 95 % intervals that hold brute force", total, at_least=0.95))
    rows.append(row("all: the same, not by being too wide", total, at_most=0.99))
    return rows


def _sets(quick: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    found = {"products of columns": _made()}
    if not quick:
        X, y = datasets.ordinal("winequality-red", 400)
        found["winequality-red"] = X, y
    return found


def _made() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 12))
    score = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + X[:, 3:7] @ [1.0, -1.0, 0.5, 0.5] + 0.5 * random.normal(size=300)
    return X, np.argsort(np.argsort(score)) * 4 // 300


def _machines() -> dict[str, Any]:
    from ordsvm import SVOR

    return {
        "polynomial kernel": SVOR(kernel="poly", degree=3, coef0=1.0, gamma=0.05),
        "sigmoid kernel": SVOR(kernel="sigmoid", gamma=0.02),
        "Gaussian kernel of principal components": make_pipeline(PCA(6, random_state=0), SVOR(gamma=0.1)),
    }


def _coverage(model: Any, X: np.ndarray, seeds: int) -> np.ndarray:
    """Whether the interval holds brute force, by row, seed and column."""
    from ordsvm.inspection import contributions

    background, held = X[:BACKGROUND], []
    for number in range(BACKGROUND, BACKGROUND + EXPLAINED):
        x = X[number : number + 1]
        truth = brute_force(model, x, background)
        for seed in range(seeds):
            found = contributions(model, x, background, random_state=seed)
            assert found.method == "sampling"
            held.append(np.abs(found.values[0] - truth) <= found.errors[0])
    return np.array(held)


def brute_force(model: Any, x: np.ndarray, background: np.ndarray) -> np.ndarray:
    """Shapley's formula over all subsets, which shares nothing with the library but the score."""
    n = x.shape[1]
    subsets = [set(chosen) for size in range(n + 1) for chosen in combinations(range(n), size)]
    flags = np.array([[column in chosen for column in range(n)] for chosen in subsets])
    value = {}
    for start in range(0, len(subsets), 1000):
        part = flags[start : start + 1000]
        mixed = np.where(part[:, np.newaxis, :], x, background).reshape(-1, n)
        scores = model.decision_function(mixed).reshape(len(part), -1).mean(axis=1)
        value |= dict(zip(map(frozenset, subsets[start : start + 1000]), scores, strict=True))
    found = np.zeros(n)
    for chosen in map(frozenset, subsets):
        share = factorial(len(chosen)) * factorial(max(n - len(chosen) - 1, 0)) / factorial(n)
        for player in set(range(n)) - chosen:
            found[player] += share * (value[chosen | {player}] - value[chosen])
    return found


def _linear_row() -> Row:
    from ordsvm import LinearSVOR
    from ordsvm.inspection import contributions

    random = np.random.default_rng(0)
    words = (random.random((600, 400)) < 0.05) * random.random((600, 400))
    y = np.argsort(np.argsort(words @ random.normal(size=400))) * 5 // 600
    found = contributions(LinearSVOR().fit(words, y), words[:100], words[100:])
    off = np.abs(found.values.sum(axis=1) - (found.score - found.baseline)).max()
    return row("linear machine: largest difference of sum and score − baseline", float(off), at_most=1e-12)


def _exact_row(kernel: str) -> Row:
    from ordsvm import SVOR
    from ordsvm.inspection import contributions

    X, y = _made()
    model = SVOR(kernel=kernel, gamma=0.05).fit(X, y)
    found = contributions(model, X[:2], X[2:8])
    assert found.method == "product"
    truth = np.array([brute_force(model, X[i : i + 1], X[2:8]) for i in (0, 1)])
    off = np.abs(found.values - truth).max()
    return row(f"{kernel} kernel, by Owen's integral: largest difference from brute force", float(off), at_most=1e-10)
