"""The two hinge tables that the threshold models share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm.problem import Hinges

Floats = NDArray[np.float64]


def all_threshold_hinges(y: NDArray[np.int64], n_ranks: int, C: float | Floats, worth: Floats | None) -> Hinges:
    """Every sample faces every threshold: it should be above those below its rank and below the others.

    `worth[rank, threshold]` scales the cap (see `ordsvm.costs.threshold_costs`); None means 1.
    """
    threshold, sample = np.divmod(np.arange(len(y) * (n_ranks - 1)), len(y))
    cap = np.broadcast_to(C, len(y))[sample]
    if worth is not None:
        cap = cap * worth[y[sample], threshold]
    return Hinges.table(sample, threshold, np.where(y[sample] > threshold, 1, -1), offset=1.0, cap=cap)


def adjacent_threshold_hinges(y: NDArray[np.int64], n_ranks: int, C: float | Floats) -> Hinges:
    """A sample faces the thresholds next to its rank only: below the upper one, above the lower one."""
    everyone = np.arange(len(y))
    has_upper, has_lower = y < n_ranks - 1, y > 0
    sample = np.concatenate([everyone[has_upper], everyone[has_lower]])
    sign = np.repeat([-1, 1], [has_upper.sum(), has_lower.sum()])
    threshold = np.where(sign < 0, y[sample], y[sample] - 1)
    return Hinges.table(sample, threshold, sign, offset=1.0, cap=np.broadcast_to(C, len(y))[sample])
