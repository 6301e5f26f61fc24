"""Samples, labels and weights of a random problem, made from a recipe of a few numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Recipe:
    """How samples are made.

    seed         of the generator
    n, d         samples and features
    ranks        number of ranks of which labels are drawn; 0: targets of a regression
    noise        standard deviation of what is added to the score before it is cut into ranks
    missing      ranks that no sample has
    duplicates   share of the samples that repeat another one, with a label of their own
    constant     columns with one value
    exponents    of 10, by which all features or each is multiplied: one number, or d of them
    shift        added to all features before they are multiplied
    dtype        of the features
    indices      "int32" or "int64": CSR with these indices; "": dense
    weights      "none", "uniform", "counts" (some of them 0) or "wild" (eight orders of magnitude)
    gram         makes X the kernel matrix of the samples
    """

    seed: int
    n: int
    d: int
    ranks: int
    noise: float = 1.0
    missing: tuple[int, ...] = ()
    duplicates: float = 0.0
    constant: int = 0
    exponents: tuple[float, ...] = (0.0,)
    shift: float = 0.0
    dtype: str = "float64"
    indices: str = ""
    weights: str = "none"
    gram: bool = False


def make(recipe: Recipe) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """X, y and sample weights."""
    rng = np.random.default_rng(recipe.seed)
    X = _features(recipe, rng)
    y = _targets(recipe, X, rng)
    weight = _weights(recipe, y, rng)
    X = X + recipe.shift
    if recipe.constant:
        X[:, : recipe.constant] = rng.choice([0.0, 1.0, -3.0])
    X = (X * 10.0 ** np.asarray(recipe.exponents)).astype(recipe.dtype)
    if recipe.gram:
        X = X.astype(np.float64)
        X = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) + X @ X.T
        X = ((X + X.T) / 2).astype(recipe.dtype)
    if recipe.indices:
        X = sp.csr_array(X)
        X.indices, X.indptr = X.indices.astype(recipe.indices), X.indptr.astype(recipe.indices)
    return X, y, weight


def new_samples(recipe: Recipe) -> Any:
    """Rows to predict: those of another seed between the first ones of the training samples."""
    old, new = make(recipe)[0], make(replace(recipe, seed=recipe.seed + 1))[0]
    if recipe.indices:
        joined = sp.csr_array(sp.vstack([old[:20], new[:20]]))
        joined.indices, joined.indptr = joined.indices.astype(recipe.indices), joined.indptr.astype(recipe.indices)
        return joined
    return np.concatenate([old[:20], new[:20]])


def _features(recipe: Recipe, rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(recipe.n, recipe.d))
    if recipe.indices:
        X *= rng.random(X.shape) < 0.4
    repeated = rng.random(recipe.n) < recipe.duplicates
    X[repeated] = X[rng.integers(recipe.n, size=int(repeated.sum()))]
    return X


def _targets(recipe: Recipe, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A noisy linear score: as it is, or cut into the ranks that are not missing, each of which has a sample."""
    score = X @ rng.normal(size=recipe.d) / np.sqrt(recipe.d) + recipe.noise * rng.normal(size=recipe.n)
    if recipe.ranks == 0:
        return score
    present = np.setdiff1d(np.arange(recipe.ranks), recipe.missing)
    share = rng.dirichlet(np.ones(len(present)))
    codes = np.searchsorted(np.quantile(score, np.cumsum(share)[:-1]), score)
    codes[rng.permutation(recipe.n)[: len(present)]] = np.arange(len(present))
    return present[codes]


def _weights(recipe: Recipe, y: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """Two classes at least keep positive weights."""
    n = recipe.n
    drawn = {
        "none": None,
        "uniform": rng.uniform(0.1, 3.0, n),
        "counts": rng.integers(0, 4, n).astype(float),
        "wild": 10.0 ** rng.uniform(-4, 4, n),
    }[recipe.weights]
    if drawn is not None and (not np.any(drawn > 0) or len(np.unique(y[drawn > 0])) < 2):
        drawn = drawn + 1.0
    return drawn
