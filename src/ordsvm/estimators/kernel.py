"""What every kernel machine does: validate → formulate → solve → recover.

This module and its siblings are the only ones that know scikit-learn's conventions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm.checks import check_number, check_positive
from ordsvm.estimators.base import Machine, canonical, fingerprint, finite_scores
from ordsvm.estimators.callbacks import reports_to_callbacks
from ordsvm.estimators.early_stopping import Validation
from ordsvm.estimators.validation import check_gamma, check_magnitude, check_square_kernel
from ordsvm.kernels import Kernel, Linear, Precomputed, gamma_value, make_kernel
from ordsvm.problem import Problem
from ordsvm.result import combined
from ordsvm.solvers import Control, KernelMatrix, Solution, Solver, check_solver, choose, is_auto
from ordsvm.solvers.kernel.shared_matrix import SharedMatrix
from ordsvm.solvers.kernel.team import usable_threads

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """What there is to solve: problems over the same samples, the i-th of which is row order[i] of X.

    classes: the labels that the problems know, for classifiers. validation: who is to judge the fit under way.
    ranks: of the samples in their order, for ordinal models.
    """

    problems: Sequence[Problem]
    order: NDArray[np.int64]
    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    validation: Validation | None = None
    ranks: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def at_price(self, ratio: float) -> Task:
        """The same with a C that is so many times as large."""
        tables = [replace(problem.hinges, cap=ratio * problem.hinges.cap) for problem in self.problems]
        pairs = zip(self.problems, tables, strict=True)
        return replace(self, problems=[replace(problem, hinges=table) for problem, table in pairs])

    def fingerprint(self) -> str:
        """Differs wherever labels, weights, costs or C do."""
        tables = [problem.hinges for problem in self.problems]
        columns = [column for h in tables for column in (h.sample, h.threshold, h.sign, h.offset, h.cap)]
        return fingerprint(self.order, *columns)


class KernelMachine(Machine):
    """Training and scoring of a machine with a kernel. Subclasses name their parameters in `__init__`.

    Some machines consist of several problems over the same samples: these share the rows of the kernel matrix.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    cache_size: Any
    kernel_: Kernel
    n_iter_: Any  # a number, or one for every problem
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

    @reports_to_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains on samples X with labels or targets y."""
        return self._fit_task(*self._prepare(X, y, sample_weight))

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Task]:
        """Samples and targets, checked, and the problems that they make."""
        X, target = self._check_input(X, y)
        return X, target, self._formulate(X, target, sample_weight)

    def _check_input(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Parameters, samples and targets, in this order."""
        self._check_parameters()
        return self._check_training_data(X), self._check_target(y)

    def _fit_task(self, X: Any, target: Any, task: Task) -> Self:
        self._recover(task, target, self._train(X, task))
        self._fingerprint = task.fingerprint()
        if self.result_.status not in ("converged", "early_stopping"):
            self._warn(self.result_)
        return self

    @abstractmethod
    def _check_target(self, y: Any) -> Any:
        """Labels or targets, checked, as `_formulate` takes them."""

    @abstractmethod
    def _formulate(self, X: Any, target: Any, sample_weight: Any) -> Task:
        """The problems that samples, targets and weights make."""

    @abstractmethod
    def _model_thresholds(self) -> list[Floats]:
        """b of every problem, as the fitted machine uses them."""

    def _by_class(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The order in which samples of a class are neighbours, unless that takes a copy of a kernel matrix."""
        return np.arange(len(codes)) if self._is_precomputed() else np.argsort(codes, kind="stable")

    @abstractmethod
    def _recover(self, task: Task, target: Any, solutions: Sequence[Solution]) -> None:
        """Keeps what is the machine's own of the solutions; β and the result are kept already."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("cache_size", self.cache_size)
        check_gamma(self.gamma)
        check_number("degree", self.degree, "a number that is not negative", lambda number: number >= 0)
        check_number("coef0", self.coef0, "a number", lambda number: True)
        make_kernel(self.kernel, 1.0, 0.0, 1.0)

    def _check_training_data(self, X: Any) -> Any:
        X = validate_data(self, X, ensure_min_samples=2, **self._data_rules())
        if self._is_precomputed():
            check_square_kernel(X)
        check_magnitude(X)
        return canonical(X)

    def _check_new_data(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._check_more_data(X)

    def _check_more_data(self, X: Any) -> Any:
        """Samples with the features of the training data."""
        X = validate_data(self, X, reset=False, **self._data_rules())
        check_magnitude(X)
        return canonical(X)

    def _data_rules(self) -> dict[str, Any]:
        finite = "allow-nan" if self._takes_missing_values() else True
        return super()._data_rules() | {"ensure_all_finite": finite}

    def _train(self, X: Any, task: Task) -> list[Solution]:
        """Solves the problems and keeps β and the result."""
        if not is_auto(self.solver):
            check_solver(self.solver, task.problems[0].treatment)  # refuses before any work
        samples = self._samples(X, task.order)
        kernel = self._make_kernel(samples)
        matrix = self._kernel_matrix(kernel, samples)
        largest = max(task.problems, key=lambda problem: len(problem.hinges))
        solver = choose(self.solver, largest, matrix)
        control = self._control()
        if task.validation is not None:
            known = task.order if self._is_precomputed() else samples
            control = task.validation.controls(control, task.problems[0], kernel, known)
        shared = SharedMatrix(matrix, kernel, samples, float(self.cache_size))
        solutions = self._solve(task.problems, shared, solver, control)
        self._keep(X, kernel, solutions, task.order)
        return solutions

    def _keep(self, X: Any, kernel: Kernel, solutions: Sequence[Solution], order: NDArray[np.int64]) -> None:
        self.kernel_ = kernel
        self.result_ = combined([solution.result for solution in solutions])
        self.n_iter_ = self.result_.n_iter
        self._keep_support(X, solutions, order)

    def _make_kernel(self, samples: Any) -> Kernel:
        """The kernel for these training samples, of which gamma may be a function."""
        gamma = gamma_value(self.gamma, samples) if isinstance(self.kernel, str) else 1.0
        return make_kernel(self.kernel, gamma, float(self.coef0), float(self.degree))

    def _kernel_matrix(self, kernel: Kernel, samples: Any) -> KernelMatrix:
        """A kernel that is used for many fits may have one for these samples from the last of them."""
        budget = float(self.cache_size)
        kept: Callable[[Any, float], KernelMatrix] | None = getattr(kernel, "matrix", None)
        return KernelMatrix(kernel.rows(samples), budget) if kept is None else kept(samples, budget)

    def _samples(self, X: Any, order: NDArray[np.int64]) -> Any:
        """The samples of a problem in its order: rows of X, and the columns too where X is a kernel matrix."""
        if np.array_equal(order, np.arange(X.shape[0])):
            return X
        return X[np.ix_(order, order)] if self._is_precomputed() else X[order]

    def _solve(
        self, problems: Sequence[Problem], matrix: SharedMatrix, solver: Solver, whole: Control
    ) -> list[Solution]:
        """One problem after the other. max_iter is for each of them; time_limit is for all: what is left of it is
        divided among those to come. After a callback has stopped one, or all time is spent, the others stay at their
        start."""
        solutions: list[Solution] = []
        for problem, start in zip(problems, self._starts(problems), strict=True):
            control, stopped_by = whole, ""
            if whole.time_limit is not None:
                left = whole.time_limit - sum(solution.result.seconds for solution in solutions)
                control = replace(whole, time_limit=left / (len(problems) - len(solutions)))
                stopped_by = "time_limit" if left <= 0 else ""
            if solutions and solutions[-1].result.status == "callback":
                stopped_by = "callback"
            solution = matrix.solve(problem, solver, replace(control, max_iter=0) if stopped_by else control, start)
            if stopped_by and not solution.result.converged:
                solution = replace(solution, result=replace(solution.result, status=stopped_by))
            solutions.append(solution)
        return solutions

    def _starts(self, problems: Sequence[Problem]) -> Sequence[Floats | None]:
        """With warm_start, the previous α, if it has as many hinges, stretched to the new caps.

        Where no α is at its cap, the price of a hinge was no limit to anyone, and the same α solves the problem at
        any higher price: it stays as it is.
        """
        if not self.warm_start or not hasattr(self, "result_"):
            return [None] * len(problems)
        alpha = self.result_.alpha
        ends = np.cumsum([len(problem.hinges) for problem in problems])
        if len(alpha) != ends[-1]:
            return [None] * len(problems)
        stretch = float(self.C) / self._trained_C
        starts = np.split(alpha, ends[:-1])
        pairs = zip(problems, starts, strict=True)
        return [start * (1.0 if np.all(start < p.hinges.cap / stretch) else stretch) for p, start in pairs]

    def _keep_support(self, X: Any, solutions: Sequence[Solution], order: NDArray[np.int64]) -> None:
        beta = np.zeros((len(solutions), X.shape[0]))
        beta[:, order] = [solution.beta for solution in solutions]
        self._trained_C = float(self.C)
        self.support_ = np.flatnonzero(beta.any(axis=0))
        self.dual_coef_ = beta[:, self.support_]
        self.support_vectors_ = np.empty((0, 0)) if self._is_precomputed() else X[self.support_]

    def _scores(self, X: Any) -> Floats:
        """f(x) for every row of X; a column for every problem where dual_coef_ has rows."""
        known = self.support_ if isinstance(self.kernel_, Precomputed) else self.support_vectors_
        return finite_scores(self.kernel_.scores(X, known, self.dual_coef_.T, usable_threads(self.n_threads)))

    @property
    def coef_(self) -> Floats:
        """w of a linear machine; a row for every problem where dual_coef_ has rows."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available with kernel='linear'.")
        return np.asarray(self.support_vectors_.T @ self.dual_coef_.T, dtype=np.float64).T
