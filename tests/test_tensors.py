"""Training samples in torch's tensors: computed with where they are, and never copied to the host and back."""

import pickle

import numpy as np
import pytest

from ordsvm import NPSVOR, SVC, SVOR, SVORIM, SVR, certify
from ordsvm.devices import TensorRows, on_host
from ordsvm.kernels import gamma_value
from tests.cases import random_data

torch = pytest.importorskip("torch")
DEVICE = "torch:cpu"
N_FEATURES = 37  # which no other array has

OTHERS = [SVORIM(), SVR(), SVC(), NPSVOR(), SVOR(kernel="linear"), SVOR(gamma=0.02)]


def samples(n=48):
    _, y = random_data(5, n=n)
    return np.random.default_rng(1).standard_normal((n, N_FEATURES)) + 0.1 * y[:, None], y


@pytest.fixture
def copies(monkeypatch):
    """Rows of samples that leave the device, and that come to it from the host."""
    found = []
    cpu, as_tensor = torch.Tensor.cpu, torch.as_tensor

    def counted_cpu(self, *args, **kwargs):
        if self.ndim == 2 and self.shape[1] == N_FEATURES:
            found.append(("to the host", len(self)))
        return cpu(self, *args, **kwargs)

    def counted_as_tensor(values, *args, **kwargs):
        if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == N_FEATURES:
            found.append(("from the host", len(values)))
        return as_tensor(values, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "cpu", counted_cpu)
    monkeypatch.setattr(torch, "as_tensor", counted_as_tensor)
    return found


@pytest.mark.parametrize(
    ("machine", "dtype"),
    [(SVOR(), torch.float64), (SVOR(), torch.float32)]
    + [pytest.param(machine, torch.float64, marks=pytest.mark.slow) for machine in OTHERS],
    ids=str,
)
def test_a_tensor_is_not_copied_to_the_host(machine, dtype, copies):
    X, y = samples()
    given = torch.from_numpy(X).to(dtype)
    model = type(machine)(**machine.get_params()).set_params(device=DEVICE)
    model.fit(given, torch.from_numpy(y))
    assert copies == [("to the host", len(model.support_))]
    assert isinstance(model.support_vectors_, np.ndarray)
    assert model.support_vectors_.dtype == given.numpy().dtype
    assert model.n_features_in_ == N_FEATURES
    assert (model.result_.solver, model.result_.status, model.result_.device) == (
        "proximal-newton",
        "converged",
        DEVICE,
    )
    of_array = pickle.loads(pickle.dumps(model)).fit(given.numpy(), y)
    assert model.result_.objective == pytest.approx(of_array.result_.objective, rel=1e-8)
    np.testing.assert_array_equal(model.predict(X), of_array.predict(X))


def test_products_read_the_memory_of_the_tensor():
    X = torch.from_numpy(samples()[0])
    rows = TensorRows(X)
    assert rows.gathered().data_ptr() == X.data_ptr()
    some = rows[np.array([5, 3, 4])][np.array([2, 0])]
    assert some.tensor is X
    assert some.shape == (2, N_FEATURES)
    np.testing.assert_array_equal(some.on_host(), X.numpy()[[4, 5]])
    np.testing.assert_array_equal(on_host(rows), X.numpy())
    np.testing.assert_allclose(some @ np.ones(N_FEATURES), X.numpy()[[4, 5]].sum(1))


def test_gamma_scale_is_that_of_arrays(monkeypatch):
    monkeypatch.setattr("ordsvm.devices.BLOCK_VALUES", 100)
    X = samples()[0] + 3.0
    for values in (X, X.astype(np.float32), np.full_like(X, 0.1)):
        assert gamma_value("scale", TensorRows(torch.from_numpy(values))) == pytest.approx(gamma_value("scale", values))


@pytest.mark.slow
def test_where_the_cpu_has_a_part_the_tensor_becomes_an_array():
    """Validation samples, an early stop, checkpoints, given kernel values, other numbers, "auto"."""
    X, y = samples()
    given, labels = torch.from_numpy(X), torch.from_numpy(y)
    expected = SVOR(device=DEVICE).fit(X, y).result_.objective
    assert SVOR(device="auto").fit(given, labels).result_.objective == pytest.approx(expected, rel=2e-3)
    assert SVOR(device=DEVICE, early_stopping=True, random_state=0).fit(given, labels).result_.device == DEVICE
    model = SVOR(device=DEVICE).fit(given, labels, validation=(X, y))
    assert model.result_.objective == pytest.approx(expected, rel=1e-6)
    whole = SVOR(device=DEVICE).fit((10 * given).round().to(torch.int64), labels)
    assert whole.support_vectors_.dtype == np.float64
    K = X @ X.T
    assert SVOR(kernel="precomputed", device=DEVICE).fit(torch.from_numpy(K), labels).result_.device == DEVICE


@pytest.mark.slow
def test_a_tensor_trains_with_weights_a_warm_start_and_a_time_limit(tmp_path):
    X, y = samples()
    given, weight = torch.from_numpy(X), torch.from_numpy(np.arange(48.0) % 3)  # some are 0
    model = SVOR(kernel="linear", device=DEVICE, warm_start=True, time_limit=60.0)
    first = model.fit(given, y, sample_weight=weight).result_
    assert model.fit(given, y, sample_weight=weight).result_.objective == pytest.approx(first.objective, rel=1e-3)
    assert certify(model, X, y, weight.numpy()).relative_gap <= 1e-3
    kept = SVOR(device=DEVICE).fit(given, y, checkpoint=tmp_path / "kept")
    assert kept.result_.status == "converged"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (torch.zeros(5), "of shape"),
        (torch.zeros(1, 3), "of shape"),
        (torch.zeros(5, 0), "of shape"),
        (torch.full((5, 3), float("nan")), "NaN"),
        (torch.full((5, 3), 1e200, dtype=torch.float64), "1e140"),
    ],
    ids=str,
)
def test_bad_tensors_are_refused(bad, reason):
    with pytest.raises(ValueError, match=reason):
        SVOR(device=DEVICE).fit(bad, np.arange(len(bad)) % 2)


def test_kernel_values_that_are_too_large_are_refused():
    X, y = samples()
    with pytest.raises(ValueError, match="scale the features"):
        SVOR(kernel="linear", device=DEVICE).fit(torch.from_numpy(1e80 * X), y)
    with pytest.raises(ValueError, match="Sigmoid kernels are not computed on a device"):
        SVOR(kernel="sigmoid", device=DEVICE).fit(torch.from_numpy(X), y)
