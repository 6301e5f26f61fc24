"""CalibratedOrdinal: its maps against oracles, its sets against their definition, and what holds whatever the data."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordsvm import NPSVOR, SVC, SVOR, CalibratedOrdinal, LinearNPSVOR, LinearSVOR, RoundedRegressor
from ordsvm.calibration.conformal import Conformal, depths, middle_ranks
from ordsvm.calibration.maps import MAPS, IsotonicThresholds, OrderedLogistic, smoothed
from tests.cases import random_data

every_method = pytest.mark.parametrize("method", MAPS)


def scores_and_ranks(seed: int, n: int = 200, n_ranks: int = 4, slope: float = 1.5):
    """Ranks drawn from an ordered logistic, with scores of any scale."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    cuts = np.linspace(-2, 2, n_ranks - 1) if n_ranks > 2 else np.array([0.3])
    codes = (rng.random(n)[:, None] > expit(cuts - slope * z[:, None])).sum(axis=1)
    return 7 + 3 * z, codes, rng.uniform(0.5, 2, n)


# The maps


@every_method
def test_medians_are_where_the_middle_rank_changes(method):
    score, codes, weight = scores_and_ranks(3)
    found = MAPS[method](score, codes, 4, weight)
    medians = found.medians()
    grid = np.linspace(score.min() - 5, score.max() + 5, 5001)
    np.testing.assert_array_equal(middle_ranks(found.cumulative(grid)), (grid[:, None] > medians).sum(axis=1))
    flat = MAPS[method](-score, codes, 4, weight)  # scores that rank the wrong way round
    middle = middle_ranks(flat.cumulative(grid))
    np.testing.assert_array_equal(middle, (grid[:, None] > flat.medians()).sum(axis=1))
    assert len(np.unique(middle)) == 1


@pytest.mark.parametrize("n_ranks", [2, 3, 6])
def test_ordered_logistic_is_the_maximum_of_the_likelihood(n_ranks):
    score, codes, weight = scores_and_ranks(0, n_ranks=n_ranks)
    fitted = OrderedLogistic.fit(score, codes, n_ranks, weight)
    target = smoothed(codes, n_ranks, weight)

    def minus_likelihood(point):
        below = expit(point[:-1] - point[-1] * (score - fitted.centre)[:, None])
        probability = np.diff(np.column_stack([np.zeros(len(score)), below, np.ones(len(score))]), axis=1)
        return -np.sum(weight[:, None] * target * np.log(probability)) if probability.min() > 0 else np.inf

    found = np.append(fitted.theta, fitted.slope)
    optimum = minimize(
        minus_likelihood, found + 0.01, method="Nelder-Mead", options={"maxiter": 20_000, "fatol": 1e-12}
    )
    assert minus_likelihood(found) <= optimum.fun + 1e-9 * abs(optimum.fun)
    np.testing.assert_allclose(found, optimum.x, atol=2e-3)


def test_ordered_logistic_with_two_ranks_is_logistic_regression():
    score, codes, weight = scores_and_ranks(1, n_ranks=2)
    fitted = OrderedLogistic.fit(score, codes, 2, weight)
    target = smoothed(codes, 2, weight)
    twice = np.tile(score[:, None], (2, 1))
    labels, shares = np.repeat([0, 1], len(score)), (weight[:, None] * target).T.ravel()
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(twice, labels, shares)
    assert fitted.slope == pytest.approx(oracle.coef_[0, 0], rel=1e-5)
    np.testing.assert_allclose(
        fitted.cumulative(score), np.cumsum(oracle.predict_proba(score[:, None]), axis=1), atol=1e-6
    )


def test_isotonic_thresholds_are_in_order_by_themselves():
    for seed in range(20):
        score, codes, weight = scores_and_ranks(seed, n=60, slope=0.5)
        fitted = IsotonicThresholds.fit(np.round(score), codes, 4, weight)
        points = np.linspace(-5, 20, 200)
        above = np.column_stack([question.predict(points) for question in fitted.questions])
        assert np.diff(above, axis=1).max() <= 1e-12


@every_method
@pytest.mark.parametrize("case", ["plain", "separable", "missing rank", "reversed", "one score"])
def test_probabilities_are_monotone_and_never_certain(method, case):
    score, codes, weight = scores_and_ranks(3, n=80)
    if case == "separable":
        score = 10.0 * codes
    if case == "missing rank":
        codes = np.where(codes == 2, 3, codes)
    if case == "reversed":
        score = -score
    if case == "one score":
        score = np.ones(len(codes))
    fitted = MAPS[method](score, codes, 4, weight)
    cumulative = fitted.cumulative(np.linspace(score.min() - 1, score.max() + 1, 300))
    assert np.all(np.diff(cumulative, axis=1) > 0)
    assert np.all(cumulative[:, 0] > 0)
    assert np.all(cumulative[:, -1] == 1)
    assert np.diff(cumulative, axis=0).max() <= 1e-12
    if case in ("reversed", "one score"):  # nothing can be learned but how frequent the ranks are
        share = np.cumsum(weight @ smoothed(codes, 4, weight)) / weight.sum()
        np.testing.assert_allclose(cumulative, np.tile(share, (300, 1)), atol=1e-9)


@every_method
def test_weight_two_is_the_sample_twice(method):
    score, codes, _ = scores_and_ranks(4)
    times = np.random.default_rng(0).integers(1, 4, len(codes))
    weighted = MAPS[method](score, codes, 4, times.astype(float))
    repeated = MAPS[method](np.repeat(score, times), np.repeat(codes, times), 4, np.ones(times.sum()))
    np.testing.assert_allclose(weighted.cumulative(score), repeated.cumulative(score), atol=1e-8)


# The sets


def depth_by_definition(probability):
    """One sample: start at the median, let the more probable neighbour in, note what had been gathered before."""
    n = len(probability)
    low = high = int(np.argmax(np.cumsum(probability) >= 0.5))
    depth = np.zeros(n)
    while (low, high) != (0, n - 1):
        gathered = probability[low : high + 1].sum()
        if low == 0 or (high < n - 1 and probability[high + 1] > probability[low - 1]):
            high += 1
            depth[high] = gathered
        else:
            low -= 1
            depth[low] = gathered
    return depth


def test_depths_by_definition():
    probability = np.random.default_rng(0).dirichlet(np.ones(5), size=100)
    cumulative = np.cumsum(probability, axis=1)
    expected = [depth_by_definition(p) for p in probability]
    np.testing.assert_allclose(depths(cumulative), expected, atol=1e-12)


def test_sets_are_nested_runs_around_the_prediction():
    rng = np.random.default_rng(1)
    cumulative = np.cumsum(rng.dirichlet(np.ones(6), size=300), axis=1)
    conformal = Conformal.fit(cumulative, rng.integers(0, 6, 300), np.ones(300))
    inner_low = inner_high = middle_ranks(cumulative)
    for coverage in (0.05, 0.3, 0.6, 0.9, 0.99):
        low, high = conformal.intervals(cumulative, coverage)
        inside = depths(cumulative) <= conformal.depth_for(coverage)
        np.testing.assert_array_equal(inside.sum(axis=1), high - low + 1)  # no hole
        assert np.all(low <= inner_low)
        assert np.all(high >= inner_high)
        inner_low, inner_high = low, high
    low, high = conformal.intervals(cumulative, 0.9999)  # more than 300 samples can promise
    assert np.all(low == 0)
    assert np.all(high == 5)


@pytest.mark.parametrize("coverage", [0.7, 0.8, 0.9, 0.95])
def test_the_quantile_counts_the_new_sample(coverage):
    rng = np.random.default_rng(2)
    cumulative, codes = np.cumsum(rng.dirichlet(np.ones(4), size=99), axis=1), rng.integers(0, 4, 99)
    conformal = Conformal.fit(cumulative, codes, np.ones(99))
    depth = depths(cumulative)[np.arange(99), codes]
    assert np.sum(depth <= conformal.depth_for(coverage)) == round(100 * coverage)
    repeated = Conformal.fit(np.repeat(cumulative, 2, axis=0), np.repeat(codes, 2), np.ones(198))
    weighted = Conformal.fit(cumulative, codes, np.full(99, 2.0))
    assert weighted.depth_for(coverage) == repeated.depth_for(coverage)


def test_coverage_of_samples_drawn_alike_is_as_promised():
    """Over repeated draws the mean coverage is the promise, within four standard errors."""
    covered = []
    for seed in range(40):
        X, y = random_data(seed, n=500, noise=1.5)
        model = CalibratedOrdinal(RoundedRegressor(Ridge())).fit(X[:200], y[:200])
        low, high = model.predict_set(X[200:], coverage=0.85).T
        covered.append(np.mean((low <= y[200:]) & (y[200:] <= high)))
    assert abs(np.mean(covered) - 0.85) < 4 * np.std(covered) / np.sqrt(40)


# The estimator

ONE_ANSWER = "predict is the middle of the distribution, not its most probable label"
FOLDS = "the folds are drawn from other rows when rows are repeated"


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning", "ignore:The rarest rank:UserWarning")
@parametrize_with_checks(
    [CalibratedOrdinal(RoundedRegressor(Ridge())), CalibratedOrdinal(cv=3, method="isotonic")],
    expected_failed_checks=lambda estimator: {
        "check_classifiers_train": ONE_ANSWER,
        "check_sample_weight_equivalence_on_dense_data": FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": FOLDS,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_method
def test_scores_come_out_of_fold_and_the_machine_from_all_samples(method):
    X, y = random_data(5, n=60)
    model = CalibratedOrdinal(SVOR(gamma=0.3), method=method, cv=4).fit(X, y)
    out_of_fold = np.empty(60)
    for train, test in StratifiedKFold(4).split(X, y):
        fold = SVOR(gamma=0.3).fit(X[train], y[train])
        out_of_fold[test] = fold.decision_function(X[test]) - fold.thresholds_[1]  # the middle one
    by_hand = MAPS[method](out_of_fold, y, 4, np.ones(60))
    whole = SVOR(gamma=0.3).fit(X, y)
    score = whole.decision_function(X) - whole.thresholds_[1]
    np.testing.assert_allclose(model.predict_cumproba(X), by_hand.cumulative(score), atol=1e-12)
    np.testing.assert_allclose(np.cumsum(model.predict_proba(X), axis=1), model.predict_cumproba(X), atol=1e-12)


def test_a_trained_machine_is_left_alone():
    X, y = random_data(6, n=90)
    machine = SVOR(gamma=0.3).fit(X[:50], y[:50])
    before = pickle.dumps(machine)
    prefit = CalibratedOrdinal(machine, cv="prefit").fit(X[50:], y[50:])
    frozen = CalibratedOrdinal(FrozenEstimator(machine)).fit(X[50:], y[50:])
    score = machine.decision_function(X[50:]) - machine.thresholds_[1]
    by_hand = OrderedLogistic.fit(score, y[50:], 4, np.ones(40))
    for model in (prefit, frozen):
        np.testing.assert_allclose(model.map_.theta, by_hand.theta, atol=1e-12)
    np.testing.assert_array_equal(prefit.predict_set(X), frozen.predict_set(X))
    assert pickle.dumps(machine) == before


def test_a_fit_that_fails_leaves_the_old_model(monkeypatch):
    X, y = random_data(6, n=90)
    model = CalibratedOrdinal(SVOR(gamma=0.3)).fit(X, y)
    before = vars(model).copy()
    monkeypatch.setattr(Conformal, "fit", lambda *of: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(X[:, :1], y)
    assert vars(model) == before


def test_it_does_not_matter_where_a_score_begins():
    """With free thresholds and a wide kernel the scores of two folds may be far apart, and so are the thresholds."""

    class Elsewhere(RoundedRegressor):
        """Its scores and thresholds begin at a place that depends on the training samples alone."""

        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.start_ = 1000 * np.abs(X).sum()
            self.thresholds_ = self.thresholds_ + self.start_
            return self

        def decision_function(self, X):
            return super().decision_function(X) + self.start_

    X, y = random_data(15, n=90)
    plain = CalibratedOrdinal(RoundedRegressor(Ridge())).fit(X, y)
    moved = CalibratedOrdinal(Elsewhere(Ridge())).fit(X, y)
    np.testing.assert_allclose(moved.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(moved.predict_set(X), plain.predict_set(X))


def test_labels_of_any_kind_come_back():
    X, y = random_data(7, n=60)
    names = np.array(["poor", "fair", "good", "great"])
    plain = CalibratedOrdinal(SVOR(gamma=0.3)).fit(X, y)
    ordered = CalibratedOrdinal(SVOR(gamma=0.3)).fit(X, pd.Categorical(names[y], names, ordered=True))
    listed = CalibratedOrdinal(SVOR(gamma=0.3, categories=names)).fit(X, names[y])
    for model in (ordered, listed):
        np.testing.assert_array_equal(model.predict(X), names[plain.predict(X)])
        np.testing.assert_array_equal(model.predict_set(X, 0.8), names[plain.predict_set(X, 0.8)])


def test_weight_zero_is_no_sample():
    X, y = random_data(8, n=60)
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    weight[::7] = 0.0
    kept = weight > 0
    whole = CalibratedOrdinal(SVOR(gamma=0.3)).fit(X, y, weight)
    part = CalibratedOrdinal(SVOR(gamma=0.3)).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))
    np.testing.assert_array_equal(whole.predict_set(X), part.predict_set(X))


def test_a_precomputed_kernel_is_cut_in_both_directions():
    X, y = random_data(9, n=60)
    K, weight = rbf_kernel(X, gamma=0.3), np.where(np.arange(60) % 5 == 0, 0.0, 1.0)
    for given in (None, weight):
        weighted = slice(None) if given is None else given > 0
        plain = CalibratedOrdinal(SVOR(gamma=0.3, tol=1e-8)).fit(X, y, given)
        matrix = CalibratedOrdinal(SVOR(kernel="precomputed", tol=1e-8)).fit(K, y, given)
        np.testing.assert_allclose(plain.predict_proba(X), matrix.predict_proba(K[:, weighted]), atol=1e-5)


@pytest.mark.parametrize("machine", [NPSVOR(gamma=0.3), LinearNPSVOR(), LinearSVOR()])
def test_machines_of_all_kinds_alone_in_pipelines_and_in_searches(machine):
    X, y = random_data(10, n=60)
    X = StandardScaler().fit_transform(X)
    alone = CalibratedOrdinal(clone(machine), cv=3).fit(X, y).predict_proba(X)
    search = GridSearchCV(machine, {"C": [machine.C]}, cv=2)
    for wrapped in (make_pipeline(StandardScaler(), machine), make_pipeline(machine), search):
        assert CalibratedOrdinal(wrapped, cv=3).fit(X, y).predict_proba(X).shape == alone.shape
    found = CalibratedOrdinal(search, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, alone, atol=1e-6)


def test_binary_classifiers_have_a_score_too():
    X, y = random_data(11, n=60, n_ranks=2)
    probability = CalibratedOrdinal(SVC(gamma=0.3)).fit(X, y).predict_proba(X)
    assert probability.shape == (60, 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)


def test_folds_side_by_side_change_nothing():
    X, y = random_data(12, n=60)
    alone = CalibratedOrdinal(SVOR(gamma=0.3), cv=3).fit(X, y)
    with parallel_config("threading"):
        together = CalibratedOrdinal(SVOR(gamma=0.3), cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.predict_proba(X), together.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"method": "sigmoid"}, ValueError, r"method='sigmoid' is unknown: give 'logistic' or 'isotonic'"),
        ({"cv": "fit"}, ValueError, r"cv='fit' is unknown: give 'prefit'"),
        ({"cv": ShuffleSplit(3)}, ValueError, "does not put every sample into one test fold"),
        ({"estimator": NPSVOR(), "cv": "prefit"}, NotFittedError, "not fitted yet"),
        (
            {"estimator": DecisionTreeClassifier()},
            TypeError,
            "one score a sample, which DecisionTreeClassifier does not",
        ),
        ({"estimator": SVC()}, TypeError, "one score a sample, which SVC does not give"),
    ],
)
def test_what_cannot_be_calibrated_gets_a_sentence(parameters, error, message):
    X, y = random_data(13)
    with pytest.raises(error, match=message):
        CalibratedOrdinal(**parameters).fit(X, y)


def test_weights_for_an_estimator_that_takes_none_and_a_bad_coverage():
    X, y = random_data(14)
    with pytest.raises(TypeError, match=r"KNeighborsRegressor\.fit takes none"):
        CalibratedOrdinal(make_pipeline(RoundedRegressor(KNeighborsRegressor()))).fit(X, y, np.ones(30))
    fitted = CalibratedOrdinal().fit(X, y)
    for coverage in (0, 1, 1.5, "much", None):
        with pytest.raises(ValueError, match=r"coverage=.* is not valid: give a number above 0 and below 1"):
            fitted.predict_set(X, coverage)


def test_few_samples_get_a_sentence_with_a_remedy():
    X, _ = random_data(13, n=12)
    y = np.repeat([0, 1, 2], 4)
    with pytest.raises(ValueError, match=r"5 folds, and no rank has more than 4 of the 12 .*: give more, or .* cv=4"):
        CalibratedOrdinal(SVOR()).fit(X, y)
    with pytest.raises(ValueError, match=r"no rank has more than 1 of the 3 samples: give more.$"):
        CalibratedOrdinal(SVOR()).fit(X[:3], [0, 1, 2])
    with pytest.raises(ValueError, match=r"no rank has more than 4 of the 12 samples: give more.$"):
        CalibratedOrdinal(SVOR().fit(X, y), cv="prefit").fit(X, y)
    with pytest.warns(UserWarning, match=r"The rarest rank has 2 of the 12 .* join it .*, or fewer") as caught:
        CalibratedOrdinal(SVOR(C=10)).fit(X, np.repeat([0, 1, 2], [5, 5, 2]))
    assert not any("least populated" in str(each.message) for each in caught)
