"""What a fit does to the process around it: Ctrl-C, limits, memory, threads, leaks, copies, output."""

import copy
import gc
import pickle
import re
import signal
import subprocess
import sys
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from ordsvm import GCD, SMO, SVOR, SVOREX, SVORIM, Progress, ShashuaLevinSVOR, certify

ESTIMATORS = [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR]


def ordinal_data(n=120, d=4, n_ranks=3, seed=0):
    """Ranks that depend on the first feature, with noise, in mixed order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.clip(np.floor(X[:, 0] + 0.5 * rng.normal(size=n) + n_ranks / 2), 0, n_ranks - 1).astype(int)
    return X, y


def endless_data(n=1500):
    """With C = 1e6 and random labels no solver here is done within minutes."""
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


# Ctrl-C

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
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_CHILD.replace("{start}", start)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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
    assert answer == "interrupted\n", errors
    assert elapsed < 3.0
    assert (rest, errors, child.returncode) == ("healthy\n", "", 0)


class OddError(Exception):
    """One that the library cannot know."""


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_exception_in_the_callback_propagates_and_later_fits_work(estimator):
    raised = OddError("from the callback")

    def callback(progress):
        raise raised

    X, y = ordinal_data()
    before = estimator().fit(X, y)
    with pytest.raises(OddError) as caught:
        estimator(callback=callback, **ENDLESS).fit(*endless_data())
    assert caught.value is raised
    assert_same_model(before, estimator().fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("rows", "at_call"), [("many", 0), ("many", 3), ("many", 8), ("single", 40)])
def test_an_exception_in_the_kernel_propagates_and_later_fits_work(estimator, rows, at_call):
    """Call 0 is made for the diagonal, the others for rows, from inside the core: by block many at a time."""
    solver = "block" if rows == "many" else "gcd" if estimator is SVOR else "smo"
    raised, calls = OddError("from the kernel"), []

    def kernel(A, B):
        calls.append(len(A))
        if len(calls) > at_call:
            raise raised
        return module_kernel(A, B)

    X, y = ordinal_data()
    before = estimator(kernel=module_kernel).fit(X, y)
    with pytest.raises(OddError) as caught:
        estimator(kernel=kernel, solver=solver).fit(X, y)
    assert caught.value is raised
    assert len(calls) == at_call + 1
    assert_same_model(before, estimator(kernel=module_kernel).fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_refit_that_fails_leaves_the_earlier_model_as_it_was(estimator):
    def callback(progress):
        raise OddError

    X, y = ordinal_data(d=5)
    model = estimator().fit(X, y)
    earlier = copy.deepcopy(model)
    with pytest.raises(OddError):
        model.set_params(callback=callback, **ENDLESS).fit(*endless_data())
    assert_same_model(earlier, model, X)
    assert np.array_equal(model.classes_, earlier.classes_)


# Limits


def stopped_fit(estimator, **parameters):
    X, y = endless_data()
    with pytest.warns(ConvergenceWarning) as caught:
        model = estimator(**(ENDLESS | parameters)).fit(X, y)
    [warning] = caught
    assert warning.filename == __file__  # it points at the call of fit
    return model, str(warning.message), X, y


def assert_usable(model, X, y):
    assert np.all(np.isfinite(model.thresholds_))
    assert model.thresholds_.shape == (3,)
    assert np.all(np.isfinite(model.decision_function(X)))
    assert set(model.predict(X)) <= set(y)
    certificate = certify(model, X, y)
    assert model.result_.gap == pytest.approx(certificate.gap, rel=1e-6)
    assert model.result_.violation == pytest.approx(certificate.violation, rel=1e-6)
    assert model.result_.objective == pytest.approx(certificate.primal, rel=1e-6)
    np.testing.assert_allclose(model.thresholds_, certificate.thresholds, rtol=1e-6)


def assert_clear_warning(message, model, remedy):
    assert type(model).__name__ in message
    assert re.search(rf"gap {re.escape(format(model.result_.relative_gap, '.2g'))}\b", message)
    assert re.search(r"tol=1e-06\b", message)
    assert f": {remedy}" in message
    assert "\n" not in message


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("max_iter", [0, 1, 1000])
def test_max_iter_stops_with_a_usable_model(estimator, max_iter):
    model, message, X, y = stopped_fit(estimator, max_iter=max_iter)
    assert model.result_.status == "max_iter"
    assert not model.result_.converged
    assert model.result_.n_iter == model.n_iter_ == max_iter
    assert_clear_warning(message, model, "raise max_iter")
    assert_usable(model, X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_time_limit_stops_with_a_usable_model(estimator):
    started = time.monotonic()
    model, message, X, y = stopped_fit(estimator, time_limit=0.5)
    assert time.monotonic() - started < 3.5
    assert model.result_.status == "time_limit"
    assert model.result_.n_iter > 0
    assert model.result_.seconds >= 0.5
    assert_clear_warning(message, model, "raise time_limit")
    assert_usable(model, X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_callback_stops_with_a_usable_model(estimator):
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 2

    model, message, X, y = stopped_fit(estimator, callback=callback)
    assert model.result_.status == "callback"
    assert [type(progress) for progress in seen] == [Progress, Progress]
    assert model.result_.history == tuple(seen)
    assert 0 < seen[0].n_iter < seen[1].n_iter <= model.result_.n_iter
    assert_clear_warning(message, model, "let the callback return False")
    assert_usable(model, X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("tol", [1e-8, 1e-13, 1e-14, 1e-16])
def test_converged_means_a_violation_within_tol_and_a_tol_out_of_reach_ends(estimator, tol):
    """Where rounding does not let a solver reach tol it has to say so, and not to go on for ever."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.repeat([1, 2, 3], 20)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = estimator(C=10.0, tol=tol, time_limit=1.0).fit(X, y)
    assert model.result_.status != "time_limit"  # 30,000 steps reach the limits of float64
    assert model.result_.violation <= tol or not model.result_.converged
    assert model.result_.violation < max(1e-12, 1.01 * tol)


def test_single_precision_rows_are_given_up_where_they_cannot_reach_tol():
    """K is about 3e4 here: float32 rows carry errors of 1e-3 = tol, float64 rows solve it in a fraction of a second."""
    X, y = 100.0 * np.random.default_rng(0).normal(size=(120, 3))[60:], np.repeat([1, 2, 3], 20)
    double = SVORIM(kernel="linear", solver=SMO(precision="float64"), time_limit=5.0).fit(X, y)
    assert double.result_.converged
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = SVORIM(kernel="linear", time_limit=5.0).fit(X, y)
    assert model.result_.converged
    assert model.result_.objective == pytest.approx(double.result_.objective, rel=1e-3)


# Memory

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
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]) if status.exists() else 0
peak = 1024 * (peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print((peak - before) / 2**20, model.result_.kernel_rows)
"""

# Beside the cache, at n = 8000, d = 50, r = 4, a fit holds copies of X (3 MB each: sorted by rank, in tiles, and what
# NumPy's variance makes), the table of 24,000 hinges (1 MB, and as much again while it is made) and arrays of n: 4 MB
# measured, since the warm-up fit leaves room and not all copies live at once. The rest is for malloc, BLAS and noise.
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


# Threads


def varied_fits():
    """Different models, kernels and data, a few tenths of a second each."""
    X, y = ordinal_data(n=900, d=6, n_ranks=5, seed=1)
    V, u = ordinal_data(n=700, d=3, n_ranks=3, seed=2)
    S = sp.random_array((600, 40), density=0.2, format="csr", random_state=np.random.default_rng(3))
    v = np.arange(600) % 4
    return [
        (SVOR(C=5.0, cache_size=1.0), X, y),
        (SVORIM(C=50.0, kernel="poly", degree=2, coef0=1.0, cache_size=0.5), V, u),
        (SVOREX(C=50.0, solver=SMO(precision="float64")), X, y),
        (ShashuaLevinSVOR(C=20.0, kernel="laplacian"), S, v),
        (SVORIM(C=10.0, kernel=module_kernel), V, u),
        (SVOR(C=5.0, kernel="precomputed", class_weight="balanced"), module_kernel(V, V), u),
        (SVORIM(C=5.0, solver=SMO(selection="mvp"), cache_size=0.1), X.astype(np.float32), y),
        (SVOREX(C=100.0, callback=module_callback), S.toarray(), v),
    ]


def test_fits_at_once_in_threads_equal_the_same_fits_alone():
    alone = [model.fit(X, y) for model, X, y in varied_fits()]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            together = list(pool.map(lambda fit: fit[0].fit(fit[1], fit[2]), varied_fits()))
            for one, other, (_, X, _) in zip(alone, together, varied_fits(), strict=True):
                assert_same_model(one, other, X)


def test_one_model_predicts_in_many_threads_at_once():
    X, y = ordinal_data(n=400)
    model = SVOR().fit(X, y)
    expected = model.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(expected, score) for score in pool.map(model.decision_function, [X] * 40))


def test_a_fixed_input_gives_the_same_bits_twice():
    for (model, X, y), (again, _, _) in zip(varied_fits(), varied_fits(), strict=True):
        assert_same_model(model.fit(X, y), again.fit(X, y), X)


# Leaks


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
    monkeypatch.setattr("ordsvm.solvers.kernel.run.CADENCE", 0.0)
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


# Copies


def numbers(certificate):
    return certificate.primal, certificate.dual, certificate.gap, certificate.violation


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kind", ["dense", "csr", "linear", "linear-csr", "precomputed", "callable"])
def test_models_are_the_same_after_a_round_trip(estimator, kind):
    X, y = ordinal_data()
    kernel = {"precomputed": "precomputed", "callable": module_kernel}.get(kind, kind.split("-")[0])
    kernel = "rbf" if kernel in ("dense", "csr") else kernel
    X = module_kernel(X, X) if kind == "precomputed" else sp.csr_array(X) if "csr" in kind else X
    solver = GCD() if estimator is SVOR else SMO(selection="mvp")
    model = estimator(C=2.0, kernel=kernel, solver=solver, callback=module_callback).fit(X, y)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        returned = pickle.loads(pickle.dumps(model, protocol))
        assert_same_model(model, returned, X)
        assert np.array_equal(model.classes_, returned.classes_)
        assert returned.get_params() == model.get_params()
        assert numbers(certify(returned, X, y)) == numbers(certify(model, X, y))
    for returned in (copy.deepcopy(model), copy.copy(model)):
        assert_same_model(model, returned, X)
    assert not np.shares_memory(copy.deepcopy(model).dual_coef_, model.dual_coef_)
    assert_same_model(model, clone(model).fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("trip", [clone, copy.deepcopy, copy.copy, lambda model: pickle.loads(pickle.dumps(model))])
def test_an_unfitted_model_survives_a_round_trip_unfitted(estimator, trip):
    X, y = ordinal_data()
    model = estimator(C=3.0, gamma=0.2, categories=[0, 1, 2], class_weight={1: 2.0}, tol=1e-4)
    returned = trip(model)
    assert returned.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        returned.predict(X)
    assert_same_model(model.fit(X, y), returned.fit(X, y), X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_clone_of_a_fitted_model_is_not_fitted(estimator):
    X, y = ordinal_data()
    with pytest.raises(NotFittedError):
        clone(estimator().fit(X, y)).predict(X)


# Output


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_fit_prints_nothing(estimator, capfd):
    X, y = ordinal_data(n=600)
    with warnings.catch_warnings(action="error"):
        model = estimator(C=10.0).fit(X, y)
        model.predict(X)
        certify(model, X, y)
    stopped_fit(estimator, time_limit=0.3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_verbose_prints_lines_to_stderr_only(estimator, capfd):
    model, _, _, _ = stopped_fit(estimator, time_limit=1.2, verbose=True)
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == len(model.result_.history) >= 2
    for line in lines:
        assert re.fullmatch(
            rf"\[{model.result_.solver}\] +[\d.]+ s +[\d,]+ steps +objective \S+ +relative gap \S+ +"
            r"violation \S+ +[\d,]+ support vectors",
            line,
        )
