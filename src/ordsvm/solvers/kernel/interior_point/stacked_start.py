"""Where stacks of problems begin: at the start of the central path, or where a kernel nearby has led along it.

An interior-point method makes little of an optimum to begin with: its zeros and caps are bounds, from which steps are
short. An early iterate is well inside of the box, and near the path of a kernel that differs little. With widths of an
RBF kernel 1.6 times apart, problems that begin at the first iterate whose products are at most the objective (NEAR)
take 7.4 iterations where 11.7 are needed from the start; later iterates are worse, 9.6 at a tenth of the objective and
15 at 0.03. With widths ten times apart nothing is gained.
"""

from __future__ import annotations

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.kernels import RBF, Kernel, Laplacian
from ordsvm.solvers.kernel.interior_point.central_path import START
from ordsvm.solvers.kernel.interior_point.stacked_system import Stacks, State

NEAR = 1.0  # what is left of the products, as a share of the objective
NEAR_WIDTHS = 2.0  # largest ratio of the gammas of kernels nearby


def are_near(first: Kernel, second: Kernel) -> bool:
    """Whether problems with the second kernel may begin where those with the first one have been."""
    for kind in (RBF, Laplacian):
        if isinstance(first, kind) and isinstance(second, kind):
            return 1.0 / NEAR_WIDTHS <= first.gamma / second.gamma <= NEAR_WIDTHS
    return False


def first_iterate(stacks: Stacks, cap: Array) -> State:
    """On the central path but for its residuals: β, b and scores are 0."""
    library, shape = stacks.library, tuple(cap.shape)
    slope = (0.0 * cap - stacks.offset) / START
    small = 2.0 / (2.0 + abs(slope) + (4.0 + slope**2) ** 0.5)
    alpha = cap * library.where(slope >= 0, small, 1.0 - small)
    rest = cap * library.where(slope >= 0, 1.0 - small, small)
    zero, b = library.zeros(*shape[:3]), library.zeros(*shape[:2], stacks.member.shape[1])
    return State(zero, zero, b, alpha, rest, START * cap / alpha, START * cap / rest)


class Starts:
    """Iterates to begin with, by their C: those that problems with a kernel nearby have left.

    before      of that kernel, from which they are taken away
    """

    def __init__(self, before: Starts | None = None) -> None:
        self._before: dict[float, State] = {}
        self._left: dict[float, State] = {}
        if before is not None:
            self._before, before._left = before._left, {}

    @property
    def are_warm(self) -> bool:
        return bool(self._before)

    def used(self) -> None:
        """Problems have ended: nothing begins here again."""
        self._before = {}

    def keep(self, library: ArrayLibrary, x: State, C: Floats, left: Floats) -> None:
        """Of every C the first iterate that is near the optimum, in the fold that is farthest from it by `left`."""
        for place in np.flatnonzero(left <= NEAR).tolist():
            if float(C[place]) not in self._left:
                self._left[float(C[place])] = _taken(library, x, place)

    def iterate(self, stacks: Stacks, cap: Array, C: Floats) -> State:
        """To begin with, for all C: from nothing where there is none to begin with."""
        new = first_iterate(stacks, cap)
        if not self.are_warm:
            return new
        parts = [
            self._before.get(value) or _taken(stacks.library, new, place) for place, value in enumerate(C.tolist())
        ]
        x = State(*(stacks.library.join(each, 1) for each in zip(*parts, strict=True)))
        return x._replace(score=stacks.product(x.beta))


def _taken(library: ArrayLibrary, x: State, place: int) -> State:
    """Of one C."""
    return State(*(part[:, library.index([place])] for part in x))
