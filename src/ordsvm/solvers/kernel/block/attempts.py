"""When steps on pairs give way to Newton's method, plain (newton.py) or damped (damped_newton.py)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.block.damped_newton import damped_newton
from ordsvm.solvers.kernel.block.newton import Matrix, Point, Stop, newton

NEWTON_START_VIOLATION = 0.05  # as a share of the spread of sign·offset over the hinges
NEWTON_NEXT_VIOLATION = 0.2  # for another attempt, as a share of where the last one began or led
NEXT_AFTER_STEPS = 0.4  # the same where the damped method may take over
DAMPED_START = 14.0  # of damped_newton.py, as a multiple of the violation from which newton.py is tried
NEXT_LOOK = 0.3  # share of the violation from which the damped method is considered again
ROUNDING = 1.5  # by which the violation of float32 scores may be smaller than that of exact ones
STEPS_OF_A_START = 3  # a hinge: what a given start counts as
MATRICES = 4  # of the samples with free hinges: there are more of these on the way
LEAST_GAIN = 2.0  # time that steps are expected to take, by one thread, over that of the damped method
LEAST_GAIN_AFTER_PLAIN = 1.5  # the same where the plain one fails: steps are then more than is expected
LEAST_STEP = 2000.0  # microseconds that a Newton step takes however few samples there are

Method = Callable[[Problem, Matrix, Point, float, int, Stop], Point | None]


def newton_start_violation(problem: Problem) -> float:
    """The violation from which Newton's method may take over, where the core expects it to end sooner than steps.

    It is in proportion to the spread of sign·offset, the scores at which losses vanish, as violations are.
    """
    level = problem.hinges.sign * problem.hinges.offset
    apart = level - level.sum() / len(level)  # np.std takes five times as long for a small table
    return NEWTON_START_VIOLATION * (float(np.sqrt((apart * apart).sum() / len(level))) or float(np.abs(level).mean()))


def steps_of_start(alpha: Floats) -> int:
    """What a given start is taken to have cost; the cost of the rest is estimated from it."""
    return STEPS_OF_A_START * len(alpha) if alpha.any() else 0


class Costs(NamedTuple):
    """Of what Newton's method needs: the microseconds of a kernel value, and the bytes that its matrices may take."""

    value: float
    budget: float


class Attempts:
    """Attempts at Newton's method; `start` is the violation from which on the core may leave off for the next one."""

    def __init__(self, problem: Problem, tol: float, costs: Costs) -> None:
        self._problem, self._tol, self._costs = problem, tol, costs
        self._spread = self._plain = newton_start_violation(problem)
        self._damped = 0.0 if problem.treatment is Treatment.ORDERED else DAMPED_START * self._plain
        self.start = max(self._plain, self._damped)

    def methods(self, alpha: Floats, violation: float, steps: int) -> list[Method]:
        """Those to be tried from here, after so many steps on pairs; the result of the first that has one counts."""
        plain = violation <= ROUNDING * self._plain
        gain = LEAST_GAIN_AFTER_PLAIN if plain else LEAST_GAIN
        damped = violation <= ROUNDING * self._damped
        damped = damped and self._damped_pays(violation, self._count_free_samples(alpha), gain, steps)
        tried: list[tuple[Method, bool]] = [(newton, plain), (damped_newton, damped)]
        return [method for method, is_due in tried if is_due]

    def note(self, methods: list[Method], violation: float) -> None:
        """Lowers the start: methods that were tried have led to this violation."""
        if newton in methods:
            share = NEXT_AFTER_STEPS if self._damped > 0.0 else NEWTON_NEXT_VIOLATION
            self._plain = share * min(self._plain, violation)
        if damped_newton in methods:
            self._damped = NEWTON_NEXT_VIOLATION * min(self._damped, violation)
        start = max(self._plain, min(self._damped, NEXT_LOOK * violation))
        self.start = start if start < self.start else NEXT_LOOK * self.start

    def _count_free_samples(self, alpha: Floats) -> int:
        h = self._problem.hinges
        return len(np.unique(h.sample[(alpha > 0.0) & (alpha < h.cap)]))

    def _damped_pays(self, violation: float, n_free: int, gain: float, steps: int) -> bool:
        """Whether the damped method is expected to end well before steps on pairs do; costs are in microseconds.

        By measurement on ten data sets it takes 12 Newton steps from a twentieth of the spread and 8 for every factor
        of e above, of n·z kernel values and z² operations a threshold, where z samples are free. Every factor of e by
        which the violation is to fall takes nearly half of the steps on pairs so far, which take the longer, the more
        thresholds there are.
        """
        problem = self._problem
        if n_free == 0 or violation <= self._tol or MATRICES * 8 * n_free**2 > self._costs.budget:
            return False
        n_steps = 12.0 + 8.0 * max(0.0, math.log(violation / self._spread))
        values = self._costs.value * problem.n_samples * n_free
        cost = n_steps * (LEAST_STEP + values + 8e-4 * problem.n_thresholds * n_free**2)
        left = 0.45 * steps * math.log(violation / self._tol)
        return left * (0.35 + 0.07 * problem.n_thresholds) > gain * cost
