"""Ctrl-C interrupts a fit at once, whatever it is doing, and leaves the interpreter healthy."""

import signal
import time

import pytest

from tests.process_cases import Program, slowness

INTERRUPTED_CHILD = """
import dataclasses, sys, threading, time, warnings
import numpy as np
from ordsvm import GCD, SMO, SVOR, SVOREX, SVORIM, certify

warnings.simplefilter("error")
rng = np.random.default_rng(0)
main = threading.main_thread().ident

def stack():
    frame, names = sys._current_frames()[main], []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names

def announce(function):
    while function not in stack():
        time.sleep(0.01)
    time.sleep(0.1)
    print("begun" if function in stack() else "too late", flush=True)

def interrupted_fit(model, X, y, inside="native"):
    threading.Thread(target=announce, args=(inside,), daemon=True).start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    else:
        print("finished", flush=True)

X, y = rng.normal(size=(1500, 5)), np.arange(1500) % 4
{start}
X = rng.normal(size=(90, 3))
y = np.digitize(X[:, 0], [-0.5, 0.5])
for later in (SVOR(), SVORIM(), SVOREX()):
    later.fit(X, y)
    assert later.result_.converged and certify(later, X, y).violation <= 1.01 * later.tol
print("healthy", flush=True)
"""

LONG_FITS = {
    "SVOR-gcd": "interrupted_fit(SVOR(C=1e6, tol=1e-6, solver='gcd'), X, y)",
    "SVORIM-smo": "interrupted_fit(SVORIM(C=1e6, tol=1e-6, solver='smo'), X, y)",
    "SVOREX-smo": "interrupted_fit(SVOREX(C=1e6, tol=1e-6, solver='smo'), X, y)",
    "SVORIM-parsmo": "interrupted_fit(SVORIM(C=1e6, tol=1e-6, solver='parsmo-light', n_threads=2), X, y)",
    "SVOREX-decomposition": """
interrupted_fit(SVOREX(C=1e6, tol=1e-6, solver='decomposition', n_threads=2), X, y, inside="_iterate")
""",
    "callback": "interrupted_fit(SVORIM(C=1e6, tol=1e-6, callback=lambda progress: False), X, y)",
    "callable-kernel": """
def kernel(A, B):
    return np.exp(-0.2 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))
interrupted_fit(SVORIM(C=1e6, tol=1e-6, kernel=kernel, cache_size=0.5), X, y)
""",
    "huge-n": """
X, y = rng.normal(size=(150_000, 40)).astype(np.float32), np.arange(150_000) % 4
interrupted_fit(SVOR(C=100.0), X, y)
""",
    # A warm start from an α without zeros: f = Kβ takes a row of K for every one of many samples.
    "exact-scores": """
X, y = rng.normal(size=(40_000, 30)), np.arange(40_000) % 3
with warnings.catch_warnings(action="ignore"):
    model = SVOR(max_iter=1, warm_start=True).fit(X, y)
alpha = rng.uniform(0.1, 0.9, len(model.result_.alpha))
model.result_ = dataclasses.replace(model.result_, alpha=alpha)
interrupted_fit(model, X, y, inside="exact_scores")
""",
    # With a tiny C the optimum has every α at its cap: started there, all the time goes into the proof in float64.
    "final-recomputation": """
X, y = rng.normal(size=(24_000, 30)), np.arange(24_000) % 2
with warnings.catch_warnings(action="ignore"):
    model = SVORIM(C=1e-9, max_iter=1, warm_start=True, gamma=0.05).fit(X, y)
model.result_ = dataclasses.replace(model.result_, alpha=np.full(len(model.result_.alpha), 1e-9))
interrupted_fit(model, X, y)
""",
}


@pytest.mark.parametrize("start", LONG_FITS.values(), ids=LONG_FITS.keys())
def test_ctrl_c_interrupts_a_fit_at_once_and_leaves_the_interpreter_healthy(start):
    child = Program(INTERRUPTED_CHILD.replace("{start}", start))
    try:
        assert child.line() == "begun\n", child.errors()
        sent = time.monotonic()
        child.send(signal.SIGINT)
        answer = child.line()
        elapsed = time.monotonic() - sent
        rest, errors, status = child.end()
    finally:
        child.kill()
    assert answer == "interrupted\n", errors
    assert elapsed < 3.0 * slowness()
    assert (rest, errors, status) == ("healthy\n", "", 0)
