"""Support vector ordinal regression with certified duality gaps."""

from importlib.metadata import version

from ordsvm import datasets, metrics
from ordsvm.blas import make_buffers
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.checkpoint import Checkpoint
from ordsvm.data.row_store import RowStore
from ordsvm.diagnosis import diagnose
from ordsvm.estimators import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    NystroemNPSVOR,
    NystroemSVC,
    NystroemSVOR,
    NystroemSVR,
    RedSVM,
    RoundedRegressor,
    ShashuaLevinSVOR,
    certify,
)
from ordsvm.findings import Finding, Findings, ModelWarning
from ordsvm.io import ModelFileError, load, save, to_onnx
from ordsvm.model_selection import OrdinalSearchCV
from ordsvm.result import FitResult, Progress
from ordsvm.solvers import (
    DCD1,
    DCD2,
    GCD,
    SMO,
    AsyAGCD,
    AsyGCD,
    AsyORGCD,
    Block,
    Decomposition,
    InteriorPoint,
    LinearInteriorPoint,
    ParsmoCache,
    ParsmoLight,
    ProximalNewton,
    RankDCD,
)

__version__ = version("ordsvm")
make_buffers()
del make_buffers

__all__ = [
    "DCD1",
    "DCD2",
    "GCD",
    "NPSVOR",
    "SMO",
    "SVC",
    "SVOR",
    "SVOREX",
    "SVORIM",
    "SVR",
    "AsyAGCD",
    "AsyGCD",
    "AsyORGCD",
    "Block",
    "CalibratedOrdinal",
    "Checkpoint",
    "Decomposition",
    "Finding",
    "Findings",
    "FitResult",
    "InteriorPoint",
    "LinearInteriorPoint",
    "LinearNPSVOR",
    "LinearSVC",
    "LinearSVOR",
    "LinearSVR",
    "ModelFileError",
    "ModelWarning",
    "NystroemNPSVOR",
    "NystroemSVC",
    "NystroemSVOR",
    "NystroemSVR",
    "OrdinalSearchCV",
    "ParsmoCache",
    "ParsmoLight",
    "Progress",
    "ProximalNewton",
    "RankDCD",
    "RedSVM",
    "RoundedRegressor",
    "RowStore",
    "ShashuaLevinSVOR",
    "certify",
    "datasets",
    "diagnose",
    "load",
    "metrics",
    "save",
    "to_onnx",
]
