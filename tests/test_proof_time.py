"""A time limit holds for the proof at the end too: what it will take is measured and kept back."""

import numpy as np
import pytest

from ordsvm.formulations import svor
from ordsvm.kernels import RBF
from ordsvm.solvers import GCD, Control, KernelMatrix, solve
from ordsvm.solvers import recorder as recording
from ordsvm.solvers.kernel import proof_time, run


class Clock:
    """In place of the module `time`: it goes on by what is said to have happened."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    for module in (recording, proof_time, run):
        monkeypatch.setattr(module, "time", made)
    monkeypatch.setattr(proof_time, "FEW_VALUES", 1000)
    return made


class SlowMatrix(KernelMatrix):
    """A product takes so many seconds, and more for every value of K."""

    clock: Clock
    products = 0

    def product(self, beta, n_threads=1):
        rows = np.count_nonzero(beta)
        self.clock.now += 0.05 + 1e-5 * (rows * len(beta) - rows * (rows - 1) / 2)
        self.products += 1
        return super().product(beta, n_threads)


@pytest.mark.parametrize("limit", [4.0, 10.0, 40.0])
def test_the_proof_is_part_of_the_time_limit(clock, limit, monkeypatch):
    """Without that it came on top: here 1.8 seconds, 14 of them after 40 with 60,000 samples."""
    X = np.random.default_rng(0).normal(size=(600, 5))
    matrix = SlowMatrix(RBF(0.2).rows(X))
    matrix.clock = clock
    report = run.Run.report

    def slow_report(self, *counts):
        clock.now += 0.01
        return report(self, *counts)

    monkeypatch.setattr(run.Run, "report", slow_report)
    problem = svor(np.arange(600) % 4, 4, 1e6)
    control = Control(tol=1e-9, time_limit=limit, report_every=20)
    result = solve(problem, matrix, GCD(), control).result
    assert result.status == "time_limit"
    assert 0.97 * limit <= clock.now <= 1.02 * limit
    assert result.seconds == clock.now


def test_small_proofs_are_not_measured():
    def product(beta):
        raise AssertionError

    assert proof_time.ProofTime(product, 1.0).seconds(np.ones(1000)) == 0.0


def test_half_of_the_time_is_for_the_solver(clock):
    def product(beta):
        clock.now += np.count_nonzero(beta)
        return beta

    assert proof_time.ProofTime(product, 100.0).seconds(np.ones(5000)) == pytest.approx(50.0)


@pytest.mark.parametrize("n_support", [1, 5, 9, 15])
def test_few_support_vectors_are_not_measured(n_support):
    beta = np.zeros(2_500_000)
    beta[:n_support] = 1.0
    assert proof_time.ProofTime(lambda beta: beta, 3.0).seconds(beta) == 0.0
