"""Newton's system by features on a device: products with X, the hinges' steps and the sums over the rows.

A pass over the rows, a tile at a time: scores and their changes, X·[w, dw], move α (device_hinges.py), and
X'diag(v)X and X'[V, β, pull, push] are added up in float64. Of a pass only its sums come to the host. X crosses to the
device once in a fit, in its own precision, where it takes at most half of the memory that α leaves there, and else in
every pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.array_library import Array
from ordsvm.rows.memory import RowsInMemory
from ordsvm.solvers.linear.device_hinges import DeviceHinges
from ordsvm.solvers.linear.feature_system import Point, System
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.linear.hinge_steps import Given
from ordsvm.torch_library import TorchLibrary

TILE_VALUES = 2**26  # of X, and of what is computed for hinges, in float64 at a time on a GPU
TILE_VALUES_CPU = 2**20
VALUES_OF_HINGE = 16  # at a time, in its step
MOST_NUMBERS = 5000**2  # of the systems of all weight vectors


class DeviceSystem:
    """What `_core.FeatureSystem` does for a dense array in memory, but for the sums."""

    def __init__(self, library: TorchLibrary, X: Any, task: FeatureTask) -> None:
        self.library, self.appends_one, self.n_thresholds = library, task.appends_one, task.table.n_thresholds
        self.n_samples, n_features = X.shape
        self.hinges = DeviceHinges(library, task)
        values = max(1, n_features + VALUES_OF_HINGE * self.hinges.n_hinges)
        self._tile = max(1, (TILE_VALUES if library.queues else TILE_VALUES_CPU) // values)
        self._rows = library.kept(X) if self._fits(X.nbytes) else X
        self._sums: list[_Sums] = []

    def _fits(self, n_bytes: int) -> bool:
        return not n_bytes > 0.5 * self.library.free_memory()  # which is NaN where X stays where it is

    def begin(self, weights: Floats, change: Floats, thresholds: Floats, steps: Floats) -> None:
        self.hinges.begin(thresholds, steps)
        self._both = self.library.array(np.vstack([weights, change]).T)
        self._begin_sums()

    def _begin_sums(self) -> None:
        n_weights, both = self._both.shape
        self._sums = [_Sums(self.library, n_weights, self.n_thresholds) for _ in range(both // 2)]
        self.hinges.begin_sums()

    def add(self, block: _core.RowBlock, first: int, watch: _core.LinearWatch) -> bool:
        """All rows, in tiles of its own, and from the first one again where one does not fit into memory: some of its
        sums are made then. Where `watch` is asked, a GPU is at most one tile behind."""
        begin, last_is_done = 0, self.hinges.sums_later()
        while begin < self.n_samples:
            if watch.report(0, 0):
                return False
            end = min(begin + self._tile, self.n_samples)
            try:
                with self.library.current():
                    self._add_tile(begin, end)
            except self.library.out_of_memory as error:
                self._tile = self.library.less_than(end - begin, error)
                self._begin_sums()
                begin, last_is_done = 0, self.hinges.sums_later()
                continue
            is_done = self.hinges.sums_later()
            last_is_done()
            begin, last_is_done = end, is_done
        return True

    def _add_tile(self, begin: int, end: int) -> None:
        tile, n_vectors = self._extended(begin, end), len(self._sums)
        scores = self._both.T @ tile.T
        given = self.hinges.step(scores[:n_vectors], scores[n_vectors:], begin)
        parts = [self._part(given, vector) for vector in range(n_vectors)]
        scaled = None
        for own, part in zip(self._sums, parts, strict=True):
            scaled = self.library.product(tile, part.weight[:, None], scaled)
            own.add(tile, scaled, part)

    def _extended(self, begin: int, end: int) -> Array:
        """Rows in float64, with a 1 where there is an intercept."""
        tile = self.library.array(self._rows[begin:end])
        return self.library.join([tile, self.library.zeros(len(tile), 1) + 1.0], 1) if self.appends_one else tile

    def _part(self, given: Given, vector: int) -> _Part:
        """Of a weight vector, or of the only one with its thresholds."""
        m = self.n_thresholds
        own = given if m else [each[vector : vector + 1] for each in given]
        totals = [each.sum(0)[None] for each in own]
        columns = self.library.join([each[:m].sum(1)[None] for each in own])
        return _Part(totals[0][0], self.library.join([own[0][:m], *totals[1:]]), columns)

    def accept(self, vector: int) -> None:
        self.hinges.accept(vector)

    def beta(self) -> Floats:
        return self.hinges.beta(self._tile)

    def system(self, vector: int) -> System:
        return self._sums[vector].system(self.hinges.sums(vector))


class _Part(NamedTuple):
    """What the rows of a tile bring to the sums of a weight vector.

    weight      Σ_k v of every row
    sides       v of every threshold, then β, pull and push: (n_thresholds + 3, n_rows)
    columns     sums of v, β, pull and push of every threshold: (4, n_thresholds)
    """

    weight: Array
    sides: Array
    columns: Array


class _Sums:
    """What a pass adds up for one weight vector."""

    def __init__(self, library: TorchLibrary, d: int, m: int) -> None:
        self._library, self._m = library, m
        self._matrix, self._extra = library.zeros(d, d), library.zeros(d, m + 3)
        self._columns = library.zeros(4, m)

    def add(self, tile: Array, scaled: Array, part: _Part) -> None:
        """`scaled`: the rows of the tile times their weights."""
        self._library.add_product(self._matrix, tile.T, scaled)
        self._library.add_product(self._extra, tile.T, part.sides.T)
        self._columns += part.columns

    def system(self, hinges: Sequence[float]) -> System:
        host, m = self._library.host, self._m
        extra, columns = host(self._extra), host(self._columns)
        d = len(extra)
        whole = np.zeros((d + m, d + m))  # its upper triangle
        whole[:d, :d] = host(self._matrix)
        whole[:d, d:] = -extra[:, :m]
        whole[d:, d:] = np.diag(columns[0])
        whole[np.diag_indices(d + m)] += 1.0
        beta, pull, push = extra[:, m:].T
        point = Point(beta, 0.0 - columns[1])
        return System(whole, point, np.append(pull, -columns[2]), np.append(push, -columns[3]), *hinges)


def system_on(library: TorchLibrary, source: Any, task: FeatureTask) -> Any:
    """That of a device, if it can take these rows."""
    if not isinstance(source, RowsInMemory) or sp.issparse(source.X):
        raise ValueError(f"device={library.name!r} needs a dense array in memory: give X.toarray(), or device='cpu'.")
    n_features = source.X.shape[1]
    if task.table.n_vectors * n_features**2 > MOST_NUMBERS:
        raise ValueError(
            f"device={library.name!r} is for systems of few features, and there are {n_features:,} for each of "
            f"{task.table.n_vectors} weight vectors: give device='cpu'."
        )
    return DeviceSystem(library, source.X, task)
