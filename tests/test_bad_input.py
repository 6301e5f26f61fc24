"""Every bad input gets one clear sentence, before a solver starts: what was given, what is allowed, what to do."""

import json
import os
import re
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning, NotFittedError

from ordsvm import GCD, NPSVOR, SMO, SVOR, SVOREX, SVORIM, ShashuaLevinSVOR, _core, certify
from ordsvm.solvers import shared_matrix

ESTIMATORS = [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR, NPSVOR]
COST_MODELS = [SVOR, SVORIM]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.repeat([1, 2, 3], 10)
K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))


@pytest.fixture
def no_solver(monkeypatch):
    """Fails the test if a solver is called."""

    def called(*arguments, **options):
        pytest.fail("a solver was called")

    monkeypatch.setattr(shared_matrix, "solve", called)


@pytest.fixture
def no_core(monkeypatch):
    """Fails the test if a solver of the core is called: for options that only the solver itself can judge."""

    def called(*arguments, **options):
        pytest.fail("a solver of the core was called")

    for name in ("smo", "gcd"):
        monkeypatch.setattr(_core, name, called)


def refuse(fit, error, pattern, *, one_line=True):
    """`fit()` must raise exactly this type, with a message that matches; ours (not scikit-learn's) are one line."""
    with pytest.raises(error) as caught:
        fit()
    message = str(caught.value)
    assert re.search(pattern, message, re.DOTALL), message
    if one_line:
        assert "\n" not in message
        assert len(message) < 300


# Parameters

NOT_POSITIVE = [0, 0.0, -1, -1e-3, np.nan, np.inf, -np.inf, "1", True, np.True_, [1.0], np.ones(1), 1j, 10**400]


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in ("C", "tol", "cache_size", "time_limit") for value in NOT_POSITIVE]
    + [("C", None), ("tol", None), ("cache_size", None)],  # time_limit=None is no limit
    ids=lambda value: repr(value)[:12],
)
def test_parameters_that_must_be_positive(estimator, name, value):
    refuse(lambda: estimator(**{name: value}).fit(X, Y), ValueError, rf"{name}=.*not valid.*positive number")


OTHER_PARAMETERS = [
    ("gamma", [-1, -1e-9, np.nan, np.inf, "scal", "", True, None, [0.1]], r"'scale', 'auto' or a number.*not negative"),
    ("degree", [-1, np.nan, np.inf, "3", None, True], r"a number that is not negative"),
    ("coef0", [np.nan, np.inf, "0", None, False], r"a number"),
    ("max_iter", [-2, 1.5, -1.5, np.nan, np.inf, "10", None, True], r"-1 \(no limit\) or a whole number"),
    ("callback", [3, "print", True, [print]], r"None or a function of a Progress"),
]


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [(name, value, allowed) for name, values, allowed in OTHER_PARAMETERS for value in values],
)
def test_parameters_with_other_rules(estimator, name, value, allowed):
    refuse(lambda: estimator(**{name: value}).fit(X, Y), ValueError, rf"{name}=.*not valid: give .*{allowed}")


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["rbff", "", "RBF", None, 3, True, ["rbf"], {"rbf": 1}, np.array("rbf")], ids=str)
def test_unknown_kernels(estimator, kernel):
    refuse(lambda: estimator(kernel=kernel).fit(X, Y), ValueError, r"kernel=.*unknown.*'linear', 'rbf'.*function")


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "solver", ["newton", "", "SMO", None, 3, pytest.param(object(), id="object"), ["smo"], SMO, GCD], ids=repr
)
def test_unknown_solvers(estimator, solver):
    """SMO and GCD themselves, where SMO() and GCD() were meant, are no solvers either."""
    refuse(
        lambda: estimator(solver=solver).fit(X, Y),
        ValueError,
        r"solver=.*(unknown.*'smo', 'gcd'|not a solver.*SMO\(\))",
    )


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("estimator", "solver", "wrong", "treatment", "right"),
    [
        (SVOR, "smo", "smo", "penalized", "gcd"),
        (SVOR, SMO(), "smo", "penalized", "gcd"),
        (SVORIM, "gcd", "gcd", "free", "smo"),
        (SVORIM, GCD(), "gcd", "free", "smo"),
        (SVOREX, "gcd", "gcd", "ordered", "smo"),
        (ShashuaLevinSVOR, "gcd", "gcd", "free", "smo"),
    ],
)
def test_solvers_that_cannot_treat_the_thresholds(estimator, solver, wrong, treatment, right):
    pattern = rf"solver='{wrong}' does not solve.*{treatment} thresholds: use '{right}'"
    refuse(lambda: estimator(solver=solver).fit(X, Y), ValueError, pattern)


@pytest.mark.parametrize(
    ("solver", "option", "pattern"),
    [
        (SMO, {"selection": "best"}, r"selection='best' is unknown.*'second-order', 'mvp'"),
        (SMO, {"precision": "float16"}, r"precision='float16'.*'float32'.*'float64'"),
        (GCD, {"precision": "double"}, r"precision='double'.*'float32'.*'float64'"),
    ],
)
def test_options_of_solvers(solver, option, pattern):
    refuse(lambda: solver(**option), ValueError, pattern)


@pytest.mark.usefixtures("no_core")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_cache_too_small_for_two_rows(estimator):
    pattern = r"cache_size=1e-05 MB does not hold two rows.*30 samples.*give at least [\d.e-]+ MB"
    refuse(lambda: estimator(cache_size=1e-5).fit(X, Y), ValueError, pattern)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_cache_that_the_message_asks_for_is_enough(estimator):
    """Also for a tolerance that takes rows in float64: those are twice as long, and it is late to say so then."""
    with pytest.raises(ValueError, match="give at least") as caught:
        estimator(cache_size=1e-9).fit(X, Y)
    enough = 1.1 * float(re.search(r"at least ([\d.e-]+) MB", str(caught.value)).group(1))
    model = estimator(C=10.0, tol=1e-10, cache_size=enough, time_limit=10.0).fit(X, Y)
    assert model.result_.converged
    assert certify(model, X, Y).violation <= 1e-9


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("max_iter", [10**9, 2**53 + 1, sys.maxsize, 2**63, 10**30, np.int64(10**12), 1e18])
def test_a_huge_max_iter_is_no_limit(estimator, max_iter):
    with warnings.catch_warnings(action="error"):
        model = estimator(max_iter=max_iter).fit(X, Y)
    assert model.result_.converged
    assert np.array_equal(model.result_.alpha, estimator().fit(X, Y).result_.alpha)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("cache_size", [1e6, 1e12, 1e15, 1e300, 10**30])
def test_a_huge_cache_holds_all_rows_and_no_more(estimator, cache_size):
    model = estimator(cache_size=cache_size).fit(X, Y)
    assert model.result_.converged
    n_problems = len(np.atleast_2d(model.dual_coef_))
    assert model.result_.kernel_rows <= len(X) * n_problems


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_numbers_of_any_type_are_numbers(estimator):
    usual = estimator(C=0.5, tol=1e-3, gamma=0.25, cache_size=100.0).fit(X, Y)
    other = estimator(C=Fraction(1, 2), tol=np.float64(1e-3), gamma=np.float32(0.25), cache_size=np.int64(100)).fit(
        X, Y
    )
    assert np.array_equal(usual.result_.alpha, other.result_.alpha)


# Costs


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", COST_MODELS)
@pytest.mark.parametrize(
    ("cost", "pattern"),
    [
        ("quadratic", r"cost='quadratic' is unknown.*'absolute', 'zero-one', 'squared' or a matrix"),
        ([[0, 1], [1, 0]], r"cost matrix has shape \(2, 2\).*3 ranks.*3 × 3"),
        ([0, 1, 2], r"cost matrix has shape \(3,\).*3 × 3"),
        (np.ones((3, 3, 3)), r"cost matrix has shape \(3, 3, 3\).*3 × 3"),
        (3.0, r"cost matrix has shape \(\).*3 × 3"),
        (None, r"cost.*3 × 3"),
        (-np.ones((3, 3)), r"cost matrix.*finite.*not negative"),
        ([[0, 1, 2], [1, 0, np.nan], [2, 1, 0]], r"cost matrix.*finite.*not negative"),
        ([[0, 1, np.inf], [1, 0, 1], [2, 1, 0]], r"cost matrix.*finite.*not negative"),
        ([[0, 1, 2], [1, 0, 1], [1, 2, 0]], r"Row 2 of the cost matrix is not V-shaped.*fall.*rise"),
        ([[0, 2, 1], [1, 0, 1], [2, 1, 0]], r"Row 0 of the cost matrix is not V-shaped.*fall.*rise"),
        ([[1, 0, 1], [1, 0, 1], [2, 1, 0]], r"Row 0 of the cost matrix is not V-shaped.*fall.*rise"),
        (np.zeros((3, 3)), r"cost.*ranks differ"),
        (np.ones((3, 3)), r"cost.*ranks differ"),
        ([["a", "b", "c"]] * 3, r"cost.*number"),
        (np.abs(np.subtract.outer(range(3), range(3))) * 1j, r"cost.*(complex|real|number)"),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:30],
)
def test_costs(estimator, cost, pattern):
    refuse(lambda: estimator(cost=cost).fit(X, Y), ValueError, pattern)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("cost", [[[0, 0, 1], [0, 0, 1], [1, 1, 0]], [[0, 0, 1], [1, 0, 1], [1, 1, 0]]])
def test_a_cost_that_leaves_a_free_threshold_without_a_price(cost):
    pattern = r"cost.*threshold above rank 0.*neighbouring ranks differ"
    refuse(lambda: SVORIM(cost=cost).fit(X, Y), ValueError, pattern)


# Weights


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("weight", "pattern"),
    [
        (np.ones(29), r"\b29\b.*\b30\b|\b30\b.*\b29\b"),
        ([], r"\b0\b.*\b30\b|\b30\b.*\b0\b"),
        (np.ones((30, 1)), r"1D.*\(30, 1\)"),
        (np.ones((30, 2)), r"1D.*\(30, 2\)"),
        (np.where(Y == 1, -0.5, 1.0), r"sample_weight.*negative.*-0\.5.*give weights"),
        (-1.0, r"sample_weight.*negative.*-1.*give weights"),
        (np.zeros(30), r"sample_weight is zero for every sample.*two classes"),
        (np.where(Y == 1, np.nan, 1.0), r"sample_weight.*NaN.*finite"),
        (np.where(Y == 1, np.inf, 1.0), r"sample_weight.*infinity.*finite"),
        (np.where(Y == 2, 1.0, 0.0), r"1 class only.*two classes.*positive weight"),
        (["heavy"] * 30, r"[Ss]ample.?weight.*number"),
        ("heavy", r"[Ss]ample.?weight.*number"),
        (np.full(30, 1.0 + 1.0j), r"[Ss]ample.?weight.*(complex|real|number)"),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:20],
)
def test_sample_weights(estimator, weight, pattern):
    with warnings.catch_warnings(action="ignore"):
        refuse(lambda: estimator().fit(X, Y, sample_weight=weight), ValueError, pattern)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("weight", "pattern"),
    [
        ("balance", r"class_weight='balance' is not valid.*None, 'balanced' or a dict"),
        (2.0, r"class_weight.*dict.*'balanced'.*None"),
        ([1.0, 2.0, 1.0], r"class_weight.*dict.*'balanced'.*None"),
        ({9: 1.0}, r"class_weight.*not classes of y.*9.*remove"),
        ({"1": 1.0}, r"class_weight.*not classes of y.*'1'.*remove"),
        ({1: -1.0}, r"class_weight=.*finite and not negative"),
        ({1: np.nan}, r"class_weight=.*finite and not negative"),
        ({1: np.inf}, r"class_weight=.*finite and not negative"),
        ({1: "heavy"}, r"class_weight must hold numbers"),
        ({1: 0.0, 3: 0.0}, r"1 class only.*two classes.*positive weight"),
    ],
    ids=str,
)
def test_class_weights(estimator, weight, pattern):
    refuse(lambda: estimator(class_weight=weight).fit(X, Y), ValueError, pattern)


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
    assert [warning.filename for warning in caught] == [__file__]  # it points at the caller
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
        (with_entry(np.nan, K), ValueError, r"contains NaN"),
        (sp.csr_array(K), TypeError, r"[Ss]parse.*toarray\(\)"),
        (sp.coo_matrix(K), TypeError, r"[Ss]parse.*toarray\(\)"),
    ],
    ids=["wide", "tall", "asymmetric", "nan", "csr", "coo"],
)
def test_precomputed_kernels(estimator, matrix, error, pattern):
    y = Y[: matrix.shape[0]]
    y = np.resize([1, 2, 3], len(y)) if len(set(y)) == 1 else y
    refuse(lambda: estimator(kernel="precomputed").fit(matrix, y), error, pattern, one_line=False)


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
    refuse(lambda: model.predict(K[:, :7]), ValueError, r"X has 7 features, but .* is expecting 30")
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


# Very large training data: in processes of their own, for this is where a core crashes or hangs

LARGE_CHILD = """
import json, os, signal, sys, warnings
import numpy as np, scipy.sparse as sp
import ordsvm

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n = 30
X, y = rng.normal(size=(n, 3)), np.repeat([1, 2, 3], n // 3)
K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))

def outcome(name, kernel, scale):
    data = sp.csr_array(scale * X) if kernel.endswith("csr") else scale * (K if kernel == "precomputed" else X)
    function = lambda A, B: scale * np.exp(-(((A[:, None] - B) / scale) ** 2).sum(axis=2))
    model = getattr(ordsvm, name)(kernel=function if kernel == "callable" else kernel.split("-")[0], time_limit=0.3)
    try:
        model.fit(data, y)
        score = model.decision_function(data)
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}
    result = model.result_
    thresholds = np.concatenate(model._model_thresholds())
    numbers = [*thresholds, *score.ravel(), *result.alpha, result.gap, result.violation, result.objective]
    return {"finite": bool(np.all(np.isfinite(numbers))), "status": result.status, "gap": result.gap}

for case in json.load(sys.stdin):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os.write(writer, json.dumps(outcome(*case)).encode())
        os._exit(0)
    os.close(writer)
    said = os.fdopen(reader).read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps(json.loads(said) if code == 0 else {"signal": signal.Signals(-code).name}), flush=True)
"""

LARGE_KERNELS = ["linear", "linear-csr", "rbf", "rbf-csr", "poly", "sigmoid", "laplacian", "precomputed", "callable"]
LARGE_SCALES = [1e20, 1e40, 1e150, 1e300]


@pytest.fixture(scope="module")
def large_outcomes():
    """What came of every case; all in one child, which forks for each of them."""
    cases = [
        (model.__name__, kernel, scale) for model in ESTIMATORS for kernel in LARGE_KERNELS for scale in LARGE_SCALES
    ]
    done = subprocess.run(
        [sys.executable, "-c", LARGE_CHILD],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(cases, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("scale", LARGE_SCALES)
@pytest.mark.parametrize("kernel", LARGE_KERNELS)
def test_very_large_values_give_a_finite_model_or_a_clear_sentence(large_outcomes, estimator, kernel, scale):
    """x·y overflows in float32 from 1e20 on, in float64 from 1e155 on; a kernel matrix itself from 1e39 on."""
    outcome = large_outcomes[estimator.__name__, kernel, scale]
    if "error" in outcome:
        assert outcome["error"] == "ValueError", outcome
        assert re.search(r"large|overflow|infinit|finite|[Ss]tandardi[sz]e", outcome["message"]), outcome
        assert "\n" not in outcome["message"]
    else:
        assert outcome.get("finite"), outcome


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("C", [1e-300, 1e-100, 1e100, 1e300])
def test_an_extreme_C_gives_a_finite_model(estimator, C):
    model = estimator(C=C, time_limit=5.0).fit(X, Y)
    assert np.all(np.isfinite(np.concatenate(model._model_thresholds())))
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.isfinite(model.result_.gap)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("C", "weight"), [(1e300, 1e300), (1e-300, 1e-300)])
def test_a_C_times_weight_out_of_range(estimator, C, weight):
    pattern = r"(C|weight).*(large|small|overflow|underflow|zero|finite)"
    with warnings.catch_warnings(action="ignore"):
        refuse(lambda: estimator(C=C).fit(X, Y, sample_weight=np.full(30, weight)), ValueError, pattern)
