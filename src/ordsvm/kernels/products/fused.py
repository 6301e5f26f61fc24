"""Products with the Gaussian kernel in one pass on a GPU, by Triton: values are made, used and forgotten in registers.

Fast products: squared distances from 22 bits of every feature, split into two float16 numbers whose three leading
products the tensor cores add up in float32; or from differences where there are few features. Sums over at most
CHUNK columns are float32, sums of these float64. Exact products: float64 throughout.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import torch
import triton
import triton.language as tl

from ordsvm._typing import Ints
from ordsvm.array_library import Array
from ordsvm.kernels.products.on_torch import EVERY, GaussianProducts, Rows
from ordsvm.torch_library import TorchLibrary

FEW_FEATURES = 12  # up to which squared differences are faster than tensor cores
MOST_RESIDENT = 128  # features of a tile of rows that stay in registers
FEATURES_AT_A_TIME = 64  # where there are more
CHUNK = 4096  # columns summed in float32
LARGEST_HALF = 1000.0  # to which features are scaled: products of two stay within float16's range of precision
FAR = 2.0  # times as far as any sample of the reference, beyond which forms in float16 do not reach
MOST_IN_SINGLE = 4096.0  # norm of a sample, as an exponent of 2, up to which one in float32 is off by 1e-3 at most
MOST_FACTORED = 30.0  # likewise, up to which values without the factor of their row stay in range
MOST_BOUNDED = 240.0  # likewise, up to which no exponent of two samples, −½‖x − y‖² ≥ −4 norms, needs to be cut off
LEAST_SQUARE = 8192  # samples of a square part of K from which on only half of it is computed
MOST_IN_DOUBLE = 64  # features of which large tiles of float64 fit into the shared memory of all GPUs
LARGE_SHARE = 0.15  # of all samples, from which on those that have moved are a square part of their own
BLOCKS_WANTED = 132 * 16  # programs that fill a GPU
MUCH_SHARED = 160 * 1024  # bytes of a block, with which tiles of many features are loaded four steps ahead; without, 3
LEAST_EXPONENT = tl.constexpr(-1000.0)  # of 2, below which a value stands for 0
ROUNDER = tl.constexpr(1.5 * 2.0**52)  # a number so large that the last bits of sums with it are whole numbers


@triton.jit
def _row_tile(HIGH, LOW, start, at, mask, WIDTH: tl.constexpr, STRIDE: tl.constexpr):
    """WIDTH features of some samples from the start-th on, in both parts: a row for every sample."""
    place = at.to(tl.int64)[:, None] * STRIDE + start + tl.arange(0, WIDTH)[None, :]
    high = tl.load(HIGH + place, mask=mask[:, None], other=0.0)
    low = tl.load(LOW + place, mask=mask[:, None], other=0.0)
    return high, low


@triton.jit
def _column_tile(HIGH, LOW, start, at, mask, WIDTH: tl.constexpr, STRIDE: tl.constexpr):
    """The same with a column for every sample."""
    place = at.to(tl.int64)[None, :] * STRIDE + start + tl.arange(0, WIDTH)[:, None]
    high = tl.load(HIGH + place, mask=mask[None, :], other=0.0)
    low = tl.load(LOW + place, mask=mask[None, :], other=0.0)
    return high, low


@triton.jit
def _add_products(sums, x_high, x_low, y_high, y_low):
    """The three leading products of two numbers in two parts each."""
    sums = tl.dot(x_high, y_high, sums)
    sums = tl.dot(x_high, y_low, sums)
    return tl.dot(x_low, y_high, sums)


@triton.jit
def _exp2(t, BOUNDED: tl.constexpr):
    """2^t in float64, with a relative error of about 2⁻⁵² for a given t.

    2^t is 2^[t] times the polynomial of degree 11 that is nearest to 2^f for |f| ≤ 1/2, relative error 3e-18. The whole
    number [t] is in the last bits of t + ROUNDER, and goes to the exponent by an addition of integers.

    BOUNDED: t is between LEAST_EXPONENT and little more than 0. Else it is cut off there, and NaN stays NaN.
    """
    within = t if BOUNDED else tl.minimum(tl.maximum(t, LEAST_EXPONENT), 0.0)
    rounded = within + ROUNDER
    f = within - (rounded - ROUNDER)
    p = 4.4558179083360645e-10 * f + 7.074194297288521e-09
    p = p * f + 1.0178057087733941e-07
    p = p * f + 1.3215432535912375e-06
    p = p * f + 1.5252733841556773e-05
    p = p * f + 0.00015403530463724353
    p = p * f + 0.001333355814640647
    p = p * f + 0.009618129107587256
    p = p * f + 0.055504108664821625
    p = p * f + 0.24022650695910158
    p = p * f + 0.6931471805599453
    p = p * f + 1.0
    bits = p.to(tl.int64, bitcast=True) + (rounded.to(tl.int64, bitcast=True) << 52)
    power = bits.to(tl.float64, bitcast=True)
    return power if BOUNDED else tl.where(t == t, power, t)


@triton.jit
def _values(inner, scale, x_norm, y_norm, FACTORED: tl.constexpr):
    """2^(scale·x·y − norms); FACTORED: without the factor of the row, which takes fewer operations."""
    if FACTORED:
        return tl.exp2(inner * scale - y_norm[None, :])
    return tl.exp2(tl.minimum(inner * scale - x_norm[:, None] - y_norm[None, :], 0.0))


@triton.jit
def _factor(x_norm, FACTORED: tl.constexpr):
    """Of a row, where its values are without."""
    return tl.exp2(-x_norm) if FACTORED else tl.full(x_norm.shape, 1.0, tl.float32)


@triton.jit(do_not_specialize=["n_rows", "n_columns"])
def _gaussian_by_products(
    X_HIGH, X_LOW, X_NORM, Y_HIGH, Y_LOW, Y_NORM, V, OUT, n_rows, n_columns, chunk, scale,
    FIRST: tl.constexpr, SECOND: tl.constexpr, WIDE: tl.constexpr, FACTORED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """OUT[i] += Σ_j 2^(scale·x·y − X_NORM − Y_NORM) V[j] over a chunk of columns.

    FIRST + SECOND features, both powers of two (SECOND may be 0), stay in registers; WIDE: FIRST at a time, SECOND in
    all.
    """
    stride: tl.constexpr = SECOND if WIDE else FIRST + SECOND
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row_there = i < n_rows
    x_norm = tl.load(X_NORM + i, mask=row_there, other=0.0)
    if not WIDE:
        x1h, x1l = _row_tile(X_HIGH, X_LOW, 0, i, row_there, FIRST, stride)
        if SECOND > 0:
            x2h, x2l = _row_tile(X_HIGH, X_LOW, FIRST, i, row_there, SECOND, stride)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    begin = tl.program_id(1) * chunk
    end = tl.minimum(begin + chunk, n_columns)
    for start in range(begin, end, COLUMNS):
        j = start + tl.arange(0, COLUMNS)
        column_there = j < end
        inner = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        if WIDE:
            for feature in range(0, SECOND, FIRST):
                xh, xl = _row_tile(X_HIGH, X_LOW, feature, i, row_there, FIRST, stride)
                yh, yl = _column_tile(Y_HIGH, Y_LOW, feature, j, column_there, FIRST, stride)
                inner = _add_products(inner, xh, xl, yh, yl)
        else:
            yh, yl = _column_tile(Y_HIGH, Y_LOW, 0, j, column_there, FIRST, stride)
            inner = _add_products(inner, x1h, x1l, yh, yl)
            if SECOND > 0:
                yh, yl = _column_tile(Y_HIGH, Y_LOW, FIRST, j, column_there, SECOND, stride)
                inner = _add_products(inner, x2h, x2l, yh, yl)
        y_norm = tl.load(Y_NORM + j, mask=column_there, other=0.0)
        v = tl.load(V + j, mask=column_there, other=0.0).to(tl.float32)
        total += _values(inner, scale, x_norm, y_norm, FACTORED) * v[None, :]
    sums = tl.sum(total, 1) * _factor(x_norm, FACTORED)
    tl.atomic_add(OUT + i, sums.to(tl.float64), mask=row_there)


@triton.jit(do_not_specialize=["n_rows", "n_columns"])
def _gaussian_by_differences(
    X, x_stride, Y, y_stride, V, OUT, n_rows, n_columns, chunk,
    FEATURES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """OUT[i] += Σ_j 2^(−‖x − y‖²) V[j] over a chunk of columns; X and Y have a row for every feature."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row_there = i < n_rows
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    begin = tl.program_id(1) * chunk
    end = tl.minimum(begin + chunk, n_columns)
    for start in range(begin, end, COLUMNS):
        j = start + tl.arange(0, COLUMNS)
        column_there = j < end
        distance = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for feature in tl.static_range(FEATURES):
            x = tl.load(X + feature * x_stride + i, mask=row_there, other=0.0)
            y = tl.load(Y + feature * y_stride + j, mask=column_there, other=0.0)
            difference = x[:, None] - y[None, :]
            distance += difference * difference
        v = tl.load(V + j, mask=column_there, other=0.0).to(tl.float32)
        total += tl.exp2(-distance) * v[None, :]
    tl.atomic_add(OUT + i, tl.sum(total, 1).to(tl.float64), mask=row_there)


@triton.jit(do_not_specialize=["n_rows", "n_columns"])
def _gaussian_exact(
    X, X_NORM, Y, Y_NORM, V, OUT, n_rows, n_columns, chunk,
    FIRST: tl.constexpr, SECOND: tl.constexpr, WIDE: tl.constexpr, BOUNDED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """OUT[i] += Σ_j 2^(x·y − X_NORM − Y_NORM) V[j] over a chunk of columns, in float64; features as above.

    Sums of products begin with the norms, which saves an addition of each value.
    """
    stride: tl.constexpr = SECOND if WIDE else FIRST + SECOND
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row_there = i < n_rows
    x_row = X + i.to(tl.int64)[:, None] * stride
    q1 = tl.arange(0, FIRST)
    minus_x_norm = -tl.load(X_NORM + i, mask=row_there, other=0.0)
    if not WIDE:
        x1 = tl.load(x_row + q1[None, :], mask=row_there[:, None], other=0.0)
        if SECOND > 0:
            q2 = FIRST + tl.arange(0, SECOND)
            x2 = tl.load(x_row + q2[None, :], mask=row_there[:, None], other=0.0)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float64)
    begin = tl.program_id(1) * chunk
    end = tl.minimum(begin + chunk, n_columns)
    for start in range(begin, end, COLUMNS):
        j = start + tl.arange(0, COLUMNS)
        column_there = j < end
        y_column = Y + j.to(tl.int64)[None, :] * stride
        y_norm = tl.load(Y_NORM + j, mask=column_there, other=0.0)
        inner = minus_x_norm[:, None] - y_norm[None, :]
        if WIDE:
            for feature in range(0, SECOND, FIRST):
                x = tl.load(x_row + feature + q1[None, :], mask=row_there[:, None], other=0.0)
                y = tl.load(y_column + feature + q1[:, None], mask=column_there[None, :], other=0.0)
                inner = tl.dot(x, y, inner, out_dtype=tl.float64)
        else:
            y = tl.load(y_column + q1[:, None], mask=column_there[None, :], other=0.0)
            inner = tl.dot(x1, y, inner, out_dtype=tl.float64)
            if SECOND > 0:
                y = tl.load(y_column + q2[:, None], mask=column_there[None, :], other=0.0)
                inner = tl.dot(x2, y, inner, out_dtype=tl.float64)
        v = tl.load(V + j, mask=column_there, other=0.0)
        total += _exp2(inner, BOUNDED) * v[None, :]
    tl.atomic_add(OUT + i, tl.sum(total, 1), mask=row_there)


class GatheredRows:
    """`Rows` whose forms are gathered once a fast product reads them: exact ones have their own."""

    def __init__(self, products: FusedGaussianProducts, which: Array) -> None:
        self._products, self.which, self.size = products, which, len(which)

    @cached_property
    def forms(self) -> tuple[Array, ...]:
        return self._products.gathered(self.which)

    @cached_property
    def sums(self) -> Array:
        """Room for sums by row of a fast square product, kept for the next one."""
        from ordsvm.kernels.products.fused_square import room_for_sums

        return room_for_sums(self.size, self.which.device)


class FusedGaussianProducts(GaussianProducts):
    """The Gaussian kernel, fused."""

    def __init__(
        self, library: TorchLibrary, samples: Any, order: Ints | None, gamma: float, reference: slice = EVERY
    ) -> None:
        super().__init__(library, samples, order, gamma, reference)
        scaled = self.samples[:, :-1] * math.sqrt(math.log2(math.e))  # exponents of 2
        n_features = scaled.shape[1]
        self._first, self._second, self._wide = feature_blocks(n_features)
        padded = self._second if self._wide else self._first + self._second
        self._padded = torch.nn.functional.pad(scaled, (0, padded - n_features))
        self._norm = 0.5 * (scaled * scaled).sum(1)
        self._is_bounded = float(self._norm.max()) <= MOST_BOUNDED
        self._is_narrow = padded <= MOST_IN_DOUBLE
        self._stages = 4 if library.shared_memory() >= MUCH_SHARED else 3
        self._by_differences = n_features <= FEW_FEATURES
        self.kind = n_features if self._by_differences else (self._first, self._second, self._wide)
        self._top = float(scaled[reference].abs().max())
        if self._by_differences:
            self._forms: tuple[Array, ...] = ((scaled / math.sqrt(2)).T.to(torch.float32).contiguous(),)
            return
        up = 2.0 ** math.floor(math.log2(LARGEST_HALF / self._top)) if self._top > 0 else 1.0
        self._scale = 1 / up**2
        large = torch.nn.functional.pad(scaled * up, (0, padded - n_features))
        high = large.to(torch.float16)
        low = (large - high).to(torch.float16)
        self._forms = (high, low, self._norm.to(torch.float32))
        self._is_factored = float(self._norm[reference].max()) <= MOST_FACTORED

    def far(self, size: int) -> Array:
        is_near = (self._padded[:size].abs().amax(1) <= FAR * self._top) & (self._norm[:size] <= MOST_IN_SINGLE)
        if 0.5 * self._top**2 > MOST_IN_SINGLE:  # forms of all rows are as coarse as those of the largest
            is_near &= False
        if not self._by_differences and self._is_factored:
            is_near &= self._norm[:size] <= 2 * MOST_FACTORED
        return torch.nonzero(~is_near)[:, 0]

    def rows(self, which: Array) -> Any:
        return GatheredRows(self, which)

    def gathered(self, which: Array) -> tuple[Array, ...]:
        if self._by_differences:
            return (self._forms[0][:, which].contiguous(),)
        return tuple(form[which] for form in self._forms)

    def first(self, size: int) -> Rows:
        if self._by_differences:
            return Rows(slice(0, size), size, self._forms)
        return Rows(slice(0, size), size, tuple(form[:size] for form in self._forms))

    def product(self, rows: Rows, columns: Rows, values: Array) -> Array:
        out = self.library.zeros(rows.size)
        self.add_product(rows, columns, values, out)
        return out

    def add_product(self, rows: Rows | GatheredRows, columns: Rows | GatheredRows, values: Array, out: Array) -> None:
        if columns.size == 0 or rows.size == 0:
            return
        is_square = rows is columns and rows.size >= LEAST_SQUARE and not (self._by_differences or self._wide)
        if is_square and isinstance(rows, GatheredRows):
            from ordsvm.kernels.products.fused_square import add_square_product

            self.n_values += rows.size * (rows.size + 1) // 2
            form = (self._first, self._second, self._is_factored)
            add_square_product(rows.forms, values, out, rows.sums, self._scale, form)
            return
        self.n_values += rows.size * columns.size
        if self._by_differences:
            x, y = rows.forms[0], columns.forms[0]
            grid, chunk = _grid(rows.size, columns.size, 64, CHUNK, 64)
            _gaussian_by_differences[grid](
                x, x.stride(0), y, y.stride(0), values, out, rows.size, columns.size, chunk,
                FEATURES=x.shape[0], ROWS=64, COLUMNS=64, num_warps=8, num_stages=2,
            )  # fmt: skip
        else:
            row_tile, column_tile, stages = (64, 128, 3) if self._is_narrow else (128, 32, self._stages)
            grid, chunk = _grid(rows.size, columns.size, row_tile, CHUNK, column_tile)
            _gaussian_by_products[grid](
                *rows.forms, *columns.forms, values, out, rows.size, columns.size, chunk, self._scale,
                FIRST=self._first, SECOND=self._second, WIDE=self._wide, FACTORED=self._is_factored,
                ROWS=row_tile, COLUMNS=column_tile, num_warps=4, num_stages=stages,
            )  # fmt: skip

    def scores(self, size: int, which: Array, values: Array, exact: bool = False) -> Array:
        """Those among themselves by half of their values; the others need all of theirs."""
        has_squares = self._is_narrow if exact else not (self._wide or self._by_differences)
        if len(which) < max(LEAST_SQUARE, LARGE_SHARE * size) or not has_squares:
            return super().scores(size, which, values, exact)
        others = torch.ones(size, dtype=torch.bool, device=which.device)
        others[which] = False
        rest, columns = torch.nonzero(others)[:, 0], self.rows(which)
        product = self.exact_product if exact else self.product
        out = self.library.zeros(size)
        out[rest] = product(self.rows(rest), columns, values)
        out[which] = product(columns, columns, values)
        return out

    def exact_product(self, rows: Rows, columns: Rows, values: Array) -> Array:
        out = self.library.zeros(rows.size)
        if columns.size == 0 or rows.size == 0:
            return out
        if rows is columns and rows.size >= LEAST_SQUARE and self._is_narrow:
            from ordsvm.kernels.products.fused_square import add_exact_square_product

            self.n_values += rows.size * (rows.size + 1) // 2
            x, x_norm = self._padded[rows.which], self._norm[rows.which]
            add_exact_square_product(x, x_norm, values, out, (self._first, self._second, self._is_bounded))
            return out
        self.n_values += rows.size * columns.size
        x, x_norm = self._padded[rows.which], self._norm[rows.which]
        y, y_norm = self._padded[columns.which], self._norm[columns.which]
        row_tile, column_tile = (128, 16) if self._is_narrow else (64, 32)
        grid, chunk = _grid(rows.size, columns.size, row_tile, 16 * CHUNK, column_tile)
        _gaussian_exact[grid](
            x, x_norm, y, y_norm, values, out, rows.size, columns.size, chunk,
            FIRST=min(16, self._first) if self._wide else self._first, SECOND=self._second, WIDE=self._wide,
            BOUNDED=self._is_bounded, ROWS=row_tile, COLUMNS=column_tile, num_warps=4, num_stages=2,
        )  # fmt: skip
        return out


def feature_blocks(n_features: int) -> tuple[int, int, bool]:
    """How features are divided: first and second block, powers of two from 16 on, or, if they are too many for
    registers, the size of a block, all of them, and True."""
    if n_features > MOST_RESIDENT:
        return FEATURES_AT_A_TIME, FEATURES_AT_A_TIME * math.ceil(n_features / FEATURES_AT_A_TIME), True
    first = 16
    while 2 * first <= n_features:
        first *= 2
    rest = n_features - first
    if rest <= 0:
        return first, 0, False
    second = max(16, 1 << (rest - 1).bit_length())
    return (2 * first, 0, False) if second >= first else (first, second, False)


def _grid(n_rows: int, n_columns: int, row_tile: int, most: int, column_tile: int) -> tuple[tuple[int, int], int]:
    """Programs by tiles of rows and chunks of columns: enough of them to fill the device."""
    tiles = triton.cdiv(n_rows, row_tile)
    chunks = max(triton.cdiv(n_columns, most), min(triton.cdiv(BLOCKS_WANTED, tiles), triton.cdiv(n_columns, 512)))
    chunk = triton.cdiv(triton.cdiv(n_columns, chunks), column_tile) * column_tile
    return (tiles, triton.cdiv(n_columns, chunk)), chunk
