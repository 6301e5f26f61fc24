"""What `solver="auto"` stands for."""

from __future__ import annotations

from ordsvm.problem import Problem
from ordsvm.solvers.base import KernelMatrix, Solver
from ordsvm.solvers.block import Block
from ordsvm.solvers.gcd import GCD
from ordsvm.solvers.smo import SMO

SMALL = 200  # hinges


def best_solver(problem: Problem, matrix: KernelMatrix) -> Solver:
    """Block, unless the problem is small or the kernel is the sigmoid; else SMO or GCD.

    The sigmoid is not positive semidefinite, so the answer depends on the way there, and that of SMO is the one of
    other programs. Rows of sparse data with thousands of features are made by all threads, and those of a function,
    whatever the size of the problem, a few at a time by Block, which outweighs that the others do without some of them.

    Milliseconds of whole fits by Block / by the other one (GCD for SVOR, else SMO) at tol = 1e-3 on two cores with
    AVX-512, γ = 0.5; `python -m benchmarks auto` has more data, where the choice never takes more than 1.26 times what
    the best would:

                    n = 100      n = 400      n = 1500      n = 5000
        california_housing, 8 features, C = 1
        SVOR        2.4 / 2.7    3.6 / 6.4     15 / 44        60 / 436
        SVORIM      2.4 / 2.3    3.9 / 4.3     15 / 20        60 / 180
        SVOREX      2.5 / 2.3    3.6 / 3.4     10 / 14        49 / 109
        SVC         2.0 / 1.8    2.9 / 2.5    9.3 / 7.4       29 / 50
        SVR         1.8 / 1.6    2.8 / 3.2     12 / 21        58 / 204
        C = 100
        SVOR        3.2 / 6.5     11 / 74      62 / 1242     454 / 21608
        SVORIM      2.9 / 3.4     11 / 15      68 / 233      403 / 5145
        SVOREX      3.3 / 3.4     14 / 14      65 / 140      484 / 2956
        SVC         2.1 / 1.8    3.6 / 4.2     20 / 27       123 / 324
        SVR         2.3 / 2.4    9.0 / 23      91 / 512     1402 / 8318
        treebank, 8569 sparse features, C = 100
        SVOR        3.4 / 7.3     12 / 46      57 / 445      727 / 4762
        SVORIM      3.2 / 3.7     13 / 15      61 / 121      606 / 1250
        SVC         2.9 / 2.6    8.3 / 7.1     65 / 60       589 / 604
        california_housing, the kernel a function, C = 1
        SVORIM      2.8 / 2.5    4.7 / 4.9     74 / 545      609 / 2205
        SVC         2.2 / 2.1    3.8 / 3.2     64 / 316      349 / 1064
    """
    if matrix.rows.suits_blocks() and (len(problem.hinges) > SMALL or matrix.rows.is_function):
        return Block()
    return SMO() if problem.thresholds in SMO.accepts else GCD()
