"""Scores of new samples by the core: the kernel's formula in NumPy, whatever the data, the threads and the machine."""

import _thread
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import NPSVOR, SVC, SVOR, SVOREX, SVORIM, SVR
from ordsvm.kernels import RBF, Laplacian, Polynomial, Sigmoid
from tests.cases import random_data

KERNELS = {
    "rbf": RBF(0.2),
    "laplacian": Laplacian(0.2),
    "poly-3": Polynomial(0.3, 1.5, 3),
    "poly-0": Polynomial(0.3, 1.5, 0),
    "poly-2.5": Polynomial(0.01, 9.0, 2.5),
    "sigmoid": Sigmoid(0.1, 0.2),
    "sigmoid-near-0": Sigmoid(1e-7, 0.0),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
# Samples, support vectors, features, machines: parts of tiles, panels and blocks, and more than one of each.
SHAPES = [(1, 1, 1, 1), (3, 31, 5, 1), (33, 32, 64, 2), (130, 65, 65, 1), (300, 129, 3, 4)]


def data(n: int, n_features: int, seed: int, sparsity: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) >= sparsity)


def assert_close(kernel, scores, X, Y, beta, tolerance):
    """By a share of the sum of absolute terms, which is what rounding goes by."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    size = np.abs(kernel(X, Y)) @ np.abs(beta)
    assert scores.shape == size.shape
    assert scores.dtype == np.float64
    assert np.all(np.abs(scores - kernel(X, Y) @ beta) <= tolerance * size)


@every_kernel
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scores_are_the_formula(kernel, shape):
    n, n_support, n_features, n_machines = shape
    X, Y = data(n, n_features, 0), data(n_support, n_features, 1)
    beta = np.random.default_rng(2).normal(size=(n_support, n_machines))
    for form in (np.asarray, sp.csr_array):
        assert_close(kernel, kernel.scores(form(X), form(Y), beta), X, Y, beta, 1e-13)
    assert_close(kernel, kernel.scores(X, Y, beta[:, 0]), X, Y, beta[:, 0], 1e-13)


@every_kernel
def test_scores_of_float32_data(kernel):
    """Kernels of distances, whose values are at most 1, in float32 where data are dense: the error is some 1e-7 of the
    sum of |beta|, and not less, or else it was not float32. All else is in float64."""
    X, Y = data(70, 90, 0, sparsity=0.9).astype(np.float32), data(40, 90, 1, sparsity=0.9).astype(np.float32)
    beta = np.random.default_rng(2).normal(size=40)
    assert_close(kernel, kernel.scores(sp.csr_array(X), sp.csr_array(Y), beta), X, Y, beta, 1e-13)
    if not isinstance(kernel, RBF | Laplacian):
        return assert_close(kernel, kernel.scores(X, Y, beta), X, Y, beta, 1e-13)
    error = np.abs(kernel.scores(X, Y, beta) - kernel(X, Y) @ beta).max() / np.abs(beta).sum()
    assert 1e-10 < error < 3e-7


@every_kernel
def test_samples_and_support_vectors_may_differ_in_type(kernel):
    X, Y = data(20, 6, 0), data(10, 6, 1).astype(np.float32)
    wide = sp.csr_matrix(Y)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    beta = np.random.default_rng(2).normal(size=10)
    for samples in (X, sp.csr_matrix(X), sp.csr_array(X), np.asfortranarray(X)):
        for support in (Y, sp.csr_array(Y), wide, Y.astype(np.float64)):
            assert_close(kernel, kernel.scores(samples, support, beta), X, Y, beta, 1e-13)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: np.asarray(X, dtype=np.float32)])
@every_kernel
def test_a_row_has_its_scores_whatever_its_company_and_the_threads(kernel, form):
    """Bit by bit: threads and blocks divide the rows, and nothing else."""
    X, Y = form(data(2100, 7, 0)), form(data(150, 7, 1))
    beta = np.random.default_rng(2).normal(size=(150, 2))
    whole = kernel.scores(X, Y, beta)
    for n_threads in (2, 3):
        np.testing.assert_array_equal(kernel.scores(X, Y, beta, n_threads), whole)
    np.testing.assert_array_equal(kernel.scores(X[700:703], Y, beta), whole[700:703])
    np.testing.assert_allclose(kernel.scores(X, Y, beta[:, 1]), whole[:, 1], rtol=1e-13, atol=1e-13)


def test_sparse_rows_of_many_features_and_empty_ones():
    rng = np.random.default_rng(0)
    X, Y = (sp.random(n, 200_000, density=1e-4, format="csr", random_state=rng) for n in (90, 70))
    X, Y = sp.vstack([X, sp.csr_matrix((2, 200_000))]).tocsr(), sp.vstack([sp.csr_matrix((1, 200_000)), Y]).tocsr()
    beta = rng.normal(size=71)
    for kernel in (RBF(0.5), Laplacian(0.5), Polynomial(1.0, 1.0, 2)):
        expected = kernel(X, Y) @ beta
        np.testing.assert_allclose(kernel.scores(X, Y, beta, 2), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_far_from_the_origin_are_not_lost(dtype):
    X, Y = ((np.round(8 * data(40, 2, seed)) / 8 + [2000.0, 65536.0]).astype(dtype) for seed in (0, 1))
    beta = np.random.default_rng(2).normal(size=40)
    scores = RBF(0.5).scores(X, Y, beta)
    plain = RBF(0.5)(X - dtype(2000), Y - dtype(2000)) @ beta
    np.testing.assert_allclose(scores, plain, rtol=0, atol=1e-5 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("kind", [RBF, Laplacian])
@pytest.mark.parametrize("size", [1e-25, 1e-20, 6e18, 1e19, 1e25])
def test_float32_rows_whose_gamma_is_no_float32_are_scored_in_float64(size, kind):
    random = np.random.default_rng(0)
    X = (size * random.normal(size=(200, 2))).astype(np.float32)
    wide = X.astype(np.float64)
    gamma = 1.0 / wide.var() if kind is RBF else 1.0 / wide.std()
    beta = random.normal(size=(200, 1))
    expected = kind(gamma)(wide, wide) @ beta
    tol = 1e-9 if not 1e-30 <= gamma <= 1e30 else 1e-4
    np.testing.assert_allclose(kind(gamma).scores(X, X, beta), expected, atol=tol)


def test_values_of_a_kernel_that_overflow_are_not_hidden():
    X = np.full((1, 1), 1e100)
    assert not np.isfinite(Polynomial(1.0, 0.0, 5).scores(X, X, np.ones(1)))[0]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "model", [SVOR(), SVORIM(), SVOREX(), SVC(), SVC(multi_class="ovr"), SVR(), NPSVOR()], ids=lambda model: str(model)
)
def test_machines_score_by_their_support_vectors(model, sparse):
    X, y = random_data(0, n=90, n_features=4)
    form = sp.csr_array if sparse else np.asarray
    new, _ = random_data(1, n=50, n_features=4)
    model.fit(form(X), y)
    support = model.support_vectors_.toarray() if sparse else model.support_vectors_
    expected = model.kernel_(new, support) @ model.dual_coef_.T + getattr(model, "intercept_", 0.0)
    given = form(new)
    scores = {
        "SVR": lambda: model.predict(given)[:, None],
        "NPSVOR": lambda: model.rank_scores(given),
        "SVC": lambda: model._margins(given),
    }.get(type(model).__name__, lambda: model.decision_function(given))()
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    other = new if sparse else sp.csr_array(new)  # trained on one, asked about the other
    np.testing.assert_allclose(model.predict(other), model.predict(given), rtol=1e-9)


def test_prediction_can_be_interrupted():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, _thread.interrupt_main)
    X = np.zeros((200_000, 20))
    try:
        for n_threads in (1, 2):
            timer = threading.Timer(0.2, _thread.interrupt_main)
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                RBF(1.0).scores(X, X[:50_000], np.ones(50_000), n_threads)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


MEMORY = """
import numpy as np
from ordsvm.kernels import RBF

def resident(which):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))

X = np.random.default_rng(0).random((20_000, 4))
RBF(1.0).scores(X[:4000], X[:4000], np.ones(4000), 2)
before = resident("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
RBF(1.0).scores(X, X, np.ones(20_000), 2)
print(resident("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the memory figures of Linux's /proc")
def test_prediction_keeps_no_matrix():
    """20,000 × 20,000 values are 3.2 GB; what is kept is one score a row and a few tiles a thread."""
    child = subprocess.run([sys.executable, "-c", MEMORY], env=os.environ, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    assert float(child.stdout) <= 8 << 20
