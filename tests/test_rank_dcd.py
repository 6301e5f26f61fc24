"""RankDCD: the oracle's optimum for every machine, proofs recomputed in NumPy, and what makes no difference to them:
kinds of data, threads, blocks, starts.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm.formulations.linear import binary, npsvor, one_vs_rest, regression, svor
from ordsvm.problem.label_table import LabelTable
from ordsvm.rows.memory import block_of
from ordsvm.solvers import Control
from ordsvm.solvers.linear.losses import certificate, losses, weights
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.linear.solve import solve_linear
from tests.cases import N_RANKS, random_data
from tests.oracle import primal_optimum
from tests.test_linear_tables import CASES, every_case, every_loss, penalised, without_intercept

LANES = ["npsvor", "one_vs_rest", "binary", "regression"]


def data(seed: int = 4, n: int = 24, n_features: int = 3):
    """Samples whose values are floats, and two of which have no features; ranks, and weights of which some are 0."""
    X, y = random_data(seed, n=n, n_features=n_features)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.2] = 0.0
    X[[2, 9]] = 0.0
    weight = rng.uniform(0.3, 2.0, size=n)
    weight[[5, 9, 11]] = 0.0
    return X.astype(np.float32).astype(np.float64), y.astype(np.int32), weight


def solve(X, labels, table, *, targets=None, intercept=True, start=None, weight=None, squared=False, **options):
    """`options` are those of the solver and of the control."""
    solver = RankDCD(**{name: options.pop(name) for name in ("rho", "parts", "seed") if name in options})
    control = Control(**({"tol": 1e-7, "max_iter": 20_000} | options))
    rest = {"weight": weight, "squared": squared, "solver": solver, "control": control, "start": start}
    return solve_linear(X, labels, table, targets=targets, intercept=intercept, **rest)


def variables(solution, loss):
    """β as the proof takes it: in the box, whatever rounding to float has made of it."""
    return np.clip(solution.beta.array(), *loss.bounds())


def random_lanes(rng, n_labels: int, n_lanes: int) -> LabelTable:
    """Losses of all kinds: one-sided, two-sided, none."""
    cap, side = rng.uniform(0.1, 1.5, size=(n_labels, n_lanes)), rng.integers(4, size=(n_labels, n_lanes))
    return LabelTable(
        lower=np.where((side == 0) | (side == 2), -cap, 0.0),
        upper=np.where((side == 1) | (side == 2), cap, 0.0),
        offset=rng.normal(size=cap.shape),
        epsilon=rng.uniform(0.0, 0.3, size=cap.shape),
    )


def random_thresholds(rng, n_labels: int, n_thresholds: int) -> LabelTable:
    """Signs in no order, and some hinges missing."""
    shape = n_labels, n_thresholds
    return LabelTable.of_thresholds(
        rng.choice([-1.0, 1.0], size=shape), rng.uniform(0.1, 1.0, shape) * (rng.random(shape) < 0.8)
    )


# The optimum


@every_case
@every_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_the_oracles_optimum(name, squared, weighted):
    X, y, weight = data()
    table, labels, targets = CASES[name][0](y)
    solution = solve(X, labels, table, targets=targets, weight=weight if weighted else None, squared=squared)
    problems = [penalised(problem) for problem in CASES[name][1](y, weight if weighted else np.ones(len(y)))]
    optima = [primal_optimum(problem, X @ X.T, squared) for problem in problems]
    optimum = sum(optimum.objective for optimum in optima)
    result = solution.result
    assert result.status == "converged"
    assert result.relative_gap <= 1e-7
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.objective - result.gap <= optimum * (1 + 1e-9)
    b = np.concatenate([optimum.b for optimum in optima])
    np.testing.assert_allclose(solution.intercept, b if table.shared else -b, atol=2e-3)


@pytest.mark.parametrize("name", LANES)
@every_loss
def test_the_oracles_optimum_without_an_intercept(name, squared):
    """Two rows are empty: nothing but the box stops their dual variables."""
    X, y, weight = data()
    table, labels, targets = CASES[name][0](y)
    solution = solve(X, labels, table, targets=targets, weight=weight, squared=squared, intercept=False)
    problems = [without_intercept(problem) for problem in CASES[name][1](y, weight)]
    optimum = sum(primal_optimum(problem, X @ X.T, squared).objective for problem in problems)
    assert solution.result.objective == pytest.approx(optimum, rel=1e-6)
    np.testing.assert_array_equal(solution.intercept, 0.0)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 3.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 5.0])
def test_the_oracles_optimum_for_any_scale(C, scale):
    X, y, _ = data(seed=1)
    for table, problem in ((svor(N_RANKS, C), "svor"), (npsvor(N_RANKS, C, 2 * C, 0.2), "npsvor")):
        solution = solve(scale * X, y, table, tol=1e-4, max_iter=200_000)
        hinges = [penalised(hinge) for hinge in CASES[problem][1](y, np.full(len(y), C / 0.7))]
        optimum = sum(primal_optimum(hinge, scale**2 * X @ X.T).objective for hinge in hinges)
        assert solution.result.status == "converged"
        assert optimum * (1 - 1e-7) <= solution.result.objective <= optimum * (1 + 1.1e-4)


# Proofs


@every_case
@every_loss
@pytest.mark.parametrize("tol", [0.2, 1e-2, 1e-7])
def test_a_proof_is_what_numpy_makes_of_the_variables(name, squared, tol):
    """Weights in float32 for the first two tolerances: their errors are none of the proof's."""
    X, y, weight = data(seed=3)
    table, labels, targets = CASES[name][0](y)
    thresholds = table.shared
    solution = solve(X, labels, table, targets=targets, weight=weight, squared=squared, tol=tol)
    loss, result = losses(table, labels, weight, targets, squared), solution.result
    beta = variables(solution, loss)
    np.testing.assert_allclose(beta, solution.beta.array(), rtol=1e-6)
    proof = certificate(X, beta, loss, thresholds, b=solution.intercept)
    assert result.objective == pytest.approx(proof.primal, rel=1e-12)
    assert result.objective - result.gap == pytest.approx(proof.dual, rel=1e-12)
    assert result.relative_gap == pytest.approx(result.gap / max(proof.primal, abs(proof.dual)), rel=1e-9)
    assert result.relative_gap <= tol
    assert result.violation == pytest.approx(proof.violation, rel=1e-6, abs=1e-12)
    np.testing.assert_allclose(solution.coef, weights(X, beta, thresholds)[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9, 16, 17, 20, 33, 40])
@every_loss
def test_any_number_of_lanes_and_thresholds(size, squared):
    X, y, weight = data(seed=4, n=40, n_features=6)
    rng = np.random.default_rng(size)
    for table in (random_lanes(rng, N_RANKS, size), random_thresholds(rng, N_RANKS, size)):
        solution = solve(X, y, table, weight=weight, squared=squared, tol=1e-5)
        loss = losses(table, y, weight, None, squared)
        thresholds = table.shared
        proof = certificate(X, variables(solution, loss), loss, thresholds, b=solution.intercept)
        assert solution.result.status == "converged"
        assert proof.relative_gap <= 1e-5 * (1 + 1e-6)
        assert solution.intercept.shape == (size,)
        assert solution.beta.shape == (40, size)


def test_lanes_are_independent():
    X, y, weight = data(seed=5, n=40, n_features=6)
    table = random_lanes(np.random.default_rng(5), N_RANKS, 19)
    together = solve(X, y, table, weight=weight, tol=1e-10)
    for lane in (0, 8, 18):
        alone = table.columns([lane])
        solution = solve(X, y, alone, weight=weight, tol=1e-10)
        np.testing.assert_allclose(together.coef[:, [lane]], solution.coef, atol=1e-4)
        np.testing.assert_allclose(together.intercept[[lane]], solution.intercept, atol=1e-4)


# What makes no difference


def unsorted_twice(X):
    """CSR whose rows name their columns in descending order, and each of them twice."""
    rows, columns = np.nonzero(X)
    order = np.lexsort((-columns, rows))
    rows, columns = np.repeat(rows[order], 2), np.repeat(columns[order], 2)
    values = X[rows, columns] * np.tile([0.25, 0.75], len(rows) // 2)
    starts = np.searchsorted(rows, np.arange(len(X) + 1)).astype(np.int32)
    return sp.csr_array((values, columns.astype(np.int32), starts), shape=X.shape)


def of_types(X, value, columns, starts):
    made = sp.csr_matrix(X.astype(value))
    made.indices, made.indptr = made.indices.astype(columns), made.indptr.astype(starts)
    return made


KINDS = {
    "float32": lambda X: X.astype(np.float32),
    "CSR": sp.csr_array,
    "CSR, 64": lambda X: of_types(X, np.float64, np.int64, np.int64),
    "CSR, float32": lambda X: of_types(X, np.float32, np.int32, np.int32),
    "CSR, float32, 64": lambda X: of_types(X, np.float32, np.int64, np.int64),
    "CSR, both indices": lambda X: of_types(X, np.float32, np.int32, np.int64),
    "CSR, columns twice": unsorted_twice,
    "CSR, a view": lambda X: sp.csr_array(np.vstack([X, X]))[: len(X)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["npsvor", "regression", "svor"])
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_kinds_of_data(kind, name, tol):
    X, y, weight = data(seed=6, n=60, n_features=5)
    table, labels, targets = CASES[name][0](y)
    dense = solve(X, labels, table, targets=targets, weight=weight, tol=tol)
    other = solve(KINDS[kind](X), labels, table, targets=targets, weight=weight, tol=tol)
    assert other.result.status == "converged"
    assert other.result.objective == pytest.approx(dense.result.objective, rel=tol)
    np.testing.assert_allclose(other.coef, dense.coef, atol=3 * (tol * dense.result.objective) ** 0.5)


def large(seed: int = 7, n_ranks: int = 9):
    """Enough rows for threads to be used."""
    X, y = random_data(seed, n=1500, n_features=6, n_ranks=n_ranks)
    return X, y.astype(np.int32)


@pytest.mark.parametrize("tol", [1e-2, 1e-5])
def test_the_same_seed_gives_the_same_machine_bit_for_bit(tol):
    X, y = large()
    for table in (npsvor(9, 0.1, 0.1, 0.1), svor(9, 0.1)):
        first, second = (solve(X, y, table, tol=tol, seed=3, n_threads=2) for _ in range(2))
        np.testing.assert_array_equal(first.coef, second.coef)
        np.testing.assert_array_equal(first.intercept, second.intercept)
        np.testing.assert_array_equal(first.beta.array(), second.beta.array())
        assert first.result.n_iter == second.result.n_iter
        other = solve(X, y, table, tol=tol, seed=4)
        assert not np.array_equal(other.coef, first.coef)
        assert other.result.objective == pytest.approx(first.result.objective, rel=tol)


@pytest.mark.parametrize("n_ranks", [2, 9, 18])
def test_threads_change_rounding_only(n_ranks):
    X, y = large(n_ranks=n_ranks)
    for table in (npsvor(n_ranks, 0.1, 0.1, 0.1), svor(n_ranks, 0.1)):
        few = solve(X, y, table, tol=1e-9, max_iter=5)
        for n_threads in (2, 4, 50):
            many = solve(X, y, table, tol=1e-9, max_iter=5, n_threads=n_threads)
            np.testing.assert_allclose(many.coef, few.coef, rtol=0, atol=1e-11)
            np.testing.assert_allclose(many.beta.array(), few.beta.array(), rtol=0, atol=1e-11)
            assert many.result.objective == pytest.approx(few.result.objective, rel=1e-11)


class Blocks:
    """Rows in blocks of some size, as a file would give them."""

    def __init__(self, X, size: int) -> None:
        self.n_samples, self.n_features = X.shape
        firsts = range(0, len(X), size)
        self._blocks = [(first, block_of(np.ascontiguousarray(X[first : first + size]))) for first in firsts]

    def blocks(self):
        return iter(self._blocks)

    def shuffled(self, random):
        return (self._blocks[b] for b in random.permutation(len(self._blocks)))


@pytest.mark.parametrize("size", [7, 100, 1500])
def test_blocks_of_rows(size):
    X, y = large()
    for table in (npsvor(9, 0.1, 0.1, 0.1), svor(9, 0.1)):
        whole, blocks = solve(X, y, table, tol=1e-6), solve(Blocks(X, size), y, table, tol=1e-6, n_threads=2)
        assert blocks.result.status == "converged"
        assert blocks.result.objective == pytest.approx(whole.result.objective, rel=1e-6)


@pytest.mark.parametrize("name", ["npsvor", "regression", "svor"])
@every_loss
def test_weight_two_is_a_row_twice_and_weight_zero_none(name, squared):
    X, y, _ = data(seed=8)
    weight = np.random.default_rng(8).integers(0, 3, size=len(y))
    table, labels, targets = CASES[name][0](y)
    weighted = solve(X, labels, table, targets=targets, weight=weight.astype(np.float64), squared=squared)
    X, labels = np.repeat(X, weight, axis=0), np.repeat(labels, weight)
    targets = None if targets is None else np.repeat(targets, weight)
    repeated = solve(X, labels, table, targets=targets, squared=squared)
    assert weighted.result.objective == pytest.approx(repeated.result.objective, rel=1e-7)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=2e-3)


# Starts


@pytest.mark.parametrize("name", ["npsvor", "svor"])
def test_a_solved_start_needs_no_pass(name):
    X, y, weight = data(seed=9)
    table, labels, _ = CASES[name][0](y)
    first = solve(X, labels, table, weight=weight, tol=1e-7)
    again = solve(X, labels, table, weight=weight, tol=1e-7, start=(first.beta.array(), first.intercept))
    assert again.result.n_iter == 0
    assert again.result.objective == pytest.approx(first.result.objective, rel=1e-12)


@pytest.mark.parametrize("name", ["npsvor", "svor"])
@every_loss
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_any_start_ends_at_the_optimum(name, squared, tol):
    """A start far outside the box, for samples of weight 0 too, is brought in."""
    X, y, weight = data(seed=10)
    table, labels, _ = CASES[name][0](y)
    cold = solve(X, labels, table, weight=weight, squared=squared, tol=tol)
    rng = np.random.default_rng(10)
    start = 5 * rng.normal(size=cold.beta.shape), rng.normal(size=cold.intercept.shape)
    warm = solve(X, labels, table, weight=weight, squared=squared, tol=tol, start=start)
    assert warm.result.status == "converged"
    assert warm.result.objective == pytest.approx(cold.result.objective, rel=tol)
    beta = variables(warm, losses(table, labels, weight, None, squared))
    np.testing.assert_allclose(beta, warm.beta.array(), rtol=1e-6)
    np.testing.assert_array_equal(warm.beta.array()[weight == 0], 0.0)


def test_a_start_from_another_C_saves_passes():
    X, y = large()
    near = solve(X, y, svor(9, 0.11), tol=1e-4)
    cold = solve(X, y, svor(9, 0.1), tol=1e-4)
    warm = solve(X, y, svor(9, 0.1), tol=1e-4, start=(near.beta.array(), near.intercept))
    assert 0 < warm.result.n_iter < cold.result.n_iter


# Where simpler ways fail


@every_loss
@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
def test_float32_gives_way_to_float64(C, squared):
    """Separable samples: C times the rounding errors of float32 is more than the objective."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(100, 200))
    y = (X[:, 0] + 0.3 * rng.normal(size=100) > 0).astype(np.int32)
    solution = solve(X, y, binary(C), squared=squared, tol=1e-3, max_iter=500)
    assert solution.result.status == "converged"
    assert not solution.result.objective > solve(X, y, binary(C), squared=squared).result.objective * 1.0011


@pytest.mark.parametrize("scale", [1e-4, 1e-2, 1e-1])
@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_small_features_do_not_hold_the_bias_back(scale, C):
    X, y = large(n_ranks=4)
    for table in (npsvor(4, C, C, 0.1), one_vs_rest(4, C), svor(4, C)):
        assert solve(scale * X, y, table, tol=1e-2).result.n_iter < 60


@pytest.mark.parametrize("seed", range(4))
@every_loss
def test_biases_that_swing_come_to_rest(seed, squared):
    """A share of a few rows' steps in a bias that moves often: left alone, it goes in circles for some of these."""
    X, y, weight = data(seed=seed, n=50, n_features=7)
    rng = np.random.default_rng(seed)
    for table in (random_lanes(rng, N_RANKS, 3), random_thresholds(rng, N_RANKS, 17)):
        solution = solve(X, y, table, weight=weight, squared=squared, rho=0.1, tol=1e-8)
        assert solution.result.status == "converged"


@every_loss
@pytest.mark.parametrize("scale", [1e3, 1e5])
def test_long_rows_do_not_diverge(scale, squared):
    """Far too hard for coordinate descent, but no step makes the dual worse: it is above 0, where it began."""
    X, y, _ = data(seed=12, n=60)
    for table in (svor(N_RANKS, 1.0), npsvor(N_RANKS, 1.0, 1.0, 0.1)):
        for tol in (1e-2, 1e-6):
            result = solve(scale * X, y, table, squared=squared, tol=tol, max_iter=600).result
            assert result.gap < np.inf
            assert result.objective - result.gap > 0


def test_tiny_rows_without_an_intercept():
    X, y, _ = data(seed=13)
    for scale in (1e-15, 1e-20, 1e-30):
        result = solve(scale * X, y, npsvor(N_RANKS, 1.0, 1.0, 0.1), intercept=False).result
        assert result.objective == pytest.approx((N_RANKS - 1) * len(y))  # w.x is nothing: every hinge costs 1


# Limits


def test_max_iter_counts_passes():
    X, y, _ = data(seed=14, n=60)
    for max_iter in (0, 1, 7):
        result = solve(X, y, npsvor(N_RANKS, 10.0, 10.0, 0.1), max_iter=max_iter).result
        assert (result.status, result.n_iter) == ("max_iter", max_iter)
        assert result.relative_gap > 1e-7


def test_what_is_proved_in_the_last_pass_has_converged():
    X, y, _ = data(seed=14, n=60)
    statuses = set()
    for max_iter in range(1, 12):
        result = solve(X, y, svor(N_RANKS, 0.3), max_iter=max_iter, tol=0.05).result
        assert (result.status == "converged") == (result.relative_gap <= 0.05)
        statuses.add(result.status)
    assert statuses == {"converged", "max_iter"}


def test_a_time_limit_holds_for_short_passes():
    X, y, _ = data(seed=15, n=60)
    result = solve(X, y, npsvor(N_RANKS, 1e4, 1e4, 0.1), max_iter=-1, tol=1e-12, time_limit=0.05).result
    assert result.status == "time_limit"
    assert result.n_iter > 0
    assert 0 < result.gap < np.inf


def test_a_time_limit_may_end_a_pass_early():
    rng = np.random.default_rng(16)
    X = rng.normal(size=(4000, 2000)).astype(np.float32)
    y = rng.integers(0, 20, size=len(X)).astype(np.int32)
    result = solve(X, y, npsvor(20, 1.0, 1.0, 0.1), n_threads=2, time_limit=1e-6).result
    assert (result.status, result.n_iter) == ("time_limit", 1)
    assert 0 < result.gap < np.inf


def test_the_callback_looks_and_stops():
    X, y, _ = data(seed=17, n=60)
    seen = []
    table = npsvor(N_RANKS, 1.0, 1.0, 0.1)
    solution = solve(X, y, table, callback=lambda p: seen.append(p) or len(seen) == 4, report_every=3)
    assert (solution.result.status, solution.result.n_iter) == ("callback", 12)
    assert [progress.n_iter for progress in seen] == [3, 6, 9, 12]
    assert solution.result.history == tuple(seen)
    assert all(np.isfinite(progress.objective) and progress.gap > 0 for progress in seen)
    with pytest.raises(KeyboardInterrupt):
        solve(X, y, table, callback=_interrupt, report_every=1)


def _interrupt(progress):
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["npsvor", "regression", "svor"])
def test_a_tolerance_out_of_reach_ends(name):
    X, y, _ = data(seed=18)
    table, labels, targets = CASES[name][0](y)
    result = solve(X, labels, table, targets=targets, tol=1e-300, max_iter=-1).result
    assert result.status == "precision" or result.gap == 0.0
    assert result.relative_gap < 1e-12


# Bad input


def test_rows_too_long_get_a_sentence():
    X, y, _ = data(seed=19)
    for bad in (1e16 * X, np.where(X > 1.0, np.nan, X)):
        with pytest.raises(ValueError, match="scale the features"):
            solve(bad, y, svor(N_RANKS, 1.0))


@pytest.mark.parametrize(
    ("option", "values"),
    [("rho", [0, -1, 2, np.nan, "x", True]), ("parts", [0, 1.5, "x"]), ("seed", [-1, 0.5, 2**64, "x", True, None])],
)
def test_options_out_of_range(option, values):
    for value in values:
        with pytest.raises(ValueError, match=f"{option}=.* is not valid: give"):
            RankDCD(**{option: value})


def test_tables_that_no_solver_knows():
    one = np.ones((1, 1))
    with pytest.raises(ValueError, match="differ in C: give"):
        LabelTable(-one, 2 * one, one, one)
    with pytest.raises(ValueError, match="exclude 0: give"):
        LabelTable(one, 2 * one, one, one)
    assert regression(3.0, 0.1).n_columns == 1
