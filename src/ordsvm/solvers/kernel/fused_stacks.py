"""Stacks of matrices on a GPU, by Triton: those of many systems in one pass, and small ones factored in one launch.

The libraries of a GPU factor and substitute a stack of small matrices by many short kernels; here a matrix and its
inverse stay in the registers of a warp, a column each of its threads: rows are then numbered at compile time, and what
a step needs of other threads is one row.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ordsvm.array_library import Array

BLOCK = 32  # a column for every thread of a warp
TILE = 64


@triton.jit
def _chosen(values, is_chosen):
    """Of every column the chosen row; a sum by exclusive or, of which nothing is left but that row's registers."""
    bits = tl.where(is_chosen, values.to(tl.int64, bitcast=True), 0)
    return tl.xor_sum(bits, 0).to(tl.float64, bitcast=True)


@triton.jit
def _symmetric(A, a_row, n, i, j):
    """A block of which the lower triangle is read; beyond n rows it goes on as the identity."""
    a = tl.load(A + i * a_row + j, mask=(i < n) & (j <= i), other=0.0)
    a = tl.where(i > j, a, tl.where(i < n, 0.5 * a, 0.5))
    a = tl.where(i >= j, a, 0.0)
    return a + tl.trans(a)


@triton.jit
def _inverted(a, i, j, ROWS: tl.constexpr):
    """L⁻¹ for a = LL', by elimination in a, which becomes DU, and in the identity, which becomes D^½ L⁻¹:

        for k in range(n): l = a[k] / a[k, k]; a[k+1:] -= l[k+1:] a[k]; m[k+1:] -= l[k+1:] m[k]

    A root of what is not positive is NaN.
    """
    m = tl.where(i == j, 1.0 + 0.0 * a, 0.0)  # in the registers of a's threads, where a constant would have others
    for k in tl.static_range(ROWS):
        row, m_row = _chosen(a, i == k), _chosen(m, i == k)
        column = tl.trans(row[None, :])
        pivot = _chosen(column, i == k)[None, :]
        lower = tl.where(i > k, column * (1.0 / pivot), 0.0)
        a -= lower * row[None, :]
        m -= lower * m_row[None, :]
    diagonal = tl.trans(_chosen(a, i == j)[None, :])
    return m / tl.sqrt(tl.where(diagonal > 0, diagonal, float("nan")))


@triton.jit(do_not_specialize=["n", "a_stack", "a_row", "out_stack", "out_row"])
def _inverse_of_factor(A, OUT, a_stack, a_row, out_stack, out_row, n, ROWS: tl.constexpr):
    """OUT = L⁻¹ for A = LL' of at most 2·ROWS rows, by that of the first block, B = A₂₁ L₁⁻', that of A₂₂ − BB', and
    −L₂⁻¹ B L₁⁻¹ between them. Only A's lower triangle is read, and nothing is written above the diagonal of blocks."""
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, ROWS)[None, :]
    A += tl.program_id(0).to(tl.int64) * a_stack
    OUT += tl.program_id(0).to(tl.int64) * out_stack
    first = _inverted(_symmetric(A, a_row, n, i, j), i, j, ROWS)
    tl.store(OUT + i * out_row + j, first, mask=(i < n) & (j < n))
    if n > ROWS:
        there = i + ROWS < n
        below = tl.load(A + (i + ROWS) * a_row + j, mask=there, other=0.0)
        below = tl.dot(below, tl.trans(first), out_dtype=tl.float64)
        A += ROWS * a_row + ROWS
        rest = tl.load(A + i * a_row + j, mask=there & (j <= i), other=0.0)
        rest -= tl.dot(below, tl.trans(below), out_dtype=tl.float64)
        tl.store(A + i * a_row + j, rest, mask=there & (j <= i))
        tl.debug_barrier()
        second = _inverted(_symmetric(A, a_row, n - ROWS, i, j), i, j, ROWS)  # with columns in threads once more
        between = -tl.dot(second, tl.dot(below, first, out_dtype=tl.float64), out_dtype=tl.float64)
        tl.store(OUT + (i + ROWS) * out_row + j, between, mask=there)
        tl.store(OUT + (i + ROWS) * out_row + ROWS + j, second, mask=there & (j + ROWS < n))


def invert_factors(matrices: Array, out: Array) -> None:
    """out = L⁻¹ for every A = LL' of a stack, whose second half is overwritten; NaN in it where A has no factor."""
    _inverse_of_factor[(len(matrices),)](
        matrices, out, matrices.stride(0), matrices.stride(1), out.stride(0), out.stride(1), matrices.shape[-1],
        ROWS=BLOCK, num_warps=1,
    )  # fmt: skip


@triton.jit(do_not_specialize=["n"])
def _scaled(K, PLACES, ROOT, OUT, k_stack, k_row, per_K, n, SOME: tl.constexpr, TILE: tl.constexpr):
    """OUT = root_i root_j K[i, j] + (i = j) in tiles at or below the diagonal; SOME: between the samples PLACES."""
    if tl.program_id(1) <= tl.program_id(0):
        stack = tl.program_id(2).to(tl.int64)
        i = tl.program_id(0) * TILE + tl.arange(0, TILE)
        j = tl.program_id(1) * TILE + tl.arange(0, TILE)
        row, column = i.to(tl.int64), j.to(tl.int64)
        if SOME:
            row = tl.load(PLACES + stack * n + i, mask=i < n, other=0)
            column = tl.load(PLACES + stack * n + j, mask=j < n, other=0)
        there = (i < n)[:, None] & (j < n)[None, :]
        root = tl.load(ROOT + stack * n + i, mask=i < n, other=0.0)[:, None]
        root *= tl.load(ROOT + stack * n + j, mask=j < n, other=0.0)[None, :]
        values = tl.load(K + stack // per_K * k_stack + row[:, None] * k_row + column[None, :], mask=there, other=0.0)
        values = values * root + tl.where(i[:, None] == j[None, :], 1.0, 0.0)
        tl.store(OUT + stack * n * n + i.to(tl.int64)[:, None] * n + j[None, :], values, mask=there)


def scaled(K: Array, places: Array | None, root: Array) -> Array:
    """√W K √W + I for stacks of K (folds, ·, ·) and of roots (folds, C, n), as (folds·C, n, n); tiles above the
    diagonal are left as they are.

    places: (folds, C, n), which samples these are; None: all of them
    """
    n_folds, per_K, n = root.shape
    out = torch.empty((n_folds * per_K, n, n), dtype=K.dtype, device=K.device)
    n_tiles = triton.cdiv(n, TILE)
    given, root = root if places is None else places.contiguous(), root.contiguous()
    _scaled[(n_tiles, n_tiles, len(out))](
        K, given, root, out, K.stride(0), K.stride(1), per_K, n, SOME=places is not None, TILE=TILE, num_warps=8
    )
    return out
