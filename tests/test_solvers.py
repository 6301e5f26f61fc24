"""Every solver on every formulation it takes, against the oracle; and what surrounds a solver."""

import re
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from ordsvm import SVOR, SVORIM, LinearNPSVOR, LinearSVOR, certify, formulations
from ordsvm.kernels import RBF, Custom, Kernel, Linear, Precomputed
from ordsvm.problem import Problem, Treatment
from ordsvm.result import Progress
from ordsvm.solvers import (
    GCD,
    SMO,
    SOLVERS,
    Block,
    Control,
    KernelMatrix,
    ParsmoCache,
    ParsmoLight,
    Solver,
    check_solver,
    solve,
)
from ordsvm.solvers.auto import Work, auto
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import dual_optimum

VARIANTS: list[Solver] = [
    SMO(selection, precision) for selection in ("second-order", "mvp") for precision in ("float32", "float64")
]
VARIANTS += [GCD(precision) for precision in ("float32", "float64")] + [ParsmoLight(4), ParsmoCache(3)]
VARIANTS += [Block(), Block(precision="float64"), Block(q1=12, q2=4)]
THRESHOLDS = {name: make(np.array([0, 1, 2, 3]), N_RANKS, 1.0).treatment for name, make in FORMULATIONS.items()}
PAIRS = [(name, solver) for name in FORMULATIONS for solver in VARIANTS if THRESHOLDS[name] in solver.accepts]
MODELS = ["svor", "svorim", "svorex", "shashua_levin"]

every_pair = pytest.mark.parametrize(("name", "solver"), PAIRS, ids=str)
every_model = pytest.mark.parametrize("name", MODELS)


def classic(problem: Problem) -> Solver:
    """The solver of the paper."""
    return SMO() if problem.treatment in SMO.accepts else GCD()


def matrix_of(kernel: Kernel, X: np.ndarray, cache_size: float = 200.0) -> KernelMatrix:
    return KernelMatrix(kernel.rows(X), cache_size)


def assert_optimal(problem: Problem, K: np.ndarray, solution, tol: float) -> None:
    """Converged by its own account, by an independent recomputation, and by the oracle."""
    result = solution.result
    assert result.status == "converged"
    assert result.violation <= tol
    proof = problem.certificate(result.alpha, K @ problem.beta(result.alpha))
    np.testing.assert_array_equal(problem.repair(result.alpha), result.alpha)
    assert proof.violation <= tol + 1e-9
    assert proof.gap >= -1e-14 * proof.primal  # rounding in γ
    assert result.objective == pytest.approx(proof.primal, rel=1e-9)
    assert result.gap == pytest.approx(proof.gap, rel=1e-6, abs=1e-9 * proof.primal)
    np.testing.assert_allclose(solution.beta, problem.beta(result.alpha))
    optimum = dual_optimum(problem, K).objective
    assert proof.primal == pytest.approx(optimum, rel=1e-6)
    assert proof.dual == pytest.approx(optimum, rel=1e-6)


# Against the oracle


@every_pair
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_reaches_the_oracles_objective(name, solver, C):
    X, y = random_data(11)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, C), RBF(0.5)
    solution = solve(problem, matrix_of(kernel, X), solver, Control(tol=1e-7))
    assert_optimal(problem, kernel(X, X), solution, 1e-7)


@every_pair
def test_semidefinite_kernels(name, solver):
    """Rank 2, rank 1 and twins among the samples: pairs without curvature must not stop the solver."""
    X, y = random_data(12, n=24, n_features=2)
    X[1::4] = X[::4]  # rows twice, most of them with different ranks
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    rank_one = np.outer(X[:, 0], X[:, 0])
    for matrix, K in (
        (matrix_of(Linear(), X), X @ X.T),
        (matrix_of(RBF(0.5), X), RBF(0.5)(X, X)),
        (matrix_of(Precomputed(), rank_one), rank_one),
        (matrix_of(Precomputed(), 0 * rank_one), 0 * rank_one),
    ):
        assert_optimal(problem, K, solve(problem, matrix, solver, Control(tol=1e-6)), 1e-6)


def test_float32_rows_of_a_semidefinite_kernel_do_not_crawl():
    """K in float32 is slightly more than semidefinite: without a look at exact scores, descent goes on in its noise."""
    X, y = random_data(12, n=24, n_features=2)
    problem = FORMULATIONS["redsvm-squared"](y, N_RANKS, 1.0)
    matrix = matrix_of(Precomputed(), np.outer(X[:, 0], X[:, 0]))
    assert solve(problem, matrix, GCD("float64"), Control(tol=1e-7)).result.n_iter < 1000
    assert solve(problem, matrix, GCD("float32"), Control(tol=1e-7, max_iter=1_000_000)).result.converged


@every_model
@pytest.mark.parametrize("n_ranks", [2, 7])
def test_one_threshold_and_six(name, n_ranks):
    X, y = random_data(13, n=35, n_ranks=n_ranks, noise=2.0)
    problem, kernel = FORMULATIONS[name](y, n_ranks, 3.0), RBF(0.5)
    assert problem.n_thresholds == n_ranks - 1
    assert_optimal(
        problem, kernel(X, X), solve(problem, matrix_of(kernel, X), classic(problem), Control(tol=1e-7)), 1e-7
    )


@every_model
def test_weights_that_differ_widely(name):
    X, y = random_data(14)
    C = 10.0 ** np.random.default_rng(14).uniform(-4, 2, size=len(y))
    problem, kernel = FORMULATIONS[name](y, N_RANKS, C), RBF(0.5)
    assert_optimal(
        problem, kernel(X, X), solve(problem, matrix_of(kernel, X), classic(problem), Control(tol=1e-7)), 1e-7
    )


@pytest.mark.parametrize("seed", range(25))
def test_ordered_thresholds_under_all_kinds_of_disorder(seed):
    rng = np.random.default_rng(seed)
    n_ranks = int(rng.integers(3, 8))
    X, y = random_data(seed, n=int(rng.integers(n_ranks, 25)), n_features=1, n_ranks=n_ranks, noise=5.0)
    problem, K = formulations.svorex(y, n_ranks, rng.choice([0.3, 1.0, 5.0])), X @ X.T
    for solver in (SMO("mvp"), SMO("second-order"), Block()):
        solution = solve(problem, matrix_of(Precomputed(), K), solver, Control(tol=1e-8))
        assert_optimal(problem, K, solution, 1e-8)
        assert np.all(np.diff(solution.thresholds) >= 0)


@every_pair
def test_float32_rows_end_with_an_exact_violation_at_large_C(name, solver):
    """Rounding in float32 rows adds up over thousands of steps; the end is judged with float64 scores."""
    X, y = random_data(15, n=150, n_features=5)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, 100.0), RBF(0.2)
    result = solve(problem, matrix_of(kernel, X), solver, Control(tol=1e-3)).result
    proof = problem.certificate(result.alpha, kernel(X, X) @ problem.beta(result.alpha))
    assert result.status == "converged"
    assert proof.violation <= 1e-3 + 1e-9
    assert result.violation == pytest.approx(proof.violation, abs=1e-8)
    assert proof.relative_gap <= 1e-3


# Limits and status


@every_model
def test_a_stopped_run_has_an_honest_certificate(name):
    X, y = random_data(16, n=60)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, 5.0), RBF(0.5)
    K, previous = kernel(X, X), -np.inf
    for max_iter in (0, 1, 10, 50):
        result = solve(problem, matrix_of(kernel, X), classic(problem), Control(tol=1e-6, max_iter=max_iter)).result
        proof = problem.certificate(result.alpha, K @ problem.beta(result.alpha))
        assert result.status == "max_iter"
        assert result.n_iter == max_iter
        assert result.violation == pytest.approx(proof.violation, abs=1e-12)
        assert result.gap == pytest.approx(proof.gap, rel=1e-9)
        assert proof.dual >= previous  # every step is an ascent
        previous = proof.dual


@pytest.mark.parametrize("solver", VARIANTS, ids=str)
def test_an_unreachable_tolerance_is_not_reported_as_reached(solver):
    """Below rounding the solver has to give up; it must then not claim convergence."""
    X, y = random_data(17, n=40)
    name = "svorim" if Treatment.FREE in solver.accepts else "svor"
    problem, kernel = FORMULATIONS[name](y, N_RANKS, 100.0), RBF(0.3)
    result = solve(problem, matrix_of(kernel, X), solver, Control(tol=3e-15, max_iter=50_000)).result
    exact = problem.violation(result.alpha, kernel.rows(X).product(problem.beta(result.alpha)))
    assert result.violation == pytest.approx(exact, rel=0, abs=1e-15)
    assert result.status in ("precision", "max_iter")


@pytest.mark.parametrize("seed", [53, 72, 150])
def test_double_rows_take_over_from_float_rows_with_exact_scores(seed):
    """Far from the origin float rows of a linear kernel say little; double ones alone need a few hundred steps."""
    X, y = random_data(seed, n=60)
    problem, matrix = formulations.svorex(y, N_RANKS, 1.0), matrix_of(Linear(), X + 2000)
    for precision in ("float64", "float32"):
        assert solve(problem, matrix, SMO(precision=precision), Control(max_iter=1_000_000)).result.converged


@pytest.mark.parametrize("seed", [258, 272, 289])
def test_ordered_thresholds_do_not_trap_the_second_order_choice(seed):
    """Two hinges of one sample have no curvature, so that they look best however little a μ leaves them to move."""
    X, y = random_data(seed, n=60)
    problem, matrix = formulations.svorex(y, N_RANKS, 1.0), matrix_of(Linear(), X + 2000)
    assert solve(problem, matrix, SMO("mvp", "float64"), Control(max_iter=10_000)).result.converged
    assert solve(problem, matrix, SMO("second-order"), Control(max_iter=1_000_000)).result.converged


@every_model
def test_the_relative_gap_is_reached_at_very_large_C(name):
    X, y = random_data(8, n=40, noise=0.3)
    problem = FORMULATIONS[name](y, N_RANKS, 1e4)
    result = solve(problem, matrix_of(RBF(0.3), X), classic(problem), Control()).result
    assert result.converged
    assert result.relative_gap <= 1e-3


@pytest.mark.parametrize(("name", "n_ranks", "seed"), [("svorim", 2, 14), ("shashua_levin", 3, 13), ("svorex", 3, 25)])
def test_drift_in_double_is_no_reason_to_give_up_far_from_the_optimum(name, n_ranks, seed):
    X, y = random_data(seed, n=16, n_features=1, n_ranks=n_ranks)
    problem, matrix = FORMULATIONS[name](y, n_ranks, 800.0), matrix_of(Linear(), 7 * X)
    result = solve(problem, matrix, SMO("mvp"), Control(tol=1e-7, max_iter=10_000_000)).result
    assert result.converged


def test_a_cache_of_two_rows_gives_the_same_answer():
    X, y = random_data(18, n=200)
    two_rows = 2 * 8 * 200 / 2**20  # in double, should it come to that
    for name in MODELS:
        problem = FORMULATIONS[name](y, N_RANKS, 1.0)
        small, large = (
            solve(problem, matrix_of(RBF(0.5), X, size), classic(problem), Control(tol=1e-5)).result
            for size in (two_rows, 100.0)
        )
        np.testing.assert_array_equal(small.alpha, large.alpha)
        assert small.n_iter == large.n_iter
        assert small.kernel_rows > large.kernel_rows
        assert large.kernel_rows <= 200


def test_a_cache_too_small_for_two_rows_is_an_error():
    X, y = random_data(18, n=200)
    with pytest.raises(ValueError, match=r"cache_size=0.001 MB does not hold two rows .* 200 samples: give at least"):
        matrix_of(RBF(0.5), X, cache_size=0.001)
    with pytest.raises(ValueError, match=r"cache_size=0.001 MB does not hold two rows"):
        SVORIM(cache_size=0.001).fit(X, y)


def test_fits_may_share_a_kernel_matrix():
    """Rows that one fit has computed serve the next, in whichever precision; the answers are those of fits alone."""
    X, y = random_data(24, n=80)
    shared = matrix_of(RBF(0.5), X)
    for precision in ("float32", "float64", "float32"):
        for name in MODELS:
            problem = FORMULATIONS[name](y, N_RANKS, 1.0)
            solver = type(classic(problem))(precision=precision)
            together, alone = (solve(problem, m, solver, Control()).result for m in (shared, matrix_of(RBF(0.5), X)))
            np.testing.assert_array_equal(together.alpha, alone.alpha)
            assert together.n_iter == alone.n_iter


@every_pair
def test_repeats_bit_for_bit(name, solver):
    X, y = random_data(19, n=60)
    problem = FORMULATIONS[name](y, N_RANKS, 2.0)
    first, second = (solve(problem, matrix_of(RBF(0.5), X), solver, Control(tol=1e-4)) for _ in range(2))
    np.testing.assert_array_equal(first.result.alpha, second.result.alpha)
    np.testing.assert_array_equal(first.thresholds, second.thresholds)
    assert first.result.n_iter == second.result.n_iter


# Starts


@every_pair
def test_starting_at_the_solution_takes_hardly_a_step(name, solver):
    X, y = random_data(20, n=50)
    problem, matrix = FORMULATIONS[name](y, N_RANKS, 2.0), matrix_of(RBF(0.5), X)
    first = solve(problem, matrix, solver, Control(tol=1e-6))
    again = solve(problem, matrix, solver, Control(tol=1e-6), start=first.result.alpha)
    assert again.result.n_iter <= 5  # ordered: what rounding leaves of a μ may still move
    np.testing.assert_allclose(again.result.alpha, first.result.alpha, rtol=0, atol=1e-9)
    coarse = solve(problem, matrix, solver, Control(tol=1e-2), start=first.result.alpha)
    assert coarse.result.n_iter <= 5
    from_coarse = solve(problem, matrix, solver, Control(tol=1e-2)).result.alpha
    finer = solve(problem, matrix, solver, Control(tol=1e-6), start=from_coarse)
    assert finer.result.n_iter < first.result.n_iter


@every_pair
@pytest.mark.parametrize("start", ["wild", "caps", "feasible"])
def test_any_start_ends_at_the_optimum_and_is_not_written_to(name, solver, start):
    X, y = random_data(21)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, 2.0), RBF(0.5)
    cap = problem.hinges.cap
    starts = {"wild": np.random.default_rng(21).normal(scale=5, size=len(cap)), "caps": 2 * cap}
    starts["feasible"] = problem.repair(np.random.default_rng(22).uniform(0, cap))
    given = starts[start].copy()
    solution = solve(problem, matrix_of(kernel, X), solver, Control(tol=1e-7), start=given)
    np.testing.assert_array_equal(given, starts[start])
    assert_optimal(problem, kernel(X, X), solution, 1e-7)


def test_ordered_start_with_active_mu():
    """From a point with γ ≠ 0, which `repair` must not flatten and SMO must take μ from."""
    X, y = random_data(20, n=40, n_ranks=6, noise=6.0)
    problem, kernel = formulations.svorex(y, 6, 2.0), RBF(0.5)
    halfway = solve(problem, matrix_of(kernel, X), SMO(), Control(max_iter=30)).result.alpha
    assert problem.mu(halfway).max() > 0.1
    np.testing.assert_array_equal(problem.repair(halfway), halfway)
    solution = solve(problem, matrix_of(kernel, X), SMO(), Control(tol=1e-7), start=halfway)
    assert_optimal(problem, kernel(X, X), solution, 1e-7)


# Choice


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_auto_is_a_solver_that_fits(name, n):
    X, y = random_data(2, n=n)
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    for kernel in (RBF(0.3), Custom(RBF(0.3))):
        assert problem.treatment in auto(Work.of(problem, kernel, X)).accepts


@pytest.mark.parametrize("thresholds", Treatment)
@pytest.mark.parametrize("name", SOLVERS)
def test_an_impossible_pair_gets_a_sentence_that_names_both_and_what_fits(name, thresholds):
    solver = SOLVERS[name]()
    if thresholds in solver.accepts:
        assert check_solver(name, thresholds) == check_solver(solver, thresholds) == solver
        return
    fitting = [other for other, kind in SOLVERS.items() if thresholds in kind.accepts]
    for given in (name, solver):
        with pytest.raises(ValueError, match=f"solver='{name}' does not .* {thresholds.value} thresholds") as caught:
            check_solver(given, thresholds)
        assert all(repr(other) in str(caught.value) for other in fitting)


@pytest.mark.parametrize("thresholds", Treatment)
def test_an_unknown_solver_is_told_those_that_fit(thresholds):
    fitting = [name for name, kind in SOLVERS.items() if thresholds in kind.accepts]
    expected = f"one of {', '.join(map(repr, [*fitting, 'rank-dcd']))}."
    with pytest.raises(ValueError, match=re.escape(expected) + "$"):
        check_solver("sag", thresholds, ["rank-dcd"])


@pytest.mark.parametrize(
    ("machine", "given", "meant"),
    [(SVOR, "Block", "block"), (SVORIM, "SMO", "smo"), (SVOR, "ProximalNewton", "proximal-newton")]
    + [(LinearSVOR, "RankDCD", "rank-dcd"), (LinearNPSVOR, "DCD1", "dcd-1")]
    + [(partial(SVOR, kernel="linear"), "RankDCD", "rank-dcd")],
)
def test_the_name_of_a_class_brings_up_that_of_the_solver(machine, given, meant):
    X, y = random_data(3)
    with pytest.raises(ValueError, match=f"solver='{given}' is unknown: .* Did you mean '{meant}'"):
        machine(solver=given).fit(X, y)


@pytest.mark.parametrize("machine", [partial(SVOR, kernel="rbf"), partial(SVORIM, kernel="linear"), LinearSVOR])
def test_solvers_of_other_machines_are_not_offered(machine):
    X, y = random_data(3)
    with pytest.raises(ValueError, match="solver='sag' is unknown") as caught:
        machine(solver="sag").fit(X, y)
    offered = re.findall("'([a-z0-9-]+)'", str(caught.value).partition("one of")[2])
    assert len(offered) >= 2
    for name in offered:
        machine(solver=name).fit(X, y)


def test_unknown_solvers_and_options_are_named():
    with pytest.raises(ValueError, match="solver='newton' is unknown: give 'auto' or one of 'smo', 'block'"):
        check_solver("newton", Treatment.FREE)
    with pytest.raises(ValueError, match="solver=3 is not a solver"):
        check_solver(3, Treatment.FREE)
    with pytest.raises(ValueError, match="selection='best' is unknown: give one of 'second-order', 'mvp'"):
        SMO("best")
    for solver in SMO, GCD:
        with pytest.raises(ValueError, match="precision='float16' is unknown: give one of 'float32', 'float64'"):
            solver(precision="float16")


# Progress


def slow_matrix(X: np.ndarray, seconds: float = 0.02) -> KernelMatrix:
    """An RBF kernel that takes its time."""

    def kernel(A, B):
        time.sleep(seconds)
        return RBF(0.5)(A, B)

    return matrix_of(Custom(kernel), X)


@every_model
def test_progress_tells_of_the_running_fit(name):
    X, y = random_data(22, n=60)
    problem, seen = FORMULATIONS[name](y, N_RANKS, 1.0), []
    result = solve(problem, slow_matrix(X), classic(problem), Control(tol=1e-3, callback=seen.append)).result
    assert result.converged
    assert result.history
    assert list(result.history) == seen
    optimum = dual_optimum(problem, RBF(0.5)(X, X)).objective
    for progress in seen:
        assert isinstance(progress, Progress)
        assert progress.solver == classic(problem).name
        assert progress.objective >= optimum * (1 - 1e-5) >= (progress.objective - progress.gap) * (1 - 2e-5)
        assert progress.relative_gap >= 0
        assert progress.violation >= 0
        assert 0 <= progress.n_support <= len(y)
        assert 0 < progress.kernel_rows <= len(y)
        assert progress.thresholds.shape == (N_RANKS - 1,)
    for before, after in pairwise(seen):
        assert before.seconds < after.seconds <= result.seconds
        assert before.n_iter <= after.n_iter <= result.n_iter
        assert before.kernel_rows <= after.kernel_rows <= result.kernel_rows


@every_model
def test_a_callback_can_stop_a_fit(name):
    X, y = random_data(22, n=60)
    problem, kernel, seen = FORMULATIONS[name](y, N_RANKS, 1.0), RBF(0.5), []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    result = solve(problem, slow_matrix(X), classic(problem), Control(callback=stop)).result
    assert result.status == "callback"
    assert not result.converged
    assert len(seen) == len(result.history) == 1
    proof = problem.certificate(result.alpha, kernel(X, X) @ problem.beta(result.alpha))
    assert result.objective == pytest.approx(proof.primal, rel=1e-12)
    assert result.violation == pytest.approx(proof.violation, abs=1e-12)


@every_model
def test_a_time_limit_stops_a_fit(name):
    X, y = random_data(22, n=60)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, 1.0), RBF(0.5)
    result = solve(problem, slow_matrix(X), classic(problem), Control(time_limit=0.3)).result
    assert result.status == "time_limit"
    proof = problem.certificate(result.alpha, kernel(X, X) @ problem.beta(result.alpha))
    assert result.gap == pytest.approx(proof.gap, rel=1e-9)


def test_an_exception_in_a_callback_or_kernel_reaches_the_caller():
    X, y = random_data(22, n=60)
    problem = FORMULATIONS["svorim"](y, N_RANKS, 1.0)

    def fail(progress):
        raise KeyError("callback")

    with pytest.raises(KeyError, match="callback"):
        solve(problem, slow_matrix(X), SMO(), Control(callback=fail))
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        if len(calls) > 5:
            raise ZeroDivisionError("kernel")
        return RBF(0.5)(A, B)

    with pytest.raises(ZeroDivisionError, match="kernel"):
        solve(problem, matrix_of(Custom(kernel), X), SMO(), Control())


def test_verbose_writes_a_line_a_look_to_stderr(capsys):
    X, y = random_data(22, n=60)
    problem = FORMULATIONS["svorim"](y, N_RANKS, 1.0)
    result = solve(problem, slow_matrix(X), SMO(), Control(verbose=True)).result
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) == len(result.history)
    assert "relative gap" in output.err


def test_the_estimators_result_is_that_of_the_solver():
    X, y = random_data(23, n=60)
    model = SVORIM(gamma=0.5, tol=1e-6, solver=SMO("mvp")).fit(X, y)
    problem = formulations.svorim(y, N_RANKS, 1.0)
    result = solve(problem, matrix_of(RBF(0.5), X), SMO("mvp"), Control(tol=1e-6)).result
    np.testing.assert_array_equal(model.result_.alpha, result.alpha)
    assert certify(model, X, y).primal == pytest.approx(result.objective, rel=1e-12)


def test_a_result_has_the_options_of_the_solver():
    X, y = random_data(0)
    options = SVORIM(solver=SMO(selection="mvp")).fit(X, y).result_.solver_options
    assert options == {"selection": "mvp", "precision": "float32"}


class Counting:
    """A solver that is no dataclass: it counts its runs."""

    name = "counting"
    accepts = SMO.accepts

    def __init__(self):
        self.runs = []

    def solve(self, run):
        self.runs.append(run)
        SMO().solve(run)


@dataclass(frozen=True, slots=True)
class Slotted:
    """A solver without a `__dict__`."""

    precision: str = "float64"

    name: ClassVar[str] = "slotted"
    accepts: ClassVar[frozenset[Treatment]] = SMO.accepts

    def solve(self, run):
        SMO(precision=self.precision).solve(run)


def test_options_are_the_fields_of_a_solver_not_its_state():
    X, y = random_data(0)
    counting = Counting()
    result = SVORIM(solver=counting).fit(X, y).result_
    assert len(counting.runs) == 1
    assert (result.solver, result.solver_options) == ("counting", {})
    assert SVORIM(solver=Slotted()).fit(X, y).result_.solver_options == {"precision": "float64"}
