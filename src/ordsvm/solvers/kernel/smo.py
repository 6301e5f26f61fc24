from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ordsvm import _core
from ordsvm.checks import PRECISIONS, Precision, check_option
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.run import Run


@dataclass(frozen=True)
class SMO:
    """Sequential minimal optimisation: one pair of hinges after the other.

    Parameters
    ----------
    selection : {"second-order", "mvp"}, default="second-order"
        The partner of the most violating hinge: "second-order" takes the one with the largest decrease of the
        objective, "mvp" the most violating pair, as the paper does.
    precision : {"float32", "float64"}, default="float32"
        Precision of cached rows of K. Scores are summed in float64 and recomputed from α before the end.

    Attributes
    ----------
    name : str
        "smo", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: free and ordered.

    See Also
    --------
    ParsmoLight : Several pairs at once.
    Block : Working sets of samples; faster on many samples.
    GCD : The same idea for problems without equality constraints.

    Notes
    -----
    The algorithm and what it adds to the paper: cpp/solvers/smo.hpp.

    References
    ----------
    .. [1] W. Chu, S. S. Keerthi, "Support vector ordinal regression", Neural Computation 19, 2007, §3 and §4.4.

    Examples
    --------
    >>> from ordsvm import SMO, SVORIM
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVORIM(C=10, solver=SMO(selection="mvp")).fit(X[:50], y[:50])
    >>> model.result_.solver
    'smo'
    """

    selection: Literal["second-order", "mvp"] = "second-order"
    precision: Precision = "float32"

    name: ClassVar[str] = "smo"
    accepts: ClassVar[frozenset[Treatment]] = frozenset({Treatment.FREE, Treatment.ORDERED})

    def __post_init__(self) -> None:
        check_option("selection", self.selection, ("second-order", "mvp"))
        check_option("precision", self.precision, PRECISIONS)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        selection = _core.Selection.mvp if self.selection == "mvp" else _core.Selection.second_order
        run.native(_core.smo, self.precision, selection)
