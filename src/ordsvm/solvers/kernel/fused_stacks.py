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

LARGEST = 32  # rows of what is factored: a column for every thread of a warp
TILE = 64


@triton.jit
def _chosen(values, is_chosen):
    """Of every column the chosen row; a sum by exclusive or, of which nothing is left but that row's registers."""
    bits = tl.where(is_chosen, values.to(tl.int64, bitcast=True), 0)
    return tl.xor_sum(bits, 0).to(tl.float64, bitcast=True)


@triton.jit(do_not_specialize=["n", "a_stack", "a_row", "out_stack", "out_row"])
def _inverse_of_factor(A, OUT, a_stack, a_row, out_stack, out_row, n, ROWS: tl.constexpr):
    """OUT = L⁻¹ for A = LL', by elimination in A, which becomes DU, and in the identity, which becomes D^½ L⁻¹:

        for k in range(n): l = A[k] / A[k, k]; A[k+1:] -= l[k+1:] A[k]; M[k+1:] -= l[k+1:] M[k]

    Only A's lower triangle is read. A root of what is not positive is NaN.
    """
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, ROWS)[None, :]
    a = tl.load(A + tl.program_id(0).to(tl.int64) * a_stack + i * a_row + j, mask=(i < n) & (j <= i), other=0.0)
    a = tl.where(i > j, a, tl.where(i < n, 0.5 * a, 0.5))
    a = tl.where(i >= j, a, 0.0)
    a += tl.trans(a)
    m = tl.where(i == j, 1.0 + 0.0 * a, 0.0)  # in the registers of a's threads, where a constant would have others
    for k in tl.static_range(ROWS):
        row, m_row = _chosen(a, i == k), _chosen(m, i == k)
        column = tl.trans(row[None, :])
        pivot = _chosen(column, i == k)[None, :]
        lower = tl.where(i > k, column * (1.0 / pivot), 0.0)
        a -= lower * row[None, :]
        m -= lower * m_row[None, :]
    diagonal = tl.trans(_chosen(a, i == j)[None, :])
    m = m / tl.sqrt(tl.where(diagonal > 0, diagonal, float("nan")))
    tl.store(OUT + tl.program_id(0).to(tl.int64) * out_stack + i * out_row + j, m, mask=(i < n) & (j < n))


def inverse_of_factor(matrices: Array, out: Array) -> None:
    """The inverse of the lower Cholesky factor of every matrix of a stack; NaN in it where one has none."""
    _inverse_of_factor[(len(matrices),)](
        matrices, out, matrices.stride(0), matrices.stride(1), out.stride(0), out.stride(1), matrices.shape[-1],
        ROWS=LARGEST, num_warps=1,
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
