"""The central path: iterates of a primal-dual interior-point method on the hinges, and the steps along it.

Every bound has a multiplier, λ for α ≥ 0 and ξ for α ≤ c, and ordered thresholds have ν for b_{k+1} ≥ b_k. The
optimality conditions, with G = s(f − b) − o and complementarity relaxed by μ, are

    β = Σ_i sα    f = Kβ    p·b = −γ + E'ν    λ − ξ = G    αλ = μc    (c − α)ξ = μc    ν·Eb = μ·(mean c)

p is the weight of ½‖b‖², 0 for free and ordered thresholds; E takes differences. Relaxed in proportion to caps, all
hinges are smoothed alike, however their weights differ. Newton's method on these equations: stacked_system.py. All of
it is in the units of stacks.py, for all problems of a stack at once.

Mehrotra's predictor and corrector, then Gondzio's correctors: these cost a solve each, the system a factorisation. With
two of them the problems of a search take a sixth fewer systems.
"""

from __future__ import annotations

from operator import add, sub

from ordsvm.array_library import Array
from ordsvm.solvers.kernel.interior_point.stacked_system import StackedSystem
from ordsvm.solvers.kernel.interior_point.stacks import CentralPathPoint, Stacks, by_problem

TO_BOUNDARY = 0.995  # share of the longest step that is taken
PROXIMAL = 1e-4  # added to 1/w, in units of 1/c, while μ is larger: without it systems break down at large C
CORRECTORS = 2  # of Gondzio, at most
LONG_STEP = 0.9  # that needs no correctors
LONGER = 1.05  # times the length of a step: what makes a corrected direction the better one
FAR_FROM_PATH = 10.0  # products αλ outside of [1/10, 10] times their target are corrected
TINY = 1e-300


class StackedPath:
    """The paths of all problems; `size` is what α may come to (`Stacks.size`), and 1 where there is no hinge."""

    def __init__(self, stacks: Stacks) -> None:
        self._stacks, self._library = stacks, stacks.library

    def mu(self, x: CentralPathPoint, size: Array) -> Array:
        """Return μ of every problem, (folds, C): the sum of its products as a share of what it is for μ = 1."""
        return self._sum(self._products(x)) / self._sum(self._unit_products(size))

    def left(self, x: CentralPathPoint, size: Array) -> Array:
        """Return the sum of the products as a share of the objective."""
        stacks = self._stacks
        loss = stacks.total(size * self._library.clip(-stacks.slope(x), 0.0, float("inf")))
        norms = abs((x.beta * x.score).sum(-1)) + stacks.penalty * (x.b * x.b).sum(-1)
        return self._sum(self._products(x)) / self._library.clip(0.5 * norms + loss, TINY, float("inf"))

    def advanced(self, x: CentralPathPoint, size: Array) -> CentralPathPoint:
        """Return the point one iteration on, with NaN in problems whose system has no solution."""
        library, unit = self._library, self._unit_products(size)
        whole = self._sum(unit)
        mu = self._sum(self._products(x)) / whole
        directions = PathDirections(self._stacks, x, library.clip(mu, 0.0, PROXIMAL)[..., None, None] / size)
        affine = directions.towards([0.0 * each for each in unit])
        after = self._sum(self._products(x.moved(self._longest(x, affine), affine))) / whole
        centring = library.clip(after / mu, 0.0, 1.0) ** 3 * mu
        centred = [by_problem(centring, each) * each for each in unit]
        targets = list(map(sub, centred, self._products(affine)))
        way = directions.towards(targets)
        longest = self._longest(x, way)
        for _ in range(CORRECTORS):
            if not (longest <= LONG_STEP).any():
                break
            reached = self._products(x.moved(library.clip(1.5 * longest + 0.1, 0.0, 1.0), way))
            targets = list(map(add, targets, map(self._correction, reached, centred)))
            other = directions.towards(targets)
            reach = self._longest(x, other)
            is_longer = reach > LONGER * longest
            if not is_longer.any():
                break
            way, longest = other.where(library, is_longer, way), library.where(is_longer, reach, longest)
        return x.moved(library.clip(TO_BOUNDARY * longest, 0.0, 1.0), way)

    def _correction(self, product: Array, target: Array) -> Array:
        """Return what brings products back which a step would leave far from the path."""
        wanted = self._library.clip(product, target / FAR_FROM_PATH, target * FAR_FROM_PATH)
        return self._library.clip(wanted - product, -FAR_FROM_PATH * target, float("inf"))

    def _products(self, x: CentralPathPoint) -> list[Array]:
        """Return αλ, (c − α)ξ and, if thresholds are ordered, ν·Eb."""
        products = [x.alpha * x.lower, x.rest * x.upper]
        return [*products, x.order * self._stacks.differences(x.b)] if self._stacks.is_ordered else products

    def _unit_products(self, size: Array) -> list[Array]:
        """Return the products on the path for μ = 1."""
        return [size, size, self._stacks.order_weights(size)] if self._stacks.is_ordered else [size, size]

    def _sum(self, products: list[Array]) -> Array:
        lower, upper, *order = products
        return sum((each.sum(-1) for each in order), self._stacks.total(lower + upper))

    def _longest(self, x: CentralPathPoint, by: CentralPathPoint) -> Array:
        """Return the longest step of every problem, up to 1, that leaves nothing negative."""
        pairs = [(x.alpha, by.alpha), (x.rest, by.rest), (x.lower, by.lower), (x.upper, by.upper)]
        if self._stacks.is_ordered:
            differences = self._stacks.differences
            pairs += [(x.order, by.order), (differences(x.b), differences(by.b))]
        largest = self._library.largest
        reach = [largest((-change / value).reshape(*value.shape[:2], -1), -1)[None] for value, change in pairs]
        return 1.0 / self._library.clip(largest(self._library.join(reach), 0), 1.0, float("inf"))


class PathDirections:
    """Newton's directions from a point to several targets for the products; `proximal` is added to 1/w."""

    def __init__(self, stacks: Stacks, x: CentralPathPoint, proximal: Array) -> None:
        self._stacks, self._x, self._slope = stacks, x, stacks.slope(x)
        self._differences = stacks.differences(x.b)
        self._stiffness = x.order / self._differences
        weight = stacks.has / (x.lower / x.alpha + x.upper / x.rest + proximal)
        self._system = StackedSystem(stacks, x, weight, self._stiffness)

    def towards(self, targets: list[Array]) -> CentralPathPoint:
        """Return the direction to these products."""
        x, stacks = self._x, self._stacks
        lower, upper, *order = targets
        pull = order[0] / self._differences - x.order if order else x.order
        move = self._system.move(lower / x.alpha - upper / x.rest - self._slope, pull)
        return CentralPathPoint(
            *move,
            -move.alpha,
            (lower - x.lower * move.alpha) / x.alpha - x.lower,
            (upper + x.upper * move.alpha) / x.rest - x.upper,
            pull - self._stiffness * stacks.differences(move.b) if order else pull,
        )
