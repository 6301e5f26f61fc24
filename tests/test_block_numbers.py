"""The block solver where numbers are hard: large scores, indefinite kernels, samples far from the origin."""

import warnings

import numpy as np
import pytest

from ordsvm import SVC, SVR, Block, certify
from ordsvm.kernels import RBF, Laplacian


@pytest.mark.parametrize("kernel", [RBF(1e-5), RBF(1e-3), Laplacian(1e-3)], ids=str)
def test_scores_of_dense_samples_far_from_the_origin_with_many_zeros(kernel):
    random = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + random.integers(0, 1000, 90), np.eye(6)[random.integers(0, 6, 90)]])
    beta = random.normal(size=90)
    distance = np.abs(X[:, None] - X)
    distance = distance.sum(axis=2) if isinstance(kernel, Laplacian) else (distance**2).sum(axis=2)
    expected = np.exp(-kernel.gamma * distance) @ beta
    np.testing.assert_allclose(kernel.rows(X).product(beta), expected, atol=1e-12 * np.abs(beta).sum())


@pytest.mark.parametrize("intercept", ["free", "none", "penalized"])
@pytest.mark.parametrize(("size", "C"), [(1e4, 1e4), (2e5, 1e5)])
def test_targets_so_large_that_float32_does_not_resolve_tol(intercept, size, C):
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 3))
    y = size * (1 + 0.3 * np.sin(X[:, 0]) + 0.01 * random.normal(size=80))
    model = SVR(C=C, gamma=0.3, intercept=intercept, solver=Block(), epsilon=0.01 * size, time_limit=60.0).fit(X, y)
    assert model.result_.status == "converged"
    assert certify(model, X, y).relative_gap <= 1e-3


@pytest.mark.parametrize("intercept", ["free", "none", "penalized"])
@pytest.mark.parametrize("seed", range(10))
def test_a_kernel_with_negative_values_on_its_diagonal_ends(intercept, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 3))
    X[1] = X[0]
    y = np.where(X[:, 0] + 0.3 * random.normal(size=40) > 0, 1, -1)
    y[:2] = 1, -1
    model = SVC(kernel="sigmoid", coef0=-1.0, gamma=0.3, intercept=intercept, solver="block", time_limit=20.0)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y)
    assert model.result_.status != "time_limit"
    assert np.all((model.result_.alpha >= 0) & (model.result_.alpha <= 1))
    assert model.result_.n_iter > 0
