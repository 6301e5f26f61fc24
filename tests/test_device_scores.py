"""Prediction on a device: rows far from all others, and sparse ones that are too wide for it.

torch's CPU device stands for a GPU; the fused products are run by Triton's interpreter with TRITON_INTERPRET=1.
"""

import os
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import SVOR
from ordsvm.kernels import RBF
from tests.cases import random_data
from tests.test_devices import DEVICE, trained

torch = pytest.importorskip("torch")
from ordsvm.kernels.products import dense_rows  # noqa: E402
from ordsvm.kernels.products.scores import device_scores  # noqa: E402
from ordsvm.torch_library import TorchLibrary  # noqa: E402

HAS_INTERPRETER = find_spec("triton") is not None and os.environ.get("TRITON_INTERPRET") == "1"
FUSED = pytest.param(True, marks=pytest.mark.skipif(not HAS_INTERPRETER, reason="no TRITON_INTERPRET=1"))


@pytest.fixture
def fused(request, monkeypatch):
    if request.param:
        begin = TorchLibrary.__init__

        def begun(self, device):
            begin(self, device)
            self.fuses, self._compact = True, torch.float32

        monkeypatch.setattr(TorchLibrary, "__init__", begun)


def rows_and_weights(n_features):
    random = np.random.default_rng(0)
    X, support = (random.normal(size=(size, n_features)).astype(np.float32) for size in (60, 100))
    return X, support, 10 * random.normal(size=(100, 2))


@pytest.mark.parametrize("fused", [False, FUSED], indirect=True)
@pytest.mark.parametrize("n_features", [5, 20])
@pytest.mark.parametrize("far", [3e2, -99999.0, 1e6, 1e20])
def test_no_score_depends_on_the_other_rows(far, n_features, fused):
    X, support, beta = rows_and_weights(n_features)
    kernel = RBF(1 / n_features)
    alone = device_scores(DEVICE, kernel, X, support, beta)
    np.testing.assert_allclose(alone, kernel(X.astype(float), support.astype(float)) @ beta, atol=1e-4)
    X[0, 0] = far
    scores = device_scores(DEVICE, kernel, X, support, beta)
    np.testing.assert_allclose(scores[1:], alone[1:], atol=1e-10)
    np.testing.assert_allclose(scores[0], 0.0, atol=1e-250)  # exponents of 2 end at -1000


@pytest.mark.parametrize("fused", [False, FUSED], indirect=True)
@pytest.mark.parametrize("n_features", [5, 20])
def test_rows_beyond_the_support_are_scored_in_float64(n_features, fused):
    X, support, beta = rows_and_weights(n_features)
    kernel, support = RBF(1e-3 / n_features), support / 10
    X[7] *= 3
    scores = device_scores(DEVICE, kernel, X, support, beta)
    expected = kernel(X.astype(float), support.astype(float)) @ beta
    np.testing.assert_allclose(scores[7], expected[7], atol=1e-9)


@pytest.mark.parametrize("fused", [False, FUSED], indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_near_rows_far_from_all_others_keep_their_distances(dtype, fused):
    random = np.random.default_rng(0)
    support = np.column_stack([random.integers(0, 2**20, 100), *random.normal(size=(19, 100))]).astype(dtype)
    X = support + random.normal(size=(100, 20)).astype(dtype) * np.r_[0.0, np.full(19, 0.1)].astype(dtype)
    kernel, beta = RBF(1.0), 10 * random.normal(size=(100, 2))
    expected = kernel(X.astype(float), support.astype(float)) @ beta
    assert np.abs(expected).max() > 1.0
    np.testing.assert_allclose(device_scores(DEVICE, kernel, X, support, beta), expected, atol=1e-6)


# Sparse rows


@pytest.fixture
def little_memory(monkeypatch, tmp_path):
    def has(n_bytes):
        monkeypatch.setattr(dense_rows, "MEMORY_FACTS", tmp_path / "meminfo")
        (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {n_bytes // 1024} kB\n")

    return has


def test_sparse_rows_that_are_too_wide_are_a_sentence(little_memory):
    rows = np.arange(3000)
    X, y = sp.csr_array((np.ones(3000), (rows, 1000 * rows)), shape=(3000, 5_000_000)), rows % 3
    full = sp.csr_array(np.random.default_rng(0).normal(size=(300, 200)))  # no column is left out
    little_memory(1_000_000)
    message = r"device='torch:cpu' holds rows as dense ones: 300 sparse rows of 200 features need about .* GB "
    with pytest.raises(MemoryError, match=message):
        SVOR(gamma=1.0, device=DEVICE).fit(full, y[:300])
    with pytest.raises(MemoryError, match="device='cpu', which keeps rows sparse, or make fewer features"):
        SVOR(gamma=1.0, kernel=lambda A, B: A @ B.T, device=DEVICE).fit(X, y)


def test_sparse_rows_are_dense_a_block_at_a_time(little_memory, monkeypatch):
    X, y = random_data(5, n=90)
    X, n_features = sp.csr_array(X), X.shape[1]
    monkeypatch.setattr(dense_rows, "BLOCK_VALUES", 7 * n_features)
    model = trained(SVOR(), X, y, device=DEVICE)
    expected, sizes = model.decision_function(X), []
    dense_on = dense_rows.dense_on
    seen = lambda library, rows: [sizes.append(rows.shape[0]), dense_on(library, rows)][1]  # noqa: E731
    monkeypatch.setattr("ordsvm.kernels.products.scores.dense_on", seen)
    n_support = len(model.support_)
    little_memory(28 * n_features * (n_support + 20) + 1024)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)
    assert 1 < max(size for size in sizes if size != n_support) <= 20
    little_memory(28 * n_features * (n_support - 1))
    with pytest.raises(MemoryError, match="holds rows as dense ones"):
        model.decision_function(X)


def test_auto_predicts_by_the_cpu_what_a_device_has_no_room_for(little_memory, monkeypatch):
    X, y = random_data(5, n=90)
    model = trained(SVOR(), sp.csr_array(X), y, device="cpu")
    expected = model.decision_function(sp.csr_array(X))
    monkeypatch.setattr("ordsvm.estimators.kernel.is_worth_a_device", lambda X, support: True)
    monkeypatch.setattr("ordsvm.estimators.kernel.device_or_cpu", lambda device: DEVICE)
    little_memory(0)
    np.testing.assert_array_equal(model.set_params(device="auto").decision_function(sp.csr_array(X)), expected)
