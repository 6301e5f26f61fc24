from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordsvm.result import FitResult

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearSolution:
    """A solved linear machine: the proof, the weights of the features and what was added to or held against scores.

    coef        (n_features, n_lanes); one lane where there are thresholds
    intercept   (n_lanes,), or the thresholds
    beta        (n_samples, n_lanes), the weights of the samples in coef, where the solver keeps them
    result      objective, gap and violation over all lanes together; n_iter counts epochs
    """

    coef: Floats
    intercept: Floats
    beta: Floats | None
    result: FitResult
