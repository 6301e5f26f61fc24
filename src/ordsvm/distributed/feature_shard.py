"""What a worker does in a round of the interior-point method: a pass over its own rows, and the sums of it.

α of its hinges stay on the worker, in a `_core.FeatureSystem`. A pass reads those of the last accepted one and writes
others, so it may be repeated. α that are lost with a worker are made again, bit for bit, by the passes so far over its
own rows: weights and τ of all of these are a few numbers. Where they are not at hand, the next pass makes α: those of
the central path at its τ and at the weights that it leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.distributed.shard import Job, Shard
from ordsvm.solvers.linear.feature_task import FeatureTask, feature_core
from ordsvm.solvers.linear.rank_dcd import NoStop

TO_CENTRE = 3  # the column of steps that says so
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
    """Newton's system of a shard. Where it goes to another worker, the passes so far go along, and α stay behind.

    passes: those that others have made of the shard before, from the first one on.
    """

    def __init__(self, shard: Shard, job: Job, passes: Sequence[Pass] = ()) -> None:
        self._shard, self._job, self._passes = shard, job, list(passes)
        self._lock = Lock()
        self._core: _core.FeatureSystem | None = None
        self._without: set[int] = set()  # weight vectors that have no α yet
        self._settled = self._passed = -1  # the pass that α are ready for, and the last one that was made

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardSystem, (self._shard, self._job, tuple(self._passes))

    def add_up(self, order: Pass) -> Sums:
        """The sums of a pass."""
        with self._lock:  # a pass that is repeated after a loss may still be under way
            core = self._ready_core(order)
            self._pass(core, order)
            self._passes[order.number :] = [order]
            panels, columns, hinges = zip(*map(core.sums, range(len(order.steps))), strict=True)
            remade = bool(self._without) and order.number > 0
            return Sums(list(panels), list(columns), np.array(hinges), core.first_extra, remade)

    def beta(self, number: int, accepted: tuple[int, ...], without: Sequence[int] = ()) -> Floats | None:
        """The dual variables before a pass, 0 in some columns; None where they were lost."""
        with self._lock:
            if self._core is None or not self._accept(number, accepted) or self._without:
                return None
            beta = self._core.beta()
        beta[:, list(without)] = 0.0
        return beta

    def _ready_core(self, order: Pass) -> _core.FeatureSystem:
        """With α as a pass begins with them."""
        if self._core is not None and self._accept(order.number, order.accepted):
            return self._core
        self._core = feature_core(self._task(), self._job.n_features, 1)
        before = self._passes[: order.number]
        self._without = set(range(len(order.steps)))
        self._settled = 0 if len(before) == order.number else order.number
        for past in before if self._settled == 0 else ():
            self._accept(past.number, past.accepted)
            self._pass(self._core, past)
        self._accept(order.number, order.accepted)
        return self._core

    def _accept(self, number: int, accepted: tuple[int, ...]) -> bool:
        """Takes what the pass before this one has made of α, if that has not been done; whether they are ready."""
        assert self._core is not None
        if self._settled == number - 1 == self._passed:
            for vector in accepted:
                self._core.accept(vector)
            self._settled, self._without = number, self._without - set(accepted)
        return self._settled == number

    def _pass(self, core: _core.FeatureSystem, order: Pass) -> None:
        steps = order.steps.copy()
        steps[list(self._without), TO_CENTRE] = 1.0
        core.begin(order.weights, order.change, order.thresholds, steps)
        for first, block in self._shard.blocks():
            core.add(block, first, NoStop())
        self._passed = order.number

    def _task(self) -> FeatureTask:
        job, samples = self._job, self._shard.samples
        return FeatureTask(job.table, samples.labels, samples.weight, samples.targets, job.intercept, job.squared)
