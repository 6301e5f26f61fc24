"""The problem in units of its own, so that the constants of the method are plain numbers.

With K = κ·K' and scores f = ω·f', ω the largest offset, the problem in K', f', b' = b/ω and α' = α·κ/ω is the same one:
caps become c·κ/ω, and the weight p of ½‖b‖² becomes κ. Answers stay as they are, for features of any scale. The other
solvers have no such units: a step to the minimum along a hinge or a pair is the same in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.problem import Problem, Treatment

LARGEST_SIZE = 1e9


@dataclass(frozen=True)
class ScaledProblem:
    """Columns of the hinges in these units, and sums over them.

    alpha_unit, score_unit  what α and scores were divided by
    penalty     p; 0 where thresholds are free or ordered
    treatment   none: thresholds stay 0
    """

    sample: NDArray[np.int32]
    threshold: NDArray[np.int32]
    sign: Floats
    offset: Floats
    cap: Floats
    n_samples: int
    n_thresholds: int
    treatment: Treatment
    penalty: float
    alpha_unit: float
    score_unit: float

    @classmethod
    def of(cls, problem: Problem, kernel_unit: float) -> ScaledProblem:
        h = problem.hinges
        score_unit = float(np.abs(h.offset).max()) or 1.0
        alpha_unit = score_unit / kernel_unit
        return cls(
            h.sample,
            h.threshold,
            h.sign,
            h.offset / score_unit,
            h.cap / alpha_unit,
            problem.n_samples,
            problem.n_thresholds,
            problem.treatment,
            kernel_unit if problem.treatment is Treatment.PENALIZED else 0.0,
            alpha_unit,
            score_unit,
        )

    @cached_property
    def size(self) -> Floats:
        """What α may come to: the cap, or a number beyond which caps are hardly ever a limit in these units."""
        return np.minimum(self.cap, LARGEST_SIZE)

    @property
    def has_thresholds(self) -> bool:
        return self.treatment is not Treatment.NONE

    @property
    def is_ordered(self) -> bool:
        return self.treatment is Treatment.ORDERED

    def slope(self, score: Floats, threshold: Floats) -> Floats:
        """G."""
        return self.sign * (score[self.sample] - threshold[self.threshold]) - self.offset

    def sample_sums(self, values: Floats) -> Floats:
        return _sums(self.sample, values, self.n_samples)

    def threshold_sums(self, values: Floats) -> Floats:
        return _sums(self.threshold, values, self.n_thresholds)

    def sums(self, values: Floats) -> Floats:
        """A row for every sample, a column for every threshold."""
        slot = self.sample.astype(np.int64) * self.n_thresholds + self.threshold
        return _sums(slot, values, self.n_samples * self.n_thresholds).reshape(self.n_samples, -1)

    def beta(self, alpha: Floats) -> Floats:
        return self.sample_sums(self.sign * alpha)

    def gamma(self, alpha: Floats) -> Floats:
        return self.threshold_sums(self.sign * alpha)

    def differences(self, threshold: Floats) -> Floats:
        """Eb: of neighbouring thresholds, where these are ordered."""
        return np.diff(threshold) if self.is_ordered else np.empty(0)

    def order_sums(self, order: Floats) -> Floats:
        """E'ν, which γ is for multipliers ν of the order."""
        return -np.diff(order, prepend=0.0, append=0.0) if self.is_ordered else np.zeros(self.n_thresholds)


def _sums(group: Ints | NDArray[np.int32], values: Floats, n_groups: int) -> Floats:
    return np.bincount(group, values, n_groups).astype(np.float64, copy=False)
