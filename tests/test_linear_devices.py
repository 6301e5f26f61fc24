"""`device` of the linear machines: the interior-point method by features, with its passes on a device."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ordsvm import (
    LinearInteriorPoint,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    NystroemSVOR,
    OrdinalSearchCV,
    certify,
)
from ordsvm.solvers import recorder
from ordsvm.solvers.linear import device_system
from ordsvm.torch_library import TorchLibrary
from tests.cases import random_data

pytest.importorskip("torch")
DEVICE = "torch:cpu"

MACHINES = [
    LinearSVOR(),
    LinearSVOR(loss="squared_hinge"),
    LinearSVR(),
    LinearSVR(fit_intercept=False),
    LinearSVR(loss="squared_epsilon_insensitive"),
    LinearSVC(),
    LinearNPSVOR(),
    LinearNPSVOR(fit_intercept=False),
]


def fitted(machine, X, y, weight=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(machine).set_params(**options).fit(X, y, weight)


@pytest.mark.parametrize(
    ("machine", "dtype"), [(machine, np.float64) for machine in MACHINES] + [(LinearSVOR(), np.float32)], ids=str
)
def test_the_same_machine_as_on_the_cpu(machine, dtype, monkeypatch):
    monkeypatch.setattr(device_system, "TILE_VALUES_CPU", 2500)  # several tiles
    X, y = random_data(4, n=90)
    X, weight = X.astype(dtype), np.arange(90) % 3 + 0.5
    here = fitted(machine, X, y, weight, C=10.0, tol=1e-5, solver="linear-interior-point")
    there = fitted(machine, X, y, weight, C=10.0, tol=1e-5, device=DEVICE)
    result = there.result_
    assert (result.solver, result.status, result.device) == ("linear-interior-point", "converged", DEVICE)
    assert result.n_iter == here.result_.n_iter
    assert result.relative_gap <= 1e-5
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6, atol=1e-9)
    assert certify(there, X, y, weight).relative_gap <= 1.1e-5
    np.testing.assert_array_equal(there.predict(X[:7]), pickle.loads(pickle.dumps(there)).predict(X[:7]))


@pytest.fixture
def library(monkeypatch):
    """Counts what torch is given: whole arrays, and rows of tiles."""
    seen = {"kept": 0, "rows": 0}
    kept, array = TorchLibrary.kept, TorchLibrary.array

    def counted_array(self, values):
        if getattr(values, "ndim", 0) == 2 and values.shape[1] == 7:
            seen["rows"] += len(values)
        return array(self, values)

    monkeypatch.setattr(TorchLibrary, "array", counted_array)

    def counted(self, values):
        seen["kept"] += int(values.ndim == 2)
        return kept(self, values)

    monkeypatch.setattr(TorchLibrary, "kept", counted)
    return seen


def seven_features(n=200):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 7))
    return X, np.digitize(X[:, 0] + 0.5 * random.standard_normal(n), [-0.5, 0.5])


def test_rows_are_read_once_an_iteration_and_sent_once(library, monkeypatch):
    X, y = seven_features()
    model = fitted(LinearSVOR(), X, y, device=DEVICE)
    assert library == {"kept": 1, "rows": model.n_iter_ * len(X)}
    monkeypatch.setattr(TorchLibrary, "free_memory", lambda self: 100.0)  # X does not stay there
    library.update(kept=0, rows=0)
    other = fitted(LinearSVOR(), X, y, device=DEVICE)
    assert library == {"kept": 0, "rows": other.n_iter_ * len(X)}
    np.testing.assert_allclose(other.coef_, model.coef_)


def test_of_a_pass_only_sums_come_back(monkeypatch):
    host, sizes = TorchLibrary.host, []
    monkeypatch.setattr(TorchLibrary, "host", lambda self, values: sizes.append(values.numel()) or host(self, values))
    X, y = seven_features()
    model = fitted(LinearSVOR(), X, y, device=DEVICE)
    *of_passes, beta = sizes
    assert len(of_passes) == 4 * model.n_iter_
    assert max(of_passes) == 7 * 7
    assert beta == 2 * len(X)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_tiles_that_do_not_fit_into_memory_are_not_counted_twice(number, monkeypatch):
    """Memory ends at this sum over the rows of a tile, when those before it are made."""
    X, y = random_data(4, n=90)
    expected = fitted(LinearSVC(), X, y, device=DEVICE, tol=1e-6)
    add_product, refused, calls = TorchLibrary.add_product, [], []

    def short_of_memory(self, out, left, right, factor=1.0):
        n_rows = left.shape[1]
        calls.append(n_rows)
        if n_rows > 25 and calls.count(n_rows) == number:
            refused.append(n_rows)
            raise self.out_of_memory("no memory")
        add_product(self, out, left, right, factor)

    monkeypatch.setattr(TorchLibrary, "add_product", short_of_memory)
    model = fitted(LinearSVC(), X, y, device=DEVICE, tol=1e-6)
    assert refused == [90, 45]
    assert model.n_iter_ == expected.n_iter_
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    assert model.result_.objective == pytest.approx(expected.result_.objective, rel=1e-12)


def test_smaller_tiles_where_memory_does_not_suffice(monkeypatch):
    X, y = seven_features()
    expected = fitted(LinearSVC(), X, y, device=DEVICE)
    zeros, refused = TorchLibrary.zeros, []

    def short_of_memory(self, *shape):
        if len(shape) == 2 and shape[1] == 1 and shape[0] > 60:
            refused.append(shape[0])
            raise self.out_of_memory("no memory")
        return zeros(self, *shape)

    monkeypatch.setattr(TorchLibrary, "zeros", short_of_memory)
    model = fitted(LinearSVC(), X, y, device=DEVICE)
    assert refused == [200, 100]
    assert model.result_.converged
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


def test_limits_and_callbacks_end_it_with_an_honest_status(monkeypatch):
    monkeypatch.setattr(recorder, "LOOK_INTERVAL", 0.0)  # the fit may be over before the first look by the clock
    X, y = random_data(4, n=60)
    options = {"C": 100.0, "tol": 1e-9, "device": DEVICE}
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert LinearSVOR(max_iter=2, **options).fit(X, y).result_.status == "max_iter"
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        ended = LinearSVOR(time_limit=1e-9, **options).fit(X, y)
    assert ended.result_.status == "time_limit"
    assert 0 < ended.result_.gap <= ended.result_.objective * (1 + 1e-12)  # rounding is a part of the gap
    looks = []
    with pytest.warns(ConvergenceWarning, match="callback"):
        LinearSVOR(callback=lambda progress: looks.append(progress.n_iter) or True, **options).fit(X, y)
    assert len(looks) == 1


def test_arrays_that_may_not_be_written_to_stay_as_they_are(recwarn):
    """Memory maps of joblib's workers are such arrays."""
    X, y = seven_features()
    before = X.copy()
    X.flags.writeable = False
    model = LinearSVOR(device=DEVICE).fit(X, y)
    assert not [each for each in recwarn if "writable" in str(each.message)]
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(model.coef_, LinearSVOR(device=DEVICE).fit(before, y).coef_)


def test_a_warm_start_goes_on_there():
    X, y = random_data(4, n=120)
    model = fitted(LinearSVOR(), X, y, device=DEVICE, warm_start=True, tol=1e-6)
    first = model.result_.n_iter
    assert model.fit(X, y).result_.n_iter < first
    assert model.result_.device == DEVICE


@pytest.mark.parametrize(
    ("machine", "X", "reason"),
    [
        (LinearSVOR(), sp.csr_array(np.eye(4)), "X is sparse"),
        (LinearSVOR(solver="rank-dcd"), np.eye(4), "runs on the CPU: give solver='auto' or 'linear-interior-point'"),
        (LinearSVOR(), "rows.svm", "rows are on disk"),
        (LinearSVOR(device="cuda:99"), np.eye(4), "needs a GPU"),
        (LinearSVOR(device="there"), np.eye(4), "is unknown"),
        (LinearSVR(), np.zeros((2, 5001)), "few features"),
    ],
    ids=["sparse", "rank-dcd", "file", "no-gpu", "unknown", "wide"],
)
def test_what_a_device_does_not_take_is_refused_with_the_reason(machine, X, reason):
    y = None if isinstance(X, str) else np.arange(len(X.toarray() if sp.issparse(X) else X)) % 2
    machine = machine if machine.device != "cpu" else clone(machine).set_params(device=DEVICE)
    with pytest.raises(ValueError, match=reason):
        machine.fit(X, y)


def test_auto_leaves_linear_machines_to_the_cpu():
    X, y = random_data(4, n=60)
    for solver, rows in (("auto", X), ("auto", sp.csr_array(X)), ("rank-dcd", X), ("linear-interior-point", X)):
        assert fitted(LinearSVOR(), rows, y, device="auto", solver=solver).result_.device == "cpu"


def test_tensors_searches_and_features_of_nystroem():
    torch = pytest.importorskip("torch")
    X, y = random_data(4, n=80)
    expected = fitted(LinearSVOR(), X, y, device=DEVICE)
    of_tensor = fitted(LinearSVOR(), torch.as_tensor(X), torch.as_tensor(y), device=DEVICE)
    np.testing.assert_array_equal(of_tensor.coef_, expected.coef_)
    grid = {"C": [0.1, 1.0, 10.0]}
    here, there = (
        OrdinalSearchCV(LinearSVOR(tol=1e-5), grid, cv=2, device=device).fit(X, y) for device in (None, DEVICE)
    )
    assert there.best_estimator_.result_.device == DEVICE
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=0.03)
    by_map = fitted(NystroemSVOR(n_landmarks=20), X, y, solver=LinearInteriorPoint(device=DEVICE))
    assert by_map.result_.device == DEVICE
    assert by_map.result_.solver_options == {"device": DEVICE}


def test_distributed_rows_have_no_device():
    distributed = pytest.importorskip("ordsvm.distributed")
    X, y = random_data(4, n=40)
    for options in ({"device": DEVICE}, {"solver": LinearInteriorPoint(device=DEVICE)}):
        with pytest.raises(ValueError, match="leave device out"):
            distributed.LinearSVOR(**options).fit([X], [y])
