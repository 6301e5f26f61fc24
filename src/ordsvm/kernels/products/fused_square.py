"""Products of the Gaussian kernel matrix of some samples with a vector, on a GPU: every value is used for both of its
samples, so half of them are computed. Otherwise as in fused.py.

A tile of columns stays with its program and rows go by, for tensor cores leave a row of a tile with four neighbours:
sums by row, made for every tile, stay within them, and sums by column are made once, at the end. Sums by row are
written down and added up by a kernel of their own: to add them where they belong takes atomic operations of float64, of
which a GPU does so few that they took a third of the time of fast products.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import triton
import triton.language as tl

from ordsvm.array_library import Array
from ordsvm.kernels.products.fused import (
    CHUNK,
    _add_products,
    _column_tile,
    _exp2,
    _factor,
    _grid,
    _row_tile,
    _values,
)

TILE = (64, 64, 4, 3)  # rows, columns, warps, stages
EXACT_TILE = (128, 16, 4, 2)
MOST_SUMS = 2**26  # that are written down at a time
ADDED_ROWS, ADDED_TILES = 128, 16  # of a program that adds them up, at a time
TILES_OF_PROGRAM = 128


@triton.jit(do_not_specialize=["n", "first_tile"])
def _square(
    HIGH, LOW, NORM, V, OUT, SUMS, n, chunk, first_tile, scale,
    FIRST: tl.constexpr, SECOND: tl.constexpr, FACTORED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """OUT += K V for a tile of columns, but for sums by row: of a chunk of rows, those that do not come before it."""
    first = (first_tile + tl.program_id(0)) * COLUMNS
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
        sums = SUMS + tl.program_id(0).to(tl.int64) * n
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
            values, factor = _values(inner, scale, x_norm, y_norm, FACTORED), _factor(x_norm, FACTORED)
            below = there & (i >= first + COLUMNS)  # rows within the tile of columns are there as columns too
            v_row = tl.load(V + i, mask=below, other=0.0).to(tl.float32) * factor
            total += values * v_row[:, None]
            tl.store(sums + i, tl.sum(values * v_column[None, :], 1) * factor, mask=there)
        tl.atomic_add(OUT + j, tl.sum(total, 0).to(tl.float64), mask=column_there)


@triton.jit(do_not_specialize=["n", "n_tiles", "first_tile"])
def _add_sums(
    SUMS, OUT, n, n_tiles, first_tile,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr, TILES: tl.constexpr, MOST: tl.constexpr,
):  # fmt: skip
    """OUT += sums by row, written down for tiles of columns that begin at a row or before it."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    begin = tl.program_id(1) * MOST
    here = (tl.program_id(0) * ROWS + ROWS - 1) // COLUMNS + 1 - first_tile  # tiles that reach one of these rows
    end = tl.minimum(tl.minimum(begin + MOST, n_tiles), here)
    total = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(begin, end, TILES):
        t = start + tl.arange(0, TILES)
        has_sums = (t < end)[:, None] & (((first_tile + t) * COLUMNS)[:, None] <= i[None, :]) & (i < n)[None, :]
        sums = tl.load(SUMS + t.to(tl.int64)[:, None] * n + i[None, :], mask=has_sums, other=0.0)
        total += tl.sum(sums.to(tl.float64), 0)
    if end > begin:
        tl.atomic_add(OUT + i, total, mask=i < n)


@triton.jit(do_not_specialize=["n", "first_tile"])
def _square_exact(
    X, NORM, V, OUT, SUMS, n, chunk, first_tile,
    FIRST: tl.constexpr, SECOND: tl.constexpr, BOUNDED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The same in float64."""
    first = (first_tile + tl.program_id(0)) * COLUMNS
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
        sums = SUMS + tl.program_id(0).to(tl.int64) * n
        for start in range(tl.maximum(begin, first), end, ROWS):
            i = start + tl.arange(0, ROWS)
            there = i < end
            x_row = X + i.to(tl.int64)[:, None] * stride
            minus_x_norm = -tl.load(NORM + i, mask=there, other=0.0)
            inner = minus_x_norm[:, None] - y_norm[None, :]
            x = tl.load(x_row + q1[None, :], mask=there[:, None], other=0.0)
            inner = tl.dot(x, y1, inner, out_dtype=tl.float64)
            if SECOND > 0:
                x = tl.load(x_row + q2[None, :], mask=there[:, None], other=0.0)
                inner = tl.dot(x, y2, inner, out_dtype=tl.float64)
            values = _exp2(inner, BOUNDED)
            below = there & (i >= first + COLUMNS)
            total += values * tl.load(V + i, mask=below, other=0.0)[:, None]
            tl.store(sums + i, tl.sum(values * v_column[None, :], 1), mask=there)
        tl.atomic_add(OUT + j, tl.sum(total, 0), mask=column_there)


def room_for_sums(n: int, device: torch.device, exact: bool = False) -> Array:
    """Of so many rows: for all tiles of columns, or as many as may be written down at a time."""
    n_tiles = triton.cdiv(n, (EXACT_TILE if exact else TILE)[1])
    n_sums = n * max(1, min(n_tiles, MOST_SUMS // n))
    return torch.empty(n_sums, dtype=torch.float64 if exact else torch.float32, device=device)


def add_square_product(
    forms: tuple[Array, ...], values: Array, out: Array, sums: Array, scale: float, form: tuple[int, int, bool]
) -> None:
    """out += K values, from both parts of the samples and their norms, as FusedGaussianProducts keeps them.

    sums    `room_for_sums` of these samples
    form    sizes of the blocks of features, and whether values are made without the factor of their row
    """
    rows, columns, warps, stages = TILE
    n = len(values)
    (n_tiles, n_chunks), chunk = _grid(n, n, columns, CHUNK, rows)
    for first, here in _parts(n_tiles, len(sums) // n):
        _square[(here, n_chunks)](
            *forms, values, out, sums, n, chunk, first, scale,
            FIRST=form[0], SECOND=form[1], FACTORED=form[2], ROWS=rows, COLUMNS=columns,
            num_warps=warps, num_stages=stages,
        )  # fmt: skip
        _add(sums, out, first, here, columns)


def add_exact_square_product(
    samples: Array, norm: Array, values: Array, out: Array, form: tuple[int, int, bool]
) -> None:
    """out += K values in float64, from samples and their norms; `form`: as above, and whether exponents are bounded."""
    rows, columns, warps, stages = EXACT_TILE
    n = len(values)
    sums = room_for_sums(n, samples.device, exact=True)
    (n_tiles, n_chunks), chunk = _grid(n, n, columns, 16 * CHUNK, rows)
    for first, here in _parts(n_tiles, len(sums) // n):
        _square_exact[(here, n_chunks)](
            samples, norm, values, out, sums, n, chunk, first,
            FIRST=form[0], SECOND=form[1], BOUNDED=form[2], ROWS=rows, COLUMNS=columns,
            num_warps=warps, num_stages=stages,
        )  # fmt: skip
        _add(sums, out, first, here, columns)


def _parts(n_tiles: int, most: int) -> Iterator[tuple[int, int]]:
    """The first of so many tiles at a time, and how many."""
    for first in range(0, n_tiles, most):
        yield first, min(most, n_tiles - first)


def _add(sums: Array, out: Array, first: int, n_tiles: int, columns: int) -> None:
    _add_sums[(triton.cdiv(len(out), ADDED_ROWS), triton.cdiv(n_tiles, TILES_OF_PROGRAM))](
        sums, out, len(out), n_tiles, first,
        COLUMNS=columns, ROWS=ADDED_ROWS, TILES=ADDED_TILES, MOST=TILES_OF_PROGRAM, num_warps=4,
    )  # fmt: skip
