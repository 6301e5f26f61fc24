"""Newton's method with a proximal term: it ends at the optimum from far away, and certificates judge."""

import numpy as np
import pytest

from ordsvm import SVC, SVOR, SVOREX, SVORIM, SVR
from ordsvm.estimators.base import prepare
from ordsvm.kernels import RBF
from ordsvm.solvers import Block, Control, KernelMatrix, solve
from ordsvm.solvers.kernel.block import block
from ordsvm.solvers.kernel.block.block import LEAST_PATIENCE, Attempts, Costs, newton_start_violation
from ordsvm.solvers.kernel.block.damped_newton import damped_newton
from ordsvm.solvers.kernel.block.newton import Point
from ordsvm.solvers.kernel.run import Run
from tests.cases import random_data

X, Y = random_data(0, n=150, noise=2.0)
WEIGHT = np.random.default_rng(0).uniform(0.2, 3.0, len(Y))
MACHINES = {
    "free": SVORIM(C=200.0),
    "penalised": SVOR(C=200.0),
    "none": SVC(C=200.0, intercept="none"),
    "regression": SVR(C=200.0, epsilon=0.1),
}


def problem_of(name, machine=None):
    """The problem, and the kernel matrix of its samples in their order."""
    labels = {"none": np.median(Y) < Y, "regression": X[:, 0] ** 2 + 0.1 * Y}.get(name, Y)
    task = prepare(machine or MACHINES[name], X, labels, WEIGHT).task
    return task.problems[0], KernelMatrix(RBF(0.1).rows(X[task.order]))


def point(problem, matrix, alpha):
    return Point(alpha, matrix.product(problem.beta(alpha)))


@pytest.mark.parametrize("far", [0.02, 0.2, 0.7])
@pytest.mark.parametrize("name", MACHINES)
def test_it_ends_at_the_optimum_from_far_away(name, far):
    problem, matrix = problem_of(name)
    start = point(problem, matrix, solve(problem, matrix, Block(newton=False), Control(tol=far)).result.alpha)
    before = start.alpha.copy(), start.score.copy()
    found = damped_newton(problem, matrix, start, 1e-5)
    assert found is not None
    np.testing.assert_array_equal(found.alpha, problem.repair(found.alpha))
    proof = problem.certificate(found.alpha, matrix.product(problem.beta(found.alpha)))
    assert proof.violation <= 1e-5
    np.testing.assert_array_equal(start.alpha, before[0])
    np.testing.assert_array_equal(start.score, before[1])


@pytest.mark.parametrize("name", MACHINES)
def test_it_gives_up_or_is_right_wherever_it_starts(name):
    problem, matrix = problem_of(name)
    rng = np.random.default_rng(0)
    for _ in range(5):
        alpha = problem.repair(problem.hinges.cap * rng.integers(0, 3, len(problem.hinges)) / 2)
        found = damped_newton(problem, matrix, point(problem, matrix, alpha), 1e-3)
        if found is not None:
            assert problem.violation(found.alpha, matrix.product(problem.beta(found.alpha))) <= 1e-3


def test_ordered_thresholds_are_left_to_the_plain_method():
    problem, matrix = problem_of("ordered", SVOREX(C=200.0))
    alpha = solve(problem, matrix, Block(newton=False), Control(tol=0.02)).result.alpha
    assert damped_newton(problem, matrix, point(problem, matrix, alpha), 1e-3) is None
    attempts = block.Jumps(Run(problem, matrix, Block(), Control(), alpha), 1)
    assert attempts.start == newton_start_violation(problem)


def test_it_stops_when_told_to():
    problem, matrix = problem_of("penalised")
    alpha = solve(problem, matrix, Block(newton=False), Control(tol=0.2)).result.alpha
    calls = iter([False, False, True])
    assert damped_newton(problem, matrix, point(problem, matrix, alpha), 1e-3, stop=lambda: next(calls)) is None


@pytest.mark.parametrize("found", [True, False])
def test_every_start_is_below_the_last_one(monkeypatch, found):
    """Or the core, whose scores are rounded, would leave off for ever where it has left off."""
    problem, matrix = problem_of("penalised")
    alpha = solve(problem, matrix, Block(newton=False), Control(tol=0.3)).result.alpha
    monkeypatch.setattr(Attempts, "_damped_cost", lambda *_: 0.0 if found else np.inf)
    for method in ("newton", "damped_newton"):
        monkeypatch.setattr(block, method, lambda *_: None)
    run = Run(problem, matrix, Block(), Control(tol=1e-3), alpha)
    attempts = block.Jumps(run, 1)
    for _ in range(20):
        before = attempts.start
        attempts.jump()
        assert 0.0 < attempts.start < before


def test_it_is_not_tried_where_memory_or_time_is_not_for_it():
    problem, matrix = problem_of("penalised")
    alpha = solve(problem, matrix, Block(newton=False), Control(tol=0.3)).result.alpha
    attempts = Attempts(problem, 1e-3, Costs(4e-3, matrix.budget))
    poor = Attempts(problem, 1e-3, Costs(4e-3, 1000))
    assert damped_newton not in poor.methods(alpha, 0.3, 10**9)
    assert poor.patience == 10**9  # as long as it has taken so far
    assert damped_newton not in attempts.methods(alpha, 0.3, 10)
    assert attempts.patience == LEAST_PATIENCE
    assert damped_newton in attempts.methods(alpha, 0.3, 10**7)


@pytest.mark.parametrize("model", [SVOR, SVORIM])
def test_it_saves_most_steps_at_large_c(model):
    samples, ranks = random_data(0, n=500, noise=2.0)
    options = {"C": 1000.0, "gamma": 0.1}
    ours = model(**options, solver=Block()).fit(samples, ranks).result_
    plain = model(**options, solver=Block(newton=False)).fit(samples, ranks).result_
    assert ours.converged
    assert ours.n_iter < 0.5 * plain.n_iter
    assert ours.objective == pytest.approx(plain.objective, rel=2e-3)


def test_long_rows_are_one_working_set_where_memory_holds_them():
    problem, matrix = problem_of("penalised")
    run = Run(problem, matrix, Block(), Control(), None)
    assert block._whole_set(run) == len(Y)  # of a source without samples the features are taken to be many
    matrix.budget = 8 * len(Y) ** 2 - 1
    assert block._whole_set(run) == 0
    matrix.budget, matrix.source = 10**9, (RBF(0.1), X)
    assert X.shape[1] < block.LONG_ROW
    assert block._whole_set(run) == 0
