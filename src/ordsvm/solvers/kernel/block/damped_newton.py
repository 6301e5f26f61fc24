"""Newton's method with a proximal term and a line search: it starts farther away than newton.py, and leads to there.

At large C few hinges are between their bounds, and their scores depend so much on each other that steps on pairs take
millions, and that the sides which a plain Newton step leads to are wrong. A proximal term ½ρ‖α − α̂‖² ties them to a
centre α̂. What is minimised then, over f = Kβ and b, is smooth,

    φ = ½β'Kβ + [½‖b‖²] + Σ_v (hinge v, smoothed: its derivative by the slope G is −α)    α = clip(α̂ − G/ρ, 0, cap)

and a Newton step leads to the solution of the system of newton.py, with ridge ρ, for the sides at which α̂ − G/ρ is. A
line search on φ' makes the steps of a stage end at its minimum, wherever they start. α is then the next centre, and the
next ρ is half as large: the proximal method of multipliers (Rockafellar 1976; with Newton's method inside, for the
lasso, Li, Sun & Toh 2018). Once few hinges change sides, newton.py ends.

Cost      a step: a product of all samples with the free ones, and their system, which is factored once a stage.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.block.newton import Matrix, Point, Stop, Systems, least_ridge, newton

FIRST_WIDTH = 2.0  # of the slopes over which α goes from 0 to its cap, as a multiple of the violation
SHRINK = 0.5  # of that width, and so of ρ, from stage to stage
MOST_STAGES = 16
MOST_STEPS = 25  # of a stage
WHOLE_STEP_SLOPE = 0.3  # share of the slope of φ at the start that a whole step may leave at its end
SEARCHED_SLOPE = 0.2  # the same, where the search for another step ends
MOST_SEARCHES = 12
FEW_CHANGES = 0.05  # share of the free hinges: where no more have changed sides, newton.py is tried


class Place(NamedTuple):
    """Where the method is: β, f = Kβ and b."""

    beta: Floats
    score: Floats
    b: Floats

    def moved(self, step: float, to: Place) -> Place:
        if step == 1.0:
            return to
        return Place(*(here + step * (there - here) for here, there in zip(self, to, strict=True)))


def damped_newton(
    problem: Problem, matrix: Matrix, start: Point, tol: float, n_threads: int = 1, stop: Stop = lambda: False
) -> Point | None:
    """The optimum up to `tol`, from a feasible point; None where it is not found, or stop() returns True.

    Thresholds in an order are not treated: which of them are tied shows near the optimum only.
    """
    if problem.treatment is Treatment.ORDERED:
        return None
    centre, at = start, _place(problem, start)
    ridge = FIRST_WIDTH * problem.violation(start.alpha, start.score) / problem.hinges.cap.max()
    least = least_ridge(problem, matrix, tol)
    for _ in range(MOST_STAGES):
        ridge = max(ridge, least)
        stage = Stage(problem, Systems(problem, matrix, centre, ridge, n_threads), centre.alpha, ridge)
        last = stage.run(at, stop)
        if last is None:
            return None
        at, alpha = last.to, stage.alpha(last.to)
        centre = Point(alpha, at.score + matrix.product(_apart(problem, alpha, at), n_threads))
        if last.changes <= FEW_CHANGES * last.n_free:
            found = newton(problem, matrix, centre, tol, n_threads, stop)
            if found is not None:
                return found
        ridge *= SHRINK
    return None


def _place(problem: Problem, point: Point) -> Place:
    penalized = problem.treatment is Treatment.PENALIZED
    b = -problem.gamma(point.alpha) if penalized else problem.best_thresholds(point.score)
    return Place(problem.beta(point.alpha), point.score, b)


def _apart(problem: Problem, alpha: Floats, at: Place) -> Floats:
    """What β of this α differs from the β of a place by, but for rounding."""
    apart = problem.beta(alpha) - at.beta
    apart[np.abs(apart) <= 1e-14 * problem.hinges.cap.max()] = 0.0
    return apart


class Step(NamedTuple):
    """Of Newton's method: where it has led, its length, and how many of the free hinges have changed sides since."""

    to: Place
    length: float
    n_free: int
    changes: int


class Stage:
    """The smoothed problem around a centre; its systems are relative to that."""

    def __init__(self, problem: Problem, systems: Systems, centre: Floats, ridge: float) -> None:
        self._problem, self._systems, self._centre, self._ridge = problem, systems, centre, ridge

    def alpha(self, at: Place) -> Floats:
        return np.clip(self._unclipped(at), 0.0, self._problem.hinges.cap)

    def _unclipped(self, at: Place) -> Floats:
        return self._centre - self._problem.slope(at.score, at.b) / self._ridge

    def run(self, at: Place, stop: Stop) -> Step | None:
        """Steps until a whole one was taken, or too many were; the last of them. None where one has no solution, or
        stop() returns True."""
        for _ in range(MOST_STEPS):
            step = None if stop() else self._step(at)
            if step is None or step.length == 1.0:
                break
            at = step.to
        return step

    def _step(self, at: Place) -> Step | None:
        problem, cap = self._problem, self._problem.hinges.cap
        before = self._unclipped(at)
        low, up = before <= 0.0, before >= cap
        n_free = len(cap) - int(np.count_nonzero(low | up))
        solved = self._systems.solve(low, up) if n_free > 0 else None
        if solved is None:
            return None
        point, b = solved
        to = Place(problem.beta(point.alpha), point.score, b)
        length = self._length(before, at, to)
        if length is None:
            return None
        to = at.moved(length, to)
        after = self._unclipped(to)
        changes = int(np.count_nonzero((after <= 0.0) != low) + np.count_nonzero((after >= cap) != up))
        return Step(to, length, n_free, changes)

    def _length(self, unclipped: Floats, at: Place, to: Place) -> float | None:
        """1 where a whole step does not go far uphill, else about where the slope of φ is 0; None where numbers end."""
        problem, h = self._problem, self._problem.hinges
        beta, score, b = (there - here for here, there in zip(at, to, strict=True))
        change = h.sign * (score[h.sample] - b[h.threshold])
        penalty = 1.0 if problem.treatment is Treatment.PENALIZED else 0.0
        first = float(at.beta @ score + penalty * (at.b @ b))
        more = float(beta @ score + penalty * (b @ b))

        def slope(step: float) -> float:
            alpha = np.clip(unclipped - (step / self._ridge) * change, 0.0, h.cap)
            return first + step * more - float(alpha @ change)

        begin, end = slope(0.0), slope(1.0)
        if not (math.isfinite(begin) and math.isfinite(end)):
            return None
        if end <= WHOLE_STEP_SLOPE * abs(begin):
            return 1.0
        left, right, at_left, at_right = 0.0, 1.0, begin, end
        for _ in range(MOST_SEARCHES):
            share = -at_left / (at_right - at_left) if at_right > at_left else 0.5
            step = left + (right - left) * min(0.9, max(0.1, share))
            here = slope(step)
            if abs(here) <= SEARCHED_SLOPE * abs(begin):
                break
            left, at_left, right, at_right = (step, here, right, at_right) if here < 0 else (left, at_left, step, here)
        return step
