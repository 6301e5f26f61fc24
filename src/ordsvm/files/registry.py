"""Which classes a model file may name: estimators, and small frozen records of plain data."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from ordsvm import estimators, kernels
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.calibration.conformal import CalibrationPart, Conformal, CrossConformal
from ordsvm.calibration.maps import IsotonicThresholds, OrderedLogistic
from ordsvm.checks import shortened
from ordsvm.estimators.nystroem_error import NystroemError
from ordsvm.files.steps import step_classes
from ordsvm.result import FitResult, Progress
from ordsvm.solvers.kernel.full_kernel import FullKernelSMO
from ordsvm.solvers.kernel.interior_point.side_by_side import SideBySide
from ordsvm.solvers.kernel.together import Together
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.registry import LINEAR_SOLVERS, SOLVERS
from ordsvm.solvers.solution import DualVariables
from ordsvm.tables import TableEncoder, TableModel
from ordsvm.tables.columns import CategoryColumn, NumberColumn, TextColumn
from ordsvm.text import StemmedWords

T = TypeVar("T", bound=type)
_EXTENSIONS: dict[str, type] = {}  # of other packages, which have registered them


def register(kind: T) -> T:
    """Let model files hold estimators of a class of one's own: a class decorator.

    Loading runs no code from a file, so that a file can only name classes that are registered when it is loaded: import
    the module with the class first.

    Parameters
    ----------
    kind : type
        An estimator class, or a frozen dataclass of plain data that an estimator holds, such as a kernel.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    TypeError
        Where it is neither, or where its name is one of this library's, or of another registered class.

    See Also
    --------
    save : Writes a model file.

    Examples
    --------
    >>> from ordsvm import SVOREX
    >>> from ordsvm.files import register
    >>> @register
    ... class PatientSVOREX(SVOREX):
    ...     pass
    >>> PatientSVOREX().C
    1.0
    """
    # kept by tests/test_pipeline_files.py::test_a_file_of_an_estimator_that_is_not_registered_is_refused
    frozen = is_dataclass(kind) and isinstance(kind, type) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not (isinstance(kind, type) and (issubclass(kind, BaseEstimator) or frozen)):
        raise TypeError(f"register takes a class of estimators or a frozen dataclass, not {shortened(kind)}.")
    name = kind.__name__
    other = {**estimator_classes(), **record_classes(), **step_classes(), **_EXTENSIONS}.get(name, kind)
    if (other.__module__, other.__qualname__) != (kind.__module__, kind.__qualname__):
        raise TypeError(
            f"{name} is the name of {other.__module__}.{other.__qualname__} in model files: give the class another one."
        )
    _EXTENSIONS[name] = kind
    return kind


def file_estimators() -> dict[str, Any]:
    """Every estimator class that a model file may name."""
    registered = {name: kind for name, kind in _EXTENSIONS.items() if issubclass(kind, BaseEstimator)}
    return {**estimator_classes(), **step_classes(), **registered}


def file_records() -> dict[str, Any]:
    """Every dataclass that a model file may name."""
    registered = {name: kind for name, kind in _EXTENSIONS.items() if not issubclass(kind, BaseEstimator)}
    return {**record_classes(), **registered}


@cache
def estimator_classes() -> dict[str, type[BaseEstimator]]:
    """Every estimator of the library by name; searches are for Python, their `best_estimator_` is for a file."""
    public = (getattr(estimators, name) for name in estimators.__all__)
    found = [item for item in public if isinstance(item, type) and issubclass(item, BaseEstimator)]
    return {kind.__name__: kind for kind in (*found, CalibratedOrdinal, TableEncoder, TableModel)}


@cache
def record_classes() -> dict[str, type]:
    """Dataclasses that parameters and fitted attributes may hold: kernels, options, results, columns, tokenizers."""
    found = [*_native_kernels(), kernels.Precomputed, *SOLVERS.values(), *LINEAR_SOLVERS.values()]
    calibration = (CalibrationPart, Conformal, CrossConformal, IsotonicThresholds, OrderedLogistic)
    others = (
        DualVariables,
        FitResult,
        NystroemError,
        Progress,
        *calibration,
        CategoryColumn,
        NumberColumn,
        TextColumn,
        StemmedWords,
    )
    return {kind.__name__: kind for kind in (*found, *others)}


@cache
def solver_names() -> tuple[str, ...]:
    """What the result of a fit may name: solvers by name, and those of searches and of clusters."""
    return (*SOLVERS, *LINEAR_SOLVERS, FullKernelSMO.name, Together.name, SideBySide.name, CoCoA.name)


def _native_kernels() -> list[type]:
    """The library's own kernels, not those that others derive from them; a callable kernel is code, not data."""
    classes = [kind for kind in map(vars(kernels).get, kernels.__all__) if isinstance(kind, type)]
    return [kind for kind in classes if is_dataclass(kind) and issubclass(kind, kernels.NativeKernel)]
