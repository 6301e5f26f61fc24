"""PARSMO: the steps of its twin, as many pairs as asked for, the gathering step, the cache, threads, bad options.

That it finds the oracle's optimum from any start and keeps to its limits is in test_solvers.py.
"""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ordsvm import SVC, SVOREX, SVORIM, SVR, ParsmoCache, ParsmoLight, ShashuaLevinSVOR, certify, formulations
from ordsvm.kernels import RBF
from ordsvm.problem import Problem
from ordsvm.solvers import Control, KernelMatrix, solve
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import dual_optimum
from tests.reference.parsmo import parsmo
from tests.reference.smo import smo

TOL = 1e-5
EQUALITY = ["svorim", "svorex", "shashua_levin", "svorim-random", "svc-free", "svr-free"]


def matrix_of(X: np.ndarray, n_rows: int | None = None) -> KernelMatrix:
    """With a cache of so many rows in float64, or for all of them."""
    return KernelMatrix(RBF(0.5).rows(X), 200.0 if n_rows is None else n_rows * 8 * len(X) / 2**20)


def assert_same_steps(problem: Problem, X: np.ndarray, solver: ParsmoLight, cache_rows: int = 0) -> None:
    """To the end; without the gathering step, which has none, for a while."""
    K = RBF(0.5)(X, X)
    for max_iter in (0, 1, 2, 5, 20, 100, 10_000) if solver.gathering else (0, 1, 2, 5, 20, 50):
        alpha, n_iter = parsmo(problem, K, TOL, max_iter, solver.q, cache_rows, solver.gathering, solver.epsilon)
        result = solve(problem, matrix_of(X, cache_rows or None), solver, Control(tol=TOL, max_iter=max_iter)).result
        assert result.n_iter == n_iter
        np.testing.assert_allclose(result.alpha, alpha, rtol=0, atol=1e-9)
    if solver.gathering:
        assert n_iter < max_iter
        assert result.converged


# Twins. Seeds for which rounding does not decide between candidates (after a step its two hinges have the same level):
# the twin takes the same path whichever of 16 random changes of 1e-15 to 1e-13 is made to K, as processors make them.

TWINS = {
    "svorim": {2: [1, 3], 4: [1, 3], 8: [1]},
    "svorex": {2: [1, 8], 4: [3, 28]},
    "shashua_levin": {2: [1, 2], 4: [1, 3], 8: [1]},
    "svorim-random": {4: [2, 3]},
    "svc-free": {4: [1, 2], 8: [2]},
    "svr-free": {4: [1, 2], 8: [1]},
}
CACHED_TWINS = {
    "svorex": {10: [5, 32], 40: [1, 5]},
    "shashua_levin": {10: [3, 7], 40: [1, 2]},
    "svc-free": {10: [2, 3], 40: [2]},
    "svr-free": {10: [4, 5], 40: [4]},
}

COARSE_TWINS = {  # by epsilon
    "svorim": {0.05: [1, 4], 0.2: [9, 10]},
    "svorex": {0.05: [18, 23], 0.2: [10, 18]},
    "svc-free": {0.05: [2, 5], 0.2: [1, 2]},
    "svr-free": {0.05: [5, 8], 0.2: [2, 7]},
}
COARSE_CACHED_TWINS = {
    "svorim": {0.05: [78, 114], 0.2: [13]},
    "svorex": {0.2: [49, 68]},
    "svc-free": {0.05: [5, 6], 0.2: [1, 2]},
    "svr-free": {0.05: [5, 15], 0.2: [16, 21]},
}
LOOSE_TWINS = {  # by rows in the cache; 0: "light"
    "svorim": {0: [1, 3], 10: [1, 3]},
    "svorex": {0: [3, 10], 10: [5, 8]},
    "svc-free": {0: [2, 3], 10: [2, 3]},
    "svr-free": {0: [1, 3], 10: [4, 5]},
}


def listed(seeds: dict) -> list:
    return [(name, number, seed) for name in seeds for number in seeds[name] for seed in seeds[name][number]]


@pytest.mark.parametrize(("name", "q", "seed"), listed(TWINS))
def test_light_takes_the_steps_of_its_twin(name, q, seed):
    X, y = random_data(seed, n=40)
    assert_same_steps(FORMULATIONS[name](y, N_RANKS, 2.0), X, ParsmoLight(q, precision="float64"))


@pytest.mark.parametrize(("name", "n_rows", "seed"), listed(CACHED_TWINS))
def test_cache_takes_the_steps_of_its_twin(name, n_rows, seed):
    X, y = random_data(seed, n=40)
    assert_same_steps(FORMULATIONS[name](y, N_RANKS, 2.0), X, ParsmoCache(3, precision="float64"), n_rows)


@pytest.mark.parametrize(("name", "epsilon", "seed"), listed(COARSE_TWINS))
def test_perturbed_index_sets_take_the_steps_of_the_twin(name, epsilon, seed):
    """Until nothing is left to do by them; then by exact ones."""
    X, y = random_data(seed, n=40)
    problem = FORMULATIONS[name](y, N_RANKS, 2.0)
    assert_same_steps(problem, X, ParsmoLight(3, epsilon, precision="float64"))


@pytest.mark.parametrize(("name", "epsilon", "seed"), listed(COARSE_CACHED_TWINS))
def test_perturbed_index_sets_with_a_cache_take_the_steps_of_the_twin(name, epsilon, seed):
    X, y = random_data(seed, n=40)
    problem = FORMULATIONS[name](y, N_RANKS, 2.0)
    assert_same_steps(problem, X, ParsmoCache(3, epsilon, precision="float64"), cache_rows=10)


@pytest.mark.parametrize(("name", "n_rows", "seed"), listed(LOOSE_TWINS))
def test_without_the_gathering_step_it_takes_the_steps_of_its_twin(name, n_rows, seed):
    X, y = random_data(seed, n=40)
    solver = (ParsmoCache if n_rows else ParsmoLight)(3, gathering=False, precision="float64")
    assert_same_steps(FORMULATIONS[name](y, N_RANKS, 2.0), X, solver, n_rows)


@pytest.mark.parametrize("solver", [ParsmoLight(1, precision="float64"), ParsmoCache(1, precision="float64")], ids=str)
@pytest.mark.parametrize(("name", "seed"), [("svorim", 1), ("svorex", 1), ("svc-free", 3), ("svr-free", 8)])
def test_one_pair_is_smo(solver, name, seed):
    X, y = random_data(seed, n=40)
    problem, K = FORMULATIONS[name](y, N_RANKS, 2.0), RBF(0.5)(X, X)
    for max_iter in (1, 20, 10_000):
        alpha, n_iter = smo(problem, K, TOL, max_iter)
        result = solve(problem, matrix_of(X), solver, Control(tol=TOL, max_iter=max_iter)).result
        assert result.n_iter == n_iter
        np.testing.assert_allclose(result.alpha, alpha, rtol=0, atol=1e-9)


# What the number of pairs, the gathering step and the cache do


@pytest.mark.parametrize("name", EQUALITY)
def test_more_pairs_take_fewer_iterations(name):
    X, y = random_data(5, n=150)
    problem = FORMULATIONS[name](y, N_RANKS, 5.0)
    iterations = [solve(problem, matrix_of(X), ParsmoLight(q), Control()).result.n_iter for q in (1, 2, 8)]
    assert iterations[2] < iterations[1] < iterations[0]


@pytest.mark.parametrize("solver", [ParsmoLight, ParsmoCache])
@pytest.mark.parametrize("name", EQUALITY)
def test_without_the_gathering_step_it_oscillates(name, solver):
    X, y = random_data(6, n=60)
    problem, K = FORMULATIONS[name](y, N_RANKS, 5.0), RBF(0.5)(X, X)
    optimum = dual_optimum(problem, K).objective
    assert solve(problem, matrix_of(X), solver(8), Control(max_iter=1000)).result.converged
    duals = []
    for max_iter in range(1990, 2000):
        loose = solve(problem, matrix_of(X), solver(8, gathering=False), Control(max_iter=max_iter)).result
        assert loose.status == "max_iter"
        np.testing.assert_array_equal(problem.repair(loose.alpha), loose.alpha)  # feasible all the same
        duals.append(problem.dual(loose.alpha, K @ problem.beta(loose.alpha)))
    assert np.max(duals) < 0.9 * optimum
    assert np.any(np.diff(duals) < 0)


def test_every_iteration_is_an_ascent():
    X, y = random_data(7, n=60)
    for name in EQUALITY:
        problem, K = FORMULATIONS[name](y, N_RANKS, 5.0), RBF(0.5)(X, X)
        for solver in ParsmoLight(5, precision="float64"), ParsmoCache(5, precision="float64"):
            alphas = [solve(problem, matrix_of(X), solver, Control(max_iter=n)).result.alpha for n in range(0, 60, 3)]
            duals = [problem.dual(alpha, K @ problem.beta(alpha)) for alpha in alphas]
            assert np.all(np.diff(duals) > 0)


def test_cache_computes_two_rows_an_iteration_at_most():
    X, y = random_data(8, n=200)
    problem, n_rows = formulations.svorim(y, N_RANKS, 5.0), 24
    results = {
        solver.name: solve(problem, matrix_of(X, n_rows), solver, Control()).result
        for solver in (ParsmoLight(6, precision="float64"), ParsmoCache(6, precision="float64"))
    }
    assert all(result.converged for result in results.values())
    assert results["parsmo-cache"].kernel_rows <= 2 * results["parsmo-cache"].n_iter
    assert results["parsmo-light"].kernel_rows > 2 * results["parsmo-light"].n_iter
    assert results["parsmo-cache"].kernel_rows < results["parsmo-light"].kernel_rows


@pytest.mark.parametrize("solver", [ParsmoLight, ParsmoCache])
def test_no_more_pairs_than_the_cache_has_room_for(solver):
    X, y = random_data(9, n=100)
    problem = formulations.svorim(y, N_RANKS, 2.0)
    few = solve(problem, matrix_of(X, n_rows=5), solver(8, precision="float64"), Control()).result
    two = solve(problem, matrix_of(X, n_rows=5), solver(2, precision="float64"), Control()).result
    np.testing.assert_array_equal(few.alpha, two.alpha)
    assert few.converged


def test_a_coarse_epsilon_does_not_keep_it_from_the_optimum():
    X, y = random_data(10, n=60)
    for name in EQUALITY:
        problem, K = FORMULATIONS[name](y, N_RANKS, 2.0), RBF(0.5)(X, X)
        coarse, fine = (solve(problem, matrix_of(X), ParsmoLight(4, e), Control(tol=1e-6)).result for e in (0.2, 0.0))
        assert coarse.converged
        assert not np.array_equal(coarse.alpha, fine.alpha)
        assert coarse.objective == pytest.approx(dual_optimum(problem, K).objective, rel=1e-6)


# Threads


@pytest.mark.parametrize("solver", [ParsmoLight(6), ParsmoCache(6)], ids=lambda solver: solver.name)
@pytest.mark.parametrize("name", ["svorim", "svorex"])
def test_the_number_of_threads_changes_nothing(name, solver):
    """Enough samples for the work to be divided, and a cache that has to let rows go."""
    X, y = random_data(11, n=6000)
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    one, *others = (
        solve(problem, matrix_of(X, n_rows=40), solver, Control(n_threads=n, max_iter=150)).result for n in (1, 2, 5)
    )
    for other in others:
        np.testing.assert_array_equal(one.alpha, other.alpha)
        assert one.kernel_rows == other.kernel_rows


@pytest.mark.parametrize("n_columns", [3, 9000])
def test_the_number_of_threads_does_not_change_the_last_scores(n_columns):
    """Scores recomputed at the end, by tiles and, where rows are too wide for that, by rows."""
    X, y = random_data(14, n=1300)
    wide = csr_matrix(
        (X.ravel(), np.tile([0, 1, n_columns - 1], len(X)), np.arange(0, X.size + 1, 3)), (1300, n_columns)
    )
    problem, matrix = formulations.svorim(y, N_RANKS, 0.1), KernelMatrix(RBF(0.5).rows(wide))
    one, *others = (solve(problem, matrix, ParsmoLight(6), Control(tol=1e-2, n_threads=n)).result for n in (1, 2, 5))
    assert one.converged
    for other in others:
        assert (one.gap, one.violation, one.objective) == (other.gap, other.violation, other.objective)
        np.testing.assert_array_equal(one.alpha, other.alpha)


# Estimators


@pytest.mark.parametrize("solver", ["parsmo-light", "parsmo-cache"])
@pytest.mark.parametrize("estimator", [SVORIM, SVOREX, ShashuaLevinSVOR])
def test_ordinal_models_equal_those_of_smo(estimator, solver):
    X, y = random_data(12, n=300)
    options = {"C": 5.0, "gamma": 0.5, "tol": 1e-4}
    ours, theirs = (estimator(solver=name, **options).fit(X, y) for name in (solver, "smo"))
    assert ours.result_.solver == solver
    assert ours.result_.objective == pytest.approx(theirs.result_.objective, rel=1e-4)
    np.testing.assert_allclose(ours.thresholds_, theirs.thresholds_, rtol=0, atol=0.01)
    assert certify(ours, X, y).violation <= 1.01e-4


@pytest.mark.parametrize("solver", ["parsmo-light", "parsmo-cache"])
def test_svc_and_svr_equal_those_of_smo(solver):
    X, y = random_data(13, n=300)
    labels, targets = y >= 2, X[:, 0] + 0.3 * np.random.default_rng(0).normal(size=len(X))
    for estimator, target in ((SVC, labels), (SVR, targets)):
        ours, theirs = (estimator(solver=name, C=5.0, tol=1e-4).fit(X, target) for name in (solver, "smo"))
        assert ours.result_.objective == pytest.approx(theirs.result_.objective, rel=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=0.01)


# Bad options


@pytest.mark.parametrize("solver", [ParsmoLight, ParsmoCache])
def test_bad_options_get_a_sentence(solver):
    for q in (0, -1, 1.5, True, "8"):
        with pytest.raises(ValueError, match=r"q=.* is not valid: give a whole number of pairs, at least 1"):
            solver(q=q)
    for epsilon in (-1e-3, 0.5, np.nan, "0"):
        with pytest.raises(ValueError, match=r"epsilon=.* is not valid: give a number from 0 up to, but not, 0.5"):
            solver(epsilon=epsilon)
    with pytest.raises(ValueError, match="gathering=1 is not valid: give True or False"):
        solver(gathering=1)
    with pytest.raises(ValueError, match="precision='float16' is unknown"):
        solver(precision="float16")
    with pytest.raises(ValueError, match=f"solver='{solver.name}' does not train with intercept='penalized'"):
        SVC(solver=solver(), intercept="penalized").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("solver", ["parsmo-light", "parsmo-cache"])
def test_ties_of_ordered_thresholds_are_those_of_alpha(solver):
    """Steps of many pairs with one factor leave residues in α, so that tracked mu and those of α may differ."""
    for seed in range(30):
        X, y = random_data(seed, n=120, n_ranks=6, noise=3.0)
        model = SVOREX(C=100.0, gamma=0.5, solver=solver).fit(X, y)
        assert model.result_.status == "converged"
        assert certify(model, X, y).violation <= 1e-3
