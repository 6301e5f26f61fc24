"""Model files: what comes back is what was saved, and a bad file gets one clear sentence."""

import json
import os
import pickle
import re
import threading
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from safetensors import SafetensorError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import ordsvm
from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVR,
    AsyAGCD,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    ModelFileError,
    NystroemNPSVOR,
    NystroemSVC,
    RoundedRegressor,
    certify,
    load,
    save,
)
from ordsvm.calibration.conformal import CalibrationPart, Conformal, CrossConformal
from ordsvm.calibration.maps import IsotonicThresholds, OrderedLogistic
from ordsvm.files.registry import estimator_classes
from ordsvm.kernels import RBF
from ordsvm.tables import TableEncoder, TableModel
from tests.cases import random_data
from tests.model_files import contents, forge

X, Y = random_data(0, n=60)
ESTIMATORS = sorted(name for name in estimator_classes() if not name.startswith("Table"))  # these: test_tables


def fitted(name, data=X, y=Y):
    kind = estimator_classes()[name]
    model = kind(LinearSVR()) if name == "RoundedRegressor" else kind()
    return model.fit(data, y)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.ordsvm"
    save(SVOR(gamma=0.3).fit(X, Y), path)
    return path


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_loaded_model_is_the_saved_one(name, sparse, tmp_path):
    data = sp.csr_array(X) if sparse else X
    model = fitted(name, data)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    if hasattr(model, "result_"):
        np.testing.assert_array_equal(loaded.result_.alpha, model.result_.alpha)
        assert certify(loaded, data, Y).gap == certify(model, data, Y).gap


LINEAR = [SVC, NPSVOR, SVOR, SVR]
SEVERAL = [*(partial(kind, kernel="linear") for kind in LINEAR), LinearSVC, LinearNPSVOR, NystroemSVC, NystroemNPSVOR]


@pytest.mark.parametrize("make", SEVERAL, ids=str)
def test_the_last_bits_of_a_score_are_those_of_the_saved_model(make, tmp_path):
    """Sums of BLAS depend on where arrays lie in memory."""
    random = np.random.default_rng(0)
    X = random.normal(size=(401, 20))
    y = np.digitize(X[:, 0] + 0.3 * random.normal(size=401), [-0.5, 0.0, 0.5])
    model = make().fit(X, y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    answer = "decision_function" if hasattr(model, "decision_function") else "predict"
    for rows in (X, X[:1], X[:2], X[:7]):
        np.testing.assert_array_equal(getattr(loaded, answer)(rows), getattr(model, answer)(rows))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pickle_and_skops_keep_models_too(name):
    model = fitted(name)
    for copy in (pickle.loads(pickle.dumps(model)), _through_skops(model)):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def _through_skops(model):
    data = skops.io.dumps(model)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


@pytest.mark.parametrize(
    ("labels", "categories"),
    [
        (np.array(["d", "c", "b", "a"]), ["d", "c", "b", "a"]),
        (np.array([0.5, 1.0, 1.5, 7.25]), [0.5, 1.0, 1.5, 7.25]),
        (np.array([1, "two", 3, "four"], dtype=object), [1, "two", 3, "four"]),
        (np.array([0, 1, 2, 3], dtype=np.int8), None),
    ],
)
def test_labels_of_all_kinds(labels, categories, tmp_path):
    model = SVOR(categories=categories).fit(X, labels[Y])
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_parameters_of_all_kinds(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    weights = {"low": 2.0, "high": 1.0}
    model = SVOR(
        kernel=RBF(0.25),
        solver=AsyAGCD(max_shrink_iter=50),
        cost=np.abs(np.subtract.outer(range(2), range(2))) ** 2.0,
        class_weight=weights,
        categories=pd.Index(["low", "high"]),
        callback=lambda progress: False,
    ).fit(frame, np.array(["low", "high"])[Y // 2])
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.kernel == RBF(0.25)
    assert loaded.solver == AsyAGCD(max_shrink_iter=50)
    assert loaded.class_weight == weights
    assert loaded.callback is None
    np.testing.assert_array_equal(loaded.cost, model.cost)
    np.testing.assert_array_equal(loaded.feature_names_in_, ["a", "b", "c"])
    assert loaded.fit(frame, np.array(["low", "high"])[Y // 2]).result_.converged


def test_the_history_of_a_fit(tmp_path):
    model = SVOR(early_stopping=True, random_state=0).fit(X, Y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model").result_
    assert loaded.best_look == model.result_.best_look
    assert [look.gap for look in loaded.history] == [look.gap for look in model.result_.history]
    assert [look.validation_mae for look in loaded.history] == [look.validation_mae for look in model.result_.history]
    assert len(loaded.history) > 1


def test_a_loaded_model_starts_warm(tmp_path):
    model = LinearNPSVOR(warm_start=True).fit(X, Y)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").fit(X, Y).n_iter_ < model.n_iter_


@pytest.mark.parametrize(
    ("model", "held"),
    [
        (SVOR(kernel=lambda A, B: A @ B.T), "kernel holds"),
        (make_pipeline(PolynomialFeatures(), SVOR()), "is a PolynomialFeatures"),
        (RoundedRegressor(Ridge()), "is a Ridge"),
        (SVOR(random_state=np.random.RandomState(0)), "random_state holds"),
    ],
)
def test_what_is_not_data_is_refused(model, held, tmp_path):
    with pytest.raises(TypeError, match=f"{held}.*pickle.dump or skops.io.dump"):
        save(model.fit(X, Y), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_an_unwritable_place(tmp_path):
    model = fitted("SVOR")
    with pytest.raises(OSError, match=r"can't be written .* in a folder that exists"):
        save(model, tmp_path / "nowhere" / "model")
    with pytest.raises(OSError, match="is a folder"):
        save(model, tmp_path)


def test_a_failed_save_leaves_the_old_file(file, monkeypatch):
    before = file.read_bytes()
    monkeypatch.setattr("safetensors.numpy.save_file", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(fitted("SVOREX"), file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_full_disk(file, monkeypatch):
    """Fault 15: the error of safetensors is no OSError, and `ordsvm train` showed a traceback."""
    before = file.read_bytes()

    def fail(arrays, path, metadata):
        path.write_bytes(b"some of it")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", fail)
    with pytest.raises(OSError, match=r"can't be written \(No space left on device\): free some space"):
        save(fitted("SVOREX"), file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_failed_write_of_another_kind(file, monkeypatch):
    def fail(arrays, path, metadata):
        raise SafetensorError("Error while serializing: something else")

    monkeypatch.setattr("safetensors.numpy.save_file", fail)
    with pytest.raises(OSError, match=r"can't be written: Error while serializing: something else; give another name"):
        save(fitted("SVOREX"), file)


def test_a_pipe_is_not_waited_for(tmp_path):
    """Fault 15: `ordsvm info` on a pipe waited for a writer."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    found = []

    def try_to_load(name):
        with pytest.raises(ModelFileError, match="is not a regular file: copy the model into one"):
            load(tmp_path / name)
        found.append(name)

    for name in ("pipe", "link"):
        thread = threading.Thread(target=try_to_load, args=(name,), daemon=True)
        thread.start()
        thread.join(20)
    assert found == ["pipe", "link"]


def test_truncated_files(file):
    data = file.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 1]:
        file.write_bytes(data[:length])
        with pytest.raises(ModelFileError, match="not a model file of ordsvm, or not all of it"):
            load(file)


def test_an_altered_byte(file):
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match="damaged: its checksum"):
        load(file)


def test_other_files(tmp_path, file):
    other = tmp_path / "other"
    other.write_bytes(pickle.dumps(fitted("SVOR")))
    with pytest.raises(ModelFileError, match="not a model file"):
        load(other)
    forge(other, {}, {}, format="somebody else's")
    with pytest.raises(ModelFileError, match="no model of ordsvm"):
        load(other)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


@pytest.mark.parametrize("version", ["4", "12345678"])
def test_a_version_from_the_future(file, version):
    forge(file, *contents(file), version=version)
    with pytest.raises(ModelFileError, match=f"format version {version}.*up to 3: update ordsvm"):
        load(file)


@pytest.mark.parametrize("version", ["", "-1", "1.0", "١", "9" * 5000])
def test_a_version_that_is_none(file, version):
    forge(file, *contents(file), version=version)
    with pytest.raises(ModelFileError, match="no valid format version"):
        load(file)


def changed(tree, path, value):
    """The JSON with the value at `path` replaced; a deletion where there is none."""
    copy = json.loads(json.dumps(tree))
    place = copy
    for key in path[:-1]:
        place = place[key]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copy


PARAMETERS, STATE = ("estimator", 1), ("estimator", 2)
RESULT = (*STATE, "result_", "record", 1)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("estimator", 0), "Popen", "no class that a model file may name"),
        (("estimator", 0), "certify", "no class"),
        ((*PARAMETERS, "C"), -1.0, "C=-1.0 is not valid"),
        ((*PARAMETERS, "C"), KeyError, "other parameters: C"),
        ((*PARAMETERS, "command"), "rm", "other parameters: command"),
        ((*STATE, "predict"), 1, "can't be an attribute"),
        ((*STATE, "__class__"), "str", "can't be an attribute"),
        ((*STATE, "thresholds_"), KeyError, "do not tell 4 labels apart"),
        ((*STATE, "thresholds_"), {"floats": [0.0]}, "4 labels and 1 thresholds"),
        ((*STATE, "thresholds_"), {"floats": [0.0, {"float": "nan"}, 1.0]}, "not finite"),
        ((*STATE, "thresholds_"), "none", "no array"),
        ((*STATE, "classes_"), {"strings": ["a", 1, "b", "c"]}, "holds something else"),
        ((*STATE, "n_features_in_"), 10**12, "features"),
        ((*STATE, "n_features_in_"), "3", "no number of features"),
        ((*STATE, "kernel_"), {"record": ["RBF", {"gamma": "x"}]}, "gamma of RBF is 'x'"),
        ((*STATE, "kernel_"), {"record": ["RBF", {}]}, "other fields"),
        ((*STATE, "kernel_"), {"record": ["Custom", {"function": 1}]}, "no class"),
        ((*STATE, "dual_coef_"), {"array": "model.support_"}, "used twice"),
        ((*STATE, "dual_coef_"), {"eval": "1"}, "no kind of value"),
        ((*STATE, "dual_coef_"), {}, "no kind of value"),
        ((*STATE, "result_"), 5, "nothing uses the array"),
        ((*STATE, "result_"), {"array": "model.result_.alpha"}, "no FitResult"),
        (("estimator",), {"a": 1}, "stands where a list"),
        ((*RESULT, "status"), "x<img src=x onerror=boom()>", "is no status of a fit"),  # fault 10
        ((*RESULT, "solver"), "x<img src=x onerror=boom()>", "is no solver of this version"),
        ((*RESULT, "best_look"), "x", "best_look of FitResult is 'x'"),
        ((*RESULT, "history"), {"tuple": [1]}, "something else than Progress"),
    ],
)
def test_hostile_values(file, path, value, complaint):
    tree, arrays = contents(file)
    forge(file, changed(tree, path, value), arrays)
    with pytest.raises(ModelFileError, match=re.escape(complaint)):
        load(file)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n_missing", [1, 2])
def test_labels_that_are_too_few(name, n_missing, tmp_path):
    """Fault 15: a calibrated model loaded, and then predicted a label that there is not."""
    model = fitted(name)
    if not hasattr(model, "classes_"):
        return
    save(model, tmp_path / "model")
    tree, arrays = contents(tmp_path / "model")
    arrays["model.classes_"] = arrays["model.classes_"][:-n_missing]
    forge(tmp_path / "model", tree, arrays)
    with pytest.raises(ModelFileError, match=r"\d labels|classes_ are not the labels of the estimator"):
        load(tmp_path / "model")


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
@pytest.mark.parametrize("cv", [3, "prefit"])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_calibrated_model_keeps_its_probabilities_and_sets(method, cv, kernel, tmp_path):
    data = X @ X.T if kernel == "precomputed" else X
    machine = SVOR(kernel=kernel, gamma=0.3).fit(data, Y)
    model = CalibratedOrdinal(machine, method=method, cv=cv).fit(data, Y)
    save(model, tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), _through_skops(model)):
        np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))
        for coverage in (0.5, 0.8):
            np.testing.assert_array_equal(again.predict_set(data, coverage), model.predict_set(data, coverage))
        assert again.guaranteed_coverage(0.95) == model.guaranteed_coverage(0.95) > 0.5


def part(theta=(-1.0, 0.0, 1.0), weight=(1.0, 2.0), own=(-0.5, 0.5)):
    ranks = OrderedLogistic(np.array(theta), 1.0, 0.0)
    return CalibrationPart(ranks, np.array(own), np.array(weight), np.empty(0, dtype=np.int64))


@pytest.mark.parametrize(
    ("attribute", "value", "complaint"),
    [
        ("map_", OrderedLogistic(np.array([0.0]), 1.0, 0.0), "map_ gives no probability to each of 4 labels"),
        ("map_", OrderedLogistic(np.array([0.0, np.nan, 1.0]), 1.0, 0.0), "map_ gives no probability"),
        ("conformal_", Conformal(np.array([0.1, 0.2]), np.array([1.0])), "a weight for every depth"),
        ("conformal_", Conformal(np.array([]), np.array([])), "a weight for every depth"),
        ("conformal_", CrossConformal((), 60), "conformal_ has no parts"),
        ("conformal_", OrderedLogistic(np.array([0.0]), 1.0, 0.0), "conformal_ has no parts"),
        ("conformal_", CrossConformal((0.5,), 60), "something else than its parts"),
        ("conformal_", CrossConformal((part(theta=[0.0]),), 60), "conformal_ gives no probability to each of 4"),
        ("conformal_", CrossConformal((part(weight=[1.0]),), 60), "a weight for every depth"),
        ("conformal_", CrossConformal((part(), part(weight=[], own=[])), 60), "a weight for every depth"),
        ("conformal_", CrossConformal((part(),) * 2, 60), "not as many as conformal_ has parts"),
        ("fold_estimators_", [], "not as many as conformal_ has parts"),
        ("map_", IsotonicThresholds((np.zeros(2),) * 3, (np.zeros(1),) * 3), "not a sound model"),
        ("map_", IsotonicThresholds((np.zeros(0),) * 3, (np.zeros(0),) * 3), "not a sound model"),
    ],
)
def test_a_calibration_that_fits_nothing(attribute, value, complaint, tmp_path):
    model = fitted("CalibratedOrdinal")
    setattr(model, attribute, value)
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match=complaint):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("about", "complaint"),
    [
        (5, "about_ is no dict"),
        ({"tuning": {"metric": "<b>"}}, "names no metric"),
        ({"tuning": 1}, "names no metric"),
        ({"score_quantiles": [0.0]}, "101 finite"),
    ],
)
def test_a_hostile_record_of_a_training(about, complaint, tmp_path):
    """Fault 10, beside the texts of a result."""
    model = TableModel(SVOR(), TableEncoder()).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    model.about_ = about
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match=complaint):
        load(tmp_path / "model")


def test_hostile_texts(file):
    _, arrays = contents(file)
    for text in [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"5", b"9" * 10_000, b'{"dict": [[[], 1]]}']:
        forge(file, text, arrays)
        with pytest.raises(ModelFileError, match="not a sound model"):
            load(file)


def test_a_sparse_matrix_that_points_outside_itself(tmp_path):
    path = tmp_path / "model"
    save(fitted("SVOR", sp.csr_array(X)), path)
    tree, arrays = contents(path)
    places = [("indices", 1, 10**6), ("indices", 1, -1), ("indptr", 1, 10**6), ("indptr", 1, -1), ("indptr", -1, 0)]
    for name, place, value in places:  # the last one made the core read beyond the end
        forged = {key: array.copy() for key, array in arrays.items()}
        forged[f"model.support_vectors_.{name}"][place] = value
        forge(path, tree, forged)
        with pytest.raises(ModelFileError, match="not a sound model"):
            load(path)


def test_a_small_file_takes_little_memory(file):
    """Labels that NumPy would pad to a terabyte, arrays used a thousand times, features without end."""
    tree, arrays = contents(file)
    padded = {"strings": ["a" * 200_000] + [str(i) for i in range(50_000)]}
    often = {"tuple": [{"array": "model.result_.alpha"}] * 1000}
    for value in (padded, often):
        forge(file, changed(tree, (*STATE, "classes_"), value), arrays)
        tracemalloc.start()
        with pytest.raises(ModelFileError):
            load(file)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1e6 + 64 * file.stat().st_size


def test_arrays_that_nothing_uses(file):
    tree, arrays = contents(file)
    forge(file, tree, arrays | {"ballast": np.zeros(3)})
    with pytest.raises(ModelFileError, match="nothing uses the array 'ballast'"):
        load(file)


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(SVOR(), tmp_path / "model")


def test_a_precomputed_kernel(tmp_path):
    K = X @ X.T
    model = SVOR(kernel="precomputed").fit(K, Y)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(K), model.predict(K))


def test_public_names():
    assert ordsvm.save is save
    assert ordsvm.load is load


def test_a_file_that_names_the_solver_as_before_is_certified(tmp_path):
    """The interior-point method of linear machines had the name of that of kernels."""
    X, y = random_data(0, n=80)
    model = LinearSVOR(solver="linear-interior-point").fit(X, y)
    model.result_ = replace(model.result_, solver="interior-point")
    save(model.set_params(solver="auto"), tmp_path / "model.ordsvm")
    loaded = load(tmp_path / "model.ordsvm")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert certify(loaded, X, y).relative_gap <= 1.01 * loaded.result_.relative_gap + 1e-9
