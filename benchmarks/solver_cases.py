"""Works as solvers get them: a table of hinges, a kernel and samples, without an estimator around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import works
from benchmarks.works import Work, make

# The box problems of 20,000 rows and more that the asynchronous solvers are measured on.
DATA = (
    "california: california_housing, rows shuffled with pandas' sample(frac=1, random_state=0), 5 equal-frequency "
    "ranks, "
    "standardised columns, SVOR with C = 1, RBF gamma 0.5. a9a, ijcnn1: training part, C-SVC with penalised intercept, "
    "C = 1, RBF gamma 1/123 and 1/22, CSR. tol 1e-3, float32 rows, 2000 MB of cache, a new cache for every run."
)
CACHE_SIZE = 2000.0  # megabytes


@dataclass(frozen=True)
class Case:
    """A problem, its kernel, its samples and their labels."""

    name: str
    problem: Any
    kernel: Any
    X: Any  # an array or CSR
    y: np.ndarray

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    def matrix(self, cache_size: float = CACHE_SIZE) -> Any:
        """K with an empty cache."""
        from ordsvm.solvers import KernelMatrix

        return KernelMatrix(self.kernel.rows(self.X), cache_size)

    def solve(self, solver: Any, n_threads: int = 1, **control: Any) -> Any:
        """The FitResult of one run from α = 0 with an empty cache."""
        from ordsvm.solvers import Control, solve

        return solve(self.problem, self.matrix(), solver, Control(n_threads=n_threads, **control)).result


def of(work: Work, name: str) -> Case:
    X, y = work.data()
    return Case(name, works.problem(work, y), works.kernel(work), X, y)


def box_problem(name: str, n: int | None = None) -> Case:
    """california, a9a or ijcnn1; the first n rows of it."""
    if name == "california":
        return of(make("SVOR", name, n=n), name)
    return of(make("SVC", name, n=n, intercept="penalized", shuffled=False), name)
