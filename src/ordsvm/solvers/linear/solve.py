"""One call for every linear machine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.data.rows import RowsInMemory, RowSource
from ordsvm.linear_problem import LaneTable, ThresholdTable
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.dcd import DCD1, DCD2, solve_dcd
from ordsvm.solvers.linear.interior_point import FeatureTask, LinearInteriorPoint, solve_by_features
from ordsvm.solvers.linear.neighbour import Neighbour
from ordsvm.solvers.linear.rank_dcd import Descent, RankDCD
from ordsvm.solvers.solution import LinearSolution

NOTHING = np.empty(0)
Start = tuple[Floats, Floats]  # dual variables and biases


@dataclass(frozen=True)
class SampleColumns:
    """What the core reads of samples besides their rows: labels, |x|², and weights and targets if any."""

    labels: np.ndarray
    norms: np.ndarray
    n_features: int
    weight: Floats | None = None
    targets: Floats | None = None


def solve_lanes(
    X: Any,
    labels: np.ndarray,
    table: LaneTable,
    *,
    targets: Floats | None = None,
    weight: Floats | None = None,
    intercept: bool = True,
    squared: bool = False,
    solver: RankDCD | LinearInteriorPoint | DCD1 | DCD2,
    control: Control,
    start: Start | None = None,
    near: Neighbour | None = None,
) -> LinearSolution:
    """Independent weight vectors over the same rows. X: CSR, a C-ordered array, or, but for DCD, a `RowSource`.

    Coordinate descent starts from `start`, the interior-point method from `near`.
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
    if isinstance(solver, LinearInteriorPoint):
        task = FeatureTask(table, labels, weight, targets, intercept, squared)
        biases = np.zeros(table.n_lanes)
        if targets is not None and intercept:
            biases = first_biases(table, labels, weight, targets)
        return solve_by_features(_checked_source(X, control.n_threads), task, control, biases, near)
    started = time.perf_counter()
    source, norms = _source_and_norms(X, control.n_threads)
    reach = reach_of(table, labels, weight)

    samples = SampleColumns(labels, norms, source.n_features, weight, targets)

    def make(solver: RankDCD, precise: bool) -> _core.Machine:
        options = _options(solver, control, solver.rho_for(norms, reach), intercept, squared, precise)
        machine = machine_of(table, samples, options)
        machine.set_biases(first_biases(table, labels, weight, targets))
        return machine

    return Descent(source, make, solver, control, started).run(start)


def solve_thresholds(
    X: Any,
    labels: np.ndarray,
    table: ThresholdTable,
    *,
    weight: Floats | None = None,
    squared: bool = False,
    solver: RankDCD | LinearInteriorPoint,
    control: Control,
    start: Start | None = None,
    near: Neighbour | None = None,
) -> LinearSolution:
    """One weight vector and penalised thresholds. X: CSR, a C-ordered array, or a `RowSource`.

    Coordinate descent starts from `start`, the interior-point method from `near`.
    """
    if isinstance(solver, LinearInteriorPoint):
        task = FeatureTask(table, labels, weight, squared=squared)
        source = _checked_source(X, control.n_threads)
        return solve_by_features(source, task, control, np.zeros(table.cap.shape[1]), near)
    started = time.perf_counter()
    source, norms = _source_and_norms(X, control.n_threads)
    reach = reach_of(table, labels, weight)

    samples = SampleColumns(labels, norms, source.n_features, weight)

    def make(solver: RankDCD, precise: bool) -> _core.Machine:
        options = _options(solver, control, solver.rho_for(norms, reach), True, squared, precise)
        return machine_of(table, samples, options)

    return Descent(source, make, solver, control, started).run(start)


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


def machine_of(
    table: LaneTable | ThresholdTable, samples: SampleColumns, options: _core.LinearOptions
) -> _core.Machine:
    weight = NOTHING if samples.weight is None else samples.weight
    rows = (samples.norms, samples.n_features, options)
    if isinstance(table, ThresholdTable):
        return _core.threshold_machine(table.sign, table.cap, samples.labels, weight, *rows)
    bounds = (table.lower, table.upper, table.offset, table.epsilon)
    targets = NOTHING if samples.targets is None else samples.targets
    return _core.lane_machine(*bounds, samples.labels, weight, targets, *rows)


def reach_of(table: LaneTable | ThresholdTable, labels: np.ndarray, weight: Floats | None) -> float:
    """How large the sum of β over the samples can be, in a lane or at a threshold; the mean over these."""
    cap = table.cap if isinstance(table, ThresholdTable) else np.maximum(-table.lower, table.upper)
    return float(np.mean(np.bincount(labels, weight, len(cap)) @ cap))


def first_biases(table: LaneTable, labels: np.ndarray, weight: Floats | None, targets: Floats | None) -> Floats:
    """A constant score for every lane, to start from: the median of the offsets, weighted by C.

    In the end a bias is the sum of β, so it starts no further out than that can be.
    """
    weights = np.maximum(-table.lower, table.upper) * np.bincount(labels, weight, table.n_labels)[:, None]
    if targets is None:
        order = np.argsort(table.offset, axis=0)
        below = np.cumsum(np.take_along_axis(weights, order, 0), axis=0)
        middle = np.argmax(below >= 0.5 * below[-1], axis=0)
        biases = np.take_along_axis(table.offset, np.take_along_axis(order, middle[None], 0), 0)[0]
    else:
        biases = np.full(table.n_lanes, np.median(targets if weight is None else targets[weight > 0]))
    reach = weights.sum(axis=0)
    return np.clip(biases, -reach, reach)


def _checked_source(X: Any, n_threads: int) -> RowSource:
    """Rows that can be computed with; those on disk were checked when they were written."""
    return X if hasattr(X, "blocks") else _source_and_norms(X, n_threads)[0]


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
