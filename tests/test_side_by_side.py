"""Many small problems at once by the interior-point method, and searches on a device that use it."""

import numpy as np
import pytest

from ordsvm import SVC, SVOR, SVR, OrdinalSearchCV, formulations
from ordsvm.array_library import NumpyLibrary
from ordsvm.kernels import RBF, Linear
from ordsvm.model_selection import device_grid
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.interior_point.side_by_side import Folds, solve_side_by_side
from ordsvm.solvers.kernel.stacked_cholesky import StackedCholesky
from tests.cases import random_data
from tests.oracle import dual_optimum

C = np.array([1e-3, 0.1, 1.0, 30.0, 1000.0])
MAKE = {
    "svor": lambda y: formulations.svor(y, 4, 1.0),
    "svorim": lambda y: formulations.svorim(y, 4, 1.0),
    "shashua_levin": lambda y: formulations.shashua_levin(y, 4, 1.0),
    "svc": lambda y: formulations.svc(np.where(y > 1, 1.0, -1.0), np.ones(len(y)), Treatment.FREE),
    "svc-none": lambda y: formulations.svc(np.where(y > 1, 1.0, -1.0), np.ones(len(y)), Treatment.NONE),
    "svr": lambda y: formulations.svr(10.0 * y, 0.1, np.ones(len(y)), Treatment.FREE),
}


def folds_of(make, y):
    """Of different sizes."""
    random = np.random.default_rng(0)
    samples = [np.sort(random.permutation(len(y))[: 40 + i]) for i in range(2)]
    return Folds([make(y[each]) for each in samples], samples)


def test_stacked_cholesky_in_blocks():
    random = np.random.default_rng(0)
    roots = random.normal(size=(3, 11, 11))
    matrices, right = roots @ roots.swapaxes(1, 2) + np.eye(11), random.normal(size=(3, 11, 2))
    found = StackedCholesky(NumpyLibrary(), matrices.copy(), block=4).solve(right)
    np.testing.assert_allclose(matrices @ found, right, atol=1e-9)
    with pytest.raises(np.linalg.LinAlgError):
        StackedCholesky(NumpyLibrary(), -matrices, block=4)


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=str)
@pytest.mark.parametrize("name", MAKE)
def test_every_problem_has_its_optimum(name, kernel):
    X, y = random_data(5, n=60)
    K, folds, library = kernel(X, X), folds_of(MAKE[name], y), NumpyLibrary()
    found = solve_side_by_side(library, K, folds, C, 1e-4)
    assert len(found) >= 0.8 * 2 * len(C)
    for (fold, c), solved in found.items():
        result, samples = solved.solution.result, folds.samples[fold]
        assert (result.solver, result.status, result.device) == ("interior-point", "converged", "cpu")
        assert max(result.relative_gap, result.violation) <= 1e-4
        np.testing.assert_allclose(solved.scores, K[:, samples] @ solved.solution.beta, atol=1e-7 * max(1.0, C[c]))
    fold, c = next(iter(found))
    problem = folds.problems[fold]
    scaled = type(problem)(
        type(problem.hinges)(
            problem.hinges.sample, problem.hinges.threshold, problem.hinges.sign, problem.hinges.offset,
            C[c] * problem.hinges.cap,
        ),
        problem.treatment, problem.n_samples, problem.n_thresholds,
    )  # fmt: skip
    expected = dual_optimum(scaled, K[np.ix_(folds.samples[fold], folds.samples[fold])]).objective
    assert found[fold, c].solution.result.objective == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_few_C_at_a_time_where_memory_is_short(monkeypatch):
    X, y = random_data(5, n=60)
    K, folds = RBF(0.5)(X, X), folds_of(MAKE["svor"], y)
    whole = solve_side_by_side(NumpyLibrary(), K, folds, C, 1e-3)
    monkeypatch.setattr("ordsvm.solvers.kernel.interior_point.side_by_side.ROOM", 1.0)
    parts = solve_side_by_side(NumpyLibrary(), K, folds, C, 1e-3)
    assert parts.keys() == whole.keys()


def test_problems_that_differ_are_left_to_others():
    _, y = random_data(5, n=60)
    assert folds_of(MAKE["svor"], y).are_alike()
    assert not Folds([MAKE["svor"](y), MAKE["svorim"](y)], [y, y]).are_alike()
    assert not folds_of(lambda y: formulations.svorex(y, 4, 1.0), y).are_alike()


@pytest.mark.parametrize("model", [SVOR(), SVR(), SVC()], ids=lambda model: type(model).__name__)
def test_a_search_on_a_device_finds_what_that_on_the_cpu_does(model, monkeypatch):
    """SVC of four classes has several problems: its fits are made one by one."""
    pytest.importorskip("torch")
    calls = []
    side_by_side = device_grid.solve_side_by_side
    monkeypatch.setattr(
        device_grid, "solve_side_by_side", lambda *given: calls.append(len(given[3])) or side_by_side(*given)
    )
    X, y = random_data(5, n=80)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 0.5]}
    scoring = "neg_mean_absolute_error"
    here, there = (
        OrdinalSearchCV(model, grid, cv=2, scoring=scoring, device=device, error_score="raise").fit(X, y)
        for device in (None, "torch:cpu")
    )
    assert calls == ([] if isinstance(model, SVC) else [3, 3])
    np.testing.assert_allclose(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=0.026, rtol=0
    )
    assert there.best_estimator_.result_.device == "torch:cpu"
    assert there.best_estimator_.predict(X).shape == y.shape


def test_what_is_not_certified_is_trained_by_itself(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(device_grid, "solve_side_by_side", lambda *given: {})
    X, y = random_data(5, n=60)
    grid = {"C": [0.1, 1.0]}
    here, there = (
        OrdinalSearchCV(SVOR(gamma=0.5), grid, cv=2, device=device).fit(X, y) for device in (None, "torch:cpu")
    )
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=0.04)
