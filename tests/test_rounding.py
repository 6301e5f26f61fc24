"""Scores that are not recomputed stay within their bound, and what a result claims allows for it (docs/rounding.md)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import SVC, SVOR, Block, certify
from ordsvm.formulations import svc, svor, svorex, svorim
from ordsvm.kernels import RBF, KernelMatrix, Laplacian, Linear, Polynomial, Sigmoid
from ordsvm.kernels.products.norm_rounding import NormRounding, largest_error
from ordsvm.problem import Treatment
from ordsvm.solvers import Control
from ordsvm.solvers.kernel.run import Run
from ordsvm.torch_library import TorchLibrary
from tests.cases import random_data

LONG = np.longdouble


def exact_values(kernel, X, Y):
    """K between rows in long double, by the formula."""
    X, Y = X.astype(LONG), Y.astype(LONG)
    if isinstance(kernel, RBF | Laplacian):
        difference = np.abs(X[:, np.newaxis] - Y)
        return np.exp(-LONG(kernel.gamma) * (difference**2 if isinstance(kernel, RBF) else difference).sum(axis=2))
    product = X @ Y.T
    if isinstance(kernel, Linear):
        return product
    affine = LONG(kernel.gamma) * product + LONG(kernel.coef0)
    return affine ** LONG(kernel.degree) if isinstance(kernel, Polynomial) else np.tanh(affine)


def finished(problem, kernel, X, tol=1e-3, **options):
    run = Run(problem, KernelMatrix(kernel.rows(X)), solver := Block(newton=False, **options), Control(tol=tol), None)
    solver.solve(run)
    return run


def two_clouds(n=800, distance=1.5, shift=0.0, scale=1.0, d=3):
    rng = np.random.default_rng(3)
    sign = np.repeat([-1.0, 1.0], n // 2)
    return scale * (rng.normal(size=(n, d)) + distance * sign[:, np.newaxis] + shift), sign


SCREENING = {
    "linear": (Linear(), {}),
    "rbf from differences": (RBF(3.0), {"shift": 3.0}),
    "rbf from norms": (RBF(0.02), {}),
    "rbf far from 0": (RBF(0.5), {"shift": 1000.0}),
    "rbf of small features": (RBF(0.2e16), {"scale": 1e-8}),
    "rbf of large features": (RBF(0.2e-16), {"scale": 1e8}),
    "rbf of many features": (RBF(0.001), {"d": 400, "distance": 0.15}),
    "laplacian": (Laplacian(0.1), {}),
    "cubic": (Polynomial(0.1, 1.0, 3.0), {}),
    "degree 24": (Polynomial(0.01, 1.0, 24.0), {"d": 1}),
    "sigmoid": (Sigmoid(0.02, 0.0), {}),
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", SCREENING)
def test_scores_of_screened_samples_are_within_their_bound(name, sparse):
    kernel, options = SCREENING[name]
    X, y = two_clouds(**options)
    problem = svc(y, 1.0, Treatment.FREE)
    run = finished(problem, kernel, sp.csr_array(X) if sparse else X)
    screened = run.score_error > 0
    assert np.count_nonzero(screened) > len(y) / 8
    beta = problem.beta(run.alpha)
    assert not run.alpha[screened].any()
    support = np.flatnonzero(beta)
    exact = exact_values(kernel, X, X[support]) @ beta[support].astype(LONG)
    off, own = np.abs(run.score - exact), run.matrix.rounding(beta)
    assert np.all(off <= run.score_error + own)
    assert off[screened].max() > own  # they are not exact,
    assert run.score_error.max() < 0.2 * np.abs(run.score).max()  # and the bound is of use
    b = run.certificate().thresholds
    slope = y * (exact - b[0]) - 1  # the gap by exact scores
    gap = float((problem.hinges.cap * np.maximum(0, -slope) + run.alpha * slope).sum())
    assert gap <= run.certificate().gap


@pytest.mark.parametrize("degree", [65.0, 2.5])
def test_polynomials_of_high_or_broken_degree_are_recomputed_in_full(degree):
    """std::pow in float32 has no proven bound."""
    X, y = two_clouds(d=1)
    kernel = Polynomial(0.002, 1.0, degree)
    run = finished(svc(y, 1.0, Treatment.FREE), kernel, np.abs(X))
    beta = run.problem.beta(run.alpha)
    assert not run.score_error.any()
    support = np.flatnonzero(beta)
    exact = exact_values(kernel, np.abs(X), np.abs(X[support])) @ beta[support].astype(LONG)
    assert np.abs(run.score - exact).max() <= run.matrix.rounding(beta)


@pytest.mark.parametrize("formulation", [svor, svorim, svorex])
def test_the_certificate_holds_whatever_scores_are_off_by_within_the_bound(formulation):
    rng = np.random.default_rng(7)
    for _ in range(200):
        n = int(rng.integers(8, 30))
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, n - 3)])
        problem = formulation(y, n_ranks=3, C=1.0)
        X = rng.normal(size=(n, 2))
        K = RBF(1.0)(X, X)
        moving = rng.random(n) < 0.5
        alpha = problem.repair(rng.random(len(problem.hinges)) * moving[problem.hinges.sample])
        still = np.bincount(problem.hinges.sample, alpha, minlength=n) == 0
        score, error = K @ problem.beta(alpha), np.where(still, rng.random(n), 0.0)
        claimed = problem.allowing_for(error).certificate(alpha, score + error * rng.uniform(-1.0, 1.0, n))
        exact = problem.certificate(alpha, score, b=claimed.thresholds)
        assert exact.primal <= claimed.primal + 1e-9
        assert exact.dual == pytest.approx(claimed.dual)
        assert exact.gap <= claimed.gap + 1e-9
        assert exact.violation <= claimed.violation + 1e-9


def test_a_run_claims_no_more_than_its_scores_allow():
    X, y = two_clouds()
    run = finished(svc(y, 1.0, Treatment.FREE), RBF(0.02), X)
    before = run.certificate()
    worst = int(np.argmax(run.score_error))
    run.score_error[worst] = 1e3
    after = run.certificate()
    assert after.primal > before.primal + 100.0
    assert after.gap > before.gap + 100.0
    assert after.violation > 100.0


def test_what_the_estimator_reports_allows_for_it():
    X, y = two_clouds(shift=1000.0)
    model = SVC(C=1.0, gamma=0.5, solver=Block(newton=False)).fit(X, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_.ravel()
    score = exact_values(RBF(0.5), X, model.support_vectors_) @ beta[model.support_].astype(LONG)
    slope = y * (score + model.intercept_[0]) - 1.0
    primal = 0.5 * float(beta @ score) + float(np.maximum(0.0, -slope).sum())
    assert primal <= model.result_.objective * (1 + 1e-12)
    gap = float((np.maximum(0.0, -slope) + y * beta * slope).sum())
    assert gap <= model.result_.gap


# Norms of exponents on a device


def test_errors_of_far_samples_are_their_own():
    h = np.array([0.5, 3.0, 1e9, 0.1, 2e9])
    beta = np.array([1.0, -2.0, 5.0, 0.0, 1.0])
    epsilon = largest_error(h, 4)
    assert epsilon[4] > epsilon[2] > 1e6 * epsilon[1] > 0
    np.testing.assert_allclose(NormRounding(h, 4).of(beta), np.minimum.outer(epsilon, epsilon) @ abs(beta), rtol=1e-12)
    np.testing.assert_array_equal(largest_error(np.array([1e20, np.inf]), 4), 1.0)
    np.testing.assert_array_equal(NormRounding(h[:1], 4).of(beta[:1]), epsilon[:1])
    near = np.array([0.5, 2.0, 0.0])  # small errors are one bound for all, the largest
    np.testing.assert_allclose(NormRounding(near, 4).of(beta[:3]), largest_error(near, 4)[1] * 8.0, rtol=1e-12)


@pytest.mark.parametrize("far", [1e2, 1e5, 1e7])
def test_scores_on_a_device_are_within_their_bounds(far):
    pytest.importorskip("torch")
    from ordsvm.kernels.products.device_matrix import DeviceMatrix
    from ordsvm.kernels.products.on_torch import torch_products

    X, beta = np.random.default_rng(4).normal(size=(60, 5)), np.random.default_rng(5).normal(size=60)
    X[0, 0], X[1, 0], X[2] = far, -far, X[3] * (1 + 1e-6)
    library, kernel = TorchLibrary("cpu"), RBF(0.2)
    matrix = DeviceMatrix(KernelMatrix.of(kernel, X, 200.0), library, torch_products(library, kernel, X), np.arange(60))
    error = np.abs(matrix.product(beta) - exact_values(kernel, X, X) @ beta)
    bound = matrix.rounding_by_sample(beta)
    assert np.all(error <= bound + matrix.rounding(beta))
    assert bound[4:].max() < 1e-11  # of samples that are near the others
    assert bound[:2].max() <= 1 + bound[4:].max()


@pytest.mark.parametrize("far", [1e5, 1e6, 1e8])
def test_a_far_sample_costs_a_device_no_proof(far):
    pytest.importorskip("torch")
    X, y = random_data(3, n=200)
    X[0, 0] = far
    model = SVOR(C=10.0, gamma=0.2, device="torch:cpu").fit(X, y)
    assert model.result_.converged
    assert certify(model, X, y).relative_gap <= model.result_.relative_gap + 2e-4
