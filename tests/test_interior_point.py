"""The interior-point solver: every formulation against the oracle, whatever the kernel, its scale and C."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from ordsvm import SVC, SVOR, SVORIM, SVR, InteriorPoint, certify
from ordsvm.kernels import RBF, Custom, Kernel, Linear, Polynomial, Precomputed
from ordsvm.solvers import Block, Control, KernelMatrix, solve
from ordsvm.solvers.kernel.interior_point.crossover import feasible
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import dual_optimum
from tests.test_solvers import assert_optimal, matrix_of

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)
every_model = pytest.mark.parametrize("name", ["svor", "svorim", "svorex", "shashua_levin"])


def result_of(name, X, y, C=1.0, kernel: Kernel | None = None, **control):
    problem = FORMULATIONS[name](y, int(y.max()) + 1, C)
    return solve(problem, matrix_of(kernel or RBF(0.5), X), InteriorPoint(), Control(**control)).result


# Against the oracle


@every_formulation
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 100.0])
def test_reaches_the_oracles_objective(name, C):
    X, y = random_data(11)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, C), RBF(0.5)
    solution = solve(problem, matrix_of(kernel, X), InteriorPoint(), Control(tol=1e-7))
    assert_optimal(problem, kernel(X, X), solution, 1e-7)
    assert solution.result.n_iter <= 30


@every_formulation
@pytest.mark.parametrize("C", [1e4, 1e6])
def test_large_C(name, C):
    X, y = random_data(13)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, C), RBF(0.5)
    result = solve(problem, matrix_of(kernel, X), InteriorPoint(), Control()).result
    assert result.converged
    assert result.n_iter <= 30
    if C <= 1e4:  # beyond, the oracle gives up
        assert result.objective == pytest.approx(dual_optimum(problem, kernel(X, X)).objective, rel=1e-3)


@every_formulation
def test_semidefinite_kernels(name):
    """Rank 2, rank 1, rank 0, and twins among the samples."""
    X, y = random_data(12, n=24, n_features=2)
    X[1::4] = X[::4]
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    rank_one = np.outer(X[:, 0], X[:, 0])
    for matrix, K in (
        (matrix_of(Linear(), X), X @ X.T),
        (matrix_of(RBF(0.5), X), RBF(0.5)(X, X)),
        (matrix_of(Precomputed(), rank_one), rank_one),
        (matrix_of(Precomputed(), 0 * rank_one), 0 * rank_one),
    ):
        assert_optimal(problem, K, solve(problem, matrix, InteriorPoint(), Control(tol=1e-6)), 1e-6)


@every_model
def test_weights_that_differ_widely(name):
    X, y = random_data(14)
    C = 10.0 ** np.random.default_rng(14).uniform(-4, 2, size=len(y))
    C[::7] = 0.0  # samples without hinges
    problem, kernel = FORMULATIONS[name](y, N_RANKS, C), RBF(0.5)
    solution = solve(problem, matrix_of(kernel, X), InteriorPoint(), Control(tol=1e-7))
    assert_optimal(problem, kernel(X, X), solution, 1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_ordered_thresholds_under_all_kinds_of_disorder(seed):
    rng = np.random.default_rng(seed)
    n_ranks = int(rng.integers(3, 8))
    X, y = random_data(seed, n=int(rng.integers(n_ranks, 25)), n_features=1, n_ranks=n_ranks, noise=5.0)
    problem, K = FORMULATIONS["svorex"](y, n_ranks, rng.choice([0.3, 1.0, 5.0])), X @ X.T
    solution = solve(problem, matrix_of(Precomputed(), K), InteriorPoint(), Control(tol=1e-7))
    assert_optimal(problem, K, solution, 1e-7)
    assert np.all(np.diff(solution.thresholds) >= 0)


def test_ranks_that_are_absent():
    X, y = random_data(15)
    y[y == 1] = 2
    problem, kernel = FORMULATIONS["svor"](y, N_RANKS, 1.0), RBF(0.5)
    solution = solve(problem, matrix_of(kernel, X), InteriorPoint(), Control(tol=1e-7))
    assert_optimal(problem, kernel(X, X), solution, 1e-7)


# Scale


@every_model
@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e2, 1e3, 1e4, 1e8])
def test_the_scale_of_features_does_not_matter(name, scale):
    """k(sx, sx') = s²k, so that C/s² leaves the scores, and α·s², as they are, but for penalised thresholds.

    These are −γ, which sums of α that are 1e16 times as large have no digits for.
    """
    if (name, scale) == ("svor", 1e-8):
        scale = 1e-4
    X, y = random_data(3, n=60, n_features=5)
    unscaled = result_of(name, X, y, 1.0, Linear(), tol=1e-6)
    assert unscaled.converged
    scaled = result_of(name, scale * X, y, 1.0 / scale**2, Linear(), tol=1e-6)
    assert scaled.converged
    if name != "svor":
        assert scaled.objective * scale**2 == pytest.approx(unscaled.objective, rel=2e-6)
        assert abs(scaled.n_iter - unscaled.n_iter) <= 2


@pytest.mark.parametrize("model", ["svor", "svorim", "svorex"])
@pytest.mark.parametrize("scale", [1e2, 1e3, 1e4])
def test_unscaled_features_end_in_a_few_iterations(model, scale):
    """Coordinate methods had a gap of 0.88 after seconds at 1e3."""
    X, y = random_data(0, n=100, n_features=5, n_ranks=3)
    result = result_of(model, scale * X, y, 1.0, Linear())
    assert result.converged
    assert result.n_iter <= 30


KERNELS = {
    "linear": lambda scale: Linear(),
    "rbf": lambda scale: RBF(0.3 / scale**2),
    "polynomial": lambda scale: Polynomial(1.0 / scale**2, 1.0, 3.0),
}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(10, 80),
    n_features=st.integers(1, 8),
    scale=st.floats(-8, 8),
    C=st.floats(-6, 6),
    kernel=st.sampled_from(sorted(KERNELS)),
    name=st.sampled_from(sorted(FORMULATIONS)),
)
def test_wild_problems_end_converged_or_at_the_limits_of_float64(seed, n, n_features, scale, C, kernel, name):
    X, y = random_data(seed, n=n, n_features=n_features)
    X[: n // 4] = X[n // 4 : 2 * (n // 4)]
    X, problem = 10**scale * X, FORMULATIONS[name](y, N_RANKS, 10**C)
    matrix = matrix_of(KERNELS[kernel](10**scale), X)
    solution = solve(problem, matrix, InteriorPoint(), Control())
    result = solution.result
    assert np.isfinite([result.objective, result.gap, result.violation, *result.alpha, *solution.thresholds]).all()
    np.testing.assert_array_equal(problem.repair(result.alpha), result.alpha)
    if not result.converged:
        assert result.status == "precision"
        share = sum_of_roundings(problem, matrix, result.alpha) / abs(result.objective)
        assert share > 1e-4 or matrix.largest * problem.hinges.cap.max() > 1e9


def sum_of_roundings(problem, matrix, alpha):
    """What rounding in scores adds to the gap."""
    return matrix.rounding(problem.beta(alpha)) * (problem.hinges.cap + alpha).sum()


# What it leaves behind


@every_formulation
def test_bounds_are_met_exactly(name):
    """The support vectors are those of another solver: few, where an interior-point method alone has all samples."""
    X, y = random_data(5, n=120)
    problem, matrix = FORMULATIONS[name](y, N_RANKS, 10.0), matrix_of(RBF(0.5), X)
    alpha = solve(problem, matrix, InteriorPoint(), Control(tol=1e-8)).result.alpha
    other = solve(problem, matrix, Block(), Control(tol=1e-8)).result.alpha
    np.testing.assert_array_equal(alpha == 0, other == 0)
    np.testing.assert_array_equal(alpha == problem.hinges.cap, other == problem.hinges.cap)


@pytest.mark.parametrize("name", ["svorim", "svorex"])
def test_sums_over_thresholds_are_met_by_hinges_between_their_bounds(name):
    X, y = random_data(6, n=80)
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    optimal = solve(problem, matrix_of(RBF(0.5), X), Block(), Control()).result.alpha
    between = (optimal > 0) & (optimal < 1)
    alpha = np.where(between, 0.9 * optimal, optimal)
    found = feasible(problem, alpha, problem.gamma(optimal))
    np.testing.assert_allclose(problem.gamma(found), problem.gamma(optimal), atol=1e-12)
    np.testing.assert_array_equal(found[~between], optimal[~between])


def test_a_start_at_the_solution_is_the_answer():
    X, y = random_data(7)
    problem, matrix = FORMULATIONS["svorim"](y, N_RANKS, 1.0), matrix_of(RBF(0.5), X)
    first = solve(problem, matrix, InteriorPoint(), Control()).result
    again = solve(problem, matrix, InteriorPoint(), Control(), start=first.alpha).result
    assert (again.n_iter, again.status) == (0, "converged")
    np.testing.assert_array_equal(again.alpha, first.alpha)


@every_formulation
def test_a_limit_leaves_the_best_iterate_with_an_honest_certificate(name):
    X, y = random_data(16, n=60)
    problem, kernel = FORMULATIONS[name](y, N_RANKS, 5.0), RBF(0.5)
    K, previous = kernel(X, X), np.inf
    for max_iter in (0, 1, 3, 5):
        control = Control(tol=1e-9, max_iter=max_iter)
        result = solve(problem, matrix_of(kernel, X), InteriorPoint(), control).result
        proof = problem.certificate(result.alpha, K @ problem.beta(result.alpha))
        assert (result.status, result.n_iter) == ("max_iter", max_iter)
        assert result.gap == pytest.approx(proof.gap, rel=1e-9, abs=1e-10 * proof.primal)
        assert result.gap <= previous * (1 + 1e-9)
        previous = result.gap


def test_callbacks_see_every_iteration_and_stop_it():
    X, y = random_data(17, n=50)
    seen = []
    result = result_of("svorex", X, y, 10.0, callback=seen.append, report_every=1)
    assert [look.n_iter for look in seen] == list(range(1, result.n_iter))
    assert all(look.solver == "interior-point" for look in seen)
    assert seen[-1].relative_gap < seen[0].relative_gap
    stopped = result_of("svorex", X, y, 10.0, callback=lambda look: look.n_iter >= 3, report_every=1)
    assert (stopped.status, stopped.n_iter) == ("callback", 3)
    late = result_of("svorex", X, y, 10.0, time_limit=0.0)
    assert (late.status, late.n_iter) == ("time_limit", 0)


def test_interrupts_come_through():
    def interrupt(look):
        raise KeyboardInterrupt

    X, y = random_data(17, n=50)
    with pytest.raises(KeyboardInterrupt):
        result_of("svor", X, y, 10.0, callback=interrupt, report_every=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_validation_samples_are_looked_at_every_iteration():
    X, y = random_data(18, n=120, noise=3.0)
    fitted = SVOR(C=1e4, solver="interior-point", tol=1e-9).fit(X[:80], y[:80], validation=(X[80:], y[80:]))
    assert all(look.validation_mae is not None for look in fitted.result_.history)
    assert len(fitted.result_.history) >= 5


def test_a_kernel_matrix_that_memory_does_not_hold_is_refused():
    X, y = random_data(19, n=300)
    with pytest.raises(
        ValueError, match=r"needs 3 MB for the kernel matrix of 300 samples .* InteriorPoint\(memory_lim"
    ):
        SVORIM(solver=InteriorPoint(memory_limit=1)).fit(X, y)
    with pytest.raises(ValueError, match=r"memory_limit=-1 is not valid: give a positive number"):
        InteriorPoint(memory_limit=-1)


@pytest.mark.parametrize("shift", [0.5, 30.0])
def test_a_kernel_that_is_not_semidefinite_gets_an_honest_status(shift):
    X, y = random_data(20, n=60)
    K = X @ X.T - shift * np.eye(60)
    result = result_of("svorim", K, y, 10.0, Precomputed())
    assert result.status == "gap"
    assert max(result.relative_gap, result.violation) > 1e-3
    with pytest.warns(ConvergenceWarning, match=r"is not positive semidefinite; take one that is\.$"):
        SVORIM(C=10.0, kernel="precomputed", solver="interior-point").fit(K, y)


def test_callable_kernels_and_machines_of_several_problems():
    X, y = random_data(21, n=60)
    kernel = Custom(RBF(0.5))
    problem = FORMULATIONS["svor"](y, N_RANKS, 1.0)
    assert solve(problem, KernelMatrix(kernel.rows(X)), InteriorPoint(), Control()).result.converged
    for scheme in ("ovo", "ovr"):
        assert SVC(solver="interior-point", multi_class=scheme).fit(X, y).result_.converged
    assert SVR(solver="interior-point").fit(X, X[:, 0]).result_.converged


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_no_threshold_that_nothing_determines():
    X, y = random_data(22, n=20, n_ranks=2)
    problem = FORMULATIONS["svc-free"](y, 2, 1.0)
    one_sided = replace(problem, hinges=replace(problem.hinges, sign=np.ones(len(problem.hinges))))
    with pytest.raises(ValueError, match="Nothing determines threshold 0"):
        solve(one_sided, matrix_of(RBF(0.5), X), InteriorPoint(), Control())


@pytest.mark.parametrize("seed", [2, 28, 31, 39])
def test_an_indefinite_kernel_is_judged_by_its_own_scores(seed):
    """The method ends at an optimum of the semidefinite part, whose gap is within tol; that of K is not."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(19, 1)) + 1, rng.integers(0, 5, 19) == 0
    y[:2] = False, True
    model = SVC(40.0, kernel="sigmoid", gamma=0.5, coef0=1.0, tol=0.1, intercept="penalized", solver="interior-point")
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model.fit(X, y)
    proof = certify(model, X, y)
    assert model.result_.objective == pytest.approx(proof.primal, rel=1e-9)
    assert model.result_.converged == (max(proof.relative_gap, proof.violation) <= 0.1)
