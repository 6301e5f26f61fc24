"""RoundedRegressor is its regressor on the ranks, then the nearest rank."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordsvm.estimators.rounded import RoundedRegressor

GRADES = ["poor", "fair", "good", "great"]  # not the alphabet's order


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    ranks = np.digitize(X @ [1.0, 2.0, -1.0] + rng.normal(size=60), [-2.0, 0.0, 2.0])
    return X, ranks


class FirstFeature(RegressorMixin, BaseEstimator):
    """A regressor that predicts the first feature and remembers what it was fitted to."""

    def fit(self, X, y):
        self.target_ = y
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


ONE_SCORE = "decision_function is one number a sample on the scale of the ranks: not one column a class"
SVR_DEFAULTS = (
    "fails for scikit-learn's SVR() too: gamma='scale' looks at the rows without their weights, "
    "and tol=1e-3 is coarser than the comparison"
)


def expected_failed_checks(estimator: RoundedRegressor) -> dict[str, str]:
    failing = {"check_classifiers_train": ONE_SCORE, "check_classifiers_classes": ONE_SCORE}
    if estimator.regressor is None:
        failing["check_sample_weight_equivalence_on_dense_data"] = SVR_DEFAULTS
        failing["check_sample_weight_equivalence_on_sparse_data"] = SVR_DEFAULTS
    return failing


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning")
@parametrize_with_checks(
    [RoundedRegressor(), RoundedRegressor(SVR(gamma=0.3, tol=1e-12)), RoundedRegressor(Ridge())],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_rounds_to_the_nearest_rank_half_way_up_and_stays_within_the_ranks():
    model = RoundedRegressor(FirstFeature()).fit(np.zeros((4, 1)), [10, 20, 30, 40])
    below_half = np.nextafter(0.5, 0)  # adding 1/2 to it gives 1 in floating point; it must not round up
    score = np.array([-7.0, -0.5, 0.0, below_half, 0.5, 1.49, 1.5, 2.5, 3.0, 3.5, 99.0])
    np.testing.assert_array_equal(model.decision_function(score[:, np.newaxis]), score)
    expected = [10, 10, 10, 10, 20, 20, 30, 40, 40, 40, 40]
    np.testing.assert_array_equal(model.predict(score[:, np.newaxis]), expected)
    np.testing.assert_array_equal(model.thresholds_, [0.5, 1.5, 2.5])


def test_regressor_sees_the_ranks_as_floats():
    model = RoundedRegressor(FirstFeature(), categories=GRADES)
    model.fit(np.zeros((3, 1)), ["great", "poor", "fair"])
    np.testing.assert_array_equal(model.regressor_.target_, [3.0, 0.0, 1.0])
    assert model.regressor_.target_.dtype == np.float64
    assert model.classes_.tolist() == GRADES


@pytest.mark.parametrize("regressor", [SVR(C=3.0), Ridge(), KNeighborsRegressor(n_neighbors=4)])
def test_is_the_regressor_on_the_ranks(data, regressor):
    X, ranks = data
    model = RoundedRegressor(regressor, categories=GRADES).fit(X, np.take(GRADES, ranks))
    raw = clone(regressor).fit(X, ranks.astype(float)).predict(X)
    np.testing.assert_array_equal(model.decision_function(X), raw)
    nearest = 3 - np.abs(raw[:, np.newaxis] - [3, 2, 1, 0]).argmin(axis=1)  # the higher of two equally near
    np.testing.assert_array_equal(model.predict(X), np.take(GRADES, nearest))


def test_default_is_an_svr(data):
    X, ranks = data
    model = RoundedRegressor().fit(X, ranks)
    assert isinstance(model.regressor_, SVR)
    np.testing.assert_array_equal(model.decision_function(X), SVR().fit(X, ranks).predict(X))


def test_given_regressor_is_left_alone(data):
    regressor = Ridge()
    model = RoundedRegressor(regressor).fit(*data)
    assert model.regressor is regressor
    assert model.regressor_ is not regressor
    assert not hasattr(regressor, "coef_")


def test_reversing_the_order_mirrors_a_linear_score(data):
    X, ranks = data
    up = RoundedRegressor(LinearRegression(), categories=[0, 1, 2, 3]).fit(X, ranks)
    down = RoundedRegressor(LinearRegression(), categories=[3, 2, 1, 0]).fit(X, ranks)
    np.testing.assert_allclose(down.decision_function(X), 3 - up.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(down.predict(X), up.predict(X))


def test_weight_two_is_the_row_twice_and_weight_zero_no_row(data):
    X, ranks = data
    times = np.arange(len(ranks)) % 3
    weighted = RoundedRegressor(Ridge()).fit(X, ranks, sample_weight=times)
    repeated = RoundedRegressor(Ridge()).fit(np.repeat(X, times, axis=0), np.repeat(ranks, times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-12)


def test_weights_need_a_regressor_that_takes_them(data):
    X, ranks = data
    with pytest.raises(TypeError, match=r"KNeighborsRegressor\.fit takes none; leave it out or choose"):
        RoundedRegressor(KNeighborsRegressor()).fit(X, ranks, sample_weight=np.ones(60))


def test_rank_missing_from_y_keeps_its_place():
    X, y = np.array([[0.0], [1.0], [3.0]]), ["poor", "fair", "great"]
    for labels, categories in ((y, GRADES), (pd.Categorical(y, GRADES, ordered=True), None)):
        model = RoundedRegressor(LinearRegression(), categories=categories).fit(X, labels)
        np.testing.assert_allclose(model.decision_function([[2.0]]), [2.0])
        assert model.predict([[2.0]]).tolist() == ["good"]


def test_data_frames_reach_the_regressor_as_they_are():
    frame = pd.DataFrame({"size": ["S", "M", "L", "S", "M", "L"], "colour": list("rgbgbr")})
    model = RoundedRegressor(make_pipeline(OneHotEncoder(), LinearRegression())).fit(frame, [1, 2, 3, 1, 2, 3])
    assert model.predict(frame).tolist() == [1, 2, 3, 1, 2, 3]
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["colour", "size"]])


def test_precomputed_kernel_is_sliced_on_both_sides(data):
    X, ranks = data
    plain = cross_val_predict(RoundedRegressor(SVR(kernel="linear")), X, ranks, cv=3)
    precomputed = cross_val_predict(RoundedRegressor(SVR(kernel="precomputed")), X @ X.T, ranks, cv=3)
    np.testing.assert_array_equal(precomputed, plain)


def test_tags_follow_the_regressor():
    assert is_classifier(RoundedRegressor())
    assert get_tags(RoundedRegressor(SVR(kernel="precomputed"))).input_tags.pairwise
    assert get_tags(RoundedRegressor()).input_tags.sparse
    assert not get_tags(RoundedRegressor(FirstFeature())).input_tags.sparse


def test_parameters_of_the_regressor_can_be_searched(data):
    X, ranks = data
    model = RoundedRegressor(make_pipeline(StandardScaler(), Ridge()))
    search = GridSearchCV(model, {"regressor__ridge__alpha": [0.1, 10.0]}, cv=3).fit(X, ranks)
    assert search.best_estimator_.regressor_[-1].alpha == search.best_params_["regressor__ridge__alpha"]


def test_prediction_that_is_not_a_number_is_refused():
    model = RoundedRegressor(FirstFeature()).fit(np.zeros((2, 1)), [1, 2])
    with pytest.raises(ValueError, match="regressor's prediction contains NaN"):
        model.predict([[np.nan]])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 1)), [1, 2], "inconsistent numbers of samples"),
        (
            np.zeros((2, 1)),
            [1, 1],
            "RoundedRegressor needs at least two classes; y contains only one class: 1",
        ),
    ],
)
def test_unusable_input_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        RoundedRegressor().fit(X, y)
