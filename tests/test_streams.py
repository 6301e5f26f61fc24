"""Linear machines trained from disk: the machine that rows in memory make, whatever window and order."""

import _thread
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from ordsvm import DCD2, LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, RowStore, certify
from ordsvm.solvers.auto import LinearRows
from tests.linear_cases import MACHINES, every_machine

SMALL = {"block_bytes": 1 << 10, "window_bytes": 1 << 15}


def rows(n: int = 1600, n_features: int = 200, n_ranks: int = 4, seed: int = 0):
    """Sparse rows in float32 of length 1, some of them empty, and noisy ranks."""
    random = np.random.default_rng(seed)
    X = sp.random(n, n_features, density=min(1.0, 12 / n_features), format="csr", dtype=np.float32, random_state=seed)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags(1 / np.maximum(lengths, 1e-3)) @ X, dtype=np.float32)
    X.sort_indices()
    score = X @ random.normal(size=n_features) + 0.3 * random.normal(size=n)
    return X, np.argsort(np.argsort(score)) * n_ranks // n


def blocks(X, y, size: int = 700, weight=None):
    for first in range(0, X.shape[0], size):
        part = slice(first, first + size)
        yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])


def weights_of(model):
    """All that is penalised, as one vector."""
    b = model.thresholds_ if isinstance(model, LinearSVOR) else model.intercept_
    return np.concatenate([np.ravel(model.coef_), b])


def apart(model) -> float:
    """How far the weights can be from the optimal ones: half the squared distance is at most the gap."""
    return float(np.sqrt(2 * model.result_.gap))


@every_machine
def test_a_store_in_one_window_makes_the_same_machine(model):
    X, y = rows()
    with RowStore.from_blocks(blocks(X, y)) as store:
        stored = model().fit(store)
    in_memory = model().fit(X, y)
    np.testing.assert_array_equal(weights_of(stored), weights_of(in_memory))
    assert stored.result_.gap == in_memory.result_.gap
    assert stored.n_features_in_ == 200
    np.testing.assert_array_equal(stored.predict(X), in_memory.predict(X))


@every_machine
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_windows_make_the_same_machine_within_the_gap(model, tol):
    X, y = rows()
    store = RowStore.from_blocks(blocks(X, y), **SMALL)
    assert store._n_windows == 5
    stored, in_memory = model(tol=tol, max_iter=10_000).fit(store), model(tol=tol, max_iter=10_000).fit(X, y)
    difference = np.abs(weights_of(stored) - weights_of(in_memory))
    assert stored.result_.relative_gap <= tol
    assert np.linalg.norm(difference) <= apart(stored) + apart(in_memory)
    if tol == 1e-6:
        assert difference.max() <= 1e-3 * np.abs(weights_of(in_memory)).max()


@pytest.mark.parametrize("is_sorted", [False, True])
@every_machine
def test_windows_take_hardly_more_passes(model, is_sorted):
    """Rows that are always visited in the same company take several times as many; sorted ones, hundreds."""
    X, y = rows(10_000)
    order = np.argsort(y, kind="stable") if is_sorted else np.arange(len(y))
    X, y = X[order], y[order]
    in_memory = model(tol=1e-3).fit(X, y)
    stored = model(tol=1e-3).fit(RowStore.from_blocks(blocks(X, y), block_bytes=1 << 10, window_bytes=1 << 17))
    assert stored.n_iter_ <= 1.5 * in_memory.n_iter_ + 2


@every_machine
def test_an_svmlight_file(model, tmp_path):
    X, y = rows(500)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    for name in (path, str(path)):
        np.testing.assert_array_equal(model().fit(name).coef_, model().fit(X, y).coef_)


@every_machine
def test_an_iterator_with_weights(model, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    X, y = rows()
    weight = np.random.default_rng(0).uniform(0.0, 2.0, size=len(y))
    streamed = model().fit(blocks(X, y, weight=weight))
    np.testing.assert_array_equal(weights_of(streamed), weights_of(model().fit(X, y, sample_weight=weight)))
    assert not list(tmp_path.iterdir())


def test_the_proof_holds_for_rows_in_memory():
    """β of a store is that of the rows in their order."""
    X, y = rows()
    for model in (LinearNPSVOR(), LinearSVOR(loss="squared_hinge"), LinearSVC(fit_intercept=False), LinearSVR()):
        model.fit(RowStore.from_blocks(blocks(X, y), **SMALL))
        proof = certify(model, X, y)
        assert proof.gap == pytest.approx(model.result_.gap, rel=1e-6)
        assert proof.relative_gap <= 0.01


def test_string_labels_and_parameters_of_classes():
    X, y = rows()
    names = np.array(["bad", "fair", "good", "best"])
    options = {"categories": names.tolist(), "class_weight": "balanced"}
    streamed = LinearNPSVOR(**options).fit(blocks(X, names[y]))
    assert streamed.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(streamed.coef_, LinearNPSVOR(**options).fit(X, names[y]).coef_)


def test_warm_start_goes_on_from_the_store():
    X, y = rows()
    store = RowStore.from_blocks(blocks(X, y), **SMALL)
    model = LinearNPSVOR(warm_start=True, tol=1e-3).fit(store)
    assert model.fit(store).n_iter_ == 0


def test_names_of_features_are_forgotten():
    import pandas as pd

    X, y = rows(200, 5)
    model = LinearSVOR().fit(pd.DataFrame(X.toarray(), columns=list("abcde")), y)
    assert list(model.feature_names_in_) == list("abcde")
    assert not hasattr(model.fit(blocks(X, y)), "feature_names_in_")


# Dense rows


def dense_rows(n: int = 3000, n_features: int = 10):
    X = np.random.default_rng(1).normal(size=(n, n_features))
    return X.astype(np.float32), np.digitize(X @ np.linspace(-1, 1, n_features), [-1.0, 0.0, 1.0])


@every_machine
@pytest.mark.parametrize("solver", ["rank-dcd", "linear-interior-point"])
def test_dense_rows_make_the_same_machine(model, solver):
    X, y = dense_rows()
    store = RowStore.from_blocks(blocks(X, y))
    assert store.is_dense
    stored, in_memory = (model(solver=solver, C=0.01).fit(*data) for data in ((store,), (X, y)))
    np.testing.assert_array_equal(weights_of(stored), weights_of(in_memory))
    assert stored.result_.relative_gap <= 1e-3


@every_machine
def test_auto_takes_for_a_store_what_it_takes_in_memory(model):
    for X, y in (dense_rows(), rows()):
        assert model().fit(RowStore.from_blocks(blocks(X, y))).result_.solver == model().fit(X, y).result_.solver


def test_the_interior_point_method_reads_rows_once_an_iteration():
    class Counting(RowStore):
        def _load(self, file, numbers):
            self.n_loaded = getattr(self, "n_loaded", 0) + len(numbers)
            return super()._load(file, numbers)

    store = Counting.from_blocks(blocks(*dense_rows()), block_bytes=1 << 10, window_bytes=1 << 15)
    model = LinearSVOR(C=100, tol=1e-6).fit(store)
    assert model.result_.solver == "linear-interior-point"
    assert model.result_.converged
    assert store.n_loaded == model.n_iter_ * len(store._blocks) + 8  # those that "auto" looks at


def test_auto_keeps_to_few_dual_variables_for_rows_on_disk():
    rows_of_a_billion = LinearRows(10**9, 50, 50.0, 1, 50.0, 1e-3, disk=200.0, n_duals=4)
    assert not rows_of_a_billion.prefers_features()
    assert rows_of_a_billion._replace(n_samples=10**7).prefers_features()


# Limits


class Slow(RowStore):
    """Takes a while to read a window, and counts them."""

    def _load(self, file, numbers):
        self.loaded = getattr(self, "loaded", 0) + 1
        time.sleep(0.02)
        return super()._load(file, numbers)


def test_the_time_limit_holds_within_a_pass():
    store = Slow.from_blocks(blocks(*rows()), **SMALL)
    model = LinearNPSVOR(tol=1e-9, time_limit=0.02 * (store._n_windows + 2))  # norms take a pass
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(store)
    assert model.n_iter_ == 1
    assert store.loaded < 4 * store._n_windows  # norms and proof are three passes, and this was no whole fourth
    assert np.isfinite(model.result_.gap)


@pytest.fixture
def interrupts():
    """A process in the background may have been started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_training_and_leaves_the_store_usable(interrupts):
    class Interrupted(Slow):
        def _load(self, file, numbers):
            if getattr(self, "loaded", 0) == self._n_windows + 2:
                _thread.interrupt_main()
            return super()._load(file, numbers)

    store = Interrupted.from_blocks(blocks(*rows()), **SMALL)
    with pytest.raises(KeyboardInterrupt):
        LinearSVOR(tol=1e-9).fit(store)
    assert store.loaded < 2 * store._n_windows
    assert LinearSVOR().fit(store).result_.converged


def test_the_next_window_is_read_while_this_one_is_worked_on():
    store = Slow.from_blocks(blocks(*rows()), **SMALL)
    for number, _ in enumerate(store):
        time.sleep(0.03)
        assert store.loaded == min(number + 2, store._n_windows)
    assert threading.active_count() < 5


def test_progress_has_a_line_a_pass(capsys, monkeypatch):
    monkeypatch.setattr("ordsvm.solvers.recorder.LOOK_INTERVAL", 0.0)
    model = LinearNPSVOR(verbose=True, tol=1e-3).fit(blocks(*rows()))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == model.n_iter_
    for number, line in enumerate(lines, 1):
        assert f"pass {number:>4} " in line
        assert "rows/s" in line
        assert "relative gap seen" in line


# Bad input


@every_machine
@pytest.mark.parametrize("extra", [{"y": [0, 1]}, {"sample_weight": [1.0]}])
def test_a_stream_brings_its_own_labels(model, extra):
    def never():
        raise AssertionError("the stream was read")
        yield

    for X in (never(), "rows.svm"):
        with pytest.raises(ValueError, match="leave out y and sample_weight"):
            model().fit(X, **extra)
    with pytest.raises(ValueError, match="requires y"):
        model().fit(np.eye(3))


@pytest.mark.parametrize("solver", ["dcd-1", DCD2()])
def test_solvers_that_need_memory_say_so_before_the_stream_is_read(solver):
    with pytest.raises(ValueError, match="in memory: use 'rank-dcd'"):
        LinearNPSVOR(solver=solver).fit(iter([None]))


def test_rows_to_predict_are_in_memory():
    X, y = rows(200)
    model = LinearSVC().fit(X, y)
    store = RowStore.from_blocks(blocks(X, y))
    for stream in (store, blocks(X, y), "rows.svm"):
        with pytest.raises(TypeError, match="block by block"):
            model.predict(stream)
    np.testing.assert_array_equal(np.concatenate([model.predict(X) for X, _ in store]), model.predict(X))


@pytest.mark.parametrize(
    ("stream", "error", "message"),
    [
        (iter([]), ValueError, "no rows"),
        (iter([(np.eye(3), [1, 1, 1])]), ValueError, "one class"),
        (iter([(np.eye(1), [1])]), ValueError, "needs at least 2"),
        ("nowhere.svm", FileNotFoundError, "no file"),
    ],
)
def test_streams_that_can_not_be_trained_on(stream, error, message, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(error, match=message):
        LinearSVOR().fit(stream)
    assert not list(tmp_path.iterdir())


def test_a_store_can_be_used_again():
    X, y = rows(500)
    store = RowStore.from_blocks(blocks(X, y))
    for model in MACHINES:
        first = model().fit(store)
        np.testing.assert_array_equal(first.coef_, clone(first).fit(store).coef_)
