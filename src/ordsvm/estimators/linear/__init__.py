"""Machines that keep a weight for every feature instead of scores of samples: for many samples, and sparse ones."""

from ordsvm.estimators.linear.classification import LinearSVC
from ordsvm.estimators.linear.ordinal import LinearNPSVOR, LinearSVOR
from ordsvm.estimators.linear.regression import LinearSVR

__all__ = ["LinearNPSVOR", "LinearSVC", "LinearSVOR", "LinearSVR"]
