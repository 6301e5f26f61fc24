"""Fits with all kernel values in memory: certificates judge, whatever steps on pairs and Newton's method do."""

import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import NPSVOR, SVC, SVOR, SVOREX, SVORIM, SVR, _core
from ordsvm.estimators.base import prepare
from ordsvm.kernels import RBF, Custom, Precomputed
from ordsvm.kernels.full_kernel import FullKernel, full_kernel
from ordsvm.problem import Treatment
from ordsvm.search.chain import Chain
from ordsvm.search.full_kernel_path import FullKernelMachinePath, PathMemory
from ordsvm.search.paths import FoldSamples
from ordsvm.solvers.kernel.block import block
from ordsvm.solvers.kernel.block.block import Attempts
from ordsvm.solvers.kernel.full_kernel import FullKernelPath
from tests.cases import random_data

X, Y = random_data(0, n=150, noise=2.0)
TRAINED = np.flatnonzero(np.arange(len(X)) % 5 != 0)
MACHINES = {
    "free": SVORIM(),
    "penalised": SVOR(),
    "none": SVC(intercept="none"),
    "ordered": SVOREX(),
    "two hinges a slot": SVR(),
}


def path_of(name, values_in_memory):
    """A problem about four fifths of the samples."""
    labels = np.median(Y) < Y if name == "none" else Y
    task = prepare(MACHINES[name], X[TRAINED], labels[TRAINED]).task
    return FullKernelPath(values_in_memory, task.problems[0], TRAINED[task.order].astype(np.int32))


def proof_of(path, values_in_memory):
    """By NumPy, from α alone."""
    problem, alpha = path.problem, path._alpha
    np.testing.assert_allclose(problem.repair(alpha), alpha, atol=1e-10 * problem.hinges.cap.max())
    return problem.certificate(alpha, values_in_memory.values() @ problem.beta(alpha))


@pytest.mark.parametrize("source", ["tiles", "wide", "function"])
def test_a_matrix_by_several_threads_and_in_several_parts(source):
    samples = random_data(6, n=901)[0]
    if source == "wide":
        samples = sp.random_array((901, 5000), density=0.002, format="csr", random_state=np.random.default_rng(0))
    kernel = Custom(RBF(0.2)) if source == "function" else RBF(0.2)
    values = full_kernel(kernel, samples, 3)
    assert len(values) == 901
    assert values.largest == 1.0
    np.testing.assert_allclose(values.values(), RBF(0.2)(samples, samples), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-7])
@pytest.mark.parametrize("name", MACHINES)
def test_certificates_along_a_path(name, tol):
    values_in_memory = _core.FullKernel(RBF(0.1).rows(X), 1)
    path = path_of(name, values_in_memory)
    for C in (0.01, 1.0, 10.0, 300.0):
        solution = path.solve(C, tol, None)
        proof = proof_of(path, values_in_memory)
        assert max(proof.relative_gap, proof.violation) <= 1.001 * tol
        assert solution.result.violation == pytest.approx(proof.violation, abs=1e-2 * tol)
        assert solution.result.objective == pytest.approx(proof.primal, rel=1e-8)
        np.testing.assert_allclose(solution.thresholds, proof.thresholds, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(path.scores(), values_in_memory.values() @ path.problem.beta(path._alpha), atol=1e-7)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("gamma", [0.003, 0.1, 3.0])
def test_the_optimum_from_anywhere(name, gamma):
    values_in_memory = _core.FullKernel(RBF(gamma).rows(X), 1)
    path = path_of(name, values_in_memory)
    path.solve(300.0, 1e-3, None)
    problem, rng = path.problem, np.random.default_rng(0)
    for alpha in (np.zeros(len(problem.hinges)), problem.hinges.cap * rng.integers(0, 3, len(problem.hinges)) / 2):
        path._alpha[:] = problem.repair(alpha)
        values_in_memory.product(problem.beta(path._alpha), path._score)
        path._threshold[:] = -problem.gamma(path._alpha) if problem.treatment is Treatment.PENALIZED else 0.0
        assert path.solve(300.0, 1e-5, None) is not None
        proof = proof_of(path, values_in_memory)
        assert max(proof.relative_gap, proof.violation) <= 1.001e-5


def test_newton_is_used_where_steps_take_long(monkeypatch):
    samples, ranks = random_data(1, n=400, noise=3.0)
    task = prepare(SVORIM(), samples, ranks).task
    values_in_memory = _core.FullKernel(RBF(0.02).rows(samples), 1)
    path = FullKernelPath(values_in_memory, task.problems[0], task.order.astype(np.int32))
    found = []

    def counted(method):
        def call(*arguments):
            found.append(method(*arguments))
            return found[-1]

        return call

    for name in ("newton", "damped_newton"):
        monkeypatch.setattr(block, name, counted(getattr(block, name)))
    for C in (1.0, 100.0, 1e4):
        assert path.solve(C, 1e-4, None).result.relative_gap <= 1e-4
    assert any(point is not None for point in found)


@pytest.mark.parametrize("machine", [SVOR, SVORIM, SVOREX])
def test_looks_at_newtons_method_change_no_answer(monkeypatch, machine):
    """However often the core leaves off for it in vain, it goes on from where it was."""
    samples, ranks = random_data(1, n=300, noise=3.0)
    task = prepare(machine(), samples, ranks).task
    values_in_memory = _core.FullKernel(RBF(0.1).rows(samples), 1)
    monkeypatch.setattr(block, "LEAST_PATIENCE", 200)
    found = []
    for methods in (Attempts.methods, lambda attempts, alpha, violation, steps: found.append(steps) or []):
        monkeypatch.setattr(Attempts, "methods", methods)
        path = FullKernelPath(values_in_memory, task.problems[0], task.order.astype(np.int32))
        objectives = [path.solve(C, 1e-3, None).result.objective for C in (1.0, 30.0)]
        found.append(objectives)
    assert len(found) > 2
    np.testing.assert_allclose(found[0], found[-1], rtol=2e-3)


def test_equal_rows_do_not_matter():
    """A kernel matrix of rank one half, in which a system without a ridge has no solution."""
    values = np.ones((2, 2)).repeat(75, axis=0).repeat(75, axis=1) + np.kron(np.eye(75), np.ones((2, 2)))
    values_in_memory = _core.FullKernel(Precomputed().rows(values), 1)
    path = path_of("free", values_in_memory)
    assert path.solve(100.0, 1e-4, None) is not None
    assert proof_of(path, values_in_memory).relative_gap <= 1e-4


def test_a_better_start_is_taken():
    values_in_memory = _core.FullKernel(RBF(0.1).rows(X), 1)
    first, second, third = (path_of("penalised", values_in_memory) for _ in range(3))
    alpha = first.solve(3.0, 1e-6, None).result.alpha
    assert second.solve(3.0, 1e-3, alpha).result.n_iter == 0
    assert third.solve(3.0, 1e-3, np.zeros_like(alpha)).result.n_iter > 0


@pytest.mark.parametrize("machine", [SVOR(), SVORIM(), SVOREX(), NPSVOR(), SVC()])
def test_a_path_gives_machines_as_they_train_themselves(machine):
    values_in_memory = FullKernel(_core.FullKernel(RBF(0.2).rows(X), 1))
    numbers = np.arange(len(X), dtype=np.float64)[:, np.newaxis]
    machine = machine.set_params(kernel=values_in_memory, tol=1e-7)
    train = FoldSamples(numbers[TRAINED], Y[TRAINED], None)
    path_of_machine = FullKernelMachinePath(
        machine, train, "", kernel=values_in_memory, before=PathMemory(), own=PathMemory()
    )
    for C in (0.5, 20.0):
        ours = path_of_machine.fit(C)
        alone = type(machine)(C=C, gamma=0.2, tol=1e-7).fit(X[TRAINED], Y[TRAINED])
        assert ours.result_.converged
        assert ours.result_.objective == pytest.approx(alone.result_.objective, rel=1e-6)
        np.testing.assert_allclose(ours.decision_function(numbers), alone.decision_function(X), atol=1e-3)
        np.testing.assert_array_equal(ours.predict(numbers), alone.predict(X))


def test_what_the_core_cannot_do_the_machine_does():
    values_in_memory = FullKernel(_core.FullKernel(RBF(0.2).rows(X), 1))
    numbers = np.arange(len(X), dtype=np.float64)[:, np.newaxis]
    machine = SVORIM(kernel=values_in_memory, tol=1e-30)
    train = FoldSamples(numbers, Y, None)
    path_of_machine = FullKernelMachinePath(
        machine, train, "", kernel=values_in_memory, before=PathMemory(), own=PathMemory()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = path_of_machine.fit(1.0).result_
    assert result.status in ("precision", "gap")
    assert result.relative_gap < 1e-8


def test_values_are_those_of_the_kernel():
    values_in_memory = _core.FullKernel(RBF(0.3).rows(X), 1)
    assert isinstance(values_in_memory, _core.FullKernel)
    np.testing.assert_allclose(values_in_memory.values(), RBF(0.3)(X, X), atol=1e-12)


def test_a_chain_hands_on_within_a_fold_and_ends_with_an_error():
    chain = Chain([0, 1, 0, 1])
    with chain.link(0) as (beside, mine):
        assert not beside.alpha
        mine.alpha["", 1.0, 0] = np.ones(2)
    waiting = threading.Thread(target=lambda: chain.link(3).__enter__(), daemon=True)
    waiting.start()
    with chain.link(2) as (beside, _):
        assert list(beside.alpha) == [("", 1.0, 0)]
    assert waiting.is_alive()
    with pytest.raises(ValueError, match="bad"), chain.link(1):
        raise ValueError("bad")
    waiting.join(10)
    assert not waiting.is_alive()
