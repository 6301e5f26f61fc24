"""OrdinalSearchCV gives the answers of GridSearchCV, whatever it shares between fits."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    CalibratedOrdinal,
    LinearSVOR,
    OrdinalSearchCV,
    RoundedRegressor,
)
from ordsvm.metrics import SCORERS, mae_scorer
from ordsvm.tables import TableModel
from tests.cases import random_data

X, Y = random_data(0, n=70, noise=2.0)
TIGHT = {"tol": 1e-7}
GRID = {"C": [0.5, 30.0, 3.0], "gamma": [0.05, 0.8]}  # C neither ascending nor descending


def assert_same_search(ours, theirs):
    """Every fold's score of every candidate, and all that follows from them."""
    assert set(theirs.cv_results_) - set(ours.cv_results_) == set()
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for column in theirs.cv_results_:
        if "time" not in column and column != "params":
            np.testing.assert_array_equal(ours.cv_results_[column], theirs.cv_results_[column], err_msg=column)
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_params_ == theirs.best_params_


def both(estimator, grid, X=X, y=Y, fit=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(clone(estimator), grid, **{"scoring": mae_scorer, **options}).fit(X, y, **(fit or {}))
        ours = OrdinalSearchCV(clone(estimator), grid, **options).fit(X, y, **(fit or {}))
    return ours, theirs


@pytest.mark.parametrize("model", [SVOR, SVORIM, SVOREX, NPSVOR, SVC])
def test_answers_of_grid_search(model):
    ours, theirs = both(model(**TIGHT), GRID)
    assert_same_search(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, Y) == theirs.score(X, Y)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (SVOR(**TIGHT), {"C": [1.0, 10.0], "gamma": ["scale", "auto", 0.3]}),
        (SVOR(gamma=0.3, **TIGHT), {"C": [1.0, 10.0], "kernel": ["linear", "laplacian", "poly"]}),
        (SVOR(gamma=0.3, **TIGHT), {"C": [1.0, 10.0], "cost": ["absolute", "squared"]}),
        (SVOR(kernel="linear", solver="rank-dcd", **TIGHT), {"C": [0.1, 1.0]}),
        (SVOR(kernel="linear", **TIGHT), {"C": [0.1, 1.0], "solver": ["auto", "rank-dcd"]}),
        (SVOR(gamma=0.3, **TIGHT), [{"C": [1.0]}, {"gamma": [0.1, 0.2]}]),
        (NPSVOR(gamma=0.3, **TIGHT), {"C1": [0.5, 1.0], "C": [1.0, 5.0]}),
        (SVOR(early_stopping=True, random_state=0), GRID),
        (SVOR(gamma=0.3), {"C": [1.0, 10.0], "max_iter": [10, 20]}),
        (make_pipeline(StandardScaler(), SVORIM(**TIGHT)), {"svorim__C": [1.0, 10.0], "svorim__gamma": ["scale", 0.2]}),
        (
            make_pipeline(PolynomialFeatures(), SVORIM(**TIGHT)),
            {"svorim__C": [1.0], "polynomialfeatures__degree": [1, 2]},
        ),
        (LogisticRegression(), {"C": [0.1, 1.0]}),
        (RoundedRegressor(Ridge()), {"regressor__alpha": [0.1, 10.0]}),
        (LinearSVOR(tol=1e-9), {"C": [0.1, 1.0, 10.0], "loss": ["hinge", "squared_hinge"]}),
    ],
)
def test_all_that_can_be_in_a_grid(estimator, grid):
    assert_same_search(*both(estimator, grid, cv=3))


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"memory_limit": 1e-3}, {"n_jobs": 2, "memory_limit": 1e-3}])
def test_neither_threads_nor_memory_change_the_answers(options):
    plain = OrdinalSearchCV(SVOREX(**TIGHT), GRID, cv=3).fit(X, Y)
    with parallel_config("threading"):
        other = OrdinalSearchCV(SVOREX(**TIGHT), GRID, cv=3, **options).fit(X, Y)
    assert_same_search(other, plain)


def test_data_of_all_kinds():
    names = np.array(["poor", "fair", "good", "great"])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    ordered = pd.Series(pd.Categorical(names[Y], names, ordered=True))
    plain = OrdinalSearchCV(SVOR(**TIGHT), GRID, cv=3).fit(X, Y)
    for samples, labels in [(sp.csr_array(X), Y), (frame, Y), (frame, ordered), (X.astype(np.float32), Y)]:
        other = OrdinalSearchCV(SVOR(**TIGHT), GRID, cv=3).fit(samples, labels)
        np.testing.assert_allclose(other.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(OrdinalSearchCV(SVOR(), GRID).fit(frame, Y).feature_names_in_, ["a", "b", "c"])


def test_a_precomputed_kernel():
    K = rbf_kernel(X, gamma=0.3)
    ours, theirs = both(SVOR(kernel="precomputed", **TIGHT), {"C": [0.5, 3.0, 30.0]}, X=K)
    assert_same_search(ours, theirs)
    numbers, _ = both(SVOR(gamma=0.3, **TIGHT), {"C": [0.5, 3.0, 30.0]})
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], numbers.cv_results_["mean_test_score"])


def test_every_kernel_value_is_computed_once():
    asked = []

    def kernel(A, B):
        asked.append(A.shape[0] * B.shape[0])
        return rbf_kernel(A, B, gamma=0.3)

    OrdinalSearchCV(SVOR(kernel=kernel), {"C": [0.1, 1.0, 10.0]}, cv=5, refit=False).fit(X, Y)
    assert sum(asked) == len(X) ** 2


def test_weights_and_groups():
    weight, groups = np.random.default_rng(0).uniform(0.2, 3, len(Y)), np.arange(len(Y)) % 4
    fit = {"sample_weight": weight, "groups": groups}
    ours, theirs = both(SVOR(**TIGHT), GRID, fit=fit, cv=GroupKFold(4))
    assert_same_search(ours, theirs)
    np.testing.assert_allclose(ours.best_estimator_.thresholds_, theirs.best_estimator_.thresholds_, atol=1e-5)
    with pytest.raises(TypeError, match=r"KNeighborsClassifier\.fit takes none"):
        OrdinalSearchCV(make_pipeline(KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": [3]}).fit(
            X, Y, sample_weight=weight
        )


def weights_of(n: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.2, 3, n)


def test_weights_reach_the_last_step_of_a_pipeline_by_either_name():
    pipe, weight = make_pipeline(StandardScaler(), SVOR(gamma=0.3, **TIGHT)), weights_of(len(Y))
    grid = {"svor__C": [0.5, 3.0]}
    ours = OrdinalSearchCV(pipe, grid, cv=3).fit(X, Y, sample_weight=weight)
    named = OrdinalSearchCV(pipe, grid, cv=3).fit(X, Y, svor__sample_weight=weight)
    theirs = clone(pipe).set_params(**ours.best_params_).fit(X, Y, svor__sample_weight=weight)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"])
    np.testing.assert_allclose(ours.best_estimator_[-1].thresholds_, theirs[-1].thresholds_, atol=1e-5)
    unweighted = OrdinalSearchCV(pipe, grid, cv=3).fit(X, Y)
    assert np.abs(unweighted.best_estimator_[-1].thresholds_ - theirs[-1].thresholds_).max() > 1e-3
    for given in ({"standardscaler__sample_weight": weight}, {"svor__sample_weight": weight, "sample_weight": weight}):
        with pytest.raises(TypeError, match=r"OrdinalSearchCV\.fit can't take '\w+__sample_weight'"):
            OrdinalSearchCV(pipe, grid).fit(X, Y, **given)


@pytest.mark.parametrize("method", ["exhaustive", "pruned", "racing", "halving"])
def test_a_fold_without_weights_to_test_by_gets_a_sentence(method):
    weight = np.where(np.arange(len(Y)) < len(Y) // 5, 0.0, 1.0)
    options = {"cv": KFold(5), "method": method, "refit": False}
    with pytest.raises(ValueError, match=r"sample_weight is zero for all 14 samples that fold 0 tests"):
        OrdinalSearchCV(SVOR(), {"C": [0.1, 3.0]}, **options).fit(X, Y, sample_weight=weight)

    def without_weights(estimator, X, y):
        return estimator.score(X, y)

    free = OrdinalSearchCV(SVOR(), {"C": [0.1, 3.0]}, scoring=without_weights, **options)
    assert np.isfinite(free.fit(X, Y, sample_weight=weight).best_score_)


def test_weights_are_routed_as_in_grid_search():
    """The scaler requests weights too: both searches standardise by weighted means."""
    weight = weights_of(len(Y))
    with config_context(enable_metadata_routing=True):
        steps = StandardScaler().set_fit_request(sample_weight=True), SVOR(gamma=0.3, **TIGHT)
        steps[1].set_fit_request(sample_weight=True)
        scorer = mae_scorer.set_score_request(sample_weight=True)
        options = {"param_grid": {"svor__C": [0.5, 3.0]}, "scoring": scorer, "cv": 3}
        ours, theirs = (
            search(make_pipeline(*steps), **options).fit(X, Y, sample_weight=weight)
            for search in (OrdinalSearchCV, GridSearchCV)
        )
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        np.testing.assert_allclose(ours.best_estimator_[0].mean_, np.average(X, axis=0, weights=weight))
        nested = cross_validate(
            OrdinalSearchCV(make_pipeline(*steps), **options),
            X,
            Y,
            cv=2,
            scoring=scorer,
            params={"sample_weight": weight},
        )
        assert np.isfinite(nested["test_score"]).all()
        silent = make_pipeline(StandardScaler(), SVOR())
        with pytest.raises(ValueError, match="not explicitly set as requested"):
            OrdinalSearchCV(silent, {"svor__C": [0.5]}).fit(X, Y, sample_weight=weight)


# Scores


def test_several_scores():
    scoring = {"mae": SCORERS["mae"], "kappa": SCORERS["kappa"]}
    options = {"cv": 3, "return_train_score": True}
    theirs = GridSearchCV(SVOR(**TIGHT), GRID, scoring=scoring, refit="kappa", **options).fit(X, Y)
    for given in (scoring, ["mae", "kappa"]):
        ours = OrdinalSearchCV(SVOR(**TIGHT), GRID, scoring=given, refit="kappa", **options).fit(X, Y)
        assert_same_search(ours, theirs)
        assert ours.best_score_ == theirs.best_score_
        assert ours.score(X, Y) == theirs.score(X, Y)
    with pytest.raises(ValueError, match=r"refit=True does not say which of several scores.*'mae', 'kappa'"):
        OrdinalSearchCV(SVOR(), GRID, scoring=["mae", "kappa"]).fit(X, Y)


def test_scores_of_scikit_learn_and_of_the_estimator():
    for scoring in ("accuracy", None):
        ours, theirs = both(SVOR(**TIGHT), GRID, scoring=scoring, cv=3)
        assert_same_search(ours, theirs)
    ours, theirs = both(SVR(**TIGHT), GRID, y=Y + 0.0, scoring="r2", cv=3)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-4)


@pytest.mark.parametrize("method", ["exhaustive", "pruned", "racing", "halving"])
def test_the_score_of_the_estimator_has_weights_too(method):
    grid, weight, options = {"C": [0.1, 3.0]}, weights_of(len(Y)), {"method": method, "cv": 3, "refit": False}
    for scoring in (None, {"score": None, "mae": "mae"}):
        for estimator in (SVC(), make_pipeline(SVC())):
            names = {f"svc__{name}" if isinstance(estimator, Pipeline) else name: C for name, C in grid.items()}
            own, accuracy = (
                OrdinalSearchCV(estimator, names, scoring=each, **options).fit(X, Y, sample_weight=weight)
                for each in (scoring, "accuracy")
            )
            np.testing.assert_allclose(own.cv_results_["mean_test_score"], accuracy.cv_results_["mean_test_score"])


def test_refit_by_a_function_or_not_at_all():
    last = OrdinalSearchCV(SVOR(), GRID, refit=lambda table: len(table["params"]) - 1).fit(X, Y)
    assert last.best_params_ == {"C": 3.0, "gamma": 0.8}
    assert not hasattr(last, "best_score_")
    none = OrdinalSearchCV(SVOR(), GRID, refit=False).fit(X, Y)
    assert none.best_score_ == none.cv_results_["mean_test_score"].max()
    assert not hasattr(none, "best_estimator_")


def test_fits_that_fail():
    grid = {"C": [-1.0, 1.0]}
    with pytest.warns(FitFailedWarning, match=r"A fit failed and its score is nan: ValueError: C=-1.0 is not valid"):
        search = OrdinalSearchCV(SVOR(), grid, cv=3).fit(X, Y)
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    np.testing.assert_array_equal(search.cv_results_["rank_test_score"], [2, 1])
    assert search.best_params_ == {"C": 1.0}
    with pytest.raises(ValueError, match=r"C=-1.0 is not valid"):
        OrdinalSearchCV(SVOR(), grid, cv=3, error_score="raise").fit(X, Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_reason_of_failures_is_named_once(n_jobs):
    with pytest.warns(FitFailedWarning) as caught:
        OrdinalSearchCV(SVOR(), {"C": [-1.0, 0.0, 1.0]}, cv=5, n_jobs=n_jobs).fit(X, Y)
    said = [str(each.message) for each in caught if each.category is FitFailedWarning]
    assert sorted(text.split(" is not")[0][-6:] for text in said) == ["C=-1.0", " C=0.0"][::-1]


def fails_on_large_C(estimator, X, y):
    return estimator.score(X, y) / (estimator.C < 2.0)


@pytest.mark.parametrize("method", ["exhaustive", "pruned", "racing", "halving"])
@pytest.mark.parametrize("scoring", [fails_on_large_C, {"own": fails_on_large_C, "mae": mae_scorer}])
def test_scorers_that_fail(scoring, method):
    options = {"scoring": scoring, "cv": 3, "return_train_score": True, "refit": False}
    grid, name = {"C": [1.0, 3.0]}, "own" if isinstance(scoring, dict) else "score"
    with pytest.warns(UserWarning, match=rf"The scorer '{name}' failed and its score is nan: ZeroDivisionError"):
        ours = OrdinalSearchCV(SVOR(**TIGHT), grid, method=method, **options).fit(X, Y).cv_results_
    with pytest.warns(UserWarning, match="Scoring failed"):
        theirs = GridSearchCV(SVOR(**TIGHT), grid, **options).fit(X, Y).cv_results_
    for column in [column for column in theirs if "score_time" not in column and "_score" in column]:
        np.testing.assert_allclose(ours[column][-2:], theirs[column], atol=1e-9)
    with pytest.raises(ZeroDivisionError):
        OrdinalSearchCV(SVOR(), grid, method=method, **options, error_score="raise").fit(X, Y)


@pytest.mark.parametrize("method", ["exhaustive", "racing"])
def test_a_scorer_of_other_models_ends_a_search(method):
    search = OrdinalSearchCV(SVR(), {"C": [1.0, 3.0]}, method=method, cv=3, refit=False)
    with pytest.raises(TypeError, match="which SVR lacks; use a fitted classifier"):
        search.fit(X, Y + 0.0)


def test_a_kernel_that_does_not_exist_fails_alone():
    with pytest.warns(FitFailedWarning, match=r"gamma=-1.0 is not valid"):
        search = OrdinalSearchCV(SVOR(), {"C": [1.0, 2.0], "gamma": [-1.0, 0.5]}, cv=3).fit(X, Y)
    np.testing.assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), [True, False, True, False])
    with pytest.raises(ValueError, match="Invalid parameter 'price' for estimator SVOR"):
        OrdinalSearchCV(SVOR(), {"price": [1.0]}).fit(X, Y)


# Two stages


def test_two_stages_of_chu_and_keerthi():
    search = OrdinalSearchCV(SVORIM(), cv=3).fit(X[:40], Y[:40])
    stage, points = search.cv_results_["stage"], search.cv_results_["params"]
    coarse = [p for p, s in zip(points, stage, strict=True) if s == 1]
    fine = [p for p, s in zip(points, stage, strict=True) if s == 2]
    assert (len(coarse), len(fine)) == (49, 81)
    exponents = np.log10([[p["C"], 2 * p["gamma"]] for p in coarse])
    np.testing.assert_allclose(np.unique(exponents.round(9)), np.arange(-3, 4))
    first = coarse[np.argmin(search.cv_results_["rank_test_score"][stage == 1])]
    offsets = np.log10([[p["C"] / first["C"], p["gamma"] / first["gamma"]] for p in fine])
    for column in offsets.T:
        np.testing.assert_allclose(np.unique(column.round(9)), 0.2 * np.arange(-4, 5), atol=1e-9)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (LinearSVOR(), "C"),
        (SVOR(kernel="linear"), "C"),
        (make_pipeline(StandardScaler(), LinearSVOR()), "linearsvor__C"),
    ],
)
def test_two_stages_without_gamma(estimator, name):
    search = OrdinalSearchCV(estimator, cv=2).fit(X, Y)
    assert [set(parameters) for parameters in search.cv_results_["params"]] == [{name}] * 16


# Bad input, and scikit-learn's checks


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (SVOR(), {"param_grid": "three-stage"}, r"param_grid='three-stage' is unknown: give 'two-stage'"),
        (RoundedRegressor(), {}, r"a search for C and gamma, and RoundedRegressor has no C: give param_grid="),
        (TableModel(SVOR()), {}, r"TableModel has no C: give .*=\{'machine__C': \[...\], 'machine__gamma': \[...\]\}"),
        (Pipeline([("m", CalibratedOrdinal(LinearSVOR()))]), {}, r"give param_grid=\{'m__estimator__C': \[...\]\}"),
        (SVOR(), {"memory_limit": 0}, r"memory_limit=0 is not valid: give a positive number"),
    ],
)
def test_what_cannot_be_searched_gets_a_sentence(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        OrdinalSearchCV(estimator, **options).fit(X, Y)


ONE_SCORE = "decision_function is one score a sample: not a column a class"
LOOSE = "gamma='scale' and fits to tol are others where rows are repeated than where they have weights"


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning", "ignore:A fit failed")
@parametrize_with_checks(
    [OrdinalSearchCV(SVOR(), {"C": [1.0, 10.0]}, cv=2, error_score="raise")],
    expected_failed_checks=lambda estimator: {
        "check_classifiers_train": ONE_SCORE,
        "check_classifiers_classes": ONE_SCORE,
        "check_sample_weight_equivalence_on_dense_data": LOOSE,
        "check_sample_weight_equivalence_on_sparse_data": LOOSE,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::ordsvm.ModelWarning")
@pytest.mark.parametrize(
    "check", [check_sample_weight_equivalence_on_dense_data, check_sample_weight_equivalence_on_sparse_data]
)
def test_weights_are_repetitions(check):
    """With a tolerance and a kernel that repeated rows do not change, a search passes the checks of weights."""
    search = OrdinalSearchCV(SVOR(gamma=0.1, tol=1e-11), {"C": [1.0, 10.0]}, cv=2, error_score="raise")
    check("OrdinalSearchCV", search)


# Warm starts


def test_a_C_that_caps_no_sample_may_grow_without_a_step():
    """With a narrow kernel no α reaches a large C: the optimum stays where it is, and the next fit starts there."""
    model = SVOR(C=100.0, gamma=50.0, warm_start=True, tol=1e-9).fit(X, Y)
    assert model.result_.alpha.max() < 100
    thresholds = model.thresholds_
    model.set_params(C=1e4, tol=1e-4).fit(X, Y)
    assert model.result_.n_iter == 0
    assert model.result_.converged
    np.testing.assert_array_equal(model.thresholds_, thresholds)
