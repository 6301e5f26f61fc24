"""The core takes the steps of its NumPy twins, one by one.

Rounding differs in the last bits, and where two candidates are equal but for rounding (the two hinges of a pair of
SMO have the same level after their step) it decides between them. These seeds were chosen so that this does not
happen: the twin takes the same path when every step adds noise of 1e-14 to the scores.
"""

import numpy as np
import pytest

from ordsvm import formulations
from ordsvm.kernels import RBF, Precomputed
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers import GCD, SMO, Control, KernelMatrix, solve
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.reference.gcd import gcd
from tests.reference.smo import smo

TOL = 1e-5
SEEDS = {"svorim": [1, 6], "svc-free": [3, 4], "svr-free": [3, 8]}
CASES = [(name, seed) for name in FORMULATIONS for seed in SEEDS.get(name, [1, 3])]


def assert_same_steps(problem: Problem, rows, K: np.ndarray) -> None:
    is_equality = problem.treatment in (Treatment.FREE, Treatment.ORDERED)
    twin = smo if is_equality else gcd
    solver = SMO(selection="mvp", precision="float64") if is_equality else GCD(precision="float64")
    for max_iter in (0, 1, 2, 5, 20, 100, 10_000):
        alpha, n_iter = twin(problem, K, TOL, max_iter)
        result = solve(problem, KernelMatrix(rows), solver, Control(tol=TOL, max_iter=max_iter)).result
        assert result.n_iter == n_iter
        np.testing.assert_allclose(result.alpha, alpha, rtol=0, atol=1e-9)
    assert n_iter < max_iter
    assert result.converged


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_core_takes_the_steps_of_its_twin(name, seed):
    X, y = random_data(seed, n=40)
    assert_same_steps(FORMULATIONS[name](y, N_RANKS, 2.0), RBF(0.5).rows(X), RBF(0.5)(X, X))


@pytest.mark.parametrize(("seed", "n", "C", "n_active"), [(20, 40, 2.0, 2), (37, 40, 2.0, 2), (45, 25, 0.5, 4)])
def test_smo_through_active_mu(seed, n, C, n_active):
    """Noise disorders the thresholds of six ranks, so that μ are active at the end and steps cross thresholds."""
    X, y = random_data(seed, n=n, n_ranks=6, noise=6.0)
    problem, K = formulations.svorex(y, 6, C), RBF(0.5)(X, X)
    alpha, _ = smo(problem, K, TOL, 10_000)
    assert np.count_nonzero(problem.mu(alpha) > 1e-6) == n_active
    assert_same_steps(problem, Precomputed().rows(K), K)


@pytest.mark.parametrize("seed", [1, 6])
@pytest.mark.parametrize("name", ["svor", "svorim", "svorex", "shashua_levin"])
def test_samples_in_order_of_rank(name, seed):
    """Then the hinges of a threshold look at consecutive samples, which the core reads another way."""
    X, y = random_data(seed, n=40)
    order = np.argsort(y, kind="stable")
    K = RBF(0.5)(X[order], X[order])
    assert_same_steps(FORMULATIONS[name](y[order], N_RANKS, 2.0), RBF(0.5).rows(X[order]), K)
