"""What solvers share: the limits they keep to, the variables they work on, and who watches them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm.problem import Certificate, Problem, Treatment
from ordsvm.result import Progress

Floats = NDArray[np.float64]
Precision = Literal["float32", "float64"]

PRECISIONS = ("float32", "float64")
CADENCE = 0.2  # seconds between two `Progress`
LOOKING = 0.05  # share of the time that looking may take, unless a number of steps was asked for


class Examiner(Protocol):
    """Somebody who judges a running fit by more than its certificate, at every look and at the end."""

    @property
    def satisfied(self) -> bool:
        """Whether the run should end."""

    @property
    def best(self) -> tuple[int, Floats] | None:
        """The look that a run cut short should return to, counted from 0, and its α; None: it stays where it is."""

    def examine(self, alpha: Floats, progress: Progress) -> Progress:
        """`progress` with what was found out about α, which is to be copied if it is to be kept."""


@dataclass(frozen=True)
class Control:
    """When to stop, with how many threads, and who is told how it goes.

    `report_every` > 0 asks for a `Progress` every so many steps instead of every fifth of a second.
    """

    tol: float = 1e-3
    max_iter: int = -1
    time_limit: float | None = None
    callback: Callable[[Progress], bool | None] | None = None
    verbose: bool = False
    n_threads: int = 1
    report_every: int = 0
    examiner: Examiner | None = None


class KernelMatrix:
    """The kernel matrix of the training samples: rows on demand, and a cache of them.

    Several fits may share it one after another; side by side they could wait for each other's rows for ever.
    """

    def __init__(self, rows: _core.Rows, cache_size: float = 200.0) -> None:
        needed, budget = 2 * 8 * len(rows), cache_size * 2**20
        if budget < needed:
            raise ValueError(
                f"cache_size={cache_size:g} MB does not hold two rows of the kernel matrix of {len(rows)} samples: "
                f"give at least {needed / 2**20:.2g} MB."
            )
        largest = np.max(np.abs(rows.diagonal()))
        if not largest < 1e150:
            raise ValueError(
                f"Kernel values reach {largest:.0e}, too large to compute with: scale the features, for instance with "
                "sklearn.preprocessing.StandardScaler."
            )
        self.rows = rows
        self.largest = float(largest)
        self._roundings = rows.roundings()
        self.fits_float = bool(largest < 1e30)
        self._budget = int(min(budget, 16 * len(rows) * len(rows)))
        self._caches: dict[bool, _core.Cache] = {}

    def rounding(self, beta: Floats) -> float:
        """How far Kβ, summed in float64, may be from what it should be: an estimate."""
        return float(self._roundings * sys.float_info.epsilon * self.largest * np.abs(beta).sum())

    def product(self, beta: Floats, n_threads: int = 1) -> Floats:
        """Kβ."""
        return self.rows.product(beta, n_threads)

    def part(self, rows: NDArray[np.int64], columns: NDArray[np.int64], n_threads: int = 1) -> Floats:
        """K[np.ix_(rows, columns)]."""
        return self.rows.part(rows, columns, n_threads)

    def forget(self) -> None:
        """Gives back the memory of all rows."""
        self._caches = {}

    def cache(self, double_rows: bool) -> _core.Cache:
        """The one cache there is, in the wanted precision: the budget is for all rows together."""
        if double_rows not in self._caches:
            self._caches = {double_rows: _core.cache(self.rows, self._budget, double_rows)}
        return self._caches[double_rows]


@dataclass(frozen=True)
class _Proof:
    """A certificate and the numbers that it is about."""

    alpha: Floats
    score: Floats
    certificate: Certificate

    def is_of(self, alpha: Floats, score: Floats) -> bool:
        return np.array_equal(self.alpha, alpha) and np.array_equal(self.score, score)


class Run:
    """A fit under way: the problem, rows of K, live variables, and the watch on them.

    The core works on `alpha`, `score` and `threshold` in place; `report` may read them whenever it is called.
    """

    def __init__(self, problem: Problem, matrix: KernelMatrix, control: Control, start: Floats | None) -> None:
        self.problem = problem
        self.matrix = matrix
        self.control = control
        self.started = time.perf_counter()
        self.stopped_by = "converged"
        self.n_iter = 0
        self.kernel_rows = 0
        self.history: list[Progress] = []
        self.best_look: int | None = None
        self.solver_name = ""
        self.scores_follow = True  # whether `score` is that of `alpha` whenever `report` is called
        self.alpha = np.zeros(len(problem.hinges)) if start is None else problem.repair(start)
        self.score = self.exact_scores() if self.alpha.any() else np.zeros(problem.n_samples)
        self.threshold = np.zeros(problem.n_thresholds)
        self._start_thresholds()
        seen = np.zeros(problem.n_samples) if start is None else problem.beta(self.alpha)
        self._seen = (seen, self.score.copy())
        self.active = np.array([len(problem.hinges)], dtype=np.int64)
        self.look_every(control.report_every)
        self._next_look = self.started + CADENCE
        self._earlier = (0, 0)
        self._proof: _Proof | None = None

    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def look_every(self, steps: int) -> None:
        """To be called by a solver whose steps do more than one hinge's or pair's, before its first one."""
        self.report_every = self._next_step = steps

    def table(self) -> _core.Table:
        return core_table(self.problem)

    def native(self, solver: Callable[..., _core.Outcome], precision: Precision, *options: object) -> bool:
        """Runs a solver of the core; once more with float64 rows where float32 ones can't reach the tolerance.

        False where it has left off, and something else should go on.
        """
        live = _core.LiveArrays(self.alpha, self.score, self.threshold, self.active)
        steps = self.control.max_iter if self.control.max_iter >= 0 else np.iinfo(np.int64).max
        for double_rows in (False, True) if precision == "float32" and self.matrix.fits_float else (True,):
            limits = _core.Limits(self.control.tol, steps - self.n_iter, self.n_iter)
            self._earlier = (self.n_iter, self.kernel_rows)
            self._next_step = self.n_iter + self.report_every  # the core counts from here too
            outcome = solver(self.table(), self.matrix.cache(double_rows), limits, live, self, *options)
            self.count(outcome.steps, outcome.kernel_rows)
            if outcome.status is _core.Status.near:
                return False
            if outcome.status is not _core.Status.imprecise:
                break
            self._start_anew()
        self.close(outcome.status)
        return True

    def close(self, status: _core.Status) -> None:
        """To be called at the end of a solver, with how it ended."""
        if status is _core.Status.max_iter:
            self.stopped_by = "max_iter"
        if status is _core.Status.imprecise:
            self.stopped_by = "precision"
        if self.control.examiner is not None:
            self._hear(self.control.examiner)
        if self.stopped_by != "converged":
            self.score[:] = self.exact_scores()

    def _hear(self, examiner: Examiner) -> None:
        """A look at the end, unless a look was the end; a run cut short then returns to its best look."""
        if self.stopped_by not in ("callback", "early_stopping"):
            self._look()
        if self.stopped_by not in ("converged", "precision") and examiner.best is not None:
            self.best_look, self.alpha[:] = examiner.best

    def _start_anew(self) -> None:
        """From α alone: what float32 rows have added up to is left behind."""
        self.go_to(self.alpha, self.exact_scores())

    def go_to(self, alpha: Floats, score: Floats) -> None:
        """To another feasible α with its scores."""
        self.alpha[:] = alpha
        self.score[:] = score
        self._start_thresholds()

    def _start_thresholds(self) -> None:
        if self.problem.treatment is Treatment.PENALIZED:
            self.threshold[:] = -self.problem.gamma(self.alpha)

    def report(self, steps: int, kernel_rows: int) -> bool:
        """Called by a running solver about twenty times a second; True stops it."""
        self.count(steps, kernel_rows)
        if self.out_of_time():
            return True
        if self._look_is_due() and self._look():
            self.stopped_by = "callback"
        elif self.control.examiner is not None and self.control.examiner.satisfied:
            self.stopped_by = "early_stopping"
        return self.stopped_by != "converged"

    def out_of_time(self) -> bool:
        """Called instead of `report` where the variables are not to be looked at."""
        limit = self.control.time_limit
        if limit is not None and self.seconds() >= limit:
            self.stopped_by = "time_limit"
        return self.stopped_by != "converged"

    def _look_is_due(self) -> bool:
        if self.report_every > 0:
            return self.n_iter >= self._next_step
        return time.perf_counter() >= self._next_look

    def judge(self, tol: float, violation: float) -> float:
        """Called by a solver whose own rule holds at `tol`: the tolerance it should go on with, `tol` to accept.

        A violation within tol leaves a small relative gap unless the objective is small beside C, as it is for
        separable data. Then the violation has to shrink in proportion. A gap that a billionth of the tolerance does
        not close will not close: the kernel is not positive semidefinite.
        """
        gap = self.certificate().relative_gap
        if not gap > self.control.tol or tol <= 1e-9 * self.control.tol:
            return tol
        return min(tol, violation) * min(0.5, max(0.1, 0.7 * self.control.tol / gap))

    def make_feasible(self) -> None:
        """No solver is trusted to have kept the constraints: a certificate can't see it if it has not."""
        alpha = self.problem.repair(self.alpha)
        if not np.array_equal(alpha, self.alpha):
            self.alpha[:] = alpha
            self.score[:] = self.exact_scores()

    def certificate(self) -> Certificate:
        """What `alpha` proves, if `score` is Kβ but for rounding. Kept for who asks next: first a solver's judge does,
        then whoever ends the run, mostly about the same numbers."""
        if self._proof is None or not self._proof.is_of(self.alpha, self.score):
            rounding = self.matrix.rounding(self.problem.beta(self.alpha))
            certificate = self.problem.certificate(self.alpha, self.score, rounding)
            self._proof = _Proof(self.alpha.copy(), self.score.copy(), certificate)
        return self._proof.certificate

    def _look(self) -> bool:
        began = time.perf_counter()
        score = self.score if self.scores_follow else self._scores_now()
        certificate = self.problem.certificate(self.alpha, score)
        progress = Progress(
            solver=self.solver_name,
            n_iter=self.n_iter,
            seconds=self.seconds(),
            objective=certificate.primal,
            gap=certificate.gap,
            relative_gap=certificate.relative_gap,
            violation=certificate.violation,
            n_support=int(np.count_nonzero(self.problem.beta(self.alpha))),
            kernel_rows=self.kernel_rows,
            n_active=int(self.active[0]),
            thresholds=certificate.thresholds,
        )
        if self.control.examiner is not None:
            progress = self.control.examiner.examine(self.alpha, progress)
        self.history.append(progress)
        if self.control.verbose:
            print_progress(progress)
        stop = self.control.callback is not None and bool(self.control.callback(progress))
        now = time.perf_counter()
        self._next_look = now + max(CADENCE, (now - began) / LOOKING)
        self._next_step = self.n_iter + self.report_every
        return stop

    def count(self, steps: int, kernel_rows: int) -> None:
        """How far a solver has got; `report` does this too."""
        self.n_iter, self.kernel_rows = self._earlier[0] + steps, self._earlier[1] + kernel_rows

    def _scores_now(self) -> Floats:
        """Kβ, brought up to date with what has changed since the last look."""
        beta, (seen, score) = self.problem.beta(self.alpha), self._seen
        self._seen = (beta, score + self.matrix.product(beta - seen))
        return self._seen[1]

    def exact_scores(self) -> Floats:
        return self.matrix.product(self.problem.beta(self.alpha), self.control.n_threads)


def core_table(problem: Problem) -> _core.Table:
    """The problem as the core knows it."""
    h = problem.hinges
    return _core.table(
        h.sample,
        h.threshold,
        h.sign,
        h.offset,
        h.cap,
        n_samples=problem.n_samples,
        n_thresholds=problem.n_thresholds,
        treatment=getattr(_core.Thresholds, problem.treatment.value),
    )


def check_option(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """For the options objects of solvers, when they are made."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is unknown: give one of {', '.join(map(repr, allowed))}.")


def check_count(name: str, value: object, what: str = "steps", least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r} is not valid: give a whole number of {what}, at least {least}.")


class Solver(Protocol):
    """Options of an algorithm, what it can solve, and one call."""

    name: ClassVar[str]
    accepts: ClassVar[frozenset[Treatment]]

    def solve(self, run: Run) -> None:
        """Works on `run` until its problem is solved or `run` says stop."""


def print_progress(progress: Progress, unit: str = "steps") -> None:
    line = (
        f"[{progress.solver}] {progress.seconds:6.1f} s  {progress.n_iter:>9,} {unit}  "
        f"objective {progress.objective:.6g}  relative gap {progress.relative_gap:.1e}  "
        f"violation {progress.violation:.1e}  {progress.n_support:,} support vectors"
    )
    if progress.validation_mae is not None:
        line += f"  validation MAE {progress.validation_mae:.4g}"
    print(line, file=sys.stderr, flush=True)
