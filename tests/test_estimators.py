"""The estimators: scikit-learn's checks, and identities that hold whatever the data."""

import copy
import pickle
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

import ordsvm
from ordsvm import SVOR, SVOREX, SVORIM, ShashuaLevinSVOR, certify, formulations
from ordsvm.metrics import mae_scorer, mean_absolute_error
from tests.cases import N_RANKS, random_data, v_shaped_cost
from tests.oracle import dual_optimum

MODELS = [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR]
COST_MODELS = [SVOR, SVORIM]
TIGHT = {"gamma": 0.4, "tol": 1e-8}  # so that two fits of one problem agree in many digits

FORMULATION = dict(
    zip(MODELS, [formulations.svor, formulations.svorim, formulations.svorex, formulations.shashua_levin], strict=True)
)

every_model = pytest.mark.parametrize("model", MODELS)


def assert_same_machine(first, second, X, atol: float = 1e-5) -> None:
    """The same score, which is unique, and the same thresholds, which are where a hinge is inside its box."""
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(X), rtol=0, atol=atol)
    np.testing.assert_allclose(first.thresholds_, second.thresholds_, rtol=0, atol=atol)
    np.testing.assert_array_equal(first.classes_, second.classes_)


def assert_same_objective(first, second) -> None:
    assert first.result_.objective == pytest.approx(second.result_.objective, rel=1e-6)


# scikit-learn's own checks

ONE_SCORE = (
    "decision_function is one score a sample, to be compared with thresholds_: not a column a class, not cut at 0"
)
LOOSE = (
    "tol=1e-3 is coarser than the comparison, and gamma='scale' does not see weights: fails for scikit-learn's SVC too"
)
NOT_SYMMETRIC = "the check passes a square matrix that is no kernel matrix, being not symmetric"


def expected_failed_checks(estimator) -> dict[str, str]:
    failing = {"check_classifiers_train": ONE_SCORE, "check_classifiers_classes": ONE_SCORE}
    if estimator.kernel == "precomputed":
        failing["check_classifiers_one_label_sample_weights"] = NOT_SYMMETRIC
    else:
        failing["check_sample_weight_equivalence_on_dense_data"] = LOOSE
        failing["check_sample_weight_equivalence_on_sparse_data"] = LOOSE
    return failing


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning")
@parametrize_with_checks(
    [model() for model in MODELS] + [SVORIM(kernel="linear"), SVOREX(kernel="precomputed")],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_model
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_scikit_learns_equivalence_of_weights_and_repetitions(model, kernel):
    estimator = model(kernel=kernel, gamma=0.3, tol=1e-12)
    check_sample_weight_equivalence_on_dense_data(model.__name__, estimator)
    check_sample_weight_equivalence_on_sparse_data(model.__name__, estimator)


# The certificate


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
def test_certify_does_not_trust_the_model(model):
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


def sorted_by_rank(X, y):
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


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


@every_model
def test_certify_takes_the_weights_of_the_fit(model):
    X, y = random_data(34)
    weight = np.random.default_rng(34).uniform(0.2, 3, size=len(y))
    fitted = model(class_weight="balanced", **TIGHT).fit(X, y, weight)
    proof = certify(fitted, X, y, weight)
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-8)
    assert proof.relative_gap <= 1e-6


# Weights


@every_model
def test_weight_two_is_a_row_twice(model):
    X, y = random_data(35)
    weight = np.random.default_rng(35).integers(1, 4, size=len(y))
    weighted = model(**TIGHT).fit(X, y, sample_weight=weight)
    repeated = model(**TIGHT).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_objective(weighted, repeated)
    assert_same_machine(weighted, repeated, X)


@every_model
def test_weight_zero_is_a_row_absent(model):
    X, y = random_data(36)
    present = np.random.default_rng(36).random(len(y)) < 0.7
    weighted = model(**TIGHT).fit(X, y, sample_weight=present.astype(float))
    without = model(**TIGHT).fit(X[present], y[present])
    assert_same_objective(weighted, without)
    assert_same_machine(weighted, without, X)
    assert set(weighted.support_) <= set(np.flatnonzero(present))


@every_model
def test_weights_times_C_are_all_that_counts(model):
    X, y = random_data(37)
    weight = np.random.default_rng(37).uniform(0.2, 3, size=len(y))
    first = model(C=2.0, **TIGHT).fit(X, y, weight)
    second = model(C=0.5, **TIGHT).fit(X, y, 4 * weight)
    np.testing.assert_array_equal(first.result_.alpha, second.result_.alpha)
    scalar = model(C=2.0, **TIGHT).fit(X, y, 0.5)
    np.testing.assert_array_equal(scalar.result_.alpha, model(C=1.0, **TIGHT).fit(X, y).result_.alpha)


@every_model
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.3}])
def test_class_weights_are_sample_weights(model, class_weight):
    X, y = random_data(38)
    kept = (y > 0) | (np.arange(len(y)) % 2 == 0)  # ranks of different sizes
    X, y = X[kept], y[kept]
    by_class = model(class_weight=class_weight, **TIGHT).fit(X, y)
    by_sample = model(**TIGHT).fit(X, y, compute_sample_weight(class_weight, y))
    assert_same_objective(by_class, by_sample)
    assert_same_machine(by_class, by_sample, X)
    weight = np.random.default_rng(38).uniform(0.5, 2, size=len(y))
    both = model(class_weight=class_weight, **TIGHT).fit(X, y, weight)
    assert_same_machine(both, model(**TIGHT).fit(X, y, weight * compute_sample_weight(class_weight, y)), X)


# Symmetries


@every_model
def test_permuting_rows_changes_nothing(model):
    X, y = random_data(39)
    order = np.random.default_rng(39).permutation(len(y))
    first, second = model(**TIGHT).fit(X, y), model(**TIGHT).fit(X[order], y[order])
    assert_same_objective(first, second)
    assert_same_machine(first, second, X)


@every_model
def test_reversing_the_ranks_mirrors_scores_and_thresholds(model):
    X, y = random_data(40)
    upward, downward = model(**TIGHT).fit(X, y), model(**TIGHT).fit(X, N_RANKS - 1 - y)
    assert_same_objective(upward, downward)
    np.testing.assert_allclose(upward.decision_function(X), -downward.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(upward.thresholds_, -downward.thresholds_[::-1], atol=1e-5)
    by_categories = model(categories=[3, 2, 1, 0], **TIGHT).fit(X, y)
    np.testing.assert_array_equal(by_categories.result_.alpha, downward.result_.alpha)
    np.testing.assert_array_equal(by_categories.predict(X), 3 - downward.predict(X))


@every_model
def test_names_of_the_labels_are_no_matter(model):
    X, y = random_data(41)
    grades = np.array(["poor", "fair", "good", "great"])  # not the alphabet's order
    numbers, strings = model().fit(X, y), model(categories=grades).fit(X, grades[y])
    np.testing.assert_array_equal(numbers.result_.alpha, strings.result_.alpha)
    np.testing.assert_array_equal(grades[numbers.predict(X)], strings.predict(X))
    apart = model().fit(X, np.array([-7, 0, 3, 100])[y])
    np.testing.assert_array_equal(apart.result_.alpha, numbers.result_.alpha)
    assert apart.classes_.tolist() == [-7, 0, 3, 100]


@every_model
def test_fitting_again_repeats_bit_for_bit(model):
    X, y = random_data(42, n=80)
    first, second = model().fit(X, y), model().fit(X, y)
    third = second.fit(X[:50], y[:50]).fit(X, y)
    for other in (second, third):
        np.testing.assert_array_equal(first.result_.alpha, other.result_.alpha)
        np.testing.assert_array_equal(first.decision_function(X), other.decision_function(X))


# Two ranks


def two_class_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    cancer, digits = load_breast_cancer(), load_digits()
    chosen = np.isin(digits.target, [3, 8])
    X, y = random_data(43, n=150, n_ranks=2)
    return {
        "breast cancer": (StandardScaler().fit_transform(cancer.data), cancer.target),
        "digits 3 and 8": (digits.data[chosen] / 16.0, digits.target[chosen]),
        "synthetic": (X, y),
    }


@pytest.mark.parametrize("name", two_class_sets())
@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize("model", [SVORIM, SVOREX, ShashuaLevinSVOR])
def test_two_ranks_make_scikit_learns_svc(name, C, model):
    X, y = two_class_sets()[name]
    ours, theirs = model(C=C, tol=1e-4).fit(X, y), SVC(C=C, tol=1e-4).fit(X, y)
    beta = np.zeros(len(y))
    beta[theirs.support_] = theirs.dual_coef_[0]
    their_dual = np.abs(beta).sum() - 0.5 * beta @ rbf_kernel(X, gamma=theirs._gamma) @ beta
    assert certify(ours, X, y).dual == pytest.approx(their_dual, rel=1e-4)
    decision = ours.decision_function(X) - ours.thresholds_[0]
    np.testing.assert_allclose(decision, theirs.decision_function(X), atol=1e-2)


# Representations of the data


@every_model
def test_dense_sparse_precomputed_and_callable_agree(model):
    X, y = random_data(44, n_features=6)
    X[np.random.default_rng(44).random(X.shape) < 0.4] = 0.0
    new = random_data(45, n_features=6)[0]
    dense = model(**TIGHT).fit(X, y)
    for kind in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array):
        sparse = model(**TIGHT).fit(kind(X), y)
        assert_same_machine(dense, sparse, new)
        assert_same_machine(dense, sparse, X)
        np.testing.assert_allclose(sparse.decision_function(kind(new)), dense.decision_function(new), atol=1e-5)
        assert certify(sparse, kind(X), y).primal == pytest.approx(dense.result_.objective, rel=1e-8)
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same_machine(dense, model(**TIGHT).fit(wide, y), new)
    precomputed = model(kernel="precomputed", tol=1e-8).fit(rbf_kernel(X, gamma=0.4), y)
    scores = precomputed.decision_function(rbf_kernel(new, X, gamma=0.4))
    np.testing.assert_allclose(scores, dense.decision_function(new), atol=1e-5)
    np.testing.assert_allclose(precomputed.thresholds_, dense.thresholds_, atol=1e-5)
    assert certify(precomputed, rbf_kernel(X, gamma=0.4), y).relative_gap <= 1e-6
    by_function = model(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.4), tol=1e-8).fit(X, y)
    assert_same_machine(dense, by_function, new)


@every_model
def test_csr_may_be_unsorted_and_hold_duplicates_and_is_not_changed(model):
    X, y = random_data(46)
    tidy = sp.csr_matrix(X)
    halves = sp.csr_matrix(
        (np.repeat(tidy.data / 2, 2)[::-1], np.repeat(tidy.indices, 2)[::-1], 2 * tidy.indptr), shape=X.shape
    )
    expected = halves.toarray()
    assert not halves.has_canonical_format
    before = [halves.data.copy(), halves.indices.copy(), halves.indptr.copy()]
    dense, sparse = model(**TIGHT).fit(expected, y), model(**TIGHT).fit(halves, y)
    assert_same_machine(dense, sparse, expected)
    np.testing.assert_allclose(sparse.decision_function(halves), dense.decision_function(expected), atol=1e-5)
    assert certify(sparse, halves, y).relative_gap <= 1e-6
    for array, copied in zip([halves.data, halves.indices, halves.indptr], before, strict=True):
        np.testing.assert_array_equal(array, copied)


def test_csr_with_index_arrays_of_two_types_is_not_changed():
    X, y = random_data(46)
    mixed = sp.csr_matrix(X)
    mixed.indptr = mixed.indptr.astype(np.int64)
    SVORIM().fit(mixed, y)
    assert mixed.indices.dtype == np.int32


@every_model
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_float32_samples(model, kernel):
    X, y = random_data(47)
    single = X.astype(np.float32)
    in_single, in_double = (model(kernel=kernel, **TIGHT).fit(data, y) for data in (single, single.astype(np.float64)))
    assert_same_machine(in_single, in_double, single, atol=1e-6)
    assert in_single.support_vectors_.dtype == np.float32
    assert_same_machine(in_single, model(kernel=kernel, **TIGHT).fit(X, y), X, atol=1e-3)
    assert in_single.decision_function(single).dtype == np.float64


@every_model
def test_fortran_order_lists_and_integers_are_samples_too(model):
    X, y = random_data(48)
    X = np.round(5 * X)
    expected = model().fit(X, y)
    for other in (np.asfortranarray(X), X.tolist(), X.astype(int), X[:, ::-1][:, ::-1], pd.DataFrame(X)):
        np.testing.assert_array_equal(model().fit(other, y).result_.alpha, expected.result_.alpha)


@every_model
def test_data_frames_give_feature_names(model):
    X, y = random_data(49)
    names = ["size", "age", "price"]
    plain = model().fit(X, y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        fitted = model().fit(frame, y)
        assert fitted.feature_names_in_.tolist() == names
        assert fitted.n_features_in_ == 3
        np.testing.assert_array_equal(fitted.decision_function(frame), plain.decision_function(X))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(pd.DataFrame(X, columns=names[::-1]))
    assert not hasattr(plain, "feature_names_in_")


@every_model
def test_labels_in_ordered_dtypes_and_series(model):
    X, y = random_data(50)
    grades = ["poor", "fair", "good", "great"]
    labels = [grades[rank] for rank in y]
    expected = model().fit(X, y).predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ordered in (
            pd.Categorical(labels, grades, ordered=True),
            pd.Series(pd.Categorical(labels, grades, ordered=True)),
            pl.Series(labels, dtype=pl.Enum(grades)),
        ):
            fitted = model().fit(X, ordered)
            assert fitted.classes_.tolist() == grades
            assert fitted.predict(X).tolist() == [grades[rank] for rank in expected]
            assert certify(fitted, X, ordered).relative_gap <= 1e-3


# Costs


@pytest.mark.parametrize("model", COST_MODELS)
def test_named_costs_are_their_matrices_and_absolute_is_the_default(model):
    X, y = random_data(51)
    distance = np.abs(np.subtract.outer(range(N_RANKS), range(N_RANKS)))
    matrices = {"absolute": distance, "zero-one": distance > 0, "squared": distance**2}
    for name, matrix in matrices.items():
        named, given = (model(cost=cost).fit(X, y) for cost in (name, matrix.astype(float).tolist()))
        np.testing.assert_array_equal(named.result_.alpha, given.result_.alpha)
        if name == "absolute":
            np.testing.assert_array_equal(named.result_.alpha, model().fit(X, y).result_.alpha)


def test_svorim_with_zero_one_cost_is_shashua_and_levins():
    X, y = sorted_by_rank(*random_data(52))  # the order that models of adjacent thresholds work in
    zero_one, adjacent = SVORIM(cost="zero-one", **TIGHT).fit(X, y), ShashuaLevinSVOR(**TIGHT).fit(X, y)
    np.testing.assert_array_equal(zero_one.result_.alpha, adjacent.result_.alpha)
    np.testing.assert_array_equal(zero_one.thresholds_, adjacent.thresholds_)


@pytest.mark.parametrize("model", COST_MODELS)
def test_a_cost_is_a_scale_of_C(model):
    X, y = random_data(53)
    cost = v_shaped_cost(N_RANKS, seed=53)
    first, second = model(cost=cost, C=3.0).fit(X, y), model(cost=3.0 * cost, C=1.0).fit(X, y)
    np.testing.assert_allclose(first.result_.alpha, second.result_.alpha, atol=1e-9)


@pytest.mark.parametrize("model", COST_MODELS)
def test_cost_goes_by_rank_not_by_label(model):
    """The cost matrix follows the categories, and mirrors with them."""
    X, y = random_data(54)
    cost = v_shaped_cost(N_RANKS, seed=54)
    upward = model(cost=cost, **TIGHT).fit(X, y)
    downward = model(cost=cost[::-1, ::-1], categories=[3, 2, 1, 0], **TIGHT).fit(X, y)
    np.testing.assert_allclose(upward.decision_function(X), -downward.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(upward.thresholds_, -downward.thresholds_[::-1], atol=1e-5)


# Thresholds and prediction


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_thresholds_are_in_order(seed, C):
    X, y = random_data(seed, n=60, n_ranks=6, noise=4.0)
    machines = [SVOREX(C=C), SVORIM(C=C), SVOR(C=C), SVORIM(C=C, cost="squared"), SVOR(C=C, cost="squared")]
    for machine in machines:
        assert np.all(np.diff(machine.fit(X, y).thresholds_) >= -1e-3)  # of tol, where Lemma 1 orders the optimum
    assert np.all(np.diff(machines[0].thresholds_) >= 0)


@every_model
def test_prediction_is_the_first_threshold_above_the_score(model):
    X, y = random_data(55)
    fitted = model(kernel="linear").fit(X, y)
    for thresholds in ([-1.0, 0.0, 1.0], [0.5, -0.5, 1.0], [2.0, 1.0, 0.0]):  # the last two in disorder
        fitted.thresholds_ = np.array(thresholds)
        score = fitted.decision_function(X)
        expected = [next((k for k, b in enumerate(thresholds) if f < b), 3) for f in score]
        np.testing.assert_array_equal(fitted.predict(X), expected)
    fitted.thresholds_ = np.sort(score[:3])
    np.testing.assert_array_equal(fitted.predict(X), np.searchsorted(fitted.thresholds_, score, side="right"))


@every_model
def test_score_is_the_sum_over_support_vectors(model):
    X, y = random_data(56)
    fitted = model(gamma=0.4).fit(X, y)
    beta = np.zeros(len(y))
    beta[fitted.support_] = fitted.dual_coef_
    np.testing.assert_allclose(fitted.decision_function(X), rbf_kernel(X, gamma=0.4) @ beta, atol=1e-12)
    np.testing.assert_array_equal(fitted.support_vectors_, X[fitted.support_])
    assert np.all(fitted.dual_coef_ != 0)
    if model is not SVOR:  # γ = 0, or its sum is: so is the sum of β
        assert beta.sum() == pytest.approx(0, abs=1e-9)


@every_model
def test_linear_kernel_has_coefficients(model):
    X, y = random_data(57)
    for data in (X, sp.csr_array(X)):
        fitted = model(kernel="linear").fit(data, y)
        assert fitted.coef_.shape == (3,)
        np.testing.assert_allclose(fitted.coef_, X[fitted.support_].T @ fitted.dual_coef_)
        np.testing.assert_allclose(fitted.decision_function(data), X @ fitted.coef_)
    curved = model().fit(X, y)
    assert not hasattr(curved, "coef_")
    with pytest.raises(AttributeError, match="only available with kernel='linear'"):
        _ = curved.coef_
    assert not hasattr(model(kernel="linear"), "coef_")


# Ranks without samples


def data_without(missing: list[int], n_ranks: int = 5):
    X, y = random_data(58, n=60, n_ranks=n_ranks)
    present = ~np.isin(y, missing)
    return X[present], y[present]


MISSING = [[0], [2], [4], [1, 2], [0, 1], [0, 4], [3, 4], [0, 2, 4]]


def are_dropped(model, missing: list[int]) -> list[int]:
    """Ranks beside a threshold that one side leaves alone: none where thresholds are penalised; else those at the
    ends; where only neighbours see a threshold and nothing orders it, all."""
    if model is SVOR:
        return []
    if model is ShashuaLevinSVOR:
        return missing
    present = [rank for rank in range(5) if rank not in missing]
    return [rank for rank in missing if rank < present[0] or rank > present[-1]]


def fit_with_missing(model, missing: list[int], **parameters):
    X, y = data_without(missing)
    estimator = model(categories=range(5), **TIGHT, **parameters)
    dropped = are_dropped(model, missing)
    if not dropped:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return estimator.fit(X, y), X, y
    with pytest.warns(UserWarning, match=f"No sample .* has the label {', '.join(map(str, dropped))}, .* left out"):
        return estimator.fit(X, y), X, y


@pytest.mark.filterwarnings("ignore:No sample of positive weight:UserWarning")
@every_model
@pytest.mark.parametrize("missing", MISSING, ids=str)
def test_ranks_without_samples_are_kept_or_dropped_with_a_warning(model, missing):
    fitted, X, y = fit_with_missing(model, missing)
    dropped = are_dropped(model, missing)
    assert fitted.classes_.tolist() == [rank for rank in range(5) if rank not in dropped]
    assert fitted.thresholds_.shape == (len(fitted.classes_) - 1,)
    assert np.all(np.isfinite(fitted.thresholds_))
    assert set(fitted.predict(X)) <= set(fitted.classes_)
    proof = certify(fitted, X, y)
    assert proof.relative_gap <= 1e-6
    assert proof.violation <= 1.1e-8
    if dropped == missing:  # then nothing is left of them
        assert_same_machine(fitted, model(**TIGHT).fit(X, y), X)


@pytest.mark.parametrize("missing", [[2], [1, 2], [1, 3]], ids=str)
def test_svorim_keeps_the_distance_over_a_missing_rank(missing):
    """Its thresholds coincide there, and count as many as they are: so does the distance in the cost."""
    fitted, X, y = fit_with_missing(SVORIM, missing)
    present = np.unique(y)
    distance = np.abs(np.subtract.outer(present, present)).astype(float)
    merged = SVORIM(cost=distance, **TIGHT).fit(X, y)
    assert_same_objective(fitted, merged)
    np.testing.assert_allclose(fitted.decision_function(X), merged.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(fitted.predict(X), merged.predict(X))
    np.testing.assert_allclose(np.unique(fitted.thresholds_.round(6)), merged.thresholds_, atol=1e-5)


@pytest.mark.parametrize("missing", [[2], [1, 2], [1, 3]], ids=str)
def test_svorex_without_a_rank_is_svorex_of_the_others(missing):
    """The thresholds on both sides of the gap see one side each, and the order makes one of them."""
    fitted, X, y = fit_with_missing(SVOREX, missing)
    others = SVOREX(**TIGHT).fit(X, y)
    assert_same_objective(fitted, others)
    np.testing.assert_allclose(fitted.decision_function(X), others.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("missing", [[2], [1, 2], [0, 4]], ids=str)
def test_zero_one_cost_drops_missing_ranks_as_shashua_and_levins_does(missing):
    X, y = data_without(missing)
    with pytest.warns(UserWarning, match="left out"):
        fitted = SVORIM(categories=range(5), cost="zero-one", **TIGHT).fit(X, y)
    assert_same_machine(fitted, ShashuaLevinSVOR(**TIGHT).fit(X, y), X)


@every_model
def test_a_rank_whose_weights_are_zero_is_a_rank_without_samples(model):
    X, y = random_data(58, n=60, n_ranks=5)
    weight = np.where(y == 4, 0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        weighted = model(**TIGHT).fit(X, y, weight)
        without = model(categories=range(5), **TIGHT).fit(X[y < 4], y[y < 4])
    assert_same_machine(weighted, without, X)


@every_model
def test_an_ordered_dtype_keeps_unobserved_categories(model):
    X, y = data_without([2])
    grades = ["awful", "poor", "fair", "good", "great"]
    labels = pd.Categorical([grades[rank] for rank in y], grades, ordered=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = model(**TIGHT).fit(X, labels)
        expected = model(categories=range(5), **TIGHT).fit(X, y)
    assert fitted.classes_.tolist() == [grades[rank] for rank in expected.classes_]
    np.testing.assert_array_equal(fitted.result_.alpha, expected.result_.alpha)


@pytest.mark.filterwarnings("ignore")
def test_a_cost_without_a_price_across_a_missing_rank_is_an_error():
    X, y = random_data(59, n_ranks=2)
    cost = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match="cost"):
        SVORIM(categories=range(3), cost=cost).fit(X, 2 * y)


@pytest.mark.parametrize("model", COST_MODELS)
def test_a_cost_without_any_price_is_an_error(model):
    X, y = random_data(59)
    with pytest.raises(ValueError, match="cost"):
        model(cost=np.zeros((N_RANKS, N_RANKS))).fit(X, y)


# Training again, stopping, copying


@every_model
def test_a_warm_path_over_C_arrives_where_cold_fits_do(model):
    X, y = random_data(60, n=60)
    warm = model(warm_start=True, **TIGHT)
    for C in (0.1, 1.0, 10.0, 0.5):
        warm.set_params(C=C).fit(X, y)
        cold = model(C=C, **TIGHT).fit(X, y)
        assert warm.result_.converged
        assert_same_objective(warm, cold)
        assert_same_machine(warm, cold, X)
    steps = warm.fit(X, y).result_.n_iter
    assert steps <= 5
    assert cold.fit(X, y).result_.n_iter > 10


@every_model
def test_a_warm_start_survives_other_data_kernels_and_weights(model):
    X, y = random_data(61, n=60)
    rng = np.random.default_rng(61)
    warm = model(warm_start=True, **TIGHT).fit(X, y)
    others = [
        (rng.normal(size=X.shape), y, None),
        (X, rng.permutation(y), None),
        (X, y, rng.uniform(0, 5, size=60)),
        (X[:40], y[:40], None),
    ]
    for samples, labels, weight in others:
        warm.set_params(gamma=rng.uniform(0.1, 1)).fit(samples, labels, weight)
        cold = clone(warm).fit(samples, labels, weight)
        assert_same_objective(warm, cold)
        assert_same_machine(warm, cold, samples)


@every_model
def test_without_warm_start_every_fit_is_cold(model):
    X, y = random_data(62)
    fitted = model().fit(X, y)
    steps = fitted.result_.n_iter
    assert fitted.fit(X, y).result_.n_iter == steps > 0


@every_model
def test_a_fit_cut_short_warns_with_gap_tol_and_remedy_and_predicts(model):
    X, y = random_data(63, n=60)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter after 5 steps with relative gap .* tol=0.001: raise max_iter"
    ):
        fitted = model(max_iter=5).fit(X, y)
    assert fitted.result_.status == "max_iter"
    assert fitted.n_iter_ == fitted.result_.n_iter == 5
    assert set(fitted.predict(X)) <= set(y)
    proof = certify(fitted, X, y)
    assert proof.gap == pytest.approx(fitted.result_.gap, rel=1e-8)
    converged = certify(model(**TIGHT, max_iter=-1).fit(X, y), X, y)
    assert proof.primal >= converged.dual
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model().fit(X, y)


@every_model
def test_separable_data_reach_the_relative_gap_too(model):
    """There the objective is small beside C, and a violation of tol alone would leave a wide gap."""
    X, y = random_data(64, n=60, noise=0.0)
    fitted = model(C=1e4, kernel="linear", tol=1e-3).fit(X, y)
    proof = certify(fitted, X, y)
    assert proof.relative_gap <= 1e-3 * (1 + 1e-6)
    assert proof.violation <= 1e-3


@every_model
def test_clones_copies_and_pickles(model):
    X, y = random_data(65)
    original = model(C=2.0, kernel="poly", degree=2, coef0=1.0, class_weight={0: 2.0}).fit(X, y)
    assert clone(original).get_params() == original.get_params()
    assert not hasattr(clone(original), "thresholds_")
    for twin in (copy.deepcopy(original), pickle.loads(pickle.dumps(original)), copy.copy(original)):
        np.testing.assert_array_equal(twin.decision_function(X), original.decision_function(X))
        np.testing.assert_array_equal(twin.predict(X), original.predict(X))
        assert twin.result_.objective == original.result_.objective
        assert certify(twin, X, y).gap == certify(original, X, y).gap
    assert str(model(C=2.0)) == f"{model.__name__}(C=2.0)"


# Model selection


@every_model
def test_pipelines_and_searches(model):
    X, y = random_data(66, n=90, noise=0.5)
    X = 100 * X + 50
    folds = KFold(3, shuffle=True, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model())
    name = model.__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__C": [0.01, 1.0]}, scoring=mae_scorer, cv=folds).fit(X, y)
    for C, found in zip([0.01, 1.0], search.cv_results_["mean_test_score"], strict=True):
        by_hand = []
        for train, test in folds.split(X):
            scaler = StandardScaler().fit(X[train])
            fitted = model(C=C).fit(scaler.transform(X[train]), y[train])
            by_hand.append(-mean_absolute_error(y[test], fitted.predict(scaler.transform(X[test]))))
        assert found == pytest.approx(np.mean(by_hand))
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


@every_model
def test_cross_validation_cuts_precomputed_kernels_both_ways(model):
    X, y = random_data(67, n=90)
    folds = KFold(3, shuffle=True, random_state=0)
    by_name = cross_val_score(model(gamma=0.4, tol=1e-6), X, y, cv=folds, scoring=mae_scorer)
    K = rbf_kernel(X, gamma=0.4)
    given = cross_val_score(model(kernel="precomputed", tol=1e-6), K, y, cv=folds, scoring=mae_scorer)
    np.testing.assert_allclose(by_name, given)


def test_version_is_that_of_the_package():
    assert ordsvm.__version__ == version("ordsvm")
