"""What the interior-point method by features is given: hinges, the columns of the samples, and their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.problem.label_table import LabelTable
from ordsvm.rows.memory import RowSource
from ordsvm.solvers.linear.feature_system import hinge_columns

NOTHING = np.empty(0)


@dataclass(frozen=True)
class FeatureTask:
    """A table and the columns of the samples that it is about."""

    table: LabelTable
    labels: np.ndarray
    weight: Floats | None = None
    targets: Floats | None = None
    intercept: bool = True
    squared: bool = False

    @property
    def appends_one(self) -> bool:
        """Whether rows get a 1, for an intercept."""
        return self.intercept and not self.table.shared

    def caps(self) -> Floats:
        """The sum of the caps of a weight vector."""
        totals = np.bincount(self.labels, self.weight, self.table.n_labels) @ self.table.widths()
        return np.array([totals.sum()]) if self.table.shared else totals

    def reach(self, biases: Floats) -> Floats:
        """The mean distance of margins from a constant score, by caps, of a weight vector: where τ starts."""
        if self.table.shared:
            return np.ones(1)
        distance = np.abs(self.table.offset - biases) + self.table.epsilon
        if self.targets is None:
            of_labels = np.bincount(self.labels, self.weight, self.table.n_labels)[:, None] * self.table.widths()
            return _ratio((of_labels * distance).sum(axis=0), of_labels.sum(axis=0))
        weight = np.ones(len(self.targets)) if self.weight is None else self.weight
        return np.array([weight @ np.abs(self.targets - biases) / weight.sum()]) + self.table.epsilon.max()


@dataclass(frozen=True)
class FeatureRows:
    """Where the rows are, ‖x‖² of each, unless that would be another pass over a file or a cluster, and all of them
    where they are in memory."""

    source: RowSource
    norms: np.ndarray | None = None
    X: Any = None


def feature_core(task: FeatureTask, n_features: int, n_threads: int) -> _core.FeatureSystem:
    """Newton's system of a task, with α of all its hinges."""
    return _core.FeatureSystem(
        hinge_columns(task.table),
        task.labels,
        NOTHING if task.weight is None else task.weight,
        NOTHING if task.targets is None else task.targets,
        n_features=n_features,
        thresholds=task.table.shared,
        intercept=task.appends_one,
        squared=task.squared,
        n_threads=n_threads,
    )


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.ones_like(numerator), where=denominator > 0)
