"""How far scores from a device may be off: Gaussian ones more for rows far from the others, whose exponents are made of
norms."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from ordsvm._typing import Floats

EVEN = 1e-12  # an error of values that need not be told apart by sample: sorting them takes longer than it gains


class NormRounding:
    """A bound for every score of exp(x·y − ½‖x‖² − ½‖y‖²), proven in docs/rounding.md.

    half_squares   ½‖x‖² of every sample, centred and scaled
    n_features     terms of x·y
    """

    def __init__(self, half_squares: Floats, n_features: int) -> None:
        self._most = float(largest_error(half_squares.max(keepdims=True), n_features)[0])
        if self._most > EVEN:
            self._by_size = np.argsort(half_squares)
            self._error = largest_error(half_squares[self._by_size], n_features)

    def of(self, beta: Floats) -> Floats:
        """Σ_j |β_j| min(ε_i, ε_j) for every sample i, ε being the largest error of a value of a sample.

        error = np.minimum.outer(epsilon, epsilon) @ np.abs(beta), or for small ones epsilon.max() * np.abs(beta).sum()
        """
        if self._most <= EVEN:
            return np.full(len(beta), self._most * float(np.abs(beta).sum()))
        weight = np.abs(beta)[self._by_size]
        of_smaller = np.cumsum(weight * self._error)
        of_larger = self._error * np.append(np.cumsum(weight[:0:-1])[::-1], 0.0)
        bound = np.empty(len(beta))
        bound[self._by_size] = of_smaller + of_larger
        return bound


def largest_error(half_squares: Floats, n_features: int) -> Floats:
    """The most by which a value between a sample and any other one may be off: κ (2h + 0.87√h + 0.38) exp(3κh)."""
    unit = 2.0 * (n_features + 7.0) * sys.float_info.epsilon
    growth = np.exp(np.minimum(3.0 * unit * half_squares, 1.0))  # from there on the bound is above 1
    error = unit * (2.0 * half_squares + 0.87 * np.sqrt(half_squares) + 0.38) * growth
    return np.minimum(error, 1.0)


class ScoreRounding(NamedTuple):
    """Of scores that are sums of kernel values in memory.

    roundings, largest   of a value, as `KernelMatrix` has them
    of_norms             what values made of norms are off by besides
    """

    roundings: float = 0.0
    largest: float = 1.0
    of_norms: NormRounding | None = None
