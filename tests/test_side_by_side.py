"""Many small problems at once by the interior-point method, and searches on a device that use it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import PredefinedSplit

from ordsvm import SVC, SVOR, SVR, OrdinalSearchCV, _core, formulations
from ordsvm.array_library import NumpyLibrary
from ordsvm.kernels import RBF, Laplacian, Linear
from ordsvm.kernels.products.norm_rounding import NormRounding, ScoreRounding
from ordsvm.problem import Treatment
from ordsvm.search import device_grid
from ordsvm.solvers.kernel.interior_point import side_by_side, stacked_low_rank, stacked_path, stacked_system
from ordsvm.solvers.kernel.interior_point.side_by_side import Folds, solve_side_by_side
from ordsvm.solvers.kernel.interior_point.stacked_start import PathStarts, are_near
from ordsvm.solvers.kernel.stacked_cholesky import StackedCholesky
from ordsvm.torch_library import torch_library
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


def scaled_by(problem, C):
    return replace(problem, hinges=replace(problem.hinges, cap=C * problem.hinges.cap))


def test_stacked_cholesky_in_blocks():
    random = np.random.default_rng(0)
    roots = random.normal(size=(3, 11, 11))
    matrices, right = roots @ roots.swapaxes(1, 2) + np.eye(11), random.normal(size=(3, 11, 2))
    for block, leaf in ((4, 4), (4, 2), (8, 3), (16, 2)):
        found = StackedCholesky(NumpyLibrary(), matrices.copy(), block, leaf).solve(right)
        np.testing.assert_allclose(matrices @ found, right, atol=1e-9)
    matrices[1] *= -1.0  # has no factor, which the others do not suffer from
    some = StackedCholesky(NumpyLibrary(), matrices.copy(), block=4, leaf=2).solve(right)
    np.testing.assert_allclose(matrices[[0, 2]] @ some[[0, 2]], right[[0, 2]], atol=1e-9)
    assert np.isnan(some[1]).any()


def test_small_systems_of_which_one_is_singular():
    matrices = np.stack([np.eye(2), [[1.0, -1.0], [-1.0, 1.0 - 2e-14]], 2.0 * np.eye(2)])
    found = stacked_system._solved(matrices, np.ones((3, 2)))
    np.testing.assert_allclose(found[[0, 2]], [[1.0, 1.0], [0.5, 0.5]])


def smooth_kernel(n=400, gamma=0.005):
    X, _ = random_data(5, n=n)
    return RBF(gamma)(X, X)


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_factor_of_a_kernel_of_low_rank(name):
    library = library_of(name)
    K = 3.0 * smooth_kernel()
    F = library.host(stacked_low_rank.low_rank_factor(library, library.array(K), 3.0, 120))
    np.testing.assert_allclose(F @ F.T, K / 3.0, atol=1e-9, rtol=0)
    wanted = int((np.linalg.eigvalsh(K / 3.0) > 1e-9).sum())
    assert F.shape[1] <= 1.1 * wanted
    assert stacked_low_rank.low_rank_factor(library, library.array(K), 3.0, wanted // 2) is None
    root = np.random.default_rng(0).uniform(0.0, 1e3, (2, 400, 1))
    G, right = root * F, np.random.default_rng(1).normal(size=(2, 400, 3))
    found = library.host(stacked_low_rank.LowRankSystem(library, library.array(G)).solve(library.array(right)))
    np.testing.assert_allclose(found + G @ (G.swapaxes(1, 2) @ found), right, atol=1e-5)


def test_what_has_no_low_rank_is_told_early(monkeypatch):
    library, blocks = NumpyLibrary(), []
    next_columns = stacked_low_rank._next_columns
    monkeypatch.setattr(stacked_low_rank, "_next_columns", lambda *given: blocks.append(1) or next_columns(*given))
    assert stacked_low_rank.low_rank_factor(library, smooth_kernel(2000, 5.0), 1.0, 600) is None
    assert len(blocks) <= 5
    blocks.clear()
    assert stacked_low_rank.low_rank_factor(library, np.full((50, 50), np.nan), 1.0, 15) is None
    assert stacked_low_rank.low_rank_factor(library, np.zeros((50, 50)), 1.0, 15) is None
    assert not blocks
    copies = np.ones((50, 50))
    assert stacked_low_rank.low_rank_factor(library, copies, 1.0, 15).shape == (50, 1)


def test_a_kernel_of_low_rank_has_small_systems(factors, monkeypatch):
    X, y = random_data(5, n=400)
    random = np.random.default_rng(0)
    samples = [np.sort(random.permutation(400)[: 310 + i]) for i in range(2)]
    folds, K = Folds([MAKE["svor"](y[each]) for each in samples], samples), RBF(0.002)(X, X)
    some = np.array([0.1, 10.0, 1000.0])
    found = solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-4)
    assert max(factors) <= 0.3 * 311
    monkeypatch.setattr(side_by_side, "low_rank_factor", lambda *given: None)
    whole = solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-4)
    assert max(factors) == 311
    assert found.keys() == whole.keys()
    assert len(found) == 6
    for place, solved in found.items():
        expected = whole[place].solution.result
        assert solved.solution.result.objective == pytest.approx(expected.objective, rel=2e-4)
        assert solved.solution.result.n_iter <= expected.n_iter + 2


def library_of(name):
    if name == "torch":
        pytest.importorskip("torch")
        return torch_library("torch:cpu")
    return NumpyLibrary()


@pytest.fixture
def factors(monkeypatch):
    """Sizes of the matrices that are factored."""
    sizes = []
    init = StackedCholesky.__init__

    def counted(self, library, matrices, *options):
        sizes.extend([matrices.shape[-1]] * matrices.shape[0])
        init(self, library, matrices, *options)

    monkeypatch.setattr(StackedCholesky, "__init__", counted)
    return sizes


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_a_crossover_is_about_the_free_samples_alone(name, factors, monkeypatch):
    X, y = random_data(5, n=60)
    library, folds, K = library_of(name), folds_of(MAKE["svor"], y), RBF(0.5)(X, X)
    some = np.array([0.1, 1.0])  # where most samples are at bounds
    found = solve_side_by_side(library, library.array(K), folds, some, 1e-4)
    assert len(found) == 4
    assert min(factors) < 0.8 * 41
    assert set(factors) - {41}
    assert factors.count(41) >= 4
    monkeypatch.setattr(stacked_system, "MOST_KEPT", 0.0)  # all samples, in every system
    factors.clear()
    whole = solve_side_by_side(library, library.array(K), folds, some, 1e-4)
    assert set(factors) == {41}
    for place, solved in found.items():
        np.testing.assert_allclose(solved.scores, whole[place].scores, atol=1e-6)


def test_a_kernel_nearby_begins_where_the_last_one_has_been(factors):
    X, y = random_data(5, n=120)
    random = np.random.default_rng(0)
    samples = [np.sort(random.permutation(120)[:100]) for _ in range(2)]
    folds = Folds([MAKE["svor"](y[each]) for each in samples], samples)
    some, library = np.array([10.0, 100.0, 1000.0]), NumpyLibrary()
    first, second = RBF(0.05)(X, X), RBF(0.08)(X, X)
    starts = PathStarts()
    solve_side_by_side(library, first, folds, some, 1e-3, starts)
    factors.clear()
    cold = solve_side_by_side(library, second, folds, some, 1e-3)
    from_nothing = len(factors)
    factors.clear()
    warm = solve_side_by_side(library, second, folds, some, 1e-3, PathStarts(starts))
    assert warm.keys() == cold.keys()
    assert len(warm) == 6
    assert len(factors) <= 0.85 * from_nothing
    iterations = [sum(s.solution.result.n_iter for s in each.values()) for each in (warm, cold)]
    assert iterations[0] <= 0.8 * iterations[1]
    for place, solved in warm.items():
        assert solved.solution.result.objective == pytest.approx(cold[place].solution.result.objective, rel=1e-3)


def test_correctors_save_systems(factors, monkeypatch):
    X, y = random_data(5, n=300)
    random = np.random.default_rng(0)
    samples = [np.sort(random.permutation(300)[:240]) for _ in range(2)]
    folds, K = Folds([MAKE["svor"](y[each]) for each in samples], samples), RBF(0.05)(X, X)
    some = np.logspace(-2, 3, 6)
    found = solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-3)
    with_correctors = factors.count(240)
    factors.clear()
    monkeypatch.setattr(stacked_path, "CORRECTORS", 0)
    plain = solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-3)
    assert with_correctors <= 0.92 * factors.count(240)
    assert found.keys() == plain.keys()
    assert len(found) == 12


def test_a_start_that_leads_nowhere_is_followed_by_one_from_nothing(monkeypatch):
    X, y = random_data(5, n=60)
    folds, K, library = folds_of(MAKE["svor"], y), RBF(0.5)(X, X), NumpyLibrary()
    starts = PathStarts()
    cold = solve_side_by_side(library, K, folds, C, 1e-3, starts)
    for value, x in starts._left.items():
        starts._left[value] = x._replace(alpha=np.nan * x.alpha)
    assert solve_side_by_side(library, K, folds, C, 1e-3, PathStarts(starts)).keys() == cold.keys()


def test_a_system_that_breaks_down_takes_no_other_problem_along():
    X, y = random_data(5, n=60)
    folds, K = folds_of(MAKE["svor"], y), RBF(0.5)(X, X)
    bad = np.array([0.1, np.nan, 10.0])
    found = solve_side_by_side(NumpyLibrary(), K, folds, bad, 1e-3)
    assert sorted(found) == [(0, 0), (0, 2), (1, 0), (1, 2)]


def test_an_infinite_threshold_proves_nothing():
    """Of one class: the objective is 0, but no finite b attains it."""
    X, _ = random_data(5, n=20)
    problem = formulations.svc(np.ones(20), np.ones(20), Treatment.FREE)
    folds = Folds([problem], [np.arange(20)])
    assert folds.are_alike()
    assert solve_side_by_side(NumpyLibrary(), RBF(0.5)(X, X), folds, C, 1e-3) == {}


def test_which_kernels_are_near_each_other():
    assert are_near(RBF(0.1), RBF(0.158))
    assert are_near(Laplacian(0.2), Laplacian(0.1))
    assert not are_near(RBF(0.1), RBF(1.0))
    assert not are_near(RBF(0.1), Laplacian(0.1))
    assert not are_near(Linear(), Linear())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_hands_starts_on_along_gamma_and_to_no_other_machine(n_jobs, monkeypatch):
    """Grids of the same parameters but for C and gamma; where those differ, caps do."""
    pytest.importorskip("torch")
    warm = []
    side_by_side = device_grid.solve_side_by_side
    monkeypatch.setattr(
        device_grid, "solve_side_by_side", lambda *given: warm.append(given[5].are_warm) or side_by_side(*given)
    )
    X, y = random_data(5, n=60)
    grid = {"C": [1.0, 10.0], "gamma": [0.1, 0.15, 1.0], "class_weight": [None, "balanced"]}
    OrdinalSearchCV(SVOR(), grid, cv=2, device="torch:cpu", refit=False, n_jobs=n_jobs).fit(X, y)
    assert sorted(warm) == [False] * 4 + [True] * 2


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=str)
@pytest.mark.parametrize("name", MAKE)
def test_every_problem_has_its_optimum(name, kernel):
    X, y = random_data(5, n=60)
    K, folds, library = kernel(X, X), folds_of(MAKE[name], y), NumpyLibrary()
    found = solve_side_by_side(library, K, folds, C, 1e-4)
    assert len(found) >= 0.8 * 2 * len(C)
    for (fold, c), solved in found.items():
        result, samples = solved.solution.result, folds.samples[fold]
        assert (result.solver, result.status, result.device) == ("side-by-side", "converged", "cpu")
        assert max(result.relative_gap, result.violation) <= 1e-4
        np.testing.assert_allclose(solved.scores, K[:, samples] @ solved.solution.beta, atol=1e-7 * max(1.0, C[c]))
    fold, c = next(iter(found))
    own = K[np.ix_(folds.samples[fold], folds.samples[fold])]
    expected = dual_optimum(scaled_by(folds.problems[fold], C[c]), own).objective
    assert found[fold, c].solution.result.objective == pytest.approx(expected, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", ["svor", "shashua_levin", "svr"])
def test_certificates_are_those_of_the_judge_and_allow_for_the_rounding_of_scores(name):
    X, y = random_data(5, n=60)
    K, folds, some = RBF(0.5)(X, X), folds_of(MAKE[name], y), np.array([1.0, 30.0])
    plain = solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-4)
    assert len(plain) == 4
    for (fold, c), solved in plain.items():
        problem = scaled_by(folds.problems[fold], some[c])
        alpha = solved.solution.result.alpha
        proof = problem.certificate(alpha, solved.scores[folds.samples[fold]])
        assert solved.solution.result.gap == pytest.approx(proof.gap, abs=1e-9 * proof.primal)
        assert solved.solution.result.violation == pytest.approx(proof.violation, abs=1e-9)
    rough = solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-4, rounding=ScoreRounding(1e6))
    by_norms = ScoreRounding(of_norms=NormRounding(np.full(60, 1e3), 5))
    far = solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-4, rounding=by_norms)
    for other in (rough, far):
        assert other.keys() == plain.keys()
        assert all(other[each].solution.result.gap > plain[each].solution.result.gap for each in plain)
    hopeless = ScoreRounding(of_norms=NormRounding(np.full(60, 1e12), 5))
    assert solve_side_by_side(NumpyLibrary(), K, folds, some, 1e-4, rounding=hopeless) == {}


def test_a_fold_with_a_row_far_away_is_left_to_single_fits(monkeypatch):
    """Exponents of that row are made of norms, and so rounded that its own score has no digits."""
    pytest.importorskip("torch")
    given_to = []
    side_by_side = device_grid.solve_side_by_side
    monkeypatch.setattr(
        device_grid, "solve_side_by_side", lambda *given: given_to.append(side_by_side(*given)) or given_to[-1]
    )
    X, y = random_data(5, n=60)
    for distance, n_found in ((10.0, 2), (1e9, 1)):
        X[0, 0] = distance
        model = OrdinalSearchCV(SVOR(gamma=0.5), {"C": [1.0]}, cv=2, device="torch:cpu", error_score="raise")
        model.fit(X, y)
        assert len(given_to.pop()) == n_found
        assert model.best_estimator_.result_.converged


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
    ranks = [formulations.npsvor(each, 1, 0.1, 1.0, 1.0) for each in (y, y[y != 1])]
    assert not Folds(ranks, [np.arange(60), np.flatnonzero(y != 1)]).are_alike()


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


@pytest.mark.parametrize("device", [None, "torch:cpu"])
def test_a_fold_of_one_class_fails_alone(device):
    if device:
        pytest.importorskip("torch")
    X, y = random_data(5, n=60)
    y = (y > 1).astype(int)
    folds = PredefinedSplit(np.where(y == 1, 0, np.arange(60) // 2 % 3))  # what the first one trains on has no 1
    search = OrdinalSearchCV(SVOR(gamma=0.5), {"C": [1.0, 10.0]}, cv=folds, device=device, refit=False)
    with pytest.warns(FitFailedWarning, match="at least two classes"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    assert np.isfinite([search.cv_results_[f"split{i}_test_score"] for i in (1, 2)]).all()


@pytest.mark.parametrize("device", [None, "torch:cpu"])
def test_a_search_over_C_does_not_mind_that_of_the_machine(device):
    if device:
        pytest.importorskip("torch")
    X, y = random_data(5, n=60)
    search = OrdinalSearchCV(SVOR(C=0.0, gamma=0.5), {"C": [0.1, 1.0]}, cv=2, device=device).fit(X, y)
    assert search.best_params_["C"] in (0.1, 1.0)


def test_what_is_not_certified_is_trained_by_itself(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(device_grid, "solve_side_by_side", lambda *given: {})
    X, y = random_data(5, n=60)
    grid = {"C": [0.1, 1.0]}
    here, there = (
        OrdinalSearchCV(SVOR(gamma=0.5), grid, cv=2, device=device).fit(X, y) for device in (None, "torch:cpu")
    )
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=0.04)


def test_fits_of_a_search_on_a_device_give_no_warnings_of_their_own(recwarn):
    pytest.importorskip("torch")
    X, y = random_data(5, n=60)
    OrdinalSearchCV(SVOR(gamma=0.5), {"C": [1e-4, 1.0, 100.0]}, cv=2, device="torch:cpu", refit=False).fit(X, y)
    assert not [each for each in recwarn if "dual variables are at their bounds" in str(each.message)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_search_solves_few_kernels_again(n_jobs, tmp_path, monkeypatch):
    """Those before the ones that were solved at once have outcomes for all folds."""
    pytest.importorskip("torch")
    solved = []
    solve = device_grid.solve_side_by_side

    def interrupted(*given):
        if len(solved) == 4:
            raise KeyboardInterrupt
        solved.append(1)
        return solve(*given)

    X, y = random_data(5, n=60)
    grid = {"C": [1.0, 10.0], "gamma": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}
    search = OrdinalSearchCV(SVOR(), grid, cv=3, device="torch:cpu", refit=False, n_jobs=n_jobs)
    monkeypatch.setattr(device_grid, "solve_side_by_side", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y, checkpoint=tmp_path)
    monkeypatch.setattr(device_grid, "solve_side_by_side", lambda *given: solved.append(1) or solve(*given))
    solved.clear()
    search.fit(X, y, checkpoint=tmp_path)
    assert 2 <= len(solved) <= 2 + n_jobs


def test_ctrl_c_ends_a_grid_at_its_next_iteration(monkeypatch):
    """As of a job: its token ends the thread that works on it."""
    X, y = random_data(5, n=60)
    folds = folds_of(MAKE["svor"], y)
    K, token, seen = RBF(0.5)(X, X), _core.StopToken(), []
    advanced = stacked_path.StackedPath.advanced

    def stopped(self, *given):
        seen.append(1)
        token.set()
        return advanced(self, *given)

    monkeypatch.setattr(stacked_path.StackedPath, "advanced", stopped)
    with token, pytest.raises(SystemExit):
        solve_side_by_side(NumpyLibrary(), K, folds, C, 1e-3)
    assert len(seen) == 1
