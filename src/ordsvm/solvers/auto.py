"""What `solver="auto"` stands for: every rule, for every machine, with the measurements behind it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import scipy.sparse as sp

from ordsvm.kernels import Custom, Kernel, Linear
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.gcd import GCD
from ordsvm.solvers.kernel.interior_point.interior_point import InteriorPoint
from ordsvm.solvers.kernel.smo import SMO
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.linear.rank_dcd import RankDCD

SMALL_PROBLEM = 200  # hinges up to which GCD and SMO are as fast as Block
LAST_RESORT_SAMPLES = 3000  # up to which it ends within seconds, in 300 MB
MANY_SAMPLES = 5000  # a row of the kernel matrix is then longer than most vectors of features


class Work(NamedTuple):
    """What the rules depend on.

    form        what the machine keeps: "kernel", scores of samples; "linear", weights of features; "distributed", the
                same, and its rows are on workers
    kernel      of a kernel machine
    treatment   of its thresholds
    n_hinges    of its largest problem
    n_samples   and whether they are sparse
    by_rank     whether samples of a rank have the same hinges but for their C, so that weights of features will do
                where the kernel is linear
    validates   whether validation samples are looked at on the way
    """

    form: Literal["kernel", "linear", "distributed"]
    kernel: Kernel | None = None
    treatment: Treatment | None = None
    n_hinges: int = 0
    n_samples: int = 0
    is_sparse: bool = False
    by_rank: bool = False
    validates: bool = False

    @classmethod
    def of(cls, problem: Problem, kernel: Kernel, samples: Any, **more: bool) -> Work:
        """The work of a kernel machine whose largest problem this is."""
        n_hinges, is_sparse = len(problem.hinges), sp.issparse(samples)
        return cls("kernel", kernel, problem.treatment, n_hinges, problem.n_samples, is_sparse, **more)


def is_auto(solver: object) -> bool:
    return isinstance(solver, str) and solver == "auto"


def trains_on_full_kernel(solvers: list[Any], kernel: Kernel) -> bool:
    """Whether a search trains by the solver that has all of K in memory (`solvers/kernel/full_kernel.py`): where the
    choice is left to "auto" throughout, but not for the sigmoid, which is not positive semidefinite: there the answer
    depends on the solver."""
    return all(map(is_auto, solvers)) and kernel.positive_semidefinite


def auto(work: Work) -> Any:
    """The options object of the solver.

    Linear machines: RankDCD; CoCoA where their rows are on workers. Kernel machines: RankDCD where the kernel is
    linear, thresholds are penalised, and rows of the kernel matrix are long or would be made of sparse products.
    Otherwise Block, unless the problem is small or the kernel is the sigmoid: these go to SMO or GCD.

    The sigmoid is not positive semidefinite, so the answer depends on the way there, and that of SMO is the one of
    other programs. Rows of sparse data with thousands of features are made by all threads, and those of a callable
    kernel, whatever the size of the problem, a few at a time by Block, which outweighs that the others need fewer.

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
        california_housing, a callable kernel, C = 1
        SVORIM      6.7 / 40     15 / 149     65 / 543      391 / 2036
        SVC         5.7 / 30     13 / 100     53 / 303      267 / 1013
    """
    if work.form != "kernel":
        return RankDCD() if work.form == "linear" else CoCoA()
    if _keeps_weights(work):
        return RankDCD()
    is_callable = isinstance(work.kernel, Custom)
    is_definite = work.kernel is None or work.kernel.positive_semidefinite
    if is_definite and (work.n_hinges > SMALL_PROBLEM or is_callable):
        return Block()
    return SMO() if work.treatment in SMO.accepts else GCD()


def last_resort(work: Work) -> type[InteriorPoint] | None:
    """The solver that goes on where the one that `auto` has chosen gets nowhere.

    Steps of hinges and of pairs are many where features are badly scaled or C is large: with the linear kernel on 100
    samples whose 5 features are of size 1e3, GCD has a gap of 0.88 after 6 s, and the interior-point method ends within
    20 ms, after 11 iterations. It takes about as long as the steps that come before it (`Run.gets_nowhere`), so that no
    fit lasts much longer than by the better one of both.
    """
    is_definite = work.kernel is None or work.kernel.positive_semidefinite
    return InteriorPoint if work.form == "kernel" and is_definite and work.n_samples <= LAST_RESORT_SAMPLES else None


def _keeps_weights(work: Work) -> bool:
    can = isinstance(work.kernel, Linear) and work.treatment is Treatment.PENALIZED and work.by_rank
    is_sparse = work.is_sparse and work.n_hinges > SMALL_PROBLEM  # fewer hinges have a last resort, and are as fast
    return can and not work.validates and (is_sparse or work.n_samples > MANY_SAMPLES)
