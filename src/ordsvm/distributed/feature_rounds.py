"""The interior-point method on rows of several workers: the sums of a pass come from all of them, along a tree.

a round   the weights and their direction go to all workers, (d + m)² sums of every weight vector come back; the rest is
          that of one machine (solvers/linear/interior_point.py), and so is the number of rounds
a loss    rows of a lost worker are computed again by Dask, their α by the passes so far over these rows alone
          (feature_shard.py), and the round is begun anew
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from distributed import Future

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.distributed.copies import release
from ordsvm.distributed.feature_shard import Pass, ShardSystem, Sums, total
from ordsvm.distributed.shard import Job
from ordsvm.distributed.shards import Shards, WorkerLost
from ordsvm.rows.memory import RowSource
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.feature_system import Point, System
from ordsvm.solvers.linear.feature_task import FeatureRows, FeatureTask
from ordsvm.solvers.linear.interior_point import FeatureNewton
from ordsvm.solvers.linear.solve import start_of
from ordsvm.solvers.solution import LinearSolution


class SystemOfShards:
    """What `_core.FeatureSystem` is for rows in memory."""

    def __init__(self, shards: Shards, job: Job) -> None:
        self._shards, self._job = shards, job
        self._systems = shards.each(ShardSystem, [job] * len(shards))
        self._order: Pass | None = None
        self._before: list[Pass] = []
        self._accepted: list[int] = []
        self._sums: Sums | None = None

    @property
    def remade(self) -> bool:
        """Whether α of some rows were lost and made otherwise than they were."""
        return self._found.remade

    def begin(self, weights: Floats, change: Floats, thresholds: Floats, steps: Floats) -> None:
        self._before += [] if self._order is None else [self._order]
        self._order = Pass(self._n_passes, tuple(self._accepted), weights, change, thresholds, steps)
        self._accepted = []

    def add_up(self) -> None:
        """A round, anew for every worker that is lost in it."""
        while True:
            try:
                self._sums = self._round()
                return
            except WorkerLost:
                for number in self._shards.move_lost():
                    self._systems[number] = self._shards.of(number, ShardSystem, self._job, list(self._before))

    def system(self, vector: int) -> System:
        found, n_weights = self._found, self._passed.weights.shape[1]
        sums = found.panels[vector], found.columns[vector], found.hinges[vector]
        return System.from_sums(sums, found.first_extra, n_weights)

    def accept(self, vector: int) -> None:
        self._accepted.append(vector)

    def beta(self) -> Floats:
        """None of them: they stay on the workers."""
        return np.empty((0, self._job.table.n_columns))

    def betas(self, without: Sequence[int]) -> list[Future]:
        """The dual variables of every shard, 0 in some columns; of None where they were lost."""
        now, pairs = (self._n_passes, tuple(self._accepted)), zip(self._shards.places, self._systems, strict=True)
        return [self._shards.on(place, ShardSystem.beta, system, *now, without) for place, system in pairs]

    @property
    def _n_passes(self) -> int:
        return 0 if self._order is None else self._order.number + 1

    @property
    def _passed(self) -> Pass:
        assert self._order is not None
        return self._order

    @property
    def _found(self) -> Sums:
        assert self._sums is not None
        return self._sums

    def _round(self) -> Sums:
        pairs = zip(self._shards.places, self._systems, strict=True)
        parts = [self._shards.on(place, ShardSystem.add_up, system, self._order) for place, system in pairs]
        nodes, inner = self._shards.nodes(parts, total)
        last = [part for _, part in nodes]
        found = total(*self._shards.results(last))
        release(inner, last)
        return found


class DistributedNewton(FeatureNewton):
    """A fit whose rows are with the workers: of its source nothing but the shape is read."""

    core: Any

    def __init__(self, shards: Shards, job: Job, task: FeatureTask, control: Control) -> None:
        system = cast(_core.FeatureSystem, SystemOfShards(shards, job))
        rows, every_round = FeatureRows(cast(RowSource, job)), replace(control, report_every=1)
        super().__init__(rows, task, every_round, time.perf_counter(), system)

    def solve(self) -> LinearSolution:
        """Without dual variables."""
        return self.run(start_of(self.task))

    def betas(self) -> Sequence[Future]:
        """Of every shard; 0 where α proves less than that does."""
        without_proof = np.array([path.dual < 0.0 for path in self.paths])
        columns = np.broadcast_to(without_proof, self.core.beta().shape[1])
        return self.core.betas(np.flatnonzero(columns).tolist())

    def _pass(self, watch: _core.LinearWatch) -> None:
        self._begin_pass()
        self.core.add_up()
        if self.core.remade:
            self._wake()
        self._end_pass()

    def _wake(self) -> None:
        """Some rows have other α now: what the last round has summed up is no measure, and proves nothing."""
        for path in self.paths:
            path.system = None
            if path.rests:
                path.rests = False
                path.direction = Point(np.zeros_like(path.point.weights), np.zeros_like(path.point.thresholds))
