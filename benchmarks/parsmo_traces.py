"""Runs of PARSMO, SMO and LIBSVM on one problem, look by look: what the benchmark `parsmo` is made of."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import solver_cases
from benchmarks.solver_cases import Case
from benchmarks.works import make

GOAL = 1e-3  # the relative error that runs are compared at
END = 1e-4  # the one at which they end
CACHE_ROWS = 500
FIRST_LIMIT = 500  # of LIBSVM's iterations
BASE_LOOK = {"a9a": 64, "w8a": 512, "ijcnn1": 64}  # iterations of one pair between two looks


@dataclass(frozen=True)
class Trace:
    """A run, look by look; without kernel evaluations where the program does not tell them."""

    iterations: np.ndarray
    evaluations: np.ndarray  # a process
    seconds: np.ndarray
    error: np.ndarray

    def first(self, column: str) -> float:
        """Where the error falls to the goal for good, between two looks by its logarithm; infinite if it does not."""
        last, (begin, end) = self._last_above(), self.around(column)
        if not np.isfinite(end):
            return np.inf
        before, after = np.log(self.error[last]), np.log(max(self.error[last + 1], 1e-12))
        return begin + (end - begin) * (before - np.log(GOAL)) / (before - after)

    def around(self, column: str) -> tuple[float, float]:
        """The two looks."""
        values, last = getattr(self, column), self._last_above()
        return float(values[last]), float(values[last + 1]) if last + 1 < len(values) else np.inf

    def _last_above(self) -> int:
        return int(np.flatnonzero(self.error > GOAL)[-1])  # the first look sees an error of 1

    def thinned(self, column: str) -> list[tuple[float, float]]:
        """About 16 points."""
        places = np.unique(np.linspace(0, len(self.error) - 1, 16).astype(int))
        return [(float(getattr(self, column)[at]), float(self.error[at])) for at in places]

    def per_iteration(self) -> float:
        """Seconds."""
        return float(self.seconds[-1] / self.iterations[-1])


def median(traces: list[Trace]) -> Trace:
    """Of the seconds; all else is the same in every run, or they were not runs of the same."""
    first = traces[0]
    if not all(np.array_equal(first.iterations, other.iterations) for other in traces):
        raise ValueError("Runs that should be the same took different steps.")
    seconds = np.median([trace.seconds for trace in traces], axis=0)
    return Trace(first.iterations, first.evaluations, seconds, first.error)


@dataclass(frozen=True)
class SolvedCase(Case):
    """C-SVC with a free intercept, C = 1, on rows of a set; and its optimum."""

    optimum: float = np.nan

    def trace(self, solver: Any, n_threads: int, seconds: float, every: int | None = None, max_iter: int = -1) -> Trace:
        """From alpha = 0, where the error is 1, to END or so many iterations or seconds.

        The clock begins before the kernel's rows are prepared, and stands still while the run is looked at.
        """
        from ordsvm.solvers import Control

        q = getattr(solver, "q", 1)
        control = Control(
            tol=1e-5, max_iter=max_iter, n_threads=n_threads, report_every=every or max(1, BASE_LOOK[self.name] // q)
        )
        began = time.perf_counter()
        run = watched_run()(self.problem, self.matrix(self._cache_size()), solver, control, None)
        run.watch(self.optimum, END if max_iter < 0 else 0.0, seconds, began)
        solver.solve(run)
        run.note()
        iterations, kernel_rows, worked, dual = np.transpose(run.notes)
        return Trace(iterations, kernel_rows * self.n / q, worked, np.abs(dual - self.optimum) / self.optimum)

    def libsvm(self, max_iter: int) -> tuple[int, float, float]:
        """Iterations, seconds and relative error of scikit-learn's SVC, the error from its dual coefficients."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        kernel = {"kernel": "linear"} if self.name == "w8a" else {"kernel": "rbf", "gamma": self.kernel.gamma}
        model = SVC(C=1.0, tol=1e-4, cache_size=self._cache_size(), max_iter=max_iter, **kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            began = time.perf_counter()
            model.fit(self.X, self.y)
            seconds = time.perf_counter() - began
        beta = model.dual_coef_.toarray().ravel()
        score = self.kernel.rows(self.X[model.support_]).product(beta)
        dual = float(np.abs(beta).sum() - 0.5 * beta @ score)
        return int(model.n_iter_[0]), seconds, abs(dual - self.optimum) / self.optimum

    def _cache_size(self) -> float:
        """Megabytes of CACHE_ROWS float32 rows."""
        return CACHE_ROWS * 4 * self.n / 2**20


def libsvm_trace(case: SolvedCase, limits: list[int] | None = None) -> Trace:
    """A fit for every number of iterations, as LIBSVM can't be watched.

    Without numbers they are doubled until the error is at the goal; then one between the last two is tried too.
    """
    points = {0: (0.0, 1.0)}
    for limit in limits or (FIRST_LIMIT * 2**power for power in range(20)):
        n_iter, seconds, error = case.libsvm(limit)
        points[n_iter] = (seconds, error)
        if limits is None and (error <= GOAL or n_iter < limit):
            n_iter, seconds, error = case.libsvm(3 * limit // 4)
            points[n_iter] = (seconds, error)
            break
    iterations = np.array(sorted(points))
    seconds, error = np.transpose([points[n] for n in iterations])
    return Trace(iterations, np.full(len(iterations), np.nan), seconds, error)


def watched_run() -> Any:
    """A `Run` that notes iterations, kernel rows, seconds and the dual objective at every look, and nothing else."""
    from ordsvm.solvers.kernel.run import Run

    class WatchedRun(Run):
        def watch(self, optimum: float, end: float, seconds: float, began: float) -> None:
            self.notes: list[tuple[float, float, float, float]] = [(0.0, 0.0, 0.0, 0.0)]
            self._optimum, self._end, self._most = optimum, end, seconds
            self._worked, self._since = 0.0, began

        def note(self) -> None:
            self._worked += time.perf_counter() - self._since
            if self.n_iter > self.notes[-1][0]:
                dual = self.problem.dual(self.alpha, self.score)
                self.notes.append((self.n_iter, self.kernel_rows, self._worked, dual))
            self._since = time.perf_counter()

        def report(self, steps: int, kernel_rows: int) -> bool:
            self.count(steps, kernel_rows)
            if self.recorder.look_is_due(self.n_iter):
                self.note()
                self.recorder.look_every(self.report_every, first=self.n_iter + self.report_every)
                error = abs(self.notes[-1][3] - self._optimum) / self._optimum
                if error <= self._end or self._worked > self._most:
                    self.recorder.status = "callback"
            return self.recorder.stopped

    return WatchedRun


def make_case(name: str, n: int | None) -> SolvedCase:
    """The first n rows, all of them for None, with the optimum by the block method."""
    from ordsvm.solvers import Block

    case = solver_cases.of(make("SVC", name, n=n, shuffled=False, kernel="linear" if name == "w8a" else "rbf"), name)
    X = case.X
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LIBSVM takes no other
    best = case.solve(Block(), n_threads=2, tol=1e-6)
    if not best.relative_gap <= 1e-6:
        raise RuntimeError(f"The optimum of {name} is computed to {best.relative_gap:.0e} only.")
    return SolvedCase(name, case.problem, case.kernel, X, case.y, best.objective - best.gap)
