"""The solver of searches: Newton's method jumps to the optimum or stays away from it, and certificates judge."""

import numpy as np
import pytest

from ordsvm import SVC, SVOR, SVOREX, SVORIM
from ordsvm.kernels import RBF
from ordsvm.model_selection import block_newton
from ordsvm.model_selection.block_newton import BlockNewton
from ordsvm.model_selection.known_kernel import KnownMatrix
from ordsvm.model_selection.newton import newton
from ordsvm.solvers import Block, Control, solve
from tests.cases import random_data

X, Y = random_data(0, n=150, noise=2.0)
K = RBF(0.1)(X, X)
MACHINES = {
    "free": SVORIM(C=50.0),
    "penalised": SVOR(C=50.0),
    "none": SVC(C=50.0, intercept="none"),
    "ordered": SVOREX(C=50.0),
}


def problem_of(name):
    labels = np.median(Y) < Y if name == "none" else Y
    _, _, task = MACHINES[name]._prepare(X, labels, None)
    return task.problems[0], K[np.ix_(task.order, task.order)]


@pytest.mark.parametrize("name", ["free", "penalised", "none"])
def test_newton_ends_at_the_optimum_if_it_is_near(name):
    problem, values = problem_of(name)
    near = solve(problem, KnownMatrix(values, 200.0), Block(), Control(tol=1e-2))
    alpha = newton(problem, values, near.result.alpha)
    assert alpha is not None
    assert np.all((alpha >= 0) & (alpha <= problem.hinges.cap))
    np.testing.assert_array_equal(alpha, problem.repair(alpha))
    proof = problem.certificate(alpha, values @ problem.beta(alpha))
    assert proof.violation < 1e-5
    assert proof.relative_gap < 1e-6
    assert near.result.relative_gap > 10 * proof.relative_gap


@pytest.mark.parametrize("name", ["free", "penalised", "none"])
def test_newton_gives_up_or_is_right_wherever_it_starts(name):
    problem, values = problem_of(name)
    rng = np.random.default_rng(0)
    for _ in range(20):
        alpha = problem.repair(problem.hinges.cap * rng.integers(0, 3, len(problem.hinges)) / 2)
        found = newton(problem, values, alpha)
        if found is not None:
            found = problem.repair(found)
            assert problem.certificate(found, values @ problem.beta(found)).violation < 1e-4


@pytest.fixture
def attempts(monkeypatch):
    """With a step for every hinge before attempts at Newton's method there are many of them."""
    made = []

    def counted(*arguments):
        made.append(newton(*arguments))
        return made[-1]

    monkeypatch.setattr(block_newton, "FIRST_STEPS", 1)
    monkeypatch.setattr(block_newton, "NEAR", 10.0)
    monkeypatch.setattr(block_newton, "STEPS_OF_A_SYSTEM", 0.0)
    monkeypatch.setattr(block_newton, "newton", counted)
    return made


def test_equal_rows_do_not_matter(attempts):
    """A kernel matrix of rank one half."""
    problem, _ = problem_of("free")
    values = np.ones((2, 2)).repeat(75, axis=0).repeat(75, axis=1) + np.kron(np.eye(75), np.ones((2, 2)))
    solution = solve(problem, KnownMatrix(values, 200.0), BlockNewton(), Control(tol=1e-4))
    assert solution.result.converged
    assert attempts


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("name", MACHINES)
def test_certificates_whatever_newton_does(name, tol, attempts):
    problem, values = problem_of(name)
    matrix = KnownMatrix(values, 200.0)
    ours = solve(problem, matrix, BlockNewton(), Control(tol=tol))
    plain = solve(problem, matrix, Block(), Control(tol=tol))
    assert ours.result.status == "converged"
    assert max(ours.result.relative_gap, ours.result.violation) <= tol
    assert ours.result.objective == pytest.approx(plain.result.objective, rel=2 * tol)
    assert (len(attempts) > 0) == (name != "ordered")
    assert any(found is not None for found in attempts) or name == "ordered" or tol > 1e-3


def test_limits_hold():
    samples, ranks = random_data(0, n=600, noise=3.0)
    _, _, task = SVORIM(C=1e5)._prepare(samples, ranks, None)
    matrix = KnownMatrix(RBF(0.01)(samples, samples), 200.0)
    late = solve(task.problems[0], matrix, BlockNewton(), Control(tol=1e-9, time_limit=1e-3))
    assert late.result.status == "time_limit"
    assert np.isfinite(late.result.gap)
