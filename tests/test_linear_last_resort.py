"""Linear machines on badly scaled features: where passes lead nowhere, the interior-point method goes on."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.campaign.answers import train
from benchmarks.campaign.cases import draw
from ordsvm import SVR, LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, certify
from ordsvm.formulations.linear import svor
from ordsvm.result import FitResult
from ordsvm.rows.memory import RowsInMemory
from ordsvm.solvers import Control
from ordsvm.solvers.auto import LEAST_PASSES, LinearRows, Work, most_passes
from ordsvm.solvers.blas import MANY_ROWS, threads_for
from ordsvm.solvers.linear.dual_refinement import refined
from ordsvm.solvers.linear.feature_task import FeatureRows, FeatureTask
from ordsvm.solvers.linear.interior_point import FeatureNewton, wide_core
from ordsvm.solvers.linear.last_resort import Ways, solve_with_last_resort
from ordsvm.solvers.linear.losses import losses, weights
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.linear.solve import solve_linear, squared_norms
from ordsvm.solvers.linear.wide_system import MOST_STEPS
from ordsvm.solvers.solution import DualVariables, LinearSolution
from tests.cases import random_data
from tests.linear_cases import both_losses, data, every_machine, loss_name
from tests.linear_truth import true_gap


def unscaled(model, n=60, seed=3):
    """Columns of sizes from 1e-4 to 1e7."""
    X, y = data(model, seed=seed, n=n)
    return X * np.logspace(-4, 7, X.shape[1]), y


@every_machine
@both_losses
@pytest.mark.parametrize("n", [9, 60])
def test_unscaled_columns_end_converged_with_defaults(model, squared, n):
    X, y = unscaled(model, n)
    fitted = model(C=10.0, loss=loss_name(model, squared)).fit(X, y)
    assert fitted.result_.status == "converged"
    assert fitted.result_.n_iter <= LEAST_PASSES + 150
    assert certify(fitted, X, y).relative_gap <= 1.01e-3


@every_machine
def test_the_descent_goes_first(model):
    """Few rows, so that coordinate descent is what auto begins with."""
    X, y = unscaled(model, n=9)
    X = np.hstack([X, X[:, ::-1]])
    assert not LinearRows.of(X, 1, 10.0, 1e-3).prefers_features()
    fitted = model(C=10.0, tol=1e-5).fit(X, y)
    assert fitted.result_.solver in ("linear-interior-point", "rank-dcd")
    assert fitted.result_.status == "converged"


def test_a_solver_by_name_has_no_last_resort():
    X, y = unscaled(LinearSVOR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LinearSVOR(C=10.0, solver="rank-dcd", max_iter=400).fit(X, y)
    assert (fitted.result_.solver, fitted.result_.status, fitted.result_.n_iter) == ("rank-dcd", "max_iter", 400)


@pytest.mark.parametrize("max_iter", [3, 250])
def test_max_iter_counts_both(max_iter):
    X, y = unscaled(LinearSVOR, n=9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LinearSVOR(C=10.0, tol=1e-9, max_iter=max_iter).fit(X, y)
    assert fitted.result_.n_iter <= max_iter


def test_text_has_none():
    rows = LinearRows(30_000, 300_000, 100.0, 5, 1.0, 1e-2)
    assert most_passes(Work("linear", rows=rows)) is None
    assert most_passes(Work("linear")) is None


# The order of the solvers


def found(status: str, gap: float, n_iter: int) -> LinearSolution:
    result = FitResult(status, "some", n_iter, 1.0, gap, gap, 0.0, 0.1, 0, np.empty(0), ())
    return LinearSolution(np.zeros((1, 1)), np.zeros(1), DualVariables([np.full((2, 1), gap)]), result)


def test_what_is_slow_in_both_ways_goes_on_as_it_began():
    """A descent that is merely slow ends where the interior-point method does not."""
    calls = []

    def descend(control, start, began):
        calls.append((control.max_iter, None if start is None else float(start[0][0, 0])))
        return found("max_iter", 0.5, control.max_iter) if len(calls) == 1 else found("converged", 1e-4, 40)

    ways = Ways(descend, lambda *_: found("precision", 0.7, 20))
    solution = solve_with_last_resort(ways, Control(max_iter=500), None, 300, 0.0)
    assert calls == [(300, None), (180, 0.5)]
    assert (solution.result.status, solution.result.n_iter) == ("converged", 360)


def test_both_have_growing_shares_by_turns():
    """Neither solver goes on for ever while the other one would end."""
    passes, steps = [], []

    def descend(control, start, began):
        passes.append(control.max_iter)
        return found("max_iter", 0.5, control.max_iter) if len(passes) < 3 else found("converged", 1e-4, 7)

    def by_features(control, most_steps):
        steps.append(most_steps)
        return found("max_iter", 0.7, 20)

    solution = solve_with_last_resort(Ways(descend, by_features), Control(max_iter=-1), None, 300, 0.0)
    assert passes == [300, 1200, 4800]
    assert steps == [1200.0, 4800.0]
    assert (solution.result.status, solution.result.n_iter) == ("converged", 300 + 20 + 1200 + 20 + 7)


def test_shares_keep_within_max_iter():
    """The last share of the interior-point method is larger, as the descent has no full one after it."""
    steps = []

    def by_features(control, most_steps):
        steps.append(most_steps)
        return found("max_iter", 0.7, 20)

    ways = Ways(lambda control, *_: found("max_iter", 0.5, control.max_iter), by_features)
    result = solve_with_last_resort(ways, Control(max_iter=1000), None, 300, 0.0).result
    assert (result.status, result.n_iter, steps) == ("max_iter", 1000, [4800.0])


@pytest.mark.parametrize(("of_descent", "of_features"), [("precision", "precision"), ("max_iter", "precision")])
def test_nothing_goes_on_where_max_iter_is_spent(of_descent, of_features):
    """An iteration of the interior-point method more would be one more than was allowed."""
    calls = []

    def descend(control, start, began):
        calls.append("rank-dcd")
        return found(of_descent, 0.5, control.max_iter)

    def by_features(control, most_steps):
        calls.append("linear-interior-point")
        return found(of_features, 0.7, control.max_iter)

    for max_iter, expected in ((300, ["rank-dcd"]), (400, ["rank-dcd", "linear-interior-point"])):
        calls.clear()
        result = solve_with_last_resort(Ways(descend, by_features), Control(max_iter=max_iter), None, 300, 0.0).result
        assert (calls, result.n_iter) == (expected, max_iter)


def test_looks_count_from_the_beginning():
    X, y = unscaled(LinearSVOR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        control = Control(tol=1e-15, max_iter=400, report_every=5)
        table = svor(int(y.max()) + 1, 10.0, np.ones((int(y.max()) + 1, int(y.max()))))
        labels = y.astype(np.int32)
        result = solve_linear(X, labels, table, solver=RankDCD(), control=control, most_passes=50).result
    assert len({look.solver for look in result.history}) == 2
    assert np.all(np.diff([look.n_iter for look in result.history]) >= 0)
    assert np.all(np.diff([look.seconds for look in result.history]) >= 0)
    assert result.history[-1].n_iter <= result.n_iter


def text(n: int, d: int, seed: int):
    """Rows of few words, most of them rare, with ranks that are mostly noise."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, d + 1)
    words = [rng.choice(d, size=rng.integers(2, 30), p=shares / shares.sum()) for _ in range(n)]
    rows = np.repeat(np.arange(n), [len(own) for own in words])
    X = sp.csr_array((np.ones(len(rows)), (rows, np.concatenate(words))), shape=(n, d))
    X.sum_duplicates()
    X = sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.power(2).sum(axis=1))) @ X)
    score = X @ rng.normal(size=d)
    return X, np.digitize(score / score.std() + 2.0 * rng.normal(size=n), [-1.5, 0.0, 1.5])


@pytest.mark.parametrize("C", [10.0, 1000.0])
def test_on_text_the_last_resort_takes_no_more_work_than_its_share(C):
    """Conjugate gradients and what is formed in their place, in steps, as many as the passes before allow for."""
    X, y = text(200, 1600, seed=1)
    spent, control = [], Control(tol=1e-6, max_iter=-1)
    for most_steps in (10.0, 30.0, 100.0):
        task = FeatureTask(svor(4, C), y.astype(np.int32))
        rows = FeatureRows(RowsInMemory(X), squared_norms(RowsInMemory(X), 1), X)
        core = wide_core(X, task, control)
        method = FeatureNewton(rows, task, control, 0.0, core, most_steps=most_steps)
        solution = method.run(np.zeros(3))
        spent.append(core.spent)
        assert solution.result.status == ("converged" if core.spent < most_steps else "max_iter")
        assert core.spent <= most_steps + MOST_STEPS
        assert np.isfinite(solution.result.gap)
    assert spent == sorted(spent)


@pytest.mark.parametrize("status", ["callback", "time_limit", "converged"])
def test_what_a_limit_or_a_callback_ends_has_ended(status):
    ways = Ways(lambda *_: found(status, 0.5, 10), lambda *_: pytest.fail("goes on"))
    assert solve_with_last_resort(ways, Control(), None, 300, 0.0).result.status == status


def test_the_better_model_is_kept():
    ways = Ways(lambda *_: found("precision", 0.2, 10), lambda *_: found("precision", 0.9, 5))
    solution = solve_with_last_resort(ways, Control(), None, 300, 0.0)
    assert (solution.result.gap, solution.result.status, solution.result.n_iter) == (0.2, "precision", 15)


def test_callbacks_see_both_solvers():
    X, y = random_data(1, n=40, n_features=4, n_ranks=3)
    seen = []
    control = Control(tol=1e-6, callback=lambda progress: seen.append(progress.solver), report_every=1)
    table, labels = svor(3, 100.0), y.astype(np.int32)
    scaled = X * np.array([1e-3, 1.0, 1e3, 1e6])
    solve_linear(scaled, labels, table, solver=RankDCD(), control=control, most_passes=20)
    assert set(seen) == {"rank-dcd", "linear-interior-point"}


# The interior-point method on what it had no end for


@pytest.mark.parametrize("model", [LinearSVOR, LinearNPSVOR, LinearSVC])
@pytest.mark.parametrize("seed", range(4))
def test_weights_of_all_sizes(model, seed):
    """Steps that lead away are refused: weights from 1e-3 to 1e5 made it go in circles."""
    X, y = data(model, seed=seed, n=40)
    weight = 10.0 ** np.random.default_rng(seed).uniform(-3, 5, size=len(y))
    fitted = model(C=3.0, tol=1e-6, solver="linear-interior-point").fit(X, y, sample_weight=weight)
    assert fitted.result_.status == "converged"


@both_losses
@pytest.mark.parametrize("solver", ["linear-interior-point", "auto"])
def test_an_objective_of_0(squared, solver):
    """All targets are within the tube: no α inside of the bounds proves it, but 0 does."""
    X, y = data(LinearSVR, seed=1, n=30)
    fitted = LinearSVR(epsilon=10.0 * np.abs(y).max(), loss=loss_name(LinearSVR, squared), solver=solver).fit(X, y)
    assert (fitted.result_.status, fitted.result_.objective, fitted.result_.gap) == ("converged", 0.0, 0.0)
    assert not fitted._beta.array().any()


@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("largest", [1e9, 1e10, 1e12])
def test_the_gap_allows_for_rounding(seed, largest):
    """β in float64 is coarser than α and its distance to the cap, and Σβx rounds: features of 1e10 show it."""
    X, y = random_data(seed, n=40, n_features=4, n_ranks=3, noise=1.0)
    X *= np.array([1.0, 1e3, 1e6, largest])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LinearSVOR(C=1e4, solver="linear-interior-point", tol=1e-2).fit(X, y)
    gap = true_gap(fitted, X, y)
    assert gap <= fitted.result_.gap
    assert gap <= certify(fitted, X, y).gap


def test_sums_that_cancel_are_no_objective():
    """Equal sums of caps on both sides of a threshold, added up in another order, left 1e-13 of it, and so a gap."""
    rng = np.random.default_rng(7)
    y, weight = rng.standard_normal(8), 10.0 ** rng.uniform(-4, 4, size=8)
    for solver in ("gcd", "auto"):
        model = SVR(kernel="rbf", epsilon=5.0, intercept="penalized", C=0.1567, solver=solver)
        result = model.fit(y[:, None], y, sample_weight=weight).result_
        assert (result.status, result.objective) == ("converged", 0.0)


def test_small_matrices_are_factored_by_one_thread():
    assert threads_for(MANY_ROWS - 1, 8) == 1
    assert threads_for(MANY_ROWS, 8) == 8


@pytest.mark.parametrize("number", [512, 2660])
def test_dual_variables_add_up_to_the_weights(number):
    """Features of 1e10: w was right to nine digits, and Σβx, with the rounding of scores times C/τ, was not."""
    case = draw(5, number, time_limit=600.0)
    model, (X, y, weight), _ = train(replace(case, parameters=case.parameters | {"solver": "linear-interior-point"}))
    assert model.result_.status == "converged"
    assert certify(model, X, y, sample_weight=weight).gap <= model.result_.gap * (1 + 1e-6)


def test_corrections_keep_within_the_bounds():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 4)) * np.array([1e-3, 1.0, 1e4, 1e9])
    table, labels = svor(3, 2.0), rng.integers(0, 3, size=40).astype(np.int32)
    loss = losses(table, labels, None, None, False)
    lower, upper = loss.bounds()
    beta = lower + (upper - lower) * rng.uniform(0.01, 0.99, size=lower.shape)
    moved = beta * (1 + 1e-9 * rng.standard_normal(beta.shape))
    target, biases = weights(X, beta, thresholds=True)
    found = refined(X, loss, (moved, target, biases), thresholds=True, intercept=True)
    assert np.all((found.beta >= lower) & (found.beta <= upper))
    before, after = (np.abs(weights(X, each, True)[0] - target).max() for each in (moved, found.beta))
    assert after < 1e-5 * before
