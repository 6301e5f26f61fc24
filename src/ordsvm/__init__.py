"""Support vector ordinal regression with certified duality gaps."""

from importlib.metadata import version

from ordsvm.estimators import SVOR, SVOREX, SVORIM, RoundedRegressor, ShashuaLevinSVOR, certify
from ordsvm.result import FitResult, Progress
from ordsvm.solvers import GCD, SMO

__version__ = version("ordsvm")

__all__ = [
    "GCD",
    "SMO",
    "SVOR",
    "SVOREX",
    "SVORIM",
    "FitResult",
    "Progress",
    "RoundedRegressor",
    "ShashuaLevinSVOR",
    "certify",
]
