"""Memory of a fit: its peak stays within data and cache, and nothing is kept afterwards."""

import gc
import subprocess
import sys
import warnings
import weakref

import numpy as np
import psutil
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ordsvm import SVOR, SVOREX, SVORIM, ShashuaLevinSVOR
from tests.process_cases import (
    ENDLESS,
    ESTIMATORS,
    OddError,
    endless_data,
    module_callback,
    module_kernel,
    ordinal_data,
)

MEMORY_CHILD = """
import re, resource, sys, warnings
from pathlib import Path
import numpy as np, psutil
import ordsvm
from ordsvm import GCD, SMO

warnings.simplefilter("ignore")
name, precision, cache_size = sys.argv[1], sys.argv[2], float(sys.argv[3])
solver = {"gcd": GCD, "smo": SMO}["gcd" if name == "SVOR" else "smo"](precision=precision)
rng = np.random.default_rng(0)
model = getattr(ordsvm, name)(solver=solver, cache_size=cache_size, max_iter=7_000, C=10.0)
model.fit(rng.normal(size=(500, 50)), np.arange(500) % 4)
X, y = rng.normal(size=(8000, 50)), np.arange(8000) % 4
before = psutil.Process().memory_info().rss
model.fit(X, y)
status = Path("/proc/self/status")  # on Linux, ru_maxrss counts the process that started this one, too
if status.exists():
    peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print((peak - before) / 2**20, model.result_.kernel_rows)
"""

# Beside the cache, at n = 8000, d = 50, r = 4, a fit holds copies of X (3 MB each: sorted by rank, in tiles, and what
# NumPy's variance makes), the table of 24,000 hinges (1 MB, and as much again while it is made) and arrays of n: 4 MB
# measured, since the warm-up fit leaves freed memory and not all copies live at once. The rest is for malloc, BLAS and
# noise.
BESIDE_THE_CACHE = 20.0


@pytest.mark.parametrize(
    ("name", "precision", "cache_size"),
    [
        ("SVOR", "float32", 20),
        ("SVORIM", "float32", 20),
        ("SVORIM", "float32", 100),
        ("SVOREX", "float64", 100),
        pytest.param("SVOR", "float32", 100, marks=pytest.mark.slow),
        pytest.param("SVOR", "float64", 20, marks=pytest.mark.slow),
        pytest.param("SVOREX", "float32", 20, marks=pytest.mark.slow),
        pytest.param("ShashuaLevinSVOR", "float64", 20, marks=pytest.mark.slow),
    ],
)
def test_the_peak_of_a_fit_stays_within_data_and_cache_size(name, precision, cache_size):
    command = [sys.executable, "-c", MEMORY_CHILD, name, precision, str(cache_size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    growth, kernel_rows = map(float, done.stdout.split())
    row = 8000 * (4 if precision == "float32" else 8) / 2**20
    assert kernel_rows * row > cache_size + BESIDE_THE_CACHE  # a cache without a bound would be found out
    assert growth < cache_size + BESIDE_THE_CACHE
    assert growth > 0.9 * cache_size  # ... and the bound is used


def leak_cases():
    X, y = ordinal_data(n=150, d=60)
    return {
        "dense": (SVOR(), X, y),
        "float32-unsorted-smo": (SVORIM(), X.astype(np.float32), y),
        "csr": (SVOREX(kernel="linear"), sp.csr_array(X * (np.abs(X) > 0.5)), y),
        "precomputed": (ShashuaLevinSVOR(kernel="precomputed"), module_kernel(X, X), y),
        "callable": (SVORIM(kernel=module_kernel), X, y),
        "callback": (SVOR(C=1e6, tol=1e-6, max_iter=200, callback=module_callback), X, y),
    }


@pytest.mark.parametrize("case", leak_cases())
def test_repeated_fits_do_not_grow_the_process(case):
    """Every fit gets a copy of its data: 200 leaked ones would be 7 MB (float32) or more."""
    model, X, y = leak_cases()[case]
    process = psutil.Process()

    def resident_after(n_fits):
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            for _ in range(n_fits):
                clone(model).fit(X.copy(), y.copy())
        gc.collect()
        return process.memory_info().rss

    before = resident_after(50)
    growth = (resident_after(200) - before) / 2**20
    assert growth < 3.0


@pytest.mark.parametrize("failing", ["callback", "kernel"])
def test_fits_that_fail_do_not_grow_the_process_either(failing, monkeypatch):
    monkeypatch.setattr("ordsvm.solvers.recorder.LOOK_INTERVAL", 0.0)
    X, y = endless_data(n=600)
    process = psutil.Process()

    def failure(*arguments):
        raise OddError

    def kernel(A, B):
        return failure() if len(A) != len(B) else module_kernel(A, B)  # from the first rows on

    options = {"callback": failure, **ENDLESS} if failing == "callback" else {"kernel": kernel}

    def resident_after(n_fits):
        for _ in range(n_fits):
            with pytest.raises(OddError):
                SVORIM(**options).fit(X.copy(), y)
        gc.collect()
        return process.memory_info().rss

    before = resident_after(15)
    assert (resident_after(60) - before) / 2**20 < 1.5  # a copy of X has 23 KB, α and scores 100 KB


class Tracked(np.ndarray):
    """An array that weak references can follow."""


def tracked(array):
    """A copy that owns its memory, so that every view of it keeps it alive."""
    owner = Tracked(array.shape, array.dtype)
    owner[...] = array
    assert owner.base is None
    assert np.asarray(owner).base is owner
    return owner


@pytest.mark.parametrize("in_order", [True, False])  # in order of rank, the solver works on X itself
@pytest.mark.parametrize("kind", ["dense", "csr", "precomputed", "callable"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_data_can_be_collected_after_a_fit(estimator, kind, in_order):
    X, y = ordinal_data()
    y = np.sort(y) if in_order else y
    kernel = {"precomputed": "precomputed", "callable": module_kernel}.get(kind, "rbf")
    X = tracked(module_kernel(X, X) if kind == "precomputed" else X)
    watched = [weakref.ref(X)]
    if kind == "csr":
        X = sp.csr_array(np.asarray(X))
        X.data = tracked(X.data)
        watched = [weakref.ref(X), weakref.ref(X.data)]
    model = estimator(kernel=kernel).fit(X, y)
    assert all(reference() is not None for reference in watched)
    del X
    gc.collect()
    assert [reference() for reference in watched] == [None] * len(watched)
    assert model.result_.converged


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_callback_and_a_stopped_fit_are_not_kept(estimator):
    class Callback:
        def __call__(self, progress):
            raise OddError

    X, y = endless_data()
    X, callback = tracked(X), Callback()
    data, function = weakref.ref(X), weakref.ref(callback)
    with pytest.raises(OddError):
        estimator(callback=callback, **ENDLESS).fit(X, y)
    del X, callback
    gc.collect()
    assert data() is None
    assert function() is None


class RememberingKernel:
    """A cycle: it keeps its exception, whose traceback keeps the fit, which keeps the kernel and the data."""

    def __call__(self, A, B):
        if len(A) == len(B):  # for the diagonal
            return module_kernel(A, B)
        self.error = OddError()
        raise self.error


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_kernel_that_keeps_its_exception_does_not_keep_the_data_for_ever(estimator):
    X, y = ordinal_data()
    X, y = tracked(X), np.sort(y)  # in order of rank, the fit works on X itself
    data = weakref.ref(X)
    with pytest.raises(OddError):
        estimator(kernel=RememberingKernel()).fit(X, y)
    del X
    gc.collect()
    assert data() is None
