"""The end of a process, or of a search by Ctrl-C, while threads compute: no abort, no message, a sane interpreter."""

import signal
import subprocess
import sys
import time

import pytest

from tests.process_cases import Program

BEGINNING = """
import sys, threading, time, warnings
import numpy as np
from ordsvm import *
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
"""

INTERRUPTED_SEARCH = """
X = rng.normal(size=(1500, 8))
y = np.digitize(X[:, 0] + rng.normal(size=len(X)), [-1.0, 0.0, 1.0])
print("begun", flush=True)
try:
    {search}.fit(X, y)
except KeyboardInterrupt:
    busy = [f.f_code.co_name for f in sys._current_frames().values() if "ordsvm" in f.f_code.co_filename]
    print("interrupted", busy, flush=True)
model = SVOR().fit(X[:100], y[:100])
assert model.result_.converged and certify(model, X[:100], y[:100]).violation <= 1.01 * model.tol
print("healthy", flush=True)
"""

SEARCH = "OrdinalSearchCV(SVOR(), n_jobs=2)"


def ended(child: Program) -> tuple[str, str, int]:
    return child.end()


def start(program: str) -> Program:
    return Program(BEGINNING + program)


@pytest.mark.parametrize(
    ("search", "delay"),
    [(SEARCH, 0.05), (SEARCH, 0.3), (SEARCH, 1.0), ("CalibratedOrdinal(SVOR(C=1e6, tol=1e-6), n_jobs=2)", 0.5)],
    ids=["at-once", "early", "late", "calibration"],
)
def test_ctrl_c_ends_the_jobs_of_a_search(search, delay):
    program = INTERRUPTED_SEARCH.replace("{search}", search)
    if "Calibrated" in search:
        program = "import joblib; joblib.parallel_config('threading').__enter__()\n" + program
    child = start(program)
    assert child.line() == "begun\n", child.errors()
    time.sleep(delay)
    child.send(signal.SIGINT)
    assert ended(child) == ("interrupted []\nhealthy\n", "", 0)


AT_WORK = """
X = rng.normal(size=({n}, 6))
y = np.arange(len(X)) % 4
endless = dict(C=1e6, tol=1e-7)

def kernel(A, B):
    return np.exp(-0.2 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

def work():
    while True:
        {work}

threading.Thread(target=work, daemon=True).start()
time.sleep(0.7)
"""

WORKS = {
    "block": "SVOR(**endless, solver='block').fit(X, y)",
    "ordered": "SVOREX(**endless).fit(X, y)",
    "smo": "SVORIM(**endless, solver='smo').fit(X, y)",
    "gcd": "SVOR(**endless, solver='gcd').fit(X, y)",
    "asygcd": "SVOR(**endless, solver='asygcd', n_threads=2).fit(X, y)",
    "asyagcd": "SVOR(**endless, solver='asyagcd', n_threads=2).fit(X, y)",
    "asyorgcd": "SVOR(**endless, solver='asyorgcd', n_threads=2).fit(X, y)",
    "parsmo": "SVORIM(**endless, solver='parsmo-light', n_threads=2).fit(X, y)",
    "decomposition": "SVOREX(**endless, solver='decomposition', n_threads=2).fit(X, y)",
    "callable": "SVOR(**endless, solver='asygcd', kernel=kernel, cache_size=0.5, n_threads=2).fit(X, y)",
    "rank-dcd": "LinearSVOR(**endless).fit(X, y)",
    "dcd": "LinearNPSVOR(**endless, solver='dcd-1').fit(X, y)",
    "search": "OrdinalSearchCV(SVOR(), n_jobs=2).fit(X, y)",
    "callback": "SVOR(**endless, callback=lambda progress: time.sleep(0.01)).fit(X, y)",
    "small fits": "SVOR().fit(X[:40], y[:40])",
}


QUICK = ("block", "asygcd", "rank-dcd", "search", "callback")  # a loop of every kind; the others are slow tests
WORK_CASES = [
    pytest.param(work, id=name, marks=[] if name in QUICK else pytest.mark.slow) for name, work in WORKS.items()
]


@pytest.mark.parametrize("work", WORK_CASES)
def test_a_process_ends_while_a_daemon_thread_trains(work):
    program = AT_WORK.replace("{work}", work).replace("{n}", "1500")
    assert ended(start(program)) == ("", "", 0)


@pytest.mark.parametrize("model", ["SVOR()", "NPSVOR()", "LinearSVOR()"])
def test_a_process_ends_while_daemon_threads_predict(model):
    program = AT_WORK.replace("{work}", "model.predict(many)").replace("{n}", "600")
    program = program.replace("def work", f"model, many = {model}.fit(X, y), np.repeat(X, 300, axis=0)\n\ndef work")
    program = program.replace(
        "threading.Thread", "threading.Thread(target=work, daemon=True).start()\nthreading.Thread"
    )
    assert ended(start(program)) == ("", "", 0)


def test_calls_at_exit_by_the_ending_thread_go_on_and_others_are_refused():
    program = """
import atexit
X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
model = SVOR().fit(X, y)
# atexit's order is last in, first out: what was registered before the package runs after its own.
at_exit, refused = threading.Event(), []
def other():
    at_exit.wait()
    try:
        model.predict(X)
    except SystemExit:
        refused.append(True)
thread = threading.Thread(target=other, daemon=True)  # Python 3.12 starts none at exit, and waits for others
thread.start()
def last():
    at_exit.set(), thread.join()
    print(len(model.predict(X)), refused, flush=True)
"""
    first = "import atexit\natexit.register(lambda: last())\n"
    child = subprocess.run([sys.executable, "-c", first + BEGINNING + program], capture_output=True, text=True)
    assert (child.stdout, child.stderr, child.returncode) == ("60 [True]\n", "", 0)


def test_a_callback_that_does_not_return_does_not_abort_the_process():
    """After the time that native calls have to end, they take the interpreter's lock no more."""
    program = AT_WORK.replace("{work}", WORKS["callback"].replace("0.01", "1.5")).replace("{n}", "1500")
    short = "import ordsvm.stopping\nordsvm.stopping.CALL_SECONDS = 0.1\n"
    assert ended(start(short + program)) == ("", "", 0)


def test_a_child_process_does_not_wait_for_the_calls_of_its_parent():
    program = (
        AT_WORK.replace("{work}", WORKS["smo"]).replace("{n}", "1500")
        + """
import os
began = time.monotonic()
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
print("waited" if time.monotonic() - began > 8.0 else "at once", flush=True)
"""
    )
    assert ended(start(program)) == ("at once\n", "", 0)


LEAK_FREE = {
    "exceptions": """
def raising(progress):
    raise ValueError
try:
    SVOR(callback=raising, C=1e6, tol=1e-7).fit(X, y)
except ValueError as error:
    kept = error
""",
    "kernel that leads back to the model": """
class Kernel:
    def __call__(self, A, B):
        return A @ B.T + 1.0
kernel = Kernel()
kernel.model = SVOR(kernel=kernel).fit(X[:80], y[:80])
""",
    "matrices and searches": """
from ordsvm.kernels import RBF
from ordsvm.solvers import KernelMatrix
matrix = KernelMatrix(RBF(0.5).rows(X))
matrix.me = matrix
search = OrdinalSearchCV(SVOR(), n_jobs=2).fit(X[:150], y[:150])
linear = [LinearSVOR().fit(X, y), LinearNPSVOR(solver="dcd-2").fit(X, y)]
""",
    "a thread that is idle": """
def idle():
    model = SVOR().fit(X[:80], y[:80])
    from ordsvm.kernels import RBF
    rows = RBF(0.5).rows(X)
    time.sleep(1000)
threading.Thread(target=idle, daemon=True).start()
time.sleep(0.3)
""",
    "an uncaught exception": """
class Silent(Exception):
    pass
sys.excepthook = lambda *error: None
def raising(progress):
    raise Silent
try:
    SVOR(callback=raising, C=1e6, tol=1e-7).fit(X, y)
except Silent as error:
    sys.last_value = sys.last_exc = error
    sys.last_traceback = error.__traceback__
""",
}


@pytest.mark.parametrize("program", LEAK_FREE.values(), ids=LEAK_FREE.keys())
def test_nothing_leaks_at_exit(program):
    data = "X = rng.normal(size=(1000, 5))\ny = np.arange(len(X)) % 3\n"
    assert ended(start(data + program)) == ("", "", 0)
