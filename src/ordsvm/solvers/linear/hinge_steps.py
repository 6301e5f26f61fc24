"""A step of hinges along the central path, in array code: cpp/linear/interior_point/hinge_tile.hpp, formula by formula.

Arrays are [hinge][row]. α is kept as it is, or as minus its distance to the cap where that is nearer; for squared
losses, which have no cap, always as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ordsvm.array_library import Array, ArrayLibrary

WAY_TO_BOUND = 0.99  # the share of the way to a bound that a step may go
LEAST_WEIGHT = 1e-10  # keeps weights of hinges finite
LEAST_CAP = 1e-280  # a hinge of a smaller one is none: 1 / α would not be finite


class Steps(NamedTuple):
    """How far along the direction, from which τ to which, and whether α goes to the central path: (n_hinges, 1)."""

    length: Array
    old_tau: Array
    tau: Array
    centres: Array
    any_centre: bool
    all_centre: bool

    def chosen(
        self, library: ArrayLibrary, newton: Callable[[], list[Array]], centre: Callable[[], list[Array]]
    ) -> list[Array]:
        """The same arrays as one way or the other makes them, hinge by hinge."""
        if not self.any_centre:
            return newton()
        if self.all_centre:
            return centre()
        return [library.where(self.centres, *both) for both in zip(centre(), newton(), strict=True)]


class Hinges(NamedTuple):
    """Where there is none, `exists` is 0.0 and the cap 1."""

    sign: Array
    offset: Array
    cap: Array
    exists: Array


class Given(NamedTuple):
    """What hinges give Newton's system: v, s α, s v (−G) and s v (1/α − 1/(c − α)) c; 0 where there is none."""

    weight: Array
    beta: Array
    pull: Array
    push: Array


class Moved(NamedTuple):
    """α after a step as it is kept, what hinges give, and their sums over the rows.

    sums    (6, n_hinges): loss, linear, complementarity, moved, cut and violation, as in HingeSums of the core
    """

    kept: Array
    given: Given
    sums: Array


def step_hinges(library: ArrayLibrary, h: Hinges, slope: Array, turn: Array, kept: Array, steps: Steps) -> Moved:
    """From G = s (score) − offset, and how a full step changes it."""
    new_slope = slope + steps.length * turn
    alpha, rest, moved, cut = steps.chosen(
        library,
        lambda: _newton(library, h, slope, turn, kept, steps),
        lambda: _centre(library, h, new_slope, steps.tau),
    )
    by_alpha, by_rest = 1.0 / alpha, 1.0 / rest
    of_alpha, of_rest = _multipliers(library, new_slope, by_alpha, by_rest, steps.tau * h.cap)
    weight = h.exists / (of_alpha * by_alpha + of_rest * by_rest + LEAST_WEIGHT / h.cap)
    signed, existing = h.sign * weight, h.exists * alpha
    given = Given(weight, h.sign * existing, -(signed * new_slope), signed * h.cap * (by_alpha - by_rest))
    sums = _summed(
        library,
        h.exists * h.cap * library.where(new_slope > 0.0, 0.0, -new_slope),
        h.offset * existing,
        h.exists * (of_alpha * alpha + of_rest * rest),
        h.exists * moved,
        h.exists * cut,
        h.exists * abs(new_slope),
    )
    return Moved(library.where(alpha < rest, alpha, -rest), given, sums)


def step_squared_hinges(
    library: ArrayLibrary, h: Hinges, distance: Array, turn: Array, kept: Array, steps: Steps
) -> Moved:
    """The same for squared losses: G + α / 2c takes the place of G."""
    new_distance, bend = distance + steps.length * turn, 0.5 / h.cap
    alpha, moved, cut = steps.chosen(
        library,
        lambda: _newton_of_squared(library, h, distance, turn, kept, steps),
        lambda: _centre_of_squared(library, h, new_distance, steps.tau),
    )
    by_alpha, slope = 1.0 / alpha, new_distance + bend * alpha
    of_alpha = _larger(library, slope, steps.tau * h.cap * by_alpha)
    weight = h.exists / (of_alpha * by_alpha + bend)
    signed, existing = h.sign * weight, h.exists * alpha
    short_by = library.where(new_distance > 0.0, 0.0, -new_distance)
    sums = _summed(
        library,
        h.exists * h.cap * short_by * short_by,
        existing * (h.offset - 0.5 * bend * alpha),
        existing * of_alpha,
        h.exists * moved,
        h.exists * cut,
        h.exists * abs(slope),
    )
    return Moved(alpha, Given(weight, h.sign * existing, -(signed * slope), signed * h.cap * by_alpha), sums)


def _newton(library: ArrayLibrary, h: Hinges, slope: Array, turn: Array, kept: Array, steps: Steps) -> list[Array]:
    """α, its distance to the cap, and the sizes of the steps as wanted and as cut, by Newton's step towards τ."""
    is_alpha, size = kept > 0.0, abs(kept)
    other = h.cap - size
    alpha, rest = library.where(is_alpha, size, other), library.where(is_alpha, other, size)
    by_alpha, by_rest = 1.0 / alpha, 1.0 / rest
    of_alpha, of_rest = _multipliers(library, slope, by_alpha, by_rest, steps.old_tau * h.cap)
    curvature = of_alpha * by_alpha + of_rest * by_rest + LEAST_WEIGHT / h.cap
    wanted = steps.length * (steps.tau * h.cap * (by_alpha - by_rest) - slope - turn) / curvature
    taken = library.clip(wanted, -WAY_TO_BOUND * alpha, WAY_TO_BOUND * rest)
    return [alpha + taken, rest - taken, abs(wanted), abs(wanted - taken)]


def _centre(library: ArrayLibrary, h: Hinges, slope: Array, tau: Array) -> list[Array]:
    """The same for the point of the central path, where τc/α − τc/(c − α) = G; nothing is wanted or cut."""
    steep = abs(slope)
    near = h.cap * (2.0 * tau / (steep + 2.0 * tau + library.root(steep * steep + 4.0 * tau * tau)))
    far, is_above, none = h.cap - near, slope > 0.0, 0.0 * tau
    return [library.where(is_above, near, far), library.where(is_above, far, near), none, none]


def _newton_of_squared(
    library: ArrayLibrary, h: Hinges, distance: Array, turn: Array, alpha: Array, steps: Steps
) -> list[Array]:
    bend, by_alpha = 0.5 / h.cap, 1.0 / alpha
    slope = distance + bend * alpha
    curvature = _larger(library, slope, steps.old_tau * h.cap * by_alpha) * by_alpha + bend
    wanted = steps.length * (steps.tau * h.cap * by_alpha - slope - turn) / curvature
    taken = _larger(library, wanted, -WAY_TO_BOUND * alpha)
    return [alpha + taken, abs(wanted), abs(wanted - taken)]


def _centre_of_squared(library: ArrayLibrary, h: Hinges, distance: Array, tau: Array) -> list[Array]:
    steep, double = h.cap * abs(distance), 2.0 * tau * h.cap * h.cap
    far, none = steep + library.root(steep * steep + double), 0.0 * tau
    return [library.where(distance > 0.0, double / far, far), none, none]


def _multipliers(
    library: ArrayLibrary, slope: Array, by_alpha: Array, by_rest: Array, barrier: Array
) -> tuple[Array, Array]:
    """λ and ξ from G, 1/α, 1/(c − α) and τc."""
    is_above = slope > 0.0
    less = barrier * library.where(is_above, by_rest, by_alpha)
    more = less + abs(slope)
    return library.where(is_above, more, less), library.where(is_above, less, more)


def _summed(library: ArrayLibrary, *terms: Array) -> Array:
    """Sums over the rows, of the last ones the largest."""
    sums = [term.sum(1)[None] for term in terms[:-1]]
    return library.join([*sums, library.largest(terms[-1], 1)[None]])


def _larger(library: ArrayLibrary, a: Array, b: Array) -> Array:
    return library.where(a > b, a, b)
