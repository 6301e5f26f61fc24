"""Every bad parameter, cost or weight gets one clear sentence, before a solver starts."""

import re
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from ordsvm import (
    GCD,
    SMO,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    CalibratedOrdinal,
    NystroemSVOR,
    OrdinalSearchCV,
    RoundedRegressor,
    ShashuaLevinSVOR,
    certify,
)
from tests.refusals import COST_MODELS, ESTIMATORS, X, Y, refuse

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
    ("tol", [1, 1.0, 2, 10**6], r"a positive number below 1"),
    ("warm_start", ["yes", 1, None], r"True or False"),
    ("deterministic", ["yes", 1, None, np.ones(2)], r"True or False"),
    ("verbose", ["yes", 1.5, None, object(), np.ones(2)], r"True or False"),
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
@pytest.mark.parametrize("estimator", [*ESTIMATORS, NystroemSVOR])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "laplacian"])
def test_a_gamma_that_makes_the_kernel_constant(estimator, kernel):
    pattern = rf"gamma=0 is not valid for kernel='{kernel}', which it makes one constant: give 'scale', 'auto'"
    refuse(lambda: estimator(kernel=kernel, gamma=0).fit(X, Y), ValueError, pattern)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_device_that_is_an_array(estimator):
    refuse(lambda: estimator(device=np.ones(2)).fit(X, Y), ValueError, r"device=array.*is unknown: give 'cpu', 'cuda'")


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("model", "error", "pattern"),
    [
        (RoundedRegressor("Ridge"), TypeError, r"regressor='Ridge' is not an estimator: give an object such as"),
        (RoundedRegressor(SVR), TypeError, r"regressor=<class .*> is not an estimator"),
        (CalibratedOrdinal(1j), TypeError, r"estimator=1j is not an estimator"),
        (CalibratedOrdinal(n_jobs=np.ones(2)), ValueError, r"n_jobs=array.*is not valid: give None"),
        (OrdinalSearchCV("SVOR"), TypeError, r"estimator='SVOR' is not an estimator"),
        (OrdinalSearchCV(SVOR(), n_jobs="all"), ValueError, r"n_jobs='all' is not valid: give None"),
        (OrdinalSearchCV(SVOR(), n_jobs=0), ValueError, r"n_jobs=0 is not valid: give None"),
        (OrdinalSearchCV(SVOR(), verbose={1}), ValueError, r"verbose=\{1\} is not valid: give True or False"),
        (OrdinalSearchCV(SVOR(), error_score=np.ones(2)), ValueError, r"error_score=.*: give 'raise' or a number"),
        (OrdinalSearchCV(SVOR(), error_score="nan"), ValueError, r"error_score='nan' .*: give 'raise' or a number"),
        (
            OrdinalSearchCV(SVOR(), refit=1j),
            ValueError,
            r"refit=1j is not valid: give True, False, the name of a score",
        ),
        (
            OrdinalSearchCV(SVOR(), cv=np.ones(2)),
            ValueError,
            r"cv=array.*no pair of row numbers: give a number of folds",
        ),
        (
            CalibratedOrdinal(cv=np.ones((3, 2))),
            ValueError,
            r"cv=array.*no pair of row numbers: give a number of folds",
        ),
        (OrdinalSearchCV(SVOR(), return_train_score=1j), ValueError, r"return_train_score=.*True or False"),
    ],
    ids=str,
)
def test_parameters_of_what_is_around_a_machine(model, error, pattern):
    refuse(lambda: model.fit(X, Y), error, pattern)


def test_a_gamma_of_0_that_no_kernel_needs():
    assert SVOR(kernel="linear", gamma=0).fit(X, Y).result_.converged


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["rbff", "", "RBF", None, 3, True, ["rbf"], {"rbf": 1}, np.array("rbf")], ids=str)
def test_unknown_kernels(estimator, kernel):
    refuse(lambda: estimator(kernel=kernel).fit(X, Y), ValueError, r"kernel=.*unknown.*'linear', 'rbf'.*callable")


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
        r"solver=.*(unknown.*'(smo|gcd)', 'block'|not a solver.*SMO\(\))",
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

V = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])  # a matrix that is none of the bad ones


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
        (
            pd.DataFrame(V, list("abc"), list("abc")),
            r"cost matrix has the index \['a', 'b', 'c'\], but the classes",
        ),
        (pd.DataFrame(V, [1, 2, 3], [1, 2, 2]), r"cost matrix has the columns \[1, 2, 2\].*each of these once"),
        (pd.DataFrame(V, [1, 2, 3], columns=list("abc")), r"cost matrix has the columns \['a', 'b', 'c'\]"),
        ([["a", "b", "c"]] * 3, r"cost.*number"),
        (np.abs(np.subtract.outer(range(3), range(3))) * 1j, r"cost.*(complex|real|number)"),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:30],
)
def test_costs(estimator, cost, pattern):
    refuse(lambda: estimator(cost=cost).fit(X, Y), ValueError, pattern)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("cost", [[[0, 0, 1], [0, 0, 1], [1, 1, 0]], [[0, 0, 1], [1, 0, 1], [1, 1, 0]]])
def test_a_cost_that_leaves_a_free_threshold_without_a_weight(cost):
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
        (2.0, r"class_weight=2\.0 is not valid: give None, 'balanced' or a dict.*such as \{1: 2\.0\}"),
        ([1.0, 2.0, 1.0], r"class_weight=\[1\.0, 2\.0, 1\.0\] is not valid: give None, 'balanced' or a dict"),
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


@pytest.mark.parametrize("key", [int, str])
@pytest.mark.parametrize(
    "model",
    [SVOR(), RoundedRegressor(), CalibratedOrdinal(), OrdinalSearchCV(SVOR(), {"C": [1.0]})],
    ids=lambda model: type(model).__name__,
)
def test_samples_in_a_dict(model, key):
    rows = {key(number): row for number, row in enumerate(X)}
    refuse(lambda: model.fit(rows, Y), TypeError, "X is a dict: give an array, a sparse matrix, a data frame")
