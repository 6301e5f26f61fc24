"""Newton's system by features on a device: products with X and the sums over its rows there, hinges on the host.

A pass over the rows, a tile at a time: scores and their changes, X·[w, dw], go to the host, where the core moves α
(cpp/linear/interior_point); v, β, pull and push of every row come back, and X'diag(v)X and X'[V, β, pull, push] are
added up in float64. Numbers of a row cross twice, its features once in a fit: X stays on the device, in its own
precision, where it takes at most half of the memory there, and else crosses in every pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.array_library import Array, TorchLibrary
from ordsvm.solvers.linear.feature_system import Point, System

TILE_VALUES = 2**26  # of X, in float64 at a time on a GPU
TILE_VALUES_CPU = 2**20
MOST_NUMBERS = 5000**2  # of the systems of all weight vectors


class Shape(NamedTuple):
    """What a system is about.

    n_vectors       weight vectors
    n_thresholds    of the only one; 0 where there are none
    appends_one     whether rows get a 1, for an intercept
    """

    n_vectors: int
    n_thresholds: int
    appends_one: bool


class DeviceSystem:
    """What `_core.FeatureSystem` does for a dense array in memory, but for the sums. `core` has no features."""

    def __init__(self, library: TorchLibrary, X: Any, core: _core.FeatureSystem, shape: Shape) -> None:
        self.library, self.core, self.shape = library, core, shape
        self.n_samples, n_features = X.shape
        self._tile = max(1, (TILE_VALUES if library.queues else TILE_VALUES_CPU) // max(1, n_features))
        self._rows = library.kept(X) if self._fits(X.nbytes) else X
        self._sums: list[_Sums] = []

    def _fits(self, n_bytes: int) -> bool:
        return not n_bytes > 0.5 * self.library.free_memory()  # which is NaN where X stays where it is

    def begin(self, weights: Floats, change: Floats, thresholds: Floats, steps: Floats) -> None:
        none = np.zeros((self.shape.n_vectors, 0))
        self.core.begin(none, none, thresholds, steps)
        self._both = self.library.array(np.vstack([weights, change]).T)
        n_weights = weights.shape[1]
        self._sums = [_Sums(self.library, n_weights, self.shape.n_thresholds) for _ in weights]

    def add(self, block: _core.RowBlock, first: int, watch: _core.LinearWatch) -> bool:
        """All rows, in tiles of its own."""
        begin = 0
        while begin < self.n_samples:
            if watch.report(0, 0):
                return False
            end = min(begin + self._tile, self.n_samples)
            try:
                with self.library.current():
                    tile = self._extended(begin, end)
                    scores = self.library.host(tile @ self._both)
            except self.library.out_of_memory as error:
                self._tile = self.library.less_than(end - begin, error)
                continue
            self._add_tile(tile, scores, begin)
            begin = end
        return True

    def _extended(self, begin: int, end: int) -> Array:
        """Rows in float64, with a 1 where there is an intercept."""
        tile = self.library.array(self._rows[begin:end])
        return self.library.join([tile, self.library.zeros(len(tile), 1) + 1.0], 1) if self.shape.appends_one else tile

    def _add_tile(self, tile: Array, scores: Floats, first: int) -> None:
        n_vectors = self.shape.n_vectors
        own, changes = (np.ascontiguousarray(part) for part in (scores[:, :n_vectors], scores[:, n_vectors:]))
        with self.library.current():
            given = self.library.array(self.core.step_rows(own, changes, first).reshape(4, -1, len(scores)))
            for vector, sums in enumerate(self._sums):
                sums.add(tile, given if self.shape.n_thresholds else given[:, vector : vector + 1])

    def accept(self, vector: int) -> None:
        self.core.accept(vector)

    def beta(self) -> Floats:
        return self.core.beta()

    def system(self, vector: int) -> System:
        return self._sums[vector].system(self.core.sums(vector)[2])


class _Sums:
    """What a pass adds up for one weight vector."""

    def __init__(self, library: TorchLibrary, d: int, m: int) -> None:
        self._library, self._m = library, m
        self._matrix, self._extra = library.zeros(d, d), library.zeros(d, m + 3)
        self._columns = library.zeros(4, m)

    def add(self, tile: Array, given: Array) -> None:
        """`given`: v, β, pull and push of every column and row of the tile."""
        total = given.sum(1)
        sides = self._library.join([given[0][: self._m], total[1:]])
        self._library.add_product(self._extra, tile.T, sides.T)
        if self._m:
            self._columns += given.sum(2)
        rooted = tile * self._library.root(total[0])[:, None]
        self._library.add_product(self._matrix, rooted.T, rooted)

    def system(self, hinges: Any) -> System:
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
