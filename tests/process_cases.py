"""Fits for the tests of what a fit does to the process around it, and what these tests compare."""

import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from ordsvm import SVOR, SVOREX, SVORIM, ModelWarning, ShashuaLevinSVOR

ESTIMATORS = [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR]


def ordinal_data(n=120, d=4, n_ranks=3, seed=0):
    """Ranks that depend on the first feature, with noise, in mixed order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.clip(np.floor(X[:, 0] + 0.5 * rng.normal(size=n) + n_ranks / 2), 0, n_ranks - 1).astype(int)
    return X, y


def endless_data(n=1500):
    """With C = 1e6 and random labels no solver here is done within seconds."""
    return np.random.default_rng(0).normal(size=(n, 5)), np.arange(n) % 4


ENDLESS = {"C": 1e6, "tol": 1e-6}


def module_kernel(A, B):
    return np.exp(-0.3 * cdist(A, B, "sqeuclidean"))


def module_callback(progress):
    return False


def assert_same_model(one, other, *data):
    """Bit for bit."""
    assert np.array_equal(one.result_.alpha, other.result_.alpha)
    assert np.array_equal(one.thresholds_, other.thresholds_)
    assert np.array_equal(one.support_, other.support_)
    assert np.array_equal(one.dual_coef_, other.dual_coef_)
    for X in data:
        assert np.array_equal(one.decision_function(X), other.decision_function(X))
        assert np.array_equal(one.predict(X), other.predict(X))


class OddError(Exception):
    """One that the library does not define."""


def stopped_fit(estimator, **parameters):
    X, y = endless_data()
    with pytest.warns(ConvergenceWarning) as caught:
        model = estimator(**(ENDLESS | parameters)).fit(X, y)
    # besides, a machine that was stopped early may be warned of as missing a rank, depending on where it was stopped
    [warning] = [one for one in caught if not issubclass(one.category, ModelWarning)]
    assert warning.filename == __file__  # it points at the call of fit
    return model, str(warning.message), X, y


class Program:
    """Python code in a process of its own, whose lines are read one by one.

    Its pipe has no buffer here: `communicate` reads the pipe itself and misses whatever a buffered `readline` has read
    ahead, which is the next line where this process gets to it late.
    """

    def __init__(self, code):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
        self.process = subprocess.Popen([sys.executable, "-c", code], **pipes)

    def line(self):
        return self.process.stdout.readline().decode()

    def errors(self):
        return self.process.stderr.read().decode()

    def send(self, signal):
        self.process.send_signal(signal)

    def end(self, timeout=300):
        """What else it prints, its errors and its status."""
        try:
            rest, errors = self.process.communicate(timeout=timeout)
        finally:
            self.kill()
        return rest.decode(), errors.decode(), self.process.returncode

    def kill(self):
        self.process.kill()
        self.process.wait()


def slowness():
    """How many times longer than alone a computation takes now, at least 1: twice what a short one takes where others
    have the cores. Bounds of seconds are multiplied by it."""
    began, worked = time.monotonic(), time.thread_time()
    while time.thread_time() - worked < 0.1:
        pass
    ratio = (time.monotonic() - began) / (time.thread_time() - worked)
    return 1.0 if ratio < 1.2 else 2.0 * ratio
