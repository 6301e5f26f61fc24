"""Validation of a fit under way, and early stopping by it."""

import copy
import pickle
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordsvm import GCD, SMO, SVOR, SVOREX, SVORIM, RedSVM, ShashuaLevinSVOR, certify
from ordsvm.estimators.early_stopping import WIDE_GAP, Examination, Validation, hold_out
from ordsvm.kernels import RBF, Custom, Laplacian, Linear, Polynomial, Precomputed
from ordsvm.metrics import mean_absolute_error, mean_zero_one_error
from ordsvm.result import Progress
from ordsvm.solvers import shared_matrix
from tests.cases import FORMULATIONS, N_RANKS, random_data

MODELS = [SVOR, RedSVM, SVORIM, SVOREX, ShashuaLevinSVOR]
BOX_SOLVERS = ["gcd", "asygcd", "asyagcd", "asyorgcd"]
SERIAL = [(SVOR, "gcd"), (RedSVM, "gcd"), (SVORIM, "smo"), (SVOREX, "smo"), (ShashuaLevinSVOR, "smo")]
EVERY_SOLVER = [(model, "smo") for model in (SVORIM, SVOREX, ShashuaLevinSVOR)] + [
    (model, solver) for model in (SVOR, RedSVM) for solver in BOX_SOLVERS
]
HARD = {"C": 100.0, "gamma": 1.0}  # takes many looks, and overfits
STOPPING = HARD | {"early_stopping": True, "random_state": 0, "n_iter_no_change": 5}

every_model = pytest.mark.parametrize("model", MODELS)


def data(seed: int = 1, n: int = 240, **options):
    return random_data(seed, n=n, noise=0.5, **options)


def split(n: int, seed: int = 0):
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[n // 5 :]), np.sort(order[: n // 5])


def parts(seed: int = 1, n: int = 240):
    """Samples and labels to train on, and a validation pair."""
    X, y = data(seed, n)
    train, test = split(n)
    return X[train], y[train], (X[test], y[test])


def maes(model) -> list[float]:
    return [progress.validation_mae for progress in model.result_.history]


def same_course(first, second) -> None:
    """Bit for bit the same steps, looks and machine."""
    assert first.result_.status == second.result_.status
    assert first.result_.n_iter == second.result_.n_iter
    assert first.result_.best_look == second.result_.best_look
    assert [look.n_iter for look in first.result_.history] == [look.n_iter for look in second.result_.history]
    assert maes(first) == maes(second)
    np.testing.assert_array_equal(first.result_.alpha, second.result_.alpha)
    np.testing.assert_array_equal(first.thresholds_, second.thresholds_)


def pairwise_rbf(A, B):
    """Value by value, so that it does not depend on the block it is computed in."""
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=2))


# Early stopping


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("model", "solver"), EVERY_SOLVER)
def test_every_solver_stops_early_with_the_model_of_the_best_look(model, solver, n_threads):
    X, y = data(n=400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model(solver=solver, n_threads=n_threads, tol=1e-9, **STOPPING).fit(X, y)
    result, held_out = fitted.result_, fitted.validation_indices_
    assert result.status == "early_stopping"
    assert not result.converged
    assert result.best_look == np.argmin(maes(fitted))
    best = result.history[result.best_look]
    predicted = fitted.predict(X[held_out])
    assert best.validation_mae == pytest.approx(mean_absolute_error(y[held_out], predicted))
    assert best.validation_mze == pytest.approx(mean_zero_one_error(y[held_out], predicted))
    np.testing.assert_allclose(fitted.thresholds_, best.thresholds, atol=1e-4)
    proof = certify(fitted, X, y)
    assert result.gap == pytest.approx(proof.gap, rel=1e-6)
    assert result.objective == pytest.approx(proof.primal, rel=1e-6)
    assert result.relative_gap == pytest.approx(best.relative_gap, rel=1e-3)


@pytest.mark.parametrize(("model", "solver"), SERIAL)
@pytest.mark.parametrize("patience", [1, 4])
def test_the_run_ends_after_so_many_looks_without_a_smaller_error(model, solver, patience):
    X, y = data()
    fitted = model(solver=solver, **STOPPING | {"n_iter_no_change": patience}).fit(X, y)
    errors, history = maes(fitted), fitted.result_.history
    in_vain = [0]  # after every look
    for look, progress in enumerate(history):
        smaller = errors[look] < min(errors[:look], default=np.inf)
        counts = progress.relative_gap <= WIDE_GAP
        in_vain.append(0 if smaller else in_vain[-1] + counts)
    assert in_vain[-1] == patience
    assert max(in_vain[:-1]) < patience
    assert fitted.result_.n_iter == history[-1].n_iter


def slow_rbf(A, B):
    """Rows come so slowly that the core reports by the clock too, at steps that nobody can foresee."""
    time.sleep(0.005 * (len(A) == 1))
    return pairwise_rbf(A, B)


@pytest.mark.parametrize(("model", "solver"), SERIAL)
def test_looks_come_by_steps_and_a_serial_run_repeats_bit_for_bit(model, solver):
    X, y = data(n=100)
    settings = STOPPING | {"solver": solver}
    first, again = (model(kernel=kernel, **settings).fit(X, y) for kernel in (pairwise_rbf, slow_rbf))
    same_course(first, again)
    steps = [look.n_iter for look in first.result_.history]
    assert steps == [45 * (look + 1) for look in range(len(steps))]  # 90 samples are trained on


@pytest.mark.parametrize(("model", "solver"), SERIAL)
def test_looks_come_by_steps_when_a_run_goes_on_in_float64(model, solver):
    """The solver then starts anew from the α it had, and so does its count of steps."""
    X, y = random_data(1, n=60, noise=0.0)
    train, test = split(60)
    settings = {"solver": solver, "tol": 2e-5, "C": 1000.0}  # float32 gives up on the gap of separable data
    fast, slow = (
        model(kernel=kernel, **settings).fit(X[train], y[train], validation=(X[test], y[test]))
        for kernel in (pairwise_rbf, slow_rbf)
    )
    same_course(fast, slow)
    steps = np.diff([look.n_iter for look in fast.result_.history])[:-1]  # without the look at the end
    assert np.count_nonzero(steps != 24) == 1


@every_model
def test_a_run_that_converges_first_keeps_the_optimum(model):
    X, y = data()
    settings = {"gamma": 0.1, "early_stopping": True, "random_state": 0, "n_iter_no_change": 1000}
    fitted = model(**settings).fit(X, y)
    assert fitted.result_.status == "converged"
    assert fitted.result_.best_look is None
    assert certify(fitted, X, y).relative_gap <= 1e-3
    held_out = fitted.validation_indices_
    assert maes(fitted)[-1] == pytest.approx(mean_absolute_error(y[held_out], fitted.predict(X[held_out])))


@pytest.mark.parametrize(("model", "solver"), [(SVOR, "gcd"), (SVOR, "asygcd"), (SVOR, "asyorgcd"), (SVOREX, "smo")])
@pytest.mark.parametrize("limit", ["max_iter", "time_limit", "callback"])
def test_a_run_cut_short_otherwise_returns_to_its_best_look_and_warns(model, solver, limit):
    X, y = data()
    looks = []

    def callback(progress):
        looks.append(progress)
        return limit == "callback" and len(looks) == 4

    limits = {"max_iter": {"max_iter": 700}, "time_limit": {"time_limit": 0.02}, "callback": {}}[limit]
    settings = STOPPING | {"n_iter_no_change": 10**9, "tol": 1e-13, "callback": callback, "n_threads": 2} | limits
    with pytest.warns(ConvergenceWarning, match=limit):
        fitted = model(solver=solver, **settings).fit(X, y)
    assert fitted.result_.status == limit
    assert fitted.result_.history == tuple(looks)
    assert fitted.result_.best_look == np.argmin(maes(fitted))
    held_out = fitted.validation_indices_
    assert min(maes(fitted)) == pytest.approx(mean_absolute_error(y[held_out], fitted.predict(X[held_out])))
    assert fitted.result_.gap == pytest.approx(certify(fitted, X, y).gap, rel=1e-6)


def test_looks_with_a_wide_gap_do_not_count_unless_the_error_falls():
    X, y = data(n=40)
    problem = FORMULATIONS["svor"](y, N_RANKS, 1.0)
    validation = Validation(X, y, np.ones(40), np.arange(N_RANKS), patience=2)
    examination = Examination(validation, problem, RBF(1.0), X)
    alpha, verdicts = np.zeros(len(problem.hinges)), []
    for gap in (0.9, 0.9, 0.9, 0.51, 0.5, 0.9, 0.1):
        examination.examine(alpha, progress_with(gap))
        verdicts.append(examination.satisfied)
    assert verdicts == [False] * 6 + [True]
    assert examination.best[0] == 0


def progress_with(gap: float) -> Progress:
    return Progress("none", 0, 0.0, 1.0, gap, gap, 1.0, 0, 0, 0, np.zeros(N_RANKS - 1))


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
    validation = Validation(rows, y_val, np.ones(50), np.arange(N_RANKS), patience=None)
    kernel = Precomputed() if name == "precomputed" else kernel
    examination = Examination(validation, problem, kernel, samples)
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

    validation = Validation(X[:10], y[:10], np.ones(10), np.arange(N_RANKS), patience=3)
    examination = Examination(validation, problem, Custom(kernel), X)
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


# With everything else


@every_model
def test_a_warm_start_goes_on_from_the_best_look(model):
    X, y = data()
    fitted = model(warm_start=True, **STOPPING).fit(X, y)
    kept, least = fitted.result_, min(maes(fitted))
    fitted.set_params(max_iter=0)
    with pytest.warns(ConvergenceWarning):
        fitted.fit(X, y)
    np.testing.assert_array_equal(fitted.result_.alpha, kept.alpha)
    assert maes(fitted) == [least]
    fitted.set_params(max_iter=-1).fit(X, y)
    assert fitted.result_.history[-1].objective < kept.objective


@every_model
def test_clones_copies_and_pickles(model):
    X, y = data()
    settings = STOPPING | {"validation_fraction": 0.25}
    original = model(**settings).fit(X, y)
    assert {name: clone(original).get_params()[name] for name in settings} == settings
    assert not hasattr(clone(original), "validation_indices_")
    defaults = {"early_stopping": False, "validation_fraction": 0.1, "n_iter_no_change": 10, "random_state": None}
    assert {name: model().get_params()[name] for name in defaults} == defaults
    for twin in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        same_course(original, twin)
        assert certify(twin, X, y).gap == certify(original, X, y).gap
    same_course(original, clone(original).fit(X, y))


def test_an_exception_in_the_kernel_of_validation_samples_reaches_the_caller():
    X, y, (X_val, y_val) = parts(n=60)

    def kernel(A, B):
        if len(A) == len(X_val):
            raise ZeroDivisionError("validation")
        return pairwise_rbf(A, B)

    for solver in BOX_SOLVERS:
        with pytest.raises(ZeroDivisionError, match="validation"):
            SVOR(kernel=kernel, solver=solver, n_threads=2).fit(X, y, validation=(X_val, y_val))


FAILING = {
    "check_classifiers_train": "decision_function is one score a sample",
    "check_classifiers_classes": "decision_function is one score a sample",
    "check_sample_weight_equivalence_on_dense_data": "repeated rows are drawn one by one",
    "check_sample_weight_equivalence_on_sparse_data": "repeated rows are drawn one by one",
}


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning")
@parametrize_with_checks(
    [model(early_stopping=True) for model in (SVOR, SVOREX)], expected_failed_checks=lambda estimator: FAILING
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Bad input


@pytest.fixture
def no_solver(monkeypatch):
    def called(*arguments, **options):
        pytest.fail("a solver was called")

    monkeypatch.setattr(shared_matrix, "solve", called)


@pytest.mark.usefixtures("no_solver")
@every_model
@pytest.mark.parametrize(
    ("name", "values", "allowed"),
    [
        ("early_stopping", [None, 1, "yes", [True]], "give True or False"),
        ("validation_fraction", [0, 1, -0.1, 1.5, np.nan, "0.1", None, True], "a number above 0 and below 1"),
        ("n_iter_no_change", [0, -1, 2.5, np.inf, "5", None, True], "a whole number of looks, at least 1"),
        ("random_state", [-1, 2**32, 1.5, "seed", [1, 2]], "None, a whole number .* or a numpy.random.RandomState"),
    ],
)
def test_parameters(model, name, values, allowed):
    X, y = data(n=60)
    for value in values:
        with pytest.raises(ValueError, match=f"{name}=.* is not valid: give .*{allowed}|{name}=.*: {allowed}") as error:
            model(**{name: value}).fit(X, y)
        assert "\n" not in str(error.value)


@pytest.mark.usefixtures("no_solver")
@every_model
@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize(
    ("spoil", "pattern"),
    [
        (lambda X, y: X, r"validation=.*not valid: give a pair \(X, y\)"),
        (lambda X, y: (X,), r"validation=.*not valid: give a pair \(X, y\)"),
        (lambda X, y: (X, y, y), r"validation=.*not valid: give a pair \(X, y\)"),
        (lambda X, y: "ab", r"validation='ab' is not valid: give a pair \(X, y\)"),
        (lambda X, y: (X[:, :2], y), r"validation=\(X, y\): X has 2 features, but .* is expecting 3 features"),
        (lambda X, y: (X[0], y), r"validation=\(X, y\): Expected 2D array"),
        (lambda X, y: (np.where(X > 1, np.nan, X), y), r"validation=\(X, y\): .*contains NaN"),
        (lambda X, y: (1e200 * X, y), r"validation=\(X, y\): X holds values as large as .*scale the features"),
        (lambda X, y: (X[:0], y[:0]), r"validation=\(X, y\): .*0 sample"),
        (lambda X, y: (X, y[:-1]), r"validation=\(X, y\): .*inconsistent numbers of samples.*12, 11"),
        (lambda X, y: (X, y + 1), r"validation=\(X, y\): y contains labels that are not among .*: 4; add them"),
        (lambda X, y: (X, y.astype(str)), r"validation=\(X, y\): y contains labels that are not among"),
        (lambda X, y: (X, None), r"validation=\(X, y\): y should be a 1d array or list"),
        (lambda X, y: (X, np.where(y == 1, np.nan, y)), r"validation=\(X, y\): y contains missing labels"),
    ],
)
def test_validation_samples(model, early_stopping, spoil, pattern):
    X, y, validation = parts(n=60)
    with pytest.raises(ValueError, match=pattern):
        model(early_stopping=early_stopping).fit(X, y, validation=spoil(*validation))


@pytest.mark.usefixtures("no_solver")
@every_model
def test_validation_rows_of_a_precomputed_kernel(model):
    X, y, (X_val, y_val) = parts(n=60)
    with pytest.raises(ValueError, match=r"validation=\(X, y\): X has 12 features, but .* is expecting 48"):
        model(kernel="precomputed").fit(pairwise_rbf(X, X), y, validation=(pairwise_rbf(X_val, X_val), y_val))


@pytest.mark.usefixtures("no_solver")
@every_model
@pytest.mark.parametrize(("n", "fraction"), [(4, 0.1), (60, 0.95), (5, 0.3)])
def test_too_few_samples_to_hold_out(model, n, fraction):
    X, y = random_data(1, n=n)
    pattern = rf"validation_fraction={fraction} of {n} samples leaves some rank without training samples: give a"
    with pytest.raises(ValueError, match=pattern):
        model(early_stopping=True, validation_fraction=fraction).fit(X, y)


@every_model
def test_validation_samples_need_a_finite_score(model):
    X, y, (X_val, y_val) = parts(n=60)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning), pytest.raises(ValueError, match="overflow"):
        model(kernel="poly", degree=9, gamma=1.0).fit(X, y, validation=(1e120 * X_val, y_val))
