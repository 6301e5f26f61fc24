"""Blocks on the diagonal of stacks, inverted by CUDA graphs: the kernels of a block of 512 rows, of which there are
some thirty, take a GPU half a millisecond, and the host several times that to launch one by one."""

from __future__ import annotations

from typing import Any

import torch

from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.solvers.kernel.cuda_graphs import captured
from ordsvm.solvers.kernel.stacked_cholesky import BLOCK, inverses_of_factors, invert_factors


class CapturedInverses:
    """`inverses_of_factors` for stacks of blocks of at most so many rows: a graph for every number of them, made when
    there are as many for the second time."""

    def __init__(self, library: ArrayLibrary, size: int = BLOCK) -> None:
        self._library, self._size = library, size
        self._given = self._found = library.zeros(0, size, size)
        self._graphs: dict[int, torch.cuda.CUDAGraph | None] = {}
        self._seen: set[int] = set()
        self._pool: Any = None

    def __call__(self, matrices: Array) -> Array:
        graph = self._graph(len(matrices))
        if graph is None:
            return inverses_of_factors(self._library, matrices)
        n, given = matrices.shape[-1], self._given[: len(matrices)]
        given[:, :n, :n] = matrices
        if n < self._size:  # the block goes on as the identity
            given[:, n:] = 0.0
            given.diagonal(dim1=1, dim2=2)[:, n:] = 1.0
        graph.replay()
        return self._found[: len(matrices), :n, :n].clone()

    def _graph(self, count: int) -> torch.cuda.CUDAGraph | None:
        if count not in self._seen:
            self._seen.add(count)
            return None
        if count > len(self._given):
            self._make_room(count)
        if count not in self._graphs:
            self._graphs[count] = self._captured(count)
        return self._graphs[count]

    def _make_room(self, count: int) -> None:
        torch.cuda.current_stream(self._given.device).synchronize()  # graphs under way end before they go
        self._graphs.clear()
        self._given, self._found = (self._library.zeros(count, self._size, self._size) for _ in range(2))

    def _captured(self, count: int) -> torch.cuda.CUDAGraph | None:
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        given, found = self._given[:count], self._found[:count]

        def launch() -> None:
            found.zero_()
            invert_factors(self._library, given, found)

        return captured(launch, given.device, self._pool)
