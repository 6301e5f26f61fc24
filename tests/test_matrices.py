"""Every kind of kernel matrix does all that `KernelMatrix` does, with the same numbers."""

import numpy as np
import pytest

from ordsvm.devices import TensorRows
from ordsvm.kernels import RBF, KernelMatrix
from ordsvm.kernels.products.device_matrix import DeviceMatrix, LateMatrix, TensorMatrix

KERNEL = RBF(gamma=0.5)


def samples():
    return np.random.default_rng(0).normal(size=(20, 3))


def on_device(before: KernelMatrix) -> KernelMatrix:
    from ordsvm.kernels.products.on_torch import torch_products
    from ordsvm.torch_library import TorchLibrary

    library = TorchLibrary("cpu")
    return DeviceMatrix(before, library, torch_products(library, KERNEL, samples()), np.arange(20))


def made(kind: str) -> KernelMatrix:
    if kind == "late":
        return LateMatrix(KERNEL, samples())
    torch = pytest.importorskip("torch")
    if kind == "tensor":
        return TensorMatrix(KERNEL, TensorRows.of(torch.from_numpy(samples())))
    return on_device(
        LateMatrix(KERNEL, samples())
        if kind == "late, then device"
        else KernelMatrix(KERNEL.rows(samples()), source=(KERNEL, samples()))
    )


@pytest.mark.parametrize("kind", ["late", "tensor", "device", "late, then device"])
def test_a_matrix_of_any_kind_has_the_whole_interface(kind):
    matrix, plain = made(kind), KernelMatrix(KERNEL.rows(samples()))
    beta, some = np.linspace(-1.0, 1.0, 20), np.array([3, 1, 7])
    np.testing.assert_allclose(matrix.product(beta), plain.product(beta), rtol=0, atol=1e-13)
    np.testing.assert_allclose(matrix.part(some, some), plain.part(some, some), rtol=0, atol=1e-13)
    np.testing.assert_allclose(matrix.rows.diagonal(), plain.rows.diagonal())
    np.testing.assert_allclose(matrix.elsewhere().part(some, some), plain.part(some, some), rtol=0, atol=1e-13)
    assert matrix.rounding(beta) >= plain.rounding(beta) > 0.0
    assert (matrix.largest, matrix.fits_float, matrix.budget) == (plain.largest, plain.fits_float, plain.budget)
    for double_rows in (True, False):
        assert matrix.cache(double_rows) is matrix.cache(double_rows)
    matrix.release_rows()
    assert len(matrix.rows) == 20


def test_a_late_matrix_makes_no_rows_before_they_are_asked_for():
    matrix = LateMatrix(KERNEL, samples())
    assert matrix.rounding(np.ones(20)) > 0.0
    assert matrix._rows is None


def test_a_cache_that_holds_no_two_rows_is_refused_where_there_are_rows():
    with pytest.raises(ValueError, match="cache_size=1e-05 MB does not hold two rows"):
        KernelMatrix(KERNEL.rows(samples()), cache_size=1e-5)
    late = LateMatrix(KERNEL, samples(), cache_size=1e-5)
    for _ in range(2):
        with pytest.raises(ValueError, match="cache_size=1e-05 MB does not hold two rows"):
            late.cache(True)
