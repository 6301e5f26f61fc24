"""Systems of equations over sets of samples that differ by a few: the first is factored, the others are made of it.

    (K_SS + D) x = y        for a set S of samples, D diagonal

With S₀ the first set, R those of it that have gone and A those that have come, the system over S is the one over S₀
and A under the constraint x_R = 0. Its Schur complement on (R, A) is as large as there are changes, so that a solve
costs |S₀|² for every new change instead of |S₀|³.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas, lapack

from ordsvm._typing import Floats, Ints


class ChangingSystem:
    """part(rows, columns) = K[np.ix_(rows, columns)]; `ridge` is D of the first set. LinAlgError where K + D is not
    positive definite."""

    def __init__(self, part: Callable[[Ints, Ints], Floats], n_samples: int, first: Ints, ridge: Floats) -> None:
        self._part = part
        self._first = first
        matrix = part(first, first)
        matrix[np.diag_indices(len(first))] += ridge
        self._factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("The matrix is not positive definite.")
        self._row = np.full(n_samples, -1)
        self._row[first] = np.arange(len(first))
        self._column = np.full(n_samples, -1)
        self._columns = np.empty((len(first), 0), order="F")

    def solve(self, samples: Ints, ridge: Floats, right: Floats) -> Floats:
        """x for every column of y. Samples of the first set keep the D that they had there."""
        row = self._row[samples]
        stays = row >= 0
        gone = self._first[np.bincount(row[stays], minlength=len(self._first)) == 0]
        come = samples[~stays]
        reduced = np.zeros((len(self._first), right.shape[1]), order="F")
        reduced[row[stays]] = right[stays]
        reduced = self._forward(reduced)
        if len(gone) + len(come) > 0:
            columns = self._columns_of(gone, come)
            complement = -(columns.T @ columns)
            complement[len(gone) :, len(gone) :] += self._part(come, come) + np.diag(ridge[~stays])
            wanted = np.vstack([np.zeros((len(gone), right.shape[1])), right[~stays]])
            others = np.linalg.solve(complement, wanted - columns.T @ reduced)
            reduced = np.asfortranarray(reduced - columns @ others)
        x = np.empty_like(right)
        x[stays] = blas.dtrsm(1.0, self._factor, reduced, lower=1, trans_a=1, overwrite_b=1)[row[stays]]
        if len(come) > 0:
            x[~stays] = others[len(gone) :]
        return x

    def _forward(self, right: Floats) -> Floats:
        """L⁻¹ y, in place of y."""
        return blas.dtrsm(1.0, self._factor, right, lower=1, overwrite_b=1)

    def _columns_of(self, gone: Ints, come: Ints) -> Floats:
        """L⁻¹ of unit vectors for samples that have gone and of columns of K for those that have come; kept."""
        new_gone, new_come = gone[self._column[gone] < 0], come[self._column[come] < 0]
        if len(new_gone) + len(new_come) > 0:
            made = np.zeros((len(self._first), len(new_gone) + len(new_come)), order="F")
            made[self._row[new_gone], np.arange(len(new_gone))] = 1.0
            made[:, len(new_gone) :] = self._part(self._first, new_come)
            n_kept = self._columns.shape[1]
            self._column[np.concatenate([new_gone, new_come])] = n_kept + np.arange(made.shape[1])
            self._columns = np.hstack([self._columns, self._forward(made)])
        return self._columns[:, self._column[np.concatenate([gone, come])]]
