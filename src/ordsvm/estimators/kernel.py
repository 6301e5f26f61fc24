"""Machines with kernels: problems over the same samples, solved on one kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm._typing import CheckpointPath, Floats, Ints, Samples, SampleWeight
from ordsvm.checkpoint import Keeper, check_checkpoint
from ordsvm.checks import check_positive, usable_threads
from ordsvm.conventions import read_only
from ordsvm.devices import TensorRows, device_or_cpu, is_tensor, on_host
from ordsvm.estimators.base import (
    Fit,
    Machine,
    fingerprint,
    finite_scores,
    may_be_tensors,
    reports_to_callbacks,
)
from ordsvm.estimators.early_stopping import Validation
from ordsvm.estimators.objects import new_objects, training_objects
from ordsvm.estimators.saturation import Saturation, of_problems
from ordsvm.estimators.validation import (
    check_kernel_parameters,
    check_magnitude,
    check_square_kernel,
    check_tensor,
    check_training_tensor,
    kernel_by_parameters,
    require_kernel_columns,
    training_samples,
)
from ordsvm.kernels import Custom, Kernel, KernelMatrix, Linear, NativeKernel, Precomputed
from ordsvm.kernels.arrays import compact
from ordsvm.kernels.full_kernel import SampleNumbers
from ordsvm.kernels.given import warn_of_diagonal
from ordsvm.kernels.products.device_matrix import on_device
from ordsvm.kernels.products.scores import device_scores, is_worth_a_device
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.auto import Work, auto, is_auto, last_resort, most_passes, placed, trains_together
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.problems import SharedMatrix, solve_each, solve_with_last_resort
from ordsvm.solvers.kernel.proximal_newton.proximal_newton import ProximalNewton
from ordsvm.solvers.kernel.run import Solver, solve
from ordsvm.solvers.kernel.together import can_solve_together, solve_together
from ordsvm.solvers.linear.penalized import solve_penalized
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.recorder import combined
from ordsvm.solvers.registry import check_solver, computes_on_device, is_proximal_newton, is_rank_dcd
from ordsvm.solvers.solution import Solution
from ordsvm.sparse import canonical, check_structure


@dataclass(frozen=True)
class KernelTask:
    """What there is to solve: problems over the same samples, the i-th of which is row order[i] of X.

    classes: the labels that the problems are about, for classifiers. validation: samples whose errors are followed.
    ranks: of the samples in their order, for threshold models; only RankDCD reads them, for which samples of a rank
    have the same hinges, of offset 1, but for C. origin: a number that was subtracted from the targets of a regression
    with a free intercept, which is origin − b; offsets: those before that, for the fingerprint.
    """

    problems: Sequence[Problem]
    order: Ints
    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    validation: Validation | None = None
    ranks: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    origin: float = 0.0
    offsets: Floats | None = None

    def times_C(self, factor: float) -> KernelTask:
        """The same with a C that is so many times as large."""
        tables = [replace(problem.hinges, cap=factor * problem.hinges.cap) for problem in self.problems]
        pairs = zip(self.problems, tables, strict=True)
        return replace(self, problems=[replace(problem, hinges=table) for problem, table in pairs])

    @cached_property
    def largest(self) -> Problem:
        """The problem with most hinges."""
        return max(self.problems, key=lambda problem: len(problem.hinges))

    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        """Computed once, as a search recovers many solutions of one task."""
        tables = [problem.hinges for problem in self.problems]
        if self.offsets is not None:
            tables = [replace(tables[0], offset=self.offsets)]
        columns = [column for h in tables for column in (h.sample, h.threshold, h.sign, h.offset, h.cap)]
        return fingerprint(self.order, *columns)


class Trained(NamedTuple):
    """What a solver has found: a solution of every problem, and the kernel that they are about."""

    kernel: Kernel
    solutions: Sequence[Solution]


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
    support_: Ints
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
        """A callable kernel may take NaN; its values are checked instead."""
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    @reports_to_callbacks
    def fit(
        self, X: Samples, y: ArrayLike, sample_weight: SampleWeight = None, *, checkpoint: CheckpointPath = None
    ) -> Self:
        """Train on samples X with labels or targets y.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Training samples; for a precomputed kernel, its values between them.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Multiplies C for every sample; None is 1.
        checkpoint : str, path-like, Checkpoint or None, default=None
            A folder that keeps the fit every minute: the same call goes on from there.

        Returns
        -------
        object
            The trained machine.
        """
        if checkpoint is not None:
            check_checkpoint(checkpoint)
        if may_be_tensors():
            X, y = self._taken(X, checkpoint is None), on_host(y, "y")
            sample_weight = on_host(sample_weight, "sample_weight")
        return self._prepare(X, y, sample_weight).run(checkpoint)

    def _taken(self, X: Any, is_plain: bool) -> Any:
        """A tensor as it is where the fit computes on a device alone, else as an ndarray; anything else as it is.

        `is_plain`: nothing but training on all samples is to be done.
        """
        if not is_tensor(X):
            return X
        stays = is_plain and self._place() not in ("cpu", "auto") and not self._is_precomputed()
        stays = stays and (is_auto(self.solver) or is_proximal_newton(self.solver))
        return TensorRows.of(X) if stays else self._on_host(X)

    def _place(self) -> Any:
        """Where the machine trains: the device of the solver's own options, where it has none itself."""
        return self.device if self.device != "cpu" else getattr(self.solver, "device", "cpu")

    def _on_host(self, X: Any) -> Any:
        """A tensor as an ndarray, if it may be elsewhere; anything else as it is."""
        if is_tensor(X) and X.device.type != "cpu" and self._place() == "cpu":
            raise ValueError(f"X is a tensor on {X.device}: set device='cuda' for this machine, or pass X.cpu().")
        return on_host(X)

    # Prepare

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("cache_size", self.cache_size)
        check_kernel_parameters(self)

    def _check_training_data(self, X: Any) -> Any:
        if isinstance(X, TensorRows):
            return check_training_tensor(self, X)
        if self._takes_missing_values() and (objects := training_objects(self, X)) is not None:
            return objects
        X = training_samples(self, X, self._data_rules)
        if self._is_precomputed():
            check_square_kernel(X)
        return canonical(X) if sp.issparse(X) else X

    def _check_new_data(self, X: Any) -> Any:
        if isinstance(X, SampleNumbers):
            return X
        check_is_fitted(self)
        return self._check_more_data(X)

    def _check_more_data(self, X: Any) -> Any:
        """Samples with the features of the training data."""
        if isinstance(X, TensorRows):
            return check_tensor(X, self.n_features_in_)
        if self._takes_missing_values() and (objects := new_objects(self, X)) is not None:
            return objects
        check_structure(X)
        try:
            X = validate_data(self, self._on_host(X), reset=False, **self._data_rules())
        except ValueError as error:
            if self._is_precomputed():
                require_kernel_columns(error)
            raise
        check_magnitude(X)
        return canonical(X)

    def _data_rules(self) -> dict[str, Any]:
        finite = "allow-nan" if self._takes_missing_values() else True
        return super()._data_rules() | {"ensure_all_finite": finite}

    def _by_class(self, codes: Ints) -> Ints:
        """The order in which samples of a class are neighbours, unless that takes a copy of a kernel matrix."""
        return np.arange(len(codes)) if self._is_precomputed() else np.argsort(codes, kind="stable")

    # Solve

    def _solve(self, X: Any, task: KernelTask, keeper: Keeper | None = None) -> Trained:
        if not is_auto(self.solver):
            self._named_solver(task)  # an error comes before any work
        samples = self._samples(X, task.order)
        kernel = self._make_kernel(samples)
        given = samples
        if sp.issparse(samples) and isinstance(kernel, NativeKernel):
            (samples,) = compact(samples)  # solvers see no columns without values
        solver = self._choose_solver(task, kernel, samples)
        starts, control = self._starts(task.problems), self._control(keeper)
        if isinstance(solver, RankDCD):
            penalized = self._penalized(task, kernel, samples, solver)
            return Trained(Linear(), solve_each(task.problems, starts, control, penalized))
        if is_auto(self.solver):
            control = replace(control, last_resort=last_resort(self._work(task, kernel, samples)))
        if task.validation is not None:
            trained_on = task.order if self._is_precomputed() else given
            control = task.validation.controls(control, task.problems[0], kernel, trained_on)
        if isinstance(kernel, Custom) and computes_on_device(solver):
            samples = on_device(solver.device, samples)
        if len(task.problems) == 1 and task.problems[0].uses_all_samples():
            stays_there = control.last_resort is None and computes_on_device(solver)
            matrix = KernelMatrix.of(kernel, samples, float(self.cache_size), stays_there)
            _look_at_values(kernel, samples, matrix, task.order)
            if keeper is None:  # small fits are faster without a list of problems
                return Trained(kernel, [solve(task.problems[0], matrix, solver, control, starts[0])])
            one = partial(_solve_on, matrix, solver)
        else:
            shared = SharedMatrix.of(kernel, samples, float(self.cache_size), len(task.problems))
            _look_at_values(kernel, samples, shared.matrix, task.order)
            one = partial(shared.solve, solver)
            if self._goes_together(task, kernel, samples, control):
                found = solve_together(task.problems, starts, shared, solver, control)
                if found is not None:
                    return Trained(kernel, found)
        return Trained(kernel, solve_each(task.problems, starts, control, one))

    def _goes_together(self, task: KernelTask, kernel: Kernel, samples: Any, control: Control) -> bool:
        if not is_auto(self.solver) or not can_solve_together(control):
            return False
        return trains_together(self._work(task, kernel, samples), len(task.problems), control.n_threads)

    def _penalized(self, task: KernelTask, kernel: Kernel, samples: Any, solver: RankDCD) -> Any:
        """Coordinate descent on weights of features; with the last resort of `auto` if that has chosen it."""
        penalized, work = partial(solve_penalized, task.ranks, samples, solver), self._work(task, kernel, samples)
        other, passes = last_resort(work), most_passes(work)
        if not is_auto(self.solver) or other is None or passes is None:
            return penalized
        matrix = KernelMatrix.of(kernel, samples, float(self.cache_size))
        return partial(solve_with_last_resort, penalized, partial(_solve_on, matrix, other()), passes)

    def _samples(self, X: Any, order: Ints) -> Any:
        """The samples of a problem in its order: rows of X, and the columns too where X is a kernel matrix."""
        if np.array_equal(order, np.arange(X.shape[0])):
            return X
        return X[np.ix_(order, order)] if self._is_precomputed() else X[order]

    def _make_kernel(self, samples: Any) -> Kernel:
        return kernel_by_parameters(self, samples)

    def _choose_solver(self, task: KernelTask, kernel: Kernel, samples: Any) -> Any:
        return auto(self._work(task, kernel, samples)) if is_auto(self.solver) else self._named_solver(task)

    def _named_solver(self, task: KernelTask) -> Solver | RankDCD:
        solver: Solver | RankDCD
        if self._names_rank_dcd(task):
            solver = self.solver if isinstance(self.solver, RankDCD) else RankDCD()
        else:
            is_linear = isinstance(self.kernel, Linear) or (isinstance(self.kernel, str) and self.kernel == "linear")
            others = [RankDCD.name] if is_linear and self._takes_rank_dcd(task) else []
            solver = check_solver(self.solver, task.problems[0].treatment, others)
        return solver if self.device == "cpu" else placed(solver, self.device, ProximalNewton)

    def _work(self, task: KernelTask, kernel: Kernel, samples: Any) -> Work:
        largest = task.largest
        by_rank, validates = len(task.ranks) > 0, task.validation is not None
        return Work.of(largest, kernel, samples, by_rank=by_rank, validates=validates, device=self.device)

    def _names_rank_dcd(self, task: KernelTask) -> bool:
        """Whether the solver is RankDCD, that of linear machines, and this is a model that it can train."""
        return self._takes_rank_dcd(task) and is_rank_dcd(self.solver)

    def _takes_rank_dcd(self, task: KernelTask) -> bool:
        """Whether this is a threshold model of those that the solver of linear machines can train."""
        return task.problems[0].treatment is Treatment.PENALIZED and len(task.ranks) > 0

    def _starts(self, problems: Sequence[Problem]) -> Sequence[Floats | None]:
        """With warm_start, the previous α, if it has as many hinges, stretched to the new caps.

        Where no α is at its cap, caps were no limit, and the same α solves the problem at any larger C: it stays as it
        is.
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

    # Recover

    def _recover(self, fit: Fit, solution: Trained) -> None:
        """Keeps kernel, result and support vectors; subclasses add thresholds or intercepts."""
        X, solutions = fit.X, solution.solutions
        self.kernel_ = solution.kernel
        self.result_ = combined([each.result for each in solutions])
        self.n_iter_ = self.result_.n_iter
        beta = _stacked([each.beta for each in solutions])
        self._trained_C = float(self.C)
        place = np.flatnonzero(beta.any(axis=0))
        rows = fit.task.order[place]
        order = self._support_order(rows, fit.target)
        self.support_ = rows[order]
        self.dual_coef_ = beta[:, place[order]]
        self.support_vectors_ = np.empty((0, 0)) if self._is_precomputed() else X[self.support_]
        if isinstance(self.support_vectors_, TensorRows):
            self.support_vectors_ = self.support_vectors_.on_host()

    def _support_order(self, rows: Ints, target: Any) -> Ints:
        """The order of support vectors in which the machine keeps them: that of the rows of X."""
        return np.argsort(rows, kind="stable")

    def _model_thresholds(self) -> list[Floats]:
        """b of every problem, as the fitted machine uses them."""
        return [np.array([-intercept]) for intercept in self.intercept_]

    def _may_be_saturated(self, problem: Problem) -> bool:
        """Whether all dual variables of the only problem may be at their bounds (saturation.py)."""
        alpha, cap = self.result_.alpha, problem.hinges.cap
        if problem.treatment in (Treatment.PENALIZED, Treatment.NONE):
            return bool(alpha.sum() >= 0.99 * cap.sum())
        return bool(np.count_nonzero((alpha > 0.01 * cap) & (alpha < 0.99 * cap)) <= problem.n_thresholds)

    def _saturation(self, task: KernelTask, brief: bool = False) -> Saturation | None:
        return of_problems(task.problems, self.result_.alpha, brief)

    # Predict

    def _scores(self, X: Any) -> Floats:
        """f(x) for every row of X; a column for every problem where dual_coef_ has rows."""
        support = self.support_ if isinstance(self.kernel_, Precomputed) else self.support_vectors_
        device = self._place_of_scores(X, support)
        if device != "cpu" or isinstance(X, TensorRows):
            try:
                return finite_scores(device_scores(device, self.kernel_, X, support, self.dual_coef_.T))
            except MemoryError:
                if self.device != "auto" or isinstance(X, TensorRows):
                    raise
        return finite_scores(self.kernel_.scores(X, support, self.dual_coef_.T, usable_threads(self.n_threads)))

    def _place_of_scores(self, X: Any, support: Any) -> str:
        """Those of a tensor are computed where it is."""
        if isinstance(X, TensorRows) or (self.device == "auto" and not is_worth_a_device(X, support)):
            return "cpu"
        return device_or_cpu(self.device)

    def _margins(self, X: Any) -> Floats:
        """f(x) + intercept: a row for every sample, a column for every problem."""
        return self._scores(self._check_new_data(X)) + self.intercept_

    @property
    def coef_(self) -> Floats:
        """Weights of the features of a machine with a linear kernel.

        There is a row for every problem where dual_coef_ has rows. They are computed at every access, and read-only.
        """
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available with kernel='linear'.")
        beta = np.ascontiguousarray(self.dual_coef_.T)  # in one layout, as for scores
        return read_only(np.asarray(self.support_vectors_.T @ beta, dtype=np.float64).T)


def intercepts(solutions: Sequence[Solution]) -> Floats:
    """−b of problems with one threshold each."""
    return 0.0 - np.concatenate([solution.thresholds for solution in solutions])


def _stacked(betas: Sequence[Floats]) -> Floats:
    """A row for every problem; those that one call has solved lie one after the other in one array already."""
    whole, n_bytes = betas[0].base, betas[0].nbytes
    first = betas[0].ctypes.data
    if whole is None or whole.nbytes != len(betas) * n_bytes or whole.ctypes.data != first:
        return np.array(betas)
    follow = all(beta.base is whole and beta.ctypes.data == first + k * n_bytes for k, beta in enumerate(betas))
    return whole.reshape(len(betas), -1) if follow else np.array(betas)


def _look_at_values(kernel: Kernel, samples: Any, matrix: KernelMatrix, order: Ints) -> None:
    """Warns of a callable kernel with values k(x, x) below 0; a matrix has been looked at before."""
    if isinstance(kernel, Custom) and not isinstance(samples, TensorRows):
        warn_of_diagonal(matrix.rows.diagonal(), order)


def _solve_on(matrix: KernelMatrix, solver: Any, problem: Problem, control: Control, start: Floats | None) -> Solution:
    return solve(problem, matrix, solver, control, start)


def check_samples(machine: KernelMachine, X: Any) -> Any:
    """Training samples as the machine takes them."""
    return machine._check_training_data(X)


def check_more_samples(machine: KernelMachine, X: Any) -> Any:
    """Return samples as the machine takes them to test, after `check_samples` has seen those to train on."""
    return machine._check_more_data(X)


# Parameters that a machine has for itself while it is trained on numbers.
OF_NUMBERS = ("kernel", "gamma", "degree", "coef0", "device", "n_threads", "warm_start")


def trained_on_rows(machine: KernelMachine, untrained: KernelMachine, X: Any, kernel: Kernel) -> KernelMachine:
    """Return a machine that was trained on the numbers of rows of X, as it would be if trained on these rows.

    `untrained` has the parameters that are others for numbers; `kernel` is that of the rows.
    """
    trained = copy(machine)
    trained.__dict__.update({name: getattr(untrained, name) for name in OF_NUMBERS})
    rows = check_samples(trained, X)
    trained.kernel_ = kernel
    trained.support_vectors_ = np.empty((0, 0)) if trained._is_precomputed() else rows[trained.support_]
    return trained


def kernel_of(machine: KernelMachine, samples: Any) -> Kernel:
    """The kernel with which the machine would train on these samples."""
    return machine._make_kernel(samples)
