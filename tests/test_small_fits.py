"""The short ways of small fits: the core's certificate, arrays that need no conversion, and labels that are counted."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import small_steps
from ordsvm import SVC, SVOR, SVORIM, SVR, LinearSVOR, _core
from ordsvm.estimators.validation import check_targets
from ordsvm.formulations import cost_matrix, cost_weights, svor, svr
from ordsvm.problem import Hinges, Treatment
from ordsvm.problem.labels import encode_classes, encode_labels
from ordsvm.solvers.kernel.run import core_hinges
from tests.cases import FORMULATIONS, N_RANKS, random_data

MODELS = [SVC, SVOR, SVR, SVORIM, LinearSVOR]
UNORDERED = [name for name in FORMULATIONS if name != "svorex"]


def random_variables(problem, seed):
    """α with some at both of their bounds, scores and errors."""
    rng = np.random.default_rng(seed)
    alpha = np.clip(rng.normal(0.5, 0.7, len(problem.hinges)), 0.0, 1.0) * problem.hinges.cap
    error = np.where(rng.random(problem.n_samples) < 0.3, 1e-3, 0.0) if seed % 2 else np.zeros(problem.n_samples)
    alpha[error[problem.hinges.sample] > 0] = 0.0
    return problem.repair(alpha), rng.normal(scale=[1.0, 30.0, 0.01][seed % 3], size=problem.n_samples), error


@pytest.mark.parametrize("name", UNORDERED)
@pytest.mark.parametrize("seed", range(6))
def test_the_certificate_of_the_core_is_that_of_the_problem(name, seed):
    problem = FORMULATIONS[name](random_data(seed, n=60)[1], N_RANKS, 2.0)
    alpha, score, error = random_variables(problem, seed)
    *proof, thresholds, gamma = _core.prove(core_hinges(problem), alpha, score, error, 8.0, 3.0)
    beta = problem.beta(alpha)
    rounding = (8 + 0.5 * np.sqrt(np.count_nonzero(beta))) * np.finfo(float).eps * 3.0 * np.abs(beta).sum()
    other = problem.allowing_for(error).certificate(alpha, score, rounding)
    np.testing.assert_allclose(proof, [other.primal, other.dual, other.gap, other.violation], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(thresholds, other.thresholds, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gamma, problem.gamma(alpha), atol=1e-12)


@pytest.mark.parametrize("name", UNORDERED)
def test_thresholds_of_the_core_are_the_best_ones_where_many_levels_are_alike(name):
    problem = FORMULATIONS[name](random_data(0, n=60)[1], N_RANKS, 2.0)
    for score in (np.zeros(60), np.repeat([0.0, 1.0, 1.001], 20)):
        alpha = 0.5 * problem.hinges.cap
        *_, thresholds, _ = _core.prove(core_hinges(problem), alpha, score, np.zeros(60), 8.0, 1.0)
        np.testing.assert_allclose(thresholds, problem.best_thresholds(score), atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_are_not_finite_prove_nothing(value):
    problem = FORMULATIONS["svor"](random_data(0)[1], N_RANKS, 2.0)
    score = np.zeros(30)
    score[3] = value
    proof = _core.prove(core_hinges(problem), np.zeros(len(problem.hinges)), score, np.zeros(30), 8.0, 1.0)
    assert np.isnan(proof[2])


@pytest.mark.parametrize("model", MODELS)
def test_data_that_need_conversion_train_the_same_machine(model):
    X, rank = random_data(0)
    y = rank + 0.3 * X[:, 0] if model is SVR else rank
    plain = model().fit(X, y)
    for other in (X.tolist(), np.asfortranarray(X), pd.DataFrame(X), X[:, ::-1][:, ::-1]):
        np.testing.assert_array_equal(model().fit(other, list(y)).predict(X), plain.predict(X))
    assert plain.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("model", MODELS)
def test_names_of_features_are_forgotten_where_the_next_fit_has_none(model):
    X, y = random_data(0)
    machine = model().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert list(machine.feature_names_in_) == ["a", "b", "c"]
    machine.fit(X[:, :2].copy(), y)
    assert not hasattr(machine, "feature_names_in_")
    assert machine.n_features_in_ == 2


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity"), (-1e141, "too large")]
)
def test_numbers_that_nothing_can_be_computed_with_are_refused(model, value, message):
    X, y = random_data(0)
    X[3, 1] = value
    with pytest.raises(ValueError, match=message):
        model().fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_float32_numbers_that_are_not_finite_are_refused(value):
    X, y = random_data(0)
    X = X.astype(np.float32)
    X[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        SVC().fit(X, y)


@pytest.mark.parametrize("shape", [(1, 3), (0, 3), (30, 0)])
def test_tables_without_samples_or_features_are_refused(shape):
    with pytest.raises(ValueError, match="minimum of"):
        SVC().fit(np.zeros(shape), np.arange(shape[0]))


def test_targets_that_nothing_can_be_computed_with_are_refused():
    for value, message in ((np.nan, "NaN"), (np.inf, "infinity"), (-1e141, "1e140")):
        with pytest.raises(ValueError, match=message):
            check_targets(np.array([0.0, value]), "SVR")
    target = np.array([1.0, 2.0])
    assert check_targets(target, "SVR") is target


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.float64, bool])
@pytest.mark.parametrize("encode", [encode_labels, encode_classes])
def test_labels_that_are_counted_have_the_classes_of_those_that_are_sorted(encode, dtype):
    labels = np.array([100, -27, 0, 0, 100, 5, -27, 0]).astype(dtype)
    ranks = encode(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(ranks.classes, classes)
    assert ranks.classes.dtype == labels.dtype
    np.testing.assert_array_equal(ranks.codes, codes)
    far_apart = encode(np.array([-(2**62), 2**62, -(2**62), 2**62]))
    assert far_apart.codes.tolist() == [0, 1, 0, 1]


def test_tables_made_in_order_are_those_that_are_sorted():
    rng = np.random.default_rng(0)
    y, C = rng.integers(0, 4, 20), rng.uniform(0, 1, 20) * (rng.random(20) > 0.3)
    weights = cost_weights(cost_matrix("squared", 4))
    made = svor(y, 4, C, weights).hinges
    threshold, sample = np.divmod(np.arange(60), 20)
    sign = np.where(y[sample] > threshold, 1.0, -1.0)
    assert_same(made, Hinges.table(sample, threshold, sign, 1.0, C[sample] * weights[y[sample], threshold]))
    twice, target = np.tile(np.arange(20), 2), rng.normal(size=20)
    sign = np.repeat([1.0, -1.0], 20)
    other = Hinges.table(twice, 0, sign, sign * target[twice] - 0.1, C[twice])
    assert_same(svr(target, 0.1, C, Treatment.FREE).hinges, other)


def assert_same(first, second):
    for name in ("sample", "threshold", "sign", "offset", "cap"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
        assert getattr(first, name).dtype == getattr(second, name).dtype


@pytest.mark.filterwarnings("ignore")  # of a rank that is never predicted
def test_steps_of_a_fit_add_up():
    before = vars(SVOR).copy()
    row = small_steps.rows("SVOR", quick=True)[0]
    assert {"samples", "table", "core", "certificate", "findings"} <= set(row["steps"])
    assert sum(row["steps"].values()) == pytest.approx(row["figure"], rel=0.5)
    assert vars(SVOR) == before
