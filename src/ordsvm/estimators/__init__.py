"""The estimators. Only this layer follows scikit-learn's conventions."""

from ordsvm.estimators.certify import certify
from ordsvm.estimators.linear_npsvor import LinearNPSVOR
from ordsvm.estimators.linear_svc import LinearSVC
from ordsvm.estimators.linear_svor import LinearSVOR
from ordsvm.estimators.linear_svr import LinearSVR
from ordsvm.estimators.npsvor import NPSVOR
from ordsvm.estimators.nystroem_ordinal import NystroemNPSVOR, NystroemSVOR
from ordsvm.estimators.nystroem_others import NystroemSVC, NystroemSVR
from ordsvm.estimators.rounded import RoundedRegressor
from ordsvm.estimators.svc import SVC
from ordsvm.estimators.svr import SVR
from ordsvm.estimators.threshold_models import SVOR, SVOREX, SVORIM, RedSVM, ShashuaLevinSVOR

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
    "NystroemNPSVOR",
    "NystroemSVC",
    "NystroemSVOR",
    "NystroemSVR",
    "RedSVM",
    "RoundedRegressor",
    "ShashuaLevinSVOR",
    "certify",
]
