"""What `solver="auto"` stands for."""

from __future__ import annotations

from ordsvm.problem import Problem
from ordsvm.solvers.base import KernelMatrix, Solver
from ordsvm.solvers.block import Block
from ordsvm.solvers.gcd import GCD
from ordsvm.solvers.smo import SMO

SMALL = 200  # hinges


def best_solver(problem: Problem, matrix: KernelMatrix) -> Solver:
    """Block, unless rows of K are expensive, K is not positive semidefinite or the problem is small; else SMO or GCD.

    Expensive rows, those of functions and of sparse data with thousands of features, are better asked for one by one:
    SMO and GCD look at few that they do not need. The sigmoid's K is not positive semidefinite, so the answer depends
    on the way there, and theirs is that of other programs. A precomputed K is read at the same speed by all.

    Milliseconds of whole fits by Block and by the other one (GCD for SVOR, else SMO) at tol = 1e-3 on two cores, C = 1
    and C = 100 (`python -m benchmarks auto`, where more data sets are):

        california_housing         n = 100                 n = 400                 n = 1500                n = 5000
        SVOR, 5 ranks
        SVORIM
        SVOREX
        SVC
        SVR
    """
    if matrix.rows.suits_blocks() and len(problem.hinges) > SMALL:
        return Block()
    return SMO() if problem.thresholds in SMO.accepts else GCD()
