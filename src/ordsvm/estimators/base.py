"""What all machines share: a fit from checked data to a trained machine, limits, callbacks and warnings."""

from __future__ import annotations

import hashlib
import inspect
import logging
import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ordsvm._typing import Floats
from ordsvm.checkpoint import Keeper, digest, opened
from ordsvm.checkpoint.description import parameters_in_words
from ordsvm.checkpoint.identity import data_identity
from ordsvm.checks import caller_level, check_flag, check_number, check_positive, check_verbose, usable_threads
from ordsvm.conventions import check_signature, linked, name_init_after
from ordsvm.devices import TensorRows, beside, check_device, is_tensor, on_host, usable_device
from ordsvm.estimators.model_findings import RankCounts, warn_of_findings
from ordsvm.estimators.quiet import QUIET
from ordsvm.estimators.saturation import Saturation
from ordsvm.estimators.validation import check_callback, check_max_iter
from ordsvm.kernels.given import KERNEL_VALUES, values_in_words
from ordsvm.result import FitResult, Progress
from ordsvm.solvers.blas import blas_threads
from ordsvm.solvers.control import Control

NO_PROOF = (
    "the gap proves nothing, for ‖w‖² is below 0: the kernel is not positive semidefinite, and w = 0 may be better; "
    "take one that is"
)
LOGGER = logging.getLogger("ordsvm")

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(fit: Any) -> Any:
        return fit


class Task(Protocol):
    """What samples, targets, weights and parameters make: the problems to be solved."""

    def fingerprint(self) -> str:
        """Differs wherever labels, weights, targets, costs or C do."""


@dataclass(frozen=True)
class Fit:
    """One fit: prepare → solve → recover.

    `fit` of every machine, `certify`, the search, early stopping, one-vs-one and the distributed machines go this way.
    Outside of estimators/ it is made by `prepare`; a search may solve the problems of `task` by itself and hand the
    solution to `recover`.

    machine   the estimator, whose parameters have been checked
    X         samples, checked
    target    labels or targets, checked
    task      the problems that these make
    """

    machine: Any
    X: Any
    target: Any
    task: Any

    def run(self, checkpoint: Any = None) -> Any:
        """The trained machine; with a checkpoint, from where an earlier call has left it."""
        if checkpoint is None:
            return self.recover(self.solve())
        with opened(checkpoint) as session:
            assert session is not None
            if not session.is_part:
                session.require(self._identity())
            solution = self.solve(session.keeper())
        return self.recover(solution)

    def solve(self, keeper: Keeper | None = None) -> Any:
        """The solution of the task by the machine's solver, as `recover` takes it."""
        return self.machine._solve(self.X, self.task, keeper)

    def _identity(self) -> dict[str, str]:
        """What a checkpoint is of: the machine, its parameters and the data."""
        validation = getattr(self.task, "validation", None)
        given = None if validation is None else digest(validation.X, validation.codes, validation.weight)
        about = machine_identity(self.machine) | data_identity(self.X, self.task.fingerprint())
        kernel = getattr(self.machine, "kernel", None)
        if callable(kernel):
            about[KERNEL_VALUES] = values_in_words(kernel, self.X)
        return about | {"validation": "none" if given is None else f"samples {given}"}

    def recover(self, solution: Any) -> Any:
        """The machine with what it keeps of the solution; a warning where a limit ended the fit."""
        machine = self.machine
        machine._recover(self, solution)
        machine._fingerprint = self.task.fingerprint()
        machine._log(machine.result_)
        if machine.result_.status not in ("converged", "early_stopping"):
            machine._warn(machine.result_, machine._tolerance(self.X))
        elif QUIET.get() == "" and machine._is_suspect(self, solution):
            warn_of_findings(machine, self, solution)
        return machine


def prepare(machine: Machine, X: Any, y: Any, sample_weight: Any = None) -> Fit:
    """Parameters, samples and targets, checked in this order, and the problems that they make."""
    return machine._prepare(X, y, sample_weight)


def checked_samples(machine: Machine, X: Any) -> Any:
    """Samples as the trained machine takes them."""
    return machine._check_new_data(X)


def trained_task(machine: Machine, X: Any, y: Any, sample_weight: Any = None) -> Any | None:
    """The task that the machine was trained for, from the same labels, weights and parameters; None from others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `fit` has given them
        try:
            task = machine._formulate(X, machine._check_target(y), sample_weight)
        except (ValueError, TypeError):
            return None
    return task if task.fingerprint() == machine._fingerprint else None


def saturation_of(machine: Machine, task: Any) -> Saturation | None:
    """Where the dual variables of the trained machine are between 0 and their bounds; None where they have none."""
    return machine._saturation(task)


def machine_identity(machine: Any) -> dict[str, str]:
    """A machine and its parameters, for a checkpoint."""
    return {"model": type(machine).__name__} | parameters_in_words(machine)


def check_parameters(machine: Any) -> None:
    """Raises where a parameter of a machine, or of another estimator of this library, is not valid."""
    if hasattr(machine, "_check_parameters"):
        machine._check_parameters()


def all_or_nothing(fit: Any) -> Any:
    """A `fit` that leaves the machine as it was, trained or not, where it is interrupted or fails."""

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit_or_restore


def reports_to_callbacks(fit: Any) -> Any:
    """A `fit` that reports to the callbacks set by `set_callbacks`, on the machine or on a search around it.

    One that does not come to its end leaves the machine as it was.
    """
    fit = all_or_nothing(fit)

    @with_callbacks
    def reporting(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        fit(self, X, y, *args, **kwargs)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    known = frozenset(inspect.signature(fit).parameters)

    @wraps(fit)
    def fit_or_report(self: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in known:
                raise TypeError(f"{type(self).__name__}.fit() got an unexpected keyword argument {name!r}")
        has_callbacks = bool(getattr(self, "_skl_callbacks", None))
        if not isinstance(self.deterministic, (bool, np.bool_)) or not self.deterministic:  # `fit` refuses the former
            return (reporting if has_callbacks else fit)(self, X, y, *args, **kwargs)
        with blas_threads(1):
            return (reporting if has_callbacks else fit)(self, X, y, *args, **kwargs)

    return fit_or_report


def may_be_tensors() -> bool:
    """Whether samples, labels and weights may be torch's: it is imported, which most fits need not know more of."""
    return "torch" in sys.modules


def gives_back_tensors(method: Any) -> Any:
    """A method of samples that, on a machine with a device, returns a tensor for a tensor, beside it."""

    @wraps(method)
    def of_rows(self: Any, X: Any) -> Any:
        if getattr(self, "device", "cpu") == "cpu" or not is_tensor(X):
            return method(self, X)
        return beside(method(self, TensorRows.of(X)), X)

    return of_rows


@linked
class Machine(CallbackSupportMixin, BaseEstimator):
    """A machine trained by a solver that has limits and reports to a callback."""

    C: Any
    tol: Any
    max_iter: Any
    time_limit: Any
    solver: Any
    warm_start: Any
    callback: Any
    verbose: Any
    n_threads: Any
    deterministic: Any = False  # of pickles of 0.1.0 too
    device: Any = "cpu"  # of these, and of machines that have no device
    result_: FitResult
    _unit: ClassVar[str] = "steps"  # what n_iter counts

    def __init_subclass__(cls, **options: Any) -> None:
        check_signature(cls)
        name_init_after(cls)
        super().__init_subclass__(**options)

    # The steps of a fit, in their order

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Fit:
        self._check_before_fit()
        X, target = self._check_training_data(X), self._check_target(y)
        return Fit(self, X, target, self._formulate(X, target, sample_weight))

    def _check_before_fit(self) -> None:
        """Parameters, and whether the device that they name is there: a trained model does without it."""
        self._check_parameters()
        if self.device != "cpu":
            usable_device(self.device)

    def _check_parameters(self) -> None:
        check_positive("C", self.C)
        self._check_tol()
        check_max_iter(self.max_iter)
        check_callback(self.callback)
        usable_threads(self.n_threads)
        check_flag("deterministic", self.deterministic)
        check_flag("warm_start", self.warm_start)
        check_verbose(self.verbose)
        if not isinstance(self.device, str) or self.device != "cpu":
            check_device(self.device)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)

    @abstractmethod
    def _check_training_data(self, X: Any) -> Any:
        """Samples, checked, as `_formulate` and `_solve` take them."""

    @abstractmethod
    def _check_target(self, y: Any) -> Any:
        """Labels or targets, checked, as `_formulate` takes them."""

    @abstractmethod
    def _formulate(self, X: Any, target: Any, sample_weight: Any) -> Task:
        """The problems that samples, targets and weights make."""

    @abstractmethod
    def _solve(self, X: Any, task: Any, keeper: Keeper | None = None) -> Any:
        """Their solution; `keeper` takes the states on the way to it."""

    @abstractmethod
    def _recover(self, fit: Fit, solution: Any) -> None:
        """Keeps what the trained machine needs of a solution."""

    def _retrace(self, X: Any, y: Any, sample_weight: Any) -> Fit:
        """The fit that has trained this machine, from the same data, without warnings: `fit` has given them."""
        X, y, sample_weight = self._check_new_data(on_host(X)), on_host(y, "y"), on_host(sample_weight, "sample_weight")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target = self._check_target(y)
            return Fit(self, X, target, self._formulate(X, target, sample_weight))

    @abstractmethod
    def _check_new_data(self, X: Any) -> Any:
        """Samples for the trained machine, checked."""

    # What a diagnosis needs of a fit

    def _is_suspect(self, fit: Fit, solution: Any) -> bool:
        """Whether there may be a finding: a first look, for small fits are short."""
        return True

    def _rank_counts(self, fit: Fit, solution: Any) -> RankCounts | None:
        """True and predicted ranks of the training samples, where these cost next to nothing."""
        return None

    def _saturation(self, task: Any, brief: bool = False) -> Saturation | None:
        """Where the dual variables are between 0 and their bounds, if they have any; `brief`: whether at these."""
        return None

    # What they share

    def _data_rules(self) -> dict[str, Any]:
        """What `validate_data` lets through as samples."""
        return {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}

    def _check_tol(self) -> None:
        allowed = "a positive number below 1: a relative gap of 1 proves nothing"
        check_number("tol", self.tol, allowed, lambda number: 0 < number < 1)

    def _tolerance(self, X: Any) -> float:
        """tol, for these samples."""
        return float(self.tol)

    def _control(self, keeper: Keeper | None = None, X: Any = None) -> Control:
        return Control(
            tol=self._tolerance(X),
            max_iter=check_max_iter(self.max_iter),
            time_limit=self.time_limit,
            callback=self._all_callbacks(),
            verbose=bool(self.verbose),
            n_threads=1 if self.deterministic else usable_threads(self.n_threads),
            keeper=keeper,
        )

    def _all_callbacks(self) -> Callable[[Progress], bool | None] | None:
        """The machine's own callback, and scikit-learn's; any of them may stop the fit."""
        context = getattr(self, "_callback_fit_ctx", None)
        if context is None:
            return self.callback

        def look(progress: Progress) -> bool:
            task = context.subcontext(task_name="look")
            task.call_on_fit_task_begin(estimator=self)
            stop = bool(task.call_on_fit_task_end(estimator=self))
            return stop | (self.callback is not None and bool(self.callback(progress)))

        return look

    def _reached(self, result: FitResult) -> str:
        """How far the fit got in what tol is about."""
        return f"relative gap {result.relative_gap:.2g} and violation {result.violation:.2g}"

    def _log(self, result: FitResult) -> None:
        """A line for the logger "ordsvm", which shows nothing unless the user's program lets it."""
        outcome = (result.status, result.solver, result.n_iter, self._unit, result.seconds, result.relative_gap)
        LOGGER.info("%s: %s by %s after %d %s and %.3f s, relative gap %.1e", type(self).__name__, *outcome)

    def _warn(self, result: FitResult, tol: float) -> None:
        if QUIET.get() == "all":
            return
        easier = "raise tol, lower C or standardise the features"
        remedy = {
            "max_iter": f"raise max_iter, {easier}",
            "time_limit": f"raise time_limit, {easier}",
            "callback": f"let the callback return False for longer, {easier}",
            "precision": f"float64 sums can't resolve such a tol, {easier}",
            "gap": "the gap does not close where a kernel is not positive semidefinite; take one that is",
        }[result.status]
        if result.status == "gap" and max(result.relative_gap, result.violation) <= tol:
            remedy = NO_PROOF
        warnings.warn(
            f"{type(self).__name__} was stopped by {result.status} after {result.n_iter} {self._unit} with "
            f"{self._reached(result)} against tol={tol:g}: {remedy}.",
            ConvergenceWarning,
            stacklevel=caller_level(),
        )


def finite_scores(scores: Floats) -> Floats:
    if not np.all(np.isfinite(scores)):
        raise ValueError("Scores overflow for some rows of X: their values are too large for this machine.")
    return scores


def fingerprint(*arrays: NDArray[Any]) -> str:
    """Differs where one of the arrays does."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
