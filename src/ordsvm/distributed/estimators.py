"""The linear machines on rows that are divided among the workers of a Dask cluster."""

from __future__ import annotations

from ordsvm import estimators
from ordsvm.distributed.machine import DistributedMachine


class LinearSVOR(DistributedMachine, estimators.LinearSVOR):
    """`ordsvm.LinearSVOR` on distributed rows: one score, cut by thresholds. What differs: `DistributedMachine`."""


class LinearNPSVOR(DistributedMachine, estimators.LinearNPSVOR):
    """`ordsvm.LinearNPSVOR` on distributed rows: a score for every rank. What differs: `DistributedMachine`."""


class LinearSVC(DistributedMachine, estimators.LinearSVC):
    """`ordsvm.LinearSVC` on distributed rows: a score for every class. What differs: `DistributedMachine`."""


class LinearSVR(DistributedMachine, estimators.LinearSVR):
    """`ordsvm.LinearSVR` on distributed rows. What differs: `DistributedMachine`."""
