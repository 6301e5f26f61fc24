from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_count, check_option
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.papers.team import (
    PARTITIONS,
    SHARINGS,
    SHRINKS,
    Partition,
    Sharing,
    Shrink,
    Shrinking,
    check_pace,
    team,
)


@dataclass(frozen=True)
class AsyAGCD:
    """Asynchronous greedy coordinate descent with active sets.

    Hinges that are safely at a bound are left out for a while, and with them the scores of their samples.

    Parameters
    ----------
    max_shrink_iter : int, default=10000
        Steps between two checks of which hinges can be left out.
    sharing : {"log", "atomic"}, default="log"
        "log": a thread writes its steps to a log that the others apply to their own scores. "atomic": it adds them to
        shared scores by atomic additions, as in the papers.
    partition : {"sample", "threshold"}, default="sample"
        "sample": a thread owns samples with all their hinges. "threshold": it owns hinges threshold by threshold.
    pace : float, default=0.1
        A thread whose step would be shorter than this share of another thread's waits. 0, as in the papers, never
        waits.
    precision : {"float32", "float64"}, default="float32"
        Precision of cached rows of K. Scores are summed in float64 and recomputed from α before the end.
    shrink : {"block", "global"}, default="block"
        By which violations hinges are left out: "block", those of a thread's own hinges, after so many steps of its
        own; "global", those of all threads, which meet after so many steps of all, as in the papers; slower
        where meetings weigh, on small data, and about as fast on larger (`python -m benchmarks asy-active`).

    Attributes
    ----------
    name : str
        "asyagcd", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: none and penalised.

    See Also
    --------
    AsyGCD : The same without active sets.
    AsyORGCD : Threads on private scores.

    Notes
    -----
    The number of threads is `n_threads` of the estimator; where their simultaneous steps undo each other, fewer of them
    go on, so that every run ends. The algorithm and what it adds to the papers:
    cpp/solvers/papers/async/asygcd.hpp.

    References
    ----------
    .. [1] B. Gu et al., "Solving large-scale support vector ordinal regression with asynchronous parallel coordinate
       descent algorithms", Pattern Recognition, 2020, Algorithms 2 and 3.
    .. [2] B. Gu, Y. Shan, X. Geng, G. Zheng, "Accelerated asynchronous greedy coordinate descent algorithm for SVMs",
       IJCAI 2018, Algorithms 2 and 3.

    Examples
    --------
    >>> from ordsvm import SVOR, AsyAGCD
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(C=10, solver=AsyAGCD(max_shrink_iter=500), n_threads=1).fit(X[:50], y[:50])
    >>> model.result_.solver
    'asyagcd'
    """

    max_shrink_iter: int = 10_000
    sharing: Sharing = "log"
    partition: Partition = "sample"
    pace: float = 0.1
    precision: Precision = "float32"
    shrink: Shrink = "block"

    name: ClassVar[str] = "asyagcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_count("max_shrink_iter", self.max_shrink_iter)
        check_option("sharing", self.sharing, SHARINGS)
        check_option("partition", self.partition, PARTITIONS)
        check_pace(self.pace)
        check_option("precision", self.precision, PRECISIONS)
        check_option("shrink", self.shrink, SHRINKS)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        shrinking = Shrinking(self.max_shrink_iter, self.shrink)
        threads = team(run, self.partition, self.sharing, self.pace, shrinking)
        run.scores_follow = False  # α is written by several threads, scores are their own
        run.native(_core.asygcd, self.precision, threads)
