"""`Stage.consistent_alpha` in one pass on a GPU, by Triton: every sample's shift is found in registers."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ordsvm.array_library import Array
from ordsvm.solvers.kernel.proximal_newton.multipliers import MOST_BISECTIONS, ROUNDING, Stage

ROWS = 128


@triton.jit
def _shift(
    CENTRE, SIGN, OFFSET, CAP, SCORE, LEVEL, BETA, WIDTH, ALPHA, n_rows, n_columns, rounding,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    row_there = i < n_rows
    there = row_there[:, None] & (j < n_columns)[None, :]
    place = i.to(tl.int64)[:, None] * n_columns + j[None, :]
    width = tl.load(WIDTH)
    sign = tl.load(SIGN + place, mask=there, other=0.0)
    cap = tl.load(CAP + place, mask=there, other=0.0)
    centre = tl.load(CENTRE + place, mask=there, other=0.0)
    offset = tl.load(OFFSET + place, mask=there, other=0.0)
    score = tl.load(SCORE + i, mask=row_there, other=0.0)
    level = tl.load(LEVEL + j, mask=j < n_columns, other=0.0)
    beta = tl.load(BETA + i, mask=row_there, other=0.0)
    weight = cap / (2.0 * width)
    u = centre - weight * (sign * (score[:, None] - level[None, :]) - offset)
    alpha = tl.minimum(tl.maximum(u, 0.0), cap)
    signed_cap = sign * cap
    top, bottom = tl.sum(tl.maximum(signed_cap, 0.0), 1), tl.sum(tl.minimum(signed_cap, 0.0), 1)
    off = tl.abs(beta - tl.sum(sign * alpha, 1)) > rounding * tl.sum(cap, 1)
    off = off & (beta <= top) & (beta >= bottom)
    reach = tl.where(cap > 0.0, (tl.abs(u) + cap) / tl.where(cap > 0.0, weight, 1.0), 0.0)
    high = tl.max(reach, 1)
    low = -high
    shift = tl.zeros((ROWS,), dtype=tl.float64)
    for _ in range(STEPS):
        v = u - weight * sign * shift[:, None]
        excess = tl.sum(sign * tl.minimum(tl.maximum(v, 0.0), cap), 1) - beta
        slope = tl.sum(tl.where((v > 0.0) & (v < cap), weight, 0.0), 1)
        low = tl.where(excess > 0.0, shift, low)
        high = tl.where(excess < 0.0, shift, high)
        step = shift + excess / tl.where(slope > 0.0, slope, 1.0)
        inside = (slope > 0.0) & (step > low) & (step < high)
        shift = tl.where(excess == 0.0, shift, tl.where(inside, step, 0.5 * (low + high)))
    moved = tl.minimum(tl.maximum(u - weight * sign * shift[:, None], 0.0), cap)
    found = off & (tl.abs(shift) <= width)
    tl.store(ALPHA + place, tl.where(found[:, None], moved, alpha), mask=there)


def consistent_alpha(stage: Stage, score: Array, b: Array, beta: Array) -> Array:
    """What `Stage.consistent_alpha` returns, up to rounding."""
    columns = stage.columns
    alpha = torch.empty_like(columns.cap)
    n_rows, n_columns = alpha.shape
    width = torch.full((1,), stage.width, dtype=torch.float64, device=alpha.device)  # a number would become float32
    _shift[(triton.cdiv(n_rows, ROWS),)](
        stage.centre, columns.sign, columns.offset, columns.cap, score, columns.level(b), beta, width, alpha,
        n_rows, n_columns, ROUNDING,
        COLUMNS=triton.next_power_of_2(n_columns), ROWS=ROWS, STEPS=MOST_BISECTIONS, num_warps=4,
    )  # fmt: skip
    return alpha
