"""What the tests of AsyGCD, AsyAGCD and AsyORGCD have in common."""

import numpy as np
import pytest

from ordsvm.kernels import Kernel
from ordsvm.problem import Problem
from ordsvm.solvers import AsyAGCD, AsyGCD, AsyORGCD, KernelMatrix, Solver
from tests.cases import FORMULATIONS, N_RANKS, random_data

SHARINGS, PARTITIONS = ("log", "atomic"), ("sample", "threshold")
THREE: list[Solver] = [AsyGCD(), AsyAGCD(max_shrink_iter=100), AsyORGCD(max_inner_iter=50)]
VARIANTS: list[Solver] = [
    *(AsyGCD(sharing, partition) for sharing in SHARINGS for partition in PARTITIONS),
    *(AsyAGCD(10, sharing, partition) for sharing in SHARINGS for partition in PARTITIONS),
    *(AsyAGCD(10, sharing, shrink="global") for sharing in SHARINGS),
    *(AsyORGCD(100, partition) for partition in PARTITIONS),
]
each_of_three = pytest.mark.parametrize("solver", THREE, ids=lambda solver: solver.name)
every_variant = pytest.mark.parametrize("solver", VARIANTS, ids=str)


def matrix_of(kernel: Kernel, X, cache_size: float = 200.0) -> KernelMatrix:
    return KernelMatrix(kernel.rows(X), cache_size)


def assert_certified(problem: Problem, score, result) -> None:
    """The result says of α what α proves, whatever stopped the solver; `score` is Kβ by another way."""
    np.testing.assert_array_equal(problem.repair(result.alpha), result.alpha)
    proof = problem.certificate(result.alpha, score)
    assert result.objective == pytest.approx(proof.primal, rel=1e-9)
    assert result.gap == pytest.approx(proof.gap, rel=1e-6, abs=1e-9 * proof.primal)
    assert result.violation == pytest.approx(proof.violation, rel=1e-6, abs=1e-8)


def random_problem(seed: int, n: int = 40, name: str = "svor", C: float = 1.0) -> tuple[Problem, np.ndarray]:
    X, y = random_data(seed, n=n)
    return FORMULATIONS[name](y, N_RANKS, C), X
