"""Decomposition: formulations, partitions, selections and steps against the oracle; identities; limits; options."""

import signal
import time
from dataclasses import replace
from threading import Thread, main_thread

import numpy as np
import pytest

from ordsvm import (
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    Decomposition,
    ParsmoCache,
    ParsmoLight,
    ShashuaLevinSVOR,
    certify,
    formulations,
)
from ordsvm.kernels import RBF, Custom, Linear, Precomputed
from ordsvm.problem import Treatment
from ordsvm.solvers import Control, KernelMatrix, solve
from ordsvm.solvers.papers.decomposition.decomposition import STEPS
from ordsvm.solvers.papers.decomposition.partitions import Look, bring_together, cut
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import dual_optimum
from tests.process_cases import slowness
from tests.reference.decomposition import decomposition
from tests.reference.parsmo import parsmo
from tests.reference.smo import smo
from tests.test_solvers import assert_optimal, slow_matrix

SMALL = Decomposition(block_size=16)
EQUALITY = ["svorim", "svorex", "shashua_levin", "svc-free", "svr-free"]
MODELS = ["svor", *EQUALITY, "svr-none", "svc-penalised"]


def matrix_of(X: np.ndarray) -> KernelMatrix:
    return KernelMatrix(RBF(0.5).rows(X))


# Against the oracle


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation(name, C):
    X, y = random_data(11)
    problem = FORMULATIONS[name](y, N_RANKS, C)
    assert_optimal(problem, RBF(0.5)(X, X), solve(problem, matrix_of(X), SMALL, Control(tol=1e-6)), 1e-6)


VARIANTS = [
    {"partition": "random"},
    {"partition": "contiguous"},
    {"partition": "random", "mvp_every": 4},
    {"blocks": "descent"},
    {"blocks": "decrease", "share": 0.3},
    {"max_blocks": 2},
    {"tau": 0.0},
    {"tau": 0.1},
    {"step": "armijo"},
    {"step": "armijo", "theta": 0.9, "partition": "random"},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_every_partition_selection_and_step(name, options):
    X, y = random_data(12, n=40)
    problem, solver = FORMULATIONS[name](y, N_RANKS, 1.0), Decomposition(block_size=14, **options)
    assert_optimal(problem, RBF(0.5)(X, X), solve(problem, matrix_of(X), solver, Control(tol=1e-6)), 1e-6)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["svc-free", "svorim", "svorex", "shashua_levin", "svor", "svr-none"])
def test_every_step_rule_finds_the_same_optimum(name, step):
    """Theorems 2 to 4: also steps that ignore the objective end there."""
    X, y = random_data(12, n=30)
    problem, K = FORMULATIONS[name](y, N_RANKS, 1.0), RBF(0.5)(X, X)
    solution = solve(problem, matrix_of(X), Decomposition(block_size=14, step=step), Control(tol=1e-6))
    assert_optimal(problem, K, solution, 1e-6)


@pytest.mark.parametrize("xi", [0.2, 0.5])
@pytest.mark.parametrize("name", MODELS)
def test_diminishing_steps_end_though_they_do_not_get_to_bounds(name, xi):
    X, y = random_data(12, n=24)
    problem, solver = FORMULATIONS[name](y, N_RANKS, 1.0), Decomposition(block_size=18, step="diminishing", xi=xi)
    result = solve(problem, matrix_of(X), solver, Control(tol=1e-3)).result
    assert result.converged
    assert result.violation <= 1e-3
    assert result.objective == pytest.approx(dual_optimum(problem, RBF(0.5)(X, X)).objective, rel=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_semidefinite_kernels(name):
    X, y = random_data(12, n=24, n_features=2)
    X[1::4] = X[::4]
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    for rows, K in ((Linear().rows(X), X @ X.T), (Precomputed().rows(0 * X @ X.T), 0 * X @ X.T)):
        assert_optimal(problem, K, solve(problem, KernelMatrix(rows), SMALL, Control(tol=1e-6)), 1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_ordered_thresholds_under_disorder(seed):
    """μ are active: only one subproblem may own them."""
    X, y = random_data(seed, n=40, n_features=1, n_ranks=6, noise=5.0)
    problem, K = formulations.svorex(y, 6, 1.0), X @ X.T
    solution = solve(problem, KernelMatrix(Linear().rows(X)), Decomposition(block_size=10), Control(tol=1e-6))
    assert_optimal(problem, K, solution, 1e-6)
    assert np.all(np.diff(solution.thresholds) >= 0)


@pytest.mark.parametrize("start", ["wild", "caps", "feasible"])
@pytest.mark.parametrize("name", MODELS)
def test_any_start(name, start):
    X, y = random_data(21)
    problem, rng = FORMULATIONS[name](y, N_RANKS, 2.0), np.random.default_rng(21)
    cap = problem.hinges.cap
    alpha = {"wild": rng.normal(scale=5, size=len(cap)), "caps": 2 * cap, "feasible": rng.uniform(0, cap)}[start]
    assert_optimal(problem, RBF(0.5)(X, X), solve(problem, matrix_of(X), SMALL, Control(tol=1e-6), start=alpha), 1e-6)


# Identities


@pytest.mark.parametrize(("name", "seed"), [("svorim", 1), ("svorex", 1), ("shashua_levin", 1), ("svc-free", 3)])
def test_one_subproblem_of_two_is_smo(name, seed):
    X, y = random_data(seed, n=40)
    problem, K = FORMULATIONS[name](y, N_RANKS, 2.0), RBF(0.5)(X, X)
    solver = Decomposition(block_size=2, max_blocks=1, tau=0.0)
    for max_iter in (1, 20, 100):
        alpha, _ = smo(problem, K, 1e-6, max_iter)
        result = solve(problem, matrix_of(X), solver, Control(tol=1e-6, max_iter=max_iter)).result
        assert result.n_iter == max_iter
        np.testing.assert_allclose(result.alpha, alpha, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("name", "seed", "q"), [("svc-free", 1, 4), ("svr-free", 1, 3), ("svorim", 1, 2)])
def test_subproblems_of_two_that_violate_most_are_parsmo(name, seed, q):
    """Where none of the pairs violates by less than a tenth of the first: decomposition leaves those out."""
    X, y = random_data(seed, n=40)
    problem, K = FORMULATIONS[name](y, N_RANKS, 2.0), RBF(0.5)(X, X)
    solver = Decomposition(block_size=2, max_blocks=q, tau=0.0)
    for max_iter in (1, 5, 20):
        alpha, _ = parsmo(problem, K, 1e-6, max_iter, q)
        result = solve(problem, matrix_of(X), solver, Control(tol=1e-6, max_iter=max_iter)).result
        np.testing.assert_allclose(result.alpha, alpha, rtol=0, atol=1e-8)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["svc-free", "svorim", "svorex", "shashua_levin", "svor", "svr-none"])
@pytest.mark.parametrize("seed", [2, 3])  # rounding does not decide between pairs
def test_iterates_of_the_twin(name, step, seed):
    X, y = random_data(seed, n=24)
    problem, K, size = FORMULATIONS[name](y, N_RANKS, 1.0), RBF(0.5)(X, X), 9
    subproblems = [hinges.tolist() for hinges in cut(np.arange(len(problem.hinges)), size)]
    solver = Decomposition("contiguous", block_size=size, tau=0.1, inner=1e-7, step=step)
    for max_iter in (1, 2, 5, 12):
        result = solve(problem, matrix_of(X), solver, Control(tol=1e-9, max_iter=max_iter)).result
        twin = decomposition(problem, K, subproblems, step, max_iter, solver.tau, solver.theta, solver.xi)
        assert result.n_iter == max_iter
        np.testing.assert_allclose(result.alpha, twin, rtol=0, atol=3e-6)


@pytest.mark.parametrize("blocks", ["descent", "decrease"])
def test_the_subproblem_of_the_most_violating_pair_is_always_used(blocks):
    """Though another one brings more, or moves farther: Theorem 6."""
    X, y = random_data(19, n=60)
    problem = formulations.svorim(y, N_RANKS, 1.0)
    solver = Decomposition("random", block_size=2, blocks=blocks, epsilon=0.99, share=0.99)
    worst = Look(problem, np.zeros(len(problem.hinges)), np.zeros(60)).worst()
    for seed in range(5):
        result = solve(problem, matrix_of(X), replace(solver, seed=seed), Control(max_iter=1)).result
        assert np.all(result.alpha[worst] > 0)


def test_a_fixed_partition_without_the_most_violating_pair_stalls_where_thresholds_are_free():
    """Each subproblem keeps its γ: what Theorem 6 is for."""
    X, y = random_data(13, n=60)
    problem, K = formulations.svorim(y, N_RANKS, 1.0), RBF(0.5)(X, X)
    duals = {}
    for mvp_every in (1, 10**9):
        solver = Decomposition("contiguous", block_size=20, mvp_every=mvp_every)
        result = solve(problem, matrix_of(X), solver, Control(max_iter=400)).result
        duals[mvp_every] = problem.dual(result.alpha, K @ problem.beta(result.alpha))
    optimum = dual_optimum(problem, K).objective
    assert duals[1] == pytest.approx(optimum, rel=1e-3)
    assert duals[10**9] < 0.95 * optimum


@pytest.mark.parametrize("step", ["exact", "armijo"])
@pytest.mark.parametrize("name", MODELS)
def test_every_iteration_is_an_ascent(name, step):
    X, y = random_data(14, n=40)
    problem, K = FORMULATIONS[name](y, N_RANKS, 2.0), RBF(0.5)(X, X)
    solver, previous = Decomposition("random", block_size=12, step=step), -np.inf
    for max_iter in range(6):
        result = solve(problem, matrix_of(X), solver, Control(tol=1e-6, max_iter=max_iter)).result
        assert (result.status, result.n_iter) == ("max_iter", max_iter)
        dual = problem.dual(result.alpha, K @ problem.beta(result.alpha))
        assert dual > previous
        previous = dual


# The parts


@pytest.mark.parametrize("name", MODELS)
def test_looks_find_what_the_problem_calls_a_violation(name):
    X, y = random_data(15, n=50)
    problem, K = FORMULATIONS[name](y, N_RANKS, 1.0), RBF(0.5)(X, X)
    rng = np.random.default_rng(0)
    for _ in range(10):
        cap = problem.hinges.cap
        alpha = problem.repair(cap * rng.choice([0.0, 0.5, 1.0], size=len(cap)))
        score = K @ problem.beta(alpha)
        look, violation = Look(problem, alpha, score), problem.violation(alpha, score)
        worst = look.worst()
        found = look.projected[worst[0]] if look.is_box else look.level[worst[0]] - look.level[worst[1]]
        assert found == pytest.approx(violation)
        assert look.violation() == pytest.approx(violation)
        assert Look(problem, alpha, score, 1e-9).violation() == pytest.approx(violation)  # none is that close
        assert Look(problem, alpha, score, 0.6).violation() <= violation
        np.testing.assert_array_equal(np.sort(look.order()), np.arange(len(alpha)))
        assert set(worst) <= set(look.order()[: len(worst)]) or problem.treatment is Treatment.ORDERED
        subproblems = bring_together(cut(rng.permutation(len(alpha)), 7), worst)
        assert set(worst) <= set(subproblems[0])
        np.testing.assert_array_equal(np.sort(np.concatenate(subproblems)), np.arange(len(alpha)))
        assert max(map(len, subproblems)) <= 7
        if problem.treatment is not Treatment.ORDERED:
            assert look.within(subproblems[0]) == pytest.approx(violation)


def test_the_number_of_threads_changes_nothing():
    X, y = random_data(16, n=300)
    problem = formulations.svorex(y, N_RANKS, 2.0)
    one, *others = (
        solve(problem, matrix_of(X), Decomposition(block_size=60), Control(n_threads=n)).result for n in (1, 2, 5)
    )
    for other in others:
        np.testing.assert_array_equal(one.alpha, other.alpha)


def test_rows_in_the_cache_are_not_computed_again():
    X, y = random_data(17, n=200)
    problem = formulations.svorim(y, N_RANKS, 2.0)
    assert solve(problem, matrix_of(X), SMALL, Control(max_iter=30)).result.kernel_rows <= 200
    small = KernelMatrix(RBF(0.5).rows(X), cache_size=10 * 8 * 200 / 2**20)
    again = solve(problem, small, SMALL, Control(max_iter=30)).result
    assert again.kernel_rows > 200
    np.testing.assert_array_equal(again.alpha, solve(problem, matrix_of(X), SMALL, Control(max_iter=30)).result.alpha)


# Limits


@pytest.mark.parametrize("name", ["svor", "svorim", "svorex"])
def test_limits_callbacks_and_history(name):
    X, y = random_data(22, n=60)
    problem, K, seen = FORMULATIONS[name](y, N_RANKS, 1.0), RBF(0.5)(X, X), []
    stopped = solve(problem, slow_matrix(X), SMALL, Control(time_limit=0.3, n_threads=2)).result
    called = solve(problem, slow_matrix(X), SMALL, Control(callback=lambda p: bool(seen.append(p)) or True)).result
    assert (stopped.status, called.status) == ("time_limit", "callback")
    assert [progress.solver for progress in seen] == ["decomposition"]
    for result in stopped, called:
        proof = problem.certificate(result.alpha, K @ problem.beta(result.alpha))
        assert result.gap == pytest.approx(proof.gap, rel=1e-9)
    every = solve(problem, matrix_of(X), SMALL, Control(report_every=2)).result
    assert [progress.n_iter for progress in every.history] == list(range(2, every.n_iter + 1, 2))[: len(every.history)]
    assert len(every.history) >= every.n_iter // 2 - 1


@pytest.mark.parametrize("seed", [17, 18, 20])
def test_an_unreachable_tolerance_ends(seed):
    X, y = random_data(seed, n=40)
    for name in ("svorim", "svor", "svorex"):
        problem = FORMULATIONS[name](y, N_RANKS, 100.0)
        result = solve(problem, matrix_of(X), Decomposition(), Control(tol=3e-15)).result
        assert result.status == "precision"
        assert result.violation < 1e-10


def test_an_exception_in_the_kernel_reaches_the_caller():
    X, y = random_data(22, n=60)
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        if len(calls) > 25:
            raise ZeroDivisionError("kernel")
        return RBF(0.5)(A, B)

    with pytest.raises(ZeroDivisionError, match="kernel"):
        solve(formulations.svorim(y, N_RANKS, 1.0), KernelMatrix(Custom(kernel).rows(X)), SMALL, Control(n_threads=2))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_in_the_middle_of_a_subproblem(n_threads):
    """Rows that take their time."""
    X, y = random_data(22, n=60)
    problem = formulations.svorim(y, N_RANKS, 1.0)

    def interrupt():
        time.sleep(0.3)
        signal.pthread_kill(main_thread().ident, signal.SIGINT)

    Thread(target=interrupt).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        solve(problem, slow_matrix(X, 0.1), Decomposition(), Control(n_threads=n_threads))
    assert time.monotonic() - started < 3.0 * slowness()  # the rows of the subproblem would take 6 s, alone


# Estimators


@pytest.mark.parametrize("estimator", [SVORIM, SVOREX, ShashuaLevinSVOR, SVOR])
def test_ordinal_models_equal_those_of_the_default_solver(estimator):
    X, y = random_data(12, n=300)
    options = {"C": 5.0, "gamma": 0.5, "tol": 1e-4}
    ours, theirs = (estimator(solver=name, **options).fit(X, y) for name in ("decomposition", "auto"))
    assert ours.result_.solver == "decomposition"
    assert ours.result_.objective == pytest.approx(theirs.result_.objective, rel=1e-4)
    np.testing.assert_allclose(ours.thresholds_, theirs.thresholds_, rtol=0, atol=0.01)
    assert certify(ours, X, y).violation <= 1.01e-4


def test_svc_and_svr_equal_those_of_the_default_solver():
    X, y = random_data(13, n=200)
    labels, targets = y >= 2, X[:, 0] + 0.3 * np.random.default_rng(0).normal(size=len(X))
    for estimator, target in ((SVC, labels), (SVR, targets)):
        for intercept in ("free", "penalized", "none"):
            options = {"C": 5.0, "tol": 1e-4, "intercept": intercept}
            ours, theirs = (estimator(solver=name, **options).fit(X, target) for name in ("decomposition", "auto"))
            assert ours.result_.objective == pytest.approx(theirs.result_.objective, rel=1e-4)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=0.01)


@pytest.mark.parametrize("solver", [Decomposition(block_size=100), ParsmoLight(), ParsmoCache()], ids=lambda s: s.name)
def test_early_stopping_keeps_the_best_look(solver):
    X, y = random_data(18, n=600, noise=3.0)
    model = SVORIM(C=100.0, gamma=2.0, early_stopping=True, n_iter_no_change=3, solver=solver).fit(X, y)
    errors = [progress.validation_mae for progress in model.result_.history]
    assert model.result_.status == "early_stopping"
    assert len(errors) > 3
    assert errors[model.result_.best_look] == min(errors)


# Bad options


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"partition": "best"}, "partition='best' is unknown: give one of 'violation', 'random', 'contiguous'"),
        ({"blocks": "some"}, "blocks='some' is unknown"),
        ({"step": "long"}, "step='long' is unknown"),
        ({"block_size": 1}, "block_size=1 is not valid: give a whole number of hinges, at least 2"),
        ({"block_size": 2.5}, "block_size=2.5 is not valid"),
        ({"max_blocks": 0}, "max_blocks=0 is not valid: give a whole number of blocks, at least 1"),
        ({"mvp_every": 0}, "mvp_every=0 is not valid: give a whole number of iterations, at least 1"),
        ({"epsilon": 1.0}, "epsilon=1.0 is not valid: give a number above 0 and below 1"),
        ({"share": 1.0}, "share=1.0 is not valid"),
        ({"tau": -1.0}, "tau=-1.0 is not valid: give a number from 0 on"),
        ({"theta": 0.0}, "theta=0.0 is not valid"),
        ({"inner": 0.0}, "inner=0.0 is not valid: give a number above 0 and below 1"),
        ({"xi": 0.6}, "xi=0.6 is not valid: give a number above 0 and at most 0.5; with larger ones"),
        ({"seed": -1}, "seed=-1 is not valid"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(ValueError) as caught:
        Decomposition(**options)
    assert sentence in str(caught.value)
