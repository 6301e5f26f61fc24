"""The linear machines: scikit-learn's checks and answers, the oracle's optimum, their kernel twins, and identities."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVR,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    RankDCD,
    RoundedRegressor,
    certify,
)
from ordsvm.estimators import linear as linear_machine
from ordsvm.metrics import mae_scorer, mean_absolute_error
from ordsvm.problem.predictors import PREDICTORS
from tests.cases import N_RANKS, random_data, v_shaped_cost
from tests.linear_cases import (
    TIGHT,
    assert_same_machine,
    both_losses,
    data,
    every_classifier,
    every_machine,
    loss_name,
    optimum,
    values,
)
from tests.reference import linear as reference

# scikit-learn's own checks

ONE_SCORE = "decision_function is one score a sample, to be compared with thresholds_: not a column a class"
LOOSE = "tol=0.01 is coarser than the comparison"


NO_ORDER = "the check's three classes lie in a triangle: in no order that the scores of a linear ordinal machine follow"


def expected_failed_checks(estimator) -> dict[str, str]:
    one_score = {"check_classifiers_train": ONE_SCORE, "check_classifiers_classes": ONE_SCORE}
    if isinstance(estimator, RoundedRegressor):
        return one_score
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    others = {LinearSVOR: one_score, LinearNPSVOR: {"check_classifiers_train": NO_ORDER}}
    return dict.fromkeys(checks, LOOSE) | others.get(type(estimator), {})


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks have features up to 100
@parametrize_with_checks(
    [
        LinearNPSVOR(),
        LinearNPSVOR(predictor="nearest", loss="squared_hinge", fit_intercept=False),
        LinearSVOR(),
        LinearSVC(),
        LinearSVC(loss="squared_hinge"),
        LinearSVR(),
        LinearSVR(loss="squared_epsilon_insensitive", fit_intercept=False),
        RoundedRegressor(LinearSVR(C=0.1, tol=1e-12, max_iter=5_000)),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # float64 hardly reaches this tol
@every_machine
def test_scikit_learns_equivalence_of_weights_and_repetitions(model):
    """Hinges only: squared ones leave errors in the scores of the root of the gap, above what the check allows."""
    estimator = model(C=0.1, tol=1e-13, max_iter=5_000)
    check_sample_weight_equivalence_on_dense_data(model.__name__, estimator)
    check_sample_weight_equivalence_on_sparse_data(model.__name__, estimator)


# The optimum


SETTINGS = [
    (LinearNPSVOR, {}),
    (LinearNPSVOR, {"C1": 0.2, "C2": 2.0, "epsilon": 0.4}),
    (LinearNPSVOR, {"epsilon": 0.0, "fit_intercept": False}),
    (LinearSVOR, {}),
    (LinearSVOR, {"cost": "squared"}),
    (LinearSVOR, {"cost": "zero-one"}),
    (LinearSVOR, {"cost": v_shaped_cost(N_RANKS, seed=1)}),
    (LinearSVC, {}),
    (LinearSVC, {"fit_intercept": False}),
    (LinearSVR, {}),
    (LinearSVR, {"epsilon": 0.0}),
    (LinearSVR, {"epsilon": 0.5, "fit_intercept": False}),
]


@pytest.mark.parametrize(("model", "settings"), SETTINGS)
@both_losses
@pytest.mark.parametrize("C", [0.1, 1.5])
def test_the_oracles_optimum(model, settings, squared, C):
    X, y = data(model, seed=61)
    weight = np.random.default_rng(61).uniform(0.0, 2.0, size=len(y)).round(1)
    for sample_weight in (None, weight):
        fitted = model(C=C, loss=loss_name(model, squared), **settings, **TIGHT).fit(X, y, sample_weight)
        best = optimum(fitted, X, y, sample_weight)
        assert fitted.result_.objective == pytest.approx(best, rel=1e-6)
        assert fitted.result_.objective - fitted.result_.gap <= best * (1 + 1e-8)
        assert fitted.result_.status == "converged"
        assert fitted.result_.relative_gap <= 1e-9


@every_machine
@both_losses
def test_the_reference_agrees_in_every_number(model, squared, monkeypatch):
    X, y = data(model, seed=62)
    estimator = model(C=0.5, loss=loss_name(model, squared), solver="rank-dcd", **TIGHT)
    ours = clone(estimator).fit(X, y)
    monkeypatch.setattr(linear_machine, "solve_linear", reference.solve_linear)
    theirs = clone(estimator).fit(X, y)
    assert theirs.result_.solver == "reference"
    assert_same_machine(ours, theirs, X)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.coef_.shape == theirs.coef_.shape


KERNEL_TWINS = {
    LinearNPSVOR: lambda C: NPSVOR(C=C, kernel="linear", tol=1e-8),
    LinearSVOR: lambda C: SVOR(C=C, kernel="linear", tol=1e-8),
    LinearSVC: lambda C: SVC(C=C, kernel="linear", tol=1e-8, intercept="penalized", multi_class="ovr"),
    LinearSVR: lambda C: SVR(C=C, kernel="linear", tol=1e-8, intercept="penalized"),
}


@every_machine
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_the_machine_with_a_linear_kernel(model, C):
    X, y = data(model, seed=63)
    linear, kernel = model(C=C, **TIGHT).fit(X, y), KERNEL_TWINS[model](C).fit(X, y)
    assert linear.result_.objective == pytest.approx(kernel.result_.objective, rel=1e-6)
    np.testing.assert_allclose(linear.coef_, kernel.coef_.reshape(linear.coef_.shape), atol=1e-3)
    biases = "thresholds_" if model is LinearSVOR else "intercept_"
    np.testing.assert_allclose(getattr(linear, biases), getattr(kernel, biases), atol=1e-3)
    use = "predict" if model is LinearSVR else "decision_function"
    np.testing.assert_allclose(getattr(linear, use)(X), getattr(kernel, use)(X), atol=2e-3)


# Agreement with scikit-learn

SHIPPED = {
    "iris": (scale(load_iris().data), load_iris().target),
    "breast cancer": (scale(load_breast_cancer().data), load_breast_cancer().target),
}


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scikit_learns_linear_svc(name, loss, fit_intercept):
    X, y = SHIPPED[name]
    settings = {"C": 0.05, "loss": loss, "fit_intercept": fit_intercept}
    ours = LinearSVC(**settings, tol=1e-7, max_iter=50_000).fit(X, y)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        theirs = svm.LinearSVC(**settings, dual=True, tol=1e-7, max_iter=50_000, random_state=0).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert svc_objective(theirs, X, y) == pytest.approx(svc_objective(ours, X, y), rel=1e-4)
    assert svc_objective(ours, X, y) == pytest.approx(ours.result_.objective, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99


def svc_objective(model, X, y) -> float:
    margins = np.atleast_2d((X @ model.coef_.T + model.intercept_).T)
    sign = np.where(y == model.classes_[-len(margins) :, None], 1.0, -1.0)
    losses = np.maximum(0.0, 1.0 - sign * margins) ** (2 if model.loss == "squared_hinge" else 1)
    return 0.5 * (np.sum(model.coef_**2) + np.sum(np.square(model.intercept_))) + model.C * losses.sum()


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize(("epsilon", "fit_intercept"), [(0.0, True), (0.3, False), (0.3, True)])
def test_scikit_learns_linear_svr(loss, epsilon, fit_intercept):
    X, y = scale(load_diabetes().data), scale(load_diabetes().target)
    settings = {"C": 0.1, "epsilon": epsilon, "loss": loss, "fit_intercept": fit_intercept}
    ours = LinearSVR(**settings, tol=1e-7, max_iter=50_000).fit(X, y)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        theirs = svm.LinearSVR(**settings, dual=True, tol=1e-7, max_iter=50_000, random_state=0).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert svr_objective(theirs, X, y) == pytest.approx(svr_objective(ours, X, y), rel=1e-4)
    assert svr_objective(ours, X, y) == pytest.approx(ours.result_.objective, rel=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=5e-3)


def svr_objective(model, X, y) -> float:
    errors = np.maximum(0.0, np.abs(y - X @ model.coef_ - model.intercept_) - model.epsilon)
    errors = errors ** (2 if model.loss.startswith("squared") else 1)
    return 0.5 * (np.sum(model.coef_**2) + np.sum(np.square(model.intercept_))) + model.C * errors.sum()


# The certificate


@every_machine
@both_losses
@pytest.mark.parametrize("tol", [0.01, 1e-8])
def test_certify_agrees_with_the_result(model, squared, tol):
    X, y = data(model, seed=64)
    weight = np.random.default_rng(64).uniform(0.2, 3.0, size=len(y))
    for samples in (X, sp.csr_array(X)):
        fitted = model(C=0.7, tol=tol, max_iter=100_000, loss=loss_name(model, squared)).fit(samples, y, weight)
        proof = certify(fitted, samples, y, weight)
        assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-9)
        assert proof.gap == pytest.approx(fitted.result_.gap, rel=1e-4, abs=1e-12 * proof.primal)
        assert proof.violation == pytest.approx(fitted.result_.violation, rel=1e-4, abs=1e-9)
        assert 0 <= proof.relative_gap <= tol


@every_machine
def test_certify_does_not_rely_on_the_results_of_the_model_and_knows_other_data(model):
    X, y = data(model, seed=65)
    fitted = model(tol=1e-6).fit(X, y)
    true = certify(fitted, X, y)
    moved = copy.deepcopy(fitted)
    moved.intercept_ = moved.intercept_ + 0.5
    assert certify(moved, X, y).gap > true.gap + 0.1
    scaled = copy.deepcopy(fitted)
    scaled.coef_ = 1.01 * scaled.coef_
    with pytest.raises(ValueError, match="weights are not those that its dual variables give"):
        certify(scaled, X, y)
    with pytest.raises(ValueError, match="weights are not those that its dual variables give"):
        certify(fitted, X + 1e-3, y)
    for labels, weight in ((y[::-1], None), (y, np.arange(len(y)) % 2)):
        with pytest.raises(ValueError, match="not the labels, weights and parameters"):
            certify(fitted, X, labels, weight)
    with pytest.raises(ValueError, match="not the labels, weights and parameters"):
        certify(copy.deepcopy(fitted).set_params(C=2.0), X, y)
    with pytest.raises(NotFittedError):
        certify(model(), X, y)


# Identities


@every_machine
@both_losses
def test_weight_two_is_a_row_twice(model, squared):
    X, y = data(model, seed=66)
    weight = np.random.default_rng(66).integers(0, 4, size=len(y))
    estimator = model(C=0.4, loss=loss_name(model, squared), **TIGHT)
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_machine(weighted, repeated, X)


@every_machine
def test_weights_times_C_are_all_that_counts(model):
    X, y = data(model, seed=67)
    weight = np.random.default_rng(67).uniform(0.2, 3, size=len(y))
    assert_same_machine(model(C=2.0, **TIGHT).fit(X, y, weight), model(C=0.5, **TIGHT).fit(X, y, 4 * weight), X)
    assert_same_machine(model(C=2.0, **TIGHT).fit(X, y, 0.5), model(C=1.0, **TIGHT).fit(X, y), X)


@every_classifier
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.3}])
def test_class_weights_are_sample_weights(model, class_weight):
    X, y = data(model, seed=68)
    kept = (y > 0) | (np.arange(len(y)) % 2 == 0)  # classes of different sizes
    X, y = X[kept], y[kept]
    weight = np.random.default_rng(68).uniform(0.5, 2, size=len(y))
    by_class = model(class_weight=class_weight, **TIGHT).fit(X, y, weight)
    by_sample = model(**TIGHT).fit(X, y, weight * compute_sample_weight(class_weight, y))
    assert_same_machine(by_class, by_sample, X)


@every_machine
def test_permuting_rows_and_features_changes_nothing(model):
    X, y = data(model, seed=69)
    rows, columns = np.random.default_rng(69).permutation(len(y)), [2, 0, 1]
    first, second = model(**TIGHT).fit(X, y), model(**TIGHT).fit(X[rows], y[rows])
    assert_same_machine(first, second, X)
    third = model(**TIGHT).fit(X[:, columns], y)
    np.testing.assert_allclose(first.coef_[..., columns], third.coef_, atol=1e-4)


def test_reversing_the_ranks_mirrors_the_machine():
    X, y = data(LinearSVOR, seed=70)
    upward, downward = (LinearSVOR(**TIGHT).fit(X, ranks) for ranks in (y, N_RANKS - 1 - y))
    np.testing.assert_allclose(upward.coef_, -downward.coef_, atol=1e-4)
    np.testing.assert_allclose(upward.thresholds_, -downward.thresholds_[::-1], atol=1e-4)
    upward, downward = (LinearNPSVOR(**TIGHT).fit(X, ranks) for ranks in (y, N_RANKS - 1 - y))
    np.testing.assert_allclose(upward.coef_, -downward.coef_[::-1], atol=1e-4)
    np.testing.assert_allclose(upward.intercept_, -downward.intercept_[::-1], atol=1e-4)
    by_categories = LinearNPSVOR(categories=[3, 2, 1, 0], **TIGHT).fit(X, y)
    np.testing.assert_array_equal(by_categories.coef_, downward.coef_)
    np.testing.assert_array_equal(by_categories.predict(X), N_RANKS - 1 - downward.predict(X))


@both_losses
def test_two_ranks_are_two_classes(squared):
    X, y = random_data(71, n=40, n_ranks=2)
    loss = loss_name(LinearSVC, squared)
    ranks, classes = LinearSVOR(C=0.6, loss=loss, **TIGHT).fit(X, y), LinearSVC(C=0.6, loss=loss, **TIGHT).fit(X, y)
    assert ranks.result_.objective == pytest.approx(classes.result_.objective, rel=1e-7)
    np.testing.assert_allclose(ranks.coef_, classes.coef_[0], atol=1e-4)
    np.testing.assert_allclose(ranks.intercept_, classes.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ranks.predict(X), classes.predict(X))


def test_two_classes_are_one_of_two_lanes():
    """Against the rest, with only one other class, is against that class."""
    X, y = random_data(72, n=40, n_ranks=3)
    three = LinearSVC(**TIGHT).fit(X, y)
    two = LinearSVC(**TIGHT).fit(X, y == 1)
    np.testing.assert_allclose(three.coef_[1], two.coef_[0], atol=1e-4)
    np.testing.assert_allclose(three.decision_function(X)[:, 1], two.decision_function(X), atol=1e-4)


def test_scores_of_ranks_are_independent():
    """The score of a rank is that of any machine in which the others look the same from it."""
    X, y = random_data(73, n=40, n_ranks=5)
    five, three = LinearNPSVOR(**TIGHT).fit(X, y), LinearNPSVOR(**TIGHT).fit(X, np.sign(y - 2))
    np.testing.assert_allclose(five.coef_[2], three.coef_[1], atol=1e-4)
    np.testing.assert_allclose(five.intercept_[2], three.intercept_[1], atol=1e-4)


@every_machine
def test_fitting_again_repeats_bit_for_bit(model):
    X, y = data(model, seed=74, n=80)
    first, second = model(n_threads=2).fit(X, y), model(n_threads=2).fit(X, y)
    third = second.fit(X[:50], y[:50]).fit(X, y)
    np.testing.assert_array_equal(first.coef_, third.coef_)
    one_thread = model(n_threads=1, **TIGHT).fit(X, y)
    assert_same_machine(one_thread, model(n_threads=3, **TIGHT).fit(X, y), X)


@every_machine
def test_random_state_draws_the_order(model):
    X, y = data(model, seed=75, n=80)
    first, again, other = (model(random_state=seed).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)
    by_options = model(solver=RankDCD(seed=5)).fit(X, y)
    np.testing.assert_array_equal(by_options.coef_, model(solver=RankDCD(seed=5)).fit(X, y).coef_)
    assert not np.array_equal(by_options.coef_, model().fit(X, y).coef_)
    named = [model(solver=solver).fit(X, y).coef_ for solver in ("auto", "rank-dcd", RankDCD())]
    np.testing.assert_array_equal(named[0], named[1])
    np.testing.assert_array_equal(named[0], named[2])


# Prediction


def test_npsvor_predicts_by_the_predictor_in_use():
    X, y = data(LinearNPSVOR, seed=76)
    fitted = LinearNPSVOR().fit(X, y)
    scores = X @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(fitted.rank_scores(X), scores, atol=1e-12)
    for name, predictor in PREDICTORS.items():
        fitted.set_params(predictor=name)
        np.testing.assert_array_equal(fitted.predict(X), predictor.ranks(scores))
        np.testing.assert_allclose(fitted.decision_function(X), predictor.margins(scores), atol=1e-12)
        np.testing.assert_array_equal(fitted.decision_function(X).argmax(axis=1), fitted.predict(X))


def test_svor_counts_the_thresholds_below_the_score():
    X, y = data(LinearSVOR, seed=77)
    fitted = LinearSVOR().fit(X, y)
    score = fitted.decision_function(X)
    np.testing.assert_allclose(score, X @ fitted.coef_, atol=1e-12)
    for thresholds in ([-1.0, 0.0, 1.0], [0.5, -0.5, 1.0]):  # the last ones in disorder
        fitted.thresholds_ = np.array(thresholds)
        expected = [sum(f > b for b in thresholds) for f in score]
        np.testing.assert_array_equal(fitted.predict(X), expected)


@pytest.mark.parametrize("cost", ["absolute", "squared"])
def test_thresholds_are_in_order(cost):
    X, y = random_data(78, n=80, n_ranks=6, noise=4.0)
    assert np.all(np.diff(LinearSVOR(cost=cost, **TIGHT).fit(X, y).thresholds_) >= -1e-3)


def test_rounded_regression_on_ranks():
    X, y = random_data(79, n=80, n_features=5)
    grades = np.array(["poor", "fair", "good", "great"])
    model = RoundedRegressor(LinearSVR(tol=1e-6), categories=grades).fit(sp.csr_array(X), grades[y])
    regressor = LinearSVR(tol=1e-6).fit(X, y.astype(float))
    np.testing.assert_allclose(model.decision_function(X), regressor.predict(X), atol=1e-3)
    expected = np.clip(np.floor(model.decision_function(X) + 0.5), 0, 3).astype(int)
    np.testing.assert_array_equal(model.predict(X), grades[expected])
    weighted = RoundedRegressor(LinearSVR(tol=1e-6)).fit(X, y, sample_weight=1.0 + (y == 3))
    assert weighted.decision_function(X).mean() > regressor.predict(X).mean()


# Memory


@pytest.fixture
def seen(monkeypatch):
    """What passes through the calls of the solver: (X, solution) of every fit."""
    calls = []

    def watched(solve):
        def call(X, *arguments, **options):
            calls.append((X, solve(X, *arguments, **options)))
            return calls[-1][1]

        return call

    monkeypatch.setattr(linear_machine, "solve_linear", watched(linear_machine.solve_linear))
    return calls


@every_machine
def test_coefficients_are_a_view_of_the_solution(model, seen):
    X, y = data(model, seed=80)
    fitted = model().fit(X, y)
    solution = seen[0][1]
    assert np.shares_memory(fitted.coef_, solution.coef)
    assert fitted.coef_.size == solution.coef.size
    assert np.shares_memory(getattr(fitted, "thresholds_", fitted.intercept_), solution.intercept)
    shapes = {LinearNPSVOR: (4, 3), LinearSVC: (4, 3), LinearSVOR: (3,), LinearSVR: (3,)}
    assert fitted.coef_.shape == shapes[model]
    assert fitted.coef_.dtype == np.float64
    if model in (LinearNPSVOR, LinearSVC):
        np.testing.assert_array_equal(fitted.coef_, solution.coef.T)
        assert fitted.intercept_.shape == (4,)


def test_two_classes_have_one_row_of_coefficients():
    X, y = random_data(80, n_ranks=2)
    fitted = LinearSVC().fit(X, y)
    assert fitted.coef_.shape == (1, 3)
    assert fitted.intercept_.shape == (1,)
    assert fitted.decision_function(X).shape == (len(y),)


@every_machine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_are_read_where_they_lie(model, dtype, seen):
    X, y = data(model, seed=81)
    X = X.astype(dtype)
    model().fit(X, y)
    assert np.shares_memory(seen[-1][0], X)
    for kind, index in ((sp.csr_array, np.int32), (sp.csr_matrix, np.int64)):
        sparse = kind(X)
        sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
        model().fit(sparse, y)
        assert np.shares_memory(seen[-1][0].data, sparse.data)
        assert np.shares_memory(seen[-1][0].indices, sparse.indices)
        assert seen[-1][0].data.dtype == dtype


# scikit-learn's machinery


@every_machine
def test_pickle_clone_and_pipelines(model):
    X, y = data(model, seed=100, n=60)
    fitted = model(C=0.3, solver=RankDCD(seed=3)).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(values(again, X), values(fitted, X))
    assert certify(again, X, y).primal == certify(fitted, X, y).primal
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "coef_")
    search = GridSearchCV(make_pipeline(model()), {f"{model.__name__.lower()}__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert np.isfinite(search.best_score_)


@every_classifier
def test_score_is_accuracy(model):
    X, y = data(model, seed=101)
    fitted = model().fit(X, y)
    assert fitted.score(X, y) == np.mean(fitted.predict(X) == y)
    assert mean_absolute_error(y, fitted.predict(X)) == -mae_scorer(fitted, X, y)
