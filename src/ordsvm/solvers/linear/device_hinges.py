"""α of every hinge on a device, and the steps of its hinges there: hinge_steps.py for the rows of a tile at once.

Hinges of a row are those of its columns, which are weight vectors or thresholds, and, where samples may have two in a
column, a second one for each, whose cap is 0 where there is none. Labels, weights and targets cross to the device once.
α is kept twice, as the last accepted pass has left it and as the present one makes it: 16 bytes a hinge.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array
from ordsvm.devices import too_little_memory
from ordsvm.solvers.linear.feature_system import hinge_tables
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.linear.hinge_steps import LEAST_CAP, Given, Hinges, Steps, step_hinges, step_squared_hinges
from ordsvm.torch_library import TorchLibrary

N_SUMS = 6


class DeviceHinges:
    """What `_core.FeatureSystem` does for hinges whose scores are given."""

    def __init__(self, library: TorchLibrary, task: FeatureTask) -> None:
        self._library, self._squared = library, task.squared
        table = _table(task)
        self.n_samples, self.n_columns = len(task.labels), task.table.n_columns
        self.n_hinges = table.shape[1]  # of a row
        self._has_two = self.n_hinges > self.n_columns
        columns = np.arange(self.n_hinges) % self.n_columns
        self._vectors = 0 * columns if task.table.shared else columns
        self._accepted = np.zeros(self._vectors.max() + 1, dtype=np.int64)  # which of the two α, by weight vector
        self._table = library.array(table)
        self._labels = library.kept(task.labels)
        self._weight = None if task.weight is None else library.array(task.weight)
        self._targets = None if task.targets is None else library.array(task.targets)
        self._alpha = library.zeros(2 * self.n_hinges, self.n_samples)

    def begin(self, thresholds: Floats, steps: Floats) -> None:
        """A pass. `thresholds` and how a full step changes them: (2, n_thresholds); `steps` of every weight vector: see
        Path.step."""
        library, own = self._library, steps[self._vectors]
        centres = own[:, 3] > 0.0
        length, old_tau, tau, centre = library.array(np.ascontiguousarray(own.T)[:, :, None])
        self._steps = Steps(length, old_tau, tau, centre > 0.0, bool(centres.any()), bool(centres.all()))
        self._of_hinges = library.index(self._vectors)
        shifts = thresholds if thresholds.shape[1] else np.zeros((2, self.n_hinges))
        self._shifts = library.array(np.ascontiguousarray(shifts)[:, :, None])
        places = self._places()
        self._from, self._to = (library.index(which) for which in (places, (places + self.n_hinges) % len(self._alpha)))

    def begin_sums(self) -> None:
        self._sums = self._library.zeros(N_SUMS, self.n_hinges)

    def step(self, scores: Array, changes: Array, first: int) -> Given:
        """The steps of rows from `first` on, whose scores and changes are (n_vectors, n_rows): what every column gives.
        Their sums are added to those of the pass."""
        rows = slice(first, first + scores.shape[1])
        hinges = self._hinges(rows)
        slope = hinges.sign * (self._of_each(scores) - self._shifts[0]) - hinges.offset
        turn = hinges.sign * (self._of_each(changes) - self._shifts[1])
        step = step_squared_hinges if self._squared else step_hinges
        kept, given, sums = step(self._library, hinges, slope, turn, self._alpha[self._from, rows], self._steps)
        self._alpha[self._to, rows] = kept
        if self._has_two:
            given = self._of_columns(given, self._beta(hinges, kept))
            sums[1] = self._linear_part(hinges, given.beta)
        self._sums = self._with(sums)
        return given

    def sums_later(self) -> Callable[[], list[float]]:
        """The sums of the pass so far; what it returns waits for them."""
        with self._library.current():
            return self._library.fetch_later(self._sums.reshape(-1))

    def sums(self, vector: int) -> list[float]:
        """Loss, linear, complementarity, moved, cut and violation of a weight vector."""
        own = self._library.host(self._sums)[:, self._vectors == vector]
        return [*own[:-1].sum(axis=1).tolist(), float(own[-1].max())]

    def accept(self, vector: int) -> None:
        """From now on α of this weight vector is what the pass has made it."""
        self._accepted[vector] = 1 - self._accepted[vector]

    def beta(self, n_rows: int) -> Floats:
        """sign · α, summed over the hinges of a column, (n_samples, n_columns), so many rows at a time."""
        found = np.empty((self.n_samples, self.n_columns))
        places = self._library.index(self._places())
        for first in range(0, self.n_samples, n_rows):
            rows = slice(first, min(first + n_rows, self.n_samples))
            found[rows] = self._library.host(self._beta(self._hinges(rows), self._alpha[places, rows])).T
        return found

    def _places(self) -> np.ndarray:
        """Where the accepted α of every hinge are."""
        return self._accepted[self._vectors] * self.n_hinges + np.arange(self.n_hinges)

    def _hinges(self, rows: slice) -> Hinges:
        sign, offset, cap = self._table[:, :, self._library.index(self._labels[rows])]
        if self._weight is not None:
            cap = cap * self._weight[rows]
        if self._targets is not None:
            offset = offset + sign * self._targets[rows]
        exists = cap > LEAST_CAP
        return Hinges(sign, offset, self._library.where(exists, cap, 1.0), self._library.number(exists))

    def _of_each(self, values: Array) -> Array:
        """Of weight vectors, for every hinge."""
        return values if len(values) in (1, self.n_hinges) else values[self._of_hinges]

    def _of_columns(self, given: Given, beta: Array) -> Given:
        """With what the second hinges give."""
        m = self.n_columns
        weight, pull, push = (each[:m] + each[m:] for each in (given.weight, given.pull, given.push))
        return Given(weight, beta, pull, push)

    def _beta(self, hinges: Hinges, kept: Array) -> Array:
        """sign · α, summed over the hinges of a column."""
        alpha = kept if self._squared else self._library.where(kept > 0.0, kept, hinges.cap + kept)
        signed, m = hinges.sign * hinges.exists * alpha, self.n_columns
        return signed[:m] + signed[m:] if self._has_two else signed

    def _linear_part(self, hinges: Hinges, beta: Array) -> Array:
        """The dual's part that is linear in α, and its bend, where samples may have two hinges: these have one dual
        variable, their difference β. What they have in common would round away more than the gap."""
        m, size = self.n_columns, abs(beta)
        is_second = hinges.sign[:m] * beta < 0.0
        offset = self._library.where(is_second, hinges.offset[m:], hinges.offset[:m])
        bend = 0.25 * size / hinges.cap[:m] if self._squared else 0.0
        linear = (hinges.exists[:m] * size * (offset - bend)).sum(1)
        return self._library.join([linear, 0.0 * linear])

    def _with(self, sums: Array) -> Array:
        """Those of the pass and these."""
        before, violation = self._sums[:-1], self._sums[-1:]
        largest = self._library.where(sums[-1:] > violation, sums[-1:], violation)
        return self._library.join([before + sums[:-1], largest])


def no_memory(library: TorchLibrary, task: FeatureTask) -> MemoryError:
    """With what α takes."""
    n_samples, (_, n_hinges, _) = len(task.labels), _table(task).shape
    need = 16.0 * n_samples * n_hinges / 2**30
    alpha = f"the dual variables of {n_hinges} hinges each take {need:.2g} GB"
    return too_little_memory(library.name, library.free_memory(), n_samples, alpha)


def _table(task: FeatureTask) -> Floats:
    """Signs, offsets and caps, (3, n_hinges, n_labels): the second hinges follow the first ones."""
    sign, offset, cap, second_offset, second_cap = hinge_tables(task.table)
    first = np.stack([sign, offset, cap])
    if not np.any(second_cap > 0.0):
        return first
    return np.concatenate([first, np.stack([-np.ones_like(sign), second_offset, second_cap])], axis=1)
