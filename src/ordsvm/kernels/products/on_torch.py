"""Products by torch on a device, in tiles: K is never stored.

This is the plain version, float64 throughout and for every kernel; fused.py has faster ones for some.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from ordsvm._typing import Ints
from ordsvm.array_library import Array
from ordsvm.devices import TensorRows
from ordsvm.kernels.base import Kernel
from ordsvm.kernels.given import COMPLEX_VALUES, VALUES_NOT_FINITE, Custom, Precomputed
from ordsvm.kernels.kernels import RBF, Laplacian, Linear, Polynomial
from ordsvm.kernels.products.dense_rows import dense_on
from ordsvm.torch_library import TorchLibrary

TILE_VALUES = 2**27  # kernel values in memory at a time on a GPU
TILE_VALUES_CPU = 2**22
ROWS_OF_CENTRE = 4096
MOST_ROUNDED = 1e-9  # of a value by its norms
EVERY = slice(None)


class Rows(NamedTuple):
    """Samples in the forms that products read: their numbers, and whatever a kind of products keeps of each."""

    which: Any  # index array, or the slice of the first ones
    size: int
    forms: tuple[Array, ...] = ()


class TorchProducts(ABC):
    """Products on a device; n_values counts the kernel values computed."""

    def __init__(self, library: TorchLibrary) -> None:
        self.library = library
        self.n_values = 0

    def roundings(self) -> float | None:
        """Of a value, in units of the largest one's last place; None: as many as the core makes."""
        return None

    def half_squares(self) -> Array | None:
        """½‖x‖² of the samples that exponents are made of: the larger, the more they are rounded. None: of no norms."""
        return None

    def rows(self, which: Array) -> Rows:
        return Rows(which, len(which))

    def first(self, size: int) -> Rows:
        return Rows(slice(0, size), size)

    def product(self, rows: Rows, columns: Rows, values: Array) -> Array:
        return self.exact_product(rows, columns, values)

    def add_product(self, rows: Rows, columns: Rows, values: Array, out: Array) -> None:
        """`product`, added to `out`."""
        out += self.product(rows, columns, values)

    def scores(self, size: int, which: Array, values: Array, exact: bool = False) -> Array:
        product = self.exact_product if exact else self.product
        return product(self.first(size), self.rows(which), values)

    def far(self, size: int) -> Array:
        """Which of the first samples are so far from the reference that only `exact_product` is for them."""
        return self.library.index([])

    def beyond_norms(self, size: int) -> Array:
        """Which of the first samples are so far out that `product_by_differences` is for them."""
        return self.library.index([])

    @abstractmethod
    def exact_product(self, rows: Rows, columns: Rows, values: Array) -> Array: ...

    def product_by_differences(self, rows: Rows, columns: Rows, values: Array) -> Array:
        return self.exact_product(rows, columns, values)

    @abstractmethod
    def part(self, rows: Array, columns: Array) -> Array: ...

    @abstractmethod
    def diagonal(self, size: int) -> Array: ...


class TiledProducts(TorchProducts):
    """Products from float64 tiles of values between samples; subclasses make the values."""

    def __init__(self, library: TorchLibrary, samples: Any, order: Ints | None) -> None:
        super().__init__(library)
        if isinstance(samples, TensorRows):  # rows are put in order as they are, float32 is widened afterwards
            there = library.array((samples if order is None else samples[order]).gathered())
        else:
            there = dense_on(library, samples)
            there = there if order is None else there[library.index(order)]
        self.samples = self._prepared(there)
        self._tile = TILE_VALUES if library.device.type == "cuda" else TILE_VALUES_CPU

    def _prepared(self, samples: Array) -> Array:
        """Samples as `values` takes them."""
        return samples

    @abstractmethod
    def values(self, rows: Array, columns: Array) -> Array:
        """k(x, y) for every row x and column y, given as prepared samples."""

    def exact_product(self, rows: Rows, columns: Rows, values: Array) -> Array:
        if columns.size == 0:
            return self.library.zeros(rows.size)
        self.n_values += rows.size * columns.size
        left, right = self.samples[rows.which], self.samples[columns.which]
        return self._in_tiles(left, right, lambda tile: tile @ values, (len(left),))

    def part(self, rows: Array, columns: Array) -> Array:
        self.n_values += len(rows) * len(columns)
        return self._in_tiles(self.samples[rows], self.samples[columns], lambda tile: tile, (len(rows), len(columns)))

    def _in_tiles(
        self,
        left: Array,
        right: Array,
        use: Callable[[Array], Array],
        shape: tuple[int, ...],
        make: Callable[[Array, Array], Array] | None = None,
    ) -> Array:
        """What becomes of the values, so many rows of them at a time; fewer, once memory does not suffice."""
        make, made = make or self.values, None
        begin = 0
        while begin < len(left) or made is None:
            step = max(1, self._tile // max(1, len(right)))
            try:
                tile = use(make(left[begin : begin + step], right))
                if step >= len(left):
                    return tile
                made = self.library.zeros(*shape) if made is None else made
                made[begin : begin + step] = tile
                begin += step
            except self.library.out_of_memory as error:
                if step == 1:
                    raise
                self._tile = self.library.less_than(min(self._tile, len(left) * len(right)), error)
        return made

    def diagonal(self, size: int) -> Array:
        step = 64
        parts = [self.samples[i : min(i + step, size)] for i in range(0, size, step)]
        return self.library.join([self.values(part, part).diagonal() for part in parts])


class GaussianProducts(TiledProducts):
    """exp(x·y − ½‖x‖² − ½‖y‖²) of centred samples times √(2·gamma): the last column of `samples` is −½‖x‖².

    reference   the samples that others are computed with, by which all are centred
    """

    def __init__(
        self, library: TorchLibrary, samples: Any, order: Ints | None, gamma: float, reference: slice = EVERY
    ) -> None:
        self._gamma, self._reference = gamma, reference
        super().__init__(library, samples, order)

    def _prepared(self, samples: Array) -> Array:
        scaled = (samples - centre(samples[self._reference])) * (2 * self._gamma) ** 0.5
        return self.library.join([scaled, -0.5 * (scaled * scaled).sum(1)[:, None]], axis=1)

    def roundings(self) -> float:
        return 8.0  # of the exponential; those of exponents differ by sample

    def half_squares(self) -> Array:
        return -self.samples[:, -1]

    def beyond_norms(self, size: int) -> Array:
        """Which of the first samples are so far out that their values have to be made of differences."""
        unit = 4.0 * (self.samples.shape[1] + 6.0) * sys.float_info.epsilon
        return self.library.places(unit * self.half_squares()[:size] > MOST_ROUNDED)

    def product_by_differences(self, rows: Rows, columns: Rows, values: Array) -> Array:
        left, right = (self.samples[each.which][:, :-1] for each in (rows, columns))
        distances = self.library.square_distances
        self.n_values += rows.size * columns.size

        def make(some: Array, others: Array) -> Array:
            return (distances(some, others) * -0.5).exp_()

        return self._in_tiles(left, right, lambda tile: tile @ values, (len(left),), make)

    def values(self, rows: Array, columns: Array) -> Array:
        exponent = rows[:, :-1] @ columns[:, :-1].T
        exponent += rows[:, -1:]
        exponent += columns[:, -1]
        return exponent.clamp_(max=0).exp_()

    def diagonal(self, size: int) -> Array:
        return self.library.zeros(size) + 1.0


class LaplacianProducts(TiledProducts):
    def __init__(self, library: TorchLibrary, samples: Any, order: Ints | None, gamma: float) -> None:
        self._gamma = gamma
        super().__init__(library, samples, order)

    def _prepared(self, samples: Array) -> Array:
        return samples * self._gamma

    def values(self, rows: Array, columns: Array) -> Array:
        return (-self.library.distances(rows, columns)).exp_()

    def diagonal(self, size: int) -> Array:
        return self.library.zeros(size) + 1.0


class LinearProducts(TiledProducts):
    """Products by way of the weights of the features."""

    def values(self, rows: Array, columns: Array) -> Array:
        return rows @ columns.T

    def exact_product(self, rows: Rows, columns: Rows, values: Array) -> Array:
        self.n_values += rows.size * columns.size
        return self.samples[rows.which] @ (self.samples[columns.which].T @ values)

    def diagonal(self, size: int) -> Array:
        return (self.samples[:size] ** 2).sum(1)


class PolynomialProducts(TiledProducts):
    def __init__(self, library: TorchLibrary, samples: Any, order: Ints | None, kernel: Polynomial) -> None:
        self._kernel = kernel
        super().__init__(library, samples, order)

    def values(self, rows: Array, columns: Array) -> Array:
        return (self._kernel.gamma * (rows @ columns.T) + self._kernel.coef0) ** self._kernel.degree

    def diagonal(self, size: int) -> Array:
        return (self._kernel.gamma * (self.samples[:size] ** 2).sum(1) + self._kernel.coef0) ** self._kernel.degree


class CallableProducts(TiledProducts):
    """A callable of two tensors of samples in float64."""

    def __init__(self, library: TorchLibrary, samples: Any, order: Ints | None, kernel: Custom) -> None:
        self._kernel = kernel
        super().__init__(library, samples, order)

    def values(self, rows: Array, columns: Array) -> Array:
        values = self._called(rows, columns)
        if tuple(values.shape) != (len(rows), len(columns)):
            raise ValueError(
                f"The callable kernel returned shape {tuple(values.shape)} for {len(rows)} and {len(columns)} samples: "
                "it must return one value for every pair."
            )
        if values.is_complex():
            raise ValueError(COMPLEX_VALUES)
        values = 1.0 * self.library.array(values)  # which may be one that the callable keeps
        if not bool(values.isfinite().all()):
            raise ValueError(VALUES_NOT_FINITE)
        return values

    def _called(self, rows: Array, columns: Array) -> Array:
        try:
            return self.library.kept(self._kernel.kernel(rows, columns))
        except (self.library.out_of_memory, MemoryError):
            raise
        except Exception as error:
            raise TypeError(
                f"A callable kernel on device={self.library.name!r} gets tensors of samples and returns a tensor of "
                f"values; this one failed with {type(error).__name__}: {error}. Write it for tensors, or give "
                "device='cpu', where it gets arrays."
            ) from error


class GivenProducts(TorchProducts):
    """A matrix of kernel values."""

    def __init__(self, library: TorchLibrary, samples: Any, order: Ints | None) -> None:
        super().__init__(library)
        values = library.array(samples)
        index = None if order is None else library.index(order)
        self._values = values if index is None else values[index][:, index]

    def exact_product(self, rows: Rows, columns: Rows, values: Array) -> Array:
        self.n_values += rows.size * columns.size
        return self._values[rows.which][:, columns.which] @ values

    def part(self, rows: Array, columns: Array) -> Array:
        self.n_values += len(rows) * len(columns)
        return self._values[rows][:, columns]

    def diagonal(self, size: int) -> Array:
        return self._values.diagonal()[:size]


def torch_products(
    library: TorchLibrary, kernel: Kernel, samples: Any, order: Ints | None = None, reference: slice = EVERY
) -> TorchProducts:
    """The fastest products there are for a kernel on a device; sample i here is sample order[i] there.

    Where columns are of the reference alone, no score depends on what the other samples are.
    """
    if isinstance(kernel, RBF):
        if library.fuses:
            from ordsvm.kernels.products.fused import FusedGaussianProducts

            return FusedGaussianProducts(library, samples, order, kernel.gamma, reference)
        return GaussianProducts(library, samples, order, kernel.gamma, reference)
    if isinstance(kernel, Laplacian):
        return LaplacianProducts(library, samples, order, kernel.gamma)
    if isinstance(kernel, Linear):
        return LinearProducts(library, samples, order)
    if isinstance(kernel, Polynomial):
        return PolynomialProducts(library, samples, order, kernel)
    if isinstance(kernel, Precomputed):
        return GivenProducts(library, samples, order)
    if isinstance(kernel, Custom):
        return CallableProducts(library, samples, order, kernel)
    raise ValueError(f"{type(kernel).__name__} kernels are not computed on a device: use device='cpu'.")


def centre(samples: Array) -> Array:
    """The medians of the features, of some of the rows: few rows far from the others do not move them."""
    step = max(1, len(samples) // ROWS_OF_CENTRE)
    return samples[::step].median(0).values
