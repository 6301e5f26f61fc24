"""Linear machines on a Dask cluster: the same machines as on one, with the same proof, however the rows are divided."""

import logging
import os
import signal
import subprocess
import sys
import time
from contextvars import Context
from weakref import WeakValueDictionary

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed")
import dask
import dask.array as da
import joblib
from distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

import ordsvm
from ordsvm import distributed as on_dask
from ordsvm.distributed.cluster import assigned
from tests.cases import few_in_the_middle, random_data

NAMES = ["LinearNPSVOR", "LinearSVOR", "LinearSVC", "LinearSVR"]
TOL = 0.02
every_solver = pytest.mark.parametrize("solver", ["cocoa", "linear-interior-point"])


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(silence_logs=logging.ERROR, **options) as cluster, Client(cluster) as client:
        yield client


def ranked(n: int = 200, seed: int = 0):
    return random_data(seed, n=n, n_features=5)


def chunks(array, *sizes):
    """A dask array of the same rows in blocks of these sizes."""
    return da.from_array(array, chunks=(sizes, *((-1,) * (array.ndim - 1))))


def assert_solved(model, X, y, tol=TOL, sample_weight=None):
    """By the judge of all machines, which trusts no solver; and as good as on one machine."""
    assert model.result_.status == "converged"
    proof = ordsvm.certify(model, X, y, sample_weight)
    assert proof.relative_gap <= tol
    assert proof.relative_gap == pytest.approx(model.result_.relative_gap, rel=1e-3, abs=1e-9)
    alone = getattr(ordsvm, type(model).__name__)(**(model.get_params() | {"tol": tol / 10, "solver": "auto"}))
    optimum = alone.fit(X, y, sample_weight).result_
    assert optimum.objective - optimum.gap <= model.result_.objective <= (1 + 1.2 * tol) * optimum.objective


def test_ranks_are_numbers_of_thresholds_below_the_score(client):
    """Zero-one costs and a rare rank disorder the thresholds; then the rule matters, here and on the workers."""
    X, y = few_in_the_middle()
    model = on_dask.LinearSVOR(cost="zero-one").fit(chunks(X, 100, 100), chunks(y, 100, 100), client=client)
    expected = np.sum(model.decision_function(X)[:, None] > model.thresholds_, axis=1)
    assert model.thresholds_[0] > model.thresholds_[1]
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.predict(chunks(X, 100, 100)).compute(), expected)


def test_the_score_of_two_ranks_is_cut_at_0(client):
    X, y = ranked()
    model = on_dask.LinearSVOR().fit(chunks(X, 100, 100), chunks(y > 2, 100, 100), client=client)
    assert_solved(model, X, y > 2)
    score = model.decision_function(chunks(X, 100, 100)).compute()
    np.testing.assert_array_equal(model.predict(X), score > 0)
    assert model.intercept_[0] != 0


@every_solver
@pytest.mark.parametrize("name", NAMES)
def test_dense_blocks_give_the_machine_of_all_rows(client, name, solver):
    X, y = ranked()
    y = y + 0.3 * np.sin(np.arange(len(y))) if name == "LinearSVR" else y
    model = getattr(on_dask, name)(C=0.1, tol=TOL, solver=solver).fit(chunks(X, 60, 60, 80), chunks(y, 60, 60, 80))
    assert model.result_.solver == solver
    assert_solved(model, X, y)
    together = model.predict(chunks(X, 100, 100)).compute()
    np.testing.assert_array_equal(together, model.predict(X))


@every_solver
@pytest.mark.parametrize("name", ["LinearNPSVOR", "LinearSVOR"])
def test_sparse_blocks_squared_losses_and_weights(client, name, solver):
    X, y = ranked(seed=1)
    X[np.abs(X) < 0.7] = 0.0
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    weight[:50] = 0.0  # the whole first block
    rows = sp.csr_array(X.astype(np.float32))
    pieces = [dask.delayed(lambda part: part)(rows[part]) for part in (slice(0, 50), slice(50, 200))]
    labels = [dask.delayed(lambda part: part)(y[part]) for part in (slice(0, 50), slice(50, 200))]
    options = {"loss": "squared_hinge", "class_weight": "balanced", "solver": solver}
    model = getattr(on_dask, name)(C=0.1, tol=TOL, **options)
    model.fit(pieces, labels, [dask.delayed(weight[:50]), dask.delayed(weight[50:])])
    assert_solved(model, rows, y, sample_weight=weight)
    divided = chunks(X.astype(np.float32), 120, 80).map_blocks(sp.csr_matrix)
    np.testing.assert_array_equal(model.predict(divided).compute(), model.predict(rows))


@every_solver
def test_ranks_in_one_block_only_empty_blocks_and_unequal_ones(client, solver):
    X, y = ranked(seed=2)
    order = np.argsort(y, kind="stable")  # so that a block has one or two ranks
    X, y = X[order], y[order]
    sizes = (0, 1, 0, 150, 3, 46, 0)
    model = on_dask.LinearSVOR(C=0.1, tol=TOL, solver=solver).fit(chunks(X, *sizes), chunks(y, *sizes))
    assert_solved(model, X, y)
    np.testing.assert_array_equal(model.predict(chunks(X, *sizes)).compute(), model.predict(X))


def test_data_frames_with_an_ordered_column(client):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = ranked(seed=3)
    names = np.array(["low", "middle", "high", "top"])
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["rank"] = pd.Categorical(names[y], categories=list(names), ordered=True)
    divided = dd.from_pandas(frame, npartitions=3)
    model = on_dask.LinearSVOR(C=0.1, tol=TOL).fit(divided[list("abcde")], divided["rank"])
    assert model.classes_.tolist() == names[: len(model.classes_)].tolist()
    assert model.feature_names_in_.tolist() == list("abcde")
    assert_solved(model, frame[list("abcde")], frame["rank"])
    with pytest.raises(ValueError, match="comes in 3 blocks and y in 2"):
        on_dask.LinearSVOR().fit(divided[list("abcde")], divided["rank"].repartition(npartitions=2))


def test_a_dask_array_of_csr_blocks_of_unknown_sizes(client):
    X, y = ranked(seed=7)
    X[np.abs(X) < 0.7] = 0.0
    rows = chunks(X, 80, 120).map_blocks(sp.csr_matrix, chunks=((np.nan, np.nan), (5,)))
    model = on_dask.LinearSVOR(C=0.1, tol=TOL).fit(rows, chunks(y, 80, 120))
    assert_solved(model, sp.csr_matrix(X), y)


@every_solver
def test_a_proof_that_stays_on_the_workers_is_in_the_result(client, monkeypatch, solver):
    X, y = ranked(n=60)
    monkeypatch.setattr("ordsvm.distributed.solution.DUAL_BYTES", 1000)
    model = on_dask.LinearSVC(C=0.1, tol=0.1, solver=solver).fit(chunks(X, 30, 30), chunks(y, 30, 30))
    assert model.result_.relative_gap <= 0.1
    with pytest.raises(ValueError, match="stayed on the workers"):
        ordsvm.certify(model, X, y)


@every_solver
def test_nothing_is_left_on_the_workers(client, solver):
    X, y = ranked(n=60)
    on_dask.LinearSVC(C=0.1, tol=0.1, solver=solver).fit(chunks(X, 30, 30), chunks(y, 30, 30))
    deadline = time.monotonic() + 10
    while (left := client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.05)
    assert left == 0


def test_tuples_of_rows_and_labels(client):
    X, y = ranked(seed=4)
    blocks = [dask.delayed(lambda part: part)((X[part], y[part])) for part in (slice(0, 70), slice(70, 200))]
    model = on_dask.LinearSVC(tol=TOL).fit(blocks)
    assert_solved(model, X, y)
    assert len(dask.compute(*model.decision_function([dask.delayed(X[:7])]))[0]) == 7


@every_solver
def test_a_tight_tolerance_without_an_intercept(client, solver):
    X, y = ranked(n=80, seed=5)
    model = on_dask.LinearNPSVOR(C=0.01, tol=1e-6, fit_intercept=False, max_iter=3000, solver=solver)
    model.fit(chunks(X, 40, 40), chunks(y, 40, 40))
    assert_solved(model, X, y, tol=1e-6)


@every_solver
def test_every_round_is_looked_at_and_may_be_the_last(client, solver):
    X, y = ranked()
    seen = []
    stop = {"callback": lambda progress: seen.append(progress) or len(seen) == 3}
    model = on_dask.LinearSVOR(tol=1e-9, solver=solver, **stop)
    with pytest.warns(ordsvm.estimators.base.ConvergenceWarning, match="stopped by callback after 3 passes"):
        model.fit(chunks(X, 100, 100), chunks(y, 100, 100))
    assert [progress.relative_gap for progress in seen] == [p.relative_gap for p in model.result_.history]
    assert ordsvm.certify(model, X, y).relative_gap == pytest.approx(seen[-1].relative_gap, rel=1e-6)


def test_a_nystroem_map_of_all_rows_is_the_kernel_machine(client):
    X, y = ranked(n=90, seed=6)
    rows, labels = chunks(X, 40, 0, 50), chunks(y, 40, 0, 50)
    machine = on_dask.LinearSVOR(C=0.5, tol=TOL)
    exact = on_dask.NystroemMachine(machine, gamma=0.3, n_landmarks=1000).fit(rows, labels)
    whole = ordsvm.SVOR(C=0.5, kernel="rbf", gamma=0.3, tol=1e-4).fit(X, y)
    assert exact.map_.components_.shape[0] == 90
    assert exact.result_.relative_gap <= TOL
    assert exact.result_.objective == pytest.approx(whole.result_.objective, rel=1.2 * TOL)
    few = on_dask.NystroemMachine(machine, gamma=0.3, n_landmarks=20, random_state=0).fit(rows, labels)
    proof = ordsvm.certify(few.machine_, few.map_.transform(X).astype(np.float32), y)
    assert proof.relative_gap <= TOL  # of the approximate problem, whose optimum is above that of the exact one
    assert few.result_.objective >= whole.result_.objective
    np.testing.assert_array_equal(few.predict(rows).compute(), few.predict(X))
    with pytest.raises(TypeError, match="is not for distributed rows"):
        on_dask.NystroemMachine(ordsvm.LinearSVOR()).fit(rows, labels)
    with pytest.raises(ValueError, match="kernel='rfb' is unknown"):
        on_dask.NystroemMachine(kernel="rfb").fit(rows, labels)


def test_without_a_client_a_cluster_is_made_for_the_fit():
    X, y = ranked(n=60)
    rows, labels = chunks(X, 30, 30), chunks(y, 30, 30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordsvm.distributed.cluster.get_client", _no_client)
        patch.setattr("distributed.client._global_clients", WeakValueDictionary())  # without that of other tests
        model = Context().run(on_dask.LinearSVC(tol=0.1).fit, rows, labels)
    assert_solved(model, X, y, tol=0.1)


def _no_client():
    raise ValueError("No global client found and no address provided")


def test_partitions_stay_where_they_lie_unless_that_is_uneven():
    assert assigned([5, 5, 5, 5], ["a", "b", "a", "b"], ["a", "b"]) == {0: [0, 2], 1: [1, 3]}
    assert assigned([5, 5, 5, 5], ["a"] * 4, ["a", "b"]) == {0: [0, 1], 1: [2, 3]}
    assert assigned([100, 1, 1], ["a", "a", "a"], ["a", "b"]) == {0: [0, 1, 2]}
    assert assigned([7], ["gone"], ["a", "b"]) == {0: [0]}


def misuses(X, y):
    rows, labels = chunks(X, 100, 100), chunks(y, 100, 100)
    missing = y.astype(float)
    missing[150] = np.nan
    words = [dask.delayed(np.array(["a"] * 100)), dask.delayed(y[100:])]
    halves = [dask.delayed(X[:100]), dask.delayed(X[100:])]
    return {
        "X is ndarray, which is not distributed": (X, y),
        "y is ndarray, which is not distributed": (rows, y),
        "chunks of X have 100, 100 rows and those of y 50, 150": (rows, chunks(y, 50, 150)),
        "X comes in 2 blocks and y in 1": (rows, chunks(y, 200)),
        "divided into 5 chunks of columns": (rows.rechunk({1: 1}), labels),
        "Block 1 .*: y contains missing labels .* in 1 of 100": (rows, chunks(missing, 100, 100)),
        "labels with no order, of type int and str": (halves, words),
        "Block [01] .*: X has 100 rows and y (90|110)": (halves, [dask.delayed(y[:90]), dask.delayed(y[90:])]),
        "Block 1 .*: Input X contains NaN": (
            chunks(np.where(np.arange(200)[:, None] == 150, np.nan, X), 100, 100),
            labels,
        ),
        "y contains only one class": (rows, chunks(np.ones_like(y), 100, 100)),
        "different numbers of features, 4 and 5": ([halves[0], dask.delayed(X[100:, :4])], [y[:100], y[100:]]),
    }


def test_a_misuse_gets_one_clear_sentence(client):
    X, y = ranked()
    for message, (rows, labels) in misuses(X, y).items():
        given = [dask.delayed(part) for part in labels] if isinstance(labels, list) else labels
        with pytest.raises((ValueError, TypeError), match=message):
            on_dask.LinearSVOR().fit(rows, given)
    rows, labels = chunks(X, 100, 100), chunks(y, 100, 100)
    with pytest.raises(TypeError, match=r"is not a dask\.distributed\.Client"):
        on_dask.LinearSVOR().fit(rows, labels, client="localhost")
    with pytest.raises(ValueError, match="'rank-dcd' is not for distributed rows"):
        on_dask.LinearSVOR(solver="rank-dcd").fit(rows, labels)
    with pytest.raises(ValueError, match="warm_start"):
        on_dask.LinearSVOR(warm_start=True).fit(rows, labels)
    with pytest.raises(ValueError, match="passes=0 is not valid"):
        on_dask.CoCoA(passes=0)


def test_folds_and_grids_through_joblib_run_on_the_workers(client):
    X, y = ranked(n=120)
    search = GridSearchCV(ordsvm.LinearSVOR(tol=TOL), {"C": [0.01, 1.0]}, cv=3)
    alone = search.fit(X, y).cv_results_["mean_test_score"]
    ran = []
    client.get_task_stream(plot=False)
    with joblib.parallel_backend("dask"):
        before = len(client.get_task_stream())
        there = search.fit(X, y).cv_results_["mean_test_score"]
        ran = client.get_task_stream()[before:]
    np.testing.assert_array_equal(there, alone)
    assert len(ran) > 0  # tasks of the cluster, not of this process's own pool


def made_blocks(n_blocks: int):
    """Rows that every worker can make again."""

    def block(number):
        X, y = random_data(0, n=400, n_features=8)
        own = slice(number * 400 // n_blocks, (number + 1) * 400 // n_blocks)
        return X[own], y[own]

    return [dask.delayed(block)(number) for number in range(n_blocks)]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that kills at once")
def test_a_killed_worker_costs_a_round_and_not_the_fit():
    options = {"n_workers": 3, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    blocks = dask.compute(*made_blocks(4), scheduler="synchronous")
    X, y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    with LocalCluster(silence_logs=logging.CRITICAL, **options) as cluster, Client(cluster) as client:
        for solver, tol in (("cocoa", TOL), ("linear-interior-point", 1e-6)):
            killed = []

            def kill_one(progress, killed=killed):
                if len(killed) == 0 and progress.n_iter == 4:
                    killed.append(client.run(os.getpid))
                    os.kill(next(iter(killed[0].values())), signal.SIGKILL)

            model = on_dask.LinearSVOR(C=0.1, tol=tol, solver=solver, callback=kill_one)
            model.fit(made_blocks(4), client=client)
            assert len(killed) == 1
            assert_solved(model, X, y, tol=tol)
            gaps = [progress.relative_gap for progress in model.result_.history]
            assert gaps[5] < 2 * gaps[3]  # it went on from there, not from the beginning
    alone = ordsvm.LinearSVOR(C=0.1, tol=1e-6, solver="linear-interior-point").fit(X, y)
    assert model.n_iter_ == alone.n_iter_


SCHEDULER = """
import logging, sys
from distributed import LocalCluster
options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0"}
with LocalCluster(silence_logs=logging.CRITICAL, **options) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


def test_a_lost_scheduler_is_named():
    """It was reported as lost rows, or half a minute later as an address that can't be reached."""
    command = [sys.executable, "-c", SCHEDULER]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def kill(progress):
        if progress.n_iter >= 4:
            child.kill()
            child.wait()

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        address = child.stdout.readline().strip()
        with dask.config.set({"distributed.comm.timeouts.connect": "2s"}), Client(address) as client:
            model = on_dask.LinearSVOR(C=1e3, tol=1e-12, callback=kill)
            with pytest.raises(RuntimeError, match="connection to the Dask scheduler was lost"):
                model.fit(made_blocks(2), client=client)
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("make", [on_dask.LinearSVOR, on_dask.NystroemMachine])
def test_a_fit_that_fails_leaves_the_old_model(make, client):
    X, y = ranked()
    model = make().fit(chunks(X, 100, 100), chunks(y, 100, 100))
    before, labels = vars(model).copy(), model.predict(X)
    with pytest.raises(ValueError, match="weight"):
        model.fit(chunks(X[:, :2], 100, 100), chunks(y, 100, 100), chunks(np.zeros(200), 100, 100))
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X), labels)
