"""SVR: scikit-learn's checks and answers, the oracle's optimum, and identities."""

import pickle
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from benchmarks.datasets import DataMissing, table
from ordsvm import GCD, SMO, SVR, certify, formulations
from ordsvm.problem import Treatment
from ordsvm.solvers import SOLVERS
from tests.oracle import dual_optimum

TIGHT = {"gamma": 0.4, "tol": 1e-8}
INTERCEPTS = {"free": Treatment.FREE, "penalized": Treatment.PENALIZED, "none": Treatment.NONE}

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)


def noisy_line(seed: int = 0, n: int = 40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=n) + 2.0


def assert_same_machine(first, second, X, atol: float = 1e-5) -> None:
    assert first.result_.objective == pytest.approx(second.result_.objective, rel=1e-6)
    np.testing.assert_allclose(first.predict(X), second.predict(X), rtol=0, atol=atol)


# scikit-learn's own checks

LOOSE = "tol=1e-3 is coarser than the comparison, and gamma='scale' does not see weights: scikit-learn's SVR fails too"


def expected_failed_checks(estimator) -> dict[str, str]:
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    return {} if estimator.kernel == "precomputed" else dict.fromkeys(checks, LOOSE)


@parametrize_with_checks(
    [SVR(), SVR(intercept="none"), SVR(intercept="penalized"), SVR(kernel="linear"), SVR(kernel="precomputed")],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # float64 hardly reaches this tol
@every_intercept
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_scikit_learns_equivalence_of_weights_and_repetitions(intercept, kernel):
    estimator = SVR(kernel=kernel, gamma=0.3, tol=1e-12, intercept=intercept)
    check_sample_weight_equivalence_on_dense_data("SVR", estimator)
    check_sample_weight_equivalence_on_sparse_data("SVR", estimator)


# Agreement with scikit-learn


def assert_agreement(ours, theirs, X, y, sample_weight=None) -> None:
    """The same objective, and predictions that are the same beside the spread of y."""
    proof = certify(ours, X, y, sample_weight)
    assert proof.relative_gap <= ours.tol
    beta = np.zeros(len(y))
    beta[theirs.support_] = np.ravel(
        theirs.dual_coef_.toarray() if sp.issparse(theirs.dual_coef_) else theirs.dual_coef_
    )
    their_dual = y @ beta - theirs.epsilon * np.abs(beta).sum() - 0.5 * beta @ ours.kernel_(X, X) @ beta
    assert proof.dual == pytest.approx(their_dual, rel=1e-4)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-2 * max(1.0, y.std()))


KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf"},
    "wide rbf": {"kernel": "rbf", "gamma": 0.01},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
}


def shipped(name: str):
    """Progression of diabetes; ink of the upper half of a digit to be told from its lower half."""
    if name == "diabetes":
        return scale(load_diabetes().data), load_diabetes().target
    pixels = load_digits().data[:300] / 16.0
    return pixels[:, 32:], pixels[:, :32].mean(axis=1)


@pytest.mark.parametrize("name", ["diabetes", "digits"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("C", "epsilon"), [(0.5, 0.1), (5.0, 0.02), (1.0, 0.0)])
def test_the_same_machine_as_scikit_learns(name, kernel, C, epsilon):
    X, y = shipped(name)
    parameters = {"C": C, "epsilon": epsilon, "tol": 1e-5} | KERNELS[kernel]
    assert_agreement(SVR(**parameters).fit(X, y), svm.SVR(**parameters).fit(X, y), X, y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, np.float32])
def test_weights_and_sparse_samples_as_scikit_learn(form):
    X, y = shipped("digits")
    X = form(X)
    weight = np.random.default_rng(0).uniform(0, 3, size=len(y))
    parameters = {"C": 2.0, "epsilon": 0.05, "tol": 1e-5}
    ours, theirs = SVR(**parameters).fit(X, y, weight), svm.SVR(**parameters).fit(X, y, weight)
    assert_agreement(ours, theirs, X, y, weight)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_the_same_attributes_as_scikit_learns(kernel):
    X, y = noisy_line()
    data = rbf_kernel(X, gamma=0.2) if kernel == "precomputed" else X
    ours, theirs = (model(kernel=kernel, tol=1e-8, epsilon=0.2).fit(data, y) for model in (SVR, svm.SVR))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.dual_coef_.shape == (1, len(ours.support_))
    assert ours.intercept_.shape == (1,)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.predict(X), X @ ours.coef_[0] + ours.intercept_)
    else:
        assert not hasattr(ours, "coef_")
    if kernel != "precomputed":
        np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    assert ours.score(data, y) == pytest.approx(theirs.score(data, y), abs=1e-4)


REAL = ["abalone", "boston_housing", "california_housing", "cpu_act", "machine_cpu", "space_ga"]


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_real_data_as_scikit_learn(name, C):
    try:
        X, y = table(name)
    except DataMissing as reason:
        pytest.skip(str(reason))
    rows = np.random.default_rng(0).permutation(len(y))[:1000]
    X, y = scale(X[rows]), scale(y[rows].astype(float))
    ours, theirs = (model(C=C, tol=1e-4).fit(X, y) for model in (SVR, svm.SVR))
    assert_agreement(ours, theirs, X, y)


# The certificate


@every_intercept
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("weighted", [False, True])
def test_certificate_result_and_oracle_agree(intercept, kernel, weighted):
    X, y = noisy_line(1)
    weight = np.random.default_rng(1).uniform(0.2, 3, size=len(y)) if weighted else np.ones(len(y))
    model = SVR(C=3.0, epsilon=0.2, kernel=kernel, gamma=0.3, coef0=1.0, tol=1e-7, intercept=intercept)
    fitted = model.fit(X, y, weight)
    proof = certify(fitted, X, y, weight)
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-8)
    assert proof.gap == pytest.approx(fitted.result_.gap, rel=1e-5, abs=1e-8 * proof.primal)
    assert proof.violation == pytest.approx(fitted.result_.violation, abs=1e-8)
    optimum = dual_optimum(formulations.svr(y, 0.2, 3.0 * weight, INTERCEPTS[intercept]), fitted.kernel_(X, X))
    assert proof.dual == pytest.approx(optimum.objective, rel=1e-6)
    np.testing.assert_allclose(fitted.intercept_, -optimum.b, atol=1e-3)
    losses = 3.0 * weight @ np.maximum(0.0, np.abs(y - fitted.predict(X)) - 0.2)
    beta = np.zeros(len(y))
    beta[fitted.support_] = fitted.dual_coef_[0]
    penalty = fitted.intercept_[0] ** 2 if intercept == "penalized" else 0.0
    assert losses + 0.5 * (beta @ fitted.kernel_(X, X) @ beta + penalty) == pytest.approx(proof.primal, rel=1e-8)


def test_certify_takes_the_targets_of_the_fit():
    X, y = noisy_line(2)
    fitted = SVR().fit(X, y)
    true = certify(fitted, X, y)
    assert true.relative_gap <= 1e-3
    for samples, targets in ((X, y[::-1]), (X[:-1], y[:-1])):
        with pytest.raises(ValueError, match="not the labels, weights and parameters"):
            certify(fitted, samples, targets)
    with pytest.raises(ValueError, match="requires y to be passed"):
        certify(fitted, X, None)


# Identities


@every_intercept
def test_a_wide_tube_holds_everything(intercept):
    X, y = noisy_line(3)
    fitted = SVR(epsilon=1e3, intercept=intercept).fit(X, y)
    assert len(fitted.support_) == 0
    assert fitted.result_.objective == 0
    np.testing.assert_array_equal(fitted.predict(X), np.repeat(fitted.intercept_, len(y)))


def test_a_shift_of_the_targets_is_a_shift_of_the_intercept():
    X, y = noisy_line(4)
    first, second = SVR(**TIGHT).fit(X, y), SVR(**TIGHT).fit(X, y + 100.0)
    np.testing.assert_allclose(second.predict(X), first.predict(X) + 100.0, atol=1e-5)
    np.testing.assert_allclose(second.intercept_, first.intercept_ + 100.0, atol=1e-5)


@every_intercept
def test_scaling_the_targets_scales_the_predictions(intercept):
    X, y = noisy_line(5)
    first = SVR(C=2.0, epsilon=0.1, intercept=intercept, **TIGHT).fit(X, y)
    second = SVR(C=6.0, epsilon=0.3, intercept=intercept, **TIGHT).fit(X, -3 * y)
    np.testing.assert_allclose(second.predict(X), -3 * first.predict(X), atol=1e-5)


def test_a_penalised_intercept_is_a_feature_of_ones():
    X, y = noisy_line(6)
    penalised = SVR(kernel="linear", intercept="penalized", tol=1e-9).fit(X, y)
    without = SVR(kernel="linear", intercept="none", tol=1e-9).fit(np.c_[X, np.ones(len(X))], y)
    np.testing.assert_allclose(np.c_[penalised.coef_, penalised.intercept_], without.coef_, atol=1e-5)
    assert without.intercept_ == [0.0]


@every_intercept
def test_weights_are_repetitions_and_order_is_no_matter(intercept):
    X, y = noisy_line(7)
    rng = np.random.default_rng(7)
    weight = rng.integers(0, 4, size=len(y))
    weighted = SVR(intercept=intercept, **TIGHT).fit(X, y, weight)
    repeated = SVR(intercept=intercept, **TIGHT).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_machine(weighted, repeated, X)
    assert set(weighted.support_) <= set(np.flatnonzero(weight))
    order = rng.permutation(len(y))
    whole = SVR(intercept=intercept, **TIGHT).fit(X, y)
    assert_same_machine(whole, SVR(intercept=intercept, **TIGHT).fit(X[order], y[order]), X)


@every_intercept
def test_kernels_in_all_forms_and_solvers_agree(intercept):
    X, y = noisy_line(8)
    expected = SVR(intercept=intercept, **TIGHT).fit(X, y)
    by_function = SVR(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.4), tol=1e-8, intercept=intercept).fit(X, y)
    assert_same_machine(expected, by_function, X)
    assert_same_machine(expected, SVR(intercept=intercept, **TIGHT).fit(sp.csr_array(X), y), X)
    K = rbf_kernel(X, gamma=0.4)
    precomputed = SVR(kernel="precomputed", tol=1e-8, intercept=intercept).fit(K, y)
    np.testing.assert_allclose(precomputed.predict(K), expected.predict(X), atol=1e-5)
    assert certify(precomputed, K, y).relative_gap <= 1e-8
    solver = SMO(selection="mvp") if intercept == "free" else GCD(precision="float64")
    assert_same_machine(expected, SVR(intercept=intercept, solver=solver, **TIGHT).fit(X, y), X)


@pytest.mark.parametrize("intercept", ["penalized", "none"])
@pytest.mark.parametrize("solver", [name for name, kind in SOLVERS.items() if Treatment.NONE in kind.accepts])
def test_every_box_solver_trains_it(intercept, solver):
    X, y = noisy_line(12)
    fitted = SVR(solver=solver, intercept=intercept, **TIGHT).fit(X, y)
    assert fitted.result_.solver == solver
    assert certify(fitted, X, y).relative_gap <= 1e-8
    assert_same_machine(fitted, SVR(solver="gcd", intercept=intercept, **TIGHT).fit(X, y), X)


# Use


@every_intercept
def test_a_warm_path_over_C_arrives_where_cold_fits_do(intercept):
    X, y = noisy_line(9)
    warm = SVR(warm_start=True, intercept=intercept, **TIGHT)
    for C in (0.1, 10.0, 0.5):
        warm.set_params(C=C).fit(X, y)
        assert_same_machine(warm, clone(warm).fit(X, y), X)
    assert warm.fit(X, y).n_iter_ <= 5
    assert_same_machine(warm.fit(X[:20], y[:20]), clone(warm).fit(X[:20], y[:20]), X)


def test_a_fit_cut_short_warns_and_predicts():
    X, y = noisy_line(10)
    with pytest.warns(ConvergenceWarning, match=r"SVR was stopped by max_iter after 5 steps.*raise max_iter") as caught:
        fitted = SVR(max_iter=5).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert fitted.n_iter_ == fitted.result_.n_iter == 5
    assert certify(fitted, X, y).gap == pytest.approx(fitted.result_.gap, rel=1e-8)


def test_clones_pickles_searches_and_columns():
    X, y = noisy_line(11)
    fitted = SVR(C=2.0, epsilon=0.3).fit(X, y)
    assert clone(fitted).get_params() == fitted.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    assert str(SVR(epsilon=0.3)) == "SVR(epsilon=0.3)"
    search = GridSearchCV(SVR(), {"C": [0.1, 1.0], "intercept": list(INTERCEPTS)}, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = SVR(C=2.0, epsilon=0.3).fit(X, y[:, None])
    np.testing.assert_array_equal(column.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(
        SVR().fit(X, np.round(y).astype(int)).predict(X), SVR().fit(X, np.round(y)).predict(X)
    )


# Bad input


X0, Y0 = noisy_line()


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("parameters", "pattern"),
    [
        ({"C": np.nan}, r"C=nan is not valid: give a positive number"),
        ({"epsilon": -0.1}, r"epsilon=-0.1 is not valid: give a number that is not negative"),
        ({"epsilon": None}, r"epsilon=None is not valid"),
        ({"intercept": False}, r"intercept=False is unknown: give 'free' or 'penalized' or 'none'"),
        (
            {"solver": "asygcd"},
            r"'asygcd' does not train with.*'free': give intercept='penalized' or 'none', or .*'smo'",
        ),
        ({"solver": SMO(), "intercept": "penalized"}, r"'smo' does not train with.*'penalized': give intercept='free'"),
        ({"cache_size": 1e-9}, r"cache_size=1e-09 MB does not hold two rows"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, pattern):
    with pytest.raises(ValueError) as caught:
        SVR(**parameters).fit(X0, Y0)
    assert re.search(pattern, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("y", "pattern"),
    [
        (None, r"SVR requires y to be passed, but the target y is None; give one number per sample"),
        (Y0[:-1], r"inconsistent numbers of samples.*40, 39"),
        (X0, r"y should be a 1d array"),
        (["a"] * 40, r"y must hold numbers only"),
        ([None] + [1.0] * 39, r"y contains NaN|numbers only"),
        (np.where(Y0 > 0, np.nan, Y0), r"Input y contains NaN"),
        (np.where(Y0 > 0, np.inf, Y0), r"Input y contains infinity"),
        (Y0 + 1j, r"Complex data not supported: y"),
        (1e200 * Y0, r"y holds values above 1e140, too large"),
        (3.0, r"y should be a 1d array"),
        ([], r"inconsistent numbers of samples|0 sample"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_targets(y, pattern):
    with pytest.raises(ValueError, match=pattern):
        SVR().fit(X0, y)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("weight", "pattern"),
    [
        (np.ones(39), r"inconsistent numbers"),
        (np.zeros(40), r"sample_weight is zero for every sample: at least some samples need positive weights"),
        (np.full(40, 1e-320), r"zero for every sample: give larger weights"),
        (np.full(40, -1.0), r"negative"),
        (np.full(40, np.nan), r"NaN"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_weights(weight, pattern):
    with pytest.raises(ValueError, match=pattern):
        SVR(C=1e-10).fit(X0, Y0, weight)


def test_a_model_before_fit():
    with pytest.raises(NotFittedError):
        SVR().predict(X0)


@pytest.mark.parametrize("factor", [1e-100, 1e50, 1e130])
def test_targets_of_any_size_give_a_finite_model(factor):
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        fitted = SVR(time_limit=2.0).fit(X0, factor * Y0)
    assert np.isfinite(fitted.predict(X0)).all()
    assert np.isfinite(fitted.result_.gap)
