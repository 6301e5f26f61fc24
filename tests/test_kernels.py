"""Kernels: the formula in NumPy, the rows of the core, parameters, and functions of the user's."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from ordsvm import SVOR, SVOREX, SVORIM, ShashuaLevinSVOR, certify
from ordsvm.kernels import (
    RBF,
    Custom,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    gamma_value,
    make_kernel,
)
from tests.cases import random_data
from tests.example_parts import functions_of

pearson = functions_of("models/ratings.py").pearson

KERNELS = {
    "linear": (Linear(), pairwise.linear_kernel, {}),
    "rbf": (RBF(0.3), pairwise.rbf_kernel, {"gamma": 0.3}),
    "poly": (Polynomial(0.3, 1.5, 3), pairwise.polynomial_kernel, {"gamma": 0.3, "coef0": 1.5, "degree": 3}),
    "poly-2.5": (Polynomial(0.01, 9.0, 2.5), pairwise.polynomial_kernel, {"gamma": 0.01, "coef0": 9.0, "degree": 2.5}),
    "sigmoid": (Sigmoid(0.1, 0.2), pairwise.sigmoid_kernel, {"gamma": 0.1, "coef0": 0.2}),
    "laplacian": (Laplacian(0.3), pairwise.laplacian_kernel, {"gamma": 0.3}),
}
every_kernel = pytest.mark.parametrize("name", KERNELS)


def sparse_data(n: int = 45, n_features: int = 7, seed: int = 0) -> np.ndarray:
    """Half of it zeros, one row and one column all zeros, two rows equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.5)
    X[4], X[:, 2], X[9] = 0.0, 0.0, X[8]
    return X


def wide_index(X, index: type):
    """The same CSR matrix with index arrays of another type."""
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


FORMATS = {
    "dense": lambda X: X,
    **{
        f"{kind.__name__}-{index.__name__}": lambda X, kind=kind, index=index: wide_index(kind(X), index)
        for kind in (sp.csr_matrix, sp.csr_array)
        for index in (np.int32, np.int64)
    },
}
every_format = pytest.mark.parametrize("format", FORMATS)


def all_rows(rows) -> np.ndarray:
    return rows.rows(np.arange(len(rows)))


# The formula, in NumPy and in the core


@every_kernel
@every_format
def test_formula_is_scikit_learns(name, format):
    kernel, reference, parameters = KERNELS[name]
    X, Y = sparse_data(20, seed=1), sparse_data(15, seed=2)
    K = kernel(FORMATS[format](X), FORMATS[format](Y))
    np.testing.assert_allclose(K, reference(X, Y, **parameters), rtol=1e-12, atol=1e-14)
    assert K.dtype == np.float64
    assert isinstance(K, np.ndarray)


@every_kernel
def test_formula_of_float32_data_is_computed_in_float64(name):
    kernel, _, _ = KERNELS[name]
    X = sparse_data().astype(np.float32)
    np.testing.assert_array_equal(kernel(X, X), kernel(X.astype(np.float64), X.astype(np.float64)))
    np.testing.assert_allclose(kernel(sp.csr_array(X), sp.csr_array(X)), kernel(X, X), rtol=1e-12, atol=1e-14)


@every_kernel
@every_format
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 45, 700])
def test_rows_of_the_core_are_the_formula(name, format, dtype, n):
    """700 samples are more than one chunk of the core."""
    kernel, _, _ = KERNELS[name]
    X = sparse_data(max(n, 10))[:n].astype(dtype)
    rows = kernel.rows(FORMATS[format](X))
    K = kernel(X, X)
    assert len(rows) == n
    some = np.unique(np.linspace(0, n - 1, 50).astype(int))
    np.testing.assert_allclose(rows.rows(np.array(some)), K[some], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rows.diagonal(), np.diagonal(K), rtol=1e-12, atol=1e-13)
    beta = np.random.default_rng(0).normal(size=n)
    np.testing.assert_allclose(rows.product(beta), K @ beta, rtol=1e-9, atol=1e-10)


@every_kernel
def test_rows_are_symmetric_and_their_diagonal_is_that_of_the_rows(name):
    """Exactly, for solvers rely on it: pairs of equal samples must have no curvature."""
    kernel, _, _ = KERNELS[name]
    for format in FORMATS.values():
        rows = kernel.rows(format(sparse_data()))
        K = all_rows(rows)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_allclose(rows.diagonal(), np.diagonal(K), rtol=1e-15, atol=0)
    if name in ("rbf", "laplacian"):
        np.testing.assert_array_equal(np.diagonal(K), 1.0)
        assert K[8, 9] == pytest.approx(1.0, abs=1e-15)


def test_rows_outlive_the_data_they_were_made_from():
    X = sparse_data()
    expected = RBF(0.3)(X, X)
    for made in (X.copy(), sp.csr_matrix(X), sp.csr_array(X)):
        rows = RBF(0.3).rows(made)
        del made
        np.empty(10_000).fill(np.nan)
        np.testing.assert_allclose(all_rows(rows), expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(2.0), Laplacian(2.0)], ids=str)
def test_far_apart_and_close_together(kernel):
    """exp of large and of tiny arguments, over the whole range of the core's own exponential."""
    X = np.array([[0.0], [1e-9], [1e-3], [1.0], [5.0], [20.0], [350.0], [1e6]])
    rows = all_rows(kernel.rows(X))
    distance = np.abs(X - X.T)
    expected = np.exp(-2.0 * (distance**2 if isinstance(kernel, RBF) else distance))
    np.testing.assert_allclose(rows, expected, rtol=1e-13, atol=1e-300)


def test_rbf_does_not_lose_distances_far_from_the_origin():
    """Years, ids and times: all samples near (2000, 1e6) and a few units apart."""
    X, y = random_data(0, n=60, n_features=2)
    shifted = X + [2000.0, 1e6]
    plain = RBF(0.5)(X, X)
    np.testing.assert_allclose(all_rows(RBF(0.5).rows(shifted)), plain, atol=1e-8)
    np.testing.assert_allclose(RBF(0.5)(shifted, shifted), plain, atol=1e-8)
    model = SVORIM(gamma=0.5, tol=1e-6).fit(shifted, y)
    assert certify(model, shifted, y).violation == pytest.approx(model.result_.violation, abs=1e-7)


@every_kernel
def test_scores_are_kernel_values_times_weights_in_blocks(name, monkeypatch):
    kernel, _, _ = KERNELS[name]
    X, Y = sparse_data(50, seed=1), sparse_data(30, seed=2)
    beta = np.random.default_rng(0).normal(size=30)
    expected = kernel(X, Y) @ beta
    np.testing.assert_allclose(kernel.scores(X, Y, beta), expected, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr("ordsvm.kernels.arrays.BLOCK_BYTES", 8 * 30 * 7)  # seven rows a block, the last not full
    np.testing.assert_allclose(kernel.scores(X, Y, beta), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.scores(sp.csr_array(X), sp.csr_array(Y), beta), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(kernel.scores(X, Y[:0], beta[:0]), np.zeros(50))  # no support vectors


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed_rows_are_the_matrix(dtype):
    X = sparse_data()
    K = (X @ X.T).astype(dtype)
    rows = Precomputed().rows(K)
    np.testing.assert_array_equal(all_rows(rows), K)
    np.testing.assert_array_equal(rows.diagonal(), np.diagonal(K))
    with pytest.raises(TypeError, match="precomputed kernel is a matrix"):
        Precomputed()(X, X)


# Names and gamma


def test_names_stand_for_kernels():
    assert make_kernel("linear", 0.5, 1.0, 2.0) == Linear()
    assert make_kernel("rbf", 0.5, 1.0, 2.0) == RBF(0.5)
    assert make_kernel("poly", 0.5, 1.0, 2.0) == Polynomial(0.5, 1.0, 2.0)
    assert make_kernel("sigmoid", 0.5, 1.0, 2.0) == Sigmoid(0.5, 1.0)
    assert make_kernel("laplacian", 0.5, 1.0, 2.0) == Laplacian(0.5)
    assert make_kernel("precomputed", 0.5, 1.0, 2.0) == Precomputed()
    assert make_kernel(np.dot, 0.5, 1.0, 2.0) == Custom(np.dot)
    assert make_kernel(RBF(0.1), 0.5, 1.0, 2.0) == RBF(0.1)
    with pytest.raises(ValueError, match=r"kernel='gauss' is unknown: give one of 'linear', 'rbf', .* or a callable"):
        make_kernel("gauss", 0.5, 1.0, 2.0)


@every_format
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma_is_that_of_scikit_learns_svc(format, gamma, dtype):
    dense, y = sparse_data().astype(dtype), np.arange(45) % 2
    expected = SVC(gamma=gamma).fit(dense if format == "dense" else sp.csr_matrix(dense), y)._gamma
    X = FORMATS[format](dense)
    assert gamma_value(gamma, X) == pytest.approx(expected, rel=1e-5 if dtype == np.float32 else 1e-12)
    assert SVORIM(gamma=gamma).fit(X, y).kernel_.gamma == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("value", [2.0, 77.6247116628692])
def test_gamma_of_constant_data_is_one(value):
    """Also where their sum, and so their mean, is rounded."""
    for X in (np.full((187, 1), value), sp.csr_matrix(np.full((187, 1), value))):
        assert gamma_value("scale", X) == 1.0


@every_format
def test_gamma_of_float32_data_far_from_0(format):
    X = (100.0 + np.random.default_rng(0).normal(size=(40, 3))).astype(np.float32)
    exact = 1.0 / (3 * X.astype(np.longdouble).var())
    assert gamma_value("scale", FORMATS[format](X)) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", "sigmoid", "laplacian"])
def test_estimators_use_the_kernel_they_are_told_to(name):
    X, y = random_data(1)
    parameters = {"gamma": 0.2, "coef0": 0.3, "degree": 2}
    model = SVORIM(kernel=name, tol=1e-6, **parameters).fit(X, y)
    reference = getattr(pairwise, {"poly": "polynomial"}.get(name, name) + "_kernel")
    own = {key: parameters[key] for key in pairwise.KERNEL_PARAMS[{"poly": "polynomial"}.get(name, name)]}
    new = random_data(2)[0]
    score = reference(new, model.support_vectors_, **own) @ model.dual_coef_
    np.testing.assert_allclose(model.decision_function(new), score, rtol=1e-9, atol=1e-10)


# The user's functions


@pytest.mark.parametrize("estimator", [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR])
def test_a_function_is_a_kernel(estimator):
    X, y = random_data(3, n=80)
    calls = []

    def kernel(A, B):
        calls.append((A.shape, B.shape))
        return pairwise.rbf_kernel(A, B, gamma=0.4)

    own, named = (estimator(kernel=k, gamma=0.4, tol=1e-6).fit(X, y) for k in (kernel, "rbf"))
    np.testing.assert_allclose(own.thresholds_, named.thresholds_, atol=1e-4)
    np.testing.assert_allclose(own.decision_function(X), named.decision_function(X), atol=1e-4)
    assert own.result_.objective == pytest.approx(named.result_.objective, rel=1e-6)
    assert certify(own, X, y).violation <= 1.1e-6
    assert all(a[0] * b[0] <= 80 * 80 for a, b in calls)


@pytest.mark.parametrize("solver", ["auto", "smo"])
def test_a_function_of_many_samples_is_called_for_some_rows_but_never_for_none(solver):
    X, y = random_data(4, n=601)
    rows = []

    def kernel(A, B):
        rows.append(len(A))
        return pairwise.rbf_kernel(A, B, gamma=0.4)  # refuses empty A

    own = SVORIM(kernel=kernel, solver=solver).fit(X, y)
    assert min(rows) >= 1
    if solver == "auto":
        assert len(rows) <= 60
        assert sum(rows) <= 3 * 601
    assert certify(own, X, y).violation <= 1e-3


def test_a_function_may_take_sparse_samples_and_return_a_list_or_float32():
    X, y = random_data(3, n=40)
    expected = SVORIM(kernel="linear", tol=1e-6).fit(X, y).decision_function(X)
    for function in (lambda A, B: (A @ B.T).toarray(), lambda A, B: (A @ B.T).toarray().tolist()):
        model = SVORIM(kernel=function, tol=1e-6).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), expected, atol=1e-4)
    model = SVORIM(kernel=lambda A, B: (A @ B.T).astype(np.float32), tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda A, B: np.ones(len(A)),
            r"returned shape \(.*\) for .* samples: it must return one value for every pair",
        ),
        (lambda A, B: np.ones((len(A), len(B) + 1)), "it must return one value for every pair"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "returned NaN or infinity: it must return finite numbers"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "returned NaN or infinity"),
        (lambda A, B: np.where(np.eye(len(A), len(B)), 1.0, np.nan), "returned NaN or infinity"),
        (lambda A, B: A @ B.T + 1j, "returned complex numbers: it must return real ones"),  # fault 15
        (lambda A, B: (A @ B.T).astype(complex), "returned complex numbers"),
        (lambda A, B: sp.csr_array(A @ B.T), r"returned a sparse matrix: it must return a dense one, \.toarray\(\)"),
        (lambda A, B: (A @ B.T).astype(complex).tolist(), "returned complex numbers"),
        (lambda A, B: (A @ B.T).astype(complex).astype(object), "returned something else than real numbers"),
        (lambda A, B: [["x"]], "returned something else than real numbers"),
    ],
)
def test_wrong_functions_get_a_clear_error(function, message):
    X, y = random_data(4)
    with pytest.raises(ValueError, match=message):
        SVORIM(kernel=function).fit(X, y)


def test_pearson_kernel_is_that_of_the_paper():
    """Chu & Keerthi 2007, (46), is a plain sum over the users (fault 7: it was divided by their number)."""
    missing = np.nan
    ratings = np.array([[1.0, 3.0, missing, 5.0], [2.0, missing, 4.0, 2.0], [3.0, 3.0, 3.0, missing]])
    z = np.zeros_like(ratings)  # missing ratings, and films that all users rate alike, stay at the film's mean
    for film, row in enumerate(ratings[:2]):
        seen = row[np.isfinite(row)]
        for user in np.flatnonzero(np.isfinite(row)):
            z[film, user] = (row[user] - seen.mean()) / seen.std()
    expected = [[sum(one[user] * other[user] for user in range(4)) for other in z] for one in z]
    np.testing.assert_allclose(pearson(ratings, ratings), expected, atol=1e-12)


@pytest.mark.parametrize("estimator", [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR])
def test_pearson_kernel_on_ratings_with_missing_values(estimator):
    rng = np.random.default_rng(5)
    taste = rng.normal(size=(70, 3)) @ rng.normal(size=(3, 40)) + rng.normal(size=(70, 40))
    ratings = np.where(rng.random((70, 40)) < 0.4, np.digitize(taste, [-2, -1, 1, 2]).astype(float), np.nan)
    y = np.argsort(np.argsort(taste[:, 0])) * 4 // 70
    train, test = slice(0, 50), slice(50, 70)
    C = 1.0 / 40  # the kernel is a sum over 40 users
    own = estimator(C=C, kernel=pearson, tol=1e-6).fit(ratings[train], y[train])
    assert certify(own, ratings[train], y[train]).violation <= 1.1e-6
    K = pearson(ratings, ratings)
    given = estimator(C=C, kernel="precomputed", tol=1e-6).fit(K[train, train], y[train])
    np.testing.assert_allclose(own.thresholds_, given.thresholds_, atol=1e-5)
    scores = given.decision_function(K[test, train])
    np.testing.assert_allclose(own.decision_function(ratings[test]), scores, atol=1e-5)


def test_missing_values_are_refused_where_the_kernel_has_no_use_for_them():
    X, y = random_data(6)
    X[3, 1] = np.nan
    for kernel in ("rbf", RBF(0.5)):
        with pytest.raises(ValueError, match="NaN"):
            SVORIM(kernel=kernel).fit(X, y)


# Kernels without a finite value


def test_a_polynomial_without_a_real_value_is_an_error():
    """(γ x·y)^2.5 of a negative number is no number: nothing may come of it that looks like a model."""
    X, y = random_data(7)
    with pytest.raises(ValueError, match=r"NaN|finite"):
        SVORIM(kernel="poly", degree=2.5).fit(X, y)


def test_a_kernel_that_overflows_is_an_error():
    X, y = random_data(7)
    with pytest.raises(ValueError, match=r"too large"):
        SVORIM(kernel="poly", degree=9, gamma=1.0, max_iter=100).fit(1e40 * X, y)
