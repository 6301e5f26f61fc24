"""What `solver="auto"` stands for."""

from __future__ import annotations

from ordsvm.problem import Problem
from ordsvm.solvers.base import KernelMatrix, Solver
from ordsvm.solvers.block import Block
from ordsvm.solvers.gcd import GCD
from ordsvm.solvers.smo import SMO

SMALL = 200  # hinges


def best_solver(problem: Problem, matrix: KernelMatrix) -> Solver:
    """Block, unless the problem is small or K is not positive semidefinite; else SMO or GCD.

    The sigmoid's K is not, so the answer depends on the way there, and that of SMO is the one of other programs.
    Expensive rows, those of functions and of sparse data with thousands of features, are made by all threads and many
    at a time by Block, which outweighs that the others do without some of them.

    Milliseconds of whole fits by Block / by the other one (GCD for SVOR, else SMO) at tol = 1e-3 on two cores with
    AVX-512, california_housing with 5 ranks, γ = 0.5; `python -m benchmarks auto` has more data, where the choice never
    takes more than 1.28 times what the best would:

                    n = 100      n = 400      n = 1500      n = 5000
        C = 1
        SVOR        2.3 / 2.5    4.1 / 7.9     16 / 45        81 / 452
        SVORIM      2.5 / 2.5    4.3 / 4.6     12 / 24        56 / 204
        SVOREX      2.8 / 3.0    3.9 / 3.7     12 / 19        55 / 176
        SVC         2.2 / 2.1    3.1 / 2.7    9.6 / 7.6       35 / 80
        SVR         2.1 / 1.9    3.3 / 3.6     14 / 26        61 / 273
        C = 100
        SVOR        3.1 / 6.6     12 / 83     107 / 1290     750 / 23300
        SVORIM      3.0 / 3.8     12 / 15      95 / 214      847 / 5130
        SVOREX      3.9 / 3.8     15 / 16     110 / 155      812 / 3490
        SVC         2.3 / 2.2    3.6 / 4.2     20 / 26       161 / 394
        SVR         2.4 / 2.8    8.8 / 24     160 / 527     1500 / 9250
    """
    if matrix.rows.suits_blocks() and len(problem.hinges) > SMALL:
        return Block()
    return SMO() if problem.thresholds in SMO.accepts else GCD()
