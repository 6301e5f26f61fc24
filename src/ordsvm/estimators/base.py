"""What every kernel machine does: validate → formulate → solve → recover.

This module and its siblings are the only ones that know scikit-learn's conventions.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm.checks import check_number, check_positive
from ordsvm.estimators.validation import (
    check_callback,
    check_gamma,
    check_magnitude,
    check_max_iter,
    check_square_kernel,
)
from ordsvm.kernels import Kernel, Linear, Precomputed, gamma_value, make_kernel
from ordsvm.problem import Problem
from ordsvm.result import FitResult
from ordsvm.solvers import Control, KernelMatrix, Solution, choose, solve

Floats = NDArray[np.float64]


class KernelMachine(BaseEstimator):
    """Training and scoring of a machine with a kernel. Subclasses name their parameters in `__init__`."""

    C: Any
    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    tol: Any
    cache_size: Any
    max_iter: Any
    time_limit: Any
    solver: Any
    warm_start: Any
    callback: Any
    verbose: Any
    kernel_: Kernel
    result_: FitResult
    support_: NDArray[np.int64]
    support_vectors_: Any
    dual_coef_: Floats

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.allow_nan = self._takes_missing_values()
        return tags

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    def _takes_missing_values(self) -> bool:
        """A function may know what to do with NaN; its values are checked instead."""
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    def _check_parameters(self) -> None:
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        check_positive("cache_size", self.cache_size)
        check_gamma(self.gamma)
        check_number("degree", self.degree, "a number that is not negative", lambda number: number >= 0)
        check_number("coef0", self.coef0, "a number", lambda number: True)
        check_max_iter(self.max_iter)
        check_callback(self.callback)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)
        make_kernel(self.kernel, 1.0, 0.0, 1.0)

    def _check_training_data(self, X: Any) -> Any:
        X = validate_data(self, X, ensure_min_samples=2, **self._data_rules())
        if self._is_precomputed():
            check_square_kernel(X)
        check_magnitude(X)
        return _canonical(X)

    def _check_new_data(self, X: Any) -> Any:
        check_is_fitted(self)
        return _canonical(validate_data(self, X, reset=False, **self._data_rules()))

    def _data_rules(self) -> dict[str, Any]:
        finite = "allow-nan" if self._takes_missing_values() else True
        return {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C", "ensure_all_finite": finite}

    def _train(self, X: Any, problem: Problem, order: NDArray[np.int64]) -> Solution:
        """Solves `problem`, whose sample i is row order[i] of X, and keeps the machine."""
        solver = choose(self.solver, problem.thresholds)
        gamma = gamma_value(self.gamma, X) if isinstance(self.kernel, str) else 1.0
        kernel = make_kernel(self.kernel, gamma, float(self.coef0), float(self.degree))
        matrix = KernelMatrix(kernel.rows(reordered(X, order)), float(self.cache_size))
        solution = solve(problem, matrix, solver, self._control(), self._start(problem))
        self.kernel_ = kernel
        self.result_ = solution.result
        self.n_iter_ = solution.result.n_iter
        self._keep_support(X, solution, order)
        if not solution.result.converged:
            self._warn(solution.result)
        return solution

    def _control(self) -> Control:
        return Control(
            tol=float(self.tol),
            max_iter=check_max_iter(self.max_iter),
            time_limit=self.time_limit,
            callback=self.callback,
            verbose=bool(self.verbose),
        )

    def _start(self, problem: Problem) -> Floats | None:
        """With warm_start, the previous α, if it has as many hinges, stretched to the new caps."""
        if not self.warm_start or not hasattr(self, "result_"):
            return None
        alpha = self.result_.alpha
        if len(alpha) != len(problem.hinges):
            return None
        return alpha * (float(self.C) / self._trained_C)

    def _keep_support(self, X: Any, solution: Solution, order: NDArray[np.int64]) -> None:
        beta = np.empty(X.shape[0])
        beta[order] = solution.beta
        self._trained_C = float(self.C)
        self.support_ = np.flatnonzero(beta)
        self.dual_coef_ = beta[self.support_]
        self.support_vectors_ = np.empty((0, 0)) if self._is_precomputed() else X[self.support_]

    def _scores(self, X: Any) -> Floats:
        """f(x) for every row of X."""
        check_magnitude(X)
        if isinstance(self.kernel_, Precomputed):
            scores = X[:, self.support_].astype(np.float64) @ self.dual_coef_
        elif isinstance(self.kernel_, Linear):
            scores = np.asarray(X @ self.coef_, dtype=np.float64).ravel()
        else:
            scores = self.kernel_.scores(X, self.support_vectors_, self.dual_coef_)
        if not np.all(np.isfinite(scores)):
            raise ValueError("Scores overflow for some rows of X: their values are too large for this kernel.")
        return scores

    @property
    def coef_(self) -> Floats:
        """w of a linear machine."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available with kernel='linear'.")
        return np.asarray(self.support_vectors_.T @ self.dual_coef_, dtype=np.float64).ravel()

    def _warn(self, result: FitResult) -> None:
        remedy = {
            "max_iter": "raise max_iter",
            "time_limit": "raise time_limit",
            "callback": "let the callback return False for longer",
            "precision": "float64 sums can't resolve such a tol",
        }[result.status]
        warnings.warn(
            f"{type(self).__name__} was stopped by {result.status} after {result.n_iter} steps with relative gap "
            f"{result.relative_gap:.2g} and violation {result.violation:.2g} > tol={self.tol:g}: {remedy}, "
            "raise tol, lower C or standardise the features.",
            ConvergenceWarning,
            stacklevel=4,
        )


def reordered(X: Any, order: NDArray[np.int64]) -> Any:
    """The rows of X in the order of a problem's samples."""
    return X if np.array_equal(order, np.arange(len(order))) else X[order]


def _canonical(X: Any) -> Any:
    """CSR with sorted, unique columns and both index arrays of one type, as the core reads it."""
    if not sp.issparse(X):
        return X
    X = X if X.has_canonical_format else X.copy()
    X.sum_duplicates()
    if X.indices.dtype != X.indptr.dtype:
        X.indices = X.indices.astype(np.int64)
        X.indptr = X.indptr.astype(np.int64)
    return X
