"""The linear systems of the interior-point method for one problem, a stack of one: (K + D) Z = D Q with a diagonal
D = 1/W that changes from one iteration to the next, and the product KZ. Q is 0 where W is.

`FactoredKernel` has K = FF' with as many columns as K has rank: Z = Q − W·FU with (I + F'WF) U = F'Q, which is positive
definite however large W is, and costs n·rank² an iteration. `DenseKernel` factors K + D, which costs n³/3 and fails
where W is so large that D is lost in the rounding of K: then the other one takes over.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from ordsvm._typing import Floats

LOW_RANK = 0.55  # share of n up to which n·rank² costs less than n³/3
LEAST_RIDGE = 1e-9  # of D beside the diagonal of K, for K + D to be factored
FACTOR_ERROR = 1e-9  # of a value of K
RIDGES = (0.0, 1e-15, 1e-13, 1e-11)  # shares of the diagonal, tried one after the other


class FactoredKernel:
    """K = FF' by a Cholesky factorisation with pivots of K scaled to a diagonal of ones, up to `rounding`."""

    def __init__(self, K: Floats, rounding: float) -> None:
        scale = np.sqrt(np.maximum(K.diagonal(), 0.0))
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        unit = np.asfortranarray(K * inverse)
        unit *= inverse[:, np.newaxis]
        lower, pivot, rank, _ = lapack.dpstrf(unit, tol=rounding, lower=1, overwrite_a=1)
        self.rank = int(rank)
        self.factor = np.zeros((len(K), self.rank), order="F")
        self.factor[pivot - 1] = np.tril(lower[:, : self.rank])
        self.factor *= scale[:, np.newaxis]

    def weigh(self, weight: Floats, inverse: Floats) -> None:
        self._weight = weight[0, 0][:, np.newaxis]
        if self.rank == 0:
            return
        matrix = blas.dsyrk(1.0, np.sqrt(self._weight) * self.factor, trans=1, lower=1)
        matrix[np.diag_indices(self.rank)] += 1.0
        self._cholesky = cholesky(matrix)

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        if self.rank == 0:
            return right, np.zeros_like(right)
        inner = lapack.dpotrs(self._cholesky, self.factor.T @ right[0, 0], lower=1)[0]
        scores = self.factor @ inner
        return right - self._weight * scores, scores[np.newaxis, np.newaxis]

    def product(self, beta: Floats) -> Floats:
        return (self.factor @ (self.factor.T @ beta[0, 0]))[np.newaxis, np.newaxis]


class DenseKernel:
    """K as it is, and its factors where D is small."""

    def __init__(self, K: Floats, factored: FactoredKernel) -> None:
        self._K, self._factored = K, factored
        self._diagonal = K.diagonal().copy()

    def weigh(self, weight: Floats, inverse: Floats) -> None:
        self._moving = np.flatnonzero(weight[0, 0] > 0)
        self._ridge = inverse[0, 0, self._moving]
        self._cholesky: Floats | None = None
        if len(self._ridge) > 0 and np.all(self._ridge >= LEAST_RIDGE * self._diagonal[self._moving]):
            every = len(self._moving) == len(self._K)
            matrix = np.array(self._K if every else self._K[np.ix_(self._moving, self._moving)], order="F")
            matrix[np.diag_indices(len(matrix))] += self._ridge
            factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
            self._cholesky = None if failed else factor
        if self._cholesky is None:
            self._factored.weigh(weight, inverse)

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        if self._cholesky is None:
            return self._factored.solve(right)
        found = np.zeros_like(right)
        wanted = right[0, 0, self._moving] * self._ridge[:, np.newaxis]
        found[0, 0, self._moving] = lapack.dpotrs(self._cholesky, wanted, lower=1)[0]
        return found, self._K @ found

    def product(self, beta: Floats) -> Floats:
        return beta @ self._K


def is_semidefinite(K: Floats, kernel: FactoredKernel | DenseKernel) -> bool:
    """Return True if the factors of K make K again, judged by a product with a random vector."""
    probe = np.random.default_rng(0).normal(size=len(K))
    scores = K @ probe
    apart = np.abs(scores - kernel.product(probe[np.newaxis, np.newaxis])[0, 0]).max(initial=0.0)
    return bool(apart <= FACTOR_ERROR * np.abs(K).max(initial=0.0) * len(K))


def kernel_system(K: Floats, rounding: float) -> FactoredKernel | DenseKernel:
    """Return the cheaper one of both for a matrix whose values are right to `rounding`, as a share of the diagonal."""
    factored = FactoredKernel(K, rounding)
    return factored if factored.rank <= LOW_RANK * len(K) else DenseKernel(K, factored)


def cholesky(matrix: Floats) -> Floats:
    """Return the lower factor of a matrix whose lower half is given; NaN if even a larger diagonal gives none."""
    diagonal = np.diag_indices(len(matrix))
    for ridge in RIDGES:
        larger = matrix.copy(order="F")
        larger[diagonal] *= 1.0 + ridge
        factor, failed = lapack.dpotrf(larger, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return factor
    return np.full(matrix.shape, np.nan)
