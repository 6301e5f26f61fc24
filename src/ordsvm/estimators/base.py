"""What machines with kernels and linear machines share: limits, samples, and a warning where a limit was met."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ordsvm.checks import caller_level, check_positive
from ordsvm.estimators.callbacks import CallbackSupportMixin, all_callbacks
from ordsvm.estimators.validation import check_callback, check_max_iter
from ordsvm.result import FitResult
from ordsvm.solvers import Control
from ordsvm.solvers.kernel.team import usable_threads

Floats = NDArray[np.float64]


class Machine(CallbackSupportMixin, BaseEstimator):
    """A machine trained by a solver that has limits and reports to a callback."""

    C: Any
    tol: Any
    max_iter: Any
    time_limit: Any
    solver: Any
    warm_start: Any
    callback: Any
    verbose: Any
    n_threads: Any
    result_: FitResult
    _unit: ClassVar[str] = "steps"  # what n_iter counts

    def _check_parameters(self) -> None:
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        check_max_iter(self.max_iter)
        check_callback(self.callback)
        usable_threads(self.n_threads)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)

    def _data_rules(self) -> dict[str, Any]:
        """What `validate_data` lets through as samples."""
        return {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}

    def _control(self) -> Control:
        return Control(
            tol=float(self.tol),
            max_iter=check_max_iter(self.max_iter),
            time_limit=self.time_limit,
            callback=all_callbacks(self),
            verbose=bool(self.verbose),
            n_threads=usable_threads(self.n_threads),
        )

    def _reached(self, result: FitResult) -> str:
        """How far the fit got in what tol is about."""
        return f"relative gap {result.relative_gap:.2g} and violation {result.violation:.2g}"

    def _warn(self, result: FitResult) -> None:
        remedy = {
            "max_iter": "raise max_iter",
            "time_limit": "raise time_limit",
            "callback": "let the callback return False for longer",
            "precision": "float64 sums can't resolve such a tol",
            "gap": "the gap does not close where a kernel is not positive semidefinite",
        }[result.status]
        warnings.warn(
            f"{type(self).__name__} was stopped by {result.status} after {result.n_iter} {self._unit} with "
            f"{self._reached(result)} against tol={self.tol:g}: {remedy}, raise tol, lower C or standardise the "
            "features.",
            ConvergenceWarning,
            stacklevel=caller_level(),
        )


def finite_scores(scores: Floats) -> Floats:
    if not np.all(np.isfinite(scores)):
        raise ValueError("Scores overflow for some rows of X: their values are too large for this machine.")
    return scores


def fingerprint(*arrays: NDArray[Any]) -> str:
    """Differs where one of the arrays does."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def canonical(X: Any) -> Any:
    """CSR with sorted, unique columns, as kernels need it."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return readable(X)


def readable(X: Any) -> Any:
    """CSR with both index arrays of one type, as the core reads it; columns as they are."""
    if not sp.issparse(X):
        return X
    if X.indices.dtype != X.indptr.dtype:
        X = type(X)((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
        if X.indices.dtype != X.indptr.dtype:  # SciPy may narrow what it is given
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X
