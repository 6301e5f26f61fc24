"""The way along the central path for stacks of problems: central_path.py has it for one, and says what the path is.

Mehrotra's predictor and corrector, then Gondzio's correctors: these cost a solve each, the system a factorisation. With
two of them the problems of a search take a sixth fewer systems.
"""

from __future__ import annotations

from ordsvm.array_library import Array
from ordsvm.solvers.kernel.interior_point.central_path import (
    CORRECTORS,
    FAR_FROM_PATH,
    LONG_STEP,
    PROXIMAL,
    TO_BOUNDARY,
)
from ordsvm.solvers.kernel.interior_point.stacked_system import StackedSystem, Stacks, State

LONGER = 1.05  # times the length of a step: what makes a corrected direction the better one


class StackedPath:
    """The paths of all problems; `cap` is that of their hinges, and 1 where there is none."""

    def __init__(self, stacks: Stacks) -> None:
        self._stacks, self._library = stacks, stacks.library

    def left(self, x: State, cap: Array) -> Array:
        """The products, as a share of the objective."""
        stacks = self._stacks
        loss = (cap * stacks.has * self._library.clip(-stacks.slope(x), 0.0, float("inf"))).sum(-1).sum(-1)
        norm = (x.beta * x.score).sum(-1) + stacks.penalty * (x.b * x.b).sum(-1)
        return self._mu(x, cap) * 2.0 * (cap * stacks.has).sum(-1).sum(-1) / (0.5 * norm + loss)

    def advanced(self, x: State, cap: Array) -> State:
        """One iteration; where a system breaks down, NaN."""
        mu, has = self._mu(x, cap), self._stacks.has
        proximal = self._library.clip(mu, 0.0, PROXIMAL)[..., None, None]
        system = StackedSystem(self._stacks, x, has / (x.lower / x.alpha + x.upper / x.rest + proximal / cap))
        nothing = 0.0 * x.alpha
        affine = self._towards(system, x, nothing, nothing)
        after = self._mu(x.moved(self._longest(x, affine), affine), cap)
        ratio = self._library.clip(after / mu, 0.0, 1.0)
        centring = (ratio**3 * mu)[..., None, None] * cap
        lower, upper = centring - affine.alpha * affine.lower, centring - affine.rest * affine.upper
        way, longest = self._corrected(system, x, centring, lower, upper)
        return x.moved(self._library.clip(TO_BOUNDARY * longest, 0.0, 1.0), way)

    def _corrected(
        self, system: StackedSystem, x: State, centring: Array, lower: Array, upper: Array
    ) -> tuple[State, Array]:
        """The direction to these products, or one that leads farther and keeps them near the path, and its length."""
        library = self._library
        way = self._towards(system, x, lower, upper)
        longest = self._longest(x, way)
        for _ in range(CORRECTORS):
            if not (longest <= LONG_STEP).any():
                break
            after = x.moved(library.clip(1.5 * longest + 0.1, 0.0, 1.0), way)
            lower = lower + self._correction(after.alpha * after.lower, centring)
            upper = upper + self._correction(after.rest * after.upper, centring)
            other = self._towards(system, x, lower, upper)
            reach = self._longest(x, other)
            is_longer = reach > LONGER * longest
            way, longest = other.where(library, is_longer, way), library.where(is_longer, reach, longest)
        return way, longest

    def _correction(self, product: Array, target: Array) -> Array:
        """What brings products back which a step would leave far from the path."""
        wanted = self._library.clip(product, target / FAR_FROM_PATH, target * FAR_FROM_PATH)
        return self._library.clip(wanted - product, -FAR_FROM_PATH * target, float("inf"))

    def _towards(self, system: StackedSystem, x: State, lower: Array, upper: Array) -> State:
        """The direction to these products."""
        move = system.move(lower / x.alpha - upper / x.rest - self._stacks.slope(x))
        return State(
            *move,
            -move.alpha,
            (lower - x.lower * move.alpha) / x.alpha - x.lower,
            (upper + x.upper * move.alpha) / x.rest - x.upper,
        )

    def _mu(self, x: State, cap: Array) -> Array:
        products = ((x.alpha * x.lower + x.rest * x.upper) * self._stacks.has).sum(-1).sum(-1)
        return products / (2.0 * (cap * self._stacks.has).sum(-1).sum(-1))

    def _longest(self, x: State, by: State) -> Array:
        """The longest step of every problem, up to 1, that leaves nothing negative."""
        pairs = ((x.alpha, by.alpha), (x.rest, by.rest), (x.lower, by.lower), (x.upper, by.upper))
        largest = self._library.largest
        reach = [largest(largest(-change / value, -1), -1)[None] for value, change in pairs]
        return 1.0 / self._library.clip(largest(self._library.join(reach), 0), 1.0, float("inf"))
