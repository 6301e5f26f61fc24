"""Support vector ordinal regression with certified duality gaps."""

from importlib.metadata import version

from ordsvm import datasets, metrics
from ordsvm.estimators import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    RedSVM,
    RoundedRegressor,
    ShashuaLevinSVOR,
    certify,
)
from ordsvm.result import FitResult, Progress
from ordsvm.solvers import GCD, SMO, AsyAGCD, AsyGCD, AsyORGCD

__version__ = version("ordsvm")

__all__ = [
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
    "FitResult",
    "Progress",
    "RedSVM",
    "RoundedRegressor",
    "ShashuaLevinSVOR",
    "certify",
    "datasets",
    "metrics",
]
