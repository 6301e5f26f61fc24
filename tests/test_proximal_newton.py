"""The proximal Newton method: every formulation against the oracle, ways to solve systems, levels, limits, torch."""

import gc
import math
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordsvm import NPSVOR, SVC, SVOR, SVORIM, InteriorPoint, ProximalNewton, certify, formulations
from ordsvm.array_library import NumpyLibrary
from ordsvm.kernels import RBF, KernelMatrix, Laplacian, Linear, Polynomial, Precomputed
from ordsvm.problem import Hinges
from ordsvm.solvers import Control, recorder, solve
from ordsvm.solvers.kernel.proof_time import ProofTime
from ordsvm.solvers.kernel.proximal_newton import level, newton_system, proximal_newton, stages
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage
from ordsvm.solvers.kernel.proximal_newton.stages import FIRST_WIDTH, LAST_SUBSAMPLE_WIDTH
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import Unsolved, dual_optimum
from tests.test_solvers import assert_optimal

GRADIENTS = ProximalNewton(direct=1, rank=16)  # systems by conjugate gradients, whatever their size


def matrix_of(X: np.ndarray) -> KernelMatrix:
    return KernelMatrix.of(RBF(0.5), X, 200.0)


@pytest.mark.parametrize("solver", [ProximalNewton(), GRADIENTS], ids=["direct", "gradients"])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation(name, C, solver):
    X, y = random_data(11)
    problem = FORMULATIONS[name](y, N_RANKS, C)
    assert_optimal(problem, RBF(0.5)(X, X), solve(problem, matrix_of(X), solver, Control(tol=1e-6)), 1e-6)


@pytest.mark.parametrize("name", ["svor", "svorim", "svorex", "shashua_levin", "svc-free", "svr-none"])
def test_semidefinite_kernels(name):
    X, y = random_data(12, n=24, n_features=2)
    X[1::4] = X[::4]
    problem = FORMULATIONS[name](y, N_RANKS, 1.0)
    for rows, K in ((Linear().rows(X), X @ X.T), (Precomputed().rows(0 * X @ X.T), 0 * X @ X.T)):
        solution = solve(problem, KernelMatrix(rows), ProximalNewton(), Control(tol=1e-6))
        assert_optimal(problem, K, solution, 1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_ordered_thresholds_under_disorder(seed):
    """Multipliers of the order are above 0."""
    X, y = random_data(seed, n=40, n_features=1, n_ranks=6, noise=5.0)
    problem, K = formulations.svorex(y, 6, 1.0), X @ X.T
    solution = solve(problem, KernelMatrix(Linear().rows(X)), ProximalNewton(), Control(tol=1e-6))
    assert_optimal(problem, K, solution, 1e-6)
    assert np.all(np.diff(solution.thresholds) >= 0)


KERNELS = [RBF(0.5), Laplacian(0.5), Linear(), Polynomial(0.5, 1.0, 2)]  # the last two of low rank
RANDOM = given(
    name=st.sampled_from(sorted(FORMULATIONS)),
    kernel=st.sampled_from(KERNELS),
    seed=st.integers(0, 10**6),
    n=st.integers(6, 40),
    C=st.floats(-3, 3).map(lambda exponent: 10.0**exponent),
    twins=st.booleans(),
    weighted=st.booleans(),
)


def check_random_problem(solver, name, kernel, seed, n, C, twins, weighted):
    """Certified, or an honest status; never NaN."""
    X, y = random_data(seed, n=n)
    y = np.resize(np.arange(N_RANKS), n)[np.argsort(np.argsort(y, kind="stable"), kind="stable")]
    if twins:
        X[n // 2 :] = X[: n - n // 2]
    problem, K = FORMULATIONS[name](y, N_RANKS, C), kernel(X, X)
    if weighted:
        weight = 10.0 ** np.random.default_rng(seed).uniform(-2, 1, n)
        hinges = problem.hinges
        problem = replace(problem, hinges=replace(hinges, cap=hinges.cap * weight[hinges.sample]))
    solution = solve(problem, KernelMatrix.of(kernel, X, 200.0), solver, Control(tol=1e-4))
    proof = problem.certificate(solution.result.alpha, K @ solution.beta)
    assert np.isfinite(proof.gap)
    assert solution.result.status in ("converged", "precision", "gap")
    if solution.result.converged:
        assert proof.relative_gap <= 2e-4
        with suppress(Unsolved):  # the certificate has been checked above
            assert solution.result.objective == pytest.approx(dual_optimum(problem, K).objective, rel=1e-3, abs=1e-9)


@settings(max_examples=60, deadline=None)
@RANDOM
def test_random_problems(**problem):
    check_random_problem(ProximalNewton(), **problem)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@RANDOM
def test_random_problems_on_a_device(**problem):
    pytest.importorskip("torch")
    check_random_problem(ProximalNewton(device="torch:cpu"), **problem)


@pytest.mark.parametrize("model", [SVOR(), SVORIM(), SVC(), NPSVOR()], ids=lambda model: type(model).__name__)
def test_levels_start_from_the_function_of_a_subsample(model, monkeypatch):
    monkeypatch.setattr(proximal_newton, "FIRST_LEVEL", 60)
    X, y = random_data(3, n=700)
    levels = []
    begin = proximal_newton.Level.__init__

    def counted(self, *arguments):
        begin(self, *arguments)
        levels.append(self.size)

    monkeypatch.setattr(proximal_newton.Level, "__init__", counted)
    model.set_params(C=5.0, gamma=0.5, solver="proximal-newton").fit(X, y)
    assert levels[:2] == ([87, 350] if isinstance(model, SVC) else [175, 700])  # of two classes, or of all samples
    assert model.result_.converged
    assert certify(model, X, y).relative_gap <= 1e-3


@pytest.mark.parametrize(("C", "gamma", "width"), [(0.1, 0.01, 0.3), (10.0, 3.0, FIRST_WIDTH)])
def test_the_width_of_a_level_follows_from_the_free_samples_of_the_one_before(C, gamma, width, monkeypatch):
    monkeypatch.setattr(proximal_newton, "FIRST_LEVEL", 60)
    X, y = random_data(3, n=360)
    widths = []
    begin = proximal_newton.Stages.__init__

    def noted(self, method, level, stage, start):
        begin(self, method, level, stage, start)
        widths.append(stage.width / self.unit)

    monkeypatch.setattr(proximal_newton.Stages, "__init__", noted)
    model = SVOR(C=C, gamma=gamma, solver="proximal-newton").fit(X, y)
    assert widths == pytest.approx([FIRST_WIDTH, width])
    assert certify(model, X, y).relative_gap <= 1e-3


def test_a_subsample_ends_where_it_is_optimal_though_its_width_stays(monkeypatch):
    """Where the Nyström residual is large, stages of a subsample get no narrower, and lead nowhere any more."""
    monkeypatch.setattr(proximal_newton, "FIRST_LEVEL", 60)
    X, y = random_data(3, n=360)
    looks = []
    judge = proximal_newton.Level.judge

    def judged(self, stage, at):
        found = judge(self, stage, at)
        looks.append((self.size, stage.width, found.violation))
        return found

    monkeypatch.setattr(proximal_newton.Level, "judge", judged)
    solver = ProximalNewton(direct=10, rank=64)
    assert SVOR(C=30.0, gamma=20.0, solver=solver).fit(X, y).result_.converged
    of_subsample = [(width, violation) for size, width, violation in looks if size == 90]
    assert of_subsample[-1][0] > LAST_SUBSAMPLE_WIDTH >= of_subsample[-1][1]
    assert all(violation > LAST_SUBSAMPLE_WIDTH for _, violation in of_subsample[:-1])


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.5), Linear(), Polynomial(0.5, 1.0, 2)], ids=str)
def test_agrees_with_block(kernel):
    X, y = random_data(5, n=150)
    for C in (1.0, 100.0):
        models = [
            SVOR(C=C, kernel=kernel, tol=1e-5, solver=solver).fit(X, y) for solver in ("proximal-newton", "block")
        ]
        assert models[0].result_.objective == pytest.approx(models[1].result_.objective, rel=1e-4)


@pytest.mark.parametrize(
    "options",
    [{"kernel": "sigmoid"}, {"kernel": "poly", "coef0": -1.0}, {"kernel": "poly", "degree": 2.5, "coef0": 9.0}],
)
def test_indefinite_kernels_are_refused(options):
    X, y = random_data(5)
    with pytest.raises(ValueError, match="positive semidefinite"):
        SVOR(**options, solver="proximal-newton").fit(X, y)


def test_an_indefinite_matrix_ends_honestly():
    X, y = random_data(5)
    K = RBF(0.5)(X, X) - 2 * np.eye(len(X))
    with pytest.warns(UserWarning, match="SVORIM"):
        model = SVORIM(kernel="precomputed", solver="proximal-newton", C=10.0, max_iter=200).fit(K, y)
    assert not model.result_.converged


@pytest.mark.parametrize("large", [10, newton_system.LARGE], ids=["in blocks", "whole"])
def test_a_callable_of_values_that_are_not_semidefinite_ends_with_its_gap(large, monkeypatch):
    monkeypatch.setattr(newton_system, "LARGE", large)
    X, y = random_data(5, n=120)
    with pytest.warns(UserWarning, match="where a kernel is not positive semidefinite"):
        model = SVOR(C=10.0, kernel=lambda A, B: np.tanh(3.0 * A @ B.T - 1.0), solver="proximal-newton").fit(X, y)
    assert model.result_.status == "gap"


# Limits and observers


def test_limits_end_it_with_a_proof():
    X, y = random_data(7, n=200)
    with pytest.warns(UserWarning, match="max_iter"):
        model = SVOR(C=10.0, gamma=0.5, solver="proximal-newton", max_iter=3).fit(X, y)
    assert model.result_.status == "max_iter"
    proof = certify(model, X, y)
    assert proof.gap == pytest.approx(model.result_.gap, rel=1e-6)


def test_time_limit_and_callback():
    X, y = random_data(7, n=200)
    with pytest.warns(UserWarning, match="time_limit"):
        model = SVOR(C=10.0, gamma=0.5, solver="proximal-newton", time_limit=1e-6).fit(X, y)
    assert model.result_.status == "time_limit"
    problem, seen = formulations.svor(y, N_RANKS, 10.0), []

    def callback(progress):
        seen.append(progress.relative_gap)
        return len(seen) == 2

    control = Control(callback=callback, report_every=1)
    assert solve(problem, matrix_of(X), ProximalNewton(), control).result.status == "callback"
    assert len(seen) == 2


def test_warm_start_takes_fewer_steps():
    X, y = random_data(8, n=200)
    model = SVORIM(C=1.0, gamma=0.5, solver="proximal-newton", warm_start=True).fit(X, y)
    cold = model.result_.n_iter
    model.fit(X, y)
    assert model.result_.converged
    assert model.result_.n_iter < cold


def test_a_limit_keeps_the_work_done():
    """Not what the last look has seen: there was none."""
    X, y = random_data(7, n=150)
    problem = formulations.svorim(y, N_RANKS, 10.0)
    control = Control(max_iter=15, report_every=1000)
    result = solve(problem, matrix_of(X), ProximalNewton(), control).result
    assert (result.status, result.n_iter) == ("max_iter", 15)
    assert result.relative_gap < 0.9


def test_no_step_beyond_max_iter():
    X, y = random_data(7)
    for steps in (0, 1):
        result = solve(
            formulations.svor(y, N_RANKS, 1.0), matrix_of(X), ProximalNewton(), Control(max_iter=steps)
        ).result
        assert (result.status, result.n_iter) == ("max_iter", steps)
    assert not solve(formulations.svor(y, N_RANKS, 1.0), matrix_of(X), ProximalNewton(), Control(max_iter=0)).beta.any()


def test_looks_show_the_gap_of_their_own_variables():
    X, y = random_data(8, n=100)
    problem, K, seen = formulations.svorim(y, N_RANKS, 100.0), RBF(0.5)(X, X), []

    class Monitor:
        satisfied, best = False, None

        def examine(self, alpha, progress):
            seen.append((progress.gap, problem.certificate(alpha, K @ problem.beta(alpha)).gap))
            return progress

    solve(problem, matrix_of(X), ProximalNewton(), Control(monitor=Monitor()))
    assert len(seen) > 3
    shown, true = np.array(seen).T
    np.testing.assert_allclose(shown, true, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("solver", "sentence"), [(ProximalNewton(), "degree that is no integer"), (InteriorPoint(), "not finite")]
)
def test_values_that_are_not_finite_get_a_sentence(solver, sentence):
    X, y = random_data(7)
    with pytest.raises(ValueError, match=sentence):
        SVOR(kernel=Polynomial(1.0, 0.0, 2.5), solver=solver).fit(X, y)


def test_no_hinges_and_no_kernel():
    X, y = random_data(7)
    problem = formulations.svor(y, N_RANKS, 1.0)
    empty = replace(problem, hinges=Hinges.table(*np.zeros((5, 0))))
    assert solve(empty, matrix_of(X), ProximalNewton(), Control()).result.converged
    zero = KernelMatrix(Precomputed().rows(np.zeros((len(y), len(y)))))
    assert solve(problem, zero, ProximalNewton(direct=10), Control()).result.converged


@pytest.mark.parametrize("device", [5, "gpu", "cuda:x"])
def test_unknown_devices(device):
    with pytest.raises(ValueError, match="device="):
        ProximalNewton(device=device)


@pytest.mark.parametrize("name", ["svor", "redsvm-squared", "svr-penalised", "svr-none", "svc-none"])
def test_looks_where_the_variables_are_prove_what_the_problem_does(name, monkeypatch):
    monkeypatch.setattr(recorder, "LOOK_INTERVAL", 0.0)
    monkeypatch.setattr(recorder, "LOOK_SHARE", math.inf)
    X, y = random_data(11, n=40)
    problem, seen = FORMULATIONS[name](y, N_RANKS, 5.0), []
    look_there = stages.Stages._look_there

    def look(self, judged):
        found = look_there(self, judged)
        self.put(judged)
        seen.append((found, self.method.run.current_look()))
        return found

    monkeypatch.setattr(stages.Stages, "_look_there", look)
    solve(problem, matrix_of(X), ProximalNewton(), Control(tol=1e-6))
    assert len(seen) > 3
    for (found, n_support), (expected, expected_support) in seen:
        assert n_support == expected_support
        for part in ("primal", "dual", "gap", "violation", "thresholds", "dual_thresholds"):
            if getattr(expected, part) is not None:
                np.testing.assert_allclose(getattr(found, part), getattr(expected, part), rtol=1e-7, atol=1e-7)


def test_the_time_of_the_proof_is_told_by_the_present_variables(monkeypatch):
    monkeypatch.setattr(recorder, "LOOK_INTERVAL", 0.0)
    monkeypatch.setattr(recorder, "LOOK_SHARE", math.inf)
    seen = []
    monkeypatch.setattr(ProofTime, "seconds", lambda self, beta: float(seen.append(np.count_nonzero(beta)) or 0.0))
    X, y = random_data(11, n=40)
    solve(formulations.svor(y, N_RANKS, 5.0), matrix_of(X), ProximalNewton(), Control(tol=1e-6, time_limit=60.0))
    assert len(seen) > 3
    assert min(seen) > 0


def test_what_has_been_found_is_kept_where_memory_ends(monkeypatch):
    X, y = random_data(11, n=300)
    started, stages_begun = [], []
    start, go_on = proximal_newton.Method._start, stages.Stages._next

    def begun(self):
        started.append(np.count_nonzero(self.run.alpha))
        return start(self)

    def out_of_memory(self, *arguments):
        stages_begun.append(len(started))
        if len(stages_begun) == 3:
            raise MemoryError
        go_on(self, *arguments)

    monkeypatch.setattr(proximal_newton.Method, "_start", begun)
    monkeypatch.setattr(stages.Stages, "_next", out_of_memory)
    found = solve(formulations.svor(y, N_RANKS, 5.0), matrix_of(X), ProximalNewton(), Control(tol=1e-4)).result
    assert found.converged
    assert started[0] == 0
    assert started[1] > 0


def test_the_first_look_waits_where_it_is_expensive():
    now = time.perf_counter()
    looks = recorder.Recorder(ProximalNewton(), Control())
    looks.expect(1.0)
    assert looks._next_look >= now + 1.0 / recorder.LOOK_SHARE
    looks.expect(0.0)
    assert looks._next_look >= now + 1.0 / recorder.LOOK_SHARE


# Parts


def test_columns_hold_every_hinge_once():
    _, y = random_data(9)
    for make in FORMULATIONS.values():
        problem = make(y, N_RANKS, 2.0)
        order = np.random.default_rng(0).permutation(problem.n_samples)
        columns = Columns.of(problem, order, NumpyLibrary())
        alpha = np.random.default_rng(1).uniform(0, problem.hinges.cap)
        table = columns.table(alpha)
        np.testing.assert_array_equal(columns.flat(table), alpha)
        beta, gamma = columns.sums(table)
        np.testing.assert_allclose(beta, problem.beta(alpha)[order], atol=1e-12)
        if columns.member.shape[1]:
            np.testing.assert_allclose(columns.gamma(gamma), problem.gamma(alpha), atol=1e-12)
        assert np.count_nonzero(columns.cap) == len(problem.hinges)


def shifted_case(library):
    """A stage, scores, thresholds, and the β of scores that are shifted by less than the width."""
    _, y = random_data(9)
    problem, random = formulations.svor(y, N_RANKS, 2.0), np.random.default_rng(2)
    columns = Columns.of(problem, np.arange(len(y)), library)
    centre = library.array(random.uniform(size=tuple(columns.cap.shape))) * columns.cap
    stage = Stage(library, columns, centre, width=1.0)
    score, b = library.array(random.normal(size=len(y))), random.normal(size=N_RANKS - 1)
    alpha = stage.alpha(score + library.array(random.uniform(-0.9, 0.9, len(y))), b)
    return stage, score, b, columns.sums(alpha)[0]


def test_consistent_alpha_has_the_sums_asked_for():
    stage, score, b, beta = shifted_case(NumpyLibrary())
    found = stage.consistent_alpha(score, b, beta)
    np.testing.assert_allclose(stage.columns.sums(found)[0], beta, atol=1e-9)
    assert np.all((found >= 0) & (found <= stage.columns.cap))


@pytest.mark.parametrize("width", [1.0, 1e-3])
def test_consistent_alpha_at_bounds_and_far_from_the_margin(width):
    """Half of the sums are those of α at their caps or 0, where many shifts have that sum: the nearest is taken. In a
    narrow stage u is far larger than the caps, and so is what it is rounded by."""
    random, n = np.random.default_rng(3), 400
    problem = formulations.svor(random.integers(0, N_RANKS, n), N_RANKS, 2.0)
    columns = Columns.of(problem, np.arange(n), NumpyLibrary())
    stage = Stage(NumpyLibrary(), columns, random.uniform(size=columns.cap.shape) * columns.cap, width)
    score, b = random.normal(size=n), random.normal(size=N_RANKS - 1)
    shift = width * np.where(np.arange(n) % 2, 0.3, 0.95) * random.choice([-1.0, 1.0], n)
    beta = columns.sums(stage.alpha(score + shift, b))[0]
    found = stage.consistent_alpha(score, b, beta)
    np.testing.assert_allclose(columns.sums(found)[0], beta, atol=1e-13)


# Several problems


def counts_of(monkeypatch, kind, options):
    """How many approximations and products a machine of several problems makes on 120 samples, and the machine."""
    X, y = random_data(3, n=120)
    made = {"approximations": 0, "products": 0}
    approximate, products = level.Nystroem.__init__, proximal_newton._products

    def approximated(self, *arguments):
        made["approximations"] += 1
        approximate(self, *arguments)

    def produced(*arguments):
        made["products"] += 1
        return products(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(level.Nystroem, "__init__", approximated)
        patch.setattr(proximal_newton, "_products", produced)
        patch.setattr(recorder, "LOOK_INTERVAL", 1e9)  # looks compute values too, the more the slower a fit is
        model = kind(C=2.0, gamma=0.5, tol=1e-6, solver=ProximalNewton(**options)).fit(X, y)
    assert model.result_.converged
    assert certify(model, X, y).relative_gap <= 1e-6
    return made, model, X


@pytest.mark.parametrize("device", ["cpu", pytest.param("torch:cpu", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [NPSVOR, partial(SVC, multi_class="ovr")], ids=["npsvor", "one-vs-rest"])
def test_problems_about_the_same_samples_share_products_and_approximation(kind, device, monkeypatch):
    if device != "cpu":
        pytest.importorskip("torch")
    made, model, X = counts_of(monkeypatch, kind, {"direct": 1, "rank": 16, "device": device})
    assert made == {"approximations": 1, "products": 1}
    monkeypatch.setattr(proximal_newton.ProximalNewton, "_shared_products", products_alone)
    alone, other, _ = counts_of(monkeypatch, kind, {"direct": 1, "rank": 16, "device": device})
    assert alone == {"approximations": N_RANKS, "products": N_RANKS}
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-9)
    assert model.result_.kernel_rows < other.result_.kernel_rows


def products_alone(solver, libraries, run, n_threads, own=proximal_newton.ProximalNewton._shared_products):
    """As for a matrix that no other problem is about."""
    run.matrix.shared = None
    return own(solver, libraries, run, n_threads)


def test_one_problem_keeps_no_approximation_of_a_finished_level(monkeypatch):
    """Though a sample without weight makes it one of those that share a matrix."""
    monkeypatch.setattr(proximal_newton, "FIRST_LEVEL", 50)
    alive, approximate = [], level.Nystroem.__init__

    def counted(self, *arguments):
        approximate(self, *arguments)
        gc.collect()
        alive.append(sum(isinstance(thing, level.Nystroem) for thing in gc.get_objects()))

    monkeypatch.setattr(level.Nystroem, "__init__", counted)
    X, y = random_data(3, n=250)
    SVOR(C=2.0, gamma=0.5, solver=GRADIENTS).fit(X, y, np.arange(250) > 0)
    assert alive == [1, 1]


def test_where_memory_ends_shared_approximations_go(monkeypatch):
    X, y = random_data(3, n=300)
    seen, go_on = [], stages.Stages._next

    def out_of_memory(self, *arguments):
        seen.append(len(self.method.approximations))
        if len(seen) == 2:
            raise MemoryError
        go_on(self, *arguments)

    monkeypatch.setattr(stages.Stages, "_next", out_of_memory)
    model = NPSVOR(C=2.0, gamma=0.5, solver=ProximalNewton(direct=1, rank=64 * 2)).fit(X, y)
    assert model.result_.converged
    assert seen[:3] == [1, 1, 1]  # the larger one has gone before there is a smaller one


# torch


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "precomputed", "callable"])
def test_torch_on_the_cpu_gives_the_same(kernel):
    torch = pytest.importorskip("torch")
    X, y = random_data(5, n=120)
    data = RBF(0.5)(X, X) if kernel == "precomputed" else X
    if kernel == "callable":
        kernels = [lambda A, B: (A @ B.T + 1) ** 2, lambda A, B: (A @ B.T + 1) ** 2]
    else:
        kernels = [kernel, kernel]
    results = []
    for given_kernel, device in zip(kernels, ("cpu", "torch:cpu"), strict=True):
        for solver in (ProximalNewton(device=device), ProximalNewton(device=device, direct=1, rank=30)):
            model = SVORIM(C=3.0, kernel=given_kernel, gamma=0.5, coef0=1.0, tol=1e-6, solver=solver).fit(data, y)
            assert model.result_.converged
            results.append(model.result_.objective)
    assert results == pytest.approx([results[0]] * 4, rel=1e-5)
    assert torch.get_default_dtype() is torch.float32  # left alone


@pytest.mark.slow
def test_cuda_gives_the_same_and_never_stores_the_matrix():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    X, y = random_data(5, n=20000)
    torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    model = SVOR(C=1.0, gamma=0.5, solver=ProximalNewton(device="cuda", rank=512)).fit(X, y)
    assert model.result_.converged, time.perf_counter() - began
    assert 0 < torch.cuda.max_memory_allocated() < 8 * 20000**2 / 2
    assert certify(model, X, y).relative_gap <= 1e-3


@pytest.mark.slow
def test_rounding_on_a_device_is_that_of_its_own_formula():
    """Distances from norms lose what differences keep: far from the origin no tolerance is claimed that is not met."""
    pytest.importorskip("torch")
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2)) + np.where(random.uniform(size=(60, 1)) < 0.5, -1e6, 1e6)
    y = np.digitize(X[:, 1] - np.round(X[:, 1], -6) + 0.5 * random.normal(size=60), [-0.5, 0.5])
    problem, kernel = formulations.svor(y, 3, 10.0), RBF(0.5)
    solver = ProximalNewton(device="torch:cpu")
    solution = solve(problem, KernelMatrix.of(kernel, X, 200.0), solver, Control(tol=1e-3))
    exact = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1)) @ solution.beta
    if solution.result.converged:
        assert problem.violation(solution.result.alpha, exact) <= 1.1e-3
    else:
        assert solution.result.status == "precision"
