"""What `solver="auto"` stands for: every rule, for every machine, with the measurements behind it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from ordsvm.devices import usable_device
from ordsvm.kernels import RBF, Custom, Kernel, Laplacian, Linear, Polynomial
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.gcd import GCD
from ordsvm.solvers.kernel.interior_point.interior_point import InteriorPoint
from ordsvm.solvers.kernel.proximal_newton.proximal_newton import ProximalNewton
from ordsvm.solvers.kernel.smo import SMO
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.linear.interior_point import LinearInteriorPoint
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.linear.wide_system import WIDE
from ordsvm.solvers.places import pays_on_gpu, stiffness_of

SMALL_PROBLEM = 50  # hinges up to which GCD and SMO are as fast as Block, or faster
FEW_SPARSE = 200  # hinges of sparse samples up to which kernel values are as fast as weights of features
SMALL_TASK = 2000  # hinges of a problem that one thread solves as soon as several would
LAST_RESORT_SAMPLES = 3000  # up to which it ends within seconds, in 300 MB
NORMS = 2000  # rows that stand for all where a mean norm is taken
SMALL_TABLE, SMALL_STIFFNESS = 2000, 25.0  # values up to which both solvers take milliseconds, unless C is large
MOST_FEATURES = 5000  # for a system that Cholesky's method solves in seconds
MOST_APPLIED = 20_000  # features of rows in memory, whose system conjugate gradients solve
MOST_SUMS = 25_000_000  # of all weight vectors: doubles that every thread keeps
MOST_DUALS = 200_000_000  # that are kept in memory for rows on disk, by the interior-point method twice, in float64
READING = 0.7  # nanoseconds a byte of a file
SIDE_BY_SIDE_SAMPLES = 8000  # 35 matrices of that size are 18 GB
MOST_ITERATIONS = 30  # of the interior-point method, on data that are hard for it
LEAST_PASSES = 300  # of coordinate descent, before that is its last resort
NESTED_SHARE = 0.6  # of the iterations of single fits: what fits of a search take that start from a smaller C
LEAST_KERNEL_PASSES = 2000  # the same, for a machine with the linear kernel, which needs a small violation too
MANY_SAMPLES = 5000  # a row of the kernel matrix is then longer than most vectors of features


class LinearRows(NamedTuple):
    """Rows of a linear machine: how many, how long, and what makes coordinate descent slow.

    n_values    of a row: features that are not 0
    n_vectors   weight vectors
    stiffness   the mean of C ‖x‖²: the largest step of a dual variable, on the scale of the scores
    tol         of the relative gap
    disk        bytes of a row on disk; 0 in memory
    n_duals     dual variables of a row on disk
    n_shards    of rows on workers
    share       of the iterations of a single fit that are left to this one
    """

    n_samples: int
    n_features: int
    n_values: float
    n_vectors: int
    stiffness: float
    tol: float
    disk: float = 0.0
    n_duals: int = 0
    n_shards: int = 1
    share: float = 1.0

    @classmethod
    def of(cls, X: Any, n_vectors: int, C: float, tol: float) -> LinearRows:
        """Of an array or a CSR matrix; the norm is that of some thousand rows all over it."""
        n_samples, n_features = X.shape
        some = X[:: max(1, n_samples // NORMS)]
        values = some.data if sp.issparse(some) else some
        norm = float(np.sum(np.square(values, dtype=np.float64))) / some.shape[0]
        n_values = X.nnz / n_samples if sp.issparse(X) else float(n_features)
        return cls(n_samples, n_features, n_values, n_vectors, C * norm, tol)

    def prefers_features(self) -> bool:
        """Whether the interior-point method is expected to end before coordinate descent does.

        An iteration costs d²/2 products a row and weight vector, and there are one to three dozen. A pass of
        coordinate descent costs a few operations a value; how many there are grows with C ‖x‖². Of many features, both
        the passes and the steps of conjugate gradients that an iteration takes do. Nanoseconds a row.
        """
        n = self.n_samples
        is_small = n * self.n_features < SMALL_TABLE and self.stiffness < SMALL_STIFFNESS
        if is_small or not self._has_system_and_rows() or n * self.n_duals > MOST_DUALS:
            return False
        reading = READING * self.disk * n
        return self._iterations() * (self._an_iteration() + reading) < self._passes() * (self._a_pass() + reading)

    def prefers_sums_of_features(self) -> bool:
        """The same for rows on workers, where coordinate descent is CoCoA's.

        Several shards need about five times its passes, a pass and two proofs a round, whose messages take longer; sums
        are d² numbers of every weight vector, at every level of a tree. Nanoseconds.
        """
        d, n = self.n_features, self.n_samples / self.n_shards
        if not self._has_system_and_rows():
            return False
        levels = 1 + math.log(self.n_shards, 4)
        rounds = self._passes() * (5 if self.n_shards > 1 else 1)
        a_round = 7e7 + 3 * n * (80 + 1.7 * self.n_values) * math.ceil(self.n_vectors / 8) + 16 * d * self.n_vectors
        sums = self.n_vectors * (n * (50 + d + d * d / 32) + d**3 / 60 + 8 * d * d * levels)
        return self._iterations() * (3e7 + sums) < rounds * a_round

    def passes_before_last_resort(self) -> int | None:
        """About as many as take the time of the interior-point method; None where that has no room."""
        if not self._has_small_system():
            return None
        return max(LEAST_PASSES, math.ceil(MOST_ITERATIONS * self._an_iteration() / self._a_pass()))

    def _has_system_and_rows(self) -> bool:
        return self._has_small_system() and self.n_samples >= 2 * self.n_features

    def _has_small_system(self) -> bool:
        is_formed = self.n_features <= MOST_FEATURES and self.n_vectors * self.n_features**2 <= MOST_SUMS
        return is_formed or self._may_apply()

    def _may_apply(self) -> bool:
        """Whether conjugate gradients may take the place of sums: for single fits of rows in memory."""
        is_single = self.disk == 0.0 and self.n_shards == 1 and self.share == 1.0
        return is_single and WIDE <= self.n_features <= MOST_APPLIED

    def _a_pass(self) -> float:
        values = 1.7 * min(self.n_values, 100.0) + 0.6 * max(self.n_values - 100.0, 0.0)
        return 2e4 + self.n_samples * (80 + values) * math.ceil(self.n_vectors / 8)

    def _an_iteration(self) -> float:
        d = self.n_features
        formed = self.n_samples * (50 + d + d * d / 32) + d**3 / 60
        if not self._may_apply():
            return 1e5 + self.n_vectors * formed
        steps = 4 + 1.8 * min(self.stiffness, 100.0)
        applied = self.n_samples * self.n_values * (5 + 0.7 * steps)
        return 1e5 + self.n_vectors * (applied if d > MOST_FEATURES else min(applied, formed))

    def _passes(self) -> float:
        """Of coordinate descent."""
        return (6 + 20 * min(self.stiffness, 100.0 if self._may_apply() else 25.0)) * self._digits() / 3

    def _iterations(self) -> float:
        """Of the interior-point method."""
        return self.share * (4 + 1.5 * self._digits())

    def _digits(self) -> float:
        return -math.log10(min(self.tol, 0.1))


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
    stiffness   its C, where `device` is "auto" and C tells how long Block takes: places.py
    validates   whether validation samples are looked at on the way
    device      where a kernel machine is to train, as a user names it
    rows        what the rows of a linear machine are like; None before there are any
    """

    form: Literal["kernel", "linear", "distributed"]
    kernel: Kernel | None = None
    treatment: Treatment | None = None
    n_hinges: int = 0
    n_samples: int = 0
    is_sparse: bool = False
    by_rank: bool = False
    stiffness: float = 1.0
    validates: bool = False
    device: str = "cpu"
    rows: LinearRows | None = None

    @classmethod
    def of(cls, problem: Problem, kernel: Kernel, samples: Any, device: str = "cpu", **more: Any) -> Work:
        """The work of a kernel machine whose largest problem this is."""
        n_hinges, is_sparse = len(problem.hinges), sp.issparse(samples)
        more |= {"device": device, "stiffness": stiffness_of(problem, kernel) if device == "auto" else 1.0}
        return cls("kernel", kernel, problem.treatment, n_hinges, problem.n_samples, is_sparse, **more)


def is_auto(solver: object) -> bool:
    return isinstance(solver, str) and solver == "auto"


def trains_on_full_kernel(solvers: list[Any], kernel: Kernel) -> bool:
    """Whether a search trains by the solver that has all of K in memory (`solvers/kernel/full_kernel.py`): where the
    choice is left to "auto" throughout, but not for a kernel that is not positive semidefinite: there the answer
    depends on the solver."""
    return all(map(is_auto, solvers)) and kernel.positive_semidefinite


def trains_side_by_side(kernel: Kernel, n_samples: int) -> bool:
    """Whether a search on a device solves all folds and C of a kernel at once, by the interior-point method: where
    their matrices are small enough that a fit at a time would leave the device waiting."""
    return n_samples <= SIDE_BY_SIDE_SAMPLES and isinstance(kernel, RBF | Laplacian | Linear | Polynomial)


def trains_together(work: Work, n_problems: int, n_threads: int) -> bool:
    """Whether the problems of a machine of several are solved in one call of the core (`solvers/kernel/together.py`),
    a thread each: where each is small, or there are enough of them for all threads."""
    is_definite = work.kernel is not None and work.kernel.positive_semidefinite
    is_plain = work.device == "cpu" and not isinstance(work.kernel, Custom) and not _keeps_weights(work)
    return n_problems > 1 and is_definite and is_plain and (n_problems >= n_threads or work.n_hinges <= SMALL_TASK)


def auto(work: Work) -> Any:
    """The options object of the solver.

    Linear machines: LinearInteriorPoint for many rows of few features, unless C is so small that coordinate descent is
    as fast (`LinearRows.prefers_features`), else RankDCD; where their rows are on workers, else CoCoA. Kernel machines:
    RankDCD where the kernel is linear, thresholds are penalised, and rows of the kernel matrix are long or would be
    made of sparse products. Otherwise Block, unless the problem is small or the kernel is the sigmoid: these go to SMO
    or GCD.

    On a GPU: ProximalNewton; where device="auto" leaves the place open too, places.py has the rule. For linear machines
    LinearInteriorPoint; "auto" leaves them to the CPU, beside which no GPU has been measured.

    The sigmoid is not positive semidefinite, so the answer depends on the way there, and that of SMO is the one of
    other programs. Rows of sparse data with thousands of features are made by all threads, and those of a callable
    kernel, whatever the size of the problem, a few at a time by Block, which outweighs that the others need fewer.

    Narrower vectors slow down both: Block stays the faster one with AVX2 and without (`python -m benchmarks isa`), so
    that the rules are the same for all processors.

    Milliseconds of whole fits by Block / by the other one (GCD for SVOR, else SMO) at tol = 1e-3 on two cores with
    AVX-512, γ = 0.5; `python -m benchmarks auto` has more data, where the choice takes at most 1.25 times what the best
    would, and `hard-choice` works at large C that the rules were not made from, where it may take more:

                    n = 100      n = 400      n = 1500      n = 5000
        california_housing, 8 features, C = 1
        SVOR        1.5 / 1.9    3.5 / 6.4    14 / 41       55 / 385
        SVORIM      1.6 / 1.6    3.3 / 3.9    12 / 17       53 / 134
        SVOREX      2.2 / 2.1    3.3 / 3.1    10 / 14       46 / 101
        SVC         1.4 / 1.2    2.4 / 2.0    8.3 / 7.0     22 / 47
        SVR         1.3 / 1.3    2.7 / 3.1    10 / 20       52 / 197
        C = 100
        SVOR        2.0 / 6.0    11 / 73      52 / 1109     401 / 19718
        SVORIM      2.0 / 2.4    10 / 14      51 / 197      373 / 4117
        SVOREX      2.5 / 2.8    13 / 14      63 / 133      446 / 2647
        SVC         1.5 / 1.4    3.2 / 3.6    19 / 25       111 / 297
        SVR         1.7 / 1.8    8.6 / 23     81 / 479      1224 / 7658
        treebank, 8569 sparse features, C = 100
        SVOR        3.1 / 6.9    9.3 / 46     50 / 418      747 / 4593
        SVORIM      3.0 / 3.5    9.8 / 13     45 / 103      692 / 1130
        SVC         2.6 / 2.3    5.6 / 6.4    37 / 53       559 / 530
        california_housing, a callable kernel, C = 1
        SVORIM      7.1 / 43     15 / 149     65 / 543      391 / 2036
        SVC         6.1 / 31     13 / 100     53 / 303      267 / 1013

    SVR of few rows, γ = 1 / columns (two hinges a row):

                              n = 50       n = 75       n = 100      n = 200
        california, C = 1     1.2 / 1.1    1.1 / 1.1    1.3 / 1.2    1.4 / 1.5
        C = 10                1.1 / 1.1    1.3 / 1.5    1.4 / 1.5    1.8 / 2.5
        C = 100               1.3 / 1.5    1.8 / 2.5    2.3 / 4.4    3.4 / 8.5
        abalone, C = 1        1.2 / 1.1    1.2 / 1.2    1.3 / 1.2    1.5 / 1.5
        C = 10                1.3 / 1.2    1.2 / 1.2    1.2 / 1.4    1.5 / 2.3
        C = 100               1.4 / 1.7    1.6 / 2.1    1.8 / 3.2    2.7 / 6.6

    LinearSVOR to 1e-3, milliseconds of one thread by LinearInteriorPoint / by RankDCD, at most 8000 rows, dense and
    standardised; x: gap above 0.1 after 1000 passes. `python -m benchmarks tall` has whole sets and all machines:

                                        C = 0.01     C = 1         C = 100
        winequality-red, 11 features    14 / 5       7 / 78        5 / 414 x
        abalone, 7                      5 / 6        6 / 143       6 / 668 x
        california_housing, 8           9 / 12       8 / 227       11 / 1431 x
        census_house16h, 16             9 / 10       11 / 489      10 / 1723 x
        cpu_act, 21                     10 / 9       18 / 279      15 / 1350 x
        protein, 9                      13 / 10      10 / 377      11 / 1649 x
        synthetic, 50                   20 / 22      28 / 1116     26 / 1725 x
        embeddings of length 1, 300     130 / 17     140 / 57

    The same for 1,000 to 10,000 features in rows of length 1, where coordinate descent wins up to C = 10: `python -m
    benchmarks wide`.
    """
    if work.form == "distributed":
        adds_up = work.rows is not None and work.rows.prefers_sums_of_features()
        return LinearInteriorPoint() if adds_up else CoCoA()
    if work.form == "linear" and work.device not in ("cpu", "auto"):
        return LinearInteriorPoint(device=work.device)
    if work.form == "kernel" and work.device != "cpu" and (device := _device_of(work)) != "cpu":
        return ProximalNewton(device=device)
    if work.form == "linear":
        return LinearInteriorPoint() if work.rows is not None and work.rows.prefers_features() else RankDCD()
    if _keeps_weights(work):
        return RankDCD()
    is_callable = isinstance(work.kernel, Custom)
    is_definite = work.kernel is None or work.kernel.positive_semidefinite
    if is_definite and (work.n_hinges > SMALL_PROBLEM or is_callable):
        return Block()
    return SMO() if work.treatment in SMO.accepts else GCD()


def most_passes(work: Work) -> int | None:
    """Of RankDCD, before the interior-point method goes on; None: it goes on itself.

    Passes are many where features are badly scaled: of 260 random problems with features from 1e-8 to 1e8 and C from
    1e-3 to 1e3, 22 had not converged after 2 s of passes; with the last resort all but 2 end within 0.3 s.
    """
    if work.form == "kernel":  # an iteration on K takes n³/3 operations, a pass some hundred nanoseconds a row
        return max(LEAST_KERNEL_PASSES, work.n_samples**2 // 250)
    return None if work.rows is None else work.rows.passes_before_last_resort()


def last_resort(work: Work) -> type[InteriorPoint] | None:
    """The solver that goes on where the one that `auto` has chosen gets nowhere.

    Steps of hinges and of pairs are many where features are badly scaled or C is large: with the linear kernel on 100
    samples whose 5 features are of size 1e3, GCD has a gap of 0.88 after 6 s, and the interior-point method ends within
    20 ms, after 11 iterations. It takes about as long as the steps that come before it (`Run.gets_nowhere`), so that no
    fit lasts much longer than by the better one of both.
    """
    is_definite = work.kernel is None or work.kernel.positive_semidefinite
    return InteriorPoint if work.form == "kernel" and is_definite and work.n_samples <= LAST_RESORT_SAMPLES else None


def placed(solver: Any, device: str, kind: type[ProximalNewton] | type[LinearInteriorPoint]) -> Any:
    """A solver that a user has chosen, on the device that the user has chosen: that of `kind`, ProximalNewton of kernel
    machines and LinearInteriorPoint of linear ones, has one, unless its own options name another. The others run on
    the CPU, which device="auto" leaves them to, and LinearInteriorPoint too, beside which no GPU has been measured."""
    if isinstance(solver, kind) and (kind is ProximalNewton or device != "auto"):
        place = usable_device(device) if device == "auto" else device
        return replace(solver, device=place) if solver.device == "cpu" else solver
    if device == "auto":
        return solver
    raise ValueError(
        f"solver={solver.name!r} runs on the CPU: give solver='auto' or {kind.name!r} with device={device!r}."
    )


def _device_of(work: Work) -> str:
    """Where a kernel machine trains."""
    device = usable_device(work.device)
    if work.device != "auto":
        return device
    is_definite = work.kernel is None or work.kernel.positive_semidefinite
    can = is_definite and not isinstance(work.kernel, Custom) and not _keeps_weights(work)  # a callable may be NumPy's
    return device if can and pays_on_gpu(work.n_samples, work.n_hinges, work.stiffness) else "cpu"


def _keeps_weights(work: Work) -> bool:
    can = isinstance(work.kernel, Linear) and work.treatment is Treatment.PENALIZED and work.by_rank
    is_sparse = work.is_sparse and work.n_hinges > FEW_SPARSE  # fewer have a last resort, and are as fast
    return can and not work.validates and (is_sparse or work.n_samples > MANY_SAMPLES)
