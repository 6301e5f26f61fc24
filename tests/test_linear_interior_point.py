"""LinearInteriorPoint: the oracle's optimum for every machine and loss, proofs recomputed in NumPy, one read of the
rows an iteration, few iterations whatever C, and no NaN whatever the data.
"""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from ordsvm import LinearInteriorPoint, LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR, RowStore, certify
from ordsvm.solvers import Control
from ordsvm.solvers.linear.feature_task import FeatureRows, FeatureTask
from ordsvm.solvers.linear.interior_point import FeatureNewton
from ordsvm.solvers.linear.losses import certificate, losses
from ordsvm.solvers.linear.solve import RowsInMemory, solve_linear
from tests.linear_cases import both_losses, every_machine, loss_name, optimum
from tests.linear_cases import data as machine_data
from tests.oracle import primal_optimum
from tests.test_linear_tables import CASES, N_RANKS, every_case, every_loss, penalised, without_intercept
from tests.test_rank_dcd import KINDS, LANES, data, random_lanes, random_thresholds


def solve(X, labels, table, *, targets=None, intercept=True, weight=None, squared=False, **options):
    control = Control(**({"tol": 1e-7, "max_iter": 100} | options))
    rest = {"weight": weight, "squared": squared, "solver": LinearInteriorPoint(), "control": control}
    return solve_linear(X, labels, table, targets=targets, intercept=intercept, **rest)


def tall(n: int = 3000, d: int = 6, n_ranks: int = 5, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    t = X @ rng.standard_normal(d) / np.sqrt(d) + 0.7 * rng.standard_normal(n)
    return X, np.digitize(t, np.quantile(t, np.arange(1, n_ranks) / n_ranks))


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
    value, result = sum(optimum.objective for optimum in optima), solution.result
    assert result.status == "converged"
    assert result.relative_gap <= 1e-7
    assert result.objective == pytest.approx(value, rel=1e-6)
    assert result.objective - result.gap <= value * (1 + 1e-9)
    b = np.concatenate([optimum.b for optimum in optima])
    np.testing.assert_allclose(solution.intercept, b if table.shared else -b, atol=2e-3)


@pytest.mark.parametrize("name", LANES)
@every_loss
def test_the_oracles_optimum_without_an_intercept(name, squared):
    X, y, weight = data()
    table, labels, targets = CASES[name][0](y)
    solution = solve(X, labels, table, targets=targets, weight=weight, squared=squared, intercept=False)
    problems = [without_intercept(problem) for problem in CASES[name][1](y, weight)]
    value = sum(primal_optimum(problem, X @ X.T, squared).objective for problem in problems)
    assert solution.result.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_array_equal(solution.intercept, 0.0)


@every_machine
@both_losses
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_machines_reach_the_oracles_optimum_whatever_C(model, squared, C):
    X, y = machine_data(model, seed=2, n=40)
    fitted = model(C=C, loss=loss_name(model, squared), tol=1e-6, solver="linear-interior-point").fit(X, y)
    assert fitted.result_.status == "converged"
    assert fitted.n_iter_ <= 40
    value = optimum(fitted, X, y)
    assert value * (1 - 1e-8) <= fitted.result_.objective <= value * (1 + 1.1e-6)


# Proofs


@every_case
@every_loss
@pytest.mark.parametrize("tol", [0.2, 1e-2, 1e-7])
def test_a_proof_is_what_numpy_makes_of_the_variables(name, squared, tol):
    """The core's dual has both hinges of a sample in a lane, NumPy's their difference: that proves more."""
    X, y, weight = data(seed=3)
    table, labels, targets = CASES[name][0](y)
    thresholds = table.shared
    solution = solve(X, labels, table, targets=targets, weight=weight, squared=squared, tol=tol)
    loss, result, beta = losses(table, labels, weight, targets, squared), solution.result, solution.beta.array()
    low, high = loss.bounds()
    assert np.all((low <= beta) & (beta <= high))
    proof = certificate(X, beta, loss, thresholds, b=solution.intercept, coef=solution.coef)
    assert result.objective == pytest.approx(proof.primal, rel=1e-12)
    assert proof.gap == pytest.approx(proof.primal - proof.dual, rel=1e-6, abs=1e-9 * proof.primal)
    assert result.objective - result.gap <= proof.dual * (1 + 1e-12)
    assert result.relative_gap <= tol


@pytest.mark.parametrize("size", [1, 2, 5, 9, 17])
@every_loss
def test_any_number_of_lanes_and_thresholds(size, squared):
    X, y, weight = data(seed=4, n=40, n_features=6)
    rng = np.random.default_rng(size)
    for table in (random_lanes(rng, N_RANKS, size), random_thresholds(rng, N_RANKS, size)):
        solution = solve(X, y, table, weight=weight, squared=squared, tol=1e-5)
        loss, thresholds = losses(table, y, weight, None, squared), table.shared
        proof = certificate(X, solution.beta.array(), loss, thresholds, b=solution.intercept, coef=solution.coef)
        assert solution.result.status == "converged"
        assert proof.relative_gap <= 1e-5 * (1 + 1e-6)
        assert solution.beta.shape == (40, size)


@every_machine
def test_certify_recomputes_the_gap_and_refuses_other_samples(model):
    X, y = machine_data(model, seed=5, n=60)
    fitted = model(tol=1e-5, solver="linear-interior-point").fit(X, y)
    proof = certify(fitted, X, y)
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-12)
    assert 0 <= proof.gap <= fitted.result_.gap * (1 + 1e-6)
    with pytest.raises(ValueError, match="weights are not those that its dual variables give"):
        certify(fitted, X[::-1], y)


@every_machine
def test_weights_are_as_near_to_the_optimum_as_the_gap_proves(model):
    """½‖w − w*‖² ≤ gap, for all weights together, and the intercepts."""
    X, y = machine_data(model, seed=6, n=200)
    best = model(tol=1e-10, solver="linear-interior-point").fit(X, y)
    for tol in (0.3, 1e-2, 1e-4):
        fitted = model(tol=tol, solver="linear-interior-point").fit(X, y)
        moved = np.append(fitted.coef_ - best.coef_, fitted._biases() - best._biases())
        distance = 0.5 * np.sum(moved**2)
        assert distance <= fitted.result_.gap


# What makes no difference


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["npsvor", "regression", "svor"])
def test_kinds_of_data(kind, name):
    X, y, weight = data(seed=6, n=60, n_features=5)
    table, labels, targets = CASES[name][0](y)
    expected = solve(X, labels, table, targets=targets, weight=weight)
    found = solve(KINDS[kind](X), labels, table, targets=targets, weight=weight)
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-6, atol=1e-9)
    assert found.result.n_iter == expected.result.n_iter


@every_machine
def test_threads_and_row_blocks(model):
    X, y = tall(n=3000, d=20)
    one, two = (model(tol=1e-6, solver="linear-interior-point", n_threads=n).fit(X, y) for n in (1, 2))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6, atol=1e-8)
    parts = ((sp.csr_array(X[i : i + 700]), y[i : i + 700]) for i in range(0, 3000, 700))
    stored = model(tol=1e-6, solver="linear-interior-point").fit(RowStore.from_blocks(parts))
    assert stored.result_.status == "converged"
    np.testing.assert_allclose(one.coef_, stored.coef_, rtol=1e-3, atol=1e-3)


def test_lanes_are_independent():
    X, y, weight = data(seed=5, n=40, n_features=6)
    table = random_lanes(np.random.default_rng(5), N_RANKS, 7)
    together = solve(X, y, table, weight=weight, tol=1e-10)
    for lane in (0, 6):
        alone = table.columns([lane])
        solution = solve(X, y, alone, weight=weight, tol=1e-10)
        np.testing.assert_allclose(together.coef[:, [lane]], solution.coef, atol=1e-4)


def test_weight_2_is_a_row_twice():
    X, y = tall(n=300)
    weight = 1.0 + (np.arange(300) % 3 == 0)
    twice = np.repeat(np.arange(300), weight.astype(int))
    for model in (LinearSVOR, LinearNPSVOR, LinearSVC, LinearSVR):
        weighted = model(tol=1e-8, solver="linear-interior-point").fit(X, y, weight)
        repeated = model(tol=1e-8, solver="linear-interior-point").fit(X[twice], y[twice])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-3)
        assert weighted.result_.objective == pytest.approx(repeated.result_.objective, rel=2e-8)


# Iterations and reads


@every_machine
@both_losses
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_few_iterations_whatever_C(model, squared, C):
    X, y = tall()
    for tol, most in ((1e-3, 25), (1e-6, 40)):
        fitted = model(C=C, loss=loss_name(model, squared), tol=tol, solver="linear-interior-point").fit(X, y)
        assert fitted.result_.status == "converged"
        assert fitted.n_iter_ <= most


@pytest.mark.parametrize("n_ranks", [2, 3, 9])
def test_rows_are_read_once_an_iteration_whatever_the_number_of_ranks_or_classes(n_ranks):
    X, y = tall(n_ranks=n_ranks)
    for name in ("svor", "npsvor", "one_vs_rest"):
        table = getattr(__import__("ordsvm.formulations.linear", fromlist=[name]), name)
        made = table(n_ranks, 1.0, 1.0, 0.1) if name == "npsvor" else table(n_ranks, 1.0)
        task = FeatureTask(made, y.astype(np.int32))
        rows = FeatureRows(RowsInMemory(X), np.sum(X**2, axis=1))
        run = FeatureNewton(rows, task, Control(tol=1e-4, n_threads=2), 0.0)
        solution = run.run(np.zeros(n_ranks - 1 if name == "svor" else n_ranks))
        assert solution.result.status == "converged"
        assert run.core.rows_read == solution.result.n_iter * len(X)


def test_a_constant_optimum():
    """Where no feature helps, w = 0 is the optimum, and hinges of whole ranks lie on their margins."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 3)), np.repeat([0, 1, 1, 1, 1, 1, 1, 2], 250)
    for C in (0.01, 1.0, 100.0):
        fitted = LinearSVOR(C=C, tol=1e-6, solver="linear-interior-point").fit(X, y)
        assert fitted.result_.status == "converged"
        assert fitted.n_iter_ <= 50


# Limits


@every_machine
@pytest.mark.parametrize("limit", [{"max_iter": 2}, {"max_iter": 0}, {"time_limit": 1e-9}])
def test_limits_end_with_a_usable_model(model, limit):
    X, y = tall()
    fitted = model(C=100, solver="linear-interior-point", tol=1e-9, **limit)
    with pytest.warns(ConvergenceWarning):
        fitted.fit(X, y)
    assert np.all(np.isfinite(fitted.coef_))
    assert np.isfinite(fitted.result_.gap)
    assert fitted.result_.status == next(iter(limit))


def test_a_callback_ends_a_fit():
    X, y = tall()
    table, looks = CASES["svor"][0](y)[0], []

    def third(progress):
        looks.append(progress)
        return len(looks) == 3

    labels = np.minimum(y, N_RANKS - 1).astype(np.int32)
    solution = solve(X, labels, table, report_every=1, callback=third, tol=1e-9)
    assert solution.result.status == "callback"
    assert solution.result.n_iter == len(solution.result.history) == 3
    assert looks[-1].gap <= solution.result.gap <= looks[-1].gap * (1 + 1e-9)  # which allows for rounding


def test_looks_are_recorded():
    X, y = tall()
    table = CASES["svor"][0](y)[0]
    solution = solve(X, np.minimum(y, N_RANKS - 1).astype(np.int32), table, report_every=1, tol=1e-6)
    history = solution.result.history
    assert [look.n_iter for look in history] == list(range(1, solution.result.n_iter))
    assert {look.solver for look in history} == {"linear-interior-point"}
    assert np.all(np.diff([look.objective for look in history]) <= 0)


# No NaN

magnitudes = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(6, 60),
    d=st.integers(1, 12),
    scale=magnitudes,
    C=magnitudes,
    model=st.sampled_from([LinearSVOR, LinearNPSVOR, LinearSVC, LinearSVR]),
    squared=st.booleans(),
    binary=st.booleans(),
)
def test_never_nan(seed, n, d, scale, C, model, squared, binary):
    """Ends with a certificate or with a warning that says what is proven."""
    rng = np.random.default_rng(seed)
    X = scale * (rng.integers(0, 2, (n, d)) if binary else rng.standard_normal((n, d))) * rng.choice([0, 1, 10], d)
    y, weight = np.arange(n) % 3, rng.choice([1e-3, 1.0, 50.0], n)
    fitted = model(C=C, loss=loss_name(model, squared), tol=1e-6, max_iter=200, solver="linear-interior-point")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted.fit(X, y, weight)
    result = fitted.result_
    assert np.all(np.isfinite(fitted.coef_))
    assert np.all(np.isfinite(fitted._biases()))
    proof = certify(fitted, X, y, weight)
    assert np.isfinite(result.gap)
    assert proof.gap <= result.gap + 1e-9 * abs(result.objective)
    assert result.relative_gap <= 1e-6 or any(issubclass(w.category, ConvergenceWarning) for w in caught)


# Memory

CHILD = """
import sys
import numpy as np
from ordsvm import LinearSVOR, LinearNPSVOR, RowStore

def resident(which):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))

machine = {"svor": LinearSVOR, "npsvor": LinearNPSVOR}[sys.argv[1]]
random = np.random.default_rng(0)
X = random.random((400_000, 8), dtype=np.float32)
y = random.integers(0, 6, size=len(X))
data = X, y
if sys.argv[2] == "disk":
    data = (RowStore.from_blocks([data], window_bytes=1 << 22),)
machine(n_threads=2, solver="linear-interior-point").fit(X[:2000], y[:2000])  # whatever the first fit loads
before = resident("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
model = machine(C=0.01, n_threads=2, solver="linear-interior-point").fit(*data)
print(resident("VmHWM") - before, model.result_.relative_gap)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the memory figures of Linux's /proc")
@pytest.mark.parametrize(
    ("name", "place", "hinges", "columns"),
    [("svor", "memory", 5, 5), ("npsvor", "memory", 7, 6), ("svor", "disk", 5, 5)],
)
def test_training_takes_16_bytes_a_hinge_and_the_dual_variables(name, place, hinges, columns):
    """α twice, and β at the end; labels are copied as int32 and as codes. No copy of X, no other array over hinges."""
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    child = subprocess.run(
        [sys.executable, "-c", CHILD, name, place], env=environment, capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    taken, gap = map(float, child.stdout.split())
    n = 400_000
    assert gap <= 0.01
    assert 16 * n * hinges <= taken <= 16 * n * hinges + 8 * n * columns + 40 * n + (12 << 20)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("tol", "most"), [(1e-3, 25), (1e-6, 40)])
def test_iterations_are_few_whatever_C(C, tol, most):
    """Steps that are refused because the gap rises cost more iterations than they save, unless there was a restart."""
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 50), dtype=np.float32)
    score = X @ random.standard_normal(50) / 7 + 0.5 * random.standard_normal(20_000)
    y = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score)
    result = LinearSVOR(C=C, tol=tol, solver="linear-interior-point").fit(X, y).result_
    assert result.converged
    assert result.n_iter <= most


@pytest.mark.parametrize("scale", [1e-2, 1e-9, 1e-20])
def test_two_hinges_of_a_sample_round_nothing_away(scale):
    """What both have in common was summed up and taken off again: rounding above the gap, which was claimed to be 0."""
    random = np.random.RandomState(0)
    X = random.randn(2000, 5)
    y = scale * (X @ random.randn(5))
    model = LinearSVR(C=1e8, epsilon=0.0, loss="squared_epsilon_insensitive", solver="linear-interior-point").fit(X, y)
    assert model.result_.converged
    proof = certify(model, X, y)
    assert proof.relative_gap <= 1e-3
    assert proof.gap <= model.result_.gap + 1e-9 * proof.primal


@pytest.mark.parametrize(("C", "decades", "n_features", "tol"), [(1e6, 10, 2, 1e-3), (1e9, 4, 5, 1e-9)])
def test_a_gap_that_rounding_takes_below_0_is_0(C, decades, n_features, tol):
    """Its root was NaN, and so was the gap that came of it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20, n_features))
    y = X @ random.normal(size=n_features)
    weight = 10.0 ** random.uniform(-decades, decades, 20)
    model = LinearSVR(C=C, epsilon=0.0, loss="squared_epsilon_insensitive", tol=tol, max_iter=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("error", RuntimeWarning)
        result = model.set_params(solver="linear-interior-point").fit(X, y, sample_weight=weight).result_
    assert 0.0 <= result.gap < np.inf


@pytest.mark.parametrize("model", [LinearSVOR(), LinearSVC(), LinearSVC(loss="squared_hinge")])
def test_weights_that_are_nearly_0_leave_the_rest_as_it_is(model):
    random = np.random.RandomState(0)
    X = random.randn(300, 5)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    weight = np.ones(300)
    weight[7] = 1e-308
    model.set_params(solver="linear-interior-point").fit(X, y, sample_weight=weight)
    assert model.result_.converged
    weight[7] = 0.0
    np.testing.assert_allclose(model.coef_, model.fit(X, y, sample_weight=weight).coef_, atol=1e-6)


def test_targets_within_the_tube_take_an_iteration():
    random = np.random.RandomState(0)
    X, y = random.randn(500, 5), 0.09 * random.uniform(-1, 1, 500)
    result = LinearSVR(epsilon=0.1, solver="linear-interior-point").fit(X, y).result_
    assert result.converged
    assert result.objective == 0.0
    assert result.n_iter == 1


def test_a_warm_start_on_other_samples_is_as_fast_as_one_from_weights_0():
    random = np.random.RandomState(0)
    first, second = random.randn(2, 2000, 10)
    ranks = [np.digitize(X @ random.randn(10), [-2.0, 0.0, 2.0]) for X in (first, second)]
    model = LinearSVOR(C=10, tol=1e-6, solver="linear-interior-point", warm_start=True).fit(first, ranks[0])
    warm = model.fit(second, ranks[1]).result_
    cold = LinearSVOR(C=10, tol=1e-6, solver="linear-interior-point").fit(second, ranks[1]).result_
    assert warm.converged
    assert warm.n_iter == cold.n_iter + 1
