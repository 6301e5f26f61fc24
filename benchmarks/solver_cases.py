"""Box problems of 20,000 rows and more, as the asynchronous solvers are measured on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import datasets

DATA = (
    "california: california_housing, rows shuffled with pandas' sample(frac=1, random_state=0), 5 equal-frequency "
    "ranks, "
    "standardised columns, SVOR with C = 1, RBF gamma 0.5. a9a, ijcnn1: training part, C-SVC with penalised intercept, "
    "C = 1, RBF gamma 1/123 and 1/22, CSR. tol 1e-3, float32 rows, 2000 MB of cache, a new cache for every run."
)


@dataclass(frozen=True)
class Case:
    """A problem, its kernel and its samples."""

    name: str
    problem: Any
    kernel: Any
    X: Any  # an array or CSR

    def solve(self, solver: Any, n_threads: int = 1, **control: Any) -> Any:
        """The FitResult of one run from α = 0 with an empty cache."""
        from ordsvm.solvers import Control, KernelMatrix, solve

        matrix = KernelMatrix(self.kernel.rows(self.X), 2000.0)
        return solve(self.problem, matrix, solver, Control(n_threads=n_threads, **control)).result


def case(name: str, n: int | None = None) -> Case:
    """california, a9a or ijcnn1; the first n rows of it."""
    from ordsvm.formulations import svc, svor
    from ordsvm.kernels import RBF
    from ordsvm.problem import Thresholds

    if name == "california":
        X, y = datasets.ordinal("california_housing", n)
        return Case(name, svor(y.astype(np.int64), 5, 1.0), RBF(0.5), X)
    X, y = datasets.svmlight(name)
    X, sign = X[:n], np.where(y > 0, 1.0, -1.0)[:n]
    return Case(name, svc(sign, 1.0, Thresholds.PENALIZED), RBF(1.0 / X.shape[1]), X)
