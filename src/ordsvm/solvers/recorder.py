"""The clock, the limits, the trace and the result of a fit: the only maker of `Progress` and `FitResult`.

A solver counts its own steps and computes certificates. Whether a look at them is due, whether time is up, what is
called and what ends the fit is decided here, the same way for every solver.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.devices import usable_device
from ordsvm.problem import Certificate
from ordsvm.result import STATUSES, FitResult, Progress
from ordsvm.solvers.control import Control

LOOK_INTERVAL = 0.2  # seconds between two `Progress`
ENDED_FROM_OUTSIDE = ("callback", "time_limit", "max_iter")
THRESHOLDS = ("thresholds", "dual_thresholds")  # the arrays of a `Progress`
LOOK_SHARE = 0.05  # of the time that looks may take, unless a number of steps is given


def progress_line(progress: Progress, unit: str = "steps") -> str:
    """What `verbose` prints of a look."""
    line = (
        f"[{progress.solver}] {progress.seconds:6.1f} s  {progress.n_iter:>9,} {unit}  "
        f"objective {progress.objective:.6g}  relative gap {progress.relative_gap:.1e}  "
        f"violation {progress.violation:.1e}  {progress.n_support:,} support vectors"
    )
    if progress.validation_mae is not None:
        line += f"  validation MAE {progress.validation_mae:.4g}"
    return line


class Counts(NamedTuple):
    """How far a solver has got: steps (or passes), rows of K, samples with a dual variable, and hinges worked on."""

    n_iter: int
    kernel_rows: int = 0
    n_support: int = 0
    n_active: int = 0


class Figures(NamedTuple):
    """What the core has proven of a problem, and what that has cost."""

    primal: float
    dual: float
    gap: float
    violation: float
    threshold: float
    seconds: float
    steps: float
    kernel_rows: float

    @property
    def relative_gap(self) -> float:
        scale = max(abs(self.primal), abs(self.dual))
        return self.gap / scale if scale != 0 else 0.0


class Recorder:
    """The record of one fit.

    `status` is "converged" until something else ends the fit: "time_limit", "callback" and "early_stopping" are set
    here, the others by the solver. `solver` is an options object with a name; `line` makes what `verbose` prints.
    """

    def __init__(
        self,
        solver: Any,
        control: Control,
        line: Callable[[Progress], str] = progress_line,
        started: float | None = None,
    ) -> None:
        self.control = control
        self.status = "converged"
        self.best_look: int | None = None
        self.history: list[Progress] = []
        self.reserved = 0.0  # seconds of the time limit that the end of the fit will take
        self.started = time.perf_counter() if started is None else started
        self._seconds_before = 0.0  # of earlier calls, where a checkpoint is gone on from
        self._solver = solver
        self._line = line
        self._next_look = self.started + LOOK_INTERVAL
        self.look_every(control.report_every)

    @property
    def stopped(self) -> bool:
        return self.status != "converged"

    def seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self.started

    def look_every(self, steps: int, first: int | None = None) -> None:
        """Looks after so many steps each, the first one at `first`; 0: by the clock."""
        self.report_every = steps
        self._next_step = steps if first is None else first

    def expect(self, seconds: float) -> None:
        """A look will take so long: the first one by the clock waits until that is a small share of the time too."""
        self._next_look = max(self._next_look, self.started + seconds / LOOK_SHARE)

    def hand_over(self, solver: Any) -> None:
        """Another solver goes on: looks and result are its own from now on."""
        self._solver, self.status = solver, "converged"

    def out_of_time(self) -> bool:
        """Whether the fit should end, be it for this or for another reason."""
        _core.check_ended()
        limit = self.control.time_limit
        if limit is not None and not self.stopped and self.seconds() - self._seconds_before + self.reserved >= limit:
            self.status = "time_limit"
        return self.stopped

    def look_is_due(self, n_iter: int) -> bool:
        if self.report_every > 0:
            return n_iter >= self._next_step
        return time.perf_counter() >= self._next_look

    def look(self, proof: Certificate, counts: Counts, alpha: Floats | None = None, began: float | None = None) -> bool:
        """Records a look, whose certificate was begun at this time, and whether it ends the fit."""
        stops = self.last_look(proof, counts, alpha)
        monitor = self.control.monitor
        if stops:
            self.status = "callback"
        elif monitor is not None and monitor.satisfied:
            self.status = "early_stopping"
        now = time.perf_counter()
        self._next_look = now + max(LOOK_INTERVAL, 0.0 if began is None else (now - began) / LOOK_SHARE)
        self._next_step = counts.n_iter + self.report_every
        return self.stopped

    def last_look(self, proof: Certificate, counts: Counts, alpha: Floats | None = None) -> bool:
        """Records a look that ends nothing any more; returns what the callback did."""
        progress = self._progress(proof, counts)
        monitor = self.control.monitor
        if monitor is not None and alpha is not None:
            progress = monitor.examine(alpha, progress)
        self.history.append(progress)
        if self.control.verbose:
            print(self._line(progress), file=sys.stderr, flush=True)
        return self.control.callback is not None and bool(self.control.callback(progress))

    def result(self, proof: Certificate, counts: Counts, alpha: Floats, status: str | None = None) -> FitResult:
        return FitResult(
            status=self.status if status is None else status,
            solver=self._solver.name,
            n_iter=counts.n_iter,
            objective=proof.primal,
            gap=proof.gap,
            relative_gap=proof.relative_gap,
            violation=proof.violation,
            seconds=self.seconds(),
            kernel_rows=counts.kernel_rows,
            alpha=alpha,
            history=tuple(self.history),
            best_look=self.best_look,
            solver_options=_options(self._solver),
            device=self._place(),
        )

    def _place(self) -> str:
        """Where the solver works, which "auto" leaves open."""
        device = getattr(self._solver, "device", "cpu")
        return usable_device(device) if device == "auto" else device

    @property
    def may_go_on(self) -> bool:
        """Whether a limit or a callback has ended the fit, so that another call may go on."""
        return self.status in ENDED_FROM_OUTSIDE

    def position(self) -> dict[str, Any]:
        """The clock and the trace, for a checkpoint."""
        return {"seconds": self.seconds(), "history": [_plain(progress) for progress in self.history]}

    def resume(self, position: dict[str, Any]) -> None:
        """Goes on from the position of an earlier call."""
        self._seconds_before = float(position["seconds"])
        self.history = [_progress_of(facts) for facts in position["history"]]

    def _progress(self, proof: Certificate, counts: Counts) -> Progress:
        return Progress(
            solver=self._solver.name,
            n_iter=counts.n_iter,
            seconds=self.seconds(),
            objective=proof.primal,
            gap=proof.gap,
            relative_gap=0.0 if proof.relative_gap < 0.0 else proof.relative_gap,
            violation=proof.violation,
            n_support=counts.n_support,
            kernel_rows=counts.kernel_rows,
            n_active=counts.n_active,
            thresholds=proof.thresholds,
            dual_thresholds=proof.thresholds if proof.dual_thresholds is None else proof.dual_thresholds,
        )


def proven(
    solver: Any, status: str, figures: Figures, alpha: Floats, looks: Sequence[tuple[Figures, int, float]] = ()
) -> FitResult:
    """The result of one of several problems that the core has solved, proof and all, in one call.

    looks: figures on the way, the number of support vectors and the threshold of the dual's gradient.
    """
    return FitResult(
        status=status,
        solver=solver.name,
        n_iter=int(figures.steps),
        objective=figures.primal,
        gap=figures.gap,
        relative_gap=figures.relative_gap,
        violation=figures.violation,
        seconds=figures.seconds,
        kernel_rows=int(figures.kernel_rows),
        alpha=alpha,
        history=tuple(_looked(solver, *look, len(alpha)) for look in looks) if looks else (),
    )


def _looked(solver: Any, figures: Figures, n_support: int, dual_threshold: float, n_active: int) -> Progress:
    return Progress(
        solver=solver.name,
        n_iter=int(figures.steps),
        seconds=figures.seconds,
        objective=figures.primal,
        gap=figures.gap,
        relative_gap=max(0.0, figures.relative_gap),
        violation=figures.violation,
        n_support=n_support,
        kernel_rows=int(figures.kernel_rows),
        n_active=n_active,
        thresholds=np.array([figures.threshold]),
        dual_thresholds=np.array([dual_threshold]),
    )


def facts_of(result: FitResult) -> dict[str, Any]:
    """A result for a checkpoint, without its α."""
    plain = {name: _number(getattr(result, name)) for name in _plain_names(FitResult, {"alpha"})}
    return plain | {"history": [_plain(progress) for progress in result.history]}


def result_of(facts: dict[str, Any], alpha: Floats) -> FitResult:
    """What `facts_of` was given."""
    history = tuple(_progress_of(each) for each in facts["history"])
    return FitResult(**{**facts, "history": history}, alpha=alpha)


def is_end(result: FitResult) -> bool:
    """Whether a fit has ended by itself: after a limit or a callback another call may go on."""
    return result.status not in ENDED_FROM_OUTSIDE


def _plain(progress: Progress) -> dict[str, Any]:
    plain = {name: _number(getattr(progress, name)) for name in _plain_names(Progress, set(THRESHOLDS))}
    return plain | {name: np.asarray(getattr(progress, name), dtype=np.float64).tolist() for name in THRESHOLDS}


def _progress_of(facts: dict[str, Any]) -> Progress:
    return Progress(**(facts | {name: np.array(facts[name]) for name in THRESHOLDS}))


def _plain_names(kind: type, without: set[str]) -> list[str]:
    return [field.name for field in fields(kind) if field.name not in {"history", *without}]


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _options(solver: Any) -> dict[str, Any]:
    """The fields of an options object; what another object holds may be state, or anything else."""
    if not is_dataclass(solver):
        return {}
    if hasattr(solver, "__dict__"):  # no slots: faster
        return dict(vars(solver))
    return {field.name: getattr(solver, field.name) for field in fields(solver)}


def combined(results: Sequence[FitResult]) -> FitResult:
    """One result for several problems: sums, the largest violation and the worst status.

    alpha and history are those of the problems, joined; every `Progress` is about its own problem.
    """
    if len(results) == 1:
        return results[0]
    objective, gap = sum(result.objective for result in results), sum(result.gap for result in results)
    scale = max(abs(objective), abs(objective - gap))
    return replace(
        results[0],
        status=min((result.status for result in results), key=STATUSES.index),
        n_iter=sum(result.n_iter for result in results),
        objective=objective,
        gap=gap,
        relative_gap=gap / scale if scale > 0 else 0.0,
        violation=max(result.violation for result in results),
        seconds=sum(result.seconds for result in results),
        kernel_rows=sum(result.kernel_rows for result in results),
        alpha=np.concatenate([result.alpha for result in results]),
        history=tuple(progress for result in results for progress in result.history),
    )


def continued(results: Sequence[FitResult], status: str, proof: Certificate, alpha: Floats) -> FitResult:
    """One result for runs on the same problem, each from where the last one ended, with the proof of the last."""
    return replace(
        reduce(after, results),
        status=status,
        objective=proof.primal,
        gap=proof.gap,
        relative_gap=proof.relative_gap,
        violation=proof.violation,
        alpha=alpha,
    )


def after(first: FitResult, second: FitResult) -> FitResult:
    """The result of a run that goes on from another one: its own, with the steps, time and looks of both.

    Looks of the second run count from the beginning of the first one.
    """
    looks = (
        replace(look, n_iter=first.n_iter + look.n_iter, seconds=first.seconds + look.seconds)
        for look in second.history
    )
    return replace(
        second,
        n_iter=first.n_iter + second.n_iter,
        seconds=first.seconds + second.seconds,
        kernel_rows=first.kernel_rows + second.kernel_rows,
        history=(*first.history, *looks),
    )


def stopped_before_it_began(result: FitResult, status: str) -> FitResult:
    """The result of a problem that another one has left no time, unless its start is good enough already."""
    return result if result.converged else replace(result, status=status)
