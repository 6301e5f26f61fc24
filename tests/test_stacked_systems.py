"""The interior-point method over stacks: a problem takes the same path alone and beside others, by either kernel."""

from dataclasses import replace

import numpy as np
import pytest

from ordsvm.array_library import NumpyLibrary
from ordsvm.kernels import RBF, Linear
from ordsvm.solvers.kernel.interior_point import stacked_path
from ordsvm.solvers.kernel.interior_point.crossover import MOST_ROUNDS, Crossover
from ordsvm.solvers.kernel.interior_point.kernel_system import DenseKernel, FactoredKernel, cholesky
from ordsvm.solvers.kernel.interior_point.stacked_path import StackedPath
from ordsvm.solvers.kernel.interior_point.stacked_start import first_point
from ordsvm.solvers.kernel.interior_point.stacked_system import StackedKernel, StackedSystem, _solved
from ordsvm.solvers.kernel.interior_point.stacks import Stacks
from tests.cases import FORMULATIONS, N_RANKS, random_data

LIBRARY = NumpyLibrary()
MAKE = {
    "factored": lambda K: FactoredKernel(K, 1e-14),
    "dense": lambda K: DenseKernel(K, FactoredKernel(K, 1e-14)),
    "stacked": lambda K: StackedKernel(LIBRARY, K[np.newaxis]),
}


def path_of(stacks, C, n_steps):
    path, cap = StackedPath(stacks), stacks.caps(C)
    x, size = first_point(stacks, cap), stacks.size(cap)
    for _ in range(n_steps):
        x = path.advanced(x, size)
    return x, path.mu(x, size)


def samples_of(fold, n=40):
    X, y = random_data(20 + fold, n=n)
    return RBF(0.5)(X, X), y


@pytest.mark.parametrize("n_weighted", [40, 10])
@pytest.mark.parametrize("name", MAKE)
def test_systems_of_a_kernel(name, n_weighted):
    K, _ = samples_of(0)
    random = np.random.default_rng(0)
    weight, right = np.zeros(40), np.zeros((40, 3))
    some = random.permutation(40)[:n_weighted]
    weight[some], right[some] = 10.0 ** random.uniform(-3, 3, n_weighted), random.normal(size=(n_weighted, 3))
    kernel = MAKE[name](K)
    inverse = np.divide(1.0, weight, out=np.zeros(40), where=weight > 0)
    kernel.weigh(weight[np.newaxis, np.newaxis], inverse[np.newaxis, np.newaxis])
    found, scores = (each[0, 0] for each in kernel.solve(right[np.newaxis, np.newaxis]))
    np.testing.assert_allclose(found + weight[:, np.newaxis] * (K @ found), right, atol=1e-10)
    np.testing.assert_allclose(scores, K @ found, atol=1e-10)
    product = kernel.product(right[np.newaxis, np.newaxis, :, 0])
    np.testing.assert_allclose(product[0, 0], K @ right[:, 0], atol=1e-12)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_problem_takes_its_path_beside_others_and_alone(name, monkeypatch):
    """Two folds of different sizes at two C, ordered thresholds included; all problems try a corrector, or others would
    where one does."""
    monkeypatch.setattr(stacked_path, "LONG_STEP", 1.0)
    monkeypatch.setattr(stacked_path, "CORRECTORS", 1)
    C, sizes = np.array([0.1, 30.0]), (40, 37)
    folds, (_, y) = [samples_of(fold, n) for fold, n in enumerate(sizes)], samples_of(0)
    problems = [FORMULATIONS[name](y[:n], N_RANKS, 1.0) for n in sizes]
    if name.startswith("svr"):  # units are those of the stack: the same here
        problems = [
            replace(each, hinges=replace(each.hinges, offset=np.clip(each.hinges.offset, -1, 1))) for each in problems
        ]
    K = np.stack([np.pad(K, (0, 40 - len(K)), "wrap") for K, _ in folds])
    both, mu = path_of(Stacks.of(LIBRARY, StackedKernel(LIBRARY, K), problems, 1.0), C, 5)
    for fold, (own, _) in enumerate(folds):
        for kind in ("factored", "dense"):
            for place in range(len(C)):
                alone = Stacks.of(LIBRARY, MAKE[kind](own), [problems[fold]], 1.0)
                x, own_mu = path_of(alone, C[[place]], 5)
                assert own_mu.item() == pytest.approx(mu[fold, place], rel=1e-6)
                np.testing.assert_allclose(both.b[fold, place], x.b[0, 0], rtol=1e-6, atol=1e-8)
                np.testing.assert_allclose(both.order[fold, place], x.order[0, 0], rtol=1e-6)
                n = len(own)
                np.testing.assert_allclose(both.score[fold, place, :n], x.score[0, 0], rtol=1e-6, atol=1e-8)
                has = alone.has[0, 0] > 0
                np.testing.assert_allclose(both.alpha[fold, place, :n][has], x.alpha[0, 0][has], rtol=1e-6)


def test_ordered_thresholds_stay_apart_on_their_way_to_ties():
    """γ = E'ν as soon as full steps are taken; the multipliers of ties stay, those of differences vanish."""
    X, y = random_data(3, n=20, n_features=1, n_ranks=6, noise=5.0)
    kernel = FactoredKernel(Linear()(X, X), 1e-14)
    stacks = Stacks.of(LIBRARY, kernel, [FORMULATIONS["svorex"](y, 6, 1.0)], 1.0)
    x, mu = path_of(stacks, np.ones(1), 7)
    differences = np.diff(x.b[0, 0])
    assert mu.item() < 1e-6
    assert (differences > 0).all()
    np.testing.assert_allclose(stacks.gamma(stacks.sign * x.alpha), stacks.order_sums(x.order), atol=1e-8)
    is_tied = differences < 1e-6
    assert 0 < np.count_nonzero(is_tied) < len(is_tied)
    np.testing.assert_array_equal(x.order[0, 0] > 1e-3, is_tied)


def test_a_sample_with_one_hinge_has_no_spread_of_forces():
    K, y = samples_of(0)
    problem = FORMULATIONS["svc-free"]((y > 1).astype(int), 2, 1.0)
    stacks = Stacks.of(LIBRARY, StackedKernel(LIBRARY, K[np.newaxis]), [problem], 1.0)
    x = first_point(stacks, stacks.caps(np.ones(1)))
    weight = 10.0 ** np.random.default_rng(0).uniform(-8, 8, x.alpha.shape)
    force = np.random.default_rng(1).normal(size=x.alpha.shape)
    np.testing.assert_array_equal(StackedSystem(stacks, x, weight, x.order)._spread(force), 0.0)


def test_what_has_no_solution_is_nan_and_leaves_others_alone():
    matrices, right = np.stack([np.eye(2), np.full((2, 2), np.nan), 2.0 * np.eye(2)]), np.ones((3, 2))
    found = _solved(matrices, right)
    np.testing.assert_allclose(found[[0, 2]], [[1.0, 1.0], [0.5, 0.5]])
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(_solved(np.zeros((1, 2, 2)), right[:1]), 0.0)
    assert np.isnan(cholesky(np.asfortranarray(-np.eye(3)))).all()


def test_a_crossover_ends_by_itself():
    K, y = samples_of(0)
    stacks = Stacks.of(LIBRARY, StackedKernel(LIBRARY, K[np.newaxis]), [FORMULATIONS["svor"](y, N_RANKS, 1.0)], 1.0)
    cap = stacks.caps(np.ones(1))
    x, _ = path_of(stacks, np.ones(1), 8)
    crossover, n_rounds = Crossover(stacks, x, cap, 1e-6), 0
    while True:
        alpha = crossover.candidate()
        assert ((alpha >= 0.0) & (alpha <= cap)).all()
        if not crossover.advance(alpha, stacks.kernel.product((stacks.sign * alpha).sum(-1))):
            break
        n_rounds += 1
    assert 1 <= n_rounds <= MOST_ROUNDS
