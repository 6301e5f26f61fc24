"""Callable kernels on a device: they get tensors, always. torch's CPU device stands for a GPU."""

import numpy as np
import pytest

from ordsvm import NPSVOR, SVC, SVOR, SVORIM, ProximalNewton, certify
from ordsvm.solvers.kernel.proximal_newton import proximal_newton
from tests.cases import random_data
from tests.test_devices import DEVICE, trained


def of_tensors(A, B):
    import torch

    return torch.exp(-0.5 * torch.cdist(A, B) ** 2)


@pytest.mark.parametrize("model", [SVOR(), SVORIM(), SVC(multi_class="ovr"), SVC(), NPSVOR()], ids=repr)
def test_callable_kernels_get_tensors(model):
    torch = pytest.importorskip("torch")
    X, y = random_data(5, n=80)
    given = set()

    def kernel(A, B):
        given.update((type(A), type(B)))
        return of_tensors(A, B)

    there = trained(model, X, y, kernel=kernel, device=DEVICE)
    scores = there.decision_function(X)
    assert given == {torch.Tensor}
    np.testing.assert_allclose(scores, trained(model, X, y, device=DEVICE).decision_function(X), atol=0.02)


def test_callable_kernels_of_both_are_certified():
    pytest.importorskip("torch")
    X, y = random_data(5, n=80)
    model = trained(SVOR(), X, y, kernel=lambda A, B: (A @ B.T + 1) ** 2, device=DEVICE)
    assert certify(model, X, y).relative_gap == pytest.approx(model.result_.relative_gap, abs=1e-8)


@pytest.mark.parametrize("bad", ["fails", "shape", "complex", "nan", "nothing"])
def test_callable_kernels_that_are_not_for_tensors(bad):
    torch = pytest.importorskip("torch")
    kernel, error, message = {
        "fails": (
            lambda A, B: np.add.outer(A.astype(float), B),
            TypeError,
            "on device='torch:cpu' gets tensors",
        ),
        "nothing": (lambda A, B: None, TypeError, "gets tensors of samples and returns a tensor of values"),
        "shape": (lambda A, B: A, ValueError, "returned shape"),
        "complex": (lambda A, B: of_tensors(A, B) * 1j, ValueError, "returned complex numbers"),
        "nan": (lambda A, B: of_tensors(A, B) * torch.nan, ValueError, "returned NaN or infinity"),
    }[bad]
    X, y = random_data(5, n=30)
    with pytest.raises(error, match=message):
        trained(SVOR(), X, y, kernel=kernel, device=DEVICE)


def does_nothing(solver, run):
    proximal_newton._products(solver._libraries(run), run, np.arange(run.problem.n_samples), 1)


def test_the_last_resort_of_a_callable_kernel(monkeypatch):
    """Its values are the device's there too, and so are those of samples that came as a tensor."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("ordsvm.solvers.kernel.run.Run.gets_nowhere", lambda run: True)
    monkeypatch.setattr(ProximalNewton, "solve", does_nothing)
    X, y = random_data(5, n=60)
    for samples, kernel in ((X, of_tensors), (torch.as_tensor(X), "rbf")):
        result = trained(SVOR(), samples, y, kernel=kernel, device=DEVICE, tol=1e-9).result_
        assert (result.solver, result.converged) == ("interior-point", True)
