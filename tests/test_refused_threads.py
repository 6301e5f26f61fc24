"""A system that refuses threads, as where a limit of processes is reached: fits and predictions go on with those that
there are, the calling one if need be.

The limit does not hold for root: a child of such a test gives up its rights first.
"""

import subprocess
import sys
import threading

import numpy as np
import pytest

from ordsvm import SVOR, LinearSVOR, RowStore
from ordsvm.stopping import CallingThread, started_pool

PROGRAM = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore")
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
import resource
import numpy as np
from ordsvm import NPSVOR, SVC, SVOR, SVOREX, DCD2, AsyGCD, LinearNPSVOR, LinearSVOR, RowStore, certify

left = int(sys.argv[1])
random = np.random.default_rng(0)
X = random.normal(size=(300, 5))
y = np.digitize(X[:, 0] + 0.5 * random.normal(size=300), [-0.6, 0.0, 0.6])
SVOR(n_threads=1).fit(X[:50], y[:50])  # what is imported late
many, their_y = np.tile(X, (4, 1)), np.tile(y, 4)  # enough for several threads of a linear machine, and to predict
if os.geteuid() == 0:
    os.setuid(65534)

def tasks():
    own = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.geteuid():
                own += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            pass
    return own

limit = max(tasks(), len(os.listdir("/proc/self/task"))) + left
resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))

def refuses():
    started = []
    try:
        for _ in range(left + 1):
            thread = threading.Thread(target=time.sleep, args=(0.2,))
            thread.start()
            started.append(thread)
    except RuntimeError:
        return True
    finally:
        for thread in started:
            thread.join()
    return False

if not refuses():
    print("the limit does not hold")
    sys.exit()
machines = [
    *(SVOR(solver=name, n_threads=4) for name in ("auto", "block", "gcd", "asygcd", "interior-point", "decomposition")),
    SVOR(solver=AsyGCD(sharing="atomic"), n_threads=4, callback=lambda progress: False),
    *(SVOREX(solver=name, n_threads=4) for name in ("parsmo-cache", "parsmo-light")),
    NPSVOR(n_threads=4), SVC(n_threads=4), LinearSVOR(n_threads=4, solver="rank-dcd"), LinearSVOR(n_threads=4),
    LinearNPSVOR(n_threads=4), LinearNPSVOR(n_threads=4, solver=DCD2()),
]
store = RowStore.from_blocks([(many, their_y)])
for machine in machines:
    rows, labels = (many, their_y) if type(machine).__name__.startswith("Linear") else (X, y)
    machine.fit(rows, labels)
    tol = 1e-3 if machine.tol is None else machine.tol
    assert machine.result_.status == "converged", (machine, machine.result_.status)
    assert certify(machine, rows, labels).relative_gap <= 1.01 * tol, machine
    machine.predict(many)
assert LinearSVOR(n_threads=4, solver="rank-dcd").fit(store).result_.status == "converged"
limited = SVOR(solver="asygcd", C=1e6, tol=1e-9, time_limit=0.3, n_threads=4).fit(X, random.permutation(y))
assert limited.result_.status == "time_limit", limited.result_.status
print("all trained")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_NPROC counts threads on Linux")
@pytest.mark.parametrize("left", [0, 1, 2])
def test_machines_are_trained_with_the_threads_that_there_are(left):
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(left)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "all trained"


@pytest.fixture
def threads_left(monkeypatch):
    """A function that sets how many threads of Python there may be from then on, besides those that there are."""
    start, most = threading.Thread.start, [1000]

    def starting(thread):
        if threading.active_count() >= most[0]:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starting)

    def set_left(count):
        most[0] = threading.active_count() + count

    return set_left


@pytest.mark.parametrize("left", [0, 1, 3, 9])
def test_a_pool_has_the_threads_that_start(threads_left, left):
    threads_left(left)
    pool = started_pool(5)
    assert isinstance(pool, CallingThread) == (left == 0)
    assert len(getattr(pool, "_threads", ())) == min(left, 5)
    assert [pool.submit(pow, 2, n).result() for n in range(5)] == [1, 2, 4, 8, 16]
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result()
    pool.shutdown()


def test_a_store_is_read_by_the_calling_thread(threads_left):
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    store = RowStore.from_blocks([(X, y)], block_rows=50, window_bytes=2000)
    expected = LinearSVOR(solver="rank-dcd", random_state=0, n_threads=1).fit(store)
    threads_left(0)
    found = LinearSVOR(solver="rank-dcd", random_state=0, n_threads=1).fit(store)
    assert np.array_equal(found.coef_, expected.coef_)


def test_decomposition_is_solved_by_the_calling_thread(threads_left):
    X = np.random.default_rng(0).normal(size=(100, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    threads_left(0)
    model = SVOR(solver="decomposition", n_threads=3).fit(X, y)
    assert model.result_.status == "converged"
