"""Training samples in torch's tensors: computed with where they are, and never copied to the host and back."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVORIM,
    SVR,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    NystroemSVOR,
    OrdinalSearchCV,
    ProximalNewton,
    RoundedRegressor,
    certify,
    diagnose,
)
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


# Everything else that samples, labels and weights are given to


@pytest.fixture
def on_a_gpu(monkeypatch):
    """What NumPy says of tensors that are there."""

    def refuse(self, *args, **kwargs):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")

    monkeypatch.setattr(torch.Tensor, "__array__", refuse)


def given(*arrays):
    return tuple(torch.from_numpy(array) for array in arrays)


KERNEL_MACHINES = [type(machine)(device=DEVICE) for machine in (SVOR(), SVC(), SVR(), NPSVOR())]
LINEAR_MACHINES = [LinearSVOR(), LinearSVC(), LinearSVR(), LinearNPSVOR(), NystroemSVOR(n_landmarks=20)]


@pytest.mark.parametrize("machine", [*KERNEL_MACHINES, *LINEAR_MACHINES], ids=str)
def test_fit_score_certify_and_diagnose(machine, on_a_gpu):
    X, y = samples()
    weight = 1.0 + np.arange(len(y)) % 2
    model = machine.fit(*given(X, y, weight))
    assert model.score(*given(X, y, weight)) == pytest.approx(model.score(X, y, weight), abs=1e-12)
    assert certify(model, *given(X, y, weight)).gap == certify(model, X, y, weight).gap
    assert str(diagnose(model, *given(X, y, weight))) == str(diagnose(model, X, y, weight))
    np.testing.assert_array_equal(on_host(model.predict(torch.from_numpy(X))), model.predict(X))


@pytest.mark.parametrize("device", ["cpu", DEVICE])
def test_validation_samples(device, on_a_gpu):
    X, y = samples()
    whole = {"validation": given(X[:9], y[:9])}
    model, of_arrays = SVOR(device=device), SVOR(device=device)
    history = model.fit(*given(X, y), **whole).result_.history
    expected = of_arrays.fit(X, y, validation=(X[:9], y[:9])).result_.history
    assert [look.validation_mae for look in history] == [look.validation_mae for look in expected]


def test_searches_calibration_and_rounding(on_a_gpu):
    X, y = samples()
    for machine in (SVOR(device=DEVICE), LinearSVOR()):
        search = OrdinalSearchCV(machine, {"C": [0.1, 1.0]}, cv=2).fit(*given(X, y))
        assert search.score(*given(X, y)) == search.score(X, y)
        calibrated = CalibratedOrdinal(machine, cv=2).fit(*given(X, y))
        np.testing.assert_allclose(calibrated.predict_proba(torch.from_numpy(X)), calibrated.predict_proba(X))
    rounded = RoundedRegressor(SVR(device=DEVICE)).fit(*given(X, y))
    assert rounded.score(*given(X, y)) == rounded.score(X, y)


def test_a_device_of_the_solver_alone(copies):
    X, y = samples()
    model = SVOR(solver=ProximalNewton(device=DEVICE)).fit(*given(X, y))
    assert (model.result_.device, copies) == (DEVICE, [("to the host", len(model.support_))])
    np.testing.assert_array_equal(model.predict(torch.from_numpy(X)), model.predict(X))


def test_a_machine_of_the_cpu_refuses_a_tensor_of_a_device():
    X, y = samples()
    model = SVOR().fit(X, torch.from_numpy(y))
    there = torch.empty(X.shape, device="meta")
    for refused in (model.fit, model.score, lambda X, y: model.predict(X)):
        with pytest.raises(ValueError, match=r"X is a tensor on meta: set device='cuda' for this machine, or pass X.c"):
            refused(there, y)


# Their numbers and layouts

TRAINED = [SVOR(), SVOR(device=DEVICE), LinearSVOR()]


@pytest.mark.parametrize("machine", TRAINED, ids=str)
@pytest.mark.parametrize(
    ("dtype", "read"),
    [
        (torch.int64, np.float64),
        (torch.uint8, np.float64),
        (torch.bool, np.float64),
        (torch.bfloat16, np.float32),
        (torch.float16, np.float32),
        (torch.float32, np.float32),
        (torch.float64, np.float64),
    ],
    ids=str,
)
def test_numbers_of_every_kind(machine, dtype, read):
    X, y = samples()
    X = torch.from_numpy(2 + X).to(dtype)
    as_read = X.double().numpy().astype(read)
    model = clone(machine).fit(X, torch.from_numpy(y))
    expected = clone(machine).fit(as_read, y)
    assert model.result_.objective == pytest.approx(expected.result_.objective, rel=1e-6)
    if hasattr(model, "support_vectors_"):
        assert model.support_vectors_.dtype == read
    np.testing.assert_array_equal(on_host(model.predict(X)), model.predict(as_read))


@pytest.mark.parametrize("machine", TRAINED, ids=str)
def test_what_is_kept_for_gradients_is_left_out(machine):
    X, y = samples()
    X, weight = torch.from_numpy(X).requires_grad_(), torch.ones(len(y), requires_grad=True)
    model = clone(machine).fit(X, y, weight)
    np.testing.assert_array_equal(on_host(model.predict(X)), model.predict(X.detach().numpy()))


@pytest.mark.parametrize("machine", TRAINED, ids=str)
@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (lambda X: X.to_sparse(), "torch.sparse_coo tensor of torch.float64"),
        (lambda X: X.to_sparse_csr(), "torch.sparse_csr tensor of torch.float64"),
        (lambda X: X.to(torch.complex64), "torch.strided tensor of torch.complex64"),
    ],
    ids=["coo", "csr", "complex"],
)
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_other_layouts_and_numbers_are_refused(machine, bad, kind):
    X, y = samples()
    model, refused = clone(machine).fit(X, y), bad(torch.from_numpy(X))
    for call in (model.fit, model.score, certify_of(model)):
        with pytest.raises(ValueError, match=f"X is a {kind}: give a dense one"):
            call(refused, y)


def certify_of(model):
    return lambda X, y: certify(model, X, y)
