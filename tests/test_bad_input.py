"""Bad labels, samples and kernels get one clear sentence, before a solver starts: what was given, what is allowed,
what to do.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning, NotFittedError

from ordsvm import SVORIM, ModelWarning, certify
from tests.refusals import ESTIMATORS, K, X, Y, refuse

# Labels


def objects(values):
    """An array of these, even if they are sequences themselves."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("y", "error", "pattern"),
    [
        (None, ValueError, r"requires y to be passed.*None.*one label per sample"),
        (np.ones(30), ValueError, r"at least two classes.*only one class: 1\.0.*another class"),
        (Y[:-1], ValueError, r"inconsistent numbers of samples.*30, 29"),
        (np.tile(Y, 2), ValueError, r"inconsistent numbers of samples.*30, 60"),
        ([], ValueError, r"y is empty"),
        (3, ValueError, r"y should be a 1d array or list.*int of shape \(\)"),
        ({"a": 1}, ValueError, r"y should be a 1d array or list.*dict"),
        (np.c_[Y, Y], ValueError, r"y should be a 1d array or list.*\(30, 2\)"),
        (np.where(Y == 1, np.nan, Y), ValueError, r"y contains missing labels.*10 of 30.*drop"),
        ([None, 1, 2] * 10, ValueError, r"y contains missing labels.*10 of 30.*drop"),
        (np.where(Y == 1, np.inf, Y), ValueError, r"y contains infinity.*finite"),
        (Y + 0j, ValueError, r"Complex data not supported: y.*no order"),
        (X[:, 0], ValueError, r"continuous.*categories, lowest first"),
        ([1, "two", 3] * 10, TypeError, r"y holds labels with no order.*int and str.*pass categories"),
        (objects([(1,), (2,), (3,)] * 10), TypeError, r"y holds labels with no order.*tuple.*pass categories"),
        ([{1}, {2}, {3}] * 10, TypeError, r"y holds labels of type set.*number or string"),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:20],
)
def test_labels(estimator, y, error, pattern):
    refuse(lambda: estimator().fit(X, y), error, pattern)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("categories", "pattern"),
    [
        ([1, 2], r"y contains labels that are not among the categories 1, 2: 3; add them"),
        (["1", "2", "3"], r"not among the categories '1', '2', '3': 1, 2, 3; add them"),
        ([1, 2, 3, 3], r"categories repeats 3; list every label once"),
        ([1], r"categories has only 1; list two labels or more"),
        ([], r"categories is empty; give at least"),
        ("123", r"categories should be a 1d array or list.*str"),
        (3, r"categories should be a 1d array or list.*int"),
        ({1, 2, 3}, r"categories should be a 1d array or list.*set"),
        ([[1, 2, 3]], r"categories should be a 1d array or list.*\(1, 3\)"),
        ([1, 2, 3, None], r"categories contains missing labels.*1 of 4"),
    ],
    ids=str,
)
def test_categories(estimator, categories, pattern):
    refuse(lambda: estimator(categories=categories).fit(X, Y), ValueError, pattern)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_strings_are_sorted_with_a_warning(estimator):
    y = np.array(["low", "medium", "high"])[Y - 1]
    with pytest.warns(UserWarning, match=r"sorted order was assumed: 'high' < 'low' < 'medium'.*categories") as caught:
        model = estimator().fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}  # it points at the caller
    about_the_model = [warning for warning in caught if issubclass(warning.category, ModelWarning)]
    assert len(caught) - len(about_the_model) == 1
    assert model.classes_.tolist() == ["high", "low", "medium"]
    with warnings.catch_warnings(action="error"):
        assert estimator(categories=["low", "medium", "high"]).fit(X, y).classes_.tolist() == ["low", "medium", "high"]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_column_of_labels_is_taken_with_a_warning(estimator):
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        model = estimator().fit(X, Y[:, None])
    assert np.array_equal(model.result_.alpha, estimator().fit(X, Y).result_.alpha)


# Samples


def with_entry(value, array=X):
    changed = array.astype(object) if isinstance(value, (str, dict)) else array.copy()
    changed[4, 1] = value
    return changed


BAD_SAMPLES = {
    "nan": (with_entry(np.nan), ValueError, r"Input X contains NaN"),
    "inf": (with_entry(np.inf), ValueError, r"Input X contains infinity"),
    "-inf": (with_entry(-np.inf), ValueError, r"Input X contains infinity"),
    "nan-float32": (with_entry(np.nan, X.astype(np.float32)), ValueError, r"Input X contains NaN"),
    "inf-by-float32": (with_entry(1e300).astype(np.longdouble) * 1e300, ValueError, r"X contains infinity"),
    "nan-csr": (sp.csr_array(with_entry(np.nan)), ValueError, r"Input X contains NaN"),
    "inf-csc": (sp.csc_matrix(with_entry(np.inf)), ValueError, r"Input X contains infinity"),
    "word": (with_entry("blue"), ValueError, r"could not convert string to float.*'blue'"),
    "words": ([["red", "green"]] * 30, ValueError, r"could not convert string to float.*'red'"),
    "dict": (with_entry({}), TypeError, r"real number, not 'dict'"),
    "frame-of-words": (pd.DataFrame({"a": ["x"] * 30}), ValueError, r"could not convert string to float.*'x'"),
    "frame-with-nan": (pd.DataFrame({"a": [1.0, None] * 15}), ValueError, r"Input X contains NaN"),
    "complex": (X + 1j, ValueError, r"Complex data not supported"),
    "complex-csr": (sp.csr_matrix(X + 1j), ValueError, r"Complex data not supported"),
    "complex-coo": (sp.coo_array(X + 1j), ValueError, r"Complex data not supported"),
    "no-features": (X[:, :0], ValueError, r"0 feature\(s\) \(shape=\(30, 0\)\).*minimum of 1"),
    "no-samples": (X[:0], ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\).*minimum of 2"),
    "one-sample": (X[:1], ValueError, r"1 sample\(s\) \(shape=\(1, 3\)\).*minimum of 2"),
    "one-sample-csr": (sp.csr_array(X[:1]), ValueError, r"1 sample\(s\) \(shape=\(1, 3\)\).*minimum of 2"),
    "1-d": (X[:, 0], ValueError, r"Expected 2D array, got 1D array.*[Rr]eshape"),
    "3-d": (X[:, :, None], ValueError, r"dim 3.*dim <= 2"),
    "scalar": (3.0, ValueError, r"Expected 2D array, got scalar"),
    "none": (None, ValueError, r"Expected 2D array, got scalar|None"),
}


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("case", BAD_SAMPLES)
def test_samples(estimator, case):
    """These sentences are scikit-learn's."""
    bad, error, pattern = BAD_SAMPLES[case]
    y = Y[: bad.shape[0]] if hasattr(bad, "shape") and len(bad.shape) > 1 else Y
    refuse(lambda: estimator().fit(bad, y), error, pattern, one_line=False)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_objects_that_are_no_numbers(estimator):
    bad = sp.csr_array(X)
    bad.data = np.array(["blue"] * bad.nnz, dtype=object)
    refuse(lambda: estimator().fit(bad, Y), ValueError, r"could not convert string to float.*'blue'")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_other_containers_and_types_of_numbers_are_converted(estimator, kernel):
    whole = np.round(2 * X).astype(np.int64)
    expected = estimator(kernel=kernel).fit(sp.csr_array(whole.astype(np.float64)), Y)
    large_indices = sp.csr_array(whole.astype(np.float64))
    large_indices.indices = large_indices.indices.astype(np.int64)
    large_indices.indptr = large_indices.indptr.astype(np.int64)
    duplicates = sp.coo_array(
        (np.r_[np.repeat(0.5, 90), whole.ravel() - 0.5], np.tile(np.indices(whole.shape).reshape(2, -1), 2)),
        shape=whole.shape,
    )
    unsorted = sp.csr_matrix(whole.astype(np.float64))[:, ::-1][:, ::-1]
    objects = sp.csr_array(whole)
    objects.data = objects.data.astype(object)
    containers = [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array, sp.dok_matrix, sp.bsr_array, sp.dia_array]
    others = [container(whole) for container in containers] + [
        sp.csr_array(whole.astype(np.int8)),
        sp.csc_matrix(whole.astype(np.float32)),
        sp.coo_array(whole.astype(np.longdouble)),
        large_indices,
        duplicates,
        unsorted,
        objects,
    ]
    for other in others:
        model = estimator(kernel=kernel).fit(other, Y)
        assert model.result_.converged
        assert sp.issparse(model.support_vectors_)
        assert model.support_vectors_.format == "csr"
        np.testing.assert_allclose(model._model_thresholds(), expected._model_thresholds(), atol=5e-3)
        assert certify(model, other, Y).violation <= 1.01e-3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_truth_values_count_as_one(estimator):
    flags = X > 0
    expected = estimator().fit(sp.csr_array(flags.astype(float)), Y)
    assert np.array_equal(estimator().fit(sp.csr_array(flags), Y).result_.alpha, expected.result_.alpha)


# Precomputed and given kernels


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("matrix", "error", "pattern"),
    [
        (K[:, :7], ValueError, r"square matrix.*\(30, 7\).*between all training samples"),
        (K[:7], ValueError, r"square matrix.*\(7, 30\)"),
        (with_entry(0.9, K), ValueError, r"not symmetric.*k\(X, X\)"),
        (1e-12 * with_entry(0.9, K), ValueError, r"not symmetric.*k\(X, X\)"),
        (1e12 * with_entry(0.9, K), ValueError, r"not symmetric.*k\(X, X\)"),
        (with_entry(np.nan, K), ValueError, r"contains NaN"),
        (sp.csr_array(K), TypeError, r"[Ss]parse.*toarray\(\)"),
        (sp.coo_matrix(K), TypeError, r"[Ss]parse.*toarray\(\)"),
    ],
    ids=["wide", "tall", "asymmetric", "asymmetric and small", "asymmetric and large", "nan", "csr", "coo"],
)
def test_precomputed_kernels(estimator, matrix, error, pattern):
    y = Y[: matrix.shape[0]]
    y = np.resize([1, 2, 3], len(y)) if len(set(y)) == 1 else y
    refuse(lambda: estimator(kernel="precomputed").fit(matrix, y), error, pattern, one_line=False)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_kernel_that_is_asymmetric_by_rounding_is_taken_at_any_scale(scale):
    rounded = K.copy()
    rounded[3, 4] += 1e-9 * rounded.max()
    C = 1.0 / scale
    model = SVORIM(kernel="precomputed", C=C, tol=1e-6).fit(scale * rounded, Y)  # thresholds scale with the kernel
    plain = SVORIM(kernel="precomputed", tol=1e-6).fit(K, Y)
    assert model.result_.converged
    np.testing.assert_allclose(model.result_.objective * scale, plain.result_.objective, rtol=1e-5)


@pytest.mark.usefixtures("no_core")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("kernel", "pattern"),
    [
        (lambda A, B: np.ones(3), r"callable kernel returned shape \(3,\) for 30 and 30 samples.*every pair"),
        (lambda A, B: np.ones((len(A), len(B) + 1)), r"callable kernel returned shape \(30, 31\).*every pair"),
        (lambda A, B: None, r"callable kernel returned shape \(\).*every pair"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), r"callable kernel returned NaN or infinity.*finite"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), r"callable kernel returned NaN or infinity.*finite"),
        (lambda A, B: [["blue"] * len(B)] * len(A), r"[Kk]ernel.*number|could not convert string to float: 'blue'"),
    ],
    ids=["shape", "wide", "none", "nan", "inf", "words"],
)
def test_functions_that_are_no_kernels(estimator, kernel, pattern):
    refuse(lambda: estimator(kernel=kernel).fit(X, Y), ValueError, pattern)


# Prediction


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.predict(X),
        lambda model: model.decision_function(X),
        lambda model: model.score(X, Y),
        lambda model: model.coef_,
        lambda model: certify(model, X, Y),
    ],
    ids=["predict", "decision_function", "score", "coef_", "certify"],
)
def test_a_model_before_fit(estimator, use):
    pattern = rf"This {estimator.__name__} instance is not fitted yet. Call 'fit'"
    refuse(lambda: use(estimator(kernel="linear")), NotFittedError, pattern)


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    return request.param().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize(
    ("new", "pattern"),
    [
        (X[:, :2], r"X has 2 features, but .* is expecting 3 features"),
        (sp.csr_array(X[:, :2]), r"X has 2 features, but .* is expecting 3 features"),
        (np.hstack([X, X]), r"X has 6 features, but .* is expecting 3 features"),
        (X[0], r"Expected 2D array, got 1D.*[Rr]eshape"),
        (X[:0], r"0 sample\(s\)"),
        (X + 1j, r"Complex data not supported"),
        (with_entry(np.nan), r"contains NaN"),
        (None, r"Expected 2D array|None"),
        (pd.DataFrame(X, columns=["a", "b", "d"]), r"feature names should match.*unseen.*d.*missing.*c"),
        (pd.DataFrame(X, columns=["b", "a", "c"]), r"feature names should match.*same order"),
    ],
    ids=["few", "few-csr", "many", "1-d", "none", "complex", "nan", "None", "names", "order"],
)
def test_new_samples(fitted, method, new, pattern):
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        refuse(lambda: getattr(fitted, method)(new), ValueError, pattern, one_line=False)


def test_new_samples_without_the_names(fitted):
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_new_rows_of_a_precomputed_kernel(estimator):
    model = estimator(kernel="precomputed").fit(K, Y)
    refuse(lambda: model.predict(K[:, :7]), ValueError, r"X has 7 features, but .* is expecting 30 .*k\(X, X_train\)")
    assert model.predict(K[:4]).shape == (4,)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_coef_of_a_machine_that_has_none(estimator):
    refuse(lambda: estimator().fit(X, Y).coef_, AttributeError, r"coef_.*only.*kernel='linear'")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_certificate_for_other_data(estimator):
    model = estimator().fit(X, Y)
    refuse(lambda: certify(model, X[:-1], Y[:-1]), ValueError, r"not the labels, weights and parameters.*trained with")
    refuse(lambda: certify(model, X, None), ValueError, r"requires y.*None")
    refuse(lambda: certify(model, X, Y[:-1]), ValueError, r"inconsistent numbers of samples.*30, 29")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian", "sigmoid", "poly"])
def test_huge_new_samples_get_a_finite_score_or_a_clear_sentence(estimator, kernel):
    model = estimator(kernel=kernel, gamma=0.5).fit(X, Y)
    huge = np.array([[1e300, 1e300, -1e300], [1e200, 0.0, 0.0], [-1e160, 1e160, 1.0]])
    message = ""
    with warnings.catch_warnings(action="ignore"):
        try:
            score = model.decision_function(huge)
        except ValueError as error:
            score, message = np.zeros(0), str(error)
    assert np.all(np.isfinite(score))
    assert len(score) == 3 or re.search(r"large|overflow|infinit|finite", message)
