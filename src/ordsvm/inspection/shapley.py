"""Shapley values of groups of columns: exact for kernels that are products, by enumeration, or by sampling.

A game has a player for every group. With the players S on, a row has the columns of S from the sample x and the others
from a row b of the background; v(S) is the mean score over b (the interventional value of Lundberg & Lee 2017, Janzing
et al. 2020). The values φ add up to v(all) − v(none), which is the score of x minus the mean score of the background.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import t as student
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from ordsvm._typing import Flags, Floats, Ints
from ordsvm.inspection.score import KernelSum
from ordsvm.kernels import RBF, Laplacian
from ordsvm.tables.reading import import_pandas

ENUMERATED = 10  # groups whose 2^10 subsets are all computed
ROWS_AT_ONCE = 20_000  # whose scores are computed in one call
VALUES_AT_ONCE = 250_000  # factors of kernel values, which stay in the cache of a core
MOST_NODES = 128
LEAST_TERM = 1e-300  # to divide by: where a term is less, so are both of its factors and what it adds
QUANTILE = 0.98  # of Student's distribution, for 95 % intervals: 0.975 held 94.5 % (benchmarks/explanations.py)


class Values(NamedTuple):
    """Shapley values of a sample, and the half-widths of their 95 % intervals; 0 where values are exact."""

    phi: Floats
    error: Floats


def is_product(kernel: Any) -> bool:
    """Whether the kernel of a row is the product of factors, one a column."""
    return isinstance(kernel, RBF | Laplacian)


def product_values(X: Any, background: Any, groups: Sequence[Ints], score: KernelSum) -> Floats:
    """Exact values for Σ_z weight_z Π_j k_j(x, z), a row for every row of X.

    With every player on with probability t, the expected product is Π_j (t a_j + (1 − t) c_j), where a_j = k_j(x, z)
    and c_j = k_j(b, z). φ_j is the integral over t from 0 to 1 of its derivative by player j (Owen 1972): a polynomial
    of degree n_groups − 1, which Gauss's rule with half as many nodes integrates exactly. Beyond MOST_NODES of them,
    rounding is all that more nodes would change: factors lie between 0 and 1, so that the integrand is smooth.
    """
    nodes, shares = np.polynomial.legendre.leggauss(min(MOST_NODES, max(1, (len(groups) + 1) // 2)))
    nodes, shares = (nodes + 1) / 2, shares / 2
    phi = np.zeros((X.shape[0], len(groups)))
    step = max(1, VALUES_AT_ONCE // (background.shape[0] * len(groups)))
    for start in range(0, score.vectors.shape[0], step):
        vectors, weight = score.vectors[start : start + step], score.weight[start : start + step]
        of_background = _factors(background, vectors, groups, score.kernel)
        of_rows = _factors(X, vectors, groups, score.kernel)
        for row, mine in enumerate(of_rows):
            difference = mine[np.newaxis] - of_background
            for node, share in zip(nodes, shares, strict=True):
                terms = of_background + node * difference
                products = share * weight * np.prod(terms, axis=-1)
                phi[row] += np.einsum("bz,bzj->j", products, difference / np.maximum(terms, LEAST_TERM))
    return phi / background.shape[0]


def _factors(rows: Any, vectors: Any, groups: Sequence[Ints], kernel: Any) -> Floats:
    """k_j(row, vector) of every group j, in the last of three dimensions."""
    distances = [_distances(rows, vectors, group, isinstance(kernel, RBF)) for group in groups]
    return np.exp(-kernel.gamma * np.stack(distances, axis=-1))


def _distances(rows: Any, vectors: Any, group: Ints, squared: bool) -> Floats:
    if sp.issparse(rows) or sp.issparse(vectors):
        one, other = (sp.csr_array(matrix)[:, group].astype(np.float64) for matrix in (rows, vectors))
        return euclidean_distances(one, other, squared=True) if squared else manhattan_distances(one, other)
    total = np.zeros((len(rows), len(vectors)))
    for column in group:
        difference = np.subtract.outer(rows[:, column].astype(np.float64), vectors[:, column].astype(np.float64))
        total += difference * difference if squared else np.abs(difference)
    return total


def enumerated_values(value: Callable[[Flags], Floats], n_groups: int) -> Values:
    """Exact values from v of all subsets: φ_j = Σ_S (v(S ∪ j) − v(S)) / (n · binomial(n − 1, |S|))."""
    numbers = np.arange(2**n_groups)
    subsets = (numbers[:, np.newaxis] >> np.arange(n_groups)) & 1 == 1
    v, size = value(subsets), subsets.sum(axis=1)
    share = np.array([1.0 / (n_groups * comb(n_groups - 1, k)) for k in range(n_groups)])
    phi = np.empty(n_groups)
    for player in range(n_groups):
        without = numbers[~subsets[:, player]]
        phi[player] = np.sum(share[size[without]] * (v[without | (1 << player)] - v[without]))
    return Values(phi, np.zeros(n_groups))


def sampled_values(
    value: Callable[[Flags], Floats], n_groups: int, n_pairs: int, random: np.random.RandomState
) -> Values:
    """Means over random orders, each with its reverse: what player j adds where those before it are on.

    The mean over an order and its reverse is one draw; draws are independent, and half-widths are Student's. Every
    order adds up to v(all) − v(none), and so do the means.
    """
    orders = np.array([random.permutation(n_groups) for _ in range(n_pairs)])
    orders = np.stack([orders, orders[:, ::-1]], axis=1).reshape(-1, n_groups)
    place = np.argsort(orders, axis=1)
    on = place[:, np.newaxis, :] < np.arange(n_groups + 1)[:, np.newaxis]  # the first k of an order, for every k
    subsets, which = np.unique(np.packbits(on.reshape(-1, n_groups), axis=1), axis=0, return_inverse=True)
    v = value(np.unpackbits(subsets, axis=1, count=n_groups).astype(bool))[which.ravel()].reshape(len(orders), -1)
    added = np.take_along_axis(np.diff(v, axis=1), place, axis=1)
    draws = added.reshape(n_pairs, 2, n_groups).mean(axis=1)
    quantile = float(student.ppf(QUANTILE, n_pairs - 1))
    return Values(draws.mean(axis=0), quantile * draws.std(axis=0, ddof=1) / np.sqrt(n_pairs))


def coalition_values(score: Callable[[Any], Floats], sample: Any, background: Any, groups: Sequence[Ints]) -> Any:
    """v, a function of subsets of the groups, each a row of flags."""
    n_columns, n_rows = background.shape[1], background.shape[0]
    group_of = np.empty(n_columns, dtype=np.int64)
    for number, group in enumerate(groups):
        group_of[group] = number

    def value(subsets: Flags) -> Floats:
        found = np.empty(len(subsets))
        step = max(1, ROWS_AT_ONCE // n_rows)
        for start in range(0, len(subsets), step):
            columns = subsets[start : start + step][:, group_of]
            scores = score(mixed_rows(sample, background, columns))
            found[start : start + step] = scores.reshape(len(columns), n_rows).mean(axis=1)
        return found

    return value


def mixed_rows(sample: Any, background: Any, columns: Flags) -> Any:
    """For every row of flags all rows of the background, with the flagged columns of the sample."""
    if sp.issparse(background):
        parts = []
        for flags in columns:
            kept, given = (sp.diags_array(part.astype(np.float64)) for part in (~flags, flags))
            row = sp.csr_array(sample @ given)
            parts.append(sp.csr_array(background @ kept) + sp.vstack([row] * background.shape[0], format="csr"))
        return sp.csr_array(sp.vstack(parts, format="csr"))
    n_rows = background.shape[0]
    own = np.tile(np.arange(1, n_rows + 1), len(columns))  # of the background, below the sample
    taken = np.where(np.repeat(columns, n_rows, axis=0), 0, own[:, np.newaxis])
    if hasattr(background, "iloc"):
        both = _below(sample, background)
        cells = {name: both[name].take(taken[:, j]).to_numpy() for j, name in enumerate(both.columns)}
        return type(background)(cells).astype(dict(both.dtypes))
    both = np.vstack([sample, background])
    return np.take_along_axis(both, taken, axis=0)


def _below(sample: Any, background: Any) -> Any:
    """The rows of both data frames, with columns of the types that hold all of them."""
    return import_pandas().concat([sample, background], ignore_index=True)
