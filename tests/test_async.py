"""AsyGCD, AsyAGCD and AsyORGCD: their twins, real data on real threads, limits, histories and options.

Threads make a run of AsyGCD and AsyAGCD unlike the next, so what is asserted of them is what must hold of any run:
certificates recomputed in float64 from α, and identities. AsyORGCD, and every solver with one thread, is
deterministic and is held to its NumPy twin.
"""

import gc
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import psutil
import pytest
import scipy.sparse as sp

from benchmarks.datasets import DataMissing, ordinal, svmlight, table
from ordsvm import formulations
from ordsvm.kernels import RBF, Custom, Kernel, Precomputed
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers import GCD, AsyAGCD, AsyGCD, AsyORGCD, Control, KernelMatrix, Solver, solve
from ordsvm.solvers.kernel.run import Run
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import dual_optimum
from tests.reference.asyagcd import asyagcd
from tests.reference.asygcd import asygcd
from tests.reference.asyorgcd import asyorgcd

SHARINGS, PARTITIONS = ("log", "atomic"), ("sample", "threshold")
THREE: list[Solver] = [AsyGCD(), AsyAGCD(max_shrink_iter=100), AsyORGCD(max_inner_iter=50)]
VARIANTS: list[Solver] = [
    *(AsyGCD(sharing, partition) for sharing in SHARINGS for partition in PARTITIONS),
    *(AsyAGCD(10, sharing, partition) for sharing in SHARINGS for partition in PARTITIONS),
    *(AsyORGCD(100, partition) for partition in PARTITIONS),
]
each_of_three = pytest.mark.parametrize("solver", THREE, ids=lambda solver: solver.name)
every_variant = pytest.mark.parametrize("solver", VARIANTS, ids=str)


def matrix_of(kernel: Kernel, X, cache_size: float = 200.0) -> KernelMatrix:
    return KernelMatrix(kernel.rows(X), cache_size)


def assert_honest(problem: Problem, score, result) -> None:
    """The result says of α what α proves, whatever stopped the solver; `score` is Kβ by another way."""
    np.testing.assert_array_equal(problem.repair(result.alpha), result.alpha)
    proof = problem.certificate(result.alpha, score)
    assert result.objective == pytest.approx(proof.primal, rel=1e-9)
    assert result.gap == pytest.approx(proof.gap, rel=1e-6, abs=1e-9 * proof.primal)
    assert result.violation == pytest.approx(proof.violation, rel=1e-6, abs=1e-8)


def random_problem(seed: int, n: int = 40, name: str = "svor", C: float = 1.0) -> tuple[Problem, np.ndarray]:
    X, y = random_data(seed, n=n)
    return FORMULATIONS[name](y, N_RANKS, C), X


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
def test_asyagcd_takes_the_steps_of_its_twin(name, seed, max_shrink_iter):
    problem, X = random_problem(seed, 30, name)
    for max_iter in LENGTHS:
        alpha, n_iter, sizes = asyagcd(problem, RBF(0.5)(X, X), 1e-5, max_iter, max_shrink_iter)
        for sharing in SHARINGS:
            solver = AsyAGCD(max_shrink_iter, sharing, precision="float64")
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
        assert_honest(problem, K @ problem.beta(result.alpha), result)
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
        assert again.n_iter <= 2
        np.testing.assert_allclose(again.alpha, first.alpha, rtol=0, atol=1e-4)


@each_of_three
def test_more_threads_than_samples_and_blocks_without_hinges(solver):
    X, y = random_data(14, n=12)
    weights = np.repeat([0.0, 1.0], 6)  # the samples of the first threads have no hinges
    problem = formulations.svor(y, N_RANKS, weights)
    K = RBF(0.5)(X, X)
    for n_threads in (4, 12, 40):
        result = solve(problem, matrix_of(RBF(0.5), X), solver, Control(1e-5, n_threads=n_threads)).result
        assert result.converged
        assert_honest(problem, K @ problem.beta(result.alpha), result)


# Real data


class Data(NamedTuple):
    problem: Problem
    X: object
    kernel: Kernel
    K: np.ndarray
    optimum: float  # of a serial run to a hundredth of the tolerance


def mixed(X, y, n):
    """n rows, the same ones every time, of a file that may be sorted."""
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    return X[rows], y[rows]


def ranked(name):
    def make(n):
        X, y = ordinal(name, n)
        return X, formulations.svor(y, int(y.max()) + 1, 1.0)

    return make


def relevance(n):
    X, y = mixed(*svmlight("mq2008"), n)
    return sp.csr_array(X), formulations.svor(y.astype(int), 3, 1.0)


def two_classes(name, thresholds):
    def make(n):
        X, y = mixed(*svmlight(name), n)
        return sp.csr_array(X), formulations.svc(np.where(y > 0, 1.0, -1.0), 1.0, thresholds)

    return make


def regression(name, thresholds):
    def make(n):
        X, z = table(name)
        X = X[:, X.std(axis=0) > 0]
        X, z = mixed((X - X.mean(axis=0)) / X.std(axis=0), (z - z.mean()) / z.std(), n)
        return X, formulations.svr(z, 0.1, 1.0, thresholds)

    return make


NONE, PENALIZED = Treatment.NONE, Treatment.PENALIZED
REAL = {
    "california_housing-svor": ranked("california_housing"),
    "abalone-svor": ranked("abalone"),
    "winequality-red-svor": ranked("winequality-red"),
    "mq2008-svor": relevance,
    "a9a-svc-none": two_classes("a9a", NONE),
    "a9a-svc-penalised": two_classes("a9a", PENALIZED),
    "ijcnn1-svc-none": two_classes("ijcnn1", NONE),
    "ijcnn1-svc-penalised": two_classes("ijcnn1", PENALIZED),
    "california_housing-svr-none": regression("california_housing", NONE),
    "california_housing-svr-penalised": regression("california_housing", PENALIZED),
    "abalone-svr-none": regression("abalone", NONE),
    "abalone-svr-penalised": regression("abalone", PENALIZED),
}


@lru_cache(maxsize=3)
def real_data(name: str, n: int) -> Data:
    try:
        X, problem = REAL[name](n)
    except DataMissing as reason:
        pytest.skip(str(reason))
    kernel = RBF(1 / (X.shape[1] * (X.toarray() if sp.issparse(X) else X).var()))  # scikit-learn's "scale"
    reference = solve(problem, matrix_of(kernel, X), GCD(), Control(tol=1e-5)).result
    assert reference.relative_gap <= 1e-5
    return Data(problem, X, kernel, kernel(X, X), reference.objective)


def assert_solved(data: Data, solver: Solver, n_threads: int, tol: float = 1e-3) -> None:
    """Converged, by scores from the kernel's formula too; the dual objective, which is what falls, comes closest.

    The primal one is within the gap: 1e-4 above the optimum with tol = 1e-3 for the serial solver, too.
    """
    control = Control(tol, n_threads=n_threads, time_limit=300.0)
    result = solve(data.problem, matrix_of(data.kernel, data.X), solver, control).result
    assert result.status == "converged"
    score = data.K @ data.problem.beta(result.alpha)
    assert_honest(data.problem, score, result)
    proof = data.problem.certificate(result.alpha, score)
    assert 0 <= proof.relative_gap <= tol
    assert proof.violation <= tol + 1e-9
    assert proof.dual == pytest.approx(data.optimum, rel=1e-4)
    assert proof.primal == pytest.approx(data.optimum, rel=tol)


real_threads = pytest.mark.parametrize("n_threads", [1, 2, 4, 8])
every_set = pytest.mark.parametrize("name", REAL)


@real_threads
@every_set
def test_real_data_in_two_runs(name, n_threads):
    large = name in ("california_housing-svor", "a9a-svc-penalised", "ijcnn1-svc-none")
    data, few = real_data(name, 1500 if large and n_threads <= 2 else 400), real_data(name, 100)
    for sharing, partition in zip(SHARINGS, PARTITIONS, strict=True):
        assert_solved(data, AsyGCD(sharing, partition), n_threads)
        assert_solved(data, AsyAGCD(500, sharing, partition), n_threads)
        assert_solved(few, AsyORGCD(100, partition), n_threads)


@pytest.mark.slow
@real_threads
@pytest.mark.parametrize("make", [AsyGCD, AsyAGCD, AsyORGCD])
@every_set
def test_real_data_in_twenty_runs(name, n_threads, make):
    data = real_data(name, 300 if make is AsyORGCD else 5000 if name == "california_housing-svor" else 1000)
    for run in range(20):
        options = {"partition": PARTITIONS[run // 2 % 2]}
        if make is not AsyORGCD:
            options["sharing"] = SHARINGS[run % 2]
        assert_solved(data, make(**options), n_threads)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [AsyGCD(), AsyAGCD(), AsyORGCD()], ids=lambda solver: solver.name)
@every_set
def test_real_data_to_a_primal_objective_within_1e_4(name, solver):
    assert_solved(real_data(name, 500 if isinstance(solver, AsyORGCD) else 5000), solver, 2, tol=1e-4)


# Limits


def endless(n: int = 600) -> tuple[Problem, np.ndarray, Kernel]:
    """With C = 1e6 and random labels no solver here is done within minutes."""
    X = np.random.default_rng(0).normal(size=(n, 5))
    return formulations.svor(np.arange(n) % 4, 4, 1e6), X, RBF(0.2)


def stopped_run(solver: Solver, status: str, **limits):
    problem, X, kernel = endless()
    result = solve(problem, matrix_of(kernel, X), solver, Control(tol=1e-6, n_threads=2, **limits)).result
    assert result.status == status
    assert_honest(problem, kernel(X, X) @ problem.beta(result.alpha), result)
    return result


@each_of_three
@pytest.mark.parametrize("max_iter", [0, 1, 1000])
def test_max_iter_stops_a_run(solver, max_iter):
    result = stopped_run(solver, "max_iter", max_iter=max_iter)
    assert max_iter <= result.n_iter <= max_iter + 1  # two threads may take the last step at once


@each_of_three
def test_a_time_limit_stops_a_run(solver):
    started = time.monotonic()
    result = stopped_run(solver, "time_limit", time_limit=0.3)
    assert time.monotonic() - started < 3.0
    assert result.n_iter > 0
    assert result.alpha.any()
    assert result.seconds >= 0.3


@each_of_three
def test_a_callback_stops_a_run(solver):
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 2

    result = stopped_run(solver, "callback", callback=callback, report_every=1000)
    assert result.history == tuple(seen)
    assert 1000 <= seen[0].n_iter < seen[1].n_iter <= result.n_iter


class OddError(Exception):
    """One that the library cannot know."""


@each_of_three
def test_an_exception_in_the_callback_reaches_the_caller(solver):
    raised = OddError()

    def callback(progress):
        raise raised

    problem, X, kernel = endless()
    threads = psutil.Process().num_threads()
    with pytest.raises(OddError) as caught:
        solve(problem, matrix_of(kernel, X), solver, Control(1e-6, callback=callback, n_threads=2))
    assert caught.value is raised
    assert psutil.Process().num_threads() <= threads


@each_of_three
@pytest.mark.parametrize("good_rows", [0, 3, 40])
def test_an_exception_in_the_kernel_reaches_the_caller(solver, good_rows):
    """From whichever thread it comes; the kernel matrix serves the next fit."""
    raised, rows, broken = OddError(), [], True

    def kernel(A, B):
        if len(A) == 1:
            rows.append(0)
            if broken and len(rows) > good_rows:
                raise raised
        return RBF(0.5)(A, B)

    problem, X = random_problem(15, 80)
    matrix, threads = matrix_of(Custom(kernel), X), psutil.Process().num_threads()
    with pytest.raises(OddError) as caught:
        solve(problem, matrix, solver, Control(n_threads=2))
    assert caught.value is raised
    assert good_rows < len(rows) <= good_rows + 2
    assert psutil.Process().num_threads() <= threads
    broken = False
    result = solve(problem, matrix, solver, Control(n_threads=2)).result
    assert result.converged
    assert_honest(problem, RBF(0.5)(X, X) @ problem.beta(result.alpha), result)


INTERRUPTED_CHILD = """
import sys, threading, time
import numpy as np
from ordsvm import formulations
from ordsvm.kernels import RBF, Custom
from ordsvm.solvers import AsyAGCD, AsyGCD, AsyORGCD, Control, KernelMatrix, solve

X = np.random.default_rng(0).normal(size=(1500, 5))
problem = formulations.svor(np.arange(1500) % 4, 4, 1e6)
solver = {solver}

def frames():
    frame, names = sys._current_frames()[threading.main_thread().ident], []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names

def announce():
    while "native" not in frames():
        time.sleep(0.01)
    time.sleep(0.2)
    print("begun" if "native" in frames() else "too late", flush=True)

threading.Thread(target=announce, daemon=True).start()
try:
    solve(problem, KernelMatrix({kernel}.rows(X), 0.5), solver, Control(tol=1e-6, n_threads=2))
except KeyboardInterrupt:
    print("interrupted", threading.active_count(), flush=True)
y = np.digitize(X[:90, 0], [-0.5, 0.5])
later = solve(formulations.svor(y, 3, 1.0), KernelMatrix(RBF(0.3).rows(X[:90])), solver, Control(n_threads=2)).result
print(later.status, flush=True)
"""


@pytest.mark.parametrize(
    ("solver", "kernel"),
    [
        ("AsyGCD()", "RBF(0.2)"),
        ("AsyGCD('atomic')", "Custom(lambda A, B: RBF(0.2)(A, B))"),
        ("AsyAGCD(50)", "RBF(0.2)"),
        ("AsyORGCD()", "Custom(lambda A, B: RBF(0.2)(A, B))"),
    ],
)
def test_ctrl_c_interrupts_at_once_and_leaves_the_interpreter_healthy(solver, kernel):
    code = INTERRUPTED_CHILD.replace("{solver}", solver).replace("{kernel}", kernel)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "begun\n", child.stderr.read()
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        answer = child.stdout.readline()
        elapsed = time.monotonic() - sent
        rest, errors = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert re.fullmatch(r"interrupted \d\n", answer), errors
    assert elapsed < 3.0
    assert (rest, errors, child.returncode) == ("converged\n", "", 0)


# Memory and threads

MEMORY_CHILD = """
import re, sys
from pathlib import Path
import numpy as np, psutil
from ordsvm import formulations
from ordsvm.kernels import RBF
from ordsvm.solvers import AsyAGCD, AsyGCD, AsyORGCD, Control, KernelMatrix, solve

solver, cache_size = eval(sys.argv[1]), float(sys.argv[2])
rng = np.random.default_rng(0)

def run(n):
    X, problem = rng.normal(size=(n, 50)), formulations.svor(np.arange(n) % 4, 4, 10.0)
    before = psutil.Process().memory_info().rss
    control = Control(max_iter=4_000, n_threads=2)
    return before, solve(problem, KernelMatrix(RBF(0.02).rows(X), cache_size), solver, control).result

run(500)
before, result = run(8000)
peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print((peak - before) / 2**20, result.kernel_rows)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="The peak of a process is read from /proc.")
@pytest.mark.parametrize("solver", ["AsyGCD()", "AsyAGCD(200, 'atomic')", "AsyORGCD()"])
def test_the_peak_of_a_run_stays_within_cache_size(solver):
    """Beside the cache: a copy of X (3 MB), 24,000 hinges in the table and in blocks (1 MB each), arrays of n."""
    cache_size = 20.0
    command = [sys.executable, "-c", MEMORY_CHILD, solver, str(cache_size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    growth, kernel_rows = map(float, done.stdout.split())
    assert kernel_rows * 8000 * 4 / 2**20 > cache_size + 30  # a cache without a bound would be found out
    assert 0.9 * cache_size < growth < cache_size + 20


@every_variant
def test_eight_threads_share_a_cache_of_two_rows(solver):
    problem, X = random_problem(16, 100)
    two_rows = 2 * 8 * 100 / 2**20
    result = solve(problem, matrix_of(RBF(0.5), X, two_rows), solver, Control(1e-2, n_threads=8)).result
    assert result.converged
    assert result.kernel_rows > 200
    assert_honest(problem, RBF(0.5)(X, X) @ problem.beta(result.alpha), result)


def test_runs_at_once_in_threads():
    """Two threads each, four at a time, with kernels in C++ and in Python; AsyORGCD gives the same bits as alone."""
    jobs = [(name, solver, custom) for name in ("svor", "svr-none") for solver in THREE for custom in (False, True)]

    def run(job):
        name, solver, custom = job
        problem, X = random_problem(17, 150, name)
        kernel = Custom(lambda A, B: RBF(0.5)(A, B)) if custom else RBF(0.5)
        result = solve(problem, matrix_of(kernel, X, 0.1), solver, Control(n_threads=2)).result
        assert result.converged
        assert_honest(problem, RBF(0.5)(X, X) @ problem.beta(result.alpha), result)
        return result.alpha

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, jobs))
    for job, alpha in zip(jobs, together, strict=True):
        if isinstance(job[1], AsyORGCD):
            np.testing.assert_array_equal(alpha, run(job))


@each_of_three
def test_a_hundred_runs_leave_no_threads_and_no_memory_behind(solver):
    X = np.random.default_rng(0).normal(size=(150, 60))
    problem, process = formulations.svor(np.arange(150) % 4, 4, 1.0), psutil.Process()

    def resident_after(n_runs):
        for _ in range(n_runs):
            solve(problem, matrix_of(RBF(0.02), X.copy()), solver, Control(max_iter=300, n_threads=3))
        gc.collect()
        return process.memory_info().rss

    before, threads = resident_after(30), process.num_threads()
    assert (resident_after(100) - before) / 2**20 < 3.0  # data and cache of a run have 160 KB
    assert process.num_threads() <= threads


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
    run = Run(problem, matrix_of(RBF(0.5), X), control, None)
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


@each_of_three
def test_only_box_problems_are_taken(solver):
    assert solver.accepts == {Treatment.NONE, Treatment.PENALIZED}


# Where they fall short today


@pytest.mark.parametrize("thresholds", [NONE, PENALIZED])
@pytest.mark.parametrize(
    "solver", [AsyGCD(), AsyGCD("atomic"), AsyAGCD(), AsyAGCD(20), AsyORGCD()], ids=lambda solver: str(solver)
)
def test_scores_too_large_for_float32(solver, thresholds):
    """Prices in dollars: scores of 1e6 are 0.06 apart in float32. The serial solver goes on in float64."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    price = 1e6 * (np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80))
    problem = formulations.svr(price, 1e3, 1e6, thresholds)
    assert solve(problem, matrix_of(RBF(0.3), X), GCD(), Control(time_limit=2.0)).result.converged
    result = solve(problem, matrix_of(RBF(0.3), X), solver, Control(time_limit=2.0, max_iter=10_000_000)).result
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
    """With room for all rows none is computed twice; going over to float64 would compute them anew."""
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
        slope = problem.slope(score, problem.best_thresholds(result.alpha, score))
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
    result = solve(problem, matrix, AsyAGCD(), control, start=problem.hinges.cap).result
    assert result.status == "time_limit"
    assert calls.count(1) < 150  # single rows; the 300 rows for the proof come in blocks


def test_asyorgcd_keeps_its_steps_when_it_is_stopped():
    problem, X = random_problem(23, 300)
    matrix, control = matrix_of(slow_kernel(0.005, []), X, 0.05), Control(n_threads=2, time_limit=0.5)
    result = solve(problem, matrix, AsyORGCD(), control).result
    assert result.status == "time_limit"
    assert result.alpha.any()
