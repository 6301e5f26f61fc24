"""Interior point by features: linear machines on many rows of few features, to any gap, whatever C.

Solves    lanes or thresholds (linear_problem.py), hinge and squared hinge, on rows in memory or in row blocks.
Keeps     w and thresholds, and α of every hinge strictly within its bounds.
Step      a pass over the rows moves w by Newton's direction and every α by its own share of it, as far as its bounds
          allow, and adds up the next system of (d + m)² numbers at the new point (cpp/linear/interior_point). So X is
          read once an iteration. λ and ξ of a hinge follow from α, its score and τ, and Mehrotra's corrector is what
          the next direction does: X'β − w, which the α that were cut short leave, is on its right side.
          τ falls by the share of the steps that were cut short, and not below what tol needs: there the remaining
          iterations are centring steps, in which that difference, and with it the gap, vanishes.
Stops     when P(w, b) − D(α) of all weight vectors together is within tol of the objective.
Paper     M. C. Ferris, T. S. Munson, "Interior-point methods for massive support vector machines", 2002: the system;
          S. Mehrotra, "On the implementation of a primal-dual interior point method", 1992.
Cost      an iteration: n d² / 2 products for every weight vector, on all cores, and d³ / 6. From WIDE features on, the
          system is solved by further reads of X, or formed by BLAS (wide_system.py).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.data.rows import RowsInMemory, RowSource
from ordsvm.linear_problem import LaneTable, ThresholdTable
from ordsvm.problem import Certificate
from ordsvm.result import Progress
from ordsvm.solvers.blas import blas_threads, threads_for
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.dual_refinement import Refined, can_be_refined, refined
from ordsvm.solvers.linear.feature_system import Point, System, hinge_columns
from ordsvm.solvers.linear.losses import losses
from ordsvm.solvers.linear.neighbour import Neighbour
from ordsvm.solvers.linear.wide_system import WIDE, WideRows, WideSystem
from ordsvm.solvers.recorder import Counts, Recorder
from ordsvm.solvers.solution import DualVariables, LinearSolution

NOTHING = np.empty(0)
FIRST_FALL = 0.3  # of τ, in the first step
FASTEST_FALL, SLOWEST_FALL = 0.2, 0.8
CAUTION = 6.0  # τ falls to this many times the share of the steps that were cut short
NEED = 0.5  # of the gap that tol allows may be left by τ
MOST_RISE = 2.0  # of the relaxed gap, in a step that is taken after a restart
SHORTER, LEAST_LENGTH = 0.3, 1e-3  # the next length where a step was not taken, and the least
PATIENCE = 15  # iterations in which a gap, relaxed or not, has to fall by a tenth
MOST_RESTARTS = 4  # of a weight vector, from its best weights
REFINEMENTS = (2, 5, 8, 11, 14)  # after so many iterations in which no gap has fallen
COMPLEMENTARY = 4.0  # times the gap that is allowed: of which at most half is left by τ
LARGE = 1e10  # C ‖x‖², of the mean cap and the largest norm: rounding may be seen in the gap
NEGLIGIBLE = 1e-6  # share of the gap, or of what tol allows
ROUNDINGS = 4.0  # of β, of a product and of sums, in which those of single terms cancel as random numbers do


@dataclass(frozen=True)
class LinearInteriorPoint:
    """An interior-point method whose unknowns are the weights of the features: few iterations, also at large C.

    For many rows with up to some thousand features. Every iteration reads the rows once and adds up (d + m)² numbers,
    however many hinges, ranks or classes there are; for C from 0.01 to 100 on eleven sets, at most 24 iterations ended
    at a relative gap of 1e-3, 41 at 1e-6. From 1,500 features on, in memory, conjugate gradients take the place of
    these sums where that is faster, and always beyond 5,000 features: each of their steps is one more read. It has no
    options. With `warm_start` it starts from the last weights where samples are as many as then.

    Attributes
    ----------
    name : str
        "interior-point", for the `solver` parameter of an estimator.

    See Also
    --------
    RankDCD : For many features, above all sparse ones.
    ordsvm.distributed.CoCoA : The same on the workers of a cluster.

    Notes
    -----
    α stays strictly within its bounds, so that the violation in the result is that of the hinge furthest from its
    margin: the gap is the proof. The algorithm: cpp/linear/interior_point/feature_system.hpp.

    References
    ----------
    .. [1] M. C. Ferris, T. S. Munson, "Interior-point methods for massive support vector machines", SIAM Journal on
       Optimization, 2002.
    .. [2] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal on Optimization,
       1992.

    Examples
    --------
    >>> from ordsvm import LinearInteriorPoint, LinearSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = LinearSVOR(C=100, tol=1e-6, solver=LinearInteriorPoint()).fit(X, y)
    >>> bool(model.result_.relative_gap <= 1e-6)
    True
    """

    name: ClassVar[str] = "interior-point"


@dataclass(frozen=True)
class FeatureTask:
    """A table and the columns of the samples that it is about."""

    table: LaneTable | ThresholdTable
    labels: np.ndarray
    weight: Floats | None = None
    targets: Floats | None = None
    intercept: bool = True
    squared: bool = False

    @property
    def has_thresholds(self) -> bool:
        return isinstance(self.table, ThresholdTable)

    @property
    def n_thresholds(self) -> int:
        return self.table.cap.shape[1] if isinstance(self.table, ThresholdTable) else 0

    @property
    def appends_one(self) -> bool:
        """Whether rows get a 1, for an intercept."""
        return self.intercept and not self.has_thresholds

    def caps(self) -> Floats:
        """The sum of the caps of a weight vector."""
        totals = np.bincount(self.labels, self.weight, self._cap().shape[0]) @ self._cap()
        return np.array([totals.sum()]) if self.has_thresholds else totals

    def reach(self, biases: Floats) -> Floats:
        """The mean distance of margins from a constant score, by caps, of a weight vector: where τ starts."""
        if isinstance(self.table, ThresholdTable):
            return np.ones(1)
        distance = np.abs(self.table.offset - biases) + self.table.epsilon
        if self.targets is None:
            of_labels = np.bincount(self.labels, self.weight, self.table.n_labels)[:, None] * self._cap()
            return _ratio((of_labels * distance).sum(axis=0), of_labels.sum(axis=0))
        weight = np.ones(len(self.targets)) if self.weight is None else self.weight
        return np.array([weight @ np.abs(self.targets - biases) / weight.sum()]) + self.table.epsilon.max()

    def _cap(self) -> Floats:
        return self.table.cap if isinstance(self.table, ThresholdTable) else self.table.upper - self.table.lower


@dataclass(frozen=True)
class FeatureRows:
    """Where the rows are, ‖x‖² of each, unless that would be another pass over a file or a cluster, and all of them
    where they are in memory."""

    source: RowSource
    norms: np.ndarray | None = None
    X: Any = None


def feature_core(task: FeatureTask, n_features: int, n_threads: int) -> _core.FeatureSystem:
    """Newton's system of a task, with α of all its hinges."""
    return _core.FeatureSystem(
        hinge_columns(task.table),
        task.labels,
        NOTHING if task.weight is None else task.weight,
        NOTHING if task.targets is None else task.targets,
        n_features=n_features,
        thresholds=task.has_thresholds,
        intercept=task.appends_one,
        squared=task.squared,
        n_threads=n_threads,
    )


class Path:
    """The way of one weight vector: where it is, what the last pass has summed up there, and where it goes."""

    def __init__(self, start: Point, tau: float, caps: float) -> None:
        self.point = self.best = start
        self.direction = Point(np.zeros_like(start.weights), np.zeros_like(start.thresholds))
        self.tau = self.old_tau = tau
        self.caps = max(caps, np.finfo(float).tiny)
        self.primal, self.dual = np.inf, -np.inf  # the least, and that of α as it is
        self.system: System | None = None
        self.centres, self.rests = True, False
        self._refused = 0  # steps, in a row but for those taken
        self.idle = 0  # iterations in which no gap has fallen
        self._restarts, self._least, self._violation = 0, (np.inf, np.inf), np.inf

    @property
    def bound(self) -> float:
        """What is known of the optimum from below: the dual of α, or of 0."""
        return max(0.0, self.dual)

    @property
    def gap(self) -> float:
        """A dual above the primal is rounding, and shows at least how much of that there is."""
        return abs(self.primal - self.bound)

    @property
    def violation(self) -> float:
        return self._violation

    @property
    def length(self) -> float:
        """Of the next step: a refused one is followed by one of slower fall, and that by shorter ones."""
        return SHORTER ** max(0, self._refused - 1)

    def step(self) -> tuple[float, float, float, float]:
        """Length, both τ, and whether α goes to the centre: what the core takes."""
        return (0.0 if self.rests or self.centres else self.length, self.old_tau, self.tau, float(self.centres))

    def arrive(self, system: System) -> bool:
        """Whether the pass that gave these sums is accepted: their numbers are finite, and the step is no way back."""
        if self.rests:
            return False
        point = self.point if self.centres else self.point.moved(self.direction, self.length)
        is_finite = system.is_finite() and np.isfinite(point.squared_norm())
        if is_finite and system.primal(point) < self.primal:
            self.primal, self.best, self._violation = system.primal(point), point, system.violation
        if not is_finite or not self._is_way(system.relaxed_gap(point)):
            self._refused, self.idle = self._refused + 1, self.idle + 1
            return False
        self.point, self.system, self.old_tau = point, system, self.tau
        self.dual, self._refused = system.dual(), max(0, self._refused - 1)
        gaps = (self.gap, system.relaxed_gap(point))
        falls = any(gap < 0.9 * least for gap, least in zip(gaps, self._least, strict=True))
        self.idle = 0 if falls else self.idle + 1
        self._least = (min(self._least[0], gaps[0]), min(self._least[1], gaps[1]))
        return True

    def _is_way(self, relaxed_gap: float) -> bool:
        """Whether a step may lead to this relaxed gap."""
        if self.centres or self.system is None or not self._restarts or self.length < LEAST_LENGTH:
            return True  # before a restart: with large C the gap rises on the way to few iterations
        return relaxed_gap <= MOST_RISE * self.system.relaxed_gap(self.point)

    def aim(self, allowed: float) -> bool:
        """Chooses τ and the direction of the next pass, for a gap of at most this; whether there is one."""
        self.rests = self.system is not None and self.gap <= 0.5 * allowed
        if self.rests:
            return True
        is_first, self.centres = self.centres, False
        if self.system is None or self.idle >= PATIENCE:
            return self._restart()
        least, mu = NEED * allowed / (2.0 * self.caps), self.system.complementarity / (2.0 * self.caps)
        cut = self.system.cut / self.system.moved if self.system.moved > 0 else 0.0
        fall = FIRST_FALL if is_first else min(SLOWEST_FALL, max(FASTEST_FALL, CAUTION * cut))
        fall = SLOWEST_FALL if self._refused else fall
        self.tau = max(least, fall * mu)
        try:
            self.direction = self.system.direction(self.point, self.tau)
        except (LinAlgError, ValueError):
            return self._restart()
        return True

    def is_held_by_rounding(self, allowed: float) -> bool:
        """Whether the hinges allow for this gap, and dual variables that do not add up to the weights keep it open."""
        if self.system is None or self.gap <= allowed:
            return self.system is not None
        return self.idle in REFINEMENTS and self.system.complementarity <= COMPLEMENTARY * allowed

    def _restart(self) -> bool:
        """From the best weights, with α on the central path."""
        self._restarts, self.idle, self._refused = self._restarts + 1, 0, 0
        self.point, self.centres, self._least = self.best, True, (np.inf, np.inf)
        self.tau = self.old_tau = max(self.tau, min(self.gap, self.primal) / (2.0 * self.caps))
        return self._restarts <= MOST_RESTARTS and bool(np.isfinite(self.tau))


class FeatureNewton:
    """A fit under way."""

    def __init__(
        self,
        rows: FeatureRows,
        task: FeatureTask,
        control: Control,
        started: float,
        core: _core.FeatureSystem | None = None,
    ) -> None:
        self.source, self.task, self.control = rows.source, task, control
        self.norms, self.X = rows.norms, rows.X if self._may_need_refinement(rows) else None
        self._refined: Refined | None = None
        self.recorder = Recorder(LinearInteriorPoint(), control, self._line, started)
        self.n_iter = 0
        self._one = int(task.appends_one)
        self.n_weights = self.source.n_features + self._one
        self.core = feature_core(task, self.source.n_features, control.n_threads) if core is None else core
        self.paths: list[Path] = []

    def _may_need_refinement(self, rows: FeatureRows) -> bool:
        """Whether C ‖x‖² is so large that the rounding of α keeps Σβx from the weights."""
        if rows.norms is None or not can_be_refined(rows.X, max(1, self.task.n_thresholds)):
            return False
        return float(self.task.caps().max()) * float(np.max(rows.norms, initial=0.0)) >= LARGE * self.source.n_samples

    def run(self, biases: Floats, near: Neighbour | None = None) -> LinearSolution:
        """From weights 0 and these intercepts, or from a neighbour that is near."""
        is_near = self._start(biases, near)
        with blas_threads(threads_for(self.n_weights, self.control.n_threads)):
            self._pass(watch=_Unhurried())
            if is_near and near is not None and not near.foresaw(sum(path.primal for path in self.paths)):
                self.paths = []
                self._start(biases)
                self._pass(watch=_Unhurried())
            while not self._ends():
                self._pass(watch=self)
        return self._solution()

    def report(self, steps: int, kernel_rows: int) -> bool:
        """Called by the core while it works, some twenty times a second; True stops it."""
        return self.recorder.out_of_time()

    def _start(self, biases: Floats, near: Neighbour | None = None) -> bool:
        """Whether that is from the neighbour."""
        reach, caps_of_all = self.task.reach(biases), self.task.caps()
        starts = [] if near is None else near.starts(caps_of_all, reach, self.control.tol)
        if starts:
            self.paths = [Path(*start, caps) for start, caps in zip(starts, caps_of_all, strict=True)]
            return True
        n_thresholds = len(biases) if self.task.has_thresholds else 0
        for vector, (tau, caps) in enumerate(zip(reach, caps_of_all, strict=True)):
            weights = np.zeros(self.n_weights)
            weights[self.source.n_features :] = biases[vector] if self._one else 0.0
            self.paths.append(Path(Point(weights, np.zeros(n_thresholds)), max(tau, 1e-6), caps))
        return False

    def _pass(self, watch: _core.LinearWatch) -> None:
        self._begin_pass()
        for first, block in self.source.blocks():
            if not self.core.add(block, first, watch):
                return  # as if the pass had not begun: α of the last one is kept
        self._end_pass()

    def _begin_pass(self) -> None:
        paths = self.paths
        self.core.begin(
            np.array([path.point.weights for path in paths]),
            np.array([path.direction.weights for path in paths]),
            np.array([paths[0].point.thresholds, paths[0].direction.thresholds]),
            np.array([path.step() for path in paths]),
        )

    def _end_pass(self) -> None:
        self.n_iter += 1
        for vector, path in enumerate(self.paths):
            if path.arrive(System.of(self.core, vector, self.n_weights)):
                self.core.accept(vector)

    def _ends(self) -> bool:
        """Whether the gap is small enough or a limit is met; otherwise all directions are ready."""
        proof = self._certificate()
        if proof.relative_gap <= self.control.tol or self.recorder.out_of_time():
            return True
        if 0 <= self.control.max_iter <= self.n_iter:
            self.recorder.status = "max_iter"
            return True
        if self.recorder.look_is_due(self.n_iter) and self.recorder.look(proof, self._counts()):
            return True
        allowed = self.control.tol * abs(proof.primal) / len(self.paths)
        shares = [0.5 * (allowed + self.control.tol * abs(path.primal)) for path in self.paths]
        is_held = self.X is not None and all(map(Path.is_held_by_rounding, self.paths, shares))
        if is_held and self._refine():
            return True
        ready = [path.aim(share) for path, share in zip(self.paths, shares, strict=True)]
        if not all(ready):
            self.recorder.status = "precision"
            return True
        return False

    def _refine(self) -> bool:
        """Where rounding may be what keeps the gap open: whether corrected dual variables close it."""
        task, paths = self.task, self.paths
        coef = np.stack([path.point.weights[: self.source.n_features] for path in paths], axis=1)
        biases = paths[0].point.thresholds
        if not task.has_thresholds:
            biases = np.array([path.point.weights[-1] if self._one else 0.0 for path in paths])
        loss = losses(task.table, task.labels, task.weight, task.targets, task.squared)
        found = refined(self.X, loss, (self.core.beta(), coef, biases), task.has_thresholds, task.intercept)
        if self._with_rounding(found.proof, DualVariables([found.beta]), coef).relative_gap <= self.control.tol:
            self._refined = found
        return self._refined is not None

    def _certificate(self) -> Certificate:
        primal, dual = sum(path.primal for path in self.paths), sum(path.bound for path in self.paths)
        biases = self._biases()
        return Certificate(
            primal=primal,
            dual=primal - abs(primal - dual),
            gap=abs(primal - dual),
            violation=max(path.violation for path in self.paths),
            thresholds=biases if self.task.has_thresholds else 0.0 - biases,
        )

    def _biases(self) -> Floats:
        if self.task.has_thresholds:
            return self.paths[0].best.thresholds
        return np.array([path.best.weights[-1] if self._one else 0.0 for path in self.paths])

    def _counts(self) -> Counts:
        n = self.source.n_samples
        return Counts(self.n_iter, n_support=n, n_active=n)

    def _line(self, progress: Progress) -> str:
        return (
            f"[{progress.solver}] {progress.seconds:6.1f} s  iteration {progress.n_iter:>3}  "
            f"objective {progress.objective:.6g}  relative gap {progress.relative_gap:.1e}"
        )

    def _solution(self) -> LinearSolution:
        if self._refined is not None:
            beta, coef, biases, proof = self._refined
            variables = DualVariables([beta])
        else:
            variables, biases, proof = self._dual_variables(), self._biases(), self._certificate()
            coef = np.stack([path.best.weights[: self.source.n_features] for path in self.paths], axis=1)
        proof = self._with_rounding(proof, variables, coef)
        is_solved = proof.relative_gap <= self.control.tol and self.recorder.status != "callback"
        status = "converged" if is_solved else self.recorder.status if self.recorder.stopped else "precision"
        result = self.recorder.result(proof, self._counts(), NOTHING, status)
        return LinearSolution(coef, biases, variables, result)

    def _dual_variables(self) -> DualVariables:
        return DualVariables([self._beta()])

    def _beta(self) -> Floats:
        """β of all columns; 0 where α proves less than that does."""
        beta = self.core.beta()
        for vector, path in enumerate(self.paths):
            if path.dual < 0.0:
                beta[:, slice(None) if self.task.has_thresholds else vector] = 0.0
        return beta

    def _with_rounding(self, proof: Certificate, variables: DualVariables, coef: Floats) -> Certificate:
        """With the rounding of β, and of the sum w = Σβx, that the dual has by way of ½‖w‖², and with that of scores in
        the losses: the smaller gap is not claimed. It shows where C ‖x‖² is above 1e16, which rows without norms have
        to stay below, and where C is large and the losses are near 0."""
        if self.norms is None or not np.isfinite(proof.gap):
            return proof
        terms = np.sqrt(float(_sums_of_sizes(variables) ** 2 @ self.norms))
        shift = ROUNDINGS * np.finfo(float).eps * terms
        longest = float(np.sqrt(np.sum(coef**2)) + np.sqrt(2.0 * proof.gap))  # of Σβx
        error = float(shift * (longest + 0.5 * shift))
        error += rounding_of_losses(self.task, self.norms, coef, proof.thresholds)
        if error <= NEGLIGIBLE * max(proof.gap, self.control.tol * proof.primal):
            return proof
        return replace(proof, dual=proof.dual - error, gap=proof.gap + error)


def rounding_of_losses(task: FeatureTask, norms: np.ndarray, coef: Floats, biases: Floats) -> float:
    """Of Σ c (o − s (w·x − b)) over hinges of small slack: scores have ε ‖x‖ ‖w‖. Squared losses of these are smaller
    still."""
    if task.squared:
        return 0.0
    longest = float(np.sqrt(np.max(norms, initial=0.0)))
    squares = np.einsum("ij,ij->j", coef, coef, dtype=np.float64)  # without a copy of the weights
    scores = longest * float(np.sqrt(squares.max(initial=0.0))) + float(np.abs(biases).max(initial=0.0))
    return ROUNDINGS * float(np.finfo(float).eps * task.caps().sum() * scores)


class _Unhurried:
    """Lets the first pass end whatever the time, for a model that proves something; signals still come through."""

    def report(self, steps: int, kernel_rows: int) -> bool:
        return False


def solve_by_features(
    rows: FeatureRows, task: FeatureTask, control: Control, biases: Floats, near: Neighbour | None = None
) -> LinearSolution:
    """The problem from weights 0 and these intercepts, thresholds from 0, or from a neighbour that is near."""
    newton = FeatureNewton(rows, task, control, time.perf_counter())
    if newton.n_weights >= WIDE and isinstance(rows.source, RowsInMemory):
        newton.core = _wide(rows.source.X, task, control)
    return newton.run(biases, near)


def _wide(X: Any, task: FeatureTask, control: Control) -> Any:
    """A system that takes the place of the core's."""
    core = feature_core(replace(task, intercept=False), 0, control.n_threads)
    return WideSystem(WideRows(X, task.appends_one), core, task.caps(), task.has_thresholds)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.ones_like(numerator), where=denominator > 0)


def _sums_of_sizes(variables: DualVariables) -> Floats:
    """Σ|β| of every sample, without a copy of β."""
    sums = np.zeros(variables.shape[0])
    for part in variables.parts:
        for column in part.T:
            sums += np.abs(column)
    return sums
