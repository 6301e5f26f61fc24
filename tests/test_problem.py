"""The problem and its judge: objectives, gap, optimality conditions and feasibility, for every formulation."""

import numpy as np
import pytest
from scipy.optimize import linprog

from ordsvm import formulations
from ordsvm.formulations import cost_matrix, cost_weights
from ordsvm.kernels import RBF, Precomputed
from ordsvm.problem import Certificate, Hinges, Problem, Treatment
from ordsvm.solvers import SMO, Control, KernelMatrix, solve
from tests.cases import FORMULATIONS, N_RANKS, random_data, v_shaped_cost
from tests.oracle import beta_and_gamma_matrices, dual_optimum, equality_matrix, primal_optimum, snapped

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)


def small_problem(name: str, seed: int, C: float = 3.0) -> tuple[Problem, np.ndarray]:
    X, y = random_data(seed)
    return FORMULATIONS[name](y, N_RANKS, C), RBF(0.5)(X, X)


def random_feasible_alpha(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """A mixture of vertices of the feasible set, found by linear programs; ordered thresholds get some μ > 0."""
    equality = equality_matrix(problem)
    bounds = [(0, cap) for cap in problem.hinges.cap] + [(0, None)] * (equality.shape[1] - len(problem.hinges))
    vertices = [
        linprog(rng.normal(size=equality.shape[1]) + 0.01, A_eq=equality, b_eq=np.zeros(len(equality)), bounds=bounds).x
        for _ in range(3)
    ]
    return (rng.dirichlet(np.ones(3)) @ vertices)[: len(problem.hinges)]


# The optimum


@every_formulation
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_strong_duality_and_a_certificate_without_gap_at_the_optimum(name, C, seed):
    problem, K = small_problem(name, seed, C)
    dual, primal = dual_optimum(problem, K), primal_optimum(problem, K)
    assert dual.objective == pytest.approx(primal.objective, rel=1e-6)
    alpha = snapped(problem, dual.alpha)
    proof = problem.certificate(alpha, K @ problem.beta(alpha))
    assert proof.dual == pytest.approx(dual.objective, rel=1e-6)
    assert proof.primal == pytest.approx(primal.objective, rel=1e-6)
    assert 0 <= proof.relative_gap <= 1e-6
    assert proof.violation <= 1e-5
    np.testing.assert_array_equal(problem.repair(alpha), alpha)


@every_formulation
def test_thresholds_of_the_certificate_are_the_oracles(name):
    """At this C every threshold has a hinge inside its box, so that b is unique."""
    problem, K = small_problem(name, seed=3, C=10.0)
    dual, primal = dual_optimum(problem, K), primal_optimum(problem, K)
    alpha = snapped(problem, dual.alpha)
    b = problem.certificate(alpha, K @ problem.beta(alpha)).thresholds
    np.testing.assert_allclose(b, dual.b, atol=1e-5)
    np.testing.assert_allclose(b, primal.b, atol=1e-5)


# Objectives and gap by definition


@every_formulation
def test_objectives_are_their_definitions(name):
    problem, K = small_problem(name, seed=4)
    rng = np.random.default_rng(4)
    h, alpha, b = problem.hinges, rng.uniform(0, problem.hinges.cap), rng.normal(size=problem.n_thresholds)
    to_beta, to_gamma = beta_and_gamma_matrices(problem)
    beta, gamma = to_beta @ alpha, to_gamma @ alpha
    np.testing.assert_allclose(problem.beta(alpha), beta)
    np.testing.assert_allclose(problem.gamma(alpha), gamma, atol=1e-12)
    penalised = problem.treatment is Treatment.PENALIZED
    loss = sum(
        cap * max(0.0, offset - sign * ((K @ beta)[i] - b[k]))
        for i, k, sign, offset, cap in zip(h.sample, h.threshold, h.sign, h.offset, h.cap, strict=True)
    )
    primal = 0.5 * beta @ K @ beta + 0.5 * penalised * b @ b + loss
    dual = h.offset @ alpha - 0.5 * beta @ K @ beta - 0.5 * penalised * gamma @ gamma
    assert problem.primal(alpha, K @ beta, b) == pytest.approx(primal, rel=1e-12)
    assert problem.dual(alpha, K @ beta) == pytest.approx(dual, rel=1e-12)
    step = 1e-6 * rng.normal(size=len(h))  # the slope is the gradient of −dual, plus b's part
    change = [-problem.dual(alpha + t * step, K @ problem.beta(alpha + t * step)) for t in (-1, 1)]
    b = -gamma if penalised else np.zeros_like(b)
    assert (change[1] - change[0]) / 2 == pytest.approx(problem.slope(K @ beta, b) @ step, rel=1e-5)


@every_formulation
@pytest.mark.parametrize("seed", range(5))
def test_gap_is_primal_minus_dual_for_any_feasible_alpha_and_any_b(name, seed):
    problem, K = small_problem(name, seed)
    rng = np.random.default_rng(seed)
    alpha = random_feasible_alpha(problem, rng)
    score = K @ problem.beta(alpha)
    b = 3 * rng.normal(size=problem.n_thresholds)
    if problem.treatment is Treatment.ORDERED:
        b.sort()
    if problem.treatment is Treatment.NONE:
        b[:] = 0
    difference = problem.primal(alpha, score, b) - problem.dual(alpha, score)
    assert problem.gap(alpha, score, b) == pytest.approx(difference, rel=1e-9)
    proof = problem.certificate(alpha, score)
    optimum = dual_optimum(problem, K).objective
    assert proof.gap >= 0
    if problem.treatment in (Treatment.FREE, Treatment.ORDERED):  # the certificate's b is the best one
        assert proof.gap <= problem.gap(alpha, score, b)
    assert proof.dual <= optimum * (1 + 1e-8)
    assert proof.primal >= optimum * (1 - 1e-8)


def test_random_feasible_alpha_of_ordered_thresholds_has_active_mu():
    """Else the tests above would not see the term of the gap that ordered thresholds add."""
    problem, _ = small_problem("svorex", 0)
    mu = np.array([problem.mu(random_feasible_alpha(problem, np.random.default_rng(s))) for s in range(5)])
    assert (mu[:, 1:-1] > 0.1).any()
    np.testing.assert_allclose(mu[:, [0, -1]], 0, atol=1e-9)
    assert mu.min() >= -1e-9


# Feasibility


@every_formulation
@pytest.mark.parametrize("seed", range(3))
def test_repair_leaves_feasible_alone_and_makes_the_rest_feasible(name, seed):
    problem, _ = small_problem(name, seed)
    rng = np.random.default_rng(seed)
    feasible = np.clip(random_feasible_alpha(problem, rng), 0, problem.hinges.cap)
    np.testing.assert_array_equal(problem.repair(feasible), feasible)
    zero = np.zeros(len(problem.hinges))
    np.testing.assert_array_equal(problem.repair(zero), zero)
    for wild in (rng.normal(scale=5, size=len(zero)), rng.uniform(0, 2 * problem.hinges.cap), problem.hinges.cap):
        repaired = problem.repair(wild)
        assert np.all((repaired >= 0) & (repaired <= problem.hinges.cap))
        if problem.treatment is Treatment.FREE:
            np.testing.assert_allclose(problem.gamma(repaired), 0, atol=1e-10)
        if problem.treatment is Treatment.ORDERED:
            mu = problem.mu(repaired)
            assert mu.min() >= -1e-10
            assert abs(mu[-1]) <= 1e-10


# Tables


def test_table_is_grouped_by_threshold_then_sample_and_drops_caps_of_zero():
    rng = np.random.default_rng(0)
    sample, threshold = np.divmod(rng.permutation(60), 3)
    cap = rng.uniform(1, 2, size=60) * (rng.uniform(size=60) > 0.3)
    sign = rng.choice([-1, 1], size=60)
    table = Hinges.table(sample, threshold, sign, offset=1.0, cap=cap)
    assert len(table) == np.count_nonzero(cap)
    assert np.all(np.diff(table.threshold * 1000 + table.sample) > 0)
    given = {(i, k): (s, c) for i, k, s, c in zip(sample, threshold, sign, cap, strict=True) if c > 0}
    kept = zip(table.sample, table.threshold, table.sign, table.cap, strict=True)
    assert {(i, k): (s, c) for i, k, s, c in kept} == given
    np.testing.assert_array_equal(table.offset, 1.0)
    dtypes = [np.int32, np.int32, np.float64, np.float64, np.float64]
    assert [column.dtype for column in vars(table).values()] == dtypes


@pytest.mark.parametrize("cost", ["absolute", "squared", "zero-one", "random"])
def test_caps_are_steps_of_the_cost(cost):
    _, y = random_data(5)
    matrix = v_shaped_cost(N_RANKS, seed=5) if cost == "random" else cost_matrix(cost, N_RANKS)
    problem = formulations.redsvm(y, N_RANKS, 2.0, cost_weights(matrix))
    h = problem.hinges
    expected = 2.0 * np.abs(matrix[y[h.sample], h.threshold + 1] - matrix[y[h.sample], h.threshold])
    np.testing.assert_allclose(h.cap, expected)
    np.testing.assert_array_equal(h.sign, np.where(y[h.sample] > h.threshold, 1, -1))


def test_svor_is_redsvm_with_absolute_costs():
    _, y = random_data(6)
    svor, redsvm = (FORMULATIONS[name](y, N_RANKS, 2.0) for name in ("svor", "redsvm-absolute"))
    assert svor.treatment is redsvm.treatment is Treatment.PENALIZED
    for column in vars(svor.hinges):
        np.testing.assert_array_equal(getattr(svor.hinges, column), getattr(redsvm.hinges, column))


def test_two_ranks_make_one_problem_of_all_threshold_models():
    """Every sample then has one hinge at one threshold: C-SVC with a free intercept (SVOR: penalised)."""
    _, y = random_data(7, n_ranks=2)
    for name in ("svor", "svorim", "svorex", "shashua_levin"):
        problem = FORMULATIONS[name](y, 2, 1.5)
        svc = formulations.svc(np.where(y > 0, 1.0, -1.0), 1.5, problem.treatment)
        for column in vars(svc.hinges):
            np.testing.assert_array_equal(getattr(problem.hinges, column), getattr(svc.hinges, column))


@pytest.mark.parametrize("name", ["svor", "svorim", "svorex", "shashua_levin"])
def test_a_C_per_sample_is_a_weight(name):
    _, y = random_data(8)
    C = np.random.default_rng(8).uniform(0, 2, size=len(y))
    C[::7] = 0.0
    weighted, plain = (FORMULATIONS[name](y, N_RANKS, weight) for weight in (C, 1.0))
    kept = C[plain.hinges.sample] > 0
    np.testing.assert_array_equal(weighted.hinges.sample, plain.hinges.sample[kept])
    np.testing.assert_array_equal(weighted.hinges.threshold, plain.hinges.threshold[kept])
    np.testing.assert_array_equal(weighted.hinges.cap, C[weighted.hinges.sample])


# NPSVOR


def npsvor_with_weights(rank: int, seed: int = 9):
    """The machine of one rank with C1 and C2 that differ from sample to sample; some are 0."""
    X, y = random_data(seed)
    rng = np.random.default_rng(seed)
    C1, C2 = rng.uniform(0, 3, size=(2, len(y))) * (rng.random(size=(2, len(y))) > 0.1)
    return formulations.npsvor(y, rank, 0.2, C1, C2), RBF(0.5)(X, X), y, C1, C2


@pytest.mark.parametrize("rank", range(N_RANKS))
def test_npsvor_is_the_papers_objective(rank):
    """Shi et al. 2021, (4), with an appended 1 in the place of the intercept, sample by sample."""
    problem, K, y, C1, C2 = npsvor_with_weights(rank)
    rng = np.random.default_rng(rank)
    alpha, intercept = rng.uniform(0, problem.hinges.cap), rng.normal()
    beta = problem.beta(alpha)
    score = K @ beta + intercept
    loss = 0.0
    for i in range(len(y)):
        if y[i] == rank:
            loss += C1[i] * max(abs(score[i]) - 0.2, 0.0)
        else:
            loss += C2[i] * max(1 - (1 if y[i] > rank else -1) * score[i], 0.0)
    expected = 0.5 * (beta @ K @ beta + intercept**2) + loss
    assert problem.primal(alpha, K @ beta, np.array([-intercept])) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rank", range(N_RANKS))
def test_npsvor_of_every_rank_with_weights_at_the_oracles_optimum(rank):
    problem, K, *_ = npsvor_with_weights(rank)
    dual, primal = dual_optimum(problem, K), primal_optimum(problem, K)
    assert dual.objective == pytest.approx(primal.objective, rel=1e-7)
    alpha = snapped(problem, dual.alpha)
    proof = problem.certificate(alpha, K @ problem.beta(alpha))
    assert proof.relative_gap <= 1e-6
    np.testing.assert_allclose(proof.thresholds, primal.b, atol=1e-5)
    appended = Problem(problem.hinges, Treatment.NONE, problem.n_samples)
    assert dual_optimum(appended, K + 1).objective == pytest.approx(dual.objective, rel=1e-7)


def test_npsvor_without_a_sample_of_its_rank_divides_those_below_from_those_above():
    _, y = random_data(10)
    y = np.where(y >= 2, y + 1, y)
    problem = formulations.npsvor(y, 2, 0.2, 1.0, 3.0)
    svc = formulations.svc(np.where(y > 2, 1.0, -1.0), 3.0, Treatment.PENALIZED)
    for column in vars(svc.hinges):
        np.testing.assert_array_equal(getattr(problem.hinges, column), getattr(svc.hinges, column))


# Where Chu & Keerthi's (18) stops too early


def tied_problem() -> tuple[Problem, np.ndarray]:
    """Six samples in five ranks whose four thresholds all want to be in disorder: all three inner μ are active."""
    x = np.array([-0.4, 0.8, -1.3, -1.3, 1.1, 1.2])
    return formulations.svorex(np.array([0, 1, 2, 3, 4, 4]), 5, C=5.0), np.outer(x, x)


def test_violation_sees_past_one_neighbour_in_a_run_of_active_mu():
    """(18) as printed finds no violation at this α, but it isn't optimal: b_low of threshold 3 exceeds b_up of 0."""
    problem, K = tied_problem()
    alpha = np.array([5, 0, 5, 5, 5, 5, 1.52, 5, 1.52])
    np.testing.assert_allclose(problem.mu(alpha), [0, 5, 5, 5, 0], atol=1e-12)
    score = K @ problem.beta(alpha)
    low, up = problem.bounds(alpha, score)
    running_low, running_up = np.maximum.accumulate(low), np.minimum.accumulate(up[::-1])[::-1]
    printed_low = np.append(running_low[1:], running_low[-1])  # every μ between two thresholds is active
    printed_up = np.insert(running_up[:-1], 0, running_up[0])
    assert np.max(printed_low - printed_up) <= 1e-9
    assert problem.violation(alpha, score) == pytest.approx(low[3] - up[0])
    optimum = dual_optimum(problem, K).objective
    assert problem.dual(alpha, score) == pytest.approx(32.72)
    assert optimum == pytest.approx(34.0972222, rel=1e-6)
    assert problem.certificate(alpha, score).gap >= optimum - 32.72


@pytest.mark.parametrize("selection", ["mvp", "second-order"])
def test_smo_does_not_stop_there(selection):
    problem, K = tied_problem()
    solution = solve(problem, KernelMatrix(Precomputed().rows(K)), SMO(selection), Control(tol=1e-8))
    assert solution.result.objective == pytest.approx(dual_optimum(problem, K).objective, rel=1e-7)
    assert solution.result.relative_gap <= 1e-7


def test_a_certificate_of_nan_does_not_pass_for_a_perfect_one():
    proof = Certificate(primal=np.nan, dual=np.nan, gap=np.nan, violation=np.nan, thresholds=np.zeros(1))
    assert not proof.relative_gap <= 1e-3
