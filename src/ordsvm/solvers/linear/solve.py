"""One call for every linear machine."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.problem import Certificate
from ordsvm.problem.label_table import LabelTable
from ordsvm.rows.memory import RowsInMemory, RowSource
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.dcd import DCD1, DCD2, solve_dcd
from ordsvm.solvers.linear.feature_task import FeatureRows, FeatureTask
from ordsvm.solvers.linear.interior_point import LinearInteriorPoint, solve_by_features
from ordsvm.solvers.linear.last_resort import Start, Ways, solve_with_last_resort
from ordsvm.solvers.linear.neighbour import Neighbour
from ordsvm.solvers.linear.rank_dcd import Descent, RankDCD
from ordsvm.solvers.linear.rounding import with_rounding
from ordsvm.solvers.solution import LinearSolution

NOTHING = np.empty(0)


@dataclass(frozen=True)
class SampleColumns:
    """What the core reads of samples besides their rows: labels, |x|², and weights and targets if any."""

    labels: np.ndarray
    norms: np.ndarray
    n_features: int
    weight: Floats | None = None
    targets: Floats | None = None


def solve_linear(
    X: Any,
    labels: np.ndarray,
    table: LabelTable,
    *,
    targets: Floats | None = None,
    weight: Floats | None = None,
    intercept: bool = True,
    squared: bool = False,
    solver: RankDCD | LinearInteriorPoint | DCD1 | DCD2,
    control: Control,
    start: Start | Neighbour | None = None,
    most_passes: int | None = None,
) -> LinearSolution:
    """Solve the problem of a table. X: CSR, a C-ordered array, or, but for DCD, a `RowSource`.

    intercept: of lanes; shared columns have thresholds.
    start: a `Neighbour` for the interior-point method.
    most_passes: of RankDCD, before the interior-point method goes on; None: it goes on itself.
    """
    if isinstance(solver, DCD1 | DCD2):
        return solve_dcd(
            X,
            labels,
            table,
            targets=targets,
            weight=weight,
            intercept=intercept,
            squared=squared,
            solver=solver,
            control=control,
        )
    task = FeatureTask(table, labels, weight, targets, intercept, squared)
    return _solve(X, task, solver, control, start, most_passes)


def _solve(
    X: Any,
    task: FeatureTask,
    solver: RankDCD | LinearInteriorPoint,
    control: Control,
    start: Start | Neighbour | None,
    most_passes: int | None,
) -> LinearSolution:
    near, start = (start, None) if isinstance(start, Neighbour) else (None, start)
    if isinstance(solver, LinearInteriorPoint) and hasattr(X, "blocks"):  # rows were checked when they were written
        return solve_by_features(FeatureRows(X), task, control, start_of(task), near, solver.device)
    started = time.perf_counter()
    source, norms = _source_and_norms(X, control.n_threads)
    samples = SampleColumns(task.labels, norms, source.n_features, task.weight, task.targets)

    def by_features(control: Control, most_steps: float = math.inf) -> LinearSolution:
        device = solver.device if isinstance(solver, LinearInteriorPoint) else "cpu"
        rows = FeatureRows(source, norms, X)
        return solve_by_features(rows, task, control, start_of(task), near, device, most_steps)

    if isinstance(solver, LinearInteriorPoint):
        return by_features(control)
    descent = solver

    def descend(control: Control, start: Start | None, began: float) -> LinearSolution:
        reach = reach_of(task.table, task.labels, task.weight)

        def make(solver: RankDCD, precise: bool) -> _core.Machine:
            rho, intercept = solver.rho_for(norms, reach), task.intercept or task.table.shared
            options = _options(solver, control, rho, intercept, task.squared, precise)
            machine = machine_of(task.table, samples, options)
            if not task.table.shared:
                machine.set_biases(first_biases(task.table, task.labels, task.weight, task.targets))
            return machine

        found = Descent(source, make, descent, control, began).run(start)
        return _with_rounding(found, task, norms, control.tol)

    if most_passes is None:
        return descend(control, start, started)
    return solve_with_last_resort(Ways(descend, by_features), control, start, most_passes, started)


def _with_rounding(found: LinearSolution, task: FeatureTask, norms: np.ndarray, tol: float) -> LinearSolution:
    """Return the solution with the rounding of its proof in the gap; converged if that is still small enough."""
    result = found.result
    if not np.isfinite(result.gap):
        return found
    bare = Certificate(result.objective, result.objective - result.gap, result.gap, result.violation, found.intercept)
    proof = with_rounding(bare, task, norms, found.beta, found.coef)
    is_claimed = result.converged and not proof.relative_gap <= tol
    status = "precision" if is_claimed else result.status
    return replace(found, result=replace(result, gap=proof.gap, relative_gap=proof.relative_gap, status=status))


def _options(
    solver: RankDCD, control: Control, rho: float, intercept: bool, squared: bool, precise: bool
) -> _core.LinearOptions:
    return _core.LinearOptions(
        intercept=intercept,
        squared=squared,
        precise=precise,
        rho=rho,
        n_threads=control.n_threads,
        seed=solver.seed,
    )


def machine_of(table: LabelTable, samples: SampleColumns, options: _core.LinearOptions) -> _core.Machine:
    weight = NOTHING if samples.weight is None else samples.weight
    rows = (samples.norms, samples.n_features, options)
    if table.shared:
        return _core.threshold_machine(table.offset, table.widths(), samples.labels, weight, *rows)
    bounds = (table.lower, table.upper, table.offset, table.epsilon)
    targets = NOTHING if samples.targets is None else samples.targets
    return _core.lane_machine(*bounds, samples.labels, weight, targets, *rows)


def reach_of(table: LabelTable, labels: np.ndarray, weight: Floats | None) -> float:
    """How large the sum of β over the samples can be, in a lane or at a threshold; the mean over these."""
    return float(np.mean(np.bincount(labels, weight, table.n_labels) @ table.bounds()))


def first_biases(table: LabelTable, labels: np.ndarray, weight: Floats | None, targets: Floats | None) -> Floats:
    """A constant score for every lane, to start from: the median of the offsets, weighted by C.

    In the end a bias is the sum of β, so it starts no further out than that can be.
    """
    weights = table.bounds() * np.bincount(labels, weight, table.n_labels)[:, None]
    if targets is None:
        order = np.argsort(table.offset, axis=0)
        below = np.cumsum(np.take_along_axis(weights, order, 0), axis=0)
        middle = np.argmax(below >= 0.5 * below[-1], axis=0)
        biases = np.take_along_axis(table.offset, np.take_along_axis(order, middle[None], 0), 0)[0]
    else:
        biases = np.full(table.n_columns, np.median(targets if weight is None else targets[weight > 0]))
    reach = weights.sum(axis=0)
    return np.clip(biases, -reach, reach)


def _are_within(epsilon: Floats, targets: Floats, weight: Floats | None) -> bool:
    """Whether all targets are in the tube around 0, where the optimum is 0."""
    sizes = np.abs(targets) if weight is None else np.abs(targets)[weight > 0]
    return bool(np.max(sizes, initial=0.0) <= np.min(epsilon, initial=np.inf))


def start_of(task: FeatureTask) -> Floats:
    """Intercepts or thresholds that the interior-point method starts from."""
    targets = task.targets
    if task.table.shared:
        return np.zeros(task.table.n_columns)
    if targets is None or not task.intercept or _are_within(task.table.epsilon, targets, task.weight):
        return np.zeros(task.table.n_columns)
    return first_biases(task.table, task.labels, task.weight, task.targets)


def _source_and_norms(X: Any, n_threads: int) -> tuple[RowSource, np.ndarray]:
    source: RowSource = X if hasattr(X, "blocks") else RowsInMemory(X)
    return source, squared_norms(source, n_threads)


def squared_norms(source: RowSource, n_threads: int) -> np.ndarray:
    norms = np.empty(source.n_samples, dtype=np.float32)
    for first, block in source.blocks():
        _core.squared_norms(block, norms, first, n_threads if len(block) > 10_000 else 1)
    if not np.max(norms, initial=0.0) < 1e30:
        raise ValueError(
            "X has rows too large to compute with, longer than 1e15: scale the features, for instance with "
            "sklearn.preprocessing.MaxAbsScaler."
        )
    return norms
