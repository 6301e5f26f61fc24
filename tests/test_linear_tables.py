"""Tables of linear machines: the problems of `ordsvm.formulations`, their losses, and what dual variables prove."""

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import formulations
from ordsvm.formulations import cost_matrix, cost_weights
from ordsvm.formulations.linear import binary, npsvor, one_vs_rest, regression, svor
from ordsvm.problem import Treatment
from ordsvm.solvers import Control
from ordsvm.solvers.linear.losses import certificate, losses
from ordsvm.solvers.linear.solve import first_biases
from tests.cases import N_RANKS, random_data, v_shaped_cost
from tests.oracle import primal_optimum
from tests.reference.linear import solve_linear

C = 0.7
COST_WEIGHT = cost_weights(v_shaped_cost(N_RANKS, seed=5))

every_loss = pytest.mark.parametrize("squared", [False, True], ids=["plain", "squared"])


def two_sides(y):
    return (y >= N_RANKS // 2).astype(np.int32)


def svc(sign, C):
    return formulations.svc(np.where(sign, 1.0, -1.0), C, Treatment.PENALIZED)


# Every machine as a table over labels, and as the hinges of its lanes (or its one problem with thresholds).
CASES = {
    "npsvor": (
        lambda y: (npsvor(N_RANKS, C, 2 * C, 0.2), y, None),
        lambda y, w: [formulations.npsvor(y, k, 0.2, C * w, 2 * C * w) for k in range(N_RANKS)],
    ),
    "one_vs_rest": (
        lambda y: (one_vs_rest(N_RANKS, C), y, None),
        lambda y, w: [svc(y == k, C * w) for k in range(N_RANKS)],
    ),
    "binary": (
        lambda y: (binary(C), two_sides(y), None),
        lambda y, w: [svc(two_sides(y) == 1, C * w)],
    ),
    "regression": (
        lambda y: (regression(C, 0.3), np.zeros_like(y), 1.7 * y - 2.0),
        lambda y, w: [formulations.svr(1.7 * y - 2.0, 0.3, C * w, Treatment.PENALIZED)],
    ),
    "svor": (
        lambda y: (svor(N_RANKS, C), y, None),
        lambda y, w: [formulations.svor(y, N_RANKS, C * w)],
    ),
    "svor-cost": (
        lambda y: (svor(N_RANKS, C, COST_WEIGHT), y, None),
        lambda y, w: [formulations.svor(y, N_RANKS, C * w, COST_WEIGHT)],
    ),
    "svor-zero-one": (
        lambda y: (svor(N_RANKS, C, cost_weights(cost_matrix("zero-one", N_RANKS))), y, None),
        lambda y, w: [formulations.shashua_levin(y, N_RANKS, C * w)],
    ),
}

every_case = pytest.mark.parametrize("name", CASES)


def without_intercept(problem):
    return type(problem)(problem.hinges, Treatment.NONE, problem.n_samples, problem.n_thresholds)


def penalised(problem):
    return type(problem)(problem.hinges, Treatment.PENALIZED, problem.n_samples, problem.n_thresholds)


def data(seed: int = 0, n: int = 24):
    X, y = random_data(seed, n=n)
    return X, y.astype(np.int32), np.random.default_rng(seed).uniform(0.3, 2.0, size=n)


def solve(X, labels, table, targets, weight, squared, intercept=True, tol=1e-8):
    control = Control(tol=tol)
    return solve_linear(
        X, labels, table, targets=targets, weight=weight, squared=squared, intercept=intercept, control=control
    )


# The losses of a table are the hinges of a formulation


@every_case
def test_losses_are_those_of_the_formulation(name):
    """At any scores: a lane's losses are the sum over its hinges, with b = 0 where lanes have intercepts in f."""
    _, y, weight = data()
    table, labels, targets = CASES[name][0](y)
    problems = CASES[name][1](y, weight)
    rng = np.random.default_rng(1)
    loss = losses(table, labels, weight, targets, squared=False)
    if table.shared:
        score, b = 2 * rng.normal(size=len(y)), rng.normal(size=N_RANKS - 1)
        hinges = problems[0].hinges
        expected = np.sum(hinges.cap * np.maximum(0.0, -problems[0].slope(score, b)))
        assert loss.of(score[:, None] - b).sum() == pytest.approx(expected, rel=1e-12)
        return
    score = 2 * rng.normal(size=(len(y), len(problems)))
    for lane, problem in enumerate(problems):
        expected = np.sum(problem.hinges.cap * np.maximum(0.0, -problem.slope(score[:, lane], np.zeros(1))))
        assert loss.of(score)[:, lane].sum() == pytest.approx(expected, rel=1e-12)


@every_case
@every_loss
def test_conjugate_and_loss_meet_where_they_should(name, squared):
    """loss(g) + conjugate(β) + β g ≥ 0 for every feasible β, and 0 for the best of them: Fenchel and Young."""
    _, y, weight = data()
    table, labels, targets = CASES[name][0](y)
    loss = losses(table, labels, weight, targets, squared)
    low, high = (np.clip(bound, -40.0, 40.0) for bound in loss.bounds())
    score = 2 * np.random.default_rng(2).normal(size=low.shape)
    shares = np.linspace(0.0, 1.0, 4001)
    least = np.full(low.shape, np.inf)
    for share in shares:
        beta = low + share * (high - low)
        least = np.minimum(least, loss.of(score) + loss.conjugate(beta) + beta * score)
    assert np.all(least >= -1e-12)
    step = (high - low).max() / (len(shares) - 1)
    assert np.all(least <= 10 * step)


# What dual variables prove


@every_case
@every_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_the_reference_finds_the_oracles_optimum(name, squared, weighted):
    X, y, weight = data()
    weight = weight if weighted else np.ones(len(y))
    table, labels, targets = CASES[name][0](y)
    solution = solve(X, labels, table, targets, weight if weighted else None, squared)
    problems = [penalised(problem) for problem in CASES[name][1](y, weight)]
    optima = [primal_optimum(problem, X @ X.T, squared) for problem in problems]
    optimum = sum(optimum.objective for optimum in optima)
    assert solution.result.objective == pytest.approx(optimum, rel=1e-6)
    assert solution.result.objective - solution.result.gap <= optimum * (1 + 1e-8)
    b = np.concatenate([optimum.b for optimum in optima])
    np.testing.assert_allclose(solution.intercept, b if table.shared else -b, atol=2e-3)


@pytest.mark.parametrize("name", ["npsvor", "binary", "regression"])
@every_loss
def test_the_reference_without_an_intercept(name, squared):
    X, y, weight = data()
    table, labels, targets = CASES[name][0](y)
    solution = solve(X, labels, table, targets, weight, squared, intercept=False)
    problems = [without_intercept(problem) for problem in CASES[name][1](y, weight)]
    optimum = sum(primal_optimum(problem, X @ X.T, squared).objective for problem in problems)
    assert solution.result.objective == pytest.approx(optimum, rel=1e-6)
    np.testing.assert_array_equal(solution.intercept, 0.0)


@every_case
@every_loss
def test_any_feasible_variables_prove_bounds_of_the_optimum(name, squared):
    X, y, weight = data()
    table, labels, targets = CASES[name][0](y)
    thresholds = table.shared
    best = solve(X, labels, table, targets, weight, squared)
    loss = losses(table, labels, weight, targets, squared)
    rng = np.random.default_rng(3)
    for scale in (0.0, 0.3, 1.0):
        beta = np.clip(scale * rng.normal(size=best.beta.shape), *loss.bounds())
        b = best.intercept + rng.normal(size=best.intercept.shape)
        with_best_b = certificate(X, beta, loss, thresholds)
        with_some_b = certificate(sp.csr_array(X), beta, loss, thresholds, b=b)
        for proof in (with_best_b, with_some_b):
            assert proof.dual <= best.result.objective
            assert proof.primal >= best.result.objective - best.result.gap
            assert proof.gap == pytest.approx(proof.primal - proof.dual, rel=1e-9)
        assert with_best_b.dual == pytest.approx(with_some_b.dual)
    assert certificate(X, best.beta.array(), loss, thresholds).violation < 1e-2


def test_violation_is_zero_at_an_optimum_known_by_hand():
    """One sample with x = 1 and target 3, no intercept, ε = 1: w = β goes up to 2 unless C holds it back."""
    for value, best in ((5.0, 2.0), (0.5, 0.5)):
        loss = losses(regression(value, 1.0), np.zeros(1, np.int32), None, np.array([3.0]), squared=False)
        for beta, violation in ((best, 0.0), (best - 0.25, 2.25 - best), (0.0, 2.0)):
            proof = certificate(np.ones((1, 1)), np.array([[beta]]), loss, intercept=False)
            assert proof.violation == pytest.approx(violation)
    loss = losses(regression(5.0, 1.0), np.zeros(1, np.int32), None, np.array([3.0]), squared=True)
    beta = 2.0 / (1.0 + 0.5 / 5.0)  # β + β/2c = target − ε
    proof = certificate(np.ones((1, 1)), np.array([[beta]]), loss, intercept=False)
    assert proof.violation == pytest.approx(0.0, abs=1e-12)
    assert proof.gap == pytest.approx(0.0, abs=1e-12)


# Shapes and relations of tables


@pytest.mark.parametrize("n_ranks", [2, 3, 7])
def test_tables_are_what_the_solvers_take(n_ranks):
    for table, shape in (
        (npsvor(n_ranks, 1.0, 2.0, 0.1), (n_ranks, n_ranks)),
        (one_vs_rest(n_ranks, 1.0), (n_ranks, n_ranks)),
        (binary(1.0), (2, 1)),
        (regression(1.0, 0.1), (1, 1)),
        (svor(n_ranks, 1.0), (n_ranks, n_ranks - 1)),
    ):
        for array in (table.lower, table.upper, table.offset, table.epsilon):
            assert array.shape == shape
            assert array.dtype == np.float64
        if not table.shared:
            assert np.all((table.lower <= 0) & (table.upper >= 0) & (table.lower < table.upper))


def test_two_ranks_of_svor_are_the_two_classes():
    ranks, classes = svor(2, C), binary(C)
    np.testing.assert_array_equal(ranks.offset, classes.offset)
    np.testing.assert_array_equal(ranks.widths(), classes.widths())
    lanes = one_vs_rest(2, C)  # the second lane is the one question, the first its negative
    np.testing.assert_array_equal(lanes.offset[:, 1:], classes.offset)
    np.testing.assert_array_equal(lanes.offset[:, :1], -classes.offset)


def test_absolute_cost_is_no_cost():
    plain, priced = svor(5, C), svor(5, C, cost_weights(cost_matrix("absolute", 5)))
    np.testing.assert_array_equal(plain.widths(), priced.widths())


def test_a_hinge_without_weight_has_a_sign_too():
    """Zero-one cost has weights at adjacent thresholds only."""
    np.testing.assert_array_equal(svor(5, C, cost_weights(cost_matrix("zero-one", 5))).offset, svor(5, C).offset)


@pytest.mark.parametrize("table", [regression(C, 0.0), npsvor(3, C, C, 0.0)], ids=["regression", "npsvor"])
def test_an_epsilon_of_zero_is_plus_zero(table):
    """The fingerprint of a fit is taken from the bits of the table."""
    assert not np.signbit(table.epsilon).any()


def test_biases_start_at_the_median_of_what_is_asked_for():
    labels = np.array([0, 0, 0, 1, 2, 2], dtype=np.int32)
    assert first_biases(one_vs_rest(3, C), labels, None, None).tolist() == [-1.0, -1.0, -1.0]
    assert first_biases(one_vs_rest(3, C), labels, np.array([3.0, 1, 1, 1, 1, 1]), None).tolist() == [1.0, -1.0, -1.0]
    assert first_biases(npsvor(3, C, C, 0.1), labels, None, None).tolist() == [0.0, -1.0, -1.0]
    targets = np.array([5.0, 1, 2, 9, 3, 4])
    regress = regression(C, 0.1), np.zeros(6, dtype=np.int32)
    assert first_biases(*regress, None, targets).tolist() == [3.5]
    assert first_biases(*regress, np.array([1.0, 1, 1, 0, 1, 1]), targets).tolist() == [3.0]


def test_biases_start_within_their_reach():
    labels = np.zeros(6, dtype=np.int32)
    assert first_biases(regression(0.01, 0.1), labels, None, np.full(6, 5.0)) == pytest.approx([0.06])
