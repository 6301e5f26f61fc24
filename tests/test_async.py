"""AsyGCD, AsyAGCD and AsyORGCD: their twins, the oracle, histories and options.

Threads make a run of AsyGCD and AsyAGCD unlike the next, so what is asserted of them is what must hold of any run:
certificates recomputed in float64 from α, and identities. AsyORGCD, and every solver with one thread, is
deterministic and is held to its NumPy twin.
"""

import re
import time
from itertools import pairwise

import numpy as np
import pytest

from ordsvm import formulations
from ordsvm.kernels import RBF, Custom, Kernel, Precomputed
from ordsvm.problem import Treatment
from ordsvm.solvers import GCD, AsyAGCD, AsyGCD, AsyORGCD, Control, Solver, solve
from ordsvm.solvers.kernel.run import Run
from tests.async_cases import (
    PARTITIONS,
    SHARINGS,
    assert_certified,
    each_of_three,
    every_variant,
    matrix_of,
    random_problem,
)
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import dual_optimum
from tests.reference.asyagcd import asyagcd
from tests.reference.asygcd import asygcd
from tests.reference.asyorgcd import asyorgcd

# One thread, or blocks without threads: the twins' steps

# As in test_twins.py: seeds for which rounding decides nothing; the twins take the same path when every value of K is
# off by 1e-14. (14) makes that rare for AsyAGCD: whether M > 0 by rounding alone decides what is left out.
TWINS = [
    ("svor", 2),
    ("svor", 4),
    ("redsvm-squared", 4),
    ("redsvm-random", 2),
    ("svc-none", 8),
    ("svc-penalised", 3),
    ("svr-none", 1),
    ("svr-penalised", 1),
]
every_twin = pytest.mark.parametrize(("name", "seed"), TWINS)
LENGTHS = (0, 1, 5, 50, 1_000_000)


def assert_same_steps(problem, X, solver, control, alpha, n_iter) -> None:
    result = solve(problem, matrix_of(RBF(0.5), X), solver, control).result
    assert result.n_iter == n_iter
    np.testing.assert_allclose(result.alpha, alpha, rtol=0, atol=1e-9)
    assert result.converged == (n_iter < control.max_iter)


@every_twin
@pytest.mark.parametrize("sharing", SHARINGS)
def test_asygcd_takes_the_steps_of_its_twin(name, seed, sharing):
    problem, X = random_problem(seed, 30, name)
    for max_iter in LENGTHS:
        alpha, n_iter = asygcd(problem, RBF(0.5)(X, X), 1e-5, max_iter)
        solver = AsyGCD(sharing, precision="float64")
        assert_same_steps(problem, X, solver, Control(1e-5, max_iter), alpha, n_iter)


@pytest.mark.parametrize("sharing", SHARINGS)
def test_asygcd_tightens_its_tolerance_as_its_twin_does(sharing):
    """Separable data: the gap is still wide when the violation is within tol."""
    X, y = random_data(8, noise=0.0)
    problem = FORMULATIONS["svor"](y, N_RANKS, 1e3)
    alpha, n_iter = asygcd(problem, RBF(0.5)(X, X), 1e-3, 1_000_000)
    score = RBF(0.5)(X, X) @ problem.beta(alpha)
    assert problem.violation(alpha, score) < 5e-4
    assert_same_steps(problem, X, AsyGCD(sharing, precision="float64"), Control(1e-3, 1_000_000), alpha, n_iter)


@every_twin
@pytest.mark.parametrize("max_shrink_iter", [5, 20])
@pytest.mark.parametrize("shrink", ["block", "global"])
def test_asyagcd_takes_the_steps_of_its_twin(name, seed, max_shrink_iter, shrink):
    problem, X = random_problem(seed, 30, name)
    for max_iter in LENGTHS:
        at_once = shrink == "global"
        alpha, n_iter, sizes = asyagcd(problem, RBF(0.5)(X, X), 1e-5, max_iter, max_shrink_iter, at_once)
        for sharing in SHARINGS:
            solver = AsyAGCD(max_shrink_iter, sharing, precision="float64", shrink=shrink)
            assert_same_steps(problem, X, solver, Control(1e-5, max_iter), alpha, n_iter)
    assert min(sizes) <= len(problem.hinges) / 2  # it did leave hinges out ...
    if (name, seed) in [("redsvm-random", 2), ("svr-none", 1)]:
        assert any(after > before for before, after in pairwise(sizes))  # ... and took them in again


@every_twin
@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("max_inner_iter", [10, 1000])
def test_asyorgcd_takes_the_steps_of_its_twin(name, seed, n_threads, max_inner_iter):
    problem, X = random_problem(seed, 30, name)
    for max_iter in LENGTHS:
        alpha, n_iter, lengths = asyorgcd(problem, RBF(0.5)(X, X), 1e-4, max_iter, max_inner_iter, n_threads)
        solver = AsyORGCD(max_inner_iter, precision="float64")
        assert_same_steps(problem, X, solver, Control(1e-4, max_iter, n_threads=n_threads), alpha, n_iter)
    if n_threads == 4 and problem.treatment is Treatment.PENALIZED:
        assert min(lengths) < 1  # through gathering steps, too


@every_twin
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_asyorgcd_as_printed_takes_the_steps_of_its_twin(name, seed, n_threads):
    problem, X = random_problem(seed, 30, name)
    for max_iter in (0, 1, 5, 50, 400):
        alpha, n_iter, _ = asyorgcd(problem, RBF(0.5)(X, X), 1e-4, max_iter, 10, n_threads, safe=False)
        solver = AsyORGCD(10, precision="float64", gathering=False)
        control = Control(1e-4, max_iter, n_threads=n_threads)
        result = solve(problem, matrix_of(RBF(0.5), X), solver, control).result
        assert result.n_iter == n_iter
        np.testing.assert_allclose(result.alpha, alpha, rtol=0, atol=1e-9)
        assert_certified(problem, RBF(0.5)(X, X) @ problem.beta(result.alpha), result)


# Against the oracle


@every_variant
@pytest.mark.parametrize("name", ["svor", "redsvm-random", "svc-none", "svr-penalised"])
def test_reaches_the_oracles_objective(name, solver):
    problem, X = random_problem(11, 30, name)
    K = RBF(0.5)(X, X)
    optimum = dual_optimum(problem, K).objective
    for n_threads in (2, 5):
        result = solve(problem, matrix_of(RBF(0.5), X), solver, Control(1e-5, n_threads=n_threads)).result
        assert result.status == "converged"
        assert result.violation <= 1e-5
        assert_certified(problem, K @ problem.beta(result.alpha), result)
        assert result.objective == pytest.approx(optimum, rel=2e-5)
        assert result.objective - result.gap == pytest.approx(optimum, rel=2e-5)


@every_variant
def test_semidefinite_kernels(solver):
    """Steps of different threads are as good as the same here: each of eight goes the whole way."""
    problem, X = random_problem(12, 24)
    ones = np.ones((24, 24))
    for K in (ones, np.outer(X[:, 0], X[:, 0]), 0 * ones):
        optimum = dual_optimum(problem, K).objective
        result = solve(problem, matrix_of(Precomputed(), K), solver, Control(1e-6, n_threads=8)).result
        assert result.converged
        assert result.objective == pytest.approx(optimum, rel=1e-5)


@every_variant
def test_any_start_ends_at_the_optimum_and_a_solution_is_left_alone(solver):
    problem, X = random_problem(13)
    matrix, control = matrix_of(RBF(0.5), X), Control(1e-5, n_threads=2)
    optimum = dual_optimum(problem, RBF(0.5)(X, X)).objective
    cap = problem.hinges.cap
    for start in (2 * cap, np.random.default_rng(13).normal(scale=2, size=len(cap))):
        first = solve(problem, matrix, solver, control, start).result
        assert first.converged
        assert first.objective == pytest.approx(optimum, rel=1e-5)
        again = solve(problem, matrix, solver, control, first.alpha).result
        assert again.n_iter == 0
        np.testing.assert_array_equal(again.alpha, first.alpha)


@each_of_three
def test_more_threads_than_samples_and_blocks_without_hinges(solver):
    X, y = random_data(14, n=12)
    weights = np.repeat([0.0, 1.0], 6)  # the samples of the first threads have no hinges
    problem = formulations.svor(y, N_RANKS, weights)
    K = RBF(0.5)(X, X)
    for n_threads in (4, 12, 40):
        result = solve(problem, matrix_of(RBF(0.5), X), solver, Control(1e-5, n_threads=n_threads)).result
        assert result.converged
        assert_certified(problem, K @ problem.beta(result.alpha), result)


# Histories


@every_variant
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_history_tells_of_the_run_at_the_cadence_asked_for(solver, n_threads):
    problem, X = random_problem(18, 700, C=10.0)
    control = Control(tol=1e-4, n_threads=n_threads, report_every=100, max_iter=60_000)
    result = solve(problem, matrix_of(RBF(0.5), X), solver, control).result
    assert len(result.history) >= 2
    assert result.history[0].n_iter >= 100
    assert result.history[-1].n_iter <= result.n_iter
    for before, after in pairwise(result.history):
        assert after.n_iter - before.n_iter >= 100
        assert after.seconds > before.seconds
        assert after.kernel_rows >= before.kernel_rows
    for progress in result.history:
        assert progress.solver == solver.name
        assert progress.thresholds.shape == (N_RANKS - 1,)
        assert np.all(np.isfinite(progress.thresholds))
        assert progress.gap >= 0
        assert progress.violation >= 0
        assert 0 <= progress.n_support <= 700
        assert 0 <= progress.n_active <= len(problem.hinges)
    smallest = min(progress.n_active for progress in result.history)
    assert (smallest < len(problem.hinges)) == isinstance(solver, AsyAGCD)


def history_errors(solver: Solver, n_threads: int) -> list[float]:
    """How far the objectives of a history are from those of the α they were taken at, relatively."""
    problem, X = random_problem(19, 400, C=10.0)
    K, errors = RBF(0.5)(X, X), []

    def callback(progress):
        exact = problem.certificate(run.alpha, K @ problem.beta(run.alpha))
        errors.append(abs(progress.objective / exact.primal - 1))
        np.testing.assert_allclose(progress.thresholds, exact.thresholds, rtol=0, atol=1e-9)

    control = Control(n_threads=n_threads, report_every=20, max_iter=5_000, callback=callback)
    run = Run(problem, matrix_of(RBF(0.5), X), solver, control, None)
    solver.solve(run)
    return errors


@pytest.mark.parametrize(
    ("solver", "n_threads"),
    [
        pytest.param(AsyGCD(), 1),
        pytest.param(AsyGCD(), 2),
        pytest.param(AsyGCD("atomic"), 1),
        pytest.param(AsyAGCD(50), 2),
        pytest.param(AsyAGCD(50, "atomic"), 2),
        pytest.param(AsyORGCD(20), 2),
    ],
    ids=str,
)
def test_objectives_of_a_history_belong_to_their_alpha(solver, n_threads):
    assert max(history_errors(solver, n_threads)) < 1e-6  # float32 rows


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("partition", PARTITIONS)
def test_asyorgcds_objective_never_rises(n_threads, partition):
    """The dual objective after 1, 2, 3, ... outer iterations; in between, blocks know too little of each other."""
    problem, X = random_problem(20, 120, C=5.0)
    solver, duals = AsyORGCD(25, partition, "float64"), []
    for outer in range(1, 40):
        control = Control(n_threads=n_threads, max_iter=25 * n_threads * outer)
        result = solve(problem, matrix_of(RBF(0.5), X), solver, control).result
        duals.append(result.objective - result.gap)
    assert duals[20] > duals[0]
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(duals))


def test_asyorgcd_as_printed_can_lose_ground_for_ever():
    """Eight blocks on correlated hinges; the gathering step is what makes them converge."""
    problem, X = random_problem(20, 120, C=5.0)
    safe, printed = (
        solve(
            problem,
            matrix_of(RBF(0.05), X),
            AsyORGCD(25, gathering=gathering),
            Control(n_threads=8, max_iter=200_000),
        ).result
        for gathering in (True, False)
    )
    assert safe.converged
    assert printed.status == "max_iter"
    assert printed.relative_gap > 0.01


@pytest.mark.parametrize("n_threads", [1, 2, 4, 8])
@pytest.mark.parametrize(("partition", "precision"), [("sample", "float32"), ("threshold", "float64")])
def test_asyorgcd_repeats_bit_for_bit(n_threads, precision, partition):
    problem, X = random_problem(21, 60)
    solver, control = AsyORGCD(100, partition, precision), Control(n_threads=n_threads)
    first, second = (solve(problem, matrix_of(RBF(0.5), X), solver, control) for _ in range(2))
    assert first.result.n_iter == second.result.n_iter
    np.testing.assert_array_equal(first.result.alpha, second.result.alpha)
    np.testing.assert_array_equal(first.thresholds, second.thresholds)


# Options


@pytest.mark.parametrize("solver", [AsyGCD, AsyAGCD, AsyORGCD])
@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("sharing", "lock", "'log', 'atomic'"),
        ("sharing", None, "'log', 'atomic'"),
        ("partition", "rank", "'sample', 'threshold'"),
        ("precision", "float16", "'float32', 'float64'"),
    ],
)
def test_unknown_options_are_named_with_those_there_are(solver, option, value, allowed):
    if solver is AsyORGCD and option == "sharing":
        with pytest.raises(TypeError):
            solver(sharing=value)
        return
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r} is unknown: give one of {allowed}.")):
        solver(**{option: value})


@pytest.mark.parametrize(("solver", "option"), [(AsyAGCD, "max_shrink_iter"), (AsyORGCD, "max_inner_iter")])
def test_counts_of_steps_are_whole_and_positive(solver, option):
    for value in (0, -1, 0.5, 10.0, True, "10", None, np.inf):
        with pytest.raises(ValueError, match=re.escape(f"{option}={value!r} is not valid: give a whole number")):
            solver(**{option: value})
    assert getattr(solver(**{option: np.int64(3)}), option) == 3


def test_gathering_is_a_flag_and_shrink_a_name():
    for value in (1, "no", None):
        with pytest.raises(ValueError, match=re.escape(f"gathering={value!r}")):
            AsyORGCD(gathering=value)
    with pytest.raises(ValueError, match=re.escape("shrink='all' is unknown: give one of 'block', 'global'.")):
        AsyAGCD(shrink="all")


@each_of_three
def test_only_box_problems_are_taken(solver):
    assert solver.accepts == {Treatment.NONE, Treatment.PENALIZED}


# Where they fall short today


@pytest.mark.parametrize("thresholds", [Treatment.NONE, Treatment.PENALIZED])
@pytest.mark.parametrize(
    "solver", [AsyGCD(), AsyGCD("atomic"), AsyAGCD(), AsyAGCD(20), AsyORGCD()], ids=lambda solver: str(solver)
)
def test_scores_too_large_for_float32(solver, thresholds):
    """Prices in dollars: scores of 1e6 are 0.06 apart in float32. The serial solver goes on in float64."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    price = 1e6 * (np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80))
    problem = formulations.svr(price, 1e3, 1e6, thresholds)
    assert solve(problem, matrix_of(RBF(0.3), X), GCD(), Control(time_limit=60.0)).result.converged
    result = solve(problem, matrix_of(RBF(0.3), X), solver, Control(time_limit=60.0, max_iter=10_000_000)).result
    assert result.converged


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@each_of_three
def test_a_tolerance_out_of_reach_ends_where_rounding_begins(solver, n_threads):
    for seed in range(10):
        problem, X = random_problem(seed, 30)
        control = Control(tol=1e-14, n_threads=n_threads, time_limit=5.0)
        result = solve(problem, matrix_of(RBF(0.5), X), solver, control).result
        assert result.status == "precision"
        assert result.violation < 1e-11


@pytest.mark.parametrize("solver", [AsyGCD(), AsyAGCD(100)], ids=lambda solver: solver.name)
def test_float32_rows_serve_for_the_default_tolerance(solver):
    """With a cache for all rows none is computed twice; going over to float64 would compute them anew."""
    for seed in range(20):
        problem, X = random_problem(seed, 200, C=5.0)
        result = solve(problem, matrix_of(RBF(0.5), X), solver, Control(n_threads=4)).result
        assert result.converged
        assert result.kernel_rows <= 200


def test_asyagcd_ends_with_the_papers_rule():
    """M − m ≤ tol over all hinges, after reconstruction."""
    for seed in (25, 33, 57):
        problem, X = random_problem(seed, 60, C=20.0)
        result = solve(problem, matrix_of(RBF(0.5), X), AsyAGCD(5, precision="float64"), Control()).result
        score = RBF(0.5)(X, X) @ problem.beta(result.alpha)
        slope = problem.slope(score, problem.dual_thresholds(result.alpha))
        partial = slope * np.where(slope < 0, result.alpha < problem.hinges.cap, result.alpha > 0)
        assert partial.max() - partial.min() <= 1e-3 + 1e-9


def slow_kernel(seconds: float, calls: list[int]) -> Kernel:
    def kernel(A, B):
        calls.append(len(A))
        time.sleep(seconds)
        return RBF(0.5)(A, B)

    return Custom(kernel)


def test_asyagcd_can_be_stopped_while_it_sums_scores():
    problem, X = random_problem(22, 300, C=1e-6)
    calls: list[int] = []
    matrix, control = matrix_of(slow_kernel(0.002, calls), X, 0.05), Control(n_threads=2, time_limit=0.01)
    start = problem.hinges.cap.copy()
    start[0] = 0.0  # or it is a solution, which is left alone
    result = solve(problem, matrix, AsyAGCD(), control, start=start).result
    assert result.status == "time_limit"
    assert calls.count(1) < 150  # single rows; the 300 rows for the proof come in blocks


def test_asyorgcd_keeps_its_steps_when_it_is_stopped():
    problem, X = random_problem(23, 300)
    matrix, control = matrix_of(slow_kernel(0.005, []), X, 0.05), Control(n_threads=2, time_limit=0.5)
    result = solve(problem, matrix, AsyORGCD(), control).result
    assert result.status == "time_limit"
    assert result.alpha.any()
