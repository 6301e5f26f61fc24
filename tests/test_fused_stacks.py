"""Triton's kernels for stacks of matrices, against the plain versions: as test_fused.py, by whose fixture."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ordsvm.array_library import NumpyLibrary  # noqa: E402
from ordsvm.formulations import svor  # noqa: E402
from ordsvm.kernels import RBF  # noqa: E402
from ordsvm.solvers.kernel.interior_point.side_by_side import Folds, solve_side_by_side  # noqa: E402
from ordsvm.solvers.kernel.stacked_cholesky import StackedCholesky  # noqa: E402
from tests.cases import random_data  # noqa: E402
from tests.test_fused import assert_same, library  # noqa: E402, F401

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("n", [1, 5, 32, 33, 64, 65, 150])
def test_stacks_are_solved_and_those_without_a_factor_are_nan(n, library):  # noqa: F811
    random = np.random.default_rng(0)
    roots = random.normal(size=(3, n, n))
    matrices, right = roots @ roots.swapaxes(1, 2) + np.eye(n), random.normal(size=(3, n, 2))
    below = np.tril(matrices) + np.triu(np.full((n, n), np.nan), 1)  # nothing above the diagonal is read
    found = library.host(StackedCholesky(library, library.array(below.copy()), block=64).solve(library.array(right)))
    assert_same(matrices @ found, right)
    below[1] *= -1.0
    found = library.host(StackedCholesky(library, library.array(below.copy()), block=64).solve(library.array(right)))
    assert_same(matrices[[0, 2]] @ found[[0, 2]], right[[0, 2]])
    assert np.isnan(found[1]).any()


@pytest.mark.parametrize("some", [False, True])
def test_scaled_kernels(some, library):  # noqa: F811
    from ordsvm.solvers.kernel.fused_stacks import scaled

    random = np.random.default_rng(0)
    K, root = random.normal(size=(2, 90, 90)), random.normal(size=(2, 3, 70 if some else 90))
    places = np.array([[random.permutation(90)[: root.shape[-1]] for _ in range(3)] for _ in range(2)])
    found = scaled(library.array(K), library.index(places) if some else None, library.array(root))
    expected = []
    for fold, c in np.ndindex(2, 3):
        part = K[fold][np.ix_(places[fold, c], places[fold, c])] if some else K[fold]
        expected.append(np.outer(root[fold, c], root[fold, c]) * part + np.eye(len(part)))
    assert_same(np.tril(library.host(found)), np.tril(expected))


def test_problems_side_by_side(library):  # noqa: F811
    """As NumPy solves them, crossovers to some of the samples included."""
    X, y = random_data(5, n=90)
    random = np.random.default_rng(0)
    samples = [np.sort(random.permutation(90)[: 70 + i]) for i in range(2)]
    folds = Folds([svor(y[each], 4, 1.0) for each in samples], samples)
    K, C = RBF(0.5)(X, X), np.array([0.1, 1.0, 30.0])
    here, there = (solve_side_by_side(each, each.array(K), folds, C, 1e-4) for each in (NumpyLibrary(), library))
    assert here.keys() == there.keys()
    assert len(there) == 6
    for place, solved in there.items():
        np.testing.assert_allclose(solved.scores, here[place].scores, atol=1e-6)
