"""Products by the core, in float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ordsvm._typing import Ints
from ordsvm.array_library import Array
from ordsvm.kernels.matrix import KernelMatrix

BLOCK_VALUES = 2**22  # kernel values in memory at a time


class KernelProducts(Protocol):
    """What a method needs of K, samples in an order of its own: products, parts and the diagonal, where arrays are."""

    n_values: int  # kernel values computed

    def rows(self, which: Array) -> Any:
        """Samples in the form in which `product` reads them."""

    def first(self, size: int) -> Any:
        """The first so many samples, likewise."""

    def product(self, rows: Any, columns: Any, values: Array) -> Array:
        """K[rows, columns] @ values, as precise as is fast."""

    def add_product(self, rows: Any, columns: Any, values: Array, out: Array) -> None:
        """The same, added to `out`."""

    def exact_product(self, rows: Any, columns: Any, values: Array) -> Array:
        """`product` in float64 throughout."""

    def scores(self, size: int, which: Array, values: Array, exact: bool = False) -> Array:
        """Scores of the first `size` samples for weights of some of them; `exact`: in float64 throughout."""

    def part(self, rows: Array, columns: Array) -> Array:
        """K[rows, columns] in float64."""

    def diagonal(self, size: int) -> Array:
        """Of the first so many samples."""


@dataclass
class HostProducts:
    """Products of a `KernelMatrix`; sample i here is sample order[i] there."""

    matrix: KernelMatrix
    order: Ints
    n_threads: int = 1
    n_values: int = 0

    def rows(self, which: Array) -> Ints:
        return np.asarray(which)

    def first(self, size: int) -> Ints:
        return np.arange(size)

    def product(self, rows: Ints, columns: Ints, values: Array) -> Array:
        if len(rows) == len(self.order):
            full = np.zeros(len(self.order))
            full[self.order[columns]] = values
            self.n_values += len(rows) * len(columns)
            return self.matrix.product(full, self.n_threads)[self.order[rows]]
        out = np.zeros(len(rows))
        if len(columns):
            step = max(1, BLOCK_VALUES // len(columns))
            for i in range(0, len(rows), step):
                out[i : i + step] = self.part(rows[i : i + step], columns) @ values
        return out

    exact_product = product

    def add_product(self, rows: Ints, columns: Ints, values: Array, out: Array) -> None:
        out += self.product(rows, columns, values)

    def scores(self, size: int, which: Array, values: Array, exact: bool = False) -> Array:
        return self.product(self.first(size), which, values)

    def part(self, rows: Ints, columns: Ints) -> Array:
        self.n_values += len(rows) * len(columns)
        return self.matrix.part(self.order[rows], self.order[columns], self.n_threads)

    def diagonal(self, size: int) -> Array:
        return self.matrix.rows.diagonal()[self.order[:size]]
