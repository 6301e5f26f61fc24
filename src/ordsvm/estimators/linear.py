"""Machines without kernels: weights of features, for many samples and for sparse ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm._typing import CheckpointPath, Floats, Ints, Labels, Samples, SampleWeight
from ordsvm.checkpoint import Keeper, check_checkpoint, opened
from ordsvm.checks import check_choice, check_flag, shortened
from ordsvm.devices import on_host
from ordsvm.estimators.base import (
    Fit,
    Machine,
    fingerprint,
    finite_scores,
    machine_identity,
    may_be_tensors,
    reports_to_callbacks,
)
from ordsvm.estimators.model_findings import RankCounts
from ordsvm.estimators.saturation import ROWS_AT_ONCE, Saturation, of_rows
from ordsvm.estimators.validation import check_magnitude, check_seed, training_samples
from ordsvm.problem.label_table import LabelTable
from ordsvm.result import FitResult
from ordsvm.rows.disk.row_store import RowStore
from ordsvm.rows.streams import is_stream, require_rows_in_memory, training_rows
from ordsvm.solvers.auto import LinearRows, Work, auto, is_auto, most_passes, placed
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.feature_system import Point
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.linear.interior_point import LinearInteriorPoint
from ordsvm.solvers.linear.kept import solve_or_recall
from ordsvm.solvers.linear.losses import Losses, losses
from ordsvm.solvers.linear.neighbour import Neighbour
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.linear.solve import solve_linear
from ordsvm.solvers.registry import check_linear_solver, with_seed
from ordsvm.solvers.solution import LinearSolution
from ordsvm.sparse import check_structure, readable

# What tol=None is: √(tol / share) bounds ‖w − w*‖ / ‖w‖. The share of ½‖w‖² in the objective is a fifth on text at
# C = 1, so that weights are proven to be within 7 %, and are within 1 %. At 0.01 it was 22 %, and noise could pass for
# signal; 1e-3 takes up to twice as many passes (`python -m benchmarks coefficients`).
DEFAULT_TOL = 1e-3
TOL_ON_WORKERS = 1e-2  # of the distributed machines, which pay in rounds
EXACT_STIFFNESS = 1e12  # mean C ‖x‖², up to which the rounding of Σβx does not show in a gap


@dataclass(frozen=True)
class LinearTask:
    """What there is to solve: a table, and for every sample a label, a weight (None: 1) and, in regression, a target.

    classes: the labels that the table is about, for classifiers.
    """

    table: LabelTable
    labels: Labels
    weight: Floats | None
    targets: Floats | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0))

    def times_C(self, factor: float) -> LinearTask:
        """The same with so many times C."""
        return replace(self, table=self.table.times(factor))

    def fingerprint(self) -> str:
        """Return a digest of all numbers; of thresholds these are signs and caps, as stored models have it."""
        table = self.table
        lanes = (table.lower, table.upper, table.offset, table.epsilon)
        columns = (table.offset, table.widths()) if table.shared else lanes
        given = (column for column in (self.labels, self.weight, self.targets) if column is not None)
        return fingerprint(*given, *columns)


class LinearMachine(Machine):
    """Training and scoring of a linear machine. Subclasses name their parameters in `__init__`."""

    loss: Any
    fit_intercept: Any = True
    random_state: Any
    coef_: Floats
    intercept_: Floats
    n_iter_: int
    _unit = "passes over the samples"
    _noun: ClassVar[str] = "rank"  # what a label is called
    _rows_are_samples: ClassVar[bool] = True
    _loss_names: ClassVar[tuple[str, str]] = ("hinge", "squared_hinge")
    _solvers: ClassVar[tuple[str, ...]] = ("rank-dcd", "linear-interior-point")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @reports_to_callbacks
    def fit(
        self,
        X: Samples,
        y: ArrayLike | None = None,
        sample_weight: SampleWeight = None,
        *,
        checkpoint: CheckpointPath = None,
    ) -> Self:
        """Train on samples X with labels or targets y.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features), RowStore, path or iterator
            Samples. Rows that do not fit into memory bring their labels and weights along: a `RowStore`, the path of an
            svmlight file, or an iterator of tuples (X, y) or (X, y, sample_weight), whose rows are kept in a temporary
            folder during training.
        y : array-like of shape (n_samples,) or None, default=None
            Labels or targets; None where X brings them along.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Multiplies C for every sample; None is 1.
        checkpoint : str, path-like, Checkpoint or None, default=None
            A folder that keeps the fit every minute, and the rows of a file or iterator: the same call goes on from
            there.

        Returns
        -------
        object
            The trained machine.
        """
        if checkpoint is not None:
            check_checkpoint(checkpoint)
        if may_be_tensors():
            X, y, sample_weight = on_host(X), on_host(y, "y"), on_host(sample_weight, "sample_weight")
        if not is_stream(X):
            return self._prepare(X, y, sample_weight).run(checkpoint)
        self._check_before_fit()
        self._require_a_solver_of_streams()
        with opened(checkpoint) as session:
            if session is not None:
                session.require(machine_identity(self), of="model")
            with training_rows(X, y, sample_weight, session) as rows:
                return self._prepare(*rows).run(session)

    # Prepare

    @abstractmethod
    def _formulate(self, X: Any, target: Any, sample_weight: Any) -> LinearTask:
        """The table that targets and weights make, and what of it is for every sample."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, self._loss_names)
        check_flag("fit_intercept", self.fit_intercept)
        check_seed(self.random_state)
        self._choose_solver()

    def _check_tol(self) -> None:
        if self.tol is not None:
            super()._check_tol()

    def _tolerance(self, X: Any) -> float:
        if self.tol is not None:
            return float(self.tol)
        return DEFAULT_TOL if X is not None else TOL_ON_WORKERS

    def _choose_solver(self, seed: int | None = None, rows: LinearRows | None = None) -> Any:
        """The solver, with this seed unless it is None; "auto" is decided by the rows, where there are any."""
        if is_auto(self.solver):
            return with_seed(auto(Work("linear", rows=rows, device=self.device)), seed)
        solver = check_linear_solver(self.solver, self._solvers, seed)
        return solver if self.device == "cpu" else placed(solver, self.device, LinearInteriorPoint)

    def _rows(self, X: Any, task: LinearTask) -> LinearRows:
        n_vectors = task.table.n_vectors
        weight = 1.0 if task.weight is None else float(np.mean(task.weight))
        C, tol = weight * float(task.table.widths().max()), self._tolerance(X)
        if not isinstance(X, RowStore):
            return LinearRows.of(X, n_vectors, C, tol)
        some, n = LinearRows.of(X.sample(), n_vectors, C, tol), X.n_samples
        n_duals = task.table.n_columns
        return some._replace(n_samples=n, n_values=X.n_values / n, disk=X.n_bytes / n, n_duals=n_duals)

    def _check_training_data(self, X: Any) -> Any:
        if isinstance(X, RowStore):
            return self._check_store(X)
        X = training_samples(self, X, self._data_rules)
        self._check_dense(sp.issparse(X), "X is sparse: give X.toarray()")
        return readable(X)

    def _check_dense(self, is_refused: bool, reason: str) -> None:
        """Whether rows are such as a device that is named takes; "auto" leaves the others to the CPU."""
        if is_refused and self.device not in ("cpu", "auto"):
            raise ValueError(f"device={self.device!r} is for dense arrays in memory, and {reason}, or device='cpu'.")

    def _check_store(self, store: RowStore) -> RowStore:
        self._check_dense(True, "these rows are on disk: load them")
        if store.n_samples < 2:
            raise ValueError(f"There is 1 row: {type(self).__name__} needs at least 2.")
        validate_data(self, store, skip_check_array=True)  # keeps the number of features
        return store

    def _require_a_solver_of_streams(self) -> None:
        self._check_dense(True, "these rows are on disk: load them")
        if not isinstance(self._choose_solver(), RankDCD | LinearInteriorPoint):
            raise ValueError(f"solver={shortened(self.solver)} needs all rows in memory: use 'rank-dcd'.")

    def _check_new_data(self, X: Any) -> Any:
        check_is_fitted(self)
        require_rows_in_memory(X)
        check_structure(X)
        X = validate_data(self, on_host(X), reset=False, **self._data_rules())
        check_magnitude(X)
        return readable(X)

    # Solve

    def _solve(self, X: Any, task: LinearTask, keeper: Keeper | None = None) -> LinearSolution:
        seed = None if self.random_state is None else int(check_seed(self.random_state).randint(2**31))
        rows = self._rows(X, task) if is_auto(self.solver) else None
        solver = self._choose_solver(seed, rows)
        options: dict[str, Any] = {
            "weight": task.weight,
            "squared": self._is_squared(),
            "solver": solver,
            "control": self._control(keeper, X),
        }
        if isinstance(solver, LinearInteriorPoint):
            options["start"] = self._neighbour(task, X.n_features if isinstance(X, RowStore) else X.shape[1])
        else:
            options["start"] = self._start(task)
        if (passes := most_passes(Work("linear", rows=rows))) is not None:
            options["most_passes"] = passes
        options |= {"targets": task.targets, "intercept": bool(self.fit_intercept)}
        solve = partial(solve_linear, X, task.labels, task.table, **options)
        return solve_or_recall(keeper, solve)

    def _is_squared(self) -> bool:
        return bool(self.loss == self._loss_names[1])

    def _start(self, task: LinearTask) -> tuple[Floats, Floats] | None:
        """With warm_start, the previous β, if it has the same shape, stretched to the new bounds; and b."""
        beta, widths = getattr(self, "_beta", None), task.table.widths()
        if not self.warm_start or beta is None:
            return None
        if beta.shape != (len(task.labels), widths.shape[1]) or self._widths.shape != widths.shape:
            return None
        stretch = np.divide(widths, self._widths, out=np.zeros_like(widths), where=self._widths > 0)
        return np.clip(beta.array() * stretch[task.labels], *self._losses_of(task).bounds()), self._biases()

    def _neighbour(self, task: LinearTask, n_features: int) -> Neighbour | None:
        """With warm_start, the previous weights, if samples are as many and the new bounds a multiple of the old."""
        beta, widths = getattr(self, "_beta", None), task.table.widths()
        if not self.warm_start or beta is None or not np.isfinite(self.result_.objective):
            return None
        coef, biases = np.atleast_2d(self.coef_), self._biases()
        if beta.shape != (len(task.labels), widths.shape[1]) or coef.shape[1] != n_features:
            return None
        ratio = float(widths.max() / self._widths.max()) if self._widths.size else 0.0
        if self._widths.shape != widths.shape or not np.allclose(widths, ratio * self._widths, rtol=1e-9, atol=0.0):
            return None
        if task.table.shared:
            points = [Point(coef[0], biases)]
        else:
            rows = np.column_stack([coef, biases]) if self.fit_intercept else coef
            points = [Point(row, np.empty(0)) for row in np.asarray(rows, dtype=np.float64)]
        return Neighbour(points, ratio, self.result_.objective, self.result_.gap)

    def _losses_of(self, task: LinearTask) -> Losses:
        return losses(task.table, task.labels, task.weight, task.targets, self._is_squared())

    def _biases(self) -> Floats:
        return self.intercept_

    # Recover

    def _recover(self, fit: Fit, solution: LinearSolution) -> None:
        """Keeps result and dual variables; subclasses add coef_ without a copy, and intercept_ or thresholds_."""
        self.result_ = solution.result
        self.n_iter_ = solution.result.n_iter
        self._beta = solution.beta
        self._widths = fit.task.table.widths()

    def _rank_counts(self, fit: Fit, solution: LinearSolution) -> RankCounts | None:
        """By one more read of the rows, where these are in memory."""
        labels, X = fit.task.labels, fit.X
        if X is None or isinstance(X, RowStore) or X.shape[0] != len(labels) or not len(fit.task.classes):
            return None
        starts = range(0, len(labels), ROWS_AT_ONCE)
        counts = [self._counts_of_rows(fit, slice(first, first + ROWS_AT_ONCE)) for first in starts]
        true, predicted = np.sum([(own.true, own.predicted) for own in counts], axis=0)
        return RankCounts(fit.task.classes, true, predicted, self._noun)

    def _counts_of_rows(self, fit: Fit, rows: slice) -> RankCounts:
        """Of some rows: float32 ones are copied to float64, and no array has a number for every sample."""
        labels, weight = fit.task.labels[rows], fit.task.weight
        ranks = self._ranks_of_products(np.asarray(fit.X[rows] @ self.coef_.T, dtype=np.float64))
        if weight is not None:  # samples of weight 0 are not trained on
            labels, ranks = labels[weight[rows] > 0], ranks[weight[rows] > 0]
        return RankCounts.of(fit.task.classes, labels, ranks, self._noun)

    def _ranks_of_products(self, products: Floats) -> Ints:
        """Numbers of the labels that w·x gives, for classifiers."""
        raise TypeError(f"{type(self).__name__} predicts no labels.")

    def _saturation(self, task: LinearTask, brief: bool = False) -> Saturation | None:
        if self._is_squared() or self._beta.shape[0] != len(task.labels):
            return None
        return of_rows(task.table.bounds(), task.labels, task.weight, self._beta, brief)

    # Predict

    def _scores(self, X: Any) -> Floats:
        """w·x for every row of X; a column for every row of coef_, where it has rows."""
        return finite_scores(np.asarray(self._check_new_data(X) @ self._columns(), dtype=np.float64))

    def _columns(self) -> Floats:
        """coef_.T as training leaves it in memory: the last bits depend on that, and model files do not keep it."""
        return np.ascontiguousarray(self.coef_.T)

    def _margins(self, X: Any) -> Floats:
        """w·x + intercept: a row for every sample, a column for every lane."""
        return self._scores(X) + self.intercept_

    def _reached(self, result: FitResult) -> str:
        return f"relative gap {result.relative_gap:.2g}"


def check_target(machine: LinearMachine, y: Any) -> Any:
    """Labels or targets as the machine takes them."""
    return machine._check_target(y)


def formulate(machine: LinearMachine, X: Any, target: Any, sample_weight: Any) -> LinearTask:
    """The problem that the machine makes of samples, targets and weights."""
    return machine._formulate(X, target, sample_weight)


def feature_task(fit: Fit) -> FeatureTask:
    """The problem of a fit as the interior-point method takes it."""
    machine, task = fit.machine, fit.task
    return FeatureTask(
        task.table, task.labels, task.weight, task.targets, bool(machine.fit_intercept), machine._is_squared()
    )


def has_rows_of_samples(machine: LinearMachine) -> bool:
    """Whether the rows that it trains on are the samples, the same in every fold of a search."""
    return machine._rows_are_samples


def trains_by_features(fit: Fit, share: float) -> bool:
    """Whether the machine's solver is the interior-point method, where that takes this share of its iterations, and
    its gap needs no allowance for rounding."""
    machine: LinearMachine = fit.machine
    rows = machine._rows(fit.X, fit.task)
    solver = machine._choose_solver(rows=rows._replace(share=share))
    is_shared = isinstance(solver, LinearInteriorPoint) and solver.device == "cpu"
    return is_shared and rows.stiffness < EXACT_STIFFNESS


def control_of(fit: Fit) -> Control:
    """Limits and threads of the machine, for the rows of the fit."""
    return fit.machine._control(X=fit.X)
