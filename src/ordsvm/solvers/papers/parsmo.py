"""PARSMO: several pairs of hinges at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_count, check_flag, check_number, check_option, usable_threads
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run


@dataclass(frozen=True)
class ParsmoLight:
    """Parallel SMO: the q most violating pairs of hinges, and one step for all of them.

    Parameters
    ----------
    q : int, default=8
        Pairs in an iteration, the paper's number of processes; 1 is SMO with the most violating pair. At most half the
        rows that the cache holds.
    epsilon : float, default=1e-12
        The share of its cap within which a hinge counts as being at a bound, until no other violation is left.
    gathering : bool, default=True
        Whether the step along the sum of all moves is exact; otherwise the moves are added, and may never converge.
    precision : {"float32", "float64"}, default="float32"
        Precision of cached rows of K. Scores are summed in float64 and recomputed from α before the end.

    Attributes
    ----------
    name : str
        "parsmo-light", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: free and ordered.
    others : Others
        Which pairs join the most violating one: those that violate most.

    See Also
    --------
    ParsmoCache : Pairs whose rows of K are in the cache.
    SMO : One pair an iteration.
    Decomposition : Subproblems of many hinges, by the same authors.

    Notes
    -----
    Missing rows of K are computed and scores brought up to date on `n_threads` threads, whatever q is; the result does
    not depend on how many. `n_iter` counts iterations; kernel evaluations a process, as the paper counts them, are
    `kernel_rows` · n / q. The algorithm and what it adds to the paper: cpp/solvers/papers/parsmo/parsmo.hpp.

    References
    ----------
    .. [1] A. Manno, L. Palagi, S. Sagratella, "Parallel decomposition methods for linearly constrained problems subject
       to simple bound with application to the SVMs training", Computational Optimization and Applications 71, 2018,
       Algorithm 2.

    Examples
    --------
    >>> from ordsvm import SVORIM, ParsmoLight
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVORIM(C=10, solver=ParsmoLight(q=4)).fit(X[:50], y[:50])
    >>> model.result_.solver
    'parsmo-light'
    """

    q: int = 8
    epsilon: float = 1e-12
    gathering: bool = True
    precision: Precision = "float32"

    name: ClassVar[str] = "parsmo-light"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.FREE, Treatment.ORDERED})
    others: ClassVar[_core.Others] = _core.Others.light

    def __post_init__(self) -> None:
        check_count("q", self.q, "pairs")
        check_number("epsilon", self.epsilon, "a number from 0 up to, but not, 0.5", lambda number: 0 <= number < 0.5)
        check_flag("gathering", self.gathering)
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        threads = usable_threads(run.control.n_threads)
        options = _core.ParsmoOptions(self.others, int(self.q), float(self.epsilon), bool(self.gathering), threads)
        if run.control.monitor is not None:
            run.look_every(max(1, run.report_every // int(self.q)))
        run.native(_core.parsmo, self.precision, options)


@dataclass(frozen=True)
class ParsmoCache(ParsmoLight):
    """Parallel SMO with few kernel evaluations: the other pairs are those whose rows of K are in the cache.

    An iteration computes at most two rows of K, those of the most violating pair, as SMO does.

    Parameters
    ----------
    q : int, default=8
        Pairs in an iteration, the paper's number of processes; 1 is SMO with the most violating pair. At most half the
        rows that the cache holds.
    epsilon : float, default=1e-12
        The share of its cap within which a hinge counts as being at a bound, until no other violation is left.
    gathering : bool, default=True
        Whether the step along the sum of all moves is exact; otherwise the moves are added, and may never converge.
    precision : {"float32", "float64"}, default="float32"
        Precision of cached rows of K. Scores are summed in float64 and recomputed from α before the end.

    Attributes
    ----------
    name : str
        "parsmo-cache", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: free and ordered.
    others : Others
        Which pairs join the most violating one: those with rows in the cache.

    See Also
    --------
    ParsmoLight : The q most violating pairs.
    SMO : One pair an iteration.

    References
    ----------
    .. [1] A. Manno, L. Palagi, S. Sagratella, "Parallel decomposition methods for linearly constrained problems subject
       to simple bound with application to the SVMs training", Computational Optimization and Applications 71, 2018.

    Examples
    --------
    >>> from ordsvm import SVORIM, ParsmoCache
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVORIM(C=10, solver=ParsmoCache(q=4)).fit(X[:50], y[:50])
    >>> model.result_.solver
    'parsmo-cache'
    """

    name: ClassVar[str] = "parsmo-cache"
    others: ClassVar[_core.Others] = _core.Others.cache
