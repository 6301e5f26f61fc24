"""The certificate: recomputed from model and data, compared with the result and with the oracle."""

import copy
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVR,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    OrdinalSearchCV,
    RoundedRegressor,
    certify,
)
from ordsvm.problem import Certificate
from ordsvm.solvers.linear import losses
from ordsvm.tables import TableEncoder, TableModel
from tests.cases import N_RANKS, random_data
from tests.model_cases import FORMULATION, TIGHT, every_model
from tests.oracle import dual_optimum


@every_model
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
def test_certify_agrees_with_the_result_and_with_the_oracle(model, kernel):
    X, y = random_data(31)
    fitted = model(C=3.0, kernel=kernel, gamma=0.3, coef0=1.0, tol=1e-7).fit(X, y)
    proof = certify(fitted, X, y)
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-8)
    assert proof.gap == pytest.approx(fitted.result_.gap, rel=1e-5, abs=1e-8 * proof.primal)
    assert proof.relative_gap == pytest.approx(fitted.result_.relative_gap, abs=1e-8)
    assert proof.violation == pytest.approx(fitted.result_.violation, abs=1e-8)
    np.testing.assert_allclose(proof.thresholds, fitted.thresholds_, atol=1e-8)
    optimum = dual_optimum(FORMULATION[model](y, N_RANKS, 3.0), fitted.kernel_(X, X))
    assert proof.primal == pytest.approx(optimum.objective, rel=1e-6)
    assert proof.dual == pytest.approx(optimum.objective, rel=1e-6)


@every_model
def test_certify_does_not_rely_on_the_results_of_the_model(model):
    X, y = random_data(32)
    fitted = model(**TIGHT).fit(X, y)
    true = certify(fitted, X, y)
    moved = copy.deepcopy(fitted)
    moved.thresholds_ = moved.thresholds_ + 0.5
    assert certify(moved, X, y).gap > true.gap + 0.1
    halved = copy.deepcopy(fitted)
    halved.result_.alpha[:] *= 0.5
    with pytest.raises(ValueError, match="not those that its dual variables give"):
        certify(halved, X, y)
    lighter = copy.deepcopy(fitted)
    lighter.dual_coef_ = 0.5 * lighter.dual_coef_
    with pytest.raises(ValueError, match="not those that its dual variables give"):
        certify(lighter, X, y)


@every_model
def test_certify_on_other_data_says_so(model):
    X, y = random_data(33)
    fitted = model().fit(X, y)
    others = [
        (X[:-1], y[:-1], None),
        (X, y, np.arange(len(y)) % 2),
        (X, (y + 1) % N_RANKS, None),
    ]
    for samples, labels, weight in others:
        with pytest.raises(ValueError, match="not the labels, weights and parameters"):
            certify(fitted, samples, labels, sample_weight=weight)
    with pytest.raises(ValueError, match="not the labels, weights and parameters"):
        certify(copy.deepcopy(fitted).set_params(C=2.0), X, y)
    with pytest.raises(ValueError, match="not those that its dual variables give"):
        certify(fitted, X + 1e-9, y)
    with pytest.raises(ValueError, match="features"):
        certify(fitted, X[:, :2], y)
    with pytest.raises(NotFittedError):
        certify(model(), X, y)
    with pytest.raises(TypeError, match="last step"):
        certify(make_pipeline(fitted), X, y)


def test_certify_names_the_machine_inside_another_model():
    X, y = random_data(33)
    machine, rows = SVOR(kernel="linear"), pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    for model, name in (
        (TableModel(machine, TableEncoder()).fit(rows, y), r"TableModel: .* model.machine_ with model.features\(X\)\."),
        (OrdinalSearchCV(machine, {"C": [1.0]}, cv=2).fit(X, y), r"OrdinalSearchCV: .* model.best_estimator_\."),
        (CalibratedOrdinal(machine).fit(X, y), r"CalibratedOrdinal: .* model.estimator_\."),
        (RoundedRegressor(SVR()).fit(X, y), r"RoundedRegressor: .* model.regressor_ with ranks from 0 for y\."),
        (make_pipeline(StandardScaler(), machine).fit(X, y), r"model\[-1\], with model\[:-1\].transform\(X\)\."),
        (LogisticRegression(), r"not LogisticRegression\."),
    ):
        with pytest.raises(TypeError, match=name):
            certify(model, X, y)


@pytest.mark.filterwarnings("ignore::ordsvm.ModelWarning")
def test_what_certify_names_is_what_it_takes():
    X, y = random_data(33)
    rows = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    table = TableModel(SVOR(), TableEncoder()).fit(rows, y)
    search = OrdinalSearchCV(SVOR(), {"C": [1.0]}, cv=2).fit(X, y)
    calibrated, rounded = CalibratedOrdinal(SVOR()).fit(X, y), RoundedRegressor(SVR()).fit(X, y)
    pipeline = make_pipeline(StandardScaler(), SVOR()).fit(X, y)
    for machine, samples in (
        (table.machine_, table.features(rows)),
        (search.best_estimator_, X),
        (calibrated.estimator_, X),
        (rounded.regressor_, X),
        (pipeline[-1], pipeline[:-1].transform(X)),
    ):
        assert certify(machine, samples, y).relative_gap <= 1e-3


def test_a_certificate_in_a_line():
    proof = Certificate(
        734.5150346533894, 734.514896809159, np.float64(1.378e-4), 4.375e-4, np.array([-1.26733765, 2.0])
    )
    assert repr(proof) == (
        "Certificate(primal=734.5150347, dual=734.5148968, gap=0.000138, relative_gap=1.88e-07, violation=0.000438, "
        "thresholds=[-1.2673,  2.    ])"
    )


@every_model
def test_certify_takes_the_weights_of_the_fit(model):
    X, y = random_data(34)
    weight = np.random.default_rng(34).uniform(0.2, 3, size=len(y))
    fitted = model(class_weight="balanced", **TIGHT).fit(X, y, weight)
    proof = certify(fitted, X, y, weight)
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-8)
    assert proof.relative_gap <= 1e-6


@pytest.mark.parametrize("model", [LinearSVOR(), LinearSVC(), LinearNPSVOR()], ids=str)
def test_certify_of_linear_machines_takes_rows_of_float32_in_tiles(model, monkeypatch):
    X, y = random_data(34)
    X = X.astype(np.float32)
    fitted = model.fit(X, y)
    monkeypatch.setattr(losses, "TILE_VALUES", 10 * X.shape[1])
    found, expected = certify(fitted, X, y), certify(fitted, X.astype(np.float64), y)
    assert found.primal == pytest.approx(expected.primal, rel=1e-13)
    assert found.gap == pytest.approx(expected.gap, abs=1e-12 * expected.primal)
    np.testing.assert_array_equal(found.thresholds, expected.thresholds)


def test_certify_of_linear_machines_makes_no_copy_of_float32():
    X = np.random.default_rng(0).standard_normal((2000, 400), dtype=np.float32)
    fitted = LinearSVC().fit(X, X[:, 0] > 0.0)
    tracemalloc.start()
    certify(fitted, X, X[:, 0] > 0.0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes


@pytest.mark.parametrize("spread", [3e6, 1e8])
def test_pairs_of_near_rows_far_from_all_others_are_certified_truly(spread):
    """Norms lose their distances: the proof of the fit, by the core, and this one must agree."""
    random = np.random.default_rng(0)
    X = np.repeat(random.uniform(0.0, spread, 50), 2)[:, np.newaxis]
    X[1::2] += random.uniform(0.3, 1.0, (50, 1))
    y = np.arange(100) % 3
    model = SVOR(C=10.0, gamma=1.0, tol=1e-6).fit(X, y)
    proof = certify(model, X, y)
    assert proof.primal == pytest.approx(model.result_.objective, rel=1e-7)
    assert proof.gap <= 2.0 * model.result_.gap


def indefinite_matrix(n, seed=38):
    """With k(x, x) = 1 and values between samples that are larger."""
    K = np.random.default_rng(seed).normal(size=(n, n))
    K = K + K.T
    np.fill_diagonal(K, 1.0)
    return K


@every_model
def test_no_model_with_a_negative_square_norm_is_called_proven(model):
    _, y = random_data(38, n=60)
    K = indefinite_matrix(60)
    with pytest.warns(ConvergenceWarning, match="‖w‖² is below 0: the kernel is not positive semidefinite"):
        fitted = model(kernel="precomputed", solver="decomposition").fit(K, y)
    problem = FORMULATION[model](y, N_RANKS, 1.0)
    assert fitted.result_.status == "gap"
    assert fitted.result_.relative_gap < 1e-3
    assert fitted.result_.objective > problem.hinges.cap.sum()  # of w = 0, b = 0
    with pytest.warns(ConvergenceWarning, match="no certificate: the gap proves nothing"):
        certify(fitted, K, y)


@pytest.mark.parametrize("model", [SVC, NPSVOR])
def test_nor_one_of_several_problems(model):
    _, y = random_data(38, n=60)
    with pytest.warns(ConvergenceWarning, match="‖w‖² is below 0"):
        fitted = model(kernel="precomputed").fit(indefinite_matrix(60), y)
    assert fitted.result_.status == "gap"


def test_nor_one_of_a_search():
    _, y = random_data(38, n=60)
    search = OrdinalSearchCV(SVOR(kernel="precomputed"), {"C": [1.0]}, cv=2)
    with pytest.warns(ConvergenceWarning):
        search.fit(indefinite_matrix(60), y)
    assert search.best_estimator_.result_.status == "gap"


def test_a_limit_is_no_sign_of_an_indefinite_kernel():
    X, y = random_data(39)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        fitted = SVOR(C=1e4, kernel="linear", solver="gcd", max_iter=3).fit(X, y)
    assert certify(fitted, X, y).primal > 0


def test_negative_values_of_a_kernel_are_named():
    X, y = random_data(40)
    X[7] = 9.0
    expected = r"k\(x, x\) of sample 7 is -[0-9.]+\. .* positive semidefinite"
    with pytest.warns(ConvergenceWarning), pytest.warns(UserWarning, match=expected):
        SVOR(kernel=lambda A, B: -A @ B.T).fit(X, y)
    with pytest.warns(ConvergenceWarning), pytest.warns(UserWarning, match=expected):
        SVOR(kernel="precomputed").fit(-X @ X.T, y)


def test_rounding_of_a_precomputed_kernel_is_no_sign_of_an_indefinite_one(recwarn):
    X, y = random_data(41)
    X = X.astype(np.float32) + 1000.0
    K = (X @ X.T).astype(np.float32)
    SVOR(kernel="precomputed", C=0.01).fit(K, y)
    assert not [each for each in recwarn if "semidefinite" in str(each.message)]
