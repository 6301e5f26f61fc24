"""Penalised thresholds before convergence: those that minimise the primal for the present scores, not −γ."""

import numpy as np
import pytest

from ordsvm import SVOR, SVR, RedSVM, certify, formulations
from ordsvm.formulations import svor
from ordsvm.kernels import RBF
from ordsvm.problem import Treatment, thresholds
from ordsvm.problem import hinges as problem_module
from ordsvm.solvers import GCD, Control, KernelMatrix, solve
from tests.cases import FORMULATIONS, random_data
from tests.oracle import dual_optimum

KERNEL = RBF(0.25)
HARD = {"C": 10.0, "gamma": 0.25}


def data(seed: int):
    """Two hundred samples to train on, and a hundred others."""
    X, y = random_data(seed, n=300, n_ranks=5, n_features=4)
    return X[:200], y[:200], X[200:], y[200:]


def cut_short(seed: int, steps: int):
    """A problem, what GCD has found after so many steps, and its scores in float64."""
    X, y, *_ = data(seed)
    problem = svor(y, 5, 10.0)
    solution = solve(problem, KernelMatrix(KERNEL.rows(X)), GCD(), Control(max_iter=steps))
    return problem, solution, KERNEL(X, X) @ problem.beta(solution.result.alpha)


@pytest.mark.parametrize("name", ["svor", "redsvm-zero-one", "npsvor", "svc-penalised", "svr-penalised"])
def test_no_other_thresholds_prove_more(name):
    X, y = random_data(4)
    problem = FORMULATIONS[name](y, 4, 2.0)
    assert problem.treatment is Treatment.PENALIZED
    rng = np.random.default_rng(0)
    alpha = rng.uniform(0, problem.hinges.cap)
    score = KERNEL(X, X) @ problem.beta(alpha)
    best = problem.certificate(alpha, score)
    for scale in (1e-6, 1e-3, 0.1, 1.0):
        for _ in range(20):
            b = best.thresholds + scale * rng.normal(size=problem.n_thresholds)
            assert problem.certificate(alpha, score, b=b).gap > best.gap
    assert problem.certificate(alpha, score, b=problem.dual_thresholds(alpha)).gap > best.gap
    np.testing.assert_array_equal(best.dual_thresholds, -problem.gamma(alpha))


def test_at_the_optimum_they_are_those_of_the_dual():
    X, y = random_data(5)
    problem = svor(y, 4, 2.0)
    optimum = dual_optimum(problem, KERNEL(X, X))
    score = KERNEL(X, X) @ problem.beta(optimum.alpha)
    np.testing.assert_allclose(problem.best_thresholds(score), problem.dual_thresholds(optimum.alpha), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("steps", [10, 50, 200])
def test_a_run_cut_short_is_in_order_and_proves_more(seed, steps):
    """With −γ the objective was 1.3 to 1.7 times as large, and the thresholds were out of order."""
    problem, solution, score = cut_short(seed, steps)
    result, alpha = solution.result, solution.result.alpha
    assert result.status == "max_iter"
    dual = problem.certificate(alpha, score, b=problem.dual_thresholds(alpha))
    assert np.all(np.diff(solution.thresholds) >= 0)
    assert np.any(np.diff(dual.thresholds) < 0)
    assert dual.primal > 1.3 * result.objective
    assert dual.gap > 1.3 * result.gap
    assert result.objective == pytest.approx(problem.primal(alpha, score, solution.thresholds), rel=1e-9)
    assert result.gap == pytest.approx(problem.gap(alpha, score, solution.thresholds), rel=1e-9)


def test_looks_are_about_the_best_thresholds_and_keep_those_of_the_dual():
    X, y, *_ = data(0)
    problem, looks = svor(y, 5, 10.0), []

    def stop(look):
        looks.append(look)
        return True

    control = Control(report_every=50, callback=stop)
    alpha = solve(problem, KernelMatrix(KERNEL.rows(X)), GCD(), control).result.alpha
    score = KERNEL(X, X) @ problem.beta(alpha)
    best = problem.certificate(alpha, score)
    np.testing.assert_allclose(looks[0].thresholds, best.thresholds, atol=1e-4)
    np.testing.assert_allclose(looks[0].dual_thresholds, -problem.gamma(alpha), atol=1e-9)
    assert looks[0].objective == pytest.approx(best.primal, rel=1e-4)
    assert looks[0].gap < problem.certificate(alpha, score, b=-problem.gamma(alpha)).gap / 1.2


@pytest.mark.parametrize("seed", [0, 1])
def test_validation_errors_of_early_looks(seed):
    """While scores are small, the best thresholds predict the middle; −γ predicts anything, up to 1.8 ranks off."""
    X, y, new, true = data(seed)
    middle = np.abs(np.median(y) - true).mean()
    early, of_dual = [], []
    for steps in (10, 50, 100, 200, 400):
        with pytest.warns(Warning, match="stopped by max_iter"):
            model = SVOR(solver="gcd", max_iter=steps, **HARD).fit(X, y, validation=(new, true))
        early.append(model.result_.history[-1].validation_mae)
        assert early[-1] == pytest.approx(np.abs(model.predict(new) - true).mean())
        model.thresholds_ = model.result_.history[-1].dual_thresholds
        of_dual.append(np.abs(model.predict(new) - true).mean())
    assert max(early) <= 1.05 * middle
    assert max(of_dual) > 1.25 * middle


@pytest.mark.parametrize("kind", [SVOR, RedSVM])
@pytest.mark.parametrize("steps", [100, 1000])
def test_a_model_cut_short_holds_what_its_result_is_about(kind, steps):
    X, y, *_ = data(1)
    with pytest.warns(Warning, match="stopped by"):
        model = kind(solver="gcd", max_iter=steps, **HARD).fit(X, y)
    proof = certify(model, X, y)
    assert np.all(np.diff(model.thresholds_) >= 0)
    assert proof.primal == pytest.approx(model.result_.objective, rel=1e-9)
    assert proof.gap == pytest.approx(model.result_.gap, rel=1e-6, abs=1e-9 * proof.primal)


def test_a_penalised_intercept_too():
    X, y, *_ = data(2)
    with pytest.warns(Warning, match="stopped by"):
        model = SVR(intercept="penalized", solver="gcd", max_iter=30, **HARD).fit(X, y + 3.0)
    proof = certify(model, X, y + 3.0)
    assert proof.primal == pytest.approx(model.result_.objective, rel=1e-9)
    model.intercept_ = np.array([model.dual_coef_.sum()])  # γ
    assert certify(model, X, y + 3.0).primal > 1.1 * proof.primal


@pytest.mark.parametrize("make", [formulations.svor, formulations.svorim, formulations.svorex])
def test_very_many_hinges_are_not_all_sorted(make, monkeypatch):
    """Those around the minimiser are enough, be scores continuous, tied or all the same."""
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 20_000)
    score = random.normal(size=len(y)) + y
    problem = make(y, 4, random.uniform(0.5, 2.0, len(y)))
    for f in (score, np.round(score, 1), 0.0 * score):
        expected = problem.best_thresholds(f)
        with monkeypatch.context() as patch:
            for module in (thresholds, problem_module):
                patch.setattr(module, "MANY_LEVELS", 1000)
            np.testing.assert_allclose(problem.best_thresholds(f), expected, rtol=1e-9, atol=1e-9)
