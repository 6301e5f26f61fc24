"""Conventions of OrdinalSearchCV: objects in grids, weights, scorers, refits, and searches that end early."""

import warnings

import numpy as np
import pytest
from joblib import parallel_backend
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ordsvm import SVOR, SVR, CalibratedOrdinal, LinearSVOR, NystroemSVOR, OrdinalSearchCV, RoundedRegressor
from ordsvm.kernels import full_kernel
from ordsvm.metrics import mae_scorer
from ordsvm.tables import TableModel
from tests.cases import random_data

X, Y = random_data(0, n=60, noise=2.0)
TIGHT = {"tol": 1e-8, "gamma": 0.1}
GRID = {"C": [0.5, 5.0]}
WEIGHT = np.random.default_rng(0).uniform(0.2, 3.0, len(Y))
TABLE = ("split0_test_score", "split1_test_score", "split2_test_score", "mean_test_score")


def both(estimator, grid, fit=None, scoring=mae_scorer, **options):
    """The tables of this search and of GridSearchCV."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            search(clone(estimator), grid, **{"scoring": scoring, "cv": 3, "refit": False} | options)
            .fit(X, Y, **(fit or {}))
            .cv_results_
            for search in (OrdinalSearchCV, GridSearchCV)
        ]


def assert_same(tables, columns=TABLE):
    for column in columns:
        np.testing.assert_allclose(tables[0][column], tables[1][column], atol=1e-9, err_msg=column)


# Objects in a grid


def test_a_grid_may_be_used_again():
    """A search trained the scaler of the grid, and the next search with that grid changed the first one's scores."""
    pipe, scaler = make_pipeline(MinMaxScaler(), SVOR(**TIGHT)), StandardScaler()
    grid = {"minmaxscaler": [scaler], "svor__C": [1.0]}
    first = OrdinalSearchCV(pipe, grid, cv=3).fit(X, Y)
    before = first.decision_function(X)
    assert first.cv_results_["params"][0]["minmaxscaler"] is scaler
    assert first.best_params_["minmaxscaler"] is scaler
    OrdinalSearchCV(pipe, grid, cv=3).fit(7.0 * X + 3.0, Y)
    np.testing.assert_array_equal(first.decision_function(X), before)
    assert not hasattr(scaler, "mean_")
    model = SVOR(C=7.0, **TIGHT)
    table = OrdinalSearchCV(pipe, {"svor": [model], "svor__C": [1.0, 2.0]}, cv=3).fit(X, Y).cv_results_
    assert model.C == 7.0
    assert [chosen["svor__C"] for chosen in table["params"]] == [1.0, 2.0]


@pytest.mark.parametrize("method", ["exhaustive", "pruned"])
def test_threads_share_no_object_of_a_grid(method):
    pipe = make_pipeline(MinMaxScaler(), SVOR(**TIGHT))
    grid = {"minmaxscaler": [StandardScaler()], "svor__C": [0.5, 1.0, 10.0]}
    folds = KFold(6)
    with parallel_backend("threading"):
        ours = OrdinalSearchCV(pipe, grid, cv=folds, n_jobs=4, method=method, refit=False).fit(X * Y[:, None], Y)
    theirs = GridSearchCV(pipe, grid, cv=folds, scoring=mae_scorer, refit=False).fit(X * Y[:, None], Y)
    splits = [f"split{fold}_test_score" for fold in range(6)]
    ours, theirs = (np.array([each.cv_results_[split] for split in splits]) for each in (ours, theirs))
    known = ~np.isnan(ours)
    np.testing.assert_allclose(ours[known], theirs[known])
    assert known.all() or method == "pruned"


@pytest.mark.parametrize("in_grid", [True, False])
def test_every_fit_starts_from_the_same_random_state(in_grid):
    state = np.random.RandomState(0)
    model = NystroemSVOR(n_landmarks=5, tol=1e-8, random_state=None if in_grid else state)
    tables = both(model, GRID | ({"random_state": [state]} if in_grid else {}))
    assert_same(tables)
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)


# Steps before the machine


class Counted(StandardScaler):
    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_steps_are_fitted_and_kernel_values_computed_once_a_fold(monkeypatch):
    sizes = []
    made = full_kernel.full_kernel
    monkeypatch.setattr(full_kernel, "full_kernel", lambda kernel, X, n: sizes.append(len(X)) or made(kernel, X, n))
    Counted.fits = 0
    pipe = make_pipeline(Counted(), SVOR(gamma=0.1))
    grid = {"svor__C": [0.1, 1.0, 10.0], "svor__cost": ["absolute", "squared"]}
    OrdinalSearchCV(pipe, grid, cv=3, refit=False, return_train_score=True).fit(X, Y)
    assert Counted.fits == 3
    assert sizes == [len(X)] * 3


class Doubled(BaseEstimator):
    """A sampler: it has `fit_resample`, and neither `transform` nor `fit_transform`."""

    def fit(self, X, y):
        return self

    def fit_resample(self, X, y):
        rare = np.flatnonzero(y == y.max())
        return np.vstack([X, X[rare]]), np.concatenate([y, y[rare]])


class SamplingPipeline(Pipeline):
    """A pipeline whose first step may resample those that it is trained on, as imbalanced-learn's does."""

    def fit(self, X, y):
        for _, step in self.steps[:-1]:
            X, y = step.fit_resample(X, y)
        self.steps[-1][1].fit(X, y)
        return self

    def predict(self, X):
        return self.steps[-1][1].predict(X)


def test_pipelines_that_resample():
    pipe = SamplingPipeline([("sampler", Doubled()), ("svor", SVOR(**TIGHT))])
    tables = both(pipe, {"svor__C": [0.5, 5.0]}, scoring=make_scorer(lambda true, found: -abs(true - found).mean()))
    assert_same(tables)
    plain = both(make_pipeline(SVOR(**TIGHT)), {"svor__C": [0.5, 5.0]})
    assert (plain[0]["mean_test_score"] != tables[0]["mean_test_score"]).any()


class Scaled(SVOR):
    """A machine of a user, which does more in `fit` and `predict` than the one it is derived from; returns nothing."""

    def fit(self, X, y, sample_weight=None):
        self.scale_ = X.std(axis=0) / [1.0, 5.0, 0.2]
        super().fit(X / self.scale_, y, sample_weight)

    def predict(self, X):
        return super().predict(X / self.scale_)


def test_derived_machines_are_trained_by_their_own_fit():
    tables = both(Scaled(**TIGHT), GRID)
    assert_same(tables)
    assert (both(SVOR(**TIGHT), GRID)[0]["mean_test_score"] != tables[0]["mean_test_score"]).any()


class SaysNothing(ClassifierMixin, BaseEstimator):
    def __init__(self, label=0):
        self.label = label

    def fit(self, X, y):
        self.classes_ = np.unique(y)

    def predict(self, X):
        return np.full(len(X), self.label)


def test_an_estimator_whose_fit_returns_nothing():
    search = OrdinalSearchCV(SaysNothing(), {"label": [0, 1]}, cv=3).fit(X, Y)
    assert isinstance(search.best_estimator_, SaysNothing)
    assert_same(both(SaysNothing(), {"label": [0, 1]}))


class FailsOn(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        if X.max() == X_WITH_BAD.max():
            raise RuntimeError("a bad value")
        return self

    def transform(self, X):
        return X


X_WITH_BAD = np.where(np.arange(X.size).reshape(X.shape) == 0, 50.0, X)


@pytest.mark.parametrize("method", ["exhaustive", "pruned", "racing"])
def test_a_step_that_fails_on_a_fold_has_the_error_score_there(method):
    pipe, grid, folds = make_pipeline(FailsOn(), SVOR(**TIGHT)), {"svor__C": [0.5, 5.0]}, KFold(3)
    options = {"cv": folds, "refit": False, "method": method}
    with pytest.warns(FitFailedWarning, match="RuntimeError: a bad value"):
        search = OrdinalSearchCV(pipe, grid, **options).fit(X_WITH_BAD, Y)
    scores = np.array([search.cv_results_[column] for column in TABLE[:3]])
    np.testing.assert_array_equal(np.isnan(scores[1:]), True)
    np.testing.assert_array_equal(np.isnan(scores[0]), False)
    assert not hasattr(search, "best_params_")
    with pytest.raises(RuntimeError, match="a bad value"):
        OrdinalSearchCV(pipe, grid, **options, error_score="raise").fit(X_WITH_BAD, Y)
    with pytest.raises(ValueError, match=r"so that none is the best: no candidate has one on fold 1, 2\. Give folds"):
        OrdinalSearchCV(pipe, grid, cv=folds, method=method).fit(X_WITH_BAD, Y)


# Scorers


def distance(true, found):
    return float(-np.abs(true - found).mean())


def by_function(model, X, y):
    return distance(y, model.predict(X))


@pytest.mark.parametrize("method", ["exhaustive", "pruned", "racing", "halving"])
@pytest.mark.parametrize("scoring", [make_scorer(distance), by_function])
def test_weights_and_a_scorer_that_takes_none(scoring, method):
    options = {"cv": 3, "scoring": scoring, "refit": False, "method": method}
    with pytest.warns(UserWarning, match="The scorer 'score' does not support sample_weight") as caught:
        ours = OrdinalSearchCV(SVOR(**TIGHT), GRID, **options).fit(X, Y, sample_weight=WEIGHT).cv_results_
    assert sum("sample_weight" in str(each.message) for each in caught) == 1
    theirs = both(SVOR(**TIGHT), GRID, {"sample_weight": WEIGHT}, scoring)[1]
    if method != "halving":
        assert_same([ours, theirs])
    assert np.isfinite(ours["mean_test_score"]).all()


def nan_below(least):
    return lambda model, X, y: by_function(model, X, y) if least <= model.C else np.nan


def test_scores_that_are_not_numbers():
    with pytest.warns(UserWarning, match=r"test scores are non-finite: mean_test_score of 1 of 2 .*\{'C': 0.5\}"):
        search = OrdinalSearchCV(SVOR(**TIGHT), GRID, cv=3, scoring=nan_below(1.0)).fit(X, Y)
    assert search.best_params_ == {"C": 5.0}
    with pytest.raises(ValueError, match=r"No candidate has a finite mean of the score 'score'.* on fold 0, 1, 2\."):
        OrdinalSearchCV(SVOR(**TIGHT), GRID, cv=3, scoring=nan_below(9.0)).fit(X, Y)
    with pytest.raises(ValueError, match=r"All 6 fits of the search failed\. .*C=-2.0 is not valid"):
        OrdinalSearchCV(SVOR(**TIGHT), {"C": [-1.0, -2.0]}, cv=3, refit=False, error_score=0.0).fit(X, Y)
    with pytest.raises(ValueError, match="has no fits to make"):
        OrdinalSearchCV(SVOR(), GRID, cv=[]).fit(X, Y)


def two_scores(model, X, y):
    found = model.predict(X)
    return {"exact": np.mean(found == y), "mae": distance(y, found)}


@pytest.mark.parametrize("method", ["exhaustive", "halving"])
def test_a_scorer_of_several_scores(method):
    grid = {"C": [-1.0, 0.5, 5.0]}  # one that fails, of whose scores not even the names are known
    options = {"scoring": two_scores, "cv": 3, "return_train_score": True}
    with pytest.warns(FitFailedWarning, match="C=-1"):
        ours = OrdinalSearchCV(SVOR(**TIGHT), grid, refit="mae", method=method, **options).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(SVOR(**TIGHT), grid, refit="mae", **options).fit(X, Y)
    assert ours.multimetric_
    assert ours.best_params_ == theirs.best_params_
    assert ours.score(X, Y) == theirs.score(X, Y)
    if method == "exhaustive":
        columns = [name for name in theirs.cv_results_ if "_t" in name and not name.endswith("time")]
        assert_same([ours.cv_results_, theirs.cv_results_], columns)
    with pytest.raises(ValueError, match=r"refit=True does not say which of several scores .*'exact', 'mae'"):
        OrdinalSearchCV(SVOR(**TIGHT), GRID, **options).fit(X, Y)
    assert not hasattr(OrdinalSearchCV(SVOR(), GRID, refit=False, **options).fit(X, Y), "best_index_")


def test_a_function_sees_the_model_and_the_samples_as_they_are():
    """Machines are trained on numbers of samples where kernel values are shared, and each may be kept."""
    kept = []

    def look(model, A, y):
        kept.append(model)
        return float(np.sum(A) + model.C + model.decision_function(A).sum() + model.support_vectors_.sum())

    for model in (SVOR(**TIGHT), SVOR(tol=1e-8, kernel="linear")):
        tables = both(model, GRID, scoring=look, return_train_score=True)
        np.testing.assert_allclose(tables[0]["mean_test_score"], tables[1]["mean_test_score"], atol=1e-4)
        np.testing.assert_allclose(tables[0]["mean_train_score"], tables[1]["mean_train_score"], atol=1e-4)
    assert {each.C for each in kept} == {0.5, 5.0}


# Refits, and searches that come to no end


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (-1, IndexError, r"refit returned -1: return the index of a candidate, from 0 to 1"),
        (2, IndexError, r"refit returned 2: .* from 0 to 1"),
        (None, TypeError, r"refit returned None: .* a whole number"),
    ],
)
def test_a_function_that_chooses_no_candidate(index, error, message):
    with pytest.raises(error, match=message):
        OrdinalSearchCV(SVOR(), GRID, cv=3, refit=lambda table: index).fit(X, Y)


def test_a_search_that_ends_early_leaves_the_one_before():
    class Scorer:
        __wrapped__ = mae_scorer
        error = None

        def __call__(self, model, X, y):
            if self.error is not None:
                raise self.error
            return mae_scorer(model, X, y)

    scorer = Scorer()
    search = OrdinalSearchCV(SVOR(**TIGHT), GRID, cv=3, scoring=scorer).fit(X, Y)
    before = dict(vars(search))
    scorer.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        search.fit(X[:40], Y[:40])
    assert vars(search) == before
    scorer.error = ValueError("no score")
    with pytest.raises(ValueError, match="No candidate has"), pytest.warns(UserWarning, match="no score"):
        search.fit(X[:40], Y[:40])
    assert vars(search) == before
    scorer.error = None
    search.set_params(refit=False).fit(X[:40], Y[:40])
    assert not hasattr(search, "best_estimator_")


def test_callbacks_of_scikit_learn_are_refused():
    search = OrdinalSearchCV(SVOR(), GRID)
    with pytest.raises(ValueError, match=r"can't report to <object .* set the callback on the model inside"):
        search.set_callbacks(object())
    assert search.set_callbacks() is search


def test_ranks_of_halving_put_those_on_all_samples_first():
    big, labels = random_data(2, n=400, noise=0.5)
    grid = {"C": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]}
    table = OrdinalSearchCV(LinearSVOR(), grid, cv=3, method="halving", refit=False).fit(big, labels).cv_results_
    rank, size = table["rank_test_score"], table["n_resources"]
    assert len(set(size)) > 1
    assert rank[size == size.max()].max() < rank[size < size.max()].min()


@pytest.mark.parametrize("scoring", [None, lambda model, X: float(model.n_clusters == 3)])
def test_without_labels(scoring):
    """Scorers get no y where there is none."""
    options = {"scoring": scoring, "cv": 3}
    grid, model = {"n_clusters": [2, 3]}, KMeans(random_state=0, n_init=1)
    ours, theirs = (search(clone(model), grid, **options).fit(X) for search in (OrdinalSearchCV, GridSearchCV))
    assert_same([ours.cv_results_, theirs.cv_results_])
    assert ours.best_params_ == theirs.best_params_


def test_the_scorers_of_this_package_need_labels():
    search = OrdinalSearchCV(KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3]}, cv=3)
    with pytest.raises(TypeError, match=r"y=None: the scorer 'mae' compares .* labels; give the labels as y"):
        search.fit(X)
    with pytest.raises(TypeError, match="y=None: the scorer 'mae'"):
        mae_scorer(SVOR().fit(X, Y), X, None)


@pytest.mark.parametrize("method", ["pruned", "racing", "halving"])
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (RoundedRegressor(SVR(**TIGHT)), {"regressor__C": [0.5, 5.0]}),
        (RoundedRegressor(SVR()), {"regressor": [SVR(C=0.5, **TIGHT), LinearRegression()]}),
        (CalibratedOrdinal(SVOR(**TIGHT), cv=2), {"estimator__C": [0.5, 5.0]}),
        (TableModel(SVOR(**TIGHT)), {"machine__C": [0.5, 5.0]}),
        (LinearSVOR(tol=1e-8), {"C": [0.5, 5.0]}),
    ],
    ids=["rounded", "objects", "calibrated", "table", "linear"],
)
def test_every_method_searches_what_has_no_solver(estimator, grid, method):
    """`racing` asked wrappers for their solver, an AttributeError."""
    ours = OrdinalSearchCV(clone(estimator), grid, cv=3, method=method).fit(X, Y)
    plain = GridSearchCV(clone(estimator), grid, cv=3, scoring=mae_scorer).fit(X, Y)
    assert ours.best_score_ == pytest.approx(plain.best_score_, abs=1e-9)


class FailsAtLength(SVOR):
    """A machine whose error has several lines."""

    def fit(self, X, y, sample_weight=None):
        raise ValueError("The first line:\n- and what it is about" + " again" * 1000)


def test_a_warning_quotes_an_error_of_several_lines():
    """Of names that occur twice, it quoted "- 'a' 2 times" alone."""
    pattern = r"nan: ValueError: The first line: - and what it is about again.{,500} … To see where"
    with pytest.warns(FitFailedWarning, match=pattern), pytest.raises(ValueError, match="All 3 fits"):
        OrdinalSearchCV(FailsAtLength(), {"C": [1.0]}, cv=3).fit(X, Y)
