"""The metrics against values worked out by hand and against scikit-learn and SciPy; the scorers at work."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn import config_context
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ordsvm import OrdinalSearchCV
from ordsvm.metrics import (
    PROBABILITY_SCORERS,
    SCORERS,
    OrdinalScorer,
    cost_scorer,
    kendall_tau_b,
    macro_mean_absolute_error,
    mae_scorer,
    maximum_mean_absolute_error,
    mean_absolute_error,
    mean_cost,
    mean_squared_error,
    mean_zero_one_error,
    off_by_one_accuracy,
    quadratic_weighted_kappa,
    ranked_probability_score,
    rps_scorer,
    spearman_rho,
)

ALL = [
    mean_absolute_error,
    mean_zero_one_error,
    mean_squared_error,
    macro_mean_absolute_error,
    maximum_mean_absolute_error,
    off_by_one_accuracy,
    quadratic_weighted_kappa,
    kendall_tau_b,
    spearman_rho,
]
GREATER_IS_BETTER = [off_by_one_accuracy, quadratic_weighted_kappa, kendall_tau_b, spearman_rho]
GRADES = ["poor", "fair", "good"]  # not the alphabet's order

# By hand: errors 0 1 | 0 | 2 0 0, so MAE 3/6, MZE 2/6, MSE 5/6, macro MAE (1/2 + 0 + 2/3) / 3 = 7/18, the largest
# of these three 2/3, and 5/6 at most one off.
# Kappa: E(t-p)² = 5/6; both vectors hold ranks 0, 1, 2 with (2, 1, 3) and (2, 2, 2) of 6, so
# E(t-p')² = (2·(0+1+4) + 1·(1+0+1) + 3·(4+1+0)) / 18 = 27/18 and kappa = 1 - 5/9 = 4/9.
# Tau-b: 15 pairs, 4 tied in t, 3 tied in p; concordant 7, discordant 2: 5 / sqrt(11 · 12).
# Spearman: places 1.5 1.5 3 5 5 5 and 1.5 3.5 3.5 1.5 5.5 5.5, less 3.5: products 7, squares 15 and 16.
TRUE, PREDICTED = [0, 0, 1, 2, 2, 2], [0, 1, 1, 0, 2, 2]
VALUES = [1 / 2, 1 / 3, 5 / 6, 7 / 18, 2 / 3, 5 / 6, 4 / 9, 5 / np.sqrt(132), 7 / np.sqrt(15 * 16)]
BY_HAND = dict(zip(ALL, VALUES, strict=True))


def count_pairs(true: list[int], predicted: list[int]) -> float:
    """Tau-b from its definition: pairs in the same less pairs in opposite order, over the untied ones."""
    pairs = list(itertools.combinations(zip(true, predicted, strict=True), 2))
    signs = np.array([(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in pairs])
    return (signs[:, 0] * signs[:, 1]).sum() / np.sqrt(np.abs(signs[:, 0]).sum() * np.abs(signs[:, 1]).sum())


@pytest.fixture
def random_labels():
    rng = np.random.default_rng(0)
    return rng.integers(0, 5, 200), rng.integers(0, 5, 200), rng.uniform(0, 3, 200)


@pytest.mark.parametrize("metric", ALL)
def test_values_worked_out_by_hand(metric):
    assert metric(TRUE, PREDICTED) == pytest.approx(BY_HAND[metric], rel=1e-14)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("categories", [GRADES, np.array(GRADES), pl.Series(GRADES)])
def test_categories_turn_labels_into_ranks(metric, categories):
    true, predicted = ([GRADES[rank] for rank in ranks] for ranks in (TRUE, PREDICTED))
    assert metric(true, predicted, categories=categories) == metric(TRUE, PREDICTED)
    assert metric(pd.Series(true), np.array(predicted, dtype=object), categories=categories) == metric(TRUE, PREDICTED)


@pytest.mark.parametrize("metric", ALL)
def test_ordered_dtype_of_the_true_labels_gives_the_categories(metric):
    true, predicted = ([GRADES[rank] for rank in ranks] for ranks in (TRUE, PREDICTED))
    assert metric(pd.Categorical(true, GRADES, ordered=True), predicted) == metric(TRUE, PREDICTED)
    assert metric(pl.Series(true, dtype=pl.Enum(GRADES)), predicted) == metric(TRUE, PREDICTED)


@pytest.mark.parametrize("metric", ALL)
def test_reversing_the_order_changes_nothing(metric):
    assert metric(TRUE, PREDICTED, categories=[2, 1, 0]) == pytest.approx(metric(TRUE, PREDICTED), rel=1e-14)


def test_numbers_without_categories_count_with_their_values():
    true, predicted, seen = [1, 2, 5, 5], [2, 2, 2, 5], [1, 2, 5]
    assert mean_absolute_error(true, predicted) == (1 + 0 + 3 + 0) / 4
    assert mean_absolute_error(true, predicted, categories=seen) == (1 + 0 + 1 + 0) / 4
    assert mean_absolute_error(true, predicted, categories=[1, 2, 3, 4, 5]) == (1 + 0 + 3 + 0) / 4
    assert macro_mean_absolute_error(true, predicted) == (1 + 0 + 1.5) / 3
    assert quadratic_weighted_kappa(true, predicted) == pytest.approx(
        sk.cohen_kappa_score(true, predicted, labels=[1, 2, 3, 4, 5], weights="quadratic"), rel=1e-14
    )
    assert quadratic_weighted_kappa(true, predicted, categories=seen) == pytest.approx(
        sk.cohen_kappa_score(true, predicted, weights="quadratic"), rel=1e-14
    )


def test_agrees_with_scikit_learn_and_scipy(random_labels):
    true, predicted, weight = random_labels
    weighted = {"sample_weight": weight}
    assert mean_absolute_error(true, predicted, **weighted) == sk.mean_absolute_error(true, predicted, **weighted)
    assert mean_zero_one_error(true, predicted, **weighted) == pytest.approx(
        1 - sk.accuracy_score(true, predicted, **weighted), rel=1e-13
    )
    assert quadratic_weighted_kappa(true, predicted, **weighted) == pytest.approx(
        sk.cohen_kappa_score(true, predicted, weights="quadratic", **weighted), rel=1e-10
    )
    assert mean_squared_error(true, predicted, **weighted) == pytest.approx(
        sk.mean_squared_error(true, predicted, **weighted), rel=1e-14
    )
    per_rank = [sk.mean_absolute_error(true[true == k], predicted[true == k]) for k in range(5)]
    assert macro_mean_absolute_error(true, predicted) == pytest.approx(np.mean(per_rank), rel=1e-14)
    assert maximum_mean_absolute_error(true, predicted) == pytest.approx(np.max(per_rank), rel=1e-14)
    assert spearman_rho(true, predicted) == spearmanr(true, predicted).statistic
    assert kendall_tau_b(true, predicted) == kendalltau(true, predicted).statistic
    assert kendall_tau_b(true, predicted) == pytest.approx(count_pairs(true, predicted), rel=1e-12)


@pytest.mark.parametrize("metric", ALL)
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(metric, random_labels):
    true, predicted, _ = random_labels
    times = np.random.default_rng(1).integers(0, 3, len(true))
    repeated = metric(np.repeat(true, times), np.repeat(predicted, times))
    assert metric(true, predicted, sample_weight=times) == pytest.approx(repeated, rel=1e-12)


def test_macro_error_leaves_out_a_rank_without_weight():
    assert macro_mean_absolute_error([0, 1, 2], [1, 1, 0], sample_weight=[1, 1, 0]) == 1 / 2


@pytest.mark.parametrize(
    ("true", "predicted", "kappa", "tau"),
    [
        ([1, 1, 1], [1, 1, 1], 1.0, 0.0),
        ([1, 1, 1], [2, 2, 2], 0.0, 0.0),
        ([0, 1, 2], [1, 1, 1], 0.0, 0.0),
        ([1, 1, 1], [0, 1, 2], 0.0, 0.0),
        ([0, 1, 2], [0, 1, 2], 1.0, 1.0),
        ([0, 1, 2], [2, 1, 0], -1.0, -1.0),
        ([1], [1], 1.0, 0.0),
        ([1, 2], [1, 2], 1.0, 1.0),
    ],
)
def test_degenerate_cases_are_defined_and_silent(true, predicted, kappa, tau):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for categories in (None, [0, 1, 2]):
            assert quadratic_weighted_kappa(true, predicted, categories=categories) == pytest.approx(kappa, abs=1e-15)
            assert kendall_tau_b(true, predicted, categories=categories) == pytest.approx(tau, abs=1e-15)
            assert spearman_rho(true, predicted, categories=categories) == pytest.approx(tau, abs=1e-15)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("true", "predicted", "categories", "message"),
    [
        (
            ["a", "b"],
            ["a", "b"],
            None,
            r"y_true holds labels that are not numbers, such as 'a'; pass categories=",
        ),
        (
            [1, 2],
            ["a", "b"],
            None,
            r"y_pred holds labels that are not numbers, such as 'a'; pass categories=",
        ),
        ([1, 2], [1, 3], [1, 2], r"y_pred contains labels that are not among the categories 1, 2: 3"),
        ([1, 2], [1, np.nan], None, r"y_pred contains missing labels"),
        ([1, 2], [1, 2, 2], None, "inconsistent numbers of samples"),
        ([], [], None, "y_true is empty"),
    ],
)
def test_unusable_labels_are_refused(metric, true, predicted, categories, message):
    with pytest.raises(ValueError, match=message):
        metric(true, predicted, categories=categories)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1], r"shape \(1,\); give one weight per sample: \(2,\)"),
        ([1, -1], "holds negative"),
        ([1, np.inf], "infinite"),
        ([1, np.nan], "NaN"),
        ([0, 0], "only zeros"),
    ],
)
def test_unusable_weights_are_refused(metric, weight, message):
    with pytest.raises(ValueError, match=message):
        metric([1, 2], [1, 2], sample_weight=weight)


class Echo(ClassifierMixin, BaseEstimator):
    """Predicts what the only feature says: the rank, moved by `shift` and kept within the classes."""

    def __init__(self, categories=None, shift=0):
        self.categories = categories
        self.shift = shift

    def fit(self, X, y):
        self.classes_ = np.unique(y) if self.categories is None else np.array(self.categories)
        return self

    def predict(self, X):
        rank = np.clip(np.asarray(X)[:, 0] + self.shift, 0, len(self.classes_) - 1)
        return self.classes_[rank.astype(int)]


class WeightedEcho(Echo):
    """Takes weights, and makes no use of them."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


X = np.array(PREDICTED)[:, np.newaxis]
Y = np.array([GRADES[rank] for rank in TRUE])
ONE_FOLD = PredefinedSplit([0] * 6 + [-1] * 6)  # the first six are the test set
XX, YY = np.vstack([X, X]), np.concatenate([Y, Y])


def test_scorers_by_name():
    names = ["mae", "mze", "mse", "macro_mae", "max_mae", "off_by_one", "kappa", "tau", "spearman"]
    assert list(SCORERS) == names
    assert [scorer.name for scorer in SCORERS.values()] == names
    assert [scorer.metric for scorer in SCORERS.values()] == ALL
    assert {"rps": rps_scorer} == PROBABILITY_SCORERS
    assert repr(mae_scorer) == "OrdinalScorer('mae')"


@pytest.mark.parametrize(("scorer", "metric"), list(zip(SCORERS.values(), ALL, strict=True)))
def test_scorer_is_the_metric_with_greater_as_better(scorer, metric):
    sign = 1 if scorer.greater_is_better else -1
    assert scorer.greater_is_better == (metric in GREATER_IS_BETTER)
    for estimator in (Echo(GRADES), make_pipeline(FunctionTransformer(), Echo(GRADES))):
        assert scorer(estimator.fit(X, Y), X, Y) == sign * metric(TRUE, PREDICTED)


@pytest.mark.parametrize(("scorer", "metric"), list(zip(SCORERS.values(), ALL, strict=True)))
def test_scorer_passes_weights_on(scorer, metric):
    weight = [3, 1, 4, 1, 5, 9]
    expected = metric(TRUE, PREDICTED, sample_weight=weight)
    assert abs(scorer(Echo(GRADES).fit(X, Y), X, Y, sample_weight=weight)) == abs(expected)


WEIGHT = np.array([3.0, 1, 4, 1, 5, 9])


def weighted(name):
    """What a search or cross-validation should find with these weights."""
    sign = 1 if SCORERS[name].greater_is_better else -1
    return sign * SCORERS[name].metric(TRUE, PREDICTED, sample_weight=WEIGHT)


def test_searches_of_scikit_learn_pass_weights_on():
    twice = np.tile(WEIGHT, 2)
    options = {"cv": ONE_FOLD, "error_score": "raise", "refit": "tau"}
    search = GridSearchCV(WeightedEcho(GRADES), {"shift": [0]}, scoring=SCORERS, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(XX, YY, sample_weight=twice)
    for name in SCORERS:
        assert search.cv_results_[f"mean_test_{name}"] == pytest.approx([weighted(name)], rel=1e-14)


def test_weights_by_metadata_routing():
    twice = np.tile(WEIGHT, 2)
    with config_context(enable_metadata_routing=True):
        estimator = WeightedEcho(GRADES).set_fit_request(sample_weight=True)

        def score(scorer, **params):
            options = {"cv": ONE_FOLD, "error_score": "raise"}
            return cross_val_score(estimator, XX, YY, scoring=scorer, params=params, **options)

        for name, scorer in SCORERS.items():
            requesting = scorer.set_score_request(sample_weight=True)
            assert score(requesting, sample_weight=twice) == pytest.approx([weighted(name)], rel=1e-14)
            refuses = scorer.set_score_request(sample_weight=False)
            assert score(refuses, sample_weight=twice) == pytest.approx(
                [scorer(Echo(GRADES).fit(X, Y), X, Y)], rel=1e-14
            )
            with pytest.raises(ValueError, match="not explicitly set as requested or not requested"):
                score(scorer, sample_weight=twice)
        named = SCORERS["tau"].set_score_request(sample_weight="importance")
        found = score(named, importance=twice)
    assert found == pytest.approx([weighted("tau")], rel=1e-14)


@pytest.mark.parametrize("scorer", SCORERS.values())
def test_scorer_survives_pickling(scorer):
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy == scorer
    assert copy(Echo(GRADES).fit(X, Y), X, Y) == scorer(Echo(GRADES).fit(X, Y), X, Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scorers_in_cross_validation(n_jobs):
    estimator = make_pipeline(FunctionTransformer(), Echo(GRADES))
    options = {"cv": ONE_FOLD, "n_jobs": n_jobs, "error_score": "raise"}
    assert cross_val_score(estimator, XX, YY, scoring=mae_scorer, **options) == [-1 / 2]
    scores = cross_validate(estimator, XX, YY, scoring=SCORERS, **options)
    for (name, scorer), metric in zip(SCORERS.items(), ALL, strict=True):
        sign = 1 if scorer.greater_is_better else -1
        assert scores[f"test_{name}"] == pytest.approx([sign * BY_HAND[metric]], rel=1e-14)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scorers_in_a_grid_search(n_jobs):
    grid = {"shift": [1, 0, 2]}
    options = {"cv": ONE_FOLD, "n_jobs": n_jobs, "error_score": "raise"}
    search = GridSearchCV(Echo(GRADES), grid, scoring=SCORERS, refit="mae", **options).fit(XX, YY)
    # predictions with shift 1: 1 2 2 1 2 2, errors 1 2 1 1 0 0; with shift 2: all 2, errors 2 2 1 0 0 0
    np.testing.assert_allclose(search.cv_results_["mean_test_mae"], [-5 / 6, -1 / 2, -5 / 6])
    np.testing.assert_allclose(search.cv_results_["mean_test_mze"], [-4 / 6, -2 / 6, -3 / 6])
    assert search.best_params_ == {"shift": 0}
    assert search.score(X, Y) == -1 / 2
    assert mae_scorer(search, X, Y) == -1 / 2


def test_a_fold_that_lacks_a_rank_keeps_the_distances():
    estimator = Echo([1, 2, 3]).fit(None, None)
    X_fold, y_fold = np.array([[2], [0]]), np.array([1, 1])  # predicts 3 and 1; rank 2 does not occur
    assert mae_scorer(estimator, X_fold, y_fold) == -1.0


def test_a_number_the_estimator_has_not_seen_finds_its_place():
    estimator = Echo([1, 2, 4]).fit(None, None)
    X_fold, y_fold = (
        np.array([[1], [2]]),
        np.array([4, 3]),
    )  # predicts 2 and 4; 2 and 4 are now two ranks apart
    assert mae_scorer(estimator, X_fold, y_fold) == -(2 + 1) / 2


def test_a_string_the_estimator_has_not_seen_is_an_error():
    with pytest.raises(ValueError, match=r"y_true contains labels that are not among the categories .*: 'great'"):
        mae_scorer(Echo(GRADES).fit(X, Y), X[:1], ["great"])


def test_an_estimator_without_classes_is_an_error():
    with pytest.raises(TypeError, match=r"'mae' takes the order .* which LinearRegression lacks"):
        mae_scorer(LinearRegression().fit(X, TRUE), X, TRUE)


def test_a_scorer_from_any_metric():
    worst = OrdinalScorer(lambda y_true, y_pred, *, categories: 7.0, greater_is_better=False, name="worst")
    assert worst(Echo(GRADES).fit(X, Y), X, Y) == -7.0


# Costs

COST = np.array([[0, 1, 2], [3, 0, 1], [7, 3, 0]])
MIXED = pd.DataFrame(COST, GRADES, GRADES).loc[["good", "poor", "fair"], ["fair", "good", "poor"]]


@pytest.mark.parametrize("cost", [COST, COST.tolist(), MIXED])
def test_the_mean_cost_by_hand(cost):
    named, weight = [GRADES[rank] for rank in PREDICTED], [1, 3, 1, 2, 1, 0]
    for weights, expected in ((None, (1 + 7) / 6), (weight, (3 * 1 + 2 * 7) / 8)):
        found = mean_cost(Y, named, cost, categories=GRADES, sample_weight=weights)
        assert found == pytest.approx(expected, rel=1e-14)
    ordered = pd.Categorical(Y, GRADES, ordered=True)
    assert mean_cost(ordered, named, cost) == pytest.approx(8 / 6, rel=1e-14)


def test_the_mean_cost_takes_labels_from_the_frame_or_ranks():
    assert mean_cost(Y, [GRADES[rank] for rank in PREDICTED], MIXED) == pytest.approx(8 / 6, rel=1e-14)
    assert mean_cost(TRUE, PREDICTED, COST) == pytest.approx(8 / 6, rel=1e-14)
    distance = np.abs(np.subtract.outer(range(3), range(3)))
    assert mean_cost(TRUE, PREDICTED, distance) == mean_absolute_error(TRUE, PREDICTED)


@pytest.mark.parametrize("cost", [COST, MIXED])
def test_the_scorer_of_a_cost(cost):
    scorer = cost_scorer(cost)
    fitted = Echo(GRADES).fit(X, Y)
    assert scorer(fitted, X, Y) == pytest.approx(-8 / 6, rel=1e-14)
    assert pickle.loads(pickle.dumps(scorer))(fitted, X, Y) == scorer(fitted, X, Y)
    assert cross_val_score(Echo(GRADES), XX, YY, cv=ONE_FOLD, scoring=scorer) == pytest.approx([-8 / 6])
    search = OrdinalSearchCV(Echo(GRADES), {"shift": [1, 0, 2]}, cv=ONE_FOLD, scoring=scorer).fit(XX, YY)
    # predictions with shift 1: 1 2 2 1 2 2, with shift 2: all 2
    expected = [-(1 + 2 + 1 + 3) / 6, -8 / 6, -(2 + 2 + 1) / 6]
    assert search.cv_results_["mean_test_score"] == pytest.approx(expected)
    assert search.best_params_ == {"shift": 2}


def test_a_labelled_cost_does_where_a_fold_lacks_a_rank():
    fitted = Echo(["poor", "good"]).fit(None, None)
    assert cost_scorer(MIXED)(fitted, np.array([[0], [1]]), ["good", "good"]) == -3.5
    with pytest.raises(ValueError, match=r"shape \(3, 3\), but y has 2 ranks"):
        cost_scorer(COST)(fitted, np.array([[0], [1]]), ["good", "good"])


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (COST[:2], r"shape \(2, 3\), but y has 2 ranks: give a 2 × 2 matrix"),
        (-COST, "finite numbers that are not negative"),
        ("absolute", "cost must hold numbers only, but is 'absolute'"),
    ],
)
def test_a_scorer_of_what_is_no_cost_is_refused(cost, message):
    with pytest.raises(ValueError, match=message):
        cost_scorer(cost)


# Probabilities

THREE = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.0, 0.0, 1.0]]


def test_ranked_probability_score_by_hand():
    # true ranks 0, 2, 1: cumulated 0.5 0.8 against 1 1, 0.1 0.7 against 0 0, 0 0 against 0 1
    expected = ((0.25 + 0.04) + (0.01 + 0.49) + (0.0 + 1.0)) / 3
    for true, categories in [([0, 2, 1], None), (["poor", "good", "fair"], GRADES)]:
        assert ranked_probability_score(true, THREE, categories=categories) == pytest.approx(expected, rel=1e-14)
    ordered = pd.Categorical(["poor", "good", "fair"], GRADES, ordered=True)
    assert ranked_probability_score(ordered, THREE) == pytest.approx(expected, rel=1e-14)


def test_ranked_probability_score_of_sure_predictions_is_the_absolute_error(random_labels):
    true, predicted, weight = random_labels
    for weighted in ({}, {"sample_weight": weight}):
        score = ranked_probability_score(true, np.eye(5)[predicted], **weighted)
        assert score == pytest.approx(mean_absolute_error(true, predicted, **weighted), rel=1e-13)


def test_the_true_probabilities_have_the_best_expected_score():
    truth, rng = np.array([0.2, 0.5, 0.1, 0.2]), np.random.default_rng(0)

    def expected(probability):
        every_rank = np.tile(probability, (4, 1))
        return ranked_probability_score([0, 1, 2, 3], every_rank, sample_weight=truth)

    assert all(expected(truth) < expected(other) for other in rng.dirichlet(np.ones(4), size=50))


@pytest.mark.parametrize(
    ("true", "probability", "categories", "message"),
    [
        ([0, 1], [[1.0, 0.0]], None, r"shape \(1, 2\); give a row for every sample .* \(2, 2\)"),
        ([0, 1], np.eye(3)[:2], None, "list all labels in categories"),
        ([0, 1], [[0.5, 0.4], [0.5, 0.5]], None, "add up to 1"),
        ([0, 1], [[1.5, -0.5], [0.5, 0.5]], None, "at least 0"),
        ([0, 1], [[np.nan, 1.0], [0.5, 0.5]], None, "no probabilities"),
        (["a", "b"], np.eye(2), None, "y_true holds labels that are not numbers"),
        ([0, 3], np.eye(2), [0, 1], "y_true contains labels that are not among the categories"),
    ],
)
def test_unusable_probabilities_are_refused(true, probability, categories, message):
    with pytest.raises(ValueError, match=message):
        ranked_probability_score(true, probability, categories=categories)


class Unsure(Echo):
    """Half sure of what Echo says; the other half is spread evenly over all classes."""

    def predict_proba(self, X):
        n = len(self.classes_)
        own = np.searchsorted(self.classes_, self.predict(X))
        return np.eye(n)[own] / 2 + 1 / (2 * n)


def test_probability_scorer():
    fitted = Unsure().fit(X, TRUE)
    assert rps_scorer(fitted, X, TRUE) == -ranked_probability_score(TRUE, fitted.predict_proba(X))
    assert pickle.loads(pickle.dumps(rps_scorer)) == rps_scorer
    with pytest.raises(TypeError, match=r"'rps' takes probabilities, which Echo does not give: wrap it"):
        rps_scorer(Echo().fit(X, TRUE), X, TRUE)


def test_a_number_without_a_probability_has_probability_zero():
    fitted = Unsure([1, 3]).fit(None, None)
    # predicts 1 and 3 with 3/4, 1/4 and 1/4, 3/4; the true labels are 2 and 3, so that there are ranks 1, 2, 3
    expected = ranked_probability_score([2, 3], [[0.75, 0.0, 0.25], [0.25, 0.0, 0.75]], categories=[1, 2, 3])
    assert rps_scorer(fitted, np.array([[0], [1]]), [2, 3]) == -expected
