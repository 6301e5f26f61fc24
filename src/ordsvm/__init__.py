"""Support vector ordinal regression with certified duality gaps."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from ordsvm import datasets, metrics
from ordsvm.blas import make_buffers
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.checkpoint import Checkpoint
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
from ordsvm.files import ModelFileError, load, save, to_onnx
from ordsvm.findings import Finding, Findings, ModelWarning
from ordsvm.result import FitResult, Progress
from ordsvm.rows.disk.row_store import RowStore
from ordsvm.search import OrdinalSearchCV
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

_LATER = ("distributed", "evaluation", "inspection", "linear", "plotting", "progress", "report", "tables", "text")
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


def __getattr__(name: str) -> Any:
    """Modules that not every program needs, some with packages of their own, imported when they are asked for."""
    if name in _LATER:
        return import_module(f"ordsvm.{name}")
    raise AttributeError(f"module 'ordsvm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
