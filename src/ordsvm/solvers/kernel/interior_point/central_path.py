"""The central path: iterates of a primal-dual interior-point method on the hinges, and the way along it.

Every bound has a multiplier, λ for α ≥ 0 and ξ for α ≤ c, and ordered thresholds have ν for b_{k+1} ≥ b_k. The
optimality conditions, with G = s(f − b) − o and complementarity relaxed by μ, are

    β = Σ_i sα    f = Kβ    p·b = −γ + E'ν    λ − ξ = G    αλ = μc    (c − α)ξ = μc    ν·Eb = μ·(mean c)

p is the weight of ½‖b‖², 0 for free and ordered thresholds; E takes differences. Relaxed in proportion to caps, all
hinges are smoothed alike, however their weights differ. Newton's method on these equations: newton_system.py. All of it
is in units of the problem's own: scaled_problem.py.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats
from ordsvm.solvers.kernel.interior_point.kernel_system import KernelSystem
from ordsvm.solvers.kernel.interior_point.newton_system import NewtonSystem, Residuals
from ordsvm.solvers.kernel.interior_point.scaled_problem import ScaledProblem

START = 5.0  # μ to begin with
TO_BOUNDARY = 0.995  # share of the longest step that is taken
PROXIMAL = 1e-4  # added to 1/w, in units of 1/c, while μ is larger: without it systems break down at large C
CORRECTORS = 2  # of Gondzio, at most
LONG_STEP = 0.9  # that needs no correctors
FAR_FROM_PATH = 10.0  # products αλ outside of [1/10, 10] times their target are corrected
TINY = 1e-300


@dataclass
class Iterate:
    """Everything that moves; also a direction."""

    beta: Floats
    score: Floats
    threshold: Floats
    alpha: Floats
    rest: Floats  # c − α, kept apart: near the cap the difference has few digits
    lower: Floats  # λ
    upper: Floats  # ξ
    order: Floats  # ν

    def moved(self, step: float, by: Iterate) -> Iterate:
        return Iterate(*(getattr(self, each.name) + step * getattr(by, each.name) for each in fields(self)))

    def is_finite(self) -> bool:
        return all(bool(np.isfinite(getattr(self, each.name)).all()) for each in fields(self))


class Products(NamedTuple):
    """αλ, (c − α)ξ and ν·Eb, or what they should become."""

    lower: Floats
    upper: Floats
    order: Floats

    def total(self) -> float:
        return float(self.lower.sum() + self.upper.sum() + self.order.sum())


class CentralPath:
    """The path of one problem, all of whose samples have hinges; `now` is the iterate."""

    def __init__(self, scaled: ScaledProblem, kernel: KernelSystem) -> None:
        self.scaled, self._kernel = scaled, kernel
        order_weight = np.full(scaled.n_thresholds - 1 if scaled.is_ordered else 0, scaled.size.mean())
        self._weights = Products(scaled.size, scaled.size, order_weight)
        self.now = self._start()

    def _start(self) -> Iterate:
        scaled, size = self.scaled, self.scaled.size
        n, m = scaled.n_samples, scaled.n_thresholds
        threshold = np.linspace(-1.0, 1.0, m) if scaled.is_ordered else np.zeros(m)
        slope = scaled.slope(np.zeros(n), threshold) / START
        alpha = size * _smooth_clip(slope)
        rest = np.where(size < scaled.cap, scaled.cap - alpha, size * _smooth_clip(-slope))
        order = START * self._weights.order / scaled.differences(threshold)
        return Iterate(
            np.zeros(n), np.zeros(n), threshold, alpha, rest, START * size / alpha, START * size / rest, order
        )

    # Where the iterate is

    def products(self, x: Iterate) -> Products:
        return Products(x.alpha * x.lower, x.rest * x.upper, x.order * self.scaled.differences(x.threshold))

    def mu(self, x: Iterate) -> float:
        return self.products(x).total() / self._weights.total()

    def relative_complementarity(self) -> float:
        """What is left of the products, as a share of the objective."""
        x, scaled = self.now, self.scaled
        loss = (scaled.size * np.maximum(0.0, -scaled.slope(x.score, x.threshold))).sum()
        norms = abs((x.beta * x.score).sum()) + scaled.penalty * (x.threshold**2).sum()
        return self.products(x).total() / max(float(0.5 * norms + loss), TINY)

    def residuals(self, x: Iterate) -> Residuals:
        scaled = self.scaled
        threshold = scaled.order_sums(x.order) - scaled.gamma(x.alpha) - scaled.penalty * x.threshold
        return Residuals(scaled.beta(x.alpha) - x.beta, threshold)

    # The way on

    def advance(self) -> float:
        """One iteration: Mehrotra's predictor and corrector, then Gondzio's correctors. Returns the length of the step.

        LinAlgError where a system can't be solved.
        """
        x, mu = self.now, self.mu(self.now)
        directions = Directions(self, min(PROXIMAL, mu))
        affine = directions.towards(Products(0.0 * x.alpha, 0.0 * x.alpha, 0.0 * x.order))
        after = self.mu(x.moved(self._longest(affine), affine))
        centring = max(min(1.0, after / mu), 0.0) ** 3 * mu
        second_order = self.products(affine)
        targets = Products(*(centring * w - product for w, product in zip(self._weights, second_order, strict=True)))
        direction = directions.towards(targets)
        longest = self._longest(direction)
        for _ in range(CORRECTORS):
            if longest > LONG_STEP:
                break
            targets = self._corrected(targets, x.moved(min(1.0, 1.5 * longest + 0.1), direction), centring)
            other = directions.towards(targets)
            reach = self._longest(other)
            if not reach > 1.05 * longest:
                break
            direction, longest = other, reach
        step = min(1.0, TO_BOUNDARY * longest)
        self.now = x.moved(step, direction)
        return step

    def _longest(self, by: Iterate) -> float:
        """The longest step, up to 1, that leaves nothing negative."""
        x, scaled = self.now, self.scaled
        pairs = [(x.alpha, by.alpha), (x.rest, by.rest), (x.lower, by.lower), (x.upper, by.upper), (x.order, by.order)]
        pairs.append((scaled.differences(x.threshold), scaled.differences(by.threshold)))
        return 1.0 / max(1.0, *(float((-change / value).max(initial=0.0)) for value, change in pairs))

    def _corrected(self, targets: Products, after: Iterate, centring: float) -> Products:
        """Targets that bring products back which a step would leave far from the path."""
        rows = zip(targets, self.products(after), self._weights, strict=True)
        return Products(
            *(target + _correction(product, max(centring, TINY) * weight) for target, product, weight in rows)
        )


def _correction(product: Floats, target: Floats) -> Floats:
    wanted = np.clip(product, target / FAR_FROM_PATH, target * FAR_FROM_PATH)
    return np.maximum(wanted - product, -FAR_FROM_PATH * target)


def _smooth_clip(slope: Floats) -> Floats:
    """a with 1/a − 1/(1 − a) = slope."""
    small = 2.0 / (2.0 + np.abs(slope) + np.sqrt(4.0 + slope**2))
    return np.where(slope >= 0, small, 1.0 - small)


class Directions:
    """Newton's directions from an iterate, to several targets."""

    def __init__(self, path: CentralPath, proximal: float) -> None:
        self._path, x, scaled = path, path.now, path.scaled
        weight = 1.0 / (x.lower / x.alpha + x.upper / x.rest + proximal / scaled.size)
        self._stiffness = x.order / scaled.differences(x.threshold)
        self._slope = scaled.slope(x.score, x.threshold)
        self._left = path.residuals(x)
        self._system = NewtonSystem(scaled, path._kernel, weight, self._stiffness)

    def towards(self, targets: Products) -> Iterate:
        x, scaled = self._path.now, self._path.scaled
        force = targets.lower / x.alpha - targets.upper / x.rest - self._slope
        pull = targets.order / scaled.differences(x.threshold) - x.order
        left = Residuals(self._left.beta, self._left.threshold + scaled.order_sums(pull))
        move = self._system.move(force, left)
        return Iterate(
            move.beta,
            move.score,
            move.threshold,
            move.alpha,
            -move.alpha,
            (targets.lower - x.lower * move.alpha) / x.alpha - x.lower,
            (targets.upper + x.upper * move.alpha) / x.rest - x.upper,
            pull - self._stiffness * scaled.differences(move.threshold),
        )
