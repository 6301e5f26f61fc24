"""Linear machines along C, folds in the same passes: the oracle's optimum, proofs that hold, GridSearchCV's answers."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, OrdinalSearchCV, certify
from ordsvm.estimators.base import prepare
from ordsvm.estimators.linear import control_of, feature_task
from ordsvm.metrics import mae_scorer
from ordsvm.rows import folded_rows
from ordsvm.rows.folded_rows import FoldedRows, shareable_folds
from ordsvm.search import feature_paths
from ordsvm.solvers.linear.nested import NestedTask, solve_nested
from tests.linear_cases import both_losses, data, every_machine, loss_name, optimum, values

GRID = {"C": [1.0, 0.01, 100.0, 10.0, 0.1]}  # neither ascending nor descending
FEATURES = {"solver": "linear-interior-point", "tol": 1e-8}


def tall(n: int = 2000, d: int = 6, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X @ rng.standard_normal(d) / np.sqrt(d) + 0.7 * rng.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))


@pytest.fixture
def spied(monkeypatch):
    """Counts the solutions that come from shared passes, and their iterations."""
    iterations: list[int] = []

    def spy(*arguments):
        for found in solve_nested(*arguments):
            iterations.append(found.solution.result.n_iter)
            yield found

    monkeypatch.setattr(feature_paths, "solve_nested", spy)
    return iterations


def mean_score(machine, X, y, sample_weight=None):
    """Changes with the weights, where errors would jump."""
    if isinstance(machine, Pipeline):
        machine, X = machine[-1], machine[:-1].transform(X)
    return float(np.mean(np.square(values(machine, X))))


class CrashingScorer:
    """Ctrl-C after so many scores."""

    def __init__(self):
        self.left, self.count = -1, 0

    def __call__(self, model, X, y):
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        self.count += 1
        return mae_scorer(model, X, y)

    def __getstate__(self):  # what a checkpoint compares: neither of the counts
        return {}


MAE = {"scoring": mae_scorer}


def both(estimator, grid, X, y, fit=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = OrdinalSearchCV(clone(estimator), grid, **{"scoring": mean_score, **options}).fit(X, y, **(fit or {}))
        theirs = GridSearchCV(clone(estimator), grid, **{"scoring": mean_score, **options}).fit(X, y, **(fit or {}))
    return ours, theirs


def assert_same_search(ours, theirs):
    for column, scores in theirs.cv_results_.items():
        if column.startswith(("split", "mean_t")):
            np.testing.assert_allclose(ours.cv_results_[column], scores, err_msg=column, rtol=2e-3)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.best_params_ == theirs.best_params_


def nested(machine, X, y, weight, path, folds):
    """A machine for every fold and C, as a search has it: trained, and the rows it was trained on."""
    rows, tasks, fits = FoldedRows(X, folds), [], []
    for fold in range(len(folds)):
        numbers = rows.numbers(fold)
        fits.append(prepare(clone(machine).set_params(C=path[0]), X[numbers], y[numbers], weight[numbers]))
        factors = [C / path[0] for C in path]
        tasks.append(NestedTask(fold, feature_task(fits[-1]), factors, control_of(fits[-1])))
    for found in solve_nested(rows, tasks):
        fit, C = fits[found.task], path[found.factor]
        fit.machine.C = C
        trained = type(fit)(fit.machine, fit.X, fit.target, fit.task.times_C(C / path[0])).recover(found.solution)
        yield copy.copy(trained), rows.numbers(found.task)


# The optimum


@every_machine
@both_losses
def test_every_fit_of_a_path_is_as_good_as_the_oracles_and_proves_it(model, squared, monkeypatch):
    monkeypatch.setattr(folded_rows, "SHORT_RUN", 0)  # shared blocks, as of many rows
    X, y = data(model, seed=1, n=45)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    machine = model(loss=loss_name(model, squared), solver="linear-interior-point", tol=1e-5)
    path, folds = [0.01, 0.03, 0.1, 10.0, 10.0, 12.0], [np.arange(30), np.arange(15, 45)]
    fits = list(nested(machine, X, y, weight, path, folds))
    assert len(fits) == len(path) * len(folds)
    for fitted, rows in fits:
        result, value = fitted.result_, optimum(fitted, X[rows], y[rows], weight[rows])
        assert result.status == "converged"
        assert value * (1 - 1e-7) <= result.objective <= value * (1 + 1.1e-5)
        proof = certify(fitted, X[rows], y[rows], weight[rows])
        assert proof.primal == pytest.approx(result.objective, rel=1e-9)
        assert 0 <= proof.gap <= result.gap * (1 + 1e-6) + 1e-12 * value


@pytest.mark.parametrize("cost", ["squared", "zero-one"])
def test_costs(cost):
    X, y = tall(300)
    for fitted, rows in nested(LinearSVOR(cost=cost, tol=1e-6), X, y, np.ones(300), [0.1, 1.0], [np.arange(200)]):
        alone = LinearSVOR(cost=cost, C=fitted.C, tol=1e-6, solver="linear-interior-point").fit(X[rows], y[rows])
        assert fitted.result_.objective == pytest.approx(alone.result_.objective, rel=2e-6)


def test_a_path_takes_less_than_half_of_the_iterations():
    X, y = tall()
    path, folds = [float(C) for C in 10.0 ** np.arange(-3, 3.1, 0.5)], [train for train, _ in KFold(2).split(X)]
    machine = LinearSVOR(solver="linear-interior-point", tol=1e-3)
    fits = list(nested(machine, X, y, np.ones(len(y)), path, folds))
    alone = [clone(machine).set_params(C=fitted.C).fit(X[rows], y[rows]).n_iter_ for fitted, rows in fits]
    assert sum(fitted.n_iter_ for fitted, _ in fits) < 0.5 * sum(alone)
    assert min(fitted.n_iter_ for fitted, _ in fits) == 0  # weights of a smaller C are within tol
    assert all(fitted.result_.relative_gap <= 1e-3 for fitted, _ in fits)


def test_machines_of_a_path_can_be_pickled():
    X, y = tall(200)
    (fitted, rows), *_ = nested(LinearSVOR(), X, y, np.ones(200), [1.0], [np.arange(150)])
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert certify(again, X[rows], y[rows]).gap == pytest.approx(fitted.result_.gap, rel=1e-6)


# warm_start


@every_machine
@both_losses
def test_warm_start_takes_fewer_iterations_and_ends_at_the_optimum(model, squared):
    X, y = data(model, seed=7, n=60)
    weight = np.random.default_rng(7).uniform(0.5, 2.0, len(y))
    warm = model(loss=loss_name(model, squared), solver="linear-interior-point", tol=1e-6, warm_start=True)
    cold = clone(warm).set_params(warm_start=False)
    warm.fit(X, y, weight)
    for C in (1.1, 1.1, 0.9):
        fewer = warm.set_params(C=C).fit(X, y, weight).n_iter_
        assert fewer < cold.set_params(C=C).fit(X, y, weight).n_iter_
        assert warm.result_.relative_gap <= 1e-6
        assert warm.result_.objective == pytest.approx(optimum(warm, X, y, weight), rel=2e-6)
    coarse = clone(warm).set_params(tol=1e-2).fit(X, y, weight)
    assert coarse.set_params(tol=1e-6).fit(X, y, weight).result_.relative_gap <= 1e-6


@every_machine
def test_warm_start_from_anything_ends_at_the_optimum(model):
    X, y = data(model, seed=8)
    fitted = model(solver="linear-interior-point", tol=1e-6, warm_start=True).fit(X, y)
    others = [(X, y[::-1]), (1e3 * X, y), (X[:20], y[:20]), (np.hstack([X, X[:, :1]]), y), (X, y)]
    for number, (samples, target) in enumerate(others):
        fitted.set_params(C=10.0 ** (number - 2)).fit(samples, target)
        assert fitted.result_.objective == pytest.approx(optimum(fitted, samples, target), rel=2e-6)
    if model is not LinearSVOR:
        fitted.set_params(fit_intercept=False).fit(X, y)
        assert fitted.result_.objective == pytest.approx(optimum(fitted, X, y), rel=2e-6)


# Rows


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "splitter", [KFold(5), ShuffleSplit(4, random_state=0), KFold(4, shuffle=True, random_state=1)]
)
@pytest.mark.parametrize("copies", [False, True])
def test_every_fold_has_its_own_rows(kind, splitter, copies, monkeypatch):
    if not copies:
        monkeypatch.setattr(folded_rows, "SHORT_RUN", 0)
    X, _ = tall(500)
    folds = [train for train, _ in splitter.split(X)]
    rows = FoldedRows(kind(X), folds)
    for number, train in enumerate(folds):
        np.testing.assert_array_equal(np.sort(rows.numbers(number)), np.sort(train))
        fold = rows.fold(number)
        lengths = [len(block) for _, block in fold.blocks()]
        assert [first for first, _ in fold.blocks()] == [0, *np.cumsum(lengths)[:-1]]
        assert sum(lengths) == fold.n_samples == len(train)
    assert copies or sum(len(block.rows) for block in rows.blocks) <= 500  # once, whatever the number of folds


def test_folds_share_passes_where_their_rows_lie_in_long_runs():
    partition = [train for train, _ in KFold(10).split(np.zeros(1000))]
    assert list(shareable_folds(1000, partition)) == [list(range(10))]
    random = [train for train, _ in ShuffleSplit(9, random_state=0).split(np.zeros(1000))]
    groups = list(shareable_folds(1000, random))
    assert [number for group in groups for number in group] == list(range(9))
    assert len(groups) > 1
    many = [train for train, _ in KFold(70).split(np.zeros(200_000))]
    assert [len(group) for group in shareable_folds(200_000, many)] == [60, 10]


# The search


@every_machine
@both_losses
def test_answers_of_grid_search(model, squared, spied):
    X, y = data(model, seed=3, n=120)
    ours, theirs = both(model(loss=loss_name(model, squared), **FEATURES), GRID, X, y, return_train_score=True)
    assert len(spied) == 25
    assert_same_search(ours, theirs)
    np.testing.assert_allclose(ours.best_estimator_.coef_, theirs.best_estimator_.coef_)


@pytest.mark.parametrize(
    ("estimator", "grid", "fits", "options"),
    [
        (make_pipeline(StandardScaler(), LinearSVOR(**FEATURES)), {"linearsvor__C": [0.1, 1.0, 10.0]}, 15, MAE),
        (make_pipeline(StandardScaler(), LinearSVOR(**FEATURES)), {"linearsvor__C": [0.1, 1.0]}, 0, {}),
        (LinearSVC(**FEATURES), {"C": [0.1, 1.0], "class_weight": [None, "balanced"]}, 20, {}),
        (LinearSVOR(**FEATURES), {"C": [0.1, 1.0], "cost": ["absolute", "squared"]}, 20, {}),
        (LinearSVR(fit_intercept=False, **FEATURES), {"C": [0.1, 1.0], "epsilon": [0.0, 0.3]}, 20, {}),
        (LinearSVOR(tol=1e-8), {"C": [0.1, 1.0], "solver": ["linear-interior-point", "rank-dcd"]}, 10, {}),
        (LinearSVOR(**FEATURES), {"C": [0.1, 1.0]}, 8, {"cv": ShuffleSplit(4, random_state=0)}),
        (LinearSVOR(**FEATURES), {"C": [0.1, 1.0]}, 12, {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)}),
        (LinearNPSVOR(C1=1.0, **FEATURES), {"C": [0.1, 1.0]}, 0, {}),
        (LinearSVOR(**FEATURES), {"tol": [1e-8, 1e-6]}, 0, {}),
        (LinearSVOR(time_limit=60.0, **FEATURES), {"C": [0.1, 1.0]}, 0, {}),
        (LinearSVOR(max_iter=3, **FEATURES), {"C": [0.1, 1.0]}, 0, {}),
        (LinearSVOR(callback=lambda progress: False, **FEATURES), {"C": [0.1, 1.0]}, 0, {}),
    ],
)
def test_what_is_trained_in_shared_passes(estimator, grid, fits, options, spied):
    X, y = data(LinearSVOR, seed=4, n=120)  # enough in a fold for the method, behind a scaler too
    assert_same_search(*both(estimator, grid, X, y, **options))
    assert len(spied) == fits


def test_rows_that_a_fold_has_twice_are_trained_on_one_by_one(spied):
    X, y = data(LinearSVOR, seed=4, n=90)
    random = np.random.default_rng(0)
    twice = [(random.integers(0, 90, 90), np.arange(90)) for _ in range(2)]
    from_the_end = [(np.arange(-70, 0), np.arange(20))]
    for folds in (twice, from_the_end):
        assert_same_search(*both(LinearSVOR(**FEATURES), {"C": [0.1, 1.0]}, X, y, cv=folds))
    assert not spied


def test_neither_memory_nor_kind_of_rows_changes_the_answers(spied):
    X, y = tall(300, d=3)
    plain = OrdinalSearchCV(LinearSVOR(**FEATURES), GRID, cv=3).fit(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for samples, limit in [(X, 1e-3), (sp.csr_array(X), 1000), (frame, 1000), (X.tolist(), 1000)]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            other = OrdinalSearchCV(LinearSVOR(**FEATURES), GRID, cv=3, memory_limit=limit).fit(samples, y)
        np.testing.assert_allclose(other.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert len(spied) == 5 * 15


def test_weights_and_a_rank_that_a_fold_lacks(spied):
    X, y = tall(300)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    ours, theirs = both(LinearSVOR(**FEATURES), GRID, X, y, fit={"sample_weight": weight})
    np.testing.assert_array_equal(ours.best_estimator_.coef_, theirs.best_estimator_.coef_)
    missing = [(np.flatnonzero(y < 4), np.arange(300)), (np.arange(200), np.arange(300))]
    assert_same_search(*both(LinearSVOR(**FEATURES), GRID, X, y, cv=missing))
    assert len(spied) == 25 + 10


def test_what_auto_takes_is_searched_by_it(spied):
    """On tall rows all but the least C are trained by features; on few rows of many features none is."""
    X, y = tall(2000, d=100)
    ours, theirs = both(LinearSVOR(), {"C": [1e-4, 0.1, 1.0]}, X, y, cv=3, scoring=mae_scorer)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=0.01)
    assert len(spied) == 6
    both(LinearSVOR(), {"C": [0.1, 1.0]}, X[:30], y[:30], cv=2)
    assert len(spied) == 6


def test_wide_rows_are_trained_on_one_by_one(spied, monkeypatch):
    monkeypatch.setattr(feature_paths, "WIDE", 6)
    X, y = tall(300)
    OrdinalSearchCV(LinearSVOR(**FEATURES), GRID, cv=2).fit(X, y)
    assert not spied
    OrdinalSearchCV(LinearSVOR(**FEATURES), GRID, cv=2).fit(X[:, 1:], y)
    assert len(spied) == 10


def test_candidates_that_fail_do_so_alone(spied):
    X, y = tall(300)
    grid = {"C": [0.1, -1.0, 1.0], "cost": ["absolute", "nonsense"]}
    with pytest.warns(FitFailedWarning, match="C=-1"):
        search = OrdinalSearchCV(LinearSVOR(**FEATURES), grid, cv=2).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(np.isnan(scores), [False, True, True, True, False, True])
    assert len(spied) == 4
    alone = [(np.arange(150), np.arange(150, 300)), (np.flatnonzero(y == 1), np.arange(150))]
    with pytest.warns(FitFailedWarning, match="class|label|rank"):
        search = OrdinalSearchCV(LinearSVOR(**FEATURES), {"C": [0.1, 1.0]}, cv=alone, refit=False).fit(X, y)
    np.testing.assert_array_equal(np.isnan(search.cv_results_["split1_test_score"]), True)
    np.testing.assert_array_equal(np.isnan(search.cv_results_["split0_test_score"]), False)


def test_a_tolerance_beyond_float64_is_said():
    X, y = tall(200)
    with pytest.warns(ConvergenceWarning, match="precision"):
        OrdinalSearchCV(LinearSVOR(solver="linear-interior-point", tol=1e-18), {"C": [0.1, 1.0]}, cv=2).fit(X, y)


def test_a_search_that_was_interrupted_goes_on_at_the_first_fit_without_an_outcome(tmp_path):
    X, y = tall(300)
    scorer = CrashingScorer()
    search = OrdinalSearchCV(LinearSVOR(**FEATURES), GRID, cv=3, scoring=scorer)
    plain = search.fit(X, y).cv_results_["mean_test_score"]
    scorer.left, scorer.count = 6, 0
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y, checkpoint=tmp_path)
    scorer.left, scorer.count = -1, 0
    search.fit(X, y, checkpoint=tmp_path)
    assert scorer.count == 15 - 6
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain)
    assert np.all(search.cv_results_["mean_fit_time"] > 0)
