from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_option
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.papers.team import PARTITIONS, SHARINGS, Partition, Sharing, check_pace, team


@dataclass(frozen=True)
class AsyGCD:
    """Asynchronous greedy coordinate descent: every thread works on its own hinges without waiting for the others.

    Parameters
    ----------
    sharing : {"log", "atomic"}, default="log"
        "log": a thread writes its steps to a log that the others apply to their own scores. "atomic": it adds them to
        shared scores by atomic additions, as in the papers.
    partition : {"sample", "threshold"}, default="sample"
        "sample": a thread owns samples with all their hinges. "threshold": it owns hinges threshold by threshold.
    pace : float, default=0.1
        A thread whose step would be shorter than this share of another thread's waits, for it would work on scores that
        are about to change. 0, as in the papers, never waits, and takes up to eight times the steps.
    precision : {"float32", "float64"}, default="float32"
        Precision of cached rows of K. Scores are summed in float64 and recomputed from α before the end.

    Attributes
    ----------
    name : str
        "asygcd", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: none and penalised.

    See Also
    --------
    AsyAGCD : The same with active sets.
    AsyORGCD : Threads on private scores.
    GCD : One thread.

    Notes
    -----
    The number of threads is `n_threads` of the estimator; where their simultaneous steps undo each other, fewer of them
    go on, so that every run ends. The algorithm and what it adds to the papers:
    cpp/solvers/papers/async/asygcd.hpp.

    References
    ----------
    .. [1] B. Gu et al., "Solving large-scale support vector ordinal regression with asynchronous parallel coordinate
       descent algorithms", Pattern Recognition, 2020, Algorithm 1.
    .. [2] B. Gu, Y. Shan, X. Geng, G. Zheng, "Accelerated asynchronous greedy coordinate descent algorithm for SVMs",
       IJCAI 2018, Algorithm 1.

    Examples
    --------
    >>> from ordsvm import SVOR, AsyGCD
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(C=10, solver=AsyGCD(sharing="atomic"), n_threads=1).fit(X[:50], y[:50])
    >>> model.result_.solver
    'asygcd'
    """

    sharing: Sharing = "log"
    partition: Partition = "sample"
    pace: float = 0.1
    precision: Precision = "float32"

    name: ClassVar[str] = "asygcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_option("sharing", self.sharing, SHARINGS)
        check_option("partition", self.partition, PARTITIONS)
        check_pace(self.pace)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        threads = team(run, self.partition, self.sharing, self.pace)
        run.scores_follow = False  # α is written by several threads, scores are their own
        run.native(_core.asygcd, self.precision, threads)
