"""What `solver="auto"` stands for."""

from __future__ import annotations

from ordsvm.problem import Problem
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.gcd import GCD
from ordsvm.solvers.kernel.run import KernelMatrix, Solver
from ordsvm.solvers.kernel.smo import SMO

SMALL = 200  # hinges


def best_solver(problem: Problem, matrix: KernelMatrix) -> Solver:
    """Block, unless the problem is small or the kernel is the sigmoid; else SMO or GCD.

    The sigmoid is not positive semidefinite, so the answer depends on the way there, and that of SMO is the one of
    other programs. Rows of sparse data with thousands of features are made by all threads, and those of a function,
    whatever the size of the problem, a few at a time by Block, which outweighs that the others do without some of them.

    Milliseconds of whole fits by Block / by the other one (GCD for SVOR, else SMO) at tol = 1e-3 on two cores with
    AVX-512, γ = 0.5; `python -m benchmarks auto` has more data, where the choice never takes more than 1.22 times what
    the best would:

                    n = 100      n = 400      n = 1500      n = 5000
        california_housing, 8 features, C = 1
        SVOR        2.1 / 2.2    3.5 / 6.4    14 / 41       55 / 385
        SVORIM      2.0 / 1.9    3.3 / 3.9    12 / 17       53 / 134
        SVOREX      2.1 / 1.9    3.3 / 3.1    10 / 14       46 / 101
        SVC         1.6 / 1.6    2.4 / 2.0    8.3 / 7.0     22 / 47
        SVR         1.6 / 1.4    2.7 / 3.1    10 / 20       52 / 197
        C = 100
        SVOR        2.9 / 6.2    11 / 73      52 / 1109     401 / 19718
        SVORIM      2.5 / 2.8    10 / 14      51 / 197      373 / 4117
        SVOREX      2.7 / 2.8    13 / 14      63 / 133      446 / 2647
        SVC         1.7 / 1.5    3.2 / 3.6    19 / 25       111 / 297
        SVR         2.0 / 2.1    8.6 / 23     81 / 479      1224 / 7658
        treebank, 8569 sparse features, C = 100
        SVOR        3.0 / 6.8    9.3 / 46     50 / 418      747 / 4593
        SVORIM      3.1 / 3.5    9.8 / 13     45 / 103      692 / 1130
        SVC         2.3 / 2.1    5.6 / 6.4    37 / 53       559 / 530
        california_housing, the kernel a function, C = 1
        SVORIM      6.7 / 40     15 / 149     65 / 543      391 / 2036
        SVC         5.7 / 30     13 / 100     53 / 303      267 / 1013
    """
    if matrix.rows.suits_blocks() and (len(problem.hinges) > SMALL or matrix.rows.is_function):
        return Block()
    return SMO() if problem.treatment in SMO.accepts else GCD()
