"""Where the solver that `auto` takes gets nowhere, the interior-point method goes on; all fits of some size end."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import GCD, SMO, SVC, SVOR, SVOREX, SVORIM, SVR, RedSVM, ShashuaLevinSVOR
from ordsvm.kernels import RBF, Linear, Sigmoid
from ordsvm.problem import Treatment
from ordsvm.result import FitResult
from ordsvm.solvers import Control, InteriorPoint, KernelMatrix, solve
from ordsvm.solvers.auto import LAST_RESORT_SAMPLES, LEAST_KERNEL_PASSES, Work, last_resort
from ordsvm.solvers.kernel.problems import solve_with_last_resort
from ordsvm.solvers.kernel.run import STEPS_BEFORE_LAST_RESORT, STEPS_OF_A_HINGE
from ordsvm.solvers.solution import Solution
from tests.cases import FORMULATIONS, N_RANKS, random_data

MODELS = [SVOR, RedSVM, SVORIM, SVOREX, ShashuaLevinSVOR, SVC, SVR]
ITERATIONS = 150  # of the last resort, at most


def fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def budget(model) -> int:
    """Steps of all problems of a machine before the last resort takes over, and its iterations."""
    n_problems = np.size(getattr(model, "intercept_", 0))
    steps = n_problems * (STEPS_BEFORE_LAST_RESORT + ITERATIONS)
    return steps + STEPS_OF_A_HINGE * len(model.result_.alpha)


@pytest.mark.parametrize("scale", [1e2, 1e3])
@pytest.mark.parametrize("model", MODELS)
def test_small_unscaled_data_end_converged_with_defaults(model, scale):
    """100 × 5 features times 1e3, 3 ranks: SVOR had a gap of 0.88 after 6 s."""
    X, y = random_data(0, n=100, n_features=5, n_ranks=3)
    fitted = fit(model(kernel="linear"), scale * X, y)
    assert fitted.result_.converged
    assert fitted.result_.n_iter <= budget(fitted)


@pytest.mark.parametrize("seed", range(40))
def test_wild_problems_end(seed):
    """Converged, or beyond what float64 sums resolve, and never after more steps than the last resort waits for."""
    rng = np.random.default_rng(seed)
    n, d, scale, C = (
        int(rng.integers(10, 200)),
        int(rng.integers(1, 9)),
        10 ** rng.uniform(-8, 8),
        10 ** rng.uniform(-6, 6),
    )
    X, y = random_data(seed, n=n, n_features=d, n_ranks=3, noise=10 ** rng.uniform(-2, 1))
    kernel = rng.choice(["linear", "rbf", "poly"])
    model = MODELS[seed % len(MODELS)](C=C, kernel=kernel, gamma=0.5 / scale**2, coef0=1.0)
    result = fit(model, scale * X, y).result_
    assert np.isfinite([result.objective, result.gap, result.violation]).all()
    assert result.n_iter <= budget(model)
    if not result.converged:
        largest = (
            (scale * np.abs(X).max()) ** 2 * d if kernel == "linear" else (0.5 * d * np.abs(X).max() ** 2 + 1) ** 3
        )
        assert result.status == "precision"
        assert largest * C > 1e7


def test_looks_and_results_name_the_solver_that_works():
    X, y = random_data(0, n=100, n_features=5, n_ranks=3)
    problem, matrix = FORMULATIONS["svor"](y, 3, 1.0), KernelMatrix(Linear().rows(1e3 * X))
    control = Control(last_resort=InteriorPoint, report_every=1)
    result = solve(problem, matrix, GCD(), control).result
    steps = STEPS_BEFORE_LAST_RESORT + STEPS_OF_A_HINGE * len(problem.hinges)
    assert (result.solver, result.status) == ("interior-point", "converged")
    assert result.solver_options == {"memory_limit": 2000.0}
    assert steps < result.n_iter <= steps + 40
    names = [look.solver for look in result.history]
    assert names == sorted(names)  # gcd, then interior-point
    assert set(names) == {"gcd", "interior-point"}
    assert np.all(np.diff([look.n_iter for look in result.history]) > 0)


def test_limits_hold_before_the_last_resort():
    X, y = random_data(0, n=100, n_features=5, n_ranks=3)
    few = fit(SVOR(kernel="linear", max_iter=1000), 1e3 * X, y).result_
    assert (few.status, few.solver, few.n_iter) == ("max_iter", "block", 1000)
    stopped = fit(SVOR(kernel="linear", callback=lambda look: True, time_limit=1e-9), 1e3 * X, y).result_
    assert stopped.status == "time_limit"
    named = fit(SVOR(kernel="linear", solver="gcd", max_iter=120_000), 1e3 * X, y).result_
    assert (named.status, named.solver) == ("max_iter", "gcd")  # what was named stays


def test_validation_goes_on_with_the_last_resort():
    X, y = random_data(0, n=140, n_features=5, n_ranks=3)
    fitted = SVOR(kernel="linear").fit(1e3 * X[:100], y[:100], validation=(1e3 * X[100:], y[100:]))
    assert fitted.result_.solver == "interior-point"
    assert all(look.validation_mae is not None for look in fitted.result_.history)


def test_who_has_a_last_resort():
    def has_one(kernel, n):
        return last_resort(Work("kernel", kernel, Treatment.FREE, 4 * n, n)) is InteriorPoint

    assert has_one(RBF(1.0), LAST_RESORT_SAMPLES)
    assert not has_one(RBF(1.0), LAST_RESORT_SAMPLES + 1)
    assert not has_one(Sigmoid(1.0, 0.0), 100)
    assert last_resort(Work("linear")) is None


def test_ordinary_fits_do_not_need_it():
    X, y = random_data(4, n=200)
    for C in (1.0, 100.0):
        assert SVORIM(C=C).fit(X, y).result_.solver == "block"
    problem, matrix = FORMULATIONS["svorim"](y, N_RANKS, 1.0), KernelMatrix(RBF(0.5).rows(X))
    alone = solve(problem, matrix, SMO(), Control()).result
    accompanied = solve(problem, matrix, SMO(), Control(last_resort=InteriorPoint)).result
    np.testing.assert_array_equal(alone.alpha, accompanied.alpha)


def test_weights_of_features_have_a_last_resort_too():
    """A linear kernel on sparse samples is trained by rank-dcd, which had no end on unscaled ones."""
    X, y = random_data(4, n=150, n_features=5, n_ranks=3, noise=1.0)
    X = sp.csr_array(X * np.array([1e-2, 1.0, 10.0, 1e2, 1e3]))
    fitted = fit(SVOR(kernel="linear", C=10.0, time_limit=60.0), X, y)
    assert fitted.result_.converged
    assert fitted.result_.solver == "interior-point"
    assert fitted.result_.n_iter <= LEAST_KERNEL_PASSES + ITERATIONS


def test_rounding_in_the_last_step_that_is_allowed_ends_the_fit():
    """The second solver would take at least one more."""

    def first(problem, control, start):
        result = FitResult("precision", "first", control.max_iter, 1.0, 0.5, 0.5, 0.0, 0.1, 0, np.zeros(2))
        return Solution(result, np.zeros(2), np.zeros(1))

    def second(problem, control, start):
        raise AssertionError(f"called with max_iter={control.max_iter}")

    problem = FORMULATIONS["svor"](np.array([0, 1]), 2, 1.0)
    assert solve_with_last_resort(first, second, 100, problem, Control(max_iter=50), None).result.n_iter == 50
