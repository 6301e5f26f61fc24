"""The way of a weight vector along the central path: which steps are taken, and how τ falls."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from ordsvm.solvers.linear.feature_system import Point, System

FIRST_FALL = 0.3  # of τ, in the first step
FASTEST_FALL, SLOWEST_FALL = 0.2, 0.8
CAUTION = 6.0  # τ falls to this many times the share of the steps that were cut short
NEED = 0.5  # of the gap that tol allows may be left by τ
MOST_RISE = 2.0  # of the relaxed gap, in a step that is taken after a restart
SHORTER, LEAST_LENGTH = 0.3, 1e-3  # the next length where a step was not taken, and the least
PATIENCE = 15  # iterations in which a gap, relaxed or not, has to fall by a tenth
MOST_RESTARTS = 4  # of a weight vector, from its best weights
REFINEMENTS = (2, 5, 8, 11, 14)  # after so many iterations in which no gap has fallen
COMPLEMENTARY = 4.0  # times the gap that is allowed: of which at most half is left by τ


class Path:
    """The way of one weight vector: where it is, what the last pass has summed up there, and where it goes."""

    def __init__(self, start: Point, tau: float, caps: float) -> None:
        self.point = self.best = start
        self.direction = Point(np.zeros_like(start.weights), np.zeros_like(start.thresholds))
        self.tau = self.old_tau = tau
        self.caps = max(caps, np.finfo(float).tiny)
        self.primal, self.dual = np.inf, -np.inf  # the least, and that of α as it is
        self.system: System | None = None
        self.centres, self.rests = True, False
        self._refused = 0  # steps, in a row but for those taken
        self.idle = 0  # iterations in which no gap has fallen
        self._restarts, self._least, self._violation = 0, (np.inf, np.inf), np.inf

    @property
    def bound(self) -> float:
        """What is known of the optimum from below: the dual of α, or of 0."""
        return max(0.0, self.dual)

    @property
    def gap(self) -> float:
        """A dual above the primal is rounding, and shows at least how much of that there is."""
        return abs(self.primal - self.bound)

    @property
    def violation(self) -> float:
        return self._violation

    @property
    def length(self) -> float:
        """Of the next step: a refused one is followed by one of slower fall, and that by shorter ones."""
        return SHORTER ** max(0, self._refused - 1)

    def step(self) -> tuple[float, float, float, float]:
        """Length, both τ, and whether α goes to the centre: what the core takes."""
        return (0.0 if self.rests or self.centres else self.length, self.old_tau, self.tau, float(self.centres))

    def arrive(self, system: System) -> bool:
        """Whether the pass that gave these sums is accepted: their numbers are finite, and the step is no way back."""
        if self.rests:
            return False
        point = self.point if self.centres else self.point.moved(self.direction, self.length)
        is_finite = system.is_finite() and np.isfinite(point.squared_norm())
        if is_finite and system.primal(point) < self.primal:
            self.primal, self.best, self._violation = system.primal(point), point, system.violation
        if not is_finite or not self._is_way(system.relaxed_gap(point)):
            self._refused, self.idle = self._refused + 1, self.idle + 1
            return False
        self.point, self.system, self.old_tau = point, system, self.tau
        self.dual, self._refused = system.dual(), max(0, self._refused - 1)
        gaps = (self.gap, system.relaxed_gap(point))
        falls = any(gap < 0.9 * least for gap, least in zip(gaps, self._least, strict=True))
        self.idle = 0 if falls else self.idle + 1
        self._least = (min(self._least[0], gaps[0]), min(self._least[1], gaps[1]))
        return True

    def _is_way(self, relaxed_gap: float) -> bool:
        """Whether a step may lead to this relaxed gap."""
        if self.centres or self.system is None or not self._restarts or self.length < LEAST_LENGTH:
            return True  # before a restart: with large C the gap rises on the way to few iterations
        return relaxed_gap <= MOST_RISE * self.system.relaxed_gap(self.point)

    def aim(self, allowed: float) -> bool:
        """Chooses τ and the direction of the next pass, for a gap of at most this; whether there is one."""
        self.rests = self.system is not None and self.gap <= 0.5 * allowed
        if self.rests:
            return True
        is_first, self.centres = self.centres, False
        if self.system is None or self.idle >= PATIENCE:
            return self._restart()
        least, mu = NEED * allowed / (2.0 * self.caps), self.system.complementarity / (2.0 * self.caps)
        cut = self.system.cut / self.system.moved if self.system.moved > 0 else 0.0
        fall = FIRST_FALL if is_first else min(SLOWEST_FALL, max(FASTEST_FALL, CAUTION * cut))
        fall = SLOWEST_FALL if self._refused else fall
        self.tau = max(least, fall * mu)
        try:
            self.direction = self.system.direction(self.point, self.tau)
        except (LinAlgError, ValueError):
            return self._restart()
        return True

    def is_held_by_rounding(self, allowed: float) -> bool:
        """Whether the hinges allow for this gap, and dual variables that do not add up to the weights keep it open."""
        if self.system is None or self.gap <= allowed:
            return self.system is not None
        return self.idle in REFINEMENTS and self.system.complementarity <= COMPLEMENTARY * allowed

    def _restart(self) -> bool:
        """From the best weights, with α on the central path."""
        self._restarts, self.idle, self._refused = self._restarts + 1, 0, 0
        self.point, self.centres, self._least = self.best, True, (np.inf, np.inf)
        self.tau = self.old_tau = max(self.tau, min(self.gap, self.primal) / (2.0 * self.caps))
        return self._restarts <= MOST_RESTARTS and bool(np.isfinite(self.tau))
