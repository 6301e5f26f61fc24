"""The estimators. Only this layer knows scikit-learn."""

from ordsvm.estimators.certify import certify
from ordsvm.estimators.classification import SVC
from ordsvm.estimators.linear import LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR
from ordsvm.estimators.npsvor import NPSVOR
from ordsvm.estimators.ordinal import SVOR, SVOREX, SVORIM, RedSVM, ShashuaLevinSVOR
from ordsvm.estimators.regression import SVR
from ordsvm.estimators.rounded import RoundedRegressor

__all__ = [
    "NPSVOR",
    "SVC",
    "SVOR",
    "SVOREX",
    "SVORIM",
    "SVR",
    "LinearNPSVOR",
    "LinearSVC",
    "LinearSVOR",
    "LinearSVR",
    "RedSVM",
    "RoundedRegressor",
    "ShashuaLevinSVOR",
    "certify",
]
