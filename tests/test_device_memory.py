"""What a fit on a device holds in memory at most, counted on torch's CPU device; docs/guide/gpu.md has the account."""

import gc
import weakref
from functools import partial

import numpy as np
import pytest

from ordsvm import ProximalNewton, formulations
from ordsvm.kernels import RBF, KernelMatrix
from ordsvm.kernels.products import on_torch
from ordsvm.solvers import Control, solve
from ordsvm.solvers.kernel.proximal_newton import newton_system, preconditioner
from tests.cases import random_data

torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

pytestmark = pytest.mark.slow
N, RANK, N_RANKS, N_FEATURES = 600, 60, 4, 5


class Held(TorchDispatchMode):
    """Bytes of the tensors that are alive; `peak`: the most there were."""

    def __init__(self):
        super().__init__()
        self.tensors, self.bytes, self.peak = {}, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, torch.Tensor):
                self._add(tensor)
        return made

    def _add(self, tensor):
        storage = tensor.untyped_storage()
        key, size = storage.data_ptr(), storage.nbytes()
        if key not in self.tensors:
            self.tensors[key] = 0
            self.bytes += size
            self.peak = max(self.peak, self.bytes)
        self.tensors[key] += 1
        weakref.finalize(tensor, self._drop, key, size)

    def _drop(self, key, size):
        self.tensors[key] -= 1
        if self.tensors[key] == 0:
            del self.tensors[key]
            self.bytes -= size


def peak_of(**options):
    X, y = random_data(3, n=N, n_ranks=N_RANKS, n_features=N_FEATURES, noise=3.0)
    problem, solver = formulations.svor(y, N_RANKS, 1.0), ProximalNewton(device="torch:cpu", seed=0, **options)
    with Held() as held:
        solution = solve(problem, KernelMatrix.of(RBF(0.2), X, 200.0), solver, Control(tol=1e-3))
    assert solution.result.converged
    return held.peak


SAMPLES = 8 * N * (4 * N_FEATURES + 40 * (N_RANKS - 1))  # features and tables of hinges, some of them more than once


def test_factors_of_the_preconditioner(monkeypatch):
    """Twice the Nyström factor, once of all samples and once of the free ones; a block of rows; small matrices."""
    monkeypatch.setattr(on_torch, "TILE_VALUES_CPU", 2**12)
    monkeypatch.setattr(preconditioner, "BLOCK", 50)
    most = 8 * (2 * N * RANK + 6 * RANK**2 + 4 * 50 * RANK + 4 * 2**12) + SAMPLES
    assert peak_of(direct=1, rank=RANK) <= most < 8 * N**2


@pytest.mark.parametrize("large", [10, 10**6])
def test_factored_systems(large, monkeypatch):
    """One matrix of the free samples where it is large, two where it is not; never three."""
    monkeypatch.setattr(on_torch, "TILE_VALUES_CPU", 2**12)
    monkeypatch.setattr(newton_system, "LARGE", large)
    monkeypatch.setattr(newton_system, "StackedCholesky", partial(newton_system.StackedCholesky, block=32))
    matrices = 1.3 if large == 10 else 2.1
    assert peak_of(direct=N) <= 8 * matrices * N**2 + SAMPLES + 8 * 4 * 2**12


def test_nothing_is_kept_after_a_fit():
    """Not even until the collector of cycles runs: another fit may need the memory."""
    gc.collect()
    gc.disable()
    try:
        X, y = random_data(3, n=100, n_ranks=N_RANKS)
        problem, matrix = formulations.svor(y, N_RANKS, 1.0), KernelMatrix.of(RBF(0.2), X, 200.0)
        for options in ({}, {"direct": 1, "rank": 20}):
            before = sum(type(thing) is torch.Tensor for thing in gc.get_objects())
            solve(problem, matrix, ProximalNewton(device="torch:cpu", **options), Control(tol=1e-3))
            assert sum(type(thing) is torch.Tensor for thing in gc.get_objects()) == before
    finally:
        gc.enable()


def test_the_count_counts():
    with Held() as held:
        kept = torch.zeros(100, dtype=torch.float64)
        view = kept[:50]
        torch.ones(200, dtype=torch.float64)
        del kept
    assert held.peak >= 8 * 300
    assert held.bytes == 8 * 100
    assert np.isfinite(float(view.sum()))
