"""Options of the distributed solver, and what they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ordsvm.checks import check_number, check_seed_number

RHO = 0.03  # of the mean |x|²: with less, biases of several workers swing; with more, they take more rounds


@dataclass(frozen=True)
class CoCoA:
    """Rounds of coordinate descent, each worker on its own rows, added up: CoCoA⁺ (Ma et al. 2015) with momentum.

    passes   over the own rows in a round
    rho      the share of a step that the bias follows at once, and of its way that it goes in a round; None: 0.03 of
             the mean |x|². Where the gap no longer falls it becomes larger
    seed     of the order of the rows

    The round: ordsvm/distributed/shard.py. Their sequence: ordsvm/distributed/rounds.py.
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
        """A bias goes a share rho of its way to the sum of β, whose size is at most `reach`: about 1 in a round."""
        if self.rho is not None:
            return float(self.rho)
        return min(1.0, max(RHO * mean_norm, 0.8 / reach)) if reach > 0 else 1.0
