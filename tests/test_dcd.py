"""DCD-1 and DCD-2 for linear NPSVOR: the twins' steps, the oracle's optimum, certificates, limits, kinds of data."""

import dataclasses
import re
import signal

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.datasets import DataMissing, svmlight
from ordsvm import LinearNPSVOR, certify, formulations
from ordsvm.formulations.linear import binary, npsvor, one_vs_rest
from ordsvm.linear import DCD1, DCD2
from ordsvm.problem import Treatment
from ordsvm.solvers import Control, recorder
from ordsvm.solvers.linear.solve import solve_linear
from tests.cases import N_RANKS, random_data
from tests.oracle import dual_optimum
from tests.process_cases import Program
from tests.reference.dcd1 import dcd1
from tests.reference.dcd2 import dcd2

SOLVERS = [DCD1(), DCD1(permute=True, seed=3), DCD2(), DCD2(shrinking=False, seed=3)]
C1, C2, EPSILON = 1.5, 0.6, 0.2
TABLE = npsvor(N_RANKS, C1, C2, EPSILON)
TIGHT = Control(tol=1e-9)


def data(seed=0, n=40, **options):
    X, y = random_data(seed, n=n, **options)
    return X, y.astype(np.int32)


def solve(X, y, table=TABLE, solver=SOLVERS[2], control=TIGHT, **options):
    return solve_linear(X, y, table, solver=solver, control=control, **options)


def with_one(X):
    return np.column_stack([X, np.ones(len(X))])


def rank_problem(y, rank, weight, intercept, table=(C1, C2, EPSILON)):
    """The same machine as a table of hinges, for the judge of the whole library."""
    problem = formulations.npsvor(y, rank, table[2], table[0] * weight, table[1] * weight)
    return problem if intercept else dataclasses.replace(problem, treatment=Treatment.NONE)


def alpha_of(problem, beta):
    return np.maximum(problem.hinges.sign * beta[problem.hinges.sample], 0.0)


# The twins


def assert_same_steps(solver, twin, eps_s):
    """Epoch by epoch, up to the end by the paper's rule alone: with tol = 1 every gap is small enough."""
    X, y = data(1)
    for max_iter in (0, 1, 2, 3, 5, 10, 100, 10_000):
        solution = solve(X, y, solver=solver, control=Control(tol=1.0, max_iter=max_iter))
        twins = [twin(with_one(X), y, rank, C1, C2, EPSILON, eps_s, max_iter) for rank in range(N_RANKS)]
        np.testing.assert_allclose(solution.beta.array(), np.transpose([beta for beta, _ in twins]), rtol=0, atol=1e-12)
        assert solution.result.n_iter == max(epochs for _, epochs in twins)
    assert solution.result.converged
    assert solution.result.n_iter < max_iter


@pytest.mark.parametrize("eps_s", [0.3, 1e-4])
@pytest.mark.parametrize("seed", [None, 0, 7])
def test_dcd1_takes_the_steps_of_its_twin(seed, eps_s):
    solver = DCD1(eps_s=eps_s, permute=seed is not None, seed=seed or 0)
    assert_same_steps(solver, lambda *arguments: dcd1(*arguments, seed), eps_s)


@pytest.mark.parametrize("eps_s", [0.1, 1e-4])
@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("seed", [0, 7])
def test_dcd2_takes_the_steps_of_its_twin(seed, shrinking, eps_s):
    def twin(*arguments):
        beta, sizes = dcd2(*arguments, seed, shrinking)
        return beta, len(sizes)

    assert_same_steps(DCD2(eps_s=eps_s, shrinking=shrinking, seed=seed), twin, eps_s)


def test_dcd2_leaves_samples_out_and_takes_them_back():
    X, y = data(1)
    _, sizes = dcd2(with_one(X), y, 1, C1, C2, EPSILON, 1e-4, 10_000, 0, True)
    lane = TABLE.columns(slice(1, 2))
    history = solve(X, y, lane, DCD2(eps_s=1e-4), Control(tol=1.0, report_every=1)).result.history
    assert [progress.n_active for progress in history] == sizes[:-1]  # the end comes before the last look
    assert min(sizes) < len(y) // 2
    assert np.flatnonzero(np.diff(sizes) > 0).size > 0  # some came back
    assert sizes[-2:] == [len(y), len(y)]  # the last epoch was over all


# The optimum


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "parameters", [(C1, C2, EPSILON), (0.3, 2.0, 0.0), (2.0, 0.1, 0.5), (1.0, 1.0, 1.5), (20.0, 20.0, 0.1)], ids=str
)
def test_objective_and_weights_of_the_oracle(parameters, intercept, solver):
    X, y = data(2)
    weight = np.random.default_rng(5).uniform(0.2, 3.0, len(y))
    weight[::7] = 0.0
    solution = solve(X, y, npsvor(N_RANKS, *parameters), solver, weight=weight, intercept=intercept)
    assert solution.result.converged
    optimum = 0.0
    for rank in range(N_RANKS):
        problem = rank_problem(y, rank, weight, intercept, parameters)
        best = dual_optimum(problem, X @ X.T)
        optimum += best.objective
        np.testing.assert_allclose(solution.coef[:, rank], X.T @ problem.beta(best.alpha), atol=3e-4)
        np.testing.assert_allclose(solution.intercept[rank], -best.b[0], atol=3e-4)
    assert solution.result.objective == pytest.approx(optimum, rel=1e-6)
    assert np.all(solution.beta.array()[::7] == 0)
    if not intercept:
        assert np.all(solution.intercept == 0)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("max_iter", [0, 3, -1])
@pytest.mark.parametrize("intercept", [True, False])
def test_certificate_is_the_librarys(intercept, max_iter, solver):
    """Primal, dual and violation are those of `ordsvm.problem` for the same variables, wherever it ended."""
    X, y = data(3)
    weight = np.random.default_rng(6).uniform(0.0, 2.0, len(y))
    control = Control(tol=1e-6, max_iter=max_iter)
    solution = solve(X, y, solver=solver, weight=weight, intercept=intercept, control=control)
    problems = [rank_problem(y, rank, weight, intercept) for rank in range(N_RANKS)]
    proofs = [
        problem.certificate(alpha_of(problem, beta), X @ (X.T @ beta), b=np.array([-bias]))
        for problem, beta, bias in zip(problems, solution.beta.array().T, solution.intercept, strict=True)
    ]
    result = solution.result
    assert result.objective == pytest.approx(sum(proof.primal for proof in proofs), rel=1e-12)
    assert result.gap == pytest.approx(sum(proof.primal - proof.dual for proof in proofs), rel=1e-6, abs=1e-9)
    assert result.relative_gap == pytest.approx(result.gap / result.objective)
    assert result.violation == pytest.approx(max(proof.violation for proof in proofs), abs=1e-12)
    np.testing.assert_allclose(solution.coef, X.T @ solution.beta.array(), atol=1e-12)
    np.testing.assert_allclose(solution.intercept, intercept * solution.beta.array().sum(axis=0), atol=1e-12)
    np.testing.assert_array_equal(result.alpha, solution.beta.array().ravel())
    assert result.converged == (result.relative_gap <= 1e-6) == (max_iter < 0)


@pytest.mark.parametrize("solver", [DCD1(), DCD2()], ids=str)
def test_weight_two_is_a_row_twice_and_weight_zero_no_row(solver):
    X, y = data(4)
    weight = np.random.default_rng(7).integers(0, 3, len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted, repeated = solve(X, y, solver=solver, weight=weight), solve(X[rows], y[rows], solver=solver)
    assert weighted.result.objective == pytest.approx(repeated.result.objective, rel=1e-8)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_a_gap_that_rounding_keeps_open(solver):
    X, y = data(5)
    result = solve(X, y, solver=solver, control=Control(tol=1e-16)).result
    assert result.status == "precision"
    assert result.relative_gap < 1e-11
    assert result.violation < 1e-10


@pytest.mark.parametrize("solver", ["dcd-1", "dcd-2", DCD2(shrinking=False)])
def test_as_solvers_of_the_estimator(solver):
    X, y = data(15)
    model = LinearNPSVOR(solver=solver, tol=1e-5, random_state=1).fit(X, y)
    other = LinearNPSVOR(solver="rank-dcd", tol=1e-5).fit(X, y)
    proof = certify(model, X, y)
    assert model.result_.solver == (solver if isinstance(solver, str) else "dcd-2")
    assert proof.relative_gap <= 1e-5
    assert proof.primal == pytest.approx(other.result_.objective, rel=2e-5)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_real_ratings():
    """Stanford's treebank: sentences with five grades of sentiment."""
    try:
        X, y = svmlight("treebank")
    except DataMissing as reason:
        pytest.skip(str(reason))
    X, y = X[:1500], np.unique(y[:1500], return_inverse=True)[1].astype(np.int32)
    table = npsvor(5, 1.0, 1.0, 0.1)
    results = [solve(X, y, table, solver, Control(tol=1e-3)).result for solver in (DCD1(permute=True), DCD2())]
    assert all(result.converged and result.relative_gap <= 1e-3 for result in results)
    lower = max(result.objective - result.gap for result in results)
    assert all(result.objective >= lower for result in results)


# Every kind of data


def same(solution, other, atol):
    np.testing.assert_allclose(solution.beta.array(), other.beta.array(), rtol=0, atol=atol)
    assert solution.result.n_iter == other.result.n_iter
    assert solution.result.objective == pytest.approx(other.result.objective, rel=1e-9)


def sparse_data(seed=0):
    """With empty rows, and values that float32 holds."""
    X, y = data(seed, n_features=6)
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.5, np.float32(X), 0.0)
    X[[0, 5, len(y) - 1]] = 0.0
    return X, y


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_and_sparse_in_both_precisions(dtype, intercept, solver):
    X, y = sparse_data()
    control = Control(tol=1e-4)
    expected = solve(X, y, solver=solver, control=control, intercept=intercept)
    assert expected.result.converged
    same(solve(X.astype(dtype), y, solver=solver, control=control, intercept=intercept), expected, 1e-9)
    for kind in (sp.csr_matrix, sp.csr_array):
        rows = kind(X.astype(dtype))
        for index in (np.int32, np.int64):
            rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
            same(solve(rows, y, solver=solver, control=control, intercept=intercept), expected, 1e-9)


@pytest.mark.parametrize("solver", [DCD1(), DCD2()], ids=str)
def test_duplicates_zeros_and_unsorted_indices(solver):
    """Every value in two parts, in any order, with zeros stored between them."""
    X, y = sparse_data(1)
    plain, random = sp.csr_matrix(X), np.random.default_rng(1)
    values, columns, starts = [], [], [0]
    for i in range(len(y)):
        own = slice(plain.indptr[i], plain.indptr[i + 1])
        part = random.normal(size=own.stop - own.start)
        value = np.concatenate([part, plain.data[own] - part, np.zeros(2)])
        column = np.concatenate([plain.indices[own], plain.indices[own], random.integers(0, X.shape[1], 2)])
        order = random.permutation(len(value))
        values, columns = [*values, *value[order]], [*columns, *column[order]]
        starts.append(len(values))
    messy = sp.csr_matrix((values, columns, starts), shape=X.shape)
    assert not messy.has_canonical_format
    before = messy.copy()
    same(
        solve(messy, y, solver=solver, control=Control(tol=1e-4)),
        solve(X, y, solver=solver, control=Control(tol=1e-4)),
        1e-9,
    )
    np.testing.assert_array_equal(messy.indices, before.indices)  # left as it was


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_no_features_and_nothing_but_zeros(make, solver):
    """Only the bias is left, or nothing: then every other rank costs C2 a sample."""
    _, y = data(6)
    for X in (np.zeros((len(y), 3)), np.zeros((len(y), 0))):
        only_bias = solve(make(X), y, solver=solver)
        best = sum(
            dual_optimum(rank_problem(y, rank, np.ones(len(y)), True), np.zeros((len(y), len(y)))).objective
            for rank in range(N_RANKS)
        )
        assert only_bias.result.converged
        assert only_bias.result.objective == pytest.approx(best, rel=1e-6)
        nothing = solve(make(X), y, solver=solver, intercept=False)
        assert nothing.result.converged
        assert nothing.result.objective == pytest.approx(C2 * len(y) * (N_RANKS - 1))
        assert nothing.result.violation == 0


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_one_rank_only(solver):
    """Every sample's target is a score of 0."""
    X, y = data(7)
    solution = solve(X, np.zeros_like(y), npsvor(1, C1, C2, EPSILON), solver)
    assert solution.result.converged
    assert solution.result.objective == solution.result.gap == 0
    assert not solution.coef.any()


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_ranks_are_independent(solver):
    """Some lanes of a table, in any order, are solved as they are among all; with any number of threads."""
    X, y = data(8, n=600)
    control = Control(tol=1.0, max_iter=7)
    whole = solve(X, y, solver=solver, control=control)
    lanes = [2, 0]
    some = TABLE.columns(lanes)
    np.testing.assert_array_equal(solve(X, y, some, solver, control).beta.array(), whole.beta.array()[:, lanes])
    for n_threads in (2, 3, 9):
        threaded = solve(X, y, solver=solver, control=dataclasses.replace(control, n_threads=n_threads))
        np.testing.assert_array_equal(threaded.beta.array(), whole.beta.array())


# Limits and reports


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_limits(solver):
    X, y = data(9)
    none = solve(X, y, solver=solver, control=Control(max_iter=0)).result
    assert (none.status, none.n_iter, none.relative_gap) == ("max_iter", 0, pytest.approx(1.0))
    some = solve(X, y, solver=solver, control=Control(tol=1e-9, max_iter=4)).result
    assert (some.status, some.n_iter) == ("max_iter", 4)
    assert 1e-9 < some.relative_gap < 1
    late = solve(X, y, solver=solver, control=Control(time_limit=0.0)).result
    assert (late.status, late.n_iter) == ("time_limit", 0)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_callback_sees_every_epoch_changes_nothing_and_may_stop(solver):
    X, y = data(10)
    seen = []
    quiet = solve(X, y, solver=solver, control=Control(tol=1e-6))
    watched = solve(X, y, solver=solver, control=Control(tol=1e-6, callback=seen.append, report_every=1))
    np.testing.assert_array_equal(watched.beta.array(), quiet.beta.array())
    assert watched.result.history == tuple(seen)
    assert [progress.n_iter for progress in seen] == list(range(1, len(seen) + 1))
    assert all(progress.gap >= quiet.result.objective * -1e-12 for progress in seen)
    duals = np.array([progress.objective - progress.gap for progress in seen])
    assert np.all(np.diff(duals) > -1e-9)  # descent
    stopped = solve(X, y, solver=solver, control=Control(tol=1e-9, callback=lambda p: p.n_iter == 3, report_every=1))
    assert (stopped.result.status, stopped.result.n_iter) == ("callback", 3)


def large(n=60_000):
    """Enough for several looks a second in the midst of epochs."""
    X, y = data(11, n=n, n_features=40)
    return X, y


def test_pauses_in_the_midst_of_epochs_change_nothing(monkeypatch):
    monkeypatch.setattr(recorder, "LOOK_INTERVAL", 0.01)  # or a fast processor has no look at all
    X, y = large()
    control = Control(tol=1.0, max_iter=12)
    seen = []
    watched = solve(X, y, solver=DCD2(eps_s=1e-3), control=dataclasses.replace(control, callback=seen.append))
    unwatched = Control(tol=1.0, max_iter=12, report_every=1000)
    np.testing.assert_array_equal(
        watched.beta.array(), solve(X, y, solver=DCD2(eps_s=1e-3), control=unwatched).beta.array()
    )
    assert len(seen) > 0


@pytest.mark.parametrize("solver", [DCD1(eps_s=1e-9), DCD2(eps_s=1e-9)], ids=str)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_time_limit_leaves_a_certified_model(solver, n_threads):
    X, y = large()
    solution = solve(X, y, solver=solver, control=Control(tol=1e-9, time_limit=0.3, n_threads=n_threads))
    result = solution.result
    assert result.status == "time_limit"
    assert 1e-9 < result.relative_gap < 1
    np.testing.assert_allclose(solution.coef, X.T @ solution.beta.array(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("solver", [DCD1(eps_s=1e-9), DCD2(eps_s=1e-9)], ids=str)
def test_a_look_at_the_time_limit_is_no_stop_by_the_callback(solver, monkeypatch):
    monkeypatch.setattr(recorder, "LOOK_INTERVAL", 0.01)  # so that one is due whenever time is up
    X, y = large()
    seen = []
    control = Control(tol=1e-9, time_limit=0.3, callback=seen.append)
    assert solve(X, y, solver=solver, control=control).result.status == "time_limit"
    assert len(seen) > 0


def test_verbose(capsys):
    X, y = data(12)
    solve(X, y, control=Control(verbose=True, report_every=2))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 0
    assert all(re.match(r"\[dcd-2\] .* epochs  objective .* relative gap ", line) for line in lines)


INTERRUPTED_CHILD = """
import threading
import numpy as np
from ordsvm.linear import DCD1, DCD2
from ordsvm.solvers.linear.solve import solve_linear
from ordsvm.formulations.linear import npsvor
from ordsvm.solvers import Control
rng = np.random.default_rng(0)
X, y = rng.normal(size=(100_000, 30)), rng.integers(0, 4, 100_000).astype(np.int32)
try:
    print("ready", flush=True)
    solve_linear(X, y, npsvor(4, 1.0, 1.0, 0.1), solver={solver}(eps_s=1e-9), control=Control(tol=1e-12, n_threads=2))
except KeyboardInterrupt:
    print("interrupted", threading.active_count(), flush=True)
"""


@pytest.mark.parametrize("solver", ["DCD1", "DCD2"])
def test_ctrl_c(solver):
    code = INTERRUPTED_CHILD.replace("{solver}", solver)
    child = Program(code)
    try:
        assert child.line() == "ready\n", child.errors()
        child.send(signal.SIGINT)
        answer, errors, _ = child.end()
    finally:
        child.kill()
    assert answer == "interrupted 1\n", errors


# Errors


def test_other_machines_are_refused():
    X, y = data(13)
    changed = dataclasses.replace(TABLE, offset=TABLE.offset + 0.1)
    doubled = dataclasses.replace(TABLE, lower=2 * TABLE.lower, upper=2 * TABLE.upper, offset=2 * TABLE.offset)
    for table in (changed, doubled, one_vs_rest(N_RANKS, 1.0), binary(1.0)):
        with pytest.raises(ValueError, match="'dcd-2' solves NPSVOR with the hinge loss only: use solver='rank-dcd'"):
            solve(X, y, table)
    for option in ({"squared": True}, {"targets": np.zeros(len(y))}):
        with pytest.raises(ValueError, match="'dcd-1' solves NPSVOR with the hinge loss only"):
            solve(X, y, solver=DCD1(), **option)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DCD1(eps_s=0.0), "eps_s=0.0 is not valid: give a number between 0 and 1."),
        (lambda: DCD2(eps_s=1), "eps_s=1 is not valid: give a number between 0 and 1."),
        (lambda: DCD1(permute="yes"), "permute='yes' is not valid: give True or False."),
        (lambda: DCD2(shrinking=1), "shrinking=1 is not valid: give True or False."),
        (lambda: DCD2(seed=-1), "seed=-1 is not valid: give a whole number from 0 to 2**64 - 1."),
        (lambda: DCD1(seed=None), "seed=None is not valid: give a whole number from 0 to 2**64 - 1."),
    ],
)
def test_impossible_options(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
