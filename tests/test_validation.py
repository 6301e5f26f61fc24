"""Validation of a fit under way: errors in the history, held-out samples, data of every kind."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from ordsvm import GCD, SMO, SVOR, certify
from ordsvm.estimators.early_stopping import Validation, ValidationErrors, hold_out
from ordsvm.kernels import RBF, Custom, Laplacian, Linear, Polynomial, Precomputed
from ordsvm.metrics import mean_absolute_error, mean_zero_one_error
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.validation_cases import (
    BOX_SOLVERS,
    HARD,
    MODELS,
    SERIAL,
    STOPPING,
    data,
    every_model,
    maes,
    pairwise_rbf,
    parts,
    progress_with,
    same_course,
    split,
)

# Errors in the history


@pytest.mark.parametrize(("model", "solver"), SERIAL)
def test_errors_of_a_look_are_those_of_a_model_stopped_there(model, solver):
    X, y, (X_val, y_val) = parts()
    settings = HARD | {"solver": solver}
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        watched = model(max_iter=1000, **settings).fit(X, y, validation=(X_val, y_val))
        assert len(watched.result_.history) > 5
        for look in watched.result_.history:
            stopped = model(max_iter=look.n_iter, **settings).fit(X, y)
            predicted = stopped.predict(X_val)
            np.testing.assert_allclose(stopped.thresholds_, look.thresholds, atol=1e-4)
            assert look.validation_mae == pytest.approx(mean_absolute_error(y_val, predicted))
            assert look.validation_mze == pytest.approx(mean_zero_one_error(y_val, predicted))
    assert len(set(maes(watched))) > 3


@pytest.mark.parametrize(("model", "solver"), SERIAL)
def test_being_watched_does_not_change_a_run(model, solver):
    X, y, validation = parts()
    plain, watched = model(solver=solver).fit(X, y), model(solver=solver).fit(X, y, validation=validation)
    np.testing.assert_array_equal(plain.result_.alpha, watched.result_.alpha)
    assert watched.result_.best_look is None
    assert len(watched.validation_indices_) == 0
    assert all(look.validation_mae is None and look.validation_mze is None for look in plain.result_.history)
    assert maes(watched)[-1] == pytest.approx(mean_absolute_error(validation[1], watched.predict(validation[0])))


@pytest.mark.parametrize("solver", BOX_SOLVERS)
def test_the_last_errors_are_those_of_the_model(solver):
    X, y, (X_val, y_val) = parts()
    fitted = SVOR(solver=solver, n_threads=2, gamma=0.3).fit(X, y, validation=(X_val, y_val))
    assert fitted.result_.converged
    assert maes(fitted)[-1] == pytest.approx(mean_absolute_error(y_val, fitted.predict(X_val)))
    assert fitted.result_.history[-1].n_iter == fitted.result_.n_iter


@every_model
def test_even_a_run_without_steps_has_a_look(model):
    X, y, validation = parts(n=60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        fitted = model(max_iter=0).fit(X, y, validation=validation)
    assert maes(fitted) == [pytest.approx(mean_absolute_error(validation[1], fitted.predict(validation[0])))]


KERNELS = {
    "linear": Linear(),
    "rbf": RBF(0.5),
    "poly": Polynomial(0.5, 1.0, 2.0),
    "laplacian": Laplacian(0.5),
    "function": Custom(pairwise_rbf),
}


@pytest.mark.parametrize("name", [*KERNELS, "precomputed", "rbf-csr", "linear-csr"])
def test_scores_follow_beta(name):
    """Whatever moved in between, the errors are those of K(X_val, X) β."""
    X, y = data(n=60)
    X_val, y_val = random_data(2, n=50)
    kernel = KERNELS.get(name.removesuffix("-csr"), RBF(0.5))
    K = kernel(X_val, X)
    problem, rng = FORMULATIONS["svor"](y, N_RANKS, 1.0), np.random.default_rng(0)
    container = sp.csr_array if name.endswith("csr") else np.asarray
    samples, rows = (np.arange(60), K) if name == "precomputed" else (container(X), container(X_val))
    validation = Validation(rows, y_val, np.ones(50), np.arange(N_RANKS), "count", patience=None)
    kernel = Precomputed() if name == "precomputed" else kernel
    examination = ValidationErrors(validation, problem, kernel, samples)
    alpha, seen = np.zeros(len(problem.hinges)), set()
    for moving in (1, 50, 0, 3, len(alpha)):
        alpha[rng.permutation(len(alpha))[:moving]] = rng.uniform(size=moving)
        look = examination.examine(alpha, progress_with(1.0))
        predicted = np.where(K @ problem.beta(alpha) < 0, 0, N_RANKS - 1)  # thresholds all at 0
        assert look.validation_mae == pytest.approx(np.abs(predicted - y_val).mean())
        assert look.validation_mze == pytest.approx(np.mean(predicted != y_val))
        seen.add(look.validation_mae)
    assert len(seen) > 2
    assert examination.best is None


def test_only_samples_that_moved_cost_kernel_values():
    X, y = data(n=60)
    problem, evaluated = FORMULATIONS["svor"](y, N_RANKS, 1.0), []

    def kernel(A, B):
        evaluated.append((len(A), len(B)))
        return pairwise_rbf(A, B)

    validation = Validation(X[:10], y[:10], np.ones(10), np.arange(N_RANKS), "count", patience=3)
    examination = ValidationErrors(validation, problem, Custom(kernel), X)
    alpha = np.zeros(len(problem.hinges))
    for moved in ([], [4], [], [4, 9, 30]):
        alpha[moved] += 0.5  # the first hinges are those of the first threshold, one a sample
        examination.examine(alpha, progress_with(1.0))
    assert evaluated == [(10, 1), (10, 3)]


def test_verbose_tells_the_error(capsys):
    X, y, validation = parts(n=60)
    fitted = SVOR(verbose=True).fit(X, y, validation=validation)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(fitted.result_.history)
    assert all(f"validation MAE {mae:.4g}" in line for line, mae in zip(lines, maes(fitted), strict=True))


# Held-out samples


@given(
    sizes=st.lists(st.integers(0, 40), min_size=2, max_size=6),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 99),
    absent=st.integers(0, 5),
)
@settings(max_examples=200, deadline=None)
def test_what_is_held_out_is_a_fair_share_of_every_rank(sizes, fraction, seed, absent):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    weight = np.ones(len(codes))
    weight[:absent] = 0.0
    present = np.bincount(codes, weight, len(sizes)).astype(int)
    assume(present.any())
    wanted = int(np.ceil(fraction * present.sum()))
    if wanted > np.maximum(present - 1, 0).sum():
        with pytest.raises(ValueError, match="leaves some rank without training samples"):
            hold_out(codes, weight, fraction, np.random.RandomState(seed))
        return
    drawn = hold_out(codes, weight, fraction, np.random.RandomState(seed))
    assert len(drawn) == len(set(drawn)) == wanted
    assert np.all(weight[drawn] > 0)
    taken = np.bincount(codes[drawn], minlength=len(sizes))
    assert np.all(taken[present > 0] < present[present > 0])
    exact = fraction * present
    assert np.all(np.minimum(exact - 2, present - 2) < taken)
    np.testing.assert_array_equal(drawn, hold_out(codes, weight, fraction, np.random.RandomState(seed)))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed", pytest.param(pairwise_rbf, id="function")])
@pytest.mark.parametrize(("model", "solver"), SERIAL)
def test_held_out_samples_are_not_trained_on(model, solver, kernel):
    """Bit for bit the course of a fit that is given the rest, and them for validation."""
    X, y = data()
    X = pairwise_rbf(X, X) if kernel == "precomputed" else X
    settings = STOPPING | {"gamma": "scale", "kernel": kernel, "solver": solver, "class_weight": "balanced"}
    held = model(**settings).fit(X, y)
    test = held.validation_indices_
    train = np.setdiff1d(np.arange(len(y)), test)
    assert np.bincount(y[test]).tolist() == [6] * N_RANKS
    inside = X[np.ix_(train, train)] if kernel == "precomputed" else X[train]
    outside = X[np.ix_(test, train)] if kernel == "precomputed" else X[test]
    given = model(**settings).fit(inside, y[train], validation=(outside, y[test]))
    same_course(held, given)
    np.testing.assert_array_equal(held.support_, train[given.support_])
    np.testing.assert_array_equal(held.dual_coef_, given.dual_coef_)
    np.testing.assert_array_equal(held.predict(X), given.predict(X[:, train] if kernel == "precomputed" else X))


@every_model
def test_held_out_samples_count_with_their_weights(model):
    X, y = data()
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    fitted = model(**STOPPING).fit(X, y, weight)
    test = fitted.validation_indices_
    best = fitted.result_.history[fitted.result_.best_look]
    errors = {"y_true": y[test], "y_pred": fitted.predict(X[test]), "sample_weight": weight[test]}
    assert best.validation_mae == pytest.approx(mean_absolute_error(**errors))
    assert best.validation_mze == pytest.approx(mean_zero_one_error(**errors))
    assert certify(fitted, X, y, weight).gap == pytest.approx(fitted.result_.gap, rel=1e-6)


@pytest.mark.parametrize(
    ("model", "solver"), [(SVOR, GCD("float64"))] + [(model, SMO(precision="float64")) for model in MODELS[2:]]
)
def test_weight_zero_is_a_row_absent(model, solver):
    X, y = data()
    present = np.random.default_rng(3).random(len(y)) < 0.8
    settings = STOPPING | {"C": 10.0, "solver": solver}
    weighted = model(**settings).fit(X, y, present.astype(float))
    without = model(**settings).fit(X[present], y[present])
    np.testing.assert_array_equal(weighted.validation_indices_, np.flatnonzero(present)[without.validation_indices_])
    assert weighted.result_.n_iter == without.result_.n_iter
    assert maes(weighted) == maes(without)
    np.testing.assert_allclose(weighted.result_.alpha, without.result_.alpha, atol=1e-6)


@every_model
def test_the_random_state_draws_the_samples(model):
    X, y = data()
    first, again, other = (
        model(**STOPPING | {"random_state": seed}).fit(X, y).validation_indices_
        for seed in (3, np.random.RandomState(3), 4)
    )
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)


# Data of every kind


@pytest.mark.filterwarnings("error")
@every_model
def test_labels_and_samples_of_any_kind(model):
    X, y = data()
    expected = model(**STOPPING).fit(X, y)
    grades = np.array(["poor", "fair", "good", "great"])
    names = ["a", "b", "c"]
    same_course(expected, model(categories=grades, **STOPPING).fit(X, grades[y]))
    series = pd.Series(pd.Categorical(grades[y], grades, ordered=True))
    same_course(expected, model(**STOPPING).fit(pd.DataFrame(X, columns=names), series))
    train, test = split(len(y))
    given = model(**STOPPING).fit(X[train], y[train], validation=(X[test], y[test]))
    frame = pd.DataFrame(X, columns=names)
    same_course(
        given,
        model(**STOPPING).fit(frame.iloc[train], series.iloc[train], validation=(frame.iloc[test], series.iloc[test])),
    )
    same_course(given, model(**STOPPING).fit(X[train], y[train], validation=[X[test].tolist(), y[test].tolist()]))


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_matrix])
@every_model
def test_sparse_samples(model, container):
    X, y = data()
    train, test = split(len(y))
    fitted = model(**STOPPING).fit(container(X), y)
    held_out = fitted.validation_indices_
    assert min(maes(fitted)) == pytest.approx(mean_absolute_error(y[held_out], fitted.predict(X[held_out])))
    mixed = model(**STOPPING).fit(container(X[train]), y[train], validation=(X[test], y[test]))
    assert min(maes(mixed)) == pytest.approx(mean_absolute_error(y[test], mixed.predict(X[test])))
    for other in (fitted, mixed):
        assert other.result_.status == "early_stopping"


@pytest.mark.filterwarnings("ignore:No sample of positive weight")
@every_model
def test_errors_count_ranks_that_the_model_lacks(model):
    """A category without training samples may be dropped from the model; a distance across it is still two."""
    X, y = data(n_ranks=3)
    y = np.array([0, 1, 3])[y]
    train, test = split(len(y))
    y_val = y[test].copy()
    y_val[:2] = 2
    fitted = model(categories=range(4), gamma=0.1).fit(X[train], y[train], validation=(X[test], y_val))
    assert maes(fitted)[-1] == pytest.approx(np.abs(fitted.predict(X[test]) - y_val).mean())
