"""Every model on real data: the duality gap, recomputed from scratch, is within the tolerance."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from benchmarks.datasets import DataMissing, ordinal, svmlight
from ordsvm import SVOR, SVOREX, SVORIM, LinearNPSVOR, LinearSVC, LinearSVOR, ShashuaLevinSVOR, certify
from ordsvm.metrics import mean_absolute_error

MODELS = [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR]
LINEAR = [LinearSVOR, LinearNPSVOR, LinearSVC]
SETS = {"machine_cpu": None, "ESL": None, "winequality-red": None, "abalone": 2000, "california_housing": 2000}


def real_data(load, *arguments, **options):
    try:
        return load(*arguments, **options)
    except DataMissing as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", SETS)
def test_relative_gap_and_violation_are_within_the_tolerance(name, model, C):
    X, y = real_data(ordinal, name, SETS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        fitted = model(C=C).fit(X, y)
    proof = certify(fitted, X, y)
    assert 0 <= proof.relative_gap <= 1e-3
    assert proof.violation <= 1e-3 + 1e-9
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-8)
    if model is not ShashuaLevinSVOR:
        assert np.all(np.diff(fitted.thresholds_) >= -1e-3)


@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("model", LINEAR)
@pytest.mark.parametrize("name", SETS)
def test_linear_machines(name, model, C):
    """The gap is proved, and ordinal machines are nearer the truth than the median rank."""
    X, y = real_data(ordinal, name, SETS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        fitted = model(C=C).fit(X, y)
    proof = certify(fitted, X, y)
    assert 0 <= proof.relative_gap <= 0.01
    assert proof.primal == pytest.approx(fitted.result_.objective, rel=1e-8)
    if model is not LinearSVC:
        assert mean_absolute_error(y, fitted.predict(X)) < np.mean(np.abs(y - np.median(y)))


@pytest.mark.parametrize("model", LINEAR)
def test_linear_machines_on_sparse_relevance_judgements(model):
    X, y = real_data(svmlight, "mq2008")
    X, y = X[:1000], y[:1000]
    sparse, dense = (model(tol=1e-4, max_iter=10_000).fit(samples, y) for samples in (X, X.toarray()))
    assert certify(sparse, X, y).relative_gap <= 1e-4
    assert sparse.result_.objective == pytest.approx(dense.result_.objective, rel=2e-4)  # both within their gaps


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_relevance_judgements(model, kernel):
    """MQ2008: queries and documents with grades of relevance 0, 1, 2, in svmlight's format."""
    X, y = real_data(svmlight, "mq2008")
    X, y = X[:600], y[:600]
    fitted = model(kernel=kernel).fit(X, y)
    proof = certify(fitted, X, y)
    assert 0 <= proof.relative_gap <= 1e-3
    assert proof.violation <= 1e-3 + 1e-9
    dense = model(kernel=kernel).fit(X.toarray(), y)
    assert fitted.result_.objective == pytest.approx(dense.result_.objective, rel=2e-3)  # both within their gaps
