"""What a worker does in a round of the interior-point method: a pass over its own rows, and the sums of it.

α of its hinges stay on the worker, in a `_core.FeatureSystem`. A pass reads those of the last accepted one and writes
others, so it may be repeated. α that are lost with a worker are made again from the weights: those of the central path
at the τ of the last pass, which is where Newton's method has brought them but for what the next steps mend.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.distributed.shard import Job, Shard
from ordsvm.solvers.linear.interior_point import FeatureTask, feature_core
from ordsvm.solvers.linear.rank_dcd import NoStop

LARGEST = 5  # of the sums of hinges the violation is the largest one


@dataclass(frozen=True)
class Pass:
    """The number of a pass, what `_core.FeatureSystem.begin` takes, and what the last pass has led to.

    accepted    weight vectors whose α the last pass has made
    """

    number: int
    accepted: tuple[int, ...]
    weights: Floats
    change: Floats
    thresholds: Floats
    steps: Floats  # length, old τ, new τ, and whether α goes to the centre, of every weight vector


@dataclass(frozen=True)
class Sums:
    """Sums of some shards: panels, sums of columns and of hinges of every weight vector (cpp/linear/interior_point).

    remade      whether α of a shard had been lost
    """

    panels: list[Floats]
    columns: list[Floats]
    hinges: Floats
    first_extra: int
    remade: bool

    def __sizeof__(self) -> int:
        """The size by which Dask accounts for memory and transfers."""
        return sum(panel.nbytes for panel in self.panels)


def total(*parts: Sums) -> Sums:
    hinges = np.array([part.hinges for part in parts])
    joined = hinges.sum(axis=0)
    joined[:, LARGEST] = hinges[:, :, LARGEST].max(axis=0)
    panels = [sum(some[1:], some[0]) for some in zip(*(part.panels for part in parts), strict=True)]
    columns = [sum(some[1:], some[0]) for some in zip(*(part.columns for part in parts), strict=True)]
    return Sums(panels, columns, joined, parts[0].first_extra, any(part.remade for part in parts))


class ShardSystem:
    """Newton's system of a shard. Where Dask moves it to another worker, α stay behind, and are made again there."""

    def __init__(self, shard: Shard, job: Job) -> None:
        self._shard, self._job = shard, job
        self._lock = Lock()
        self._core: _core.FeatureSystem | None = None
        self._settled = self._passed = -1  # the pass that α are ready for, and the last one that was made

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardSystem, (self._shard, self._job)

    def add_up(self, order: Pass) -> Sums:
        """The sums of a pass."""
        with self._lock:  # a pass that is repeated after a loss may still be under way
            remade = self._settle(order)
            core = self._pass(order)
            self._passed = order.number
            sums = [core.sums(vector) for vector in range(len(order.steps))]
        panels, columns, hinges = zip(*sums, strict=True)
        return Sums(list(panels), list(columns), np.array(hinges), core.first_extra, remade)

    def beta(self, number: int, accepted: tuple[int, ...]) -> Floats | None:
        """The dual variables before a pass; None where they were lost."""
        with self._lock:
            if self._core is None or not self._accept(number, accepted):
                return None
            return self._core.beta()

    def _settle(self, order: Pass) -> bool:
        """Makes α ready for a pass; whether they had been lost."""
        if self._core is not None and self._accept(order.number, order.accepted):
            return False
        self._core = feature_core(self._task(), self._job.n_features, 1)
        self._settled = order.number
        if order.number == 0:
            return False
        old = order.steps[:, 1]
        steps = np.stack([np.zeros_like(old), old, old, np.ones_like(old)], axis=1)
        nothing = np.zeros_like(order.weights)
        thresholds = np.stack([order.thresholds[0], np.zeros_like(order.thresholds[0])])
        core = self._pass(Pass(order.number, (), order.weights, nothing, thresholds, steps))
        for vector in range(len(steps)):
            core.accept(vector)
        return True

    def _accept(self, number: int, accepted: tuple[int, ...]) -> bool:
        """Takes what the pass before this one has made of α, if that has not been done; whether they are ready."""
        assert self._core is not None
        if self._settled == number - 1 == self._passed:
            for vector in accepted:
                self._core.accept(vector)
            self._settled = number
        return self._settled == number

    def _pass(self, order: Pass) -> _core.FeatureSystem:
        assert self._core is not None
        self._core.begin(order.weights, order.change, order.thresholds, order.steps)
        for first, block in self._shard.blocks():
            self._core.add(block, first, NoStop())
        return self._core

    def _task(self) -> FeatureTask:
        job, samples = self._job, self._shard.samples
        return FeatureTask(job.table, samples.labels, samples.weight, samples.targets, job.intercept, job.squared)
