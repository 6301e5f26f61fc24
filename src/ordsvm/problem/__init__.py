"""The one problem: hinges and a treatment of the thresholds; labels, costs and thresholds as its ends."""

from ordsvm.problem.hinges import (
    NEGATIVE_NORM,
    Certificate,
    Hinges,
    Problem,
    Treatment,
    penalized_thresholds,
    undetermined,
)

__all__ = [
    "NEGATIVE_NORM",
    "Certificate",
    "Hinges",
    "Problem",
    "Treatment",
    "penalized_thresholds",
    "undetermined",
]
