"""The linear machines on rows that are divided among the workers of a Dask cluster."""

from __future__ import annotations

from ordsvm import estimators
from ordsvm.distributed.machine import DistributedClassifier, DistributedMachine


class LinearSVOR(DistributedClassifier, estimators.LinearSVOR):
    __doc__ = estimators.LinearSVOR.__doc__


class LinearNPSVOR(DistributedClassifier, estimators.LinearNPSVOR):
    __doc__ = estimators.LinearNPSVOR.__doc__


class LinearSVC(DistributedClassifier, estimators.LinearSVC):
    __doc__ = estimators.LinearSVC.__doc__


class LinearSVR(DistributedMachine, estimators.LinearSVR):
    __doc__ = estimators.LinearSVR.__doc__
