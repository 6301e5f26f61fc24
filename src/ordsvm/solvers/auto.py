"""What `solver="auto"` stands for."""

from __future__ import annotations

from ordsvm.problem import Thresholds
from ordsvm.solvers.base import KernelMatrix, Solver
from ordsvm.solvers.block import Block
from ordsvm.solvers.gcd import GCD
from ordsvm.solvers.smo import SMO


def best_solver(thresholds: Thresholds, matrix: KernelMatrix | None = None) -> Solver:
    """Block where K can be made from tiles of samples, else SMO or GCD, which ask for fewer rows.

    TABLE
    """
    if matrix is not None and matrix.rows.suits_blocks():
        return Block()
    return SMO() if thresholds in SMO.accepts else GCD()
