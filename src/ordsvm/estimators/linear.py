"""What every linear machine does: validate → formulate → solve → recover."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from ordsvm.checks import check_choice, check_flag, shortened
from ordsvm.data.row_store import RowStore
from ordsvm.data.streams import is_stream, require_rows_in_memory, training_rows
from ordsvm.estimators.base import Machine, fingerprint, finite_scores, readable
from ordsvm.estimators.callbacks import reports_to_callbacks
from ordsvm.estimators.validation import check_magnitude, check_seed
from ordsvm.linear_problem import LaneTable, ThresholdTable
from ordsvm.result import FitResult
from ordsvm.solvers.linear.choice import choose
from ordsvm.solvers.linear.losses import Losses, losses
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.linear.solution import LinearSolution
from ordsvm.solvers.linear.solve import solve_lanes, solve_thresholds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearTask:
    """What there is to solve: a table, and for every sample a label, a weight (None: 1) and, in regression, a target.

    classes: the labels that the table knows, for classifiers.
    """

    table: LaneTable | ThresholdTable
    labels: NDArray[np.int32]
    weight: Floats | None
    targets: Floats | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0))

    def fingerprint(self) -> str:
        """Differs wherever labels, weights, targets, costs or C do."""
        columns = (self.labels, self.weight, self.targets, *vars(self.table).values())
        return fingerprint(*(column for column in columns if column is not None))

    def widths(self) -> Floats:
        """How far β may go for a sample of a label, in every lane or at every threshold."""
        return self.table.cap if isinstance(self.table, ThresholdTable) else self.table.upper - self.table.lower


class LinearMachine(Machine):
    """Training and scoring of a linear machine. Subclasses name their parameters in `__init__`."""

    loss: Any
    fit_intercept: Any = True
    random_state: Any
    coef_: Floats
    intercept_: Floats
    n_iter_: int
    _unit = "passes over the samples"
    _loss_names: ClassVar[tuple[str, str]] = ("hinge", "squared_hinge")
    _solvers: ClassVar[tuple[str, ...]] = ("rank-dcd",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @reports_to_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Trains on samples X with labels or targets y.

        X may also be rows that do not fit into memory, which bring their labels and weights along: a `RowStore`, the
        path of an svmlight file, or an iterator of tuples (X, y) or (X, y, sample_weight), whose rows are kept in a
        temporary folder during training. See `RowStore`.
        """
        self._check_parameters()
        if is_stream(X):
            self._require_a_solver_of_streams()
        with training_rows(X, y, sample_weight) as (X, y, sample_weight):
            X = self._check_training_data(X)
            task = self._formulate(X, self._check_target(y), sample_weight)
            solution = self._solve(X, task)
        self._keep(task, solution)
        self._recover(task, solution)
        if not self.result_.converged:
            self._warn(self.result_)
        return self

    @abstractmethod
    def _check_target(self, y: Any) -> Any:
        """Labels or targets, checked, as `_formulate` takes them."""

    @abstractmethod
    def _formulate(self, X: Any, target: Any, sample_weight: Any) -> LinearTask:
        """What samples, targets and weights make."""

    @abstractmethod
    def _recover(self, task: LinearTask, solution: LinearSolution) -> None:
        """Keeps what is the machine's own of the solution: coef_ without a copy, intercept_ or thresholds_."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, self._loss_names)
        check_flag("fit_intercept", self.fit_intercept)
        check_seed(self.random_state)
        self._choose()

    def _choose(self, seed: int | None = None) -> Any:
        """The solver, with this seed unless it is None."""
        return choose(self.solver, self._solvers, seed)

    def _check_training_data(self, X: Any) -> Any:
        if isinstance(X, RowStore):
            return self._check_store(X)
        X = validate_data(self, X, ensure_min_samples=2, **self._data_rules())
        check_magnitude(X)
        return readable(X)

    def _check_store(self, store: RowStore) -> RowStore:
        if store.n_samples < 2:
            raise ValueError(f"There is 1 row: {type(self).__name__} needs at least 2.")
        validate_data(self, store, skip_check_array=True)  # keeps the number of features
        return store

    def _require_a_solver_of_streams(self) -> None:
        if not isinstance(self._choose(), RankDCD):
            raise ValueError(f"solver={shortened(self.solver)} needs all rows in memory: use 'rank-dcd'.")

    def _check_new_data(self, X: Any) -> Any:
        check_is_fitted(self)
        require_rows_in_memory(X)
        X = validate_data(self, X, reset=False, **self._data_rules())
        check_magnitude(X)
        return readable(X)

    def _solve(self, X: Any, task: LinearTask) -> LinearSolution:
        seed = None if self.random_state is None else int(check_seed(self.random_state).randint(2**31))
        options: dict[str, Any] = {
            "weight": task.weight,
            "squared": self._is_squared(),
            "solver": self._choose(seed),
            "control": self._control(),
            "start": self._start(task),
        }
        if isinstance(task.table, ThresholdTable):
            return solve_thresholds(X, task.labels, task.table, **options)
        options |= {"targets": task.targets, "intercept": bool(self.fit_intercept)}
        return solve_lanes(X, task.labels, task.table, **options)

    def _is_squared(self) -> bool:
        return bool(self.loss == self._loss_names[1])

    def _start(self, task: LinearTask) -> tuple[Floats, Floats] | None:
        """With warm_start, the previous β, if it has the same shape, stretched to the new bounds; and b."""
        beta, widths = getattr(self, "_beta", None), task.widths()
        if not self.warm_start or beta is None:
            return None
        if beta.shape != (len(task.labels), widths.shape[1]) or self._widths.shape != widths.shape:
            return None
        stretch = np.divide(widths, self._widths, out=np.zeros_like(widths), where=self._widths > 0)
        return np.clip(beta.array() * stretch[task.labels], *self._losses_of(task).bounds()), self._biases()

    def _losses_of(self, task: LinearTask) -> Losses:
        return losses(task.table, task.labels, task.weight, task.targets, self._is_squared())

    def _biases(self) -> Floats:
        return self.intercept_

    def _keep(self, task: LinearTask, solution: LinearSolution) -> None:
        self.result_ = solution.result
        self.n_iter_ = solution.result.n_iter
        self._beta = solution.beta
        self._widths = task.widths()
        self._fingerprint = task.fingerprint()

    def _scores(self, X: Any) -> Floats:
        """w·x for every row of X; a column for every row of coef_, where it has rows."""
        return finite_scores(np.asarray(self._check_new_data(X) @ self.coef_.T, dtype=np.float64))

    def _margins(self, X: Any) -> Floats:
        """w·x + intercept: a row for every sample, a column for every lane."""
        return self._scores(X) + self.intercept_

    def _reached(self, result: FitResult) -> str:
        return f"relative gap {result.relative_gap:.2g}"


def weights_or_none(weight: Floats) -> Floats | None:
    """None for weights that are all 1, which the solvers need not read."""
    return None if np.all(weight == 1.0) else weight
