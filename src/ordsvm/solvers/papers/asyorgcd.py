from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_count, check_flag, check_option
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.papers.team import PARTITIONS, Partition, team


@dataclass(frozen=True)
class AsyORGCD:
    """Asynchronous greedy coordinate descent on private scores, meant to keep the thresholds in order on the way.

    A thread works on its own view of the scores and takes over the steps of the others only when it has nothing left to
    do.

    Parameters
    ----------
    max_inner_iter : int, default=1000
        Steps of a thread before all threads meet.
    partition : {"sample", "threshold"}, default="sample"
        "sample": a thread owns samples with all their hinges. "threshold": it owns hinges threshold by threshold.
    precision : {"float32", "float64"}, default="float32"
        Precision of cached rows of K. Scores are summed in float64 and recomputed from α before the end.
    gathering : bool, default=True
        Whether the step along the sum of all moves is shortened where that is better; otherwise the moves are added, as
        the paper has it, and may never converge.

    Attributes
    ----------
    name : str
        "asyorgcd", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: none and penalised.

    See Also
    --------
    AsyGCD : Threads on scores that all of them keep up to date.

    Notes
    -----
    The number of threads is `n_threads` of the estimator. Private scores cost steps: 13 to 15 times those of `GCD` with
    two threads, 22 to 28 with four, 39 and more with eight; without `gathering` as many with two, and no convergence
    with four or eight (`python -m benchmarks asy-gathering`, three data sets, C = 1). The algorithm and what it adds to
    the paper: cpp/solvers/papers/async/asyorgcd.hpp.

    References
    ----------
    .. [1] B. Gu et al., "Solving large-scale support vector ordinal regression with asynchronous parallel coordinate
       descent algorithms", Pattern Recognition, 2020, Algorithm 4.

    Examples
    --------
    >>> from ordsvm import SVOR, AsyORGCD
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(C=10, solver=AsyORGCD(max_inner_iter=100), n_threads=1).fit(X[:50], y[:50])
    >>> model.result_.solver
    'asyorgcd'
    """

    max_inner_iter: int = 1_000
    partition: Partition = "sample"
    precision: Precision = "float32"
    gathering: bool = True

    name: ClassVar[str] = "asyorgcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_count("max_inner_iter", self.max_inner_iter)
        check_option("partition", self.partition, PARTITIONS)
        check_option("precision", self.precision, PRECISIONS)
        check_flag("gathering", self.gathering)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        threads = team(run, self.partition)
        outer = _core.OuterIterations(int(self.max_inner_iter), bool(self.gathering))
        run.scores_follow = False  # α is written by several threads, scores are their own
        run.native(_core.asyorgcd, self.precision, threads, outer)
