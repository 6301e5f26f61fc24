"""Probabilities and prediction sets for every machine that gives a score."""

from ordsvm.calibration.estimator import CalibratedOrdinal

__all__ = ["CalibratedOrdinal"]
