"""The estimators. Only this layer knows scikit-learn."""

from ordsvm.estimators.certify import certify
from ordsvm.estimators.ordinal import SVOR, SVOREX, SVORIM, ShashuaLevinSVOR
from ordsvm.estimators.rounded import RoundedRegressor

__all__ = ["SVOR", "SVOREX", "SVORIM", "RoundedRegressor", "ShashuaLevinSVOR", "certify"]
