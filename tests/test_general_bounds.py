"""Programs with general bounds and sums: the oracle's optimum by every solver that takes them, and what is refused."""

from dataclasses import replace

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import GCD, SMO, Decomposition, ParsmoCache, ParsmoLight
from ordsvm.solvers import Control
from ordsvm.solvers.papers.decomposition.bounded_program import BoundedProgram


def random_program(seed: int, n: int = 24, n_groups: int = 2) -> BoundedProgram:
    """Bounds on both sides of 0, one variable that is fixed, and sums that some x has."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n))
    lower = rng.uniform(-2.0, 1.0, size=n)
    upper = lower + rng.uniform(0.1, 2.0, size=n)
    upper[3] = lower[3]
    sign, group = rng.choice([-1.0, 1.0], size=n), np.arange(n) % max(n_groups, 1)
    total = np.bincount(group, sign * rng.uniform(lower, upper), n_groups)[:n_groups]
    return BoundedProgram(factor @ factor.T / n, rng.normal(size=n), lower, upper, sign, group, total)


def optimum(program: BoundedProgram) -> np.ndarray:
    """x by Clarabel, from the program as it stands."""
    n, n_groups = len(program.linear), len(program.total)
    sums = np.zeros((n_groups, n))
    if n_groups:
        sums[program.group, np.arange(n)] = program.sign
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    rows = sp.csc_matrix(np.vstack([sums, np.eye(n), -np.eye(n)]))
    sides = np.concatenate([program.total, program.upper, -program.lower])
    cones = [clarabel.ZeroConeT(n_groups), clarabel.NonnegativeConeT(2 * n)]
    quadratic = sp.csc_matrix(np.triu(program.quadratic))
    return np.array(clarabel.DefaultSolver(quadratic, program.linear, rows, sides, cones, settings).solve().x)


def assert_solved(program: BoundedProgram, solver) -> None:
    x, result = program.solve(solver, Control(tol=1e-6))
    best = program.objective(optimum(program))
    assert result.converged
    assert np.all((program.lower <= x) & (x <= program.upper))
    sums = np.bincount(program.group, program.sign * x, len(program.total))[: len(program.total)]
    np.testing.assert_allclose(sums, program.total, rtol=0, atol=1e-9)
    assert program.objective(x) == pytest.approx(best, abs=1e-5)
    assert program.objective(x) - best <= result.gap + 1e-7


@pytest.mark.parametrize("step", ["exact", "armijo", "diminishing"])
@pytest.mark.parametrize("n_groups", [0, 1, 3])
def test_decomposition(n_groups, step):
    for seed in range(3):
        assert_solved(random_program(seed, n_groups=n_groups), Decomposition(block_size=12, step=step))


@pytest.mark.parametrize("solver", [SMO(), ParsmoLight(3), ParsmoCache(3)], ids=lambda solver: solver.name)
def test_solvers_by_pairs(solver):
    for n_groups in (1, 3):
        assert_solved(random_program(4, n_groups=n_groups), solver)


def test_bounds_alone():
    assert_solved(random_program(5, n_groups=0), GCD())


def test_the_ends_of_what_sums_can_be():
    program = random_program(6, n_groups=1)
    for ends in np.sort([program.sign * program.lower, program.sign * program.upper], axis=0):
        assert_solved(replace(program, total=np.array([ends.sum()])), Decomposition(block_size=12))


def test_what_is_not_supported_gets_a_sentence():
    program = random_program(7, n_groups=2)
    with pytest.raises(ValueError, match=r"No x within its bounds has the sum 1e\+06 in group 1: give one from"):
        replace(program, total=np.array([program.total[0], 1e6]))
    with pytest.raises(ValueError, match="Coefficients of sums must be 1 or -1"):
        replace(program, sign=2 * program.sign)
    for lower in (np.full(24, -np.inf), program.upper + 1):
        with pytest.raises(ValueError, match="Bounds must be finite"):
            replace(program, lower=lower)
