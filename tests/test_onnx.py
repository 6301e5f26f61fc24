"""ONNX Runtime gives the scores and ranks of every threshold model."""

import numpy as np
import onnxruntime
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from ordsvm import SVC, SVOR, SVR, LinearSVR, RoundedRegressor, estimators, to_onnx
from ordsvm.files.registry import estimator_classes
from tests.cases import random_data

X, Y = random_data(1, n=80)
NEW = random_data(2, n=200)[0]
PUBLIC = {name: kind for name, kind in estimator_classes().items() if name in estimators.__all__}
THRESHOLD_MODELS = [name for name, kind in PUBLIC.items() if hasattr(kind().fit(X, Y), "thresholds_")]


def run(model, samples):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    return session.run(["score", "rank", "label"], {"X": np.asarray(samples, dtype=np.float64)})


def assert_same(model, samples, dense=None):
    score, rank, label = run(model, samples if dense is None else dense)
    np.testing.assert_allclose(score, model.decision_function(samples), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(model.classes_[rank], model.predict(samples))
    assert label.tolist() == model.predict(samples).tolist()


@pytest.mark.parametrize("name", [name for name in THRESHOLD_MODELS if name != "RoundedRegressor"])
def test_every_threshold_model(name):
    assert_same(estimator_classes()[name](C=2.0).fit(X, Y), NEW)


@pytest.mark.parametrize("name", THRESHOLD_MODELS)
def test_two_ranks(name):
    """Their score is cut at 0: it has the intercept in it."""
    model = RoundedRegressor(SVR()) if name == "RoundedRegressor" else estimator_classes()[name](C=2.0)
    assert_same(model.fit(X, Y > 1), NEW)
    assert model.intercept_[0] != 0


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "laplacian"])
def test_every_kernel(kernel):
    labels = np.array(["poor", "fair", "good", "fine"])
    model = SVOR(kernel=kernel, gamma=0.2, coef0=0.5, categories=labels.tolist()).fit(X, labels[Y])
    assert_same(model, NEW)


def test_a_precomputed_kernel():
    assert_same(SVOR(kernel="precomputed").fit(X @ X.T, Y), NEW @ X.T)


@pytest.mark.parametrize("regressor", [SVR(), LinearSVR(tol=1e-6)])
def test_rounded_regressors(regressor):
    assert_same(RoundedRegressor(regressor).fit(X, Y + 3.0), NEW)


def test_sparse_support_vectors():
    assert_same(SVOR(gamma=0.3).fit(sp.csr_array(X), Y), sp.csr_array(NEW), dense=NEW)


def test_samples_far_from_zero():
    """Distances must not cancel: ‖x‖² is 10⁸ here."""
    near, far = SVOR(gamma=0.3, tol=1e-8).fit(X, Y), SVOR(gamma=0.3, tol=1e-8).fit(X + 1e4, Y)
    np.testing.assert_allclose(run(far, NEW + 1e4)[0], run(near, NEW)[0], atol=1e-6)


def test_disordered_thresholds():
    """Out of order, the thresholds below the score count, wherever they are among the others."""
    model = SVOR().fit(X, Y)
    model.thresholds_ = model.thresholds_[[1, 2, 0]]
    assert_same(model, NEW)


def test_a_file(tmp_path):
    to_onnx(SVOR().fit(X, Y), tmp_path / "model.onnx")
    assert len(onnxruntime.InferenceSession(tmp_path / "model.onnx").run(None, {"X": NEW})[1]) == len(NEW)


def test_what_can_not_be_exported():
    with pytest.raises(TypeError, match="SVC is not an ordinal machine"):
        to_onnx(SVC().fit(X, Y))
    with pytest.raises(TypeError, match="round a regressor of ordsvm"):
        to_onnx(RoundedRegressor(Ridge()).fit(X, Y))
    with pytest.raises(TypeError, match="own kernels, not Custom"):
        to_onnx(SVOR(kernel=lambda A, B: A @ B.T).fit(X, Y))
