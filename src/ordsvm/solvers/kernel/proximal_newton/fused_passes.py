"""The passes of passes.py on a GPU, by Triton: each reads the table of hinges once, and adds up in float64."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from ordsvm._typing import Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.multipliers import MOST_BISECTIONS, ROUNDING, Stage
from ordsvm.solvers.kernel.proximal_newton.multipliers import SETTLED as SETTLED_NUMBER
from ordsvm.solvers.kernel.proximal_newton.multipliers import SETTLED_BY_SIZE as SETTLED_BY_SIZE_NUMBER
from ordsvm.solvers.kernel.proximal_newton.passes import Consistent, Iterate, RightSide, State, caps_by_sign

ROWS = 128
SETTLED, SETTLED_BY_SIZE = tl.constexpr(SETTLED_NUMBER), tl.constexpr(SETTLED_BY_SIZE_NUMBER)
MOST_COLUMNS = 16  # of which a row is held in registers


def fit_registers(columns: Columns) -> bool:
    return columns.cap.shape[1] <= MOST_COLUMNS


@triton.jit
def _hinges(SIGN, OFFSET, CAP, n_rows, n_columns, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    """Rows of the table, where they are, and which exist."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    row_there = i < n_rows
    there = row_there[:, None] & (j < n_columns)[None, :]
    place = i.to(tl.int64)[:, None] * n_columns + j[None, :]
    sign = tl.load(SIGN + place, mask=there, other=0.0)
    offset = tl.load(OFFSET + place, mask=there, other=0.0)
    cap = tl.load(CAP + place, mask=there, other=0.0)
    return i, j, row_there, there, place, sign, offset, cap


@triton.jit
def _unclipped(CENTRE, LEVEL, width, place, there, j, n_columns, sign, offset, cap, score):
    """u, and σ."""
    centre = tl.load(CENTRE + place, mask=there, other=0.0)
    level = tl.load(LEVEL + j, mask=j < n_columns, other=0.0)
    weight = cap / (2.0 * width)
    return centre - weight * (sign * (score[:, None] - level[None, :]) - offset), weight


@triton.jit
def _state(
    CENTRE, SIGN, OFFSET, CAP, SCORE, BETA, NUMBERS, R, FLAG, FEW, n_rows, n_columns,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """r, which samples are free or outside, and the sums by column."""
    i, j, row_there, there, place, sign, offset, cap = _hinges(SIGN, OFFSET, CAP, n_rows, n_columns, COLUMNS, ROWS)
    score = tl.load(SCORE + i, mask=row_there, other=0.0)
    beta = tl.load(BETA + i, mask=row_there, other=0.0)
    u, weight = _unclipped(CENTRE, NUMBERS + 2, tl.load(NUMBERS), place, there, j, n_columns, sign, offset, cap, score)
    signed = sign * tl.minimum(tl.maximum(u, 0.0), cap)
    r = beta - tl.sum(signed, 1)
    is_free = tl.sum(tl.where((u > 0.0) & (u < cap), weight, 0.0), 1) > 0.0
    is_outside = (tl.abs(r) > tl.load(NUMBERS + 1)) & (is_free == 0)
    tl.store(R + i, r, mask=row_there)
    tl.store(FLAG + i, is_free.to(tl.int32), mask=row_there)
    tl.store(FLAG + n_rows + i, is_outside.to(tl.int32), mask=row_there)
    tl.atomic_add(FEW + 2 + j, tl.sum(signed, 0), mask=j < n_columns)


@triton.jit
def _listed(
    CENTRE, SIGN, OFFSET, CAP, SCORE, NUMBERS, R, FLAG, PLACE, THRESHOLD, LIST, D, R_FREE, MEAN, FEW,
    n_rows, n_columns, n_thresholds, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Lists of both kinds of samples, what is needed of the free ones, and sums over these."""
    i, j, row_there, there, place, sign, offset, cap = _hinges(SIGN, OFFSET, CAP, n_rows, n_columns, COLUMNS, ROWS)
    score = tl.load(SCORE + i, mask=row_there, other=0.0)
    u, weight = _unclipped(CENTRE, NUMBERS + 2, tl.load(NUMBERS), place, there, j, n_columns, sign, offset, cap, score)
    weight = tl.where((u > 0.0) & (u < cap), weight, 0.0)
    is_free = row_there & (tl.load(FLAG + i, mask=row_there, other=0) > 0)
    is_outside = row_there & (tl.load(FLAG + n_rows + i, mask=row_there, other=0) > 0)
    at = tl.load(PLACE + i, mask=row_there, other=1) - 1
    outside_at = tl.load(PLACE + n_rows + i, mask=row_there, other=1) - 1
    r = tl.load(R + i, mask=row_there, other=0.0)
    total = tl.sum(weight, 1)
    diagonal = 1.0 / tl.where(is_free, total, 1.0)
    tl.store(LIST + at, i.to(tl.int64), mask=is_free)
    tl.store(LIST + outside_at, i.to(tl.int64), mask=is_outside)
    tl.store(D + at, diagonal, mask=is_free)
    tl.store(R_FREE + at, r, mask=is_free)
    is_last = i == n_rows - 1
    tl.store(FEW + tl.zeros_like(i), (at + 1).to(tl.float64), mask=is_last)
    tl.store(FEW + tl.full(i.shape, 1, tl.int32), (outside_at + 1).to(tl.float64), mask=is_last)
    threshold = tl.load(THRESHOLD + j, mask=j < n_columns, other=-1)
    sums = FEW + 2 + n_columns
    for k in range(n_thresholds):
        mean = tl.where(is_free, diagonal * tl.sum(tl.where((threshold == k)[None, :], weight, 0.0), 1), 0.0)
        tl.store(MEAN + at.to(tl.int64) * n_thresholds + k, mean, mask=is_free)
        tl.atomic_add(sums + k, tl.sum(mean * r, 0))
        for q in range(k + 1):
            other = tl.sum(tl.where((threshold == q)[None, :], weight, 0.0), 1)
            tl.atomic_add(sums + n_thresholds + k * n_thresholds + q, tl.sum(mean * other, 0))


@triton.jit(do_not_specialize=["n_free", "n_listed"])
def _right(LIST, R, G, D, MEAN, SMALL, RIGHT, LOW_RANK, CONSTANT, n_free, n_listed, n_thresholds, ROWS: tl.constexpr):
    p = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    listed, is_free = p < n_listed, p < n_free
    i = tl.load(LIST + p, mask=listed, other=0)
    r = tl.load(R + i, mask=listed, other=0.0)
    g = tl.load(G + i, mask=listed, other=0.0)
    right = -tl.load(D + p, mask=is_free, other=0.0) * r - g
    row = MEAN + p.to(tl.int64) * n_thresholds
    for k in range(n_thresholds):
        mean = tl.load(row + k, mask=is_free, other=0.0)
        right -= mean * tl.load(SMALL + k)
        low_rank = tl.zeros_like(right)
        for q in range(n_thresholds):
            root = tl.load(SMALL + n_thresholds + q * n_thresholds + k)
            low_rank += tl.load(row + q, mask=is_free, other=0.0) * root
        tl.store(LOW_RANK + p.to(tl.int64) * n_thresholds + k, low_rank, mask=is_free)
    tl.store(RIGHT + p, right, mask=is_free)
    tl.atomic_add(CONSTANT, tl.sum(r * g + tl.where(is_free, r * right, 0.0), 0))


@triton.jit(do_not_specialize=["n_free", "n_listed"])
def _change(LIST, R, X, MEAN, BETA, WEIGHTED, n_free, n_listed, n_thresholds, ROWS: tl.constexpr):
    p = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    listed, is_free = p < n_listed, p < n_free
    i = tl.load(LIST + p, mask=listed, other=0)
    x = tl.load(X + p, mask=is_free, other=0.0)
    r = tl.load(R + i, mask=listed, other=0.0)
    tl.store(BETA + i, tl.where(is_free, x, -r), mask=listed)
    for k in range(n_thresholds):
        mean = tl.load(MEAN + p.to(tl.int64) * n_thresholds + k, mask=is_free, other=0.0)
        tl.atomic_add(WEIGHTED + k, tl.sum(mean * x, 0))


@triton.jit
def _slopes(
    CENTRE, SIGN, OFFSET, CAP, SCORE, BETA, TO_SCORE, TO_BETA, NUMBERS, OUT, n_rows, n_columns,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    i, j, row_there, there, place, sign, offset, cap = _hinges(SIGN, OFFSET, CAP, n_rows, n_columns, COLUMNS, ROWS)
    numbers = NUMBERS + tl.program_id(1) * (2 + n_columns)
    out = OUT + tl.program_id(1) * (1 + n_columns)
    step = tl.load(numbers + 1)
    to_score = tl.load(TO_SCORE + i, mask=row_there, other=0.0)
    score = tl.load(SCORE + i, mask=row_there, other=0.0) + step * to_score
    beta = tl.load(BETA + i, mask=row_there, other=0.0) + step * tl.load(TO_BETA + i, mask=row_there, other=0.0)
    u, _ = _unclipped(CENTRE, numbers + 2, tl.load(numbers), place, there, j, n_columns, sign, offset, cap, score)
    signed = sign * tl.minimum(tl.maximum(u, 0.0), cap)
    tl.atomic_add(out, tl.sum((beta - tl.sum(signed, 1)) * to_score, 0))
    tl.atomic_add(out + 1 + j, tl.sum(signed, 0), mask=j < n_columns)


@triton.jit
def _consistent(
    CENTRE, SIGN, OFFSET, CAP, SCORE, BETA, NUMBERS, ALPHA, OWN, FEW, n_rows, n_columns, rounding,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    """Every sample's shift is found in registers."""
    i, j, row_there, there, place, sign, offset, cap = _hinges(SIGN, OFFSET, CAP, n_rows, n_columns, COLUMNS, ROWS)
    score = tl.load(SCORE + i, mask=row_there, other=0.0)
    beta = tl.load(BETA + i, mask=row_there, other=0.0)
    width = tl.load(NUMBERS)
    u, weight = _unclipped(CENTRE, NUMBERS + 2, width, place, there, j, n_columns, sign, offset, cap, score)
    alpha = tl.minimum(tl.maximum(u, 0.0), cap)
    signed_cap = sign * cap
    top, bottom = tl.sum(tl.maximum(signed_cap, 0.0), 1), tl.sum(tl.minimum(signed_cap, 0.0), 1)
    off = tl.abs(beta - tl.sum(sign * alpha, 1)) > rounding * tl.sum(cap, 1)
    off = off & (beta <= top) & (beta >= bottom)
    reach = tl.where(cap > 0.0, (tl.abs(u) + cap) / tl.where(cap > 0.0, weight, 1.0), 0.0)
    high = tl.max(reach, 1)
    low = -high
    shift = tl.zeros((ROWS,), dtype=tl.float64)
    settled = SETTLED * tl.sum(cap, 1) + SETTLED_BY_SIZE * tl.sum(tl.abs(u), 1)
    for _ in range(STEPS):
        v = u - weight * sign * shift[:, None]
        excess = tl.sum(sign * tl.minimum(tl.maximum(v, 0.0), cap), 1) - beta
        slope = tl.sum(tl.where((v > 0.0) & (v < cap), weight, 0.0), 1)
        low = tl.where(excess > 0.0, shift, low)
        high = tl.where(excess < 0.0, shift, high)
        step = shift + excess / tl.where(slope > 0.0, slope, 1.0)
        inside = (slope > 0.0) & (step > low) & (step < high)
        shift = tl.where(tl.abs(excess) > settled, tl.where(inside, step, 0.5 * (low + high)), shift)
    v = u - weight * sign * shift[:, None]
    moved = tl.minimum(tl.maximum(v, 0.0), cap)
    free = tl.where((v > 0.0) & (v < cap), cap, 0.0)
    total = tl.sum(free, 1)
    share = free / tl.where(total > 0.0, total, 1.0)[:, None]
    moved += sign * share * (beta - tl.sum(sign * moved, 1))[:, None]
    moved = tl.minimum(tl.maximum(moved, 0.0), cap)
    found = off & (tl.abs(shift) <= width)
    alpha = tl.where(found[:, None], moved, alpha)
    own = tl.sum(sign * alpha, 1)
    tl.store(ALPHA + place, alpha, mask=there)
    tl.store(OWN + i, own, mask=row_there)
    differs = row_there & (tl.abs(own - beta) > tl.load(NUMBERS + 1))
    tl.atomic_add(FEW, tl.sum(differs.to(tl.float64), 0))
    tl.atomic_add(FEW + 1 + j, tl.sum(sign * alpha, 0), mask=j < n_columns)


@triton.jit
def _proof(
    ALPHA, SIGN, OFFSET, CAP, SCORE, BETA, LEVEL, OUT, n_rows, n_columns, COLUMNS: tl.constexpr, ROWS: tl.constexpr
):
    i, j, row_there, there, place, sign, offset, cap = _hinges(SIGN, OFFSET, CAP, n_rows, n_columns, COLUMNS, ROWS)
    score = tl.load(SCORE + i, mask=row_there, other=0.0)
    beta = tl.load(BETA + i, mask=row_there, other=0.0)
    alpha = tl.load(ALPHA + place, mask=there, other=0.0)
    level = tl.load(LEVEL + j, mask=j < n_columns, other=0.0)
    slope = sign * (score[:, None] - level[None, :]) - offset
    short = tl.maximum(-slope, 0.0)
    size = tl.where(alpha <= 0.0, short, tl.where(alpha >= cap, tl.maximum(slope, 0.0), tl.abs(slope)))
    loss = cap * short
    tl.atomic_add(OUT, tl.sum(tl.sum(loss + alpha * slope, 1), 0))
    tl.atomic_add(OUT + 1, tl.sum(tl.sum(loss, 1), 0))
    tl.atomic_add(OUT + 2, tl.sum(beta * score, 0))
    tl.atomic_max(OUT + 3, tl.max(tl.max(tl.where(cap > 0.0, size, 0.0), 1), 0))


@triton.jit
def _caps_below(
    SIGN, OFFSET, CAP, SCORE, LEVELS, OUT, n_rows, n_columns, n_points, COLUMNS: tl.constexpr, ROWS: tl.constexpr
):
    """Sums by column of the caps whose f − s·o is below each of some levels."""
    i, j, row_there, _, _, sign, offset, cap = _hinges(SIGN, OFFSET, CAP, n_rows, n_columns, COLUMNS, ROWS)
    own = tl.load(SCORE + i, mask=row_there, other=0.0)[:, None] - sign * offset
    for point in range(n_points):
        at = point * n_columns + j
        level = tl.load(LEVELS + at, mask=j < n_columns, other=0.0)
        below = tl.sum(tl.where(own < level[None, :], cap, 0.0), 0)
        tl.atomic_add(OUT + at, below, mask=j < n_columns)


class FusedPasses:
    """What `PlainPasses` returns, up to rounding."""

    sections = 16

    def __init__(self, library: ArrayLibrary, columns: Columns) -> None:
        self.library, self.columns = library, columns
        self._n, self._m = columns.cap.shape
        self._n_thresholds = columns.member.shape[1]
        self._table = columns.sign, columns.offset, columns.cap
        self._tile = {"COLUMNS": triton.next_power_of_2(self._m), "ROWS": ROWS, "num_warps": 4}
        member = columns.member
        self._threshold = library.index(member.argmax(1) if self._n_thresholds else np.zeros(self._m))

    def _numbers(self, *rows: tuple[float, float, Floats]) -> Array:
        """For each: the width, one more number, and the levels of the columns for given thresholds."""
        return self.library.array(np.concatenate([(*row[:2], *(self.columns.member @ row[2])) for row in rows]))

    def _empty(self, *shape: int, dtype: torch.dtype = torch.float64) -> Array:
        return torch.empty(shape, dtype=dtype, device=self.columns.cap.device)

    def _grid(self) -> tuple[int]:
        return (triton.cdiv(self._n, ROWS),)

    def state(self, stage: Stage, at: Iterate, least: float) -> State:
        n, m, q = self._n, self._m, self._n_thresholds
        numbers, few = self._numbers((stage.width, least, at.b)), self.library.zeros(2 + m + q + q * q)
        r, flags, listed = self._empty(n), self._empty(2 * n, dtype=torch.int32), self._empty(n, dtype=torch.int64)
        _state[self._grid()](
            stage.centre, *self._table, at.score, at.beta, numbers, r, flags, few, n, m, **self._tile
        )  # fmt: skip
        places = flags.cumsum(0, dtype=torch.int32)
        D, r_free, mean = self._empty(n), self._empty(n), self._empty(n, q)
        _listed[self._grid()](
            stage.centre, *self._table, at.score, numbers, r, flags, places, self._threshold,
            listed, D, r_free, mean, few, n, m, q, **self._tile,
        )  # fmt: skip
        counts, sums, weighted, shared = np.split(self.library.host(few), [2, 2 + m, 2 + m + q])
        n_free, n_listed = int(counts[0]), int(counts[1])
        lower = shared.reshape(q, q)
        shared = lower + np.tril(lower, -1).T
        free, outside = listed[:n_free], listed[n_free:n_listed]
        return State(r, free, outside, D[:n_free], r_free[:n_free], mean[:n_free], sums, weighted, shared, listed)

    def right_side(self, state: State, g: Array, step: Floats, root: Floats) -> RightSide:
        n_free, n_listed = len(state.free), len(state.free) + len(state.outside)
        constant, q = self.library.zeros(1), self._n_thresholds
        right, low_rank = self._empty(n_free), self._empty(n_free, q)
        if n_listed:
            small = self.library.array(np.concatenate([step, root.ravel()]))
            _right[(triton.cdiv(n_listed, ROWS),)](
                state.listed, state.residual, g, state.D, state.mean, small, right, low_rank, constant,
                n_free, n_listed, q, ROWS=ROWS, num_warps=4,
            )  # fmt: skip
        return RightSide(right, low_rank, constant[0])

    def change(self, state: State, x: Array) -> tuple[Array, Floats]:
        n_free, n_listed, q = len(state.free), len(state.free) + len(state.outside), self._n_thresholds
        both = self.library.zeros(self._n + q)
        beta, weighted = both[: self._n], both[self._n :]
        if n_listed:
            _change[(triton.cdiv(n_listed, ROWS),)](
                state.listed, state.residual, x, state.mean, beta, weighted, n_free, n_listed, q, ROWS=ROWS, num_warps=4
            )  # fmt: skip
        return beta, self.library.host(weighted)

    def slopes(self, stage: Stage, at: Iterate, to: Iterate, steps: list[float]) -> list[tuple[float, Floats]]:
        numbers = self._numbers(*((stage.width, step, at.b + step * to.b) for step in steps))
        out = self.library.zeros(len(steps), 1 + self._m)
        _slopes[(*self._grid(), len(steps))](
            stage.centre, *self._table, at.score, at.beta, to.score, to.beta, numbers, out,
            self._n, self._m, **self._tile,
        )  # fmt: skip
        return [(float(row[0]), row[1:]) for row in self.library.host(out)]

    def consistent(self, stage: Stage, at: Iterate, least: float) -> Consistent:
        alpha, own, few = self._empty(self._n, self._m), self._empty(self._n), self.library.zeros(1 + self._m)
        _consistent[self._grid()](
            stage.centre, *self._table, at.score, at.beta, self._numbers((stage.width, least, at.b)), alpha, own, few,
            self._n, self._m, ROUNDING, **self._tile, STEPS=MOST_BISECTIONS,
        )  # fmt: skip
        n_off, *sums = self.library.host(few)
        return Consistent(alpha, own, np.array(sums), int(n_off))

    def proof(self, alpha: Array, beta: Array, score: Array, b: Floats) -> tuple[float, float, float, float]:
        out = self.library.zeros(4)
        level = self.library.array(self.columns.member @ b)
        _proof[self._grid()](alpha, *self._table, score, beta, level, out, self._n, self._m, **self._tile)
        gap, loss, product, worst = out.tolist()
        return gap, loss, product, worst

    def caps(self) -> tuple[Floats, Floats]:
        return caps_by_sign(self.columns)

    def caps_below(self, score: Array, points: Floats) -> Floats:
        out = self.library.zeros(len(points), self._m)
        levels = self.library.array(points @ self.columns.member.T)
        _caps_below[self._grid()](*self._table, score, levels, out, self._n, self._m, len(points), **self._tile)
        return self.columns.gamma(self.library.host(out))
