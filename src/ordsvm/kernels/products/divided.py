"""Products on several devices of one machine: each has all samples, and computes a share of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordsvm._typing import Ints
from ordsvm.array_library import Array
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.products.on_torch import TorchProducts, torch_products
from ordsvm.torch_library import TorchLibrary

LEAST_VALUES = 10**8  # of K, from which on a product is divided: below, the vectors' ways take longer


class DividedRows:
    """Samples in the form in which each of the devices reads them, made where it is first needed."""

    def __init__(self, parts: Sequence[TorchProducts], which: Any, size: int) -> None:
        self._parts, self.which, self.size = parts, which, size
        self._made: dict[tuple[int, int, int], Any] = {}

    def of(self, k: int, begin: int, end: int) -> Any:
        """Those from `begin` to `end`, on device k."""
        if (k, begin, end) not in self._made:
            products = self._parts[k]
            if isinstance(self.which, slice):
                whole = (begin, end) == (0, self.size)
                made = products.first(end) if whole else products.rows(products.library.span(begin, end))
            else:
                made = products.rows(products.library.index(self.which[begin:end]))
            self._made[k, begin, end] = made
        return self._made[k, begin, end]


class DividedProducts(TorchProducts):
    """Arrays are on the first device; rows of products are divided evenly among all."""

    def __init__(self, parts: Sequence[TorchProducts]) -> None:
        super().__init__(parts[0].library)
        self._parts = parts
        self._first: dict[int, DividedRows] = {}

    def roundings(self) -> float | None:
        return self._parts[0].roundings()

    def half_squares(self) -> Array | None:
        return self._parts[0].half_squares()

    def rows(self, which: Array) -> Any:
        return DividedRows(self._parts, which, len(which))

    def first(self, size: int) -> Any:
        """Kept, since all scores of a level are about the same."""
        if size not in self._first:
            self._first = {size: DividedRows(self._parts, slice(0, size), size)}
        return self._first[size]

    def product(self, rows: Any, columns: Any, values: Array) -> Array:
        return self._divided("product", rows, columns, values)

    def exact_product(self, rows: Any, columns: Any, values: Array) -> Array:
        return self._divided("exact_product", rows, columns, values)

    def part(self, rows: Array, columns: Array) -> Array:
        self.n_values += len(rows) * len(columns)
        return self._parts[0].part(rows, columns)

    def diagonal(self, size: int) -> Array:
        return self._parts[0].diagonal(size)

    def _divided(self, kind: str, rows: DividedRows, columns: DividedRows, values: Array) -> Array:
        self.n_values += rows.size * columns.size
        n_shares = len(self._parts) if rows.size * columns.size >= LEAST_VALUES else 1
        ends = [rows.size * k // n_shares for k in range(n_shares + 1)]
        found = []
        for k in range(n_shares):  # devices work side by side: each is given its share before any is waited for
            products = self._parts[k]
            with products.library.current():
                there = columns.of(k, 0, columns.size)
                share = rows.of(k, ends[k], ends[k + 1])
                found.append(getattr(products, kind)(share, there, products.library.array(values)))
        return self.library.join([self.library.array(part) for part in found])


def divided_products(
    libraries: Sequence[TorchLibrary], kernel: Kernel, samples: Any, order: Ints | None = None
) -> TorchProducts:
    """Those of `torch_products`, by all of these devices."""
    parts = []
    for library in libraries:
        with library.current():
            parts.append(torch_products(library, kernel, samples, order))
    return parts[0] if len(parts) == 1 else DividedProducts(parts)
