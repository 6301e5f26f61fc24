"""SVC: scikit-learn's checks, the oracle's optimum, and identities."""

import pickle
import re
import time
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from ordsvm import GCD, SMO, SVC, SVORIM, certify, formulations
from ordsvm.problem import Treatment
from ordsvm.solvers import SOLVERS
from tests.cases import random_data
from tests.oracle import dual_optimum
from tests.process_cases import slowness
from tests.svc_cases import (
    INTERCEPTS,
    SCHEMES,
    SHIPPED,
    TIGHT,
    assert_same_machine,
    every_intercept,
    every_scheme,
    three_classes,
)

# scikit-learn's own checks

LOOSE = "tol=1e-3 is coarser than the comparison, and gamma='scale' does not see weights: scikit-learn's SVC fails too"
NOT_SYMMETRIC = "the check passes a square matrix that is no kernel matrix, being not symmetric"


def expected_failed_checks(estimator) -> dict[str, str]:
    if estimator.kernel == "precomputed":
        return {"check_classifiers_one_label_sample_weights": NOT_SYMMETRIC}
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    return dict.fromkeys(checks, LOOSE)


@parametrize_with_checks(
    [
        SVC(),
        SVC(multi_class="ovr"),
        SVC(break_ties=True, intercept="none"),
        SVC(intercept="penalized"),
        SVC(kernel="linear"),
        SVC(kernel="precomputed"),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # float64 hardly reaches this tol
@every_intercept
@every_scheme
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_scikit_learns_equivalence_of_weights_and_repetitions(intercept, multi_class, kernel):
    estimator = SVC(kernel=kernel, gamma=0.3, tol=1e-12, intercept=intercept, multi_class=multi_class)
    check_sample_weight_equivalence_on_dense_data("SVC", estimator)
    check_sample_weight_equivalence_on_sparse_data("SVC", estimator)


# The certificate


def binary_problems(X, y, C, intercept, multi_class):
    """The problems of all questions, each over its own samples only: (problem, rows)."""
    classes = np.unique(y)
    if len(classes) == 2:
        return [(formulations.svc(np.where(y == classes[1], 1.0, -1.0), C, INTERCEPTS[intercept]), np.arange(len(y)))]
    if multi_class == "ovr":
        signs = [np.where(y == one, 1.0, -1.0) for one in classes]
        return [(formulations.svc(sign, C, INTERCEPTS[intercept]), np.arange(len(y))) for sign in signs]
    rows = [np.flatnonzero((y == one) | (y == other)) for one, other in combinations(classes, 2)]
    signs = [np.where(y[part] == y[part].min(), 1.0, -1.0) for part in rows]
    return [(formulations.svc(s, C, INTERCEPTS[intercept]), part) for s, part in zip(signs, rows, strict=True)]


@every_intercept
@every_scheme
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_certificate_result_and_oracle_agree(intercept, multi_class, kernel, n_classes):
    X, y = random_data(31, n=36, n_ranks=n_classes)
    model = SVC(C=3.0, kernel=kernel, gamma=0.3, coef0=1.0, tol=1e-7, intercept=intercept, multi_class=multi_class)
    fitted = model.fit(X, y)
    proof = certify(fitted, X, y)
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-8)
    assert proof.gap == pytest.approx(fitted.result_.gap, rel=1e-5, abs=1e-8 * proof.primal)
    assert proof.violation == pytest.approx(fitted.result_.violation, abs=1e-8)
    np.testing.assert_allclose(-proof.thresholds, fitted.intercept_, atol=1e-8)
    K = fitted.kernel_(X, X)
    problems = binary_problems(X, y, 3.0, intercept, multi_class)
    optima = [dual_optimum(problem, K[np.ix_(rows, rows)]) for problem, rows in problems]
    assert proof.dual == pytest.approx(sum(optimum.objective for optimum in optima), rel=1e-6)
    for result, optimum in zip(fitted.results_, optima, strict=True):
        assert result.objective == pytest.approx(optimum.objective, rel=1e-6)
    if intercept == "none":
        np.testing.assert_array_equal(fitted.intercept_, 0)
        assert not np.signbit(fitted.intercept_).any()
    else:
        np.testing.assert_allclose(fitted.intercept_, [-optimum.b[0] for optimum in optima], atol=1e-3)


@every_scheme
def test_certify_does_not_rely_on_the_results_of_the_model(multi_class):
    X, y = three_classes()
    fitted = SVC(multi_class=multi_class, **TIGHT).fit(X, y)
    true = certify(fitted, X, y)
    with pytest.raises(ValueError, match="not the labels, weights and parameters"):
        certify(fitted, X[:-1], y[:-1])
    fitted.intercept_ = fitted.intercept_ + 0.5
    assert certify(fitted, X, y).gap > true.gap + 0.1
    fitted.result_.alpha[:] *= 0.5
    with pytest.raises(ValueError, match="not those that its dual variables give"):
        certify(fitted, X, y)
    with pytest.raises(NotFittedError):
        certify(SVC(), X, y)


# Several problems


@every_scheme
@every_intercept
def test_the_result_is_the_sum_of_the_results(multi_class, intercept):
    X, y = random_data(3, n=200, n_ranks=5)
    fitted = SVC(multi_class=multi_class, intercept=intercept).fit(X, y)
    total, parts = fitted.result_, fitted.results_
    assert len(parts) == {"ovo": 10, "ovr": 5}[multi_class]
    for name in ("objective", "gap", "n_iter", "kernel_rows", "seconds"):
        assert getattr(total, name) == pytest.approx(sum(getattr(part, name) for part in parts))
    assert total.violation == max(part.violation for part in parts) <= 1e-3
    assert total.relative_gap <= 1e-3
    assert total.status == "converged"
    np.testing.assert_array_equal(total.alpha, np.concatenate([part.alpha for part in parts]))
    np.testing.assert_array_equal(fitted.n_iter_, [part.n_iter for part in parts])


@every_scheme
def test_problems_share_the_rows_of_the_kernel(multi_class):
    X, y = random_data(4, n=300, n_ranks=5)
    fitted = SVC(multi_class=multi_class, solver=SMO(precision="float64")).fit(X, y)
    assert len(fitted.support_) <= fitted.result_.kernel_rows <= len(X)
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        return rbf_kernel(A, B, gamma=0.5)

    SVC(multi_class=multi_class, kernel=kernel, solver=SMO(precision="float64")).fit(X, y)
    assert calls.count(1) <= len(X) + len(fitted.results_) * len(X)  # once each, and for the exact scores at the ends


def test_max_iter_is_for_every_problem_as_in_scikit_learn():
    X, y = random_data(5, n=120, n_ranks=4)
    with pytest.warns(ConvergenceWarning, match=r"stopped by max_iter after 18 steps") as caught:
        fitted = SVC(max_iter=3).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert fitted.n_iter_.tolist() == [3] * 6
    assert fitted.result_.status == "max_iter"
    assert certify(fitted, X, y).gap == pytest.approx(fitted.result_.gap, rel=1e-6)
    assert set(fitted.predict(X)) <= set(y)


def test_time_is_divided_among_the_problems():
    X, y = random_data(6, n=3000, n_ranks=3, noise=5.0)
    model = SVC(C=1e4, gamma=1.0, tol=1e-6, time_limit=1.0)
    started = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        fitted = model.fit(X, y)
    assert time.perf_counter() - started < 3.0 * slowness()
    assert np.all(fitted.n_iter_ > 0)
    assert fitted.result_.status == "time_limit"
    assert np.isfinite(fitted.decision_function(X)).all()
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        hurried = SVC(C=1e4, gamma=1.0, tol=1e-6, time_limit=1e-3).fit(X, y)
    assert hurried.n_iter_[-1] == 0
    assert {result.status for result in hurried.results_} == {"time_limit"}


def test_a_callback_stops_all_problems():
    X, y = random_data(6, n=3000, n_ranks=3, noise=5.0)
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 2

    with pytest.warns(ConvergenceWarning, match="stopped by callback"):
        fitted = SVC(C=1e4, gamma=1.0, tol=1e-6, callback=callback).fit(X, y)
    assert len(seen) == len(fitted.result_.history) == 2
    assert fitted.result_.status == "callback"
    assert fitted.n_iter_[-1] == 0


@every_scheme
@every_intercept
def test_a_warm_path_over_C_arrives_where_cold_fits_do(multi_class, intercept):
    X, y = three_classes(60)
    parameters = {"multi_class": multi_class, "intercept": intercept} | TIGHT
    warm = SVC(warm_start=True, **parameters)
    for C in (0.1, 10.0, 0.5):
        warm.set_params(C=C).fit(X, y)
        assert_same_machine(warm, SVC(C=C, **parameters).fit(X, y), X)
    assert warm.fit(X, y).result_.n_iter <= 15
    warm.fit(X[:30], y[:30])
    assert_same_machine(warm, clone(warm).fit(X[:30], y[:30]), X)
    two = warm.fit(X, y > 0)
    assert len(two.results_) == 1
    assert_same_machine(two, clone(warm).fit(X, y > 0), X)


# Identities


@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize("name", ["breast_cancer", "random"])
def test_svorim_with_two_ranks_is_svc(C, name):
    X, y = SHIPPED[name] if name in SHIPPED else random_data(43, n=150, n_ranks=2)
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)  # SVC works in the order of classes
    ordinal_model, binary = SVORIM(C=C, tol=1e-7).fit(X, y), SVC(C=C, tol=1e-7).fit(X, y)
    np.testing.assert_array_equal(ordinal_model.result_.alpha, binary.result_.alpha)
    np.testing.assert_array_equal(ordinal_model.intercept_, binary.intercept_)
    np.testing.assert_allclose(ordinal_model.decision_function(X), binary.decision_function(X))
    np.testing.assert_array_equal(ordinal_model.predict(X), binary.predict(X))


@every_scheme
def test_a_penalised_intercept_is_a_feature_of_ones(multi_class):
    X, y = three_classes(1)
    parameters = {"kernel": "linear", "tol": 1e-9, "multi_class": multi_class}
    penalised = SVC(intercept="penalized", **parameters).fit(X, y)
    without = SVC(intercept="none", **parameters).fit(np.c_[X, np.ones(len(X))], y)
    np.testing.assert_allclose(np.c_[penalised.coef_, penalised.intercept_], without.coef_, atol=1e-5)
    assert penalised.result_.objective == pytest.approx(without.result_.objective, rel=1e-6)


@every_scheme
@every_intercept
def test_weights_are_repetitions_and_order_is_no_matter(multi_class, intercept):
    X, y = three_classes(2)
    rng = np.random.default_rng(2)
    parameters = {"multi_class": multi_class, "intercept": intercept} | TIGHT
    weight = rng.integers(0, 4, size=len(y))
    weighted = SVC(**parameters).fit(X, y, weight)
    repeated = SVC(**parameters).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_machine(weighted, repeated, X)
    assert set(weighted.support_) <= set(np.flatnonzero(weight))
    order = rng.permutation(len(y))
    assert_same_machine(SVC(**parameters).fit(X, y), SVC(**parameters).fit(X[order], y[order]), X)
    by_class = SVC(class_weight={0: 3, 2: 0.5}, **parameters).fit(X, y)
    by_sample = SVC(**parameters).fit(X, y, compute_sample_weight({0: 3, 1: 1, 2: 0.5}, y))
    assert_same_machine(by_class, by_sample, X)


@every_scheme
def test_solvers_and_kernels_in_all_forms_agree(multi_class):
    X, y = three_classes(3)
    parameters = {"multi_class": multi_class, "intercept": "penalized", "tol": 1e-8}
    expected = SVC(gamma=0.4, **parameters).fit(X, y)
    assert expected.result_.solver == "together"
    for kernel in ("rbf", lambda A, B: rbf_kernel(A, B, gamma=0.4)):
        other = SVC(kernel=kernel, gamma=0.4, solver=GCD(precision="float64"), **parameters).fit(X, y)
        assert_same_machine(expected, other, X)
    precomputed = SVC(kernel="precomputed", **parameters).fit(rbf_kernel(X, gamma=0.4), y)
    np.testing.assert_allclose(
        precomputed.decision_function(rbf_kernel(X, gamma=0.4)), expected.decision_function(X), atol=1e-5
    )
    np.testing.assert_array_equal(precomputed.support_, expected.support_)
    free = SVC(multi_class=multi_class, **TIGHT).fit(X, y)
    assert free.result_.solver == "together"
    assert_same_machine(free, SVC(multi_class=multi_class, solver=SMO("mvp"), **TIGHT).fit(X, y), X)
    assert_same_machine(free, SVC(multi_class=multi_class, solver="block", **TIGHT).fit(X, y), X)


@every_scheme
@pytest.mark.parametrize("intercept", ["penalized", "none"])
@pytest.mark.parametrize("solver", [name for name, kind in SOLVERS.items() if Treatment.NONE in kind.accepts])
def test_every_box_solver_trains_it(multi_class, intercept, solver):
    X, y = three_classes(9)
    parameters = {"multi_class": multi_class, "intercept": intercept} | TIGHT
    fitted = SVC(solver=solver, **parameters).fit(X, y)
    assert fitted.result_.solver == solver
    assert certify(fitted, X, y).relative_gap <= 1e-8
    assert_same_machine(fitted, SVC(solver="gcd", **parameters).fit(X, y), X)


@every_scheme
def test_a_class_without_weight_is_left_out_with_a_warning(multi_class):
    X, y = random_data(7, n=60, n_ranks=4)
    with pytest.warns(UserWarning, match=r"No sample of positive weight has the label 1: .* left out") as caught:
        weighted = SVC(multi_class=multi_class, **TIGHT).fit(X, y, (y != 1).astype(float))
    assert [warning.filename for warning in caught] == [__file__]
    without = SVC(multi_class=multi_class, **TIGHT).fit(X[y != 1], y[y != 1])
    assert_same_machine(weighted, without, X)
    np.testing.assert_array_equal(weighted.n_support_, without.n_support_)
    assert weighted.classes_.tolist() == [0, 2, 3]


# Labels, shapes, use


@pytest.mark.parametrize(
    "name_them",
    [
        lambda y: np.array(["one", "two", "three"])[y],
        lambda y: np.array(["one", "two", "three"], dtype=object)[y],
        lambda y: [["a", "b", "c"][code] for code in y],
        lambda y: pd.Series(y).map({0: "x", 1: "y", 2: "z"}),
        lambda y: pd.Categorical.from_codes(y, ["low", "medium", "high"], ordered=True),
        lambda y: np.array([-1.0, 5.0, 2.0])[y],
        lambda y: y.astype(np.uint8),
    ],
)
def test_labels_of_any_kind_are_sorted_without_a_warning(name_them):
    X, y = three_classes()
    labels = name_them(y)
    plain = np.asarray(labels)
    with warnings.catch_warnings(action="error"):
        fitted = SVC(tol=1e-6).fit(X, labels)
    theirs = svm.SVC(tol=1e-6).fit(X, plain)
    np.testing.assert_array_equal(fitted.classes_, theirs.classes_)
    np.testing.assert_array_equal(fitted.predict(X), theirs.predict(X))
    assert fitted.score(X, labels) == theirs.score(X, plain)


def test_truth_values_and_columns_are_labels():
    X, y = three_classes()
    assert SVC().fit(X, y > 0).predict(X).dtype == bool
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        SVC().fit(X, y[:, None])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@every_scheme
def test_shapes(n_classes, multi_class):
    X, y = random_data(8, n=60, n_ranks=n_classes)
    fitted = SVC(kernel="linear", multi_class=multi_class).fit(X, y)
    n_pairs = n_classes * (n_classes - 1) // 2
    n_problems = 1 if n_classes == 2 else {"ovo": n_pairs, "ovr": n_classes}[multi_class]
    assert fitted.decision_function(X).shape == ((60,) if n_classes == 2 else (60, n_classes))
    if multi_class == "ovo":
        fitted.set_params(decision_function_shape="ovo")
        assert fitted.decision_function(X).shape == ((60,) if n_classes == 2 else (60, n_pairs))
    assert fitted.dual_coef_.shape == (n_problems, len(fitted.support_))
    assert fitted.intercept_.shape == fitted.n_iter_.shape == (n_problems,)
    assert fitted.coef_.shape == (n_problems, 3)
    assert fitted.n_support_.sum() == len(fitted.support_)
    assert np.all(np.diff(y[fitted.support_]) >= 0)
    expected = X @ fitted.coef_.T + fitted.intercept_
    shape = "ovo" if multi_class == "ovo" else "ovr"
    fitted.set_params(decision_function_shape=shape)
    np.testing.assert_allclose(fitted.decision_function(X).reshape(60, -1), expected)
    assert not hasattr(SVC().fit(X, y), "coef_")


def test_clones_pickles_and_searches():
    X, y = three_classes()
    fitted = SVC(C=2.0, multi_class="ovr", intercept="none").fit(X, y)
    assert clone(fitted).get_params() == fitted.get_params()
    twin = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(twin.decision_function(X), fitted.decision_function(X))
    assert str(SVC(C=2.0)) == "SVC(C=2.0)"
    grid = {"C": [0.1, 1.0], "multi_class": SCHEMES, "intercept": list(INTERCEPTS)}
    search = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


# Bad input


X0, Y0 = three_classes()


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("parameters", "pattern"),
    [
        ({"C": 0}, r"C=0 is not valid: give a positive number"),
        ({"tol": -1}, r"tol=-1 is not valid"),
        ({"gamma": "big"}, r"gamma='big' is not valid.*'scale', 'auto'"),
        ({"kernel": "rbff"}, r"kernel='rbff' is unknown"),
        ({"intercept": True}, r"intercept=True is unknown: give 'free' or 'penalized' or 'none'"),
        ({"intercept": "no"}, r"intercept='no' is unknown: give 'free' or 'penalized' or 'none'"),
        ({"multi_class": "crammer"}, r"multi_class='crammer' is unknown: give 'ovo' or 'ovr'"),
        ({"multi_class": ["ovo"]}, r"multi_class=\['ovo'\] is unknown"),
        ({"decision_function_shape": None}, r"decision_function_shape=None is unknown: give 'ovr' or 'ovo'"),
        ({"decision_function_shape": "ovo", "multi_class": "ovr"}, r"'ovo' needs a machine for every pair of classes"),
        ({"decision_function_shape": "ovo", "break_ties": True}, r"break_ties=True needs a decision value for every"),
        ({"break_ties": "yes"}, r"break_ties='yes' is not valid: give True or False"),
        ({"solver": "newton"}, r"solver='newton' is unknown.*'smo'"),
        ({"solver": SMO}, r"not a solver.*SMO\(\)"),
        ({"solver": None}, r"not a solver"),
        (
            {"solver": "gcd"},
            r"'gcd' does not train with.*'free': give intercept='penalized' or 'none', or solver='smo'",
        ),
        ({"solver": GCD()}, r"'gcd' does not train with intercept='free': give intercept='penalized' or 'none'"),
        (
            {"solver": "smo", "intercept": "none"},
            r"'smo' does not train with.*'none': give intercept='free', or .*'gcd'",
        ),
        ({"class_weight": "even"}, r"class_weight='even' is not valid"),
        ({"class_weight": {7: 1.0}}, r"class_weight names labels that are not classes of y"),
        ({"class_weight": {0: 0.0, 1: 0.0}}, r"1 class only.*two classes"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, pattern):
    with pytest.raises(ValueError) as caught:
        SVC(**parameters).fit(X0, Y0)
    assert re.search(pattern, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("y", "error", "pattern"),
    [
        (None, ValueError, r"SVC requires y to be passed, but the target y is None; give one label"),
        (np.zeros(45), ValueError, r"SVC needs at least two classes; y contains only one class: 0\.0"),
        (Y0[:-1], ValueError, r"inconsistent numbers of samples.*45, 44"),
        (X0[:, 0], ValueError, r"Unknown label type: continuous"),
        (X0, ValueError, r"y should be a 1d array or list"),
        ([1, "two", 3] * 15, TypeError, r"labels of type int and str; give all of them as numbers or all as strings"),
        ([None, 1, 2] * 15, ValueError, r"missing labels"),
        (Y0 + 0j, ValueError, r"Complex data not supported"),
        (np.where(Y0 == 0, np.nan, Y0), ValueError, r"missing labels"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_labels(y, error, pattern):
    with pytest.raises(error, match=pattern):
        SVC().fit(X0, y)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("weight", "pattern"),
    [
        (np.ones(44), r"inconsistent numbers"),
        (np.zeros(45), r"sample_weight is zero for every sample: at least two classes"),
        ((Y0 == 1).astype(float), r"1 class only: SVC needs at least two classes"),
        (np.full(45, 1e-320), r"zero for every sample"),
        (-1.0, r"negative"),
        (["a"] * 45, r"sample_weight must hold numbers"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_weights(weight, pattern):
    with pytest.raises(ValueError, match=pattern):
        SVC(C=1e-10).fit(X0, Y0, weight)


def test_a_shape_that_the_machine_does_not_have_and_a_model_before_fit():
    fitted = SVC(multi_class="ovr").fit(X0, Y0).set_params(decision_function_shape="ovo")
    with pytest.raises(ValueError, match="needs a machine for every pair"):
        fitted.decision_function(X0)
    for use in (SVC().predict, SVC().decision_function):
        with pytest.raises(NotFittedError):
            use(X0)
