"""Early stopping by the error on validation samples."""

import copy
import pickle
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordsvm import SVOR, SVOREX, ModelWarning, certify
from ordsvm.estimators.early_stopping import WIDE_GAP, Validation, ValidationErrors
from ordsvm.kernels import RBF
from ordsvm.metrics import mean_absolute_error, mean_zero_one_error
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.validation_cases import (
    BOX_SOLVERS,
    EVERY_SOLVER,
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


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("model", "solver"), EVERY_SOLVER)
def test_every_solver_stops_early_with_the_model_of_the_best_look(model, solver, n_threads):
    X, y = data(n=400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)  # the best look can be an early one, short of some ranks
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
    """Rows come so slowly that the core reports by the clock too, at steps that cannot be foreseen."""
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
    validation = Validation(X, y, np.ones(40), np.arange(N_RANKS), "count", patience=2)
    examination = ValidationErrors(validation, problem, RBF(1.0), X)
    alpha, verdicts = np.zeros(len(problem.hinges)), []
    for gap in (0.9, 0.9, 0.9, 0.51, 0.5, 0.9, 0.1):
        examination.examine(alpha, progress_with(gap))
        verdicts.append(examination.satisfied)
    assert verdicts == [False] * 6 + [True]
    assert examination.best[0] == 0


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


def test_a_first_fit_that_is_interrupted_leaves_no_model():
    def stop(progress):
        raise KeyboardInterrupt

    X, y = data()
    model = SVOR(**STOPPING, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


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
@pytest.mark.parametrize("n_samples", [30, 50])
def test_samples_and_labels_of_different_number(model, n_samples):
    X, y = random_data(1, n=60)
    with pytest.raises(ValueError, match=rf"inconsistent numbers of samples: \[{n_samples}, 60\]"):
        model(early_stopping=True, random_state=0).fit(X[:n_samples], y)


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
