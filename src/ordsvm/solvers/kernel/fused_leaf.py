"""Small matrices factored on a GPU, by Triton: all of a stack in one launch, a program each.

The libraries of a GPU factor and substitute a stack of small matrices by many short kernels; here a matrix stays in the
registers of its program.
"""

from __future__ import annotations

import triton
import triton.language as tl

from ordsvm.array_library import Array

LARGEST = 64  # rows, so that a matrix and its inverse fit into the registers of a block of threads


@triton.jit(do_not_specialize=["n"])
def _inverse_of_factor(A, OUT, a_stack, a_row, out_stack, out_row, n, ROWS: tl.constexpr):
    """OUT = L⁻¹ for A = LL', by elimination in A and in the identity; only A's lower triangle is read.

        for k in range(n): l = A[:, k] / root(A[k, k]); A -= l l'; M[k] /= root(A[k, k]); M[k+1:] -= l[k+1:] M[k]

    A root of what is not positive is NaN, and so is all that comes after it.
    """
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, ROWS)[None, :]
    there = (i < n) & (j < n)
    low, up = tl.minimum(i, j), tl.maximum(i, j)
    a = tl.load(A + tl.program_id(0).to(tl.int64) * a_stack + up * a_row + low, mask=there, other=0.0)
    is_diagonal = i == j
    a = tl.where(is_diagonal & (i >= n), 1.0, a)
    m = tl.where(is_diagonal, 1.0, 0.0).to(tl.float64)
    for k in range(n):
        column = tl.sum(tl.where(j == k, a, 0.0), 1)[:, None]
        row = tl.sum(tl.where(i == k, a, 0.0), 0)[None, :]
        pivot = tl.sum(tl.sum(tl.where(is_diagonal & (i == k), a, 0.0), 1), 0)
        scale = 1.0 / tl.sqrt(tl.where(pivot > 0, pivot, float("nan")))
        lower = column * scale
        m_row = tl.sum(tl.where(i == k, m, 0.0), 0)[None, :] * scale
        m = tl.where(i == k, m_row, tl.where(i > k, m - lower * m_row, m))
        a = tl.where((i > k) & (j > k), a - lower * (row * scale), a)
    tl.store(OUT + tl.program_id(0).to(tl.int64) * out_stack + i * out_row + j, m, mask=there)


def inverse_of_factor(matrices: Array, out: Array) -> None:
    """The inverse of the lower Cholesky factor of every matrix of a stack; NaN in it where one has none."""
    count, n, _ = matrices.shape
    _inverse_of_factor[(count,)](
        matrices, out, matrices.stride(0), matrices.stride(1), out.stride(0), out.stride(1), n,
        ROWS=LARGEST, num_warps=8,
    )  # fmt: skip

