"""What solvers return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordsvm._typing import Floats
from ordsvm.result import FitResult


@dataclass(frozen=True)
class Solution:
    """A solved problem: the proof, the weights β of the samples and the thresholds.

    Parameters
    ----------
    result : FitResult
        Status, objective, gap and α.
    beta : ndarray of shape (n_samples,)
        The weights β.
    thresholds : ndarray of shape (n_thresholds,)
        The thresholds b.
    score : ndarray of shape (n_samples,) or None, default=None
        The scores Kβ of the samples, where the solver has left them.
    """

    result: FitResult
    beta: Floats
    thresholds: Floats
    score: Floats | None = None


@dataclass(frozen=True)
class DualVariables:
    """β of all samples as the solver has left it, in its own arrays: the columns of one after those of the other."""

    parts: Sequence[NDArray[np.float32] | NDArray[np.float64]]

    @property
    def shape(self) -> tuple[int, int]:
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    def array(self) -> Floats:
        """A float64 copy, (n_samples, n_lanes)."""
        return np.concatenate(self.parts, axis=1, dtype=np.float64)


@dataclass(frozen=True)
class LinearSolution:
    """A solved linear problem: the proof, the weights of the features, and intercepts or thresholds.

    coef        (n_features, n_lanes); one lane where there are thresholds
    intercept   (n_lanes,), or the thresholds
    beta        the weights of the samples in coef; where there are thresholds, a column for every one of these
    result      objective, gap and violation over all lanes together; n_iter counts passes
    """

    coef: Floats
    intercept: Floats
    beta: DualVariables
    result: FitResult
