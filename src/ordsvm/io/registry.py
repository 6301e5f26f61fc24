"""Which classes a model file may name: estimators, and small frozen records of plain data."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache

from sklearn.base import BaseEstimator

from ordsvm import estimators, kernels
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.calibration.conformal import Conformal
from ordsvm.calibration.maps import IsotonicThresholds, OrderedLogistic
from ordsvm.data.frames import TableEncoder, TableModel
from ordsvm.data.frames.columns import CategoryColumn, NumberColumn, TextColumn
from ordsvm.estimators.nystroem_error import NystroemError
from ordsvm.result import FitResult, Progress
from ordsvm.solvers.kernel.full_kernel import FullKernelSMO
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.registry import LINEAR_SOLVERS, SOLVERS
from ordsvm.solvers.solution import DualVariables


@cache
def estimator_classes() -> dict[str, type[BaseEstimator]]:
    """Every estimator of the library by name; searches are for Python, their `best_estimator_` is for a file."""
    public = (getattr(estimators, name) for name in estimators.__all__)
    found = [item for item in public if isinstance(item, type) and issubclass(item, BaseEstimator)]
    return {kind.__name__: kind for kind in (*found, CalibratedOrdinal, TableEncoder, TableModel)}


@cache
def record_classes() -> dict[str, type]:
    """Dataclasses that parameters and fitted attributes may hold: kernels, options of solvers, results, columns."""
    found = [*_native_kernels(), kernels.Precomputed, *SOLVERS.values(), *LINEAR_SOLVERS.values()]
    calibration = (Conformal, IsotonicThresholds, OrderedLogistic)
    others = (DualVariables, FitResult, NystroemError, Progress, *calibration, CategoryColumn, NumberColumn, TextColumn)
    return {kind.__name__: kind for kind in (*found, *others)}


@cache
def solver_names() -> tuple[str, ...]:
    """What the result of a fit may name: solvers by name, and those of searches and of clusters."""
    return (*SOLVERS, *LINEAR_SOLVERS, FullKernelSMO.name, CoCoA.name)


def _native_kernels() -> list[type]:
    """The library's own kernels, not those that others derive from them; a callable kernel is code, not data."""
    classes = [kind for kind in map(vars(kernels).get, kernels.__all__) if isinstance(kind, type)]
    return [kind for kind in classes if is_dataclass(kind) and issubclass(kind, kernels.NativeKernel)]
