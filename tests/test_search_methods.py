"""OrdinalSearchCV that does not make all fits: the exact rule, the race, and halving."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.search_pruning import RandomSearch, same_where_fitted
from ordsvm import SVC, SVOR, SVORIM, SVR, LinearSVC, LinearSVOR, LinearSVR, NystroemSVOR, OrdinalSearchCV
from ordsvm.cli.app import run
from ordsvm.metrics import mae_scorer
from ordsvm.search.journal import Outcome
from ordsvm.search.pruning import Pruner
from tests.cases import random_data

X, Y = random_data(0, n=70, noise=2.0)
GRID = {"C": [0.001, 0.1, 10.0, 1000.0], "gamma": [0.001, 0.05, 0.8, 20.0]}
METHODS = ["pruned", "racing", "halving"]


def search(method, estimator=None, grid=GRID, data=(X, Y), fit=None, **options):
    made = OrdinalSearchCV(clone(estimator or SVORIM()), grid, method=method, **({"cv": 5} | options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.fit(*data, **(fit or {}))


@pytest.mark.parametrize("seed", range(100, 106))
def test_the_exact_rule_keeps_the_winner_and_all_scores(seed):
    made = RandomSearch.of(seed)
    assert same_where_fitted(made.by("pruned"), made.by("exhaustive"))


@pytest.mark.slow
def test_fifty_exhaustive_searches():
    searches = [RandomSearch.of(seed) for seed in range(50)]
    pruned = [made.by("pruned") for made in searches]
    assert all(same_where_fitted(ours, made.by("exhaustive")) for ours, made in zip(pruned, searches, strict=True))
    assert sum(ours.n_pruned_ for ours in pruned) > 50


def test_the_exact_rule_saves_fits_and_says_so():
    """Errors that differ by more than the folds to come can make up for."""
    x = np.linspace(-1.0, 1.0, 90)[:, np.newaxis]
    y = np.digitize(x[:, 0], [-0.3, 0.3])
    folds = KFold(10, shuffle=True, random_state=0)
    grid = {"C": [1e-3, 1.0, 100.0], "gamma": [1.0, 1e4]}
    plain, ours = (search(method, grid=grid, data=(x, y), cv=folds, refit=False) for method in ("exhaustive", "pruned"))
    assert same_where_fitted(ours, plain)
    scores = np.array([ours.cv_results_[f"split{fold}_test_score"] for fold in range(10)])
    assert ours.n_pruned_ == np.isnan(scores).sum() > 0
    np.testing.assert_array_equal(ours.cv_results_["pruned"], np.isnan(scores).any(axis=0))
    np.testing.assert_array_equal(np.isnan(ours.cv_results_["mean_test_score"]), ours.cv_results_["pruned"])
    assert (ours.cv_results_["rank_test_score"][ours.cv_results_["pruned"]] > 1).all()
    assert np.isfinite(ours.cv_results_["mean_fit_time"]).all()
    assert not hasattr(plain.cv_results_, "pruned")
    assert plain.n_pruned_ == 0


def test_what_the_scores_so_far_prove():
    def outcome(score):
        return Outcome({"score": score}, {}, 0.0, 0.0)

    pruner = Pruner(4, 4, best=0.0, name="score")
    for fold in range(3):
        pruner.note(0, fold, outcome(-1.0))
        pruner.note(1, fold, outcome(-1.34))
        pruner.note(2, fold, outcome(-4.0 / 3.0))
    assert not pruner.are_lost([1])  # nothing to compare with
    pruner.note(0, 3, outcome(-1.0))
    assert pruner.are_lost([1])
    assert not pruner.are_lost([2])  # it may still tie, and the first among equals wins
    assert not pruner.are_lost([0])
    assert not pruner.are_lost([3])
    pruner.note(3, 0, outcome(np.nan))
    assert pruner.are_lost([1, 3])  # a fit that failed
    assert pruner.are_lost([])


@pytest.mark.parametrize(
    ("method", "estimator"),
    [("pruned", SVORIM()), ("halving", SVORIM()), ("racing", make_pipeline(StandardScaler(), SVOR()))],
)
def test_two_stages(method, estimator):
    ours = search(method, estimator, "two-stage", cv=3)
    assert set(ours.cv_results_["stage"]) == {1, 2}
    lengths = {len(column) for column in ours.cv_results_.values()}
    assert len(lengths) == 1
    assert ours.predict(X).shape == Y.shape


@pytest.mark.parametrize("method", METHODS)
def test_weights_groups_and_missing_ranks(method):
    weight = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
    groups = np.arange(len(Y)) % 7
    options = {"cv": GroupKFold(4), "fit": {"groups": groups, "sample_weight": weight}}
    assert search(method, **options).n_splits_ == 4
    rare = np.where(np.arange(len(Y)) < 2, 9, Y)  # a rank of two samples, which a fold may lack
    assert search(method, data=(X, rare), cv=KFold(5)).best_params_["C"] in GRID["C"]


@pytest.mark.parametrize("method", ["pruned", "racing"])
@pytest.mark.parametrize(
    "options",
    [
        {"scoring": ["mae", "mze"], "refit": "mae"},
        {"refit": lambda table: int(np.argmax(table["mean_test_score"]))},
        {"scoring": lambda model, X, y: float(-np.abs(model.predict(X) - y).sum())},
        {"error_score": 5.0},
    ],
)
def test_without_a_bound_the_search_is_exhaustive(method, options):
    ours, plain = (search(which, **options) for which in (method, "exhaustive"))
    assert ours.n_pruned_ == 0
    assert "pruned" not in ours.cv_results_
    assert ours.best_params_ == plain.best_params_


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (LinearSVOR(), {"scoring": "mze"}),
        (SVR(), {"scoring": "neg_mean_absolute_error"}),
        (LogisticRegression(), {"scoring": "accuracy"}),
        (SVOR(), {"scoring": None, "n_jobs": 2}),
        (SVOR(max_iter=20), {"scoring": "kappa"}),
        (SVOR(tol=0.5), {"memory_limit": 1e-3}),
    ],
)
def test_all_kinds_of_estimators_and_scores(method, estimator, options):
    ours = search(method, estimator, {"C": [0.01, 1.0, 100.0]}, cv=4, **options)
    assert ours.best_params_["C"] in (0.01, 1.0, 100.0)
    assert np.isfinite(ours.best_score_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (LinearSVOR(), {}),
        (LinearSVC(), {"scoring": "accuracy"}),
        (LinearSVR(), {"scoring": "r2"}),
        (NystroemSVOR(n_landmarks=10), {}),
        (SVOR(gamma=0.1), {"memory_limit": 1e-3}),
        (SVC(gamma=0.1), {"memory_limit": 1e-3}),
    ],
    ids=repr,
)
def test_jobs_side_by_side_change_nothing(method, estimator, options):
    """Those of machines that share no kernel values are processes."""
    grid = {"C": [0.01, 1.0]}
    alone, both = (search(method, estimator, grid, cv=3, n_jobs=n_jobs, **options) for n_jobs in (None, 2))
    np.testing.assert_array_equal(both.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_a_race_names_what_it_has_refined():
    ours, plain = search("racing"), search("exhaustive")
    refined, score = ours.cv_results_["refined"], ours.cv_results_["mean_test_score"]
    assert refined[ours.best_index_]
    assert 0 < refined.sum() < len(refined)
    assert not (refined & ours.cv_results_["pruned"]).any()
    margin = np.nanmin(-score[refined]) * 1.01
    assert refined[-score <= margin].all()
    np.testing.assert_allclose(score[refined], plain.cv_results_["mean_test_score"][refined], atol=0.05)
    assert ours.best_params_ == plain.best_params_


def test_a_race_leaves_out_who_is_far_behind():
    big, labels = random_data(1, n=400, noise=0.1)
    ours = search("racing", data=(big, labels), refit=False)
    out = ours.cv_results_["pruned"]
    assert out.any()
    missing = np.array([np.isnan(ours.cv_results_[f"split{fold}_test_score"]) for fold in range(5)])
    assert ours.n_pruned_ == missing.sum() > 0
    assert not missing[0].any()
    np.testing.assert_array_equal(missing.any(axis=0), out)
    assert np.isnan(ours.cv_results_["mean_test_score"][out]).all()
    plain = search("exhaustive", data=(big, labels), refit=False)
    assert ours.best_params_ == plain.best_params_


def test_rounds_of_halving():
    big, labels = random_data(2, n=400, noise=0.5)
    ours = search("halving", data=(big, labels), refit=False)
    rounds, used = ours.cv_results_["iter"], ours.cv_results_["n_resources"]
    np.testing.assert_array_equal(np.bincount(rounds), [16, 6, 2])
    np.testing.assert_array_equal(np.unique(used), [44, 133, 400])
    assert rounds[ours.best_index_] == 2
    assert ours.n_pruned_ == (3 * 16 - 24) * 5
    with pytest.raises(ValueError, match="goes by a score"):
        search("halving", refit=lambda table: 0)


@pytest.mark.parametrize("method", METHODS)
def test_fits_that_fail(method):
    ours = search(method, SVORIM(), {"C": [-1.0, 1.0], "gamma": [0.1, 1.0]})
    assert ours.best_params_["C"] == 1.0
    with pytest.raises(ValueError, match="C"):
        search(method, SVORIM(), {"C": [-1.0, 1.0]}, error_score="raise")


@pytest.mark.parametrize("method", METHODS)
def test_a_checkpoint_makes_no_fit_twice(method, tmp_path):
    first = search(method, fit={"checkpoint": tmp_path / "a"})
    again = search(method, fit={"checkpoint": tmp_path / "a"})
    assert again.best_params_ == first.best_params_
    for name, column in first.cv_results_.items():
        if name.startswith(("split", "mean_test", "pruned", "refined")):
            np.testing.assert_array_equal(again.cv_results_[name], column)


@pytest.mark.parametrize("method", METHODS)
def test_an_interruption_ends_the_search(method):
    class Interrupting:
        __wrapped__ = mae_scorer
        calls = 0

        def __call__(self, model, X, y):
            self.calls += 1
            if self.calls > 5:
                raise KeyboardInterrupt
            return mae_scorer(model, X, y)

    scorer = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        search(method, scoring=scorer, n_jobs=2)
    assert 5 < scorer.calls < 10


def test_no_candidate_is_out_by_a_few_samples():
    """One sample has no deviation; the race goes on in a few heats, however many folds there are."""
    race = search("racing", data=(X[:28], Y[:28]), cv=LeaveOneOut(), refit=False)
    assert race.n_pruned_ == 0


def test_candidates_drop_out_where_others_fail():
    big, labels = random_data(1, n=400, noise=0.1)
    grid = {"C": [-1.0, *GRID["C"]], "gamma": GRID["gamma"]}
    assert search("racing", grid=grid, data=(big, labels), refit=False).n_pruned_ > 0


def test_fits_share_no_random_state():
    """Each has its own copy, as in GridSearchCV, so that neither order nor threads matter."""
    estimator = SVOR(early_stopping=True, random_state=np.random.RandomState(0))
    ours, theirs = (search("exhaustive", estimator, {"C": [1.0, 2.0]}, refit=False, n_jobs=jobs) for jobs in (None, 2))
    alone = search("exhaustive", estimator, {"C": [2.0]}, refit=False)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.cv_results_["mean_test_score"][1] == alone.cv_results_["mean_test_score"][0]


def test_methods_have_names():
    with pytest.raises(ValueError, match="method"):
        search("best")


@pytest.mark.parametrize("method", ["exhaustive", "pruned", "racing", "halving", "best"])
def test_tune_takes_a_method(method, tmp_path, capsys):
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, Y]), delimiter=",", header="a,b,c,y", comments="")
    arguments = ["tune", str(tmp_path / "data.csv"), "-t", "y", "--folds", "2", "--method", method]
    assert run([*arguments, "-o", str(tmp_path / "m")]) == (1 if method == "best" else 0)
    assert "*" in capsys.readouterr().out or method == "best"
