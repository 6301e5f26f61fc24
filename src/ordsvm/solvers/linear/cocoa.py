"""Options of the distributed solver, and what they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm.checks import check_number, check_seed_number

RHO = 0.03  # of the mean |x|²: with less, biases of several workers swing; with more, they take more rounds


@dataclass(frozen=True)
class CoCoA:
    """Rounds of coordinate descent, each worker on its own rows, added up, with momentum.

    Parameters
    ----------
    passes : int, default=1
        Passes over the own rows in a round.
    rho : float or None, default=None
        The share of a step that the bias follows at once, and of its way that it goes in a round; None: 0.03 of the
        mean |x|². Where the gap no longer falls it becomes larger.
    seed : int, default=0
        Seed of the order of the rows.

    Attributes
    ----------
    name : str
        "cocoa", for the `solver` parameter of an estimator.

    See Also
    --------
    ordsvm.RankDCD : The same on one machine.

    Notes
    -----
    The round: ordsvm/distributed/shard.py. Their sequence: ordsvm/distributed/rounds.py.

    References
    ----------
    .. [1] C. Ma, V. Smith, M. Jaggi, M. Jordan, P. Richtárik, M. Takáč, "Adding vs. averaging in distributed
       primal-dual optimization", ICML 2015.

    Examples
    --------
    >>> from ordsvm.distributed import CoCoA, LinearSVOR
    >>> LinearSVOR(solver=CoCoA(passes=2)).solver
    CoCoA(passes=2, rho=None, seed=0)
    """

    passes: int = 1
    rho: float | None = None
    seed: int = 0

    name: ClassVar[str] = "cocoa"

    def __post_init__(self) -> None:
        check_number(
            "passes", self.passes, "a whole number from 1 on", lambda passes: passes >= 1 and passes == int(passes)
        )
        if self.rho is not None:
            check_number("rho", self.rho, "None or a number above 0 and at most 1", lambda rho: 0 < rho <= 1)
        check_seed_number(self.seed)

    def rho_for(self, mean_norm: float, reach: float) -> float:
        """Return the rho that these data need.

        A bias goes a share rho of its way to the sum of β: about 1 in a round.

        Parameters
        ----------
        mean_norm : float
            The mean |x|² of the rows.
        reach : float
            The largest size that the sum of β can have.

        Returns
        -------
        float
            `rho` where it is given.
        """
        if self.rho is not None:
            return float(self.rho)
        return min(1.0, max(RHO * mean_norm, 0.8 / reach)) if reach > 0 else 1.0
