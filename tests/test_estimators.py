"""The estimators: scikit-learn's checks, and identities that hold whatever the data."""

import copy
import pickle
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
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
from ordsvm import SVOR, SVOREX, SVORIM, LinearSVOR, NystroemSVOR, ShashuaLevinSVOR, certify
from ordsvm.metrics import mae_scorer, mean_absolute_error
from tests.cases import N_RANKS, random_data, v_shaped_cost
from tests.model_cases import (
    COST_MODELS,
    MODELS,
    TIGHT,
    assert_same_machine,
    assert_same_objective,
    every_model,
    sorted_by_rank,
)

# scikit-learn's own checks

ONE_SCORE = "decision_function is one score a sample, to be compared with thresholds_: not a column a class"
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


@pytest.mark.parametrize("model", [*COST_MODELS, LinearSVOR, NystroemSVOR])
def test_a_labelled_cost_goes_by_its_labels(model):
    X, y = random_data(55)
    names = np.array(["poor", "fair", "good", "great"])
    cost = v_shaped_cost(N_RANKS, seed=55)
    frame = pd.DataFrame(cost, names, names)
    options = {"categories": names.tolist(), "random_state": 0} if model is NystroemSVOR else {"categories": names}
    plain = model(cost=cost, **options).fit(X, names[y])
    for given in (frame, frame.loc[names[[2, 0, 3, 1]], names[[1, 3, 0, 2]]], pd.DataFrame(cost)):
        other = model(cost=given, **options).fit(X, names[y])
        np.testing.assert_allclose(plain.thresholds_, other.thresholds_, rtol=1e-9)
    numbered = frame.set_axis(range(1, 5)).set_axis(range(1, 5), axis=1)[[4, 2, 1, 3]]
    options["categories"] = [1, 2, 3, 4]
    plain, other = (model(cost=given, **options).fit(X, y + 1) for given in (cost, numbered))
    np.testing.assert_allclose(plain.thresholds_, other.thresholds_, rtol=1e-9)


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
def test_prediction_follows_the_rule_of_the_paper(model):
    """SVOR counts the thresholds below the score; the others take the first one above it, or the last rank."""
    X, y = random_data(55)
    fitted = model(kernel="linear").fit(X, y)
    for thresholds in ([-1.0, 0.0, 1.0], [0.5, -0.5, 1.0], [2.0, 1.0, 0.0]):  # the last two in disorder
        fitted.thresholds_ = np.array(thresholds)
        score = fitted.decision_function(X)
        counts = [sum(f > b for b in thresholds) for f in score]
        firsts = [next((k for k, b in enumerate(thresholds) if f < b), 3) for f in score]
        np.testing.assert_array_equal(fitted.predict(X), counts if model is SVOR else firsts)
    fitted.thresholds_ = np.sort(score[:3])  # at equality "count" goes below, "first" above
    side = "left" if model is SVOR else "right"
    np.testing.assert_array_equal(fitted.predict(X), np.searchsorted(fitted.thresholds_, score, side=side))


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


@pytest.mark.parametrize("model", [SVOREX, ShashuaLevinSVOR])
def test_a_subclass_may_have_a_cost_of_its_own(model):
    """Adjacent thresholds have no costs: the name is free."""

    class Priced(model):
        def __init__(self, C=1.0, *, cost=5.0):
            super().__init__(C)
            self.cost = cost

    X, y = random_data(3)
    np.testing.assert_array_equal(Priced(2.0).fit(X, y).thresholds_, model(2.0).fit(X, y).thresholds_)
