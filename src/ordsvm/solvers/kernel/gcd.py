from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_option
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run


@dataclass(frozen=True)
class GCD:
    """Greedy coordinate descent: the hinge with the largest violation goes to its minimum.

    Parameters
    ----------
    precision : {"float32", "float64"}, default="float32"
        Precision of cached rows of K. Scores are summed in float64 and recomputed from α before the end.

    Attributes
    ----------
    name : str
        "gcd", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: none and penalised.

    See Also
    --------
    AsyGCD : The same on several threads.
    SMO : Pairs of hinges, for free and ordered thresholds.
    Block : Working sets of samples; faster on many samples.

    Notes
    -----
    Algorithm 1 of [1]_ with one thread: cpp/solvers/gcd.hpp.

    References
    ----------
    .. [1] B. Gu, X. Geng, W. Shi, Y. Shan, Y. Huang, Z. Wang, G. Zheng, "Solving large-scale support vector ordinal
       regression with asynchronous parallel coordinate descent algorithms", Pattern Recognition, 2020.

    Examples
    --------
    >>> from ordsvm import GCD, SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(C=10, solver=GCD(precision="float64")).fit(X[:50], y[:50])
    >>> model.result_.solver
    'gcd'
    """

    precision: Precision = "float32"

    name: ClassVar[str] = "gcd"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.NONE, Treatment.PENALIZED})

    def __post_init__(self) -> None:
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        run.native(_core.gcd, self.precision)
