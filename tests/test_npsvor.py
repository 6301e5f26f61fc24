"""NPSVOR: scikit-learn's checks, the oracle's optimum for every rank, the paper's predictors, and identities."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from benchmarks.datasets import DataMissing, ordinal
from ordsvm import GCD, NPSVOR, SMO, SVC, AsyAGCD, AsyGCD, AsyORGCD, certify, formulations
from ordsvm.metrics import mae_scorer, mean_absolute_error
from ordsvm.problem import Treatment
from ordsvm.problem.predictors import PREDICTORS
from ordsvm.solvers import SOLVERS
from tests.cases import N_RANKS, random_data
from tests.oracle import dual_optimum
from tests.test_svc import LOOSE, NOT_SYMMETRIC

TIGHT = {"gamma": 0.4, "tol": 1e-8}  # so that two fits of one problem agree in many digits
GRADES = ["poor", "fair", "good", "great"]  # not the alphabet's order
BOX_SOLVERS = [name for name, kind in SOLVERS.items() if Treatment.PENALIZED in kind.accepts]

every_predictor = pytest.mark.parametrize("predictor", PREDICTORS)


def assert_same_machine(first, second, X, atol: float = 1e-5) -> None:
    """The same scores, which are unique because the intercepts are penalised."""
    assert first.result_.objective == pytest.approx(second.result_.objective, rel=1e-6)
    np.testing.assert_allclose(first.rank_scores(X), second.rank_scores(X), rtol=0, atol=atol)
    np.testing.assert_array_equal(first.classes_, second.classes_)


# scikit-learn's own checks

NO_ORDER = "the check's three classes lie in a triangle: in no order that the scores of a linear ordinal machine follow"


def expected_failed_checks(estimator) -> dict[str, str]:
    if estimator.kernel == "precomputed":  # the check gives linear kernels
        return {
            "check_classifiers_one_label_sample_weights": NOT_SYMMETRIC,
            "check_classifiers_train": NO_ORDER,
        }
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    return dict.fromkeys(checks, LOOSE)


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning")
@parametrize_with_checks(
    [NPSVOR(), NPSVOR(C1=0.5, C2=2.0, predictor="nearest"), NPSVOR(kernel="precomputed", tol=0.1)],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # float64 hardly reaches this tol
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_scikit_learns_equivalence_of_weights_and_repetitions(kernel):
    estimator = NPSVOR(kernel=kernel, gamma=0.3, tol=1e-12)
    check_sample_weight_equivalence_on_dense_data("NPSVOR", estimator)
    check_sample_weight_equivalence_on_sparse_data("NPSVOR", estimator)


# The optimum and its certificate


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize(
    "costs", [{"C": 0.1}, {"C": 3.0}, {"C1": 5.0, "C2": 0.5}, {"C1": 0.2, "C": 4.0}], ids=lambda costs: str(costs)
)
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_every_rank_is_at_the_oracles_optimum(kernel, costs, epsilon):
    X, y = random_data(31)
    weight = np.random.default_rng(31).uniform(0.2, 3, size=len(y))
    model = NPSVOR(kernel=kernel, gamma=0.3, coef0=1.0, tol=1e-7, epsilon=epsilon, **costs).fit(X, y, weight)
    C = costs.get("C", 1.0)
    C1, C2 = costs.get("C1", C) * weight, costs.get("C2", C) * weight
    K = model.kernel_(X, X)
    for rank, result in enumerate(model.results_):
        optimum = dual_optimum(formulations.npsvor(y, rank, epsilon, C1, C2), K)
        assert result.objective == pytest.approx(optimum.objective, rel=1e-6)
        assert result.relative_gap <= 1e-7
        assert model.intercept_[rank] == pytest.approx(-optimum.b[0], abs=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_certify_agrees_with_the_result(kernel):
    X, y = random_data(32, n=60)
    model = NPSVOR(C=3.0, kernel=kernel, gamma=0.3).fit(X, y)
    proof = certify(model, X, y)
    assert proof.primal == pytest.approx(model.result_.objective, rel=1e-9)
    assert proof.gap == pytest.approx(model.result_.gap, rel=1e-6)
    assert proof.violation == pytest.approx(model.result_.violation, rel=1e-6)
    assert 0 < proof.relative_gap <= 1e-3
    np.testing.assert_allclose(-proof.thresholds, model.intercept_)


def test_certify_does_not_rely_on_the_results_of_the_model():
    X, y = random_data(33)
    model = NPSVOR(**TIGHT).fit(X, y)
    true = certify(model, X, y)
    moved = copy.deepcopy(model)
    moved.intercept_ = moved.intercept_ + 0.5
    assert certify(moved, X, y).gap > true.gap + 0.1
    lighter = copy.deepcopy(model)
    lighter.dual_coef_ = 0.5 * lighter.dual_coef_
    with pytest.raises(ValueError, match="not those that its dual variables give"):
        certify(lighter, X, y)
    for changed in ({"C": 2.0}, {"C1": 2.0}, {"C2": 0.5}, {"epsilon": 0.2}):
        with pytest.raises(ValueError, match="not the labels, weights and parameters"):
            certify(copy.deepcopy(model).set_params(**changed), X, y)
    with pytest.raises(ValueError, match="not the labels, weights and parameters"):
        certify(model, X, (y + 1) % N_RANKS)
    with pytest.raises(NotFittedError):
        certify(NPSVOR(), X, y)


def test_the_result_is_the_sum_of_the_ranks():
    X, y = random_data(34, n=200, n_ranks=5)
    model = NPSVOR().fit(X, y)
    total, parts = model.result_, model.results_
    assert len(parts) == 5
    for name in ("objective", "gap", "n_iter", "kernel_rows", "seconds"):
        assert getattr(total, name) == pytest.approx(sum(getattr(part, name) for part in parts))
    assert total.violation == max(part.violation for part in parts) <= 1e-3
    assert total.status == "converged"
    np.testing.assert_array_equal(total.alpha, np.concatenate([part.alpha for part in parts]))
    np.testing.assert_array_equal(model.n_iter_, [part.n_iter for part in parts])


def test_ranks_share_the_rows_of_the_kernel():
    X, y = random_data(35, n=300, n_ranks=5)
    model = NPSVOR(solver=GCD(precision="float64")).fit(X, y)
    assert len(model.support_) <= model.result_.kernel_rows <= len(X)
    assert sum(np.count_nonzero(row) for row in model.dual_coef_) > model.result_.kernel_rows  # else nothing is shared


# Solvers, threads, limits


@pytest.mark.parametrize("solver", BOX_SOLVERS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_solvers_and_threads_agree(solver, n_threads):
    X, y = random_data(36)
    model = NPSVOR(solver=solver, n_threads=n_threads, **TIGHT).fit(X, y)
    assert model.result_.solver == solver
    assert model.result_.converged
    assert certify(model, X, y).relative_gap <= 1e-8
    assert_same_machine(model, NPSVOR(**TIGHT).fit(X, y), X)


@pytest.mark.parametrize(
    "solver", [GCD(precision="float64"), AsyGCD(), AsyAGCD(max_shrink_iter=5), AsyORGCD()], ids=str
)
def test_options_of_solvers(solver):
    X, y = random_data(37)
    assert_same_machine(NPSVOR(solver=solver, **TIGHT).fit(X, y), NPSVOR(**TIGHT).fit(X, y), X)


def test_auto_solves_all_ranks_together_and_two_fits_are_equal():
    X, y = random_data(38, n=300)
    first, second = NPSVOR().fit(X, y), NPSVOR().fit(X, y)
    assert first.result_.solver == "together"
    np.testing.assert_array_equal(first.result_.alpha, second.result_.alpha)


def test_max_iter_is_for_every_rank():
    X, y = random_data(39, n=60)
    with pytest.warns(ConvergenceWarning, match=r"NPSVOR was stopped by max_iter after 20 steps .* raise max_iter"):
        model = NPSVOR(max_iter=5).fit(X, y)
    assert model.n_iter_.tolist() == [5] * N_RANKS
    assert model.result_.status == "max_iter"
    assert certify(model, X, y).gap == pytest.approx(model.result_.gap, rel=1e-8)
    assert set(model.predict(X)) <= set(y)


def test_a_spent_time_limit_leaves_a_usable_model():
    X, y = random_data(40, n=2000, noise=5.0)
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        model = NPSVOR(C=1e4, gamma=1.0, tol=1e-6, time_limit=1e-3).fit(X, y)
    assert {result.status for result in model.results_} == {"time_limit"}
    assert model.n_iter_[-1] == 0
    assert np.isfinite(model.rank_scores(X)).all()
    assert certify(model, X, y).gap == pytest.approx(model.result_.gap, rel=1e-6)


def test_a_callback_stops_all_ranks():
    X, y = random_data(40, n=2000, noise=5.0)
    seen = []
    with pytest.warns(ConvergenceWarning, match="stopped by callback"):
        model = NPSVOR(C=1e4, gamma=1.0, tol=1e-6, callback=lambda progress: seen.append(progress) is None).fit(X, y)
    assert len(seen) == len(model.result_.history) == 1
    assert seen[0].gap > 0
    assert {result.status for result in model.results_} == {"callback"}


# Scores, margins, predictions


def paper_ranks(f: np.ndarray, predictor: str) -> np.ndarray:
    """(32)–(33), or (5), of Shi et al. 2021 in ranks from 0."""
    if predictor == "ordered":
        g = f[:, :-1] + f[:, 1:]
        return (g > 0).sum(axis=1)
    return np.argmin(np.abs(f), axis=1)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_score_is_the_sum_over_support_vectors_plus_the_intercept(kernel):
    X, y = random_data(41)
    model = NPSVOR(kernel=kernel, gamma=0.4, tol=1e-10).fit(X, y)
    beta = np.zeros((N_RANKS, len(y)))
    beta[:, model.support_] = model.dual_coef_
    expected = model.kernel_(X, X) @ beta.T + model.intercept_
    np.testing.assert_allclose(model.rank_scores(X), expected, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, beta.sum(axis=1), atol=1e-8)  # at the optimum: w of an appended 1
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert np.all(model.dual_coef_.any(axis=0))


@every_predictor
@pytest.mark.parametrize("n_ranks", [2, 3, 6])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_predictions_are_the_papers(predictor, n_ranks, kernel):
    X, y = random_data(42, n=90, n_ranks=n_ranks, noise=3.0)
    new = 3 * random_data(43, n=400)[0]
    model = NPSVOR(kernel=kernel, gamma=0.4, predictor=predictor).fit(X, y)
    expected = paper_ranks(model.rank_scores(new), predictor)
    np.testing.assert_array_equal(model.predict(new), expected)
    decision = model.decision_function(new)
    if n_ranks == 2:
        assert decision.shape == (400,)
        np.testing.assert_array_equal(decision > 0, expected == 1)
    else:
        assert decision.shape == (400, n_ranks)
        np.testing.assert_array_equal(decision.argmax(axis=1), expected)
        np.testing.assert_array_equal((decision > 0).sum(axis=1), 1)


def test_the_predictor_may_be_changed_after_training():
    X, y = random_data(44, n=90, n_ranks=6, noise=5.0)
    new = 5 * random_data(45, n=400)[0]
    model = NPSVOR(kernel="linear").fit(X, y)
    predictions = {name: model.set_params(predictor=name).predict(new) for name in PREDICTORS}
    assert np.any(predictions["ordered"] != predictions["nearest"])
    for name, predicted in predictions.items():
        np.testing.assert_array_equal(predicted, NPSVOR(kernel="linear", predictor=name).fit(X, y).predict(new))
    model.set_params(predictor="furthest")
    for use in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="predictor='furthest' is unknown: give 'ordered' or 'nearest'"):
            use(new)


def test_shapes_and_coefficients_of_a_linear_machine():
    X, y = random_data(46)
    for data in (X, sp.csr_array(X)):
        model = NPSVOR(kernel="linear").fit(data, y)
        assert model.dual_coef_.shape == (N_RANKS, len(model.support_))
        assert model.intercept_.shape == model.n_iter_.shape == (N_RANKS,)
        assert model.coef_.shape == (N_RANKS, 3)
        np.testing.assert_allclose(model.rank_scores(data), X @ model.coef_.T + model.intercept_)
    assert not hasattr(NPSVOR().fit(X, y), "coef_")


@every_predictor
def test_separable_ranks_are_told_apart_and_kept_at_their_distance(predictor):
    """The constraints (2b)–(2d) themselves, with no slack in use."""
    X = np.linspace(0, 3, 40)[:, None]
    y = np.digitize(X[:, 0], [0.7, 1.5, 2.2])
    kept = np.min(np.abs(X - [0.7, 1.5, 2.2]), axis=1) > 0.1
    X, y = X[kept], y[kept]
    model = NPSVOR(C=1e4, gamma=2.0, tol=1e-5, predictor=predictor).fit(X, y)
    f = model.rank_scores(X)
    own, above = y[:, None] == np.arange(4), y[:, None] > np.arange(4)
    assert np.abs(f[own]).max() <= 0.1 + 1e-3
    assert f[above].min() >= 1 - 1e-3
    assert f[~own & ~above].max() <= -1 + 1e-3
    np.testing.assert_array_equal(model.predict(X), y)


# Weights


def test_C1_and_C2_are_C_unless_they_are_given():
    X, y = random_data(47)
    plain = NPSVOR(C=2.0).fit(X, y)
    for other in (NPSVOR(C1=2.0, C2=2.0), NPSVOR(C=2.0, C1=2.0), NPSVOR(C=2.0, C2=2.0), NPSVOR(C=9.0, C1=2.0, C2=2.0)):
        np.testing.assert_array_equal(other.fit(X, y).result_.alpha, plain.result_.alpha)
    for other in (NPSVOR(C=2.0, C1=0.1), NPSVOR(C=2.0, C2=0.1)):
        assert other.fit(X, y).result_.objective < 0.9 * plain.result_.objective


def test_weight_two_is_a_row_twice_and_weight_zero_a_row_absent():
    X, y = random_data(48)
    weight = np.random.default_rng(48).integers(0, 4, size=len(y))
    parameters = {"C1": 2.0, "C2": 0.7} | TIGHT
    weighted = NPSVOR(**parameters).fit(X, y, weight)
    repeated = NPSVOR(**parameters).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_machine(weighted, repeated, X)
    assert set(weighted.support_) <= set(np.flatnonzero(weight))


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.3}], ids=str)
def test_class_weights_are_sample_weights(class_weight):
    X, y = random_data(49)
    kept = (y > 0) | (np.arange(len(y)) % 2 == 0)  # ranks of different sizes
    X, y = X[kept], y[kept]
    by_class = NPSVOR(class_weight=class_weight, **TIGHT).fit(X, y)
    by_sample = NPSVOR(**TIGHT).fit(X, y, compute_sample_weight(class_weight, y))
    assert_same_machine(by_class, by_sample, X)
    assert np.abs(by_class.rank_scores(X) - NPSVOR(**TIGHT).fit(X, y).rank_scores(X)).max() > 1e-2


# Symmetries


@every_predictor
def test_reversing_the_ranks_mirrors_the_scores(predictor):
    X, y = random_data(50)
    upward = NPSVOR(predictor=predictor, **TIGHT).fit(X, y)
    downward = NPSVOR(predictor=predictor, categories=[3, 2, 1, 0], **TIGHT).fit(X, y)
    np.testing.assert_allclose(upward.rank_scores(X), -downward.rank_scores(X)[:, ::-1], atol=1e-5)
    np.testing.assert_array_equal(upward.predict(X), downward.predict(X))
    np.testing.assert_allclose(upward.decision_function(X), downward.decision_function(X)[:, ::-1], atol=3e-5)


def test_permuting_rows_changes_nothing():
    X, y = random_data(51)
    order = np.random.default_rng(51).permutation(len(y))
    assert_same_machine(NPSVOR(**TIGHT).fit(X, y), NPSVOR(**TIGHT).fit(X[order], y[order]), X)


# Ranks without samples


@pytest.mark.parametrize("missing", [[2], [1, 2], [0], [4], [0, 2, 4]], ids=str)
def test_a_rank_that_a_fold_lacks_keeps_its_column(missing):
    """Its machine divides those below from those above; where one of the sides is empty, too, it is all on the other.
    The machines of the ranks that are there are those that would be there without it."""
    X, y = random_data(52, n=60, n_ranks=5)
    present = ~np.isin(y, missing)
    X, y = X[present], y[present]
    with warnings.catch_warnings(action="error"):
        model = NPSVOR(C=2.0, categories=range(5), **TIGHT).fit(X, y)
    assert model.classes_.tolist() == list(range(5))
    assert certify(model, X, y).relative_gap <= 1e-8
    scores = model.rank_scores(X)
    without = NPSVOR(C=2.0, **TIGHT).fit(X, y)
    np.testing.assert_allclose(scores[:, without.classes_], without.rank_scores(X), atol=1e-5)
    for rank in missing:
        if y.min() < rank < y.max():
            svc = SVC(C=2.0, intercept="penalized", **TIGHT).fit(X, y > rank)
            np.testing.assert_allclose(scores[:, rank], svc.decision_function(X), atol=1e-5)
        else:
            assert np.all(np.sign(scores[:, rank]) == (1 if rank < y.min() else -1))
    for predictor in PREDICTORS:
        predicted = model.set_params(predictor=predictor).predict(X)
        np.testing.assert_array_equal(predicted, paper_ranks(scores, predictor))


def test_the_machine_of_a_rank_without_samples_is_scikit_learns():
    """LinearSVC penalises the intercept by an appended 1, as the paper does."""
    X, y = random_data(53, n=60, n_ranks=4)
    y = np.where(y >= 2, y + 1, y)
    model = NPSVOR(C=0.5, kernel="linear", tol=1e-8, categories=range(5)).fit(X, y)
    theirs = LinearSVC(C=0.5, loss="hinge", tol=1e-10, max_iter=10**6).fit(X, y > 2)
    np.testing.assert_allclose(model.coef_[2], theirs.coef_[0], atol=1e-5)
    assert model.intercept_[2] == pytest.approx(theirs.intercept_[0], abs=1e-5)


def test_a_rank_whose_weights_are_zero_is_a_rank_without_samples():
    X, y = random_data(54, n=60, n_ranks=5)
    weighted = NPSVOR(**TIGHT).fit(X, y, (y != 2).astype(float))
    without = NPSVOR(categories=range(5), **TIGHT).fit(X[y != 2], y[y != 2])
    assert_same_machine(weighted, without, X)


# Labels and representations of the data


def test_names_of_the_labels_are_no_matter():
    X, y = random_data(55)
    numbers = NPSVOR().fit(X, y)
    labels = np.array(GRADES)[y]
    with warnings.catch_warnings(action="error"):
        for model, given in (
            (NPSVOR(categories=GRADES), labels),
            (NPSVOR(), pd.Categorical(labels, GRADES, ordered=True)),
            (NPSVOR(), pl.Series(labels.tolist(), dtype=pl.Enum(GRADES))),
        ):
            model.fit(X, given)
            assert model.classes_.tolist() == GRADES
            np.testing.assert_array_equal(model.result_.alpha, numbers.result_.alpha)
            np.testing.assert_array_equal(model.predict(X), np.array(GRADES)[numbers.predict(X)])
            assert certify(model, X, given).relative_gap <= 1e-3
    with pytest.warns(UserWarning, match="sorted order was assumed: 'fair' < 'good' < 'great' < 'poor'"):
        assert NPSVOR().fit(X, labels).classes_.tolist() == sorted(GRADES)


def test_dense_sparse_precomputed_callable_and_frames_agree():
    X, y = random_data(56, n_features=6)
    X[np.random.default_rng(56).random(X.shape) < 0.4] = 0.0
    new = random_data(57, n_features=6)[0]
    dense = NPSVOR(**TIGHT).fit(X, y)
    for kind in (sp.csr_matrix, sp.csr_array, sp.csc_array):
        sparse = NPSVOR(**TIGHT).fit(kind(X), y)
        assert_same_machine(dense, sparse, new)
        np.testing.assert_allclose(sparse.rank_scores(kind(new)), dense.rank_scores(new), atol=1e-5)
        assert certify(sparse, kind(X), y).relative_gap <= 1e-8
    precomputed = NPSVOR(kernel="precomputed", tol=1e-8).fit(rbf_kernel(X, gamma=0.4), y)
    np.testing.assert_allclose(
        precomputed.rank_scores(rbf_kernel(new, X, gamma=0.4)), dense.rank_scores(new), atol=1e-5
    )
    by_function = NPSVOR(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.4), tol=1e-8).fit(X, y)
    assert_same_machine(dense, by_function, new)
    names = list("abcdef")
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        framed = NPSVOR(**TIGHT).fit(frame, y)
        assert framed.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(framed.rank_scores(frame), dense.rank_scores(X))


# Training again, copying, searching


@pytest.mark.parametrize("names", [["C"], ["C1", "C2"], ["C1"]], ids=str)
def test_a_warm_path_over_C_arrives_where_cold_fits_do(names):
    X, y = random_data(58, n=60)
    warm = NPSVOR(warm_start=True, **TIGHT)
    for C in (0.1, 1.0, 10.0, 0.5):
        warm.set_params(**dict.fromkeys(names, C)).fit(X, y)
        cold = clone(warm).fit(X, y)
        assert warm.result_.converged
        assert_same_machine(warm, cold, X)
    assert warm.fit(X, y).result_.n_iter <= 5 < 10 < cold.result_.n_iter


def test_a_warm_start_is_scaled_to_the_new_C():
    """Where all variables are at their caps, the solution for C k times as large is k times the former one."""
    X, y = random_data(59, n=40)
    warm = NPSVOR(warm_start=True, C1=1e-6, C2=2e-6, **TIGHT).fit(X, y)
    warm.set_params(C=5.0, C1=3e-6, C2=4e-6)
    problems = warm._formulate(X, warm._check_target(y), None).problems
    for problem, start, former in zip(problems, warm._starts(problems), warm.results_, strict=True):
        np.testing.assert_allclose(start, former.alpha * np.where(problem.hinges.offset > 0, 2.0, 3.0), rtol=1e-12)
    stretched = warm.fit(X, y).n_iter_
    assert stretched.sum() < clone(warm).fit(X, y).n_iter_.sum() / 2


def test_a_warm_start_survives_other_data_and_parameters():
    X, y = random_data(60, n=60)
    rng = np.random.default_rng(60)
    warm = NPSVOR(warm_start=True, **TIGHT).fit(X, y)
    for samples, labels, weight in [
        (rng.normal(size=X.shape), y, None),
        (X, rng.permutation(y), None),
        (X, y, rng.uniform(0, 5, size=60)),
        (X[:40], y[:40], None),
        (X, y > 1, None),
    ]:
        warm.set_params(gamma=rng.uniform(0.1, 1), epsilon=rng.uniform(0, 0.5)).fit(samples, labels, weight)
        assert_same_machine(warm, clone(warm).fit(samples, labels, weight), samples)


def test_clones_copies_and_pickles():
    X, y = random_data(61)
    original = NPSVOR(C=2.0, C2=0.5, kernel="poly", degree=2, coef0=1.0, predictor="nearest").fit(X, y)
    assert clone(original).get_params() == original.get_params()
    assert not hasattr(clone(original), "intercept_")
    for twin in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        np.testing.assert_array_equal(twin.decision_function(X), original.decision_function(X))
        np.testing.assert_array_equal(twin.predict(X), original.predict(X))
        assert certify(twin, X, y).gap == certify(original, X, y).gap
    assert str(NPSVOR(C=2.0)) == "NPSVOR(C=2.0)"


def test_searches_and_calibration():
    """Calibration needs a decision value for every class, the largest for the predicted one."""
    X, y = random_data(62, n=90)
    grid = {"C1": [None, 0.1], "predictor": list(PREDICTORS), "epsilon": [0.0, 0.2]}
    search = GridSearchCV(NPSVOR(), grid, scoring=mae_scorer, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    calibrated = CalibratedClassifierCV(NPSVOR(), cv=3).fit(X, y)
    probability = calibrated.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    expected_rank = probability @ np.arange(N_RANKS)
    assert np.all(np.diff([expected_rank[y == rank].mean() for rank in range(N_RANKS)]) > 0)


# Bad input


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize(
    ("parameters", "pattern"),
    [
        *[({name: value}, rf"{name}=.* is not valid: give a positive number")
          for name in ("C1", "C2") for value in (0, -1.0, np.nan, np.inf, "1", True, [1.0])],
        *[({"epsilon": value}, r"epsilon=.* is not valid: give a number that is not negative")
          for value in (-1e-9, np.nan, np.inf, None, "0.1", False)],
        *[({"predictor": value}, r"predictor=.* is unknown: give 'ordered' or 'nearest'")
          for value in ("r_new", None, 1, ["ordered"])],
        ({"solver": "smo"}, r"solver='smo' does not solve problems with penalized thresholds: use 'gcd'"),
        ({"solver": SMO()}, r"solver='smo' does not solve problems with penalized thresholds: use 'gcd'"),
        ({"C1": 1e-320, "class_weight": {0: 0.0, 1: 1e-10, 2: 1e-10, 3: 1e-10}}, r"is zero for every sample"),
        ({"C2": 1e300, "class_weight": {0: 1e10}}, r"overflows: give smaller weights or a smaller C"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters(parameters, pattern):
    X, y = random_data(63)
    with pytest.raises(ValueError) as caught:
        NPSVOR(**parameters).fit(X, y)
    assert re.search(pattern, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


# Real data


@every_predictor
@pytest.mark.parametrize("name", ["ESL", "winequality-red", "car"])
def test_real_data_are_certified_and_better_than_the_median_rank(name, predictor):
    try:
        X, y = ordinal(name, 1200)
    except DataMissing as reason:
        pytest.skip(str(reason))
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    model = NPSVOR(predictor=predictor).fit(X[train], y[train])
    for result in model.results_:
        assert result.status == "converged"
        assert 0 <= result.relative_gap <= 1e-3
    proof = certify(model, X[train], y[train])
    assert 0 <= proof.relative_gap <= 1e-3
    assert proof.violation <= 1e-3 + 1e-9
    error = mean_absolute_error(y[test], model.predict(X[test]))
    assert error < 0.8 * mean_absolute_error(y[test], np.full(test.sum(), int(np.median(y[train]))))
