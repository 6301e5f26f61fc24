"""Linear machines that are stopped, go on, or have a hard time; and the solvers they are trained by."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ordsvm import DCD1, DCD2, LinearNPSVOR, LinearSVC, LinearSVOR, RankDCD, certify
from ordsvm.formulations.linear import regression, svor
from ordsvm.solvers import Control
from ordsvm.solvers.linear.solve import solve_linear
from tests.cases import random_data
from tests.linear_cases import (
    TIGHT,
    assert_same_machine,
    both_losses,
    data,
    every_machine,
    loss_name,
    optimum,
    values,
)

# Limits and warm starts


@every_machine
def test_max_iter_warns_and_leaves_a_usable_model(model):
    X, y = data(model, seed=96, n=60)
    message = (
        rf"{model.__name__} was stopped by max_iter after 2 passes over the samples with relative gap .* raise max"
    )
    with pytest.warns(ConvergenceWarning, match=message):
        fitted = model(C=10.0, tol=1e-9, max_iter=2).fit(X, y)
    assert fitted.n_iter_ == 2
    assert fitted.result_.status == "max_iter"
    assert certify(fitted, X, y).gap == pytest.approx(fitted.result_.gap, rel=1e-4)
    assert np.all(np.isfinite(values(fitted, X)))


@every_machine
def test_a_limit_that_came_late_is_none(model):
    """Proved to be within tol, it has converged, however few the passes allowed."""
    X, y = data(model, seed=96, n=60)
    fitted = model(C=1e-6, tol=0.5, max_iter=1).fit(X, y)
    assert fitted.result_.relative_gap <= 0.5
    assert fitted.result_.status == "converged"
    passes = model(C=1.0, tol=1e-5, max_iter=-1).fit(X, y).n_iter_
    statuses = set()
    for max_iter in (1, *range(max(1, passes - 5), passes + 1)):
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            result = model(C=1.0, tol=1e-5, max_iter=max_iter).fit(X, y).result_
        assert (result.status == "converged") == (result.relative_gap <= 1e-5)
        statuses.add(result.status)
    assert statuses == {"converged", "max_iter"}


def hard(model):
    """Takes much longer than the limits of the tests."""
    X, y = data(model, seed=97, n=3000, n_features=30)
    return model(C=1e4, tol=1e-12, max_iter=-1, solver="rank-dcd"), X, y


@every_machine
def test_time_limit(model):
    """However short a pass is: the time that ten of them took ends the fit after a few hundred at most."""
    estimator, X, y = hard(model)
    with pytest.warns(ConvergenceWarning, match="stopped by max_iter"):
        seconds = clone(estimator).set_params(max_iter=10).fit(X, y).result_.seconds
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        fitted = estimator.set_params(time_limit=seconds).fit(X, y)
    assert fitted.result_.status == "time_limit"
    assert fitted.result_.seconds >= seconds
    assert 1 <= fitted.n_iter_ < 300
    assert certify(fitted, X, y).gap == pytest.approx(fitted.result_.gap, rel=1e-4)


@every_machine
def test_a_callback_sees_progress_and_stops(model):
    estimator, X, y = hard(model)
    seen = []

    def stop_at_the_second(progress):
        seen.append(progress)
        return len(seen) == 2

    with pytest.warns(ConvergenceWarning, match="stopped by callback"):
        fitted = estimator.set_params(callback=stop_at_the_second).fit(X, y)
    assert fitted.result_.status == "callback"
    assert len(seen) == 2
    assert list(fitted.result_.history) == seen
    assert seen[0].n_iter < seen[1].n_iter <= fitted.n_iter_
    assert seen[0].solver == "rank-dcd"


@every_machine
def test_warm_start_goes_on_where_the_last_fit_ended(model):
    X, y = data(model, seed=98, n=100)
    weight = np.random.default_rng(98).uniform(0.0, 2.0, size=len(y)).round(1)
    estimator = model(C=2.0, tol=1e-6, max_iter=100_000, warm_start=True)
    fitted = clone(estimator).fit(X, y, weight)
    cold = fitted.n_iter_
    objective = fitted.result_.objective
    fitted.fit(X, y, weight)
    assert fitted.n_iter_ <= 1
    assert fitted.result_.objective <= objective * (1 + 1e-6)
    fitted.set_params(tol=1e-3).fit(X, y, weight)
    assert fitted.n_iter_ == 0
    nearby = fitted.set_params(tol=1e-6, C=2.1).fit(X, y, weight)
    assert nearby.n_iter_ < cold
    assert nearby.result_.objective == pytest.approx(optimum(nearby, X, y, weight), rel=2e-6)


@every_machine
@both_losses
def test_warm_start_from_anything_ends_at_the_optimum(model, squared):
    """Other labels, weights, values of C, or a machine of another shape: feasible, or not used."""
    X, y = data(model, seed=99)
    weight = np.random.default_rng(99).uniform(0.0, 2.0, size=len(y)).round(1)
    fitted = model(C=1.0, warm_start=True, loss=loss_name(model, squared), **TIGHT).fit(X, y)
    for samples, target, given in (
        (X, y[::-1], None),
        (X, y, weight),
        (X[:20], y[:20], None),
        (np.hstack([X, X[:, :1]]), y, weight),
    ):
        fitted.fit(samples, target, given)
        assert fitted.result_.objective == pytest.approx(optimum(fitted, samples, target, given), rel=1e-6)
    if model is LinearNPSVOR:
        fitted.set_params(C1=0.1, C2=3.0, epsilon=0.0).fit(samples, target, given)
        assert fitted.result_.objective == pytest.approx(optimum(fitted, samples, target, given), rel=1e-6)
    if model is LinearSVOR:
        for cost in ("zero-one", "absolute"):  # caps go to 0 and come back
            fitted.set_params(cost=cost).fit(samples, target, given)
            assert fitted.result_.objective == pytest.approx(optimum(fitted, samples, target, given), rel=1e-6)


# Solvers


@pytest.mark.parametrize("solver", ["dcd-1", "dcd-2", DCD1(permute=True, seed=1), DCD2(shrinking=False)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_papers_solvers_train_the_same_machine(solver, fit_intercept):
    X, y = data(LinearNPSVOR, seed=102)
    weight = np.random.default_rng(102).uniform(0.0, 2.0, size=len(y)).round(1)
    settings = {"C1": 0.5, "C2": 1.5, "fit_intercept": fit_intercept, "tol": 1e-9, "max_iter": 100_000}
    by_paper = LinearNPSVOR(solver=solver, **settings).fit(X, y, weight)
    assert_same_machine(by_paper, LinearNPSVOR(**settings).fit(X, y, weight), X)
    assert by_paper.result_.solver == (solver if isinstance(solver, str) else solver.name)
    assert by_paper.result_.solver in ("dcd-1", "dcd-2")
    assert certify(by_paper, X, y, weight).relative_gap <= 1e-8


def test_random_state_seeds_the_papers_solver():
    X, y = data(LinearNPSVOR, seed=103, n=80)
    first, again, other = (LinearNPSVOR(solver="dcd-2", random_state=seed).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)


@pytest.mark.parametrize("model", [LinearNPSVOR, LinearSVOR, LinearSVC])
@both_losses
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_a_lagging_bias_does_not_keep_the_gap_open(model, squared, C):
    """Few features and a large C: a bias that only follows would go in circles here, or away."""
    X, y = random_data(3, n=40)
    fitted = model(C=C, loss=loss_name(model, squared)).fit(X, y)
    assert fitted.result_.status == "converged"
    slow = model(C=C, loss=loss_name(model, squared), solver=RankDCD(rho=1e-3)).fit(X, y)
    assert slow.result_.relative_gap <= 0.01


@pytest.mark.parametrize("tol", [0.01, 0.001])
def test_progress_tells_the_objective_also_before_the_first_proof(tol):
    """With a large bias, which is a good part of it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    score = X @ [1.0, -1.0, 0.5, 0.0] + 0.1 * random.normal(size=300)
    how = {"solver": RankDCD(), "control": Control(tol=tol, max_iter=1000, report_every=1)}
    none, ranks = np.zeros(300, dtype=np.int32), np.digitize(score + 3, [-1.0, 0.0, 1.0]).astype(np.int32)
    for solution in (
        solve_linear(X, none, regression(1.0, 0.1), targets=8.0 + score, **how),
        solve_linear(X, ranks, svor(4, 1.0), **how),
    ):
        result = solution.result
        assert result.history[-1].objective == pytest.approx(result.objective, rel=tol)
        assert result.history[0].objective >= result.objective - result.gap
