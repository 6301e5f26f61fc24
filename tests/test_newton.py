"""Newton's method at the end of the block method: it finds the optimum or stays away, and certificates judge."""

import numpy as np
import pytest

from ordsvm import SVC, SVOR, SVOREX, SVORIM, SVR
from ordsvm.estimators.base import prepare
from ordsvm.kernels import RBF
from ordsvm.solvers import Block, Control, KernelMatrix, solve
from ordsvm.solvers.kernel.block import block
from ordsvm.solvers.kernel.block.changing_system import ChangingSystem
from ordsvm.solvers.kernel.block.damped_newton import damped_newton
from ordsvm.solvers.kernel.block.newton import Point, newton
from tests.cases import random_data

X, Y = random_data(0, n=150, noise=2.0)
K = RBF(0.1)(X, X)
MACHINES = {
    "free": SVORIM(C=50.0),
    "penalised": SVOR(C=50.0),
    "none": SVC(C=50.0, intercept="none"),
    "ordered": SVOREX(C=50.0),
    "regression": SVR(C=50.0, epsilon=0.1),
}


def problem_of(name):
    """The problem, and the kernel matrix of its samples in their order."""
    labels = {"none": np.median(Y) < Y, "regression": X[:, 0] ** 2 + 0.1 * Y}.get(name, Y)
    task = prepare(MACHINES[name], X, labels).task
    ordered = X[task.order]
    return task.problems[0], KernelMatrix(RBF(0.1).rows(ordered)), K[np.ix_(task.order, task.order)]


def proof_of(problem, values, alpha):
    return problem.certificate(alpha, values @ problem.beta(alpha))


@pytest.mark.parametrize("tol", [1e-4, 1e-6])
@pytest.mark.parametrize("name", MACHINES)
def test_it_ends_at_the_optimum_if_that_is_near(name, tol):
    problem, matrix, values = problem_of(name)
    near = solve(problem, matrix, Block(newton=False), Control(tol=3e-3)).result.alpha
    found = newton(problem, matrix, Point(near, values @ problem.beta(near)), tol)
    assert found is not None
    np.testing.assert_array_equal(found.alpha, problem.repair(found.alpha))
    assert proof_of(problem, values, found.alpha).violation <= tol
    np.testing.assert_allclose(found.score, values @ problem.beta(found.alpha), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", MACHINES)
def test_it_gives_up_or_is_right_wherever_it_starts(name):
    problem, matrix, values = problem_of(name)
    rng = np.random.default_rng(0)
    for _ in range(20):
        alpha = problem.repair(problem.hinges.cap * rng.integers(0, 3, len(problem.hinges)) / 2)
        found = newton(problem, matrix, Point(alpha, values @ problem.beta(alpha)), 1e-3)
        assert found is None or proof_of(problem, values, found.alpha).violation <= 1e-3


@pytest.mark.parametrize("name", MACHINES)
def test_the_start_is_not_touched(name):
    problem, matrix, values = problem_of(name)
    alpha = solve(problem, matrix, Block(newton=False), Control(tol=1e-2)).result.alpha
    start = Point(alpha.copy(), values @ problem.beta(alpha))
    newton(problem, matrix, start, 1e-3)
    np.testing.assert_array_equal(start.alpha, alpha)


def test_it_stops_when_told_to():
    problem, matrix, values = problem_of("free")
    near = solve(problem, matrix, Block(newton=False), Control(tol=1e-2)).result.alpha
    assert newton(problem, matrix, Point(near, values @ problem.beta(near)), 1e-3, stop=lambda: True) is None


@pytest.fixture
def attempts(monkeypatch):
    """What attempts at Newton's method have found, which are made earlier than usual, and whatever they cost."""
    made = []

    def counted(method):
        def call(*arguments):
            made.append(method(*arguments))
            return made[-1]

        return call

    monkeypatch.setattr(block, "newton_start_violation", lambda problem: 0.1)
    monkeypatch.setattr(block, "steps_of_start", lambda run: 10**9)
    monkeypatch.setattr(block, "newton", counted(newton))
    monkeypatch.setattr(block, "damped_newton", counted(damped_newton))
    return made


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("name", MACHINES)
def test_certificates_whatever_it_does(name, tol, attempts):
    problem, matrix, values = problem_of(name)
    ours = solve(problem, matrix, Block(), Control(tol=tol))
    plain = solve(problem, matrix, Block(newton=False), Control(tol=tol))
    assert ours.result.status == "converged"
    proof = proof_of(problem, values, ours.result.alpha)
    assert max(proof.relative_gap, proof.violation) <= tol
    assert ours.result.objective == pytest.approx(plain.result.objective, rel=2 * tol)
    assert attempts
    assert any(found is not None for found in attempts) or tol > 1e-3


def test_it_saves_steps_where_c_is_large():
    samples, ranks = random_data(0, n=400, noise=2.0)
    with_newton = SVORIM(C=1000.0, gamma=0.1, solver=Block()).fit(samples, ranks).result_
    without = SVORIM(C=1000.0, gamma=0.1, solver=Block(newton=False)).fit(samples, ranks).result_
    assert with_newton.converged
    assert without.converged
    assert with_newton.n_iter < without.n_iter


def test_tied_thresholds_are_one(attempts):
    """Two ranks that nothing tells apart: the thresholds around them are equal in the ordered machine."""
    samples, ranks = random_data(1, n=200, noise=1.0)
    confused = np.where(ranks == 2, np.random.default_rng(0).permutation(ranks), ranks)
    model = SVOREX(C=20.0, gamma=0.1, tol=1e-5, solver=Block()).fit(samples, confused)
    assert model.result_.converged
    assert attempts


def test_equal_samples_do_not_matter(attempts):
    """A kernel matrix of rank one half."""
    samples, ranks = np.repeat(X, 2, axis=0), np.tile(Y, 2)
    result = SVORIM(C=20.0, gamma=0.1, tol=1e-4, solver=Block()).fit(samples, ranks).result_
    assert result.converged
    assert attempts


def test_time_limits_hold(monkeypatch):
    samples, ranks = random_data(0, n=600, noise=3.0)

    def late(problem, matrix, start, tol, n_threads, stop):
        while not stop():
            pass

    for method in ("newton", "damped_newton"):
        monkeypatch.setattr(block, method, late)
    result = SVORIM(C=1e4, gamma=0.01, tol=1e-9, time_limit=0.5, solver=Block()).fit(samples, ranks).result_
    assert result.status == "time_limit"
    assert np.isfinite(result.gap)


def test_thresholds_without_hinges(attempts):
    """Ranks without samples: the threshold between them has no hinge, and is a group of its own."""
    rng = np.random.default_rng(0)
    ranks = rng.choice([0, 1, 4, 5], 400)
    centres = np.array([0.0, 0.5, np.nan, np.nan, 10.0, 10.5])[ranks]
    samples = np.column_stack([centres + 0.5 * rng.normal(size=400), rng.normal(size=400)])
    model = SVOREX(kernel="linear", C=1.0, tol=1e-4, categories=list(range(6)), solver=Block()).fit(samples, ranks)
    assert model.result_.converged
    assert attempts


@pytest.mark.parametrize("name", MACHINES)
def test_no_step_is_taken_where_none_is_allowed(name, attempts):
    problem, matrix, _ = problem_of(name)
    start = solve(problem, matrix, Block(newton=False), Control(tol=1e-2)).result.alpha
    stopped = solve(problem, matrix, Block(), Control(tol=1e-5, max_iter=0), start=start).result
    assert stopped.status == "max_iter"
    np.testing.assert_array_equal(stopped.alpha, problem.repair(start))
    assert not attempts


def test_the_same_attempt_is_not_made_again(monkeypatch):
    problem, matrix, _ = problem_of("free")
    starts = []

    def hopeless(problem, matrix, start, *_):
        starts.append(start.alpha)

    monkeypatch.setattr(block, "newton", hopeless)
    monkeypatch.setattr(block, "steps_of_start", lambda run: 10**9)
    warm = solve(problem, matrix, Block(newton=False), Control(tol=1e-4)).result.alpha
    assert solve(problem, matrix, Block(), Control(tol=1e-8), start=warm).result.converged
    assert starts
    assert len({start.tobytes() for start in starts}) == len(starts)


# The systems


def part_of(matrix):
    return lambda rows, columns: np.ascontiguousarray(matrix[np.ix_(rows, columns)])


def test_a_changing_system_has_the_solutions_of_systems_made_anew():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(60, 3))
    matrix = RBF(0.2)(samples, samples)
    ridge = rng.uniform(0.01, 0.02, 60)
    first = np.sort(rng.choice(60, 30, replace=False))
    system = ChangingSystem(part_of(matrix), 60, first, ridge[first])
    for size in (30, 25, 40, 1, 33):
        chosen = np.sort(rng.choice(60, size, replace=False)) if size != 30 else first
        right = rng.normal(size=(size, 3))
        expected = np.linalg.solve(matrix[np.ix_(chosen, chosen)] + np.diag(ridge[chosen]), right)
        np.testing.assert_allclose(system.solve(chosen, ridge[chosen], right), expected, rtol=1e-8, atol=1e-8)


def test_a_system_that_is_not_positive_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        ChangingSystem(part_of(np.array([[0.0, 1.0], [1.0, 0.0]])), 2, np.arange(2), np.zeros(2))


def test_parts_of_the_kernel_matrix():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(150, 5))
    rows, columns = rng.integers(0, 150, 70), rng.integers(0, 150, 90)
    expected = RBF(0.3)(samples, samples)[np.ix_(rows, columns)]
    for n_threads in (1, 2):
        np.testing.assert_allclose(RBF(0.3).rows(samples).part(rows, columns, n_threads), expected, rtol=1e-13)
