"""Products of the Gaussian kernel matrix of some samples with a vector, on a GPU: every value is used for both of its
samples, so half of them are computed. Otherwise as in fused.py."""

from __future__ import annotations

import triton
import triton.language as tl

from ordsvm.array_library import Array
from ordsvm.kernels.products.fused import CHUNK, _add_products, _column_tile, _grid, _row_tile

TILE = (128, 32, 4)  # rows, columns, warps


@triton.jit
def _values(
    HIGH, LOW, NORM, x1h, x1l, x2h, x2l, x_norm, start, end, scale,
    FIRST: tl.constexpr, SECOND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Of a tile of rows and the columns from `start` on."""
    j = start + tl.arange(0, COLUMNS)
    there = j < end
    inner = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    yh, yl = _column_tile(HIGH, LOW, 0, j, there, FIRST, FIRST + SECOND)
    inner = _add_products(inner, x1h, x1l, yh, yl)
    if SECOND > 0:
        yh, yl = _column_tile(HIGH, LOW, FIRST, j, there, SECOND, FIRST + SECOND)
        inner = _add_products(inner, x2h, x2l, yh, yl)
    y_norm = tl.load(NORM + j, mask=there, other=0.0)
    return j, there, tl.exp2(tl.minimum(inner * scale - x_norm[:, None] - y_norm[None, :], 0.0))


@triton.jit(do_not_specialize=["n"])
def _square(
    HIGH, LOW, NORM, V, OUT, n, chunk, scale,
    FIRST: tl.constexpr, SECOND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """OUT += K V: a tile of rows, and of a chunk of columns those that do not come before it."""
    first = tl.program_id(0) * ROWS
    begin = tl.program_id(1) * chunk
    end = tl.minimum(begin + chunk, n)
    if end > first:
        i = first + tl.arange(0, ROWS)
        row_there = i < n
        x_norm = tl.load(NORM + i, mask=row_there, other=0.0)
        v_row = tl.load(V + i, mask=row_there, other=0.0).to(tl.float32)
        x1h, x1l = _row_tile(HIGH, LOW, 0, i, row_there, FIRST, FIRST + SECOND)
        x2h, x2l = x1h, x1l
        if SECOND > 0:
            x2h, x2l = _row_tile(HIGH, LOW, FIRST, i, row_there, SECOND, FIRST + SECOND)
        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for start in range(tl.maximum(begin, first), tl.minimum(end, first + ROWS), COLUMNS):
            j, there, values = _values(
                HIGH, LOW, NORM, x1h, x1l, x2h, x2l, x_norm, start, end, scale, FIRST, SECOND, ROWS, COLUMNS
            )  # fmt: skip
            total += values * tl.load(V + j, mask=there, other=0.0).to(tl.float32)[None, :]
        for start in range(tl.maximum(begin, first + ROWS), end, COLUMNS):
            j, there, values = _values(
                HIGH, LOW, NORM, x1h, x1l, x2h, x2l, x_norm, start, end, scale, FIRST, SECOND, ROWS, COLUMNS
            )  # fmt: skip
            total += values * tl.load(V + j, mask=there, other=0.0).to(tl.float32)[None, :]
            tl.atomic_add(OUT + j, tl.sum(values * v_row[:, None], 0).to(tl.float64), mask=there)
        tl.atomic_add(OUT + i, tl.sum(total, 1).to(tl.float64), mask=row_there)


def add_square_product(
    forms: tuple[Array, ...], values: Array, out: Array, scale: float, blocks: tuple[int, int]
) -> None:
    """out += K values, from both parts of the samples and their norms, as FusedGaussianProducts keeps them."""
    rows, columns, warps = TILE
    stages = 2 if blocks[1] else 4
    n = len(values)
    grid, chunk = _grid(n, n, rows, CHUNK, rows)
    _square[grid](
        *forms, values, out, n, chunk, scale,
        FIRST=blocks[0], SECOND=blocks[1], ROWS=rows, COLUMNS=columns, num_warps=warps, num_stages=stages,
    )  # fmt: skip
