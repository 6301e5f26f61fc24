"""The interior-point method on workers: sums of shards add up, α that are lost are made again, rounds are the same."""

import pickle

import numpy as np
import pytest

pytest.importorskip("distributed")
import dask.array as da
from distributed import Client

import ordsvm
from ordsvm import distributed as on_dask
from ordsvm.distributed.feature_rounds import DistributedNewton
from ordsvm.distributed.feature_shard import Pass, ShardSystem, total
from ordsvm.distributed.shard import Job, Shard
from ordsvm.distributed.shards import WorkerLost
from ordsvm.formulations import linear as table
from ordsvm.problem.label_table import LabelTable
from ordsvm.solvers.auto import LinearRows, Work, auto
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.linear.losses import certificate, losses
from ordsvm.solvers.linear.solve import SampleColumns
from tests.cases import N_RANKS, random_data

TABLES = {"npsvor": table.npsvor(N_RANKS, 0.5, 0.7, 0.1), "svor": table.svor(N_RANKS, 0.5)}
every_table = pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)


def shard_of(X, y) -> Shard:
    return Shard([X[:7], X[7:]], SampleColumns(y.astype(np.int32), np.empty(0), X.shape[1]))


class LocalShards:
    """What `Shards` does, at once and in this process."""

    def __init__(self, shards):
        self.shards, self.places = shards, list(range(len(shards)))

    def __len__(self):
        return len(self.shards)

    def each(self, function, *columns):
        return [function(*given) for given in zip(self.shards, *columns, strict=True)]

    def on(self, place, function, *arguments):
        return function(*arguments)

    def nodes(self, parts, total):
        return list(zip(self.places, parts, strict=True)), []

    def results(self, futures):
        return futures


def newton_of(rows, X, y, *ends, tol=1e-5, kind=LocalShards, monkeypatch):
    """The fit of shards that end at these rows."""
    monkeypatch.setattr("ordsvm.distributed.feature_rounds.release", lambda *futures: None)
    starts = (0, *ends[:-1])
    shards = kind([shard_of(X[a:b], y[a:b]) for a, b in zip(starts, ends, strict=True)])
    job = Job(rows, X.shape[1], n_samples=len(X))
    task = FeatureTask(rows, y.astype(np.int32))
    return DistributedNewton(shards, job, task, Control(tol=tol, max_iter=100))


@every_table
def test_any_number_of_shards_takes_the_same_rounds(rows, monkeypatch):
    X, y = random_data(0, n=90)
    found = [newton_of(rows, X, y, *ends, monkeypatch=monkeypatch).solve() for ends in ((90,), (40, 90), (20, 45, 90))]
    assert len({solution.result.n_iter for solution in found}) == 1
    assert all(solution.result.converged for solution in found)
    for solution in found[1:]:
        np.testing.assert_allclose(solution.coef, found[0].coef, rtol=1e-9, atol=1e-12)


def assert_proof_is_of(newton, solution, X, y):
    """The result is about the dual variables as the shards have them."""
    rows, beta = newton.task.table, np.concatenate(newton.betas())
    loss = losses(rows, y, None, None, False)
    proof = certificate(X, beta, loss, newton.task.table.shared, b=solution.intercept, coef=solution.coef)
    assert proof.dual == pytest.approx(solution.result.objective - solution.result.gap, rel=1e-12)
    assert proof.primal == pytest.approx(solution.result.objective, rel=1e-12)


class LosingShards(LocalShards):
    """One shard is lost in the round `when`, and all that was kept of it."""

    when, n_rounds = 0, 0

    def results(self, futures):
        self.n_rounds += 1
        if self.n_rounds == self.when:
            raise WorkerLost
        return futures

    def move_lost(self):
        return [0]

    def of(self, number, function, *arguments):
        return function(self.shards[number], *arguments)


@every_table
@pytest.mark.parametrize("when", [1, 2, 5, 10])
def test_a_lost_worker_costs_a_round_and_changes_nothing(rows, when, monkeypatch):
    X, y = random_data(0, n=90)
    whole = newton_of(rows, X, y, 40, 90, monkeypatch=monkeypatch).solve()
    monkeypatch.setattr(LosingShards, "when", when)
    newton = newton_of(rows, X, y, 40, 90, kind=LosingShards, monkeypatch=monkeypatch)
    solution = newton.solve()
    assert newton.core._shards.n_rounds == solution.result.n_iter + 1
    assert solution.result.n_iter == whole.result.n_iter
    np.testing.assert_array_equal(solution.coef, whole.coef)
    assert_proof_is_of(newton, solution, X, y)


def uneven(rows: LabelTable) -> LabelTable:
    """The first lane is done before the others."""
    factor = np.where(np.arange(rows.n_columns) == 0, 0.05, 1.0)
    return LabelTable(rows.lower * factor, rows.upper * factor, rows.offset, rows.epsilon)


def rests(newton) -> bool:
    """Whether a weight vector waits for others."""
    return any(path.rests for path in newton.paths) and not all(path.rests for path in newton.paths)


@pytest.mark.parametrize(
    ("rows", "is_time"),
    [
        *((rows, lambda newton: newton.n_iter == 4) for rows in TABLES.values()),
        (uneven(TABLES["npsvor"]), rests),
    ],
)
def test_alpha_without_the_passes_so_far_are_made_by_the_next_one(rows, is_time, monkeypatch):
    """Then they are others, and the proof is about these."""
    X, y = random_data(0, n=90)
    newton = newton_of(rows, X, y, 40, 90, monkeypatch=monkeypatch)
    begin_pass, lost = newton._begin_pass, []

    def lose_one():
        if not lost and is_time(newton):
            lost.append(newton.n_iter)
            newton.core._systems[0] = ShardSystem(newton.core._shards.shards[0], newton.core._job)
        begin_pass()

    monkeypatch.setattr(newton, "_begin_pass", lose_one)
    solution = newton.solve()
    assert lost
    assert solution.result.converged
    assert_proof_is_of(newton, solution, X, y)


def test_a_pass_may_be_repeated():
    X, y = random_data(0, n=60)
    job = Job(TABLES["svor"], X.shape[1])
    system, twice = ShardSystem(shard_of(X, y), job), ShardSystem(shard_of(X, y), job)
    m, nothing = N_RANKS - 1, np.zeros((1, X.shape[1]))
    first = Pass(0, (), nothing, nothing, np.zeros((2, m)), np.array([[0.0, 1.0, 1.0, 1.0]]))
    change = np.full_like(nothing, 0.1)
    second = Pass(1, (0,), nothing, change, np.zeros((2, m)), np.array([[1.0, 1.0, 0.5, 0.0]]))
    for order in (first, second):
        twice.add_up(order)
        once, again = system.add_up(order), twice.add_up(order)
        np.testing.assert_array_equal(once.panels, again.panels)
        np.testing.assert_array_equal(once.hinges, again.hinges)
        assert not again.remade
    np.testing.assert_array_equal(system.beta(2, (0,)), twice.beta(2, (0,)))
    np.testing.assert_array_equal(system.beta(2, (0,)), system.beta(2, (0,)))
    moved = pickle.loads(pickle.dumps(system))  # to another worker
    assert moved.beta(2, (0,)) is None
    np.testing.assert_array_equal(moved.add_up(second).panels, once.panels)
    np.testing.assert_array_equal(system.beta(2, (0,)), moved.beta(2, (0,)))
    assert ShardSystem(shard_of(X, y), job).add_up(second).remade


def test_sums_add_up_but_for_the_largest_violation():
    X, y = random_data(0, n=60)
    job = Job(TABLES["npsvor"], X.shape[1])
    n, steps = N_RANKS, np.array([[0.0, 1.0, 1.0, 1.0]] * N_RANKS)
    weights = np.random.default_rng(0).normal(size=(n, X.shape[1] + 1))
    order = Pass(0, (), weights, np.zeros_like(weights), np.zeros((2, 0)), steps)
    whole, *parts = (
        ShardSystem(shard_of(X[own], y[own]), job).add_up(order) for own in (slice(60), slice(25), slice(25, 60))
    )
    added = total(*parts)
    np.testing.assert_allclose(added.panels, whole.panels, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(added.hinges, whole.hinges, rtol=1e-12)


def test_auto_adds_up_sums_of_features_unless_rows_are_wide():
    tall = LinearRows(100_000, 50, 50.0, 1, 50.0, 1e-3, n_shards=4)
    text = LinearRows(35_000, 300_000, 80.0, 1, 1.0, 1e-2, n_shards=4)
    many = tall._replace(n_features=2000, n_values=20.0, n_vectors=100)
    assert [auto(Work("distributed", rows=rows)).name for rows in (tall, text, many)] == [
        "linear-interior-point",
        "cocoa",
        "cocoa",
    ]
    assert auto(Work("distributed")).name == "cocoa"


@pytest.mark.parametrize("n_workers", [1, 4])
def test_rounds_on_a_cluster_are_those_of_one_machine(n_workers):
    X, y = random_data(0, n=400, n_features=6)
    alone = ordsvm.LinearSVOR(C=10, tol=1e-6, solver="linear-interior-point").fit(X, y)
    options = {"n_workers": n_workers, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with Client(**options) as client:
        model = on_dask.LinearSVOR(C=10, tol=1e-6)
        model.fit(da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50), client=client)
    assert model.result_.solver == "linear-interior-point"
    assert model.n_iter_ == alone.n_iter_
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-8)
    assert ordsvm.certify(model, X, y).relative_gap <= 1e-6
