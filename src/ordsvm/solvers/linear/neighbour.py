"""Weights of the same problem at another C, as a start of the interior-point method.

What they prove there they prove at r C too. With r α in place of α,

    primal(r) = ½‖w‖² + r · loss      dual(r) = r · linear − ½ r² ‖X'β‖²      gap(r) ≈ r · gap + ½ (r − 1)² ‖w‖²

for hinges and squared ones. The start is the point of the central path at w whose τ leaves this gap: half of the
iterations of a start from weights 0, or fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ordsvm._typing import Floats
from ordsvm.solvers.linear.feature_system import Point

SPREAD = 2.0  # of the gap that weights of another C leave: for τ to start from
FLOOR = 0.25  # of the gap that tol allows: τ starts from no less
SURPRISE = 1.1  # times the objective that is expected: the weights are of other samples
FAR = 0.5  # of the τ of a start from weights 0: beyond it that is as good


@dataclass(frozen=True)
class Neighbour:
    """The weights there, how many times their caps the new ones are, and what they proved, all of them together."""

    points: Sequence[Point]
    ratio: float
    primal: float
    gap: float

    def starts(self, caps: Floats, reach: Floats, tol: float) -> list[tuple[Point, float]]:
        """Weights and τ of every weight vector, for the sums of its caps; empty where weights 0 are as good.

        reach: τ of a start from weights 0
        """
        norms = [point.squared_norm() for point in self.points]
        allowed = tol * abs(self._expected()) / len(norms)
        left = max(0.0, self.ratio * self.gap / len(norms) - allowed)
        taus = [
            max(1e-12, FLOOR * allowed, SPREAD * (left + 0.5 * (self.ratio - 1.0) ** 2 * norm)) / (2.0 * cap)
            for norm, cap in zip(norms, caps, strict=True)
            if cap > 0.0
        ]
        if len(taus) < len(norms) or not all(tau <= FAR * far for tau, far in zip(taus, reach, strict=True)):
            return []
        return list(zip(self.points, taus, strict=True))

    def foresaw(self, primal: float) -> bool:
        """Whether the objective at these weights is as expected; otherwise the samples are others."""
        return primal <= SURPRISE * self._expected()

    def _expected(self) -> float:
        norm = 0.5 * sum(point.squared_norm() for point in self.points)
        return self.ratio * (self.primal - norm) + norm
