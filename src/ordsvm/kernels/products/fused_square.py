"""Products of the Gaussian kernel matrix of some samples with a vector, on a GPU: every value is used for both of its
samples, so half of them are computed. Otherwise as in fused.py.

A tile of columns stays with its program and rows go by, for tensor cores leave a row of a tile with four neighbours:
sums by row, made for every tile, stay within them, and sums by column are made once, at the end.
"""

from __future__ import annotations

import triton
import triton.language as tl

from ordsvm.array_library import Array
from ordsvm.kernels.products.fused import CHUNK, _add_products, _column_tile, _exp, _grid, _row_tile

TILE = (64, 64, 4, 3)  # rows, columns, warps, stages
EXACT_TILE = (128, 16, 4, 2)


@triton.jit(do_not_specialize=["n"])
def _square(
    HIGH, LOW, NORM, V, OUT, n, chunk, scale,
    FIRST: tl.constexpr, SECOND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """OUT += K V: a tile of columns, and of a chunk of rows those that do not come before it."""
    first = tl.program_id(0) * COLUMNS
    begin = tl.program_id(1) * chunk
    end = tl.minimum(begin + chunk, n)
    if end > first:
        j = first + tl.arange(0, COLUMNS)
        column_there = j < n
        y_norm = tl.load(NORM + j, mask=column_there, other=0.0)
        v_column = tl.load(V + j, mask=column_there, other=0.0).to(tl.float32)
        y1h, y1l = _column_tile(HIGH, LOW, 0, j, column_there, FIRST, FIRST + SECOND)
        if SECOND > 0:
            y2h, y2l = _column_tile(HIGH, LOW, FIRST, j, column_there, SECOND, FIRST + SECOND)
        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for start in range(tl.maximum(begin, first), end, ROWS):
            i = start + tl.arange(0, ROWS)
            there = i < end
            inner = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
            xh, xl = _row_tile(HIGH, LOW, 0, i, there, FIRST, FIRST + SECOND)
            inner = _add_products(inner, xh, xl, y1h, y1l)
            if SECOND > 0:
                xh, xl = _row_tile(HIGH, LOW, FIRST, i, there, SECOND, FIRST + SECOND)
                inner = _add_products(inner, xh, xl, y2h, y2l)
            x_norm = tl.load(NORM + i, mask=there, other=0.0)
            values = tl.exp2(tl.minimum(inner * scale - x_norm[:, None] - y_norm[None, :], 0.0))
            below = there & (i >= first + COLUMNS)  # rows within the tile of columns are there as columns too
            total += values * tl.load(V + i, mask=below, other=0.0).to(tl.float32)[:, None]
            tl.atomic_add(OUT + i, tl.sum(values * v_column[None, :], 1).to(tl.float64), mask=there)
        tl.atomic_add(OUT + j, tl.sum(total, 0).to(tl.float64), mask=column_there)


@triton.jit(do_not_specialize=["n"])
def _square_exact(
    X, NORM, V, OUT, n, chunk,
    FIRST: tl.constexpr, SECOND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The same in float64."""
    first = tl.program_id(0) * COLUMNS
    begin = tl.program_id(1) * chunk
    end = tl.minimum(begin + chunk, n)
    if end > first:
        stride: tl.constexpr = FIRST + SECOND
        q1 = tl.arange(0, FIRST)
        j = first + tl.arange(0, COLUMNS)
        column_there = j < n
        y_norm = tl.load(NORM + j, mask=column_there, other=0.0)
        v_column = tl.load(V + j, mask=column_there, other=0.0)
        y_column = X + j.to(tl.int64)[None, :] * stride
        y1 = tl.load(y_column + q1[:, None], mask=column_there[None, :], other=0.0)
        if SECOND > 0:
            q2 = FIRST + tl.arange(0, SECOND)
            y2 = tl.load(y_column + q2[:, None], mask=column_there[None, :], other=0.0)
        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float64)
        for start in range(tl.maximum(begin, first), end, ROWS):
            i = start + tl.arange(0, ROWS)
            there = i < end
            x_row = X + i.to(tl.int64)[:, None] * stride
            inner = tl.zeros((ROWS, COLUMNS), dtype=tl.float64)
            x = tl.load(x_row + q1[None, :], mask=there[:, None], other=0.0)
            inner = tl.dot(x, y1, inner, out_dtype=tl.float64)
            if SECOND > 0:
                x = tl.load(x_row + q2[None, :], mask=there[:, None], other=0.0)
                inner = tl.dot(x, y2, inner, out_dtype=tl.float64)
            x_norm = tl.load(NORM + i, mask=there, other=0.0)
            values = _exp(inner - x_norm[:, None] - y_norm[None, :])
            below = there & (i >= first + COLUMNS)
            total += values * tl.load(V + i, mask=below, other=0.0)[:, None]
            tl.atomic_add(OUT + i, tl.sum(values * v_column[None, :], 1), mask=there)
        tl.atomic_add(OUT + j, tl.sum(total, 0), mask=column_there)


def add_square_product(
    forms: tuple[Array, ...], values: Array, out: Array, scale: float, blocks: tuple[int, int]
) -> None:
    """out += K values, from both parts of the samples and their norms, as FusedGaussianProducts keeps them."""
    rows, columns, warps, stages = TILE
    n = len(values)
    grid, chunk = _grid(n, n, columns, CHUNK, rows)
    _square[grid](
        *forms, values, out, n, chunk, scale,
        FIRST=blocks[0], SECOND=blocks[1], ROWS=rows, COLUMNS=columns, num_warps=warps, num_stages=stages,
    )  # fmt: skip


def add_exact_square_product(samples: Array, norm: Array, values: Array, out: Array, blocks: tuple[int, int]) -> None:
    """out += K values in float64, from samples and their norms."""
    rows, columns, warps, stages = EXACT_TILE
    n = len(values)
    grid, chunk = _grid(n, n, columns, 16 * CHUNK, rows)
    _square_exact[grid](
        samples, norm, values, out, n, chunk,
        FIRST=blocks[0], SECOND=blocks[1], ROWS=rows, COLUMNS=columns, num_warps=warps, num_stages=stages,
    )  # fmt: skip
