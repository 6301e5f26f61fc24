"""Where stacks of problems begin: at the start of the central path, or where a kernel nearby has led along it.

An interior-point method makes little of an optimum to begin with: its zeros and caps are bounds, from which steps are
short. An early iterate is well inside of the box, and near the path of a kernel that differs little. With widths of an
RBF kernel 1.6 times apart, problems that begin at the first iterate whose products are at most the objective
(MOST_LEFT_AT_START) take 7.4 iterations where 11.7 are needed from the start; later iterates are worse, 9.6 at a tenth
of the objective and 15 at 0.03. With widths ten times apart nothing is gained.
"""

from __future__ import annotations

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.kernels import RBF, Kernel, Laplacian
from ordsvm.solvers.kernel.interior_point.stacks import CentralPathPoint, Stacks

FIRST_MU = 5.0
MOST_LEFT_AT_START = 1.0  # sum of the products, as a share of the objective
NEAR_WIDTHS = 2.0  # largest ratio of the gammas of kernels nearby


def are_near(first: Kernel, second: Kernel) -> bool:
    """Return True if problems with the second kernel may begin where those with the first one have been."""
    for kind in (RBF, Laplacian):
        if isinstance(first, kind) and isinstance(second, kind):
            return 1.0 / NEAR_WIDTHS <= first.gamma / second.gamma <= NEAR_WIDTHS
    return False


def first_point(stacks: Stacks, cap: Array) -> CentralPathPoint:
    """Return a point on the central path but for its residuals: β and scores are 0, and so is b unless it is ordered.

    α = c·a with FIRST_MU·(1/a − 1/(1 − a)) = G has products of FIRST_MU.
    """
    library, size = stacks.library, stacks.size(cap)
    shape, n_thresholds = tuple(cap.shape), stacks.member.shape[1]
    zero = library.zeros(*shape[:3])
    b = library.zeros(*shape[:2], n_thresholds)
    if stacks.is_ordered:
        b = b + library.array(np.linspace(-1.0, 1.0, n_thresholds))
    level = (b @ stacks.member.T)[:, :, None]
    slope = (0.0 * cap - stacks.sign * level - stacks.offset) / FIRST_MU
    small = 2.0 / (2.0 + abs(slope) + (4.0 + slope**2) ** 0.5)
    alpha = size * library.where(slope >= 0, small, 1.0 - small)
    rest = library.where(size < cap, cap - alpha, size * library.where(slope >= 0, 1.0 - small, small))
    order = FIRST_MU * stacks.order_weights(size) / stacks.differences(b)
    return CentralPathPoint(zero, zero, b, alpha, rest, FIRST_MU * size / alpha, FIRST_MU * size / rest, order)


class PathStarts:
    """Points to begin with, by their C: those that problems with a kernel nearby have left.

    before      of that kernel, from which they are taken away
    """

    def __init__(self, before: PathStarts | None = None) -> None:
        self._before: dict[float, CentralPathPoint] = {}
        self._left: dict[float, CentralPathPoint] = {}
        if before is not None:
            self._before, before._left = before._left, {}

    @property
    def are_warm(self) -> bool:
        return bool(self._before)

    def used(self) -> None:
        """Forget the points of the kernel before, as problems have ended."""
        self._before = {}

    def keep(self, library: ArrayLibrary, x: CentralPathPoint, C: Floats, left: Floats) -> None:
        """Keep of every C the first point that is near the optimum; `left`: in the fold that is farthest from it."""
        for place in np.flatnonzero(left <= MOST_LEFT_AT_START).tolist():
            if float(C[place]) not in self._left:
                self._left[float(C[place])] = _point_at(library, x, place)

    def point(self, stacks: Stacks, cap: Array, C: Floats) -> CentralPathPoint:
        """Return the point to begin with, for all C: the first of the path where the kernel before left none."""
        new = first_point(stacks, cap)
        if not self.are_warm:
            return new
        parts = [
            self._before.get(value) or _point_at(stacks.library, new, place) for place, value in enumerate(C.tolist())
        ]
        x = CentralPathPoint(*(stacks.library.join(each, 1) for each in zip(*parts, strict=True)))
        return x._replace(score=stacks.kernel.product(x.beta))


def _point_at(library: ArrayLibrary, x: CentralPathPoint, place: int) -> CentralPathPoint:
    """Return the part of a point that is about one C."""
    return CentralPathPoint(*(part[:, library.index([place])] for part in x))
