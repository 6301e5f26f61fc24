"""Regression on targets far from 0: the gap that is claimed covers what float64 makes of them."""

import warnings

import numpy as np
import pytest

from ordsvm import SVR, certify

Long = np.longdouble


def line(n: int = 40):
    """Targets that are multiples of 2⁻¹⁰, so that powers of two can be added to them without rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    z = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=n)
    return X, np.round(z * 1024) / 1024


def fitted(y, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SVR(C=10.0, gamma=0.4, n_threads=1, **options).fit(X, y)


def true_gap(model: SVR, X, y) -> float:
    """P − D of the machine's own intercept in extended precision.

    Σβ is 0 up to rounding where the intercept is free: its product with the intercept is left out, which dual variables
    that are moved to 0 by as much in total take away.
    """
    wide = X.astype(Long)
    if model.kernel == "linear":
        K = wide @ wide.T
    else:
        K = np.exp(-Long(model.kernel_.gamma) * ((wide[:, None] - wide[None]) ** 2).sum(-1))
    alpha = model.result_.alpha.astype(Long).reshape(-1, 2)
    beta = alpha[:, 0] - alpha[:, 1]
    score, b = K @ beta, Long(model.intercept_[0])
    apart, half_width = y.astype(Long) - b, Long(model.epsilon)
    paid = Long(model.C) * np.maximum(0, np.abs(apart - score) - half_width)
    gap = beta @ score + paid.sum() - apart @ beta + half_width * alpha.sum()
    return float(gap + (b - beta.sum()) ** 2 / 2 if model.intercept == "penalized" else gap)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("intercept", ["free", "penalized"])
@pytest.mark.parametrize("far", [0.0, 1e6, 1e9, 1e12, -1e12])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_the_gap_covers_the_rounding_of_far_targets(kernel, intercept, far, tol):
    X, z = line()
    model = fitted(z + far, X, kernel=kernel, intercept=intercept, tol=tol)
    proof = certify(model, X, z + far)
    gap = true_gap(model, X, z + far) - 1e-18 * proof.primal  # what extended precision leaves
    assert gap <= proof.gap
    assert gap <= model.result_.gap
    if intercept == "free":
        assert proof.gap <= model.result_.gap * (1 + 1e-9)
        assert proof.primal == pytest.approx(model.result_.objective, abs=model.result_.gap)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("solver", ["auto", "smo", "block", "interior-point"])
@pytest.mark.parametrize("far", [2.0**10, -(2.0**30), 3.0, 2.0**40])
def test_a_constant_added_to_the_targets_changes_the_intercept_alone(kernel, solver, far):
    X, z = line()
    near, moved = (fitted(y, X, kernel=kernel, solver=solver, tol=1e-4) for y in (z, z + far))
    assert np.array_equal(near.result_.alpha, moved.result_.alpha)
    assert moved.intercept_ == pytest.approx(near.intercept_ + far, rel=1e-15)
    assert moved.result_.objective == near.result_.objective


def test_targets_without_weight_do_not_move_the_others():
    X, z = line()
    weight = np.ones(len(z))
    weight[:3] = 0.0
    far = z.copy()
    far[:3] = 1e12
    near, moved = (SVR(C=10.0, gamma=0.4, n_threads=1).fit(X, y, sample_weight=weight) for y in (z, far))
    assert np.array_equal(near.result_.alpha, moved.result_.alpha)
    assert np.array_equal(near.intercept_, moved.intercept_)


def test_certify_refuses_targets_that_are_elsewhere():
    X, z = line()
    model = fitted(z, X)
    with pytest.raises(ValueError, match="not the labels, weights and parameters"):
        certify(model, X, z + 1.0)


def test_equal_targets_are_the_intercept():
    X, _ = line()
    model = fitted(np.full(len(X), 1e9 + 0.1), X)
    assert model.intercept_ == 1e9 + 0.1
    assert (model.result_.status, model.result_.objective, model.result_.relative_gap) == ("converged", 0.0, 0.0)
