"""Conjugate gradients of newton_system.py on a GPU: four kernels an iteration beside the products, by Triton.

Scalars stay on the device, in one array of sums: a kernel adds to some, uses others and clears those of which neither
is the case. Where a system needs many iterations, one is captured as a CUDA graph and replayed: to launch its kernels
takes the host longer than the device takes for them, unless the system is very large.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from ordsvm.kernels.products.divided import DividedProducts

if TYPE_CHECKING:
    from ordsvm.solvers.kernel.proximal_newton.newton_system import NewtonSystem, Sizes, Step
    from ordsvm.solvers.kernel.proximal_newton.preconditioner import Preconditioner

ROWS = 256
_CAPTURE = threading.Lock()  # the stream that iterations are captured on is shared
BEFORE_GRAPH = 8  # iterations of a system: to capture one takes as long as to launch some ten

# Sums: r'z twice (added up, in use), p'Ap twice, z'Ap, ‖ρ‖², max |ρ|, q'x, r'ρ, the constant of the step's size, E'p
RZ, RZ_USED, PAP, PAP_USED, ZAP, NORM2, TOP, QX, RR, CONSTANT, EP = (tl.constexpr(k) for k in range(11))


@triton.jit(do_not_specialize=["n", "rank"])
def _preconditioned(R, BACK, DIAGONAL, E, W, IMAGE, Z, S, n, rank, n_thresholds, ROWS: tl.constexpr):
    """z = (r − Bw₁ − Ew₂) / diagonal, r'z and z'Ap."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = i < n
    r = tl.load(R + i, mask=there, other=0.0)
    z = r - tl.load(BACK + i, mask=there, other=0.0).to(tl.float64)
    for k in range(n_thresholds):
        z -= tl.load(E + i.to(tl.int64) * n_thresholds + k, mask=there, other=0.0) * tl.load(W + rank + k)
    z = z / tl.load(DIAGONAL + i, mask=there, other=1.0)
    tl.store(Z + i, z, mask=there)
    tl.atomic_add(S + RZ, tl.sum(r * z, 0))
    tl.atomic_add(S + ZAP, tl.sum(z * tl.load(IMAGE + i, mask=there, other=0.0), 0))


@triton.jit(do_not_specialize=["n"])
def _direction(Z, P, E, OUT, S, n, n_thresholds, ROWS: tl.constexpr):
    """p = z − (z'Ap / p'Ap) p, and E'p; OUT is cleared for the product to come."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = i < n
    share = -tl.load(S + ZAP) / tl.load(S + PAP_USED)
    p = tl.load(Z + i, mask=there, other=0.0) + share * tl.load(P + i, mask=there, other=0.0)
    tl.store(P + i, p, mask=there)
    tl.store(OUT + i, tl.zeros_like(p), mask=there)
    for k in range(n_thresholds):
        e = tl.load(E + i.to(tl.int64) * n_thresholds + k, mask=there, other=0.0)
        tl.atomic_add(S + EP + k, tl.sum(e * p, 0))
    if tl.program_id(0) == 0:
        tl.store(S + RZ_USED, tl.load(S + RZ))
        tl.store(S + PAP, 0.0)


@triton.jit(do_not_specialize=["n", "rank"])
def _image(OUT, D, P, E, IMAGE, S, SMALL, n, rank, n_thresholds, ROWS: tl.constexpr):
    """Ap = Kp + Dp + EE'p, and p'Ap."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = i < n
    p = tl.load(P + i, mask=there, other=0.0)
    image = tl.load(OUT + i, mask=there, other=0.0) + tl.load(D + i, mask=there, other=0.0) * p
    for k in range(n_thresholds):
        image += tl.load(E + i.to(tl.int64) * n_thresholds + k, mask=there, other=0.0) * tl.load(S + EP + k)
    tl.store(IMAGE + i, image, mask=there)
    tl.atomic_add(S + PAP, tl.sum(p * image, 0))
    if tl.program_id(0) == 0:
        tl.store(S + RZ, 0.0)
        tl.store(S + ZAP, 0.0)
        tl.store(S + NORM2, 0.0)
        tl.store(S + TOP, 0.0)
        tl.store(S + QX, 0.0)
        tl.store(S + RR, 0.0)
        for k in range(n_thresholds):
            tl.store(SMALL + rank + k, 0.0)


@triton.jit(do_not_specialize=["n", "rank"])
def _step(P, IMAGE, X, R, D, DIAGONAL, E, Q, FIRST, SCALED, S, SMALL, n, rank, n_thresholds, ROWS: tl.constexpr):
    """x and ρ move along p; the sizes of ρ, and what the preconditioner begins with."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = i < n
    step = tl.load(S + RZ_USED) / tl.load(S + PAP)
    x = tl.load(X + i, mask=there, other=0.0) + step * tl.load(P + i, mask=there, other=0.0)
    r = tl.load(R + i, mask=there, other=0.0) - step * tl.load(IMAGE + i, mask=there, other=0.0)
    tl.store(X + i, x, mask=there)
    tl.store(R + i, r, mask=there)
    tl.atomic_add(S + NORM2, tl.sum(r * r / tl.load(D + i, mask=there, other=1.0), 0))
    tl.atomic_max(S + TOP, tl.max(tl.abs(r), 0))
    tl.atomic_add(S + QX, tl.sum(x * tl.load(Q + i, mask=there, other=0.0), 0))
    tl.atomic_add(S + RR, tl.sum(r * tl.load(FIRST + i, mask=there, other=0.0), 0))
    scaled = r / tl.load(DIAGONAL + i, mask=there, other=1.0)
    tl.store(SCALED + i, scaled.to(SCALED.dtype.element_ty), mask=there)
    for k in range(n_thresholds):
        e = tl.load(E + i.to(tl.int64) * n_thresholds + k, mask=there, other=0.0)
        tl.atomic_add(SMALL + rank + k, tl.sum(e * scaled, 0))
    if tl.program_id(0) == 0:
        tl.store(S + PAP_USED, tl.load(S + PAP))
        for k in range(n_thresholds):
            tl.store(S + EP + k, 0.0)


class FusedGradients:
    """What `PlainGradients` computes, up to rounding."""

    graphs = True  # False once a graph could not be made

    def __init__(self, system: NewtonSystem, step: Step, preconditioner: Preconditioner) -> None:
        self._system, self._step_, self._by = system, step, preconditioner
        self._rows = system.products.rows(system.free)
        n, q = len(step.right), system.low_rank.shape[1]
        rank = preconditioner.factor.shape[1]
        self._sizes = n, rank, q
        zeros, empty, kind = system.library.zeros, torch.empty_like, preconditioner.factor.dtype
        self.x, self._p, self._image, self._out = (zeros(n) for _ in range(4))
        self._small, self._sums = zeros(rank + q), zeros(EP.value + q)
        self._sums[PAP.value] = 1.0
        self._sums[CONSTANT.value] = step.constant
        self._residual = step.right.clone()
        self._z, self._scaled, self._back = empty(self.x), empty(self.x, dtype=kind), empty(self.x, dtype=kind)
        self._middle, self._w, self._compact = empty(self._small), empty(self._small), self._small[:rank].to(kind)
        self._count = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._move()

    def iterate(self) -> Sizes:
        self._count += 1
        if self._count == BEFORE_GRAPH + 1:
            self._graph = self._captured()
        if self._graph is None:
            self._iterate()
        else:
            self._graph.replay()
        fetched = self._system.library.fetch_later(self._sums[NORM2.value : CONSTANT.value + 1])

        def sizes() -> list[float]:
            norm2, top, qx, rr, constant = fetched()
            return [norm2, top, constant - qx + rr]

        return sizes

    def _iterate(self) -> None:
        n, rank, q = self._sizes
        by, low_rank, grid = self._by, self._system.low_rank, (triton.cdiv(n, ROWS),)
        torch.mv(by.factor.T, self._scaled, out=self._compact)  # nothing is allocated: a graph would keep it
        self._small[:rank].copy_(self._compact)
        torch.mv(by.root, self._small, out=self._middle)
        torch.mv(by.root.T, self._middle, out=self._w)
        self._compact.copy_(self._w[:rank])
        torch.mv(by.factor, self._compact, out=self._back)
        _preconditioned[grid](
            self._residual, self._back, by.diagonal, low_rank, self._w, self._image, self._z, self._sums,
            n, rank, q, ROWS=ROWS, num_warps=4,
        )  # fmt: skip
        _direction[grid](self._z, self._p, low_rank, self._out, self._sums, n, q, ROWS=ROWS, num_warps=4)
        self._system.products.add_product(self._rows, self._rows, self._p, self._out)
        _image[grid](
            self._out, self._system.diagonal, self._p, low_rank, self._image, self._sums, self._small,
            n, rank, q, ROWS=ROWS, num_warps=4,
        )  # fmt: skip
        self._move()

    def _move(self) -> None:
        n, rank, q = self._sizes
        _step[(triton.cdiv(n, ROWS),)](
            self._p, self._image, self.x, self._residual, self._system.diagonal, self._by.diagonal,
            self._system.low_rank, self._step_.right, self._step_.r, self._scaled, self._sums, self._small,
            n, rank, q, ROWS=ROWS, num_warps=4,
        )  # fmt: skip

    def _captured(self) -> torch.cuda.CUDAGraph | None:
        """An iteration as a graph; None where it would not pay."""
        system = self._system
        on_one_device = not isinstance(system.products, DividedProducts)
        if not (system.library.queues and on_one_device and FusedGradients.graphs):
            return None
        with _CAPTURE:
            return self._capture()

    def _capture(self) -> torch.cuda.CUDAGraph | None:
        """None where it fails."""
        graph, here, aside = torch.cuda.CUDAGraph(), torch.cuda.current_stream(), _stream(self.x.device)
        aside.wait_stream(here)
        try:
            with torch.cuda.stream(aside):
                graph.capture_begin(capture_error_mode="relaxed")
                try:
                    self._iterate()
                finally:
                    graph.capture_end()
        except RuntimeError:
            FusedGradients.graphs = False
            return None
        here.wait_stream(aside)
        return graph


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """To capture on; the workspace that torch's products of matrices have for every stream is made before."""
    stream = torch.cuda.Stream(device)
    with torch.cuda.stream(stream):
        small = torch.eye(2, device=device)
        torch.mv(small, small[0])
        torch.mv(small.double(), small[0].double())
    stream.synchronize()
    return stream
