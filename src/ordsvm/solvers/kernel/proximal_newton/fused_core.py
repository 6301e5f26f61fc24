"""The core of the preconditioner on a GPU, by Triton: W = I + [B E]'[B E]/diagonal from B in float32.

Products of two float32 numbers are made of three of the tensor cores' (22 bits), added up in float32 over some thousand
rows and then in float64; only tiles on and below the diagonal are computed. W is the identity plus what is off by about
1e-6 of its largest eigenvalue, so where that could be felt, all is done in float64: newton_system.py decides.
"""

from __future__ import annotations

import triton
import triton.language as tl

from ordsvm.array_library import Array, ArrayLibrary

TILE = 128
ROWS = 32
CHUNK = 4096  # rows added up in float32


@triton.jit(do_not_specialize=["n_rows"])
def _square(B, DIAGONAL, OUT, n_rows, rank, size, chunk, TILE: tl.constexpr, ROWS: tl.constexpr):
    """Tiles of OUT += B' B / DIAGONAL over a chunk of rows."""
    left, right = tl.program_id(0), tl.program_id(1)
    if right <= left:
        i, j = left * TILE + tl.arange(0, TILE), right * TILE + tl.arange(0, TILE)
        sums = tl.zeros((TILE, TILE), dtype=tl.float32)
        begin = tl.program_id(2) * chunk
        end = tl.minimum(begin + chunk, n_rows)
        for start in range(begin, end, ROWS):
            row = start + tl.arange(0, ROWS)
            there = row < end
            weight = 1.0 / tl.load(DIAGONAL + row, mask=there, other=1.0)
            at = row.to(tl.int64) * rank
            mask = there[None, :] & (i < rank)[:, None]
            a = tl.load(B + at[None, :] + i[:, None], mask=mask, other=0.0) * weight.to(tl.float32)[None, :]
            b = tl.load(B + at[:, None] + j[None, :], mask=there[:, None] & (j < rank)[None, :], other=0.0)
            sums = tl.dot(a, b, sums, input_precision="tf32x3")
        inside = (i < rank)[:, None] & (j < rank)[None, :] & (j[None, :] <= i[:, None])
        place = i.to(tl.int64)[:, None] * size + j[None, :]
        tl.atomic_add(OUT + place, sums.to(tl.float64), mask=inside)


def fused_core(library: ArrayLibrary, factor: Array, low_rank: Array, diagonal: Array) -> Array:
    """The lower triangle of W, which is all that a Cholesky factor is made of."""
    (n, rank), q = factor.shape, low_rank.shape[1]
    core = library.eye(rank + q)
    tiles = triton.cdiv(rank, TILE)
    _square[(tiles, tiles, triton.cdiv(n, CHUNK))](
        factor, diagonal, core, n, rank, rank + q, CHUNK, TILE=TILE, ROWS=ROWS, num_warps=8, num_stages=3
    )
    if q:
        scaled = low_rank / diagonal[:, None]
        core[rank:, :rank] += (factor.T @ scaled.to(factor.dtype)).T
        core[rank:, rank:] += scaled.T @ low_rank
    return core
