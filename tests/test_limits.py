"""Limits of iterations, time and precision end a fit with a usable model and a clear warning."""

import re
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ordsvm import SMO, SVORIM, Progress, certify
from tests.process_cases import ESTIMATORS, slowness, stopped_fit


def rounding_of_a_score(model, X):
    """What docs/rounding.md takes a score of a Gaussian kernel to be off by, with distances from norms."""
    gamma = 1 / (X.shape[1] * X.var())  # "scale"
    beta, of_norms = model.dual_coef_, 4 * gamma * np.max(np.sum(X**2, axis=1))
    roundings = 4 + np.sqrt(X.shape[1]) + 0.5 * np.sqrt(np.count_nonzero(beta)) + of_norms
    return roundings * np.finfo(np.float64).eps * np.abs(beta).sum()


def assert_usable(model, X, y):
    """Both gaps include an estimate of rounding, each of its own, which is no more than this one; it shows where the
    dual variables are large and the gap is not, as on machines that come far before a fit is stopped."""
    assert np.all(np.isfinite(model.thresholds_))
    assert model.thresholds_.shape == (3,)
    assert np.all(np.isfinite(model.decision_function(X)))
    assert set(model.predict(X)) <= set(y)
    certificate = certify(model, X, y)
    rounding, alpha = rounding_of_a_score(model, X), model.result_.alpha
    of_gap = rounding * np.sum(model.C + alpha)
    assert model.result_.gap == pytest.approx(certificate.gap, rel=1e-6, abs=of_gap)
    assert model.result_.violation == pytest.approx(certificate.violation, rel=1e-6, abs=2 * rounding)
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
    assert time.monotonic() - started < 3.5 * slowness()
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
        model = estimator(C=10.0, tol=tol, time_limit=60.0).fit(X, y)
    assert model.result_.status != "time_limit"  # 30,000 steps reach the limits of float64
    assert model.result_.violation <= tol or not model.result_.converged
    assert model.result_.violation < max(1e-12, 1.01 * tol)


def test_single_precision_rows_are_given_up_where_they_cannot_reach_tol():
    """K is about 3e4 here: float32 rows carry errors of 1e-3 = tol, float64 rows solve it in a fraction of a second."""
    X, y = 100.0 * np.random.default_rng(0).normal(size=(120, 3))[60:], np.repeat([1, 2, 3], 20)
    double = SVORIM(kernel="linear", solver=SMO(precision="float64"), time_limit=60.0).fit(X, y)
    assert double.result_.converged
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = SVORIM(kernel="linear", time_limit=60.0).fit(X, y)
    assert model.result_.converged
    assert model.result_.objective == pytest.approx(double.result_.objective, rel=1e-3)
