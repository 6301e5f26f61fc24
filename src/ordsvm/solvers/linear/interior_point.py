"""Interior point by features: linear machines on many rows of few features, to any gap, whatever C.

Solves    lanes or thresholds (problem/label_table.py), hinge and squared hinge, on rows in memory or in row blocks.
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
          system is solved by further reads of X, or formed by BLAS (wide_system.py); with a device, all of a pass is
          done there (device_system.py).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.devices import check_device, usable_device
from ordsvm.problem import Certificate
from ordsvm.result import Progress
from ordsvm.rows.memory import RowsInMemory
from ordsvm.solvers.blas import blas_threads, threads_for
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.central_path import Path
from ordsvm.solvers.linear.device_hinges import no_memory
from ordsvm.solvers.linear.device_system import system_on
from ordsvm.solvers.linear.dual_refinement import Refined, can_be_refined, refined
from ordsvm.solvers.linear.feature_system import Point, System
from ordsvm.solvers.linear.feature_task import NOTHING, FeatureRows, FeatureTask, feature_core
from ordsvm.solvers.linear.losses import losses
from ordsvm.solvers.linear.neighbour import Neighbour
from ordsvm.solvers.linear.rounding import with_rounding
from ordsvm.solvers.linear.wide_system import WIDE, WideRows, WideSystem
from ordsvm.solvers.recorder import Counts, Recorder
from ordsvm.solvers.solution import DualVariables, LinearSolution
from ordsvm.torch_library import torch_library

LARGE = 1e10  # C ‖x‖², of the mean cap and the largest norm: rounding may be seen in the gap


@dataclass(frozen=True)
class LinearInteriorPoint:
    """An interior-point method whose unknowns are the weights of the features: few iterations, also at large C.

    For many rows with up to some thousand features. Every iteration reads the rows once and adds up (d + m)² numbers,
    however many hinges, ranks or classes there are; for C from 0.01 to 100 on eleven sets, at most 24 iterations ended
    at a relative gap of 1e-3, 41 at 1e-6. From 1,500 features on, in memory, conjugate gradients take the place of
    these sums where that is faster, and always beyond 5,000 features: each of their steps is one more read. With
    `warm_start` it starts from the last weights where samples are as many as then.

    Parameters
    ----------
    device : str, default="cpu"
        Where products with X, the steps of the hinges and sums over the rows are computed; `device` of the estimator
        sets it. On a device, X is dense and in memory, and has up to 5,000 features.

    Attributes
    ----------
    name : str
        "linear-interior-point", for the `solver` parameter of an estimator.

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

    device: str = "cpu"

    name: ClassVar[str] = "linear-interior-point"

    def __post_init__(self) -> None:
        if self.device != "cpu":
            check_device(self.device)


class FeatureNewton:
    """A fit under way."""

    def __init__(
        self,
        rows: FeatureRows,
        task: FeatureTask,
        control: Control,
        started: float,
        core: _core.FeatureSystem | None = None,
        device: str = "cpu",
        most_steps: float = math.inf,
    ) -> None:
        self.source, self.task, self.control = rows.source, task, control
        self.norms, self.X = rows.norms, rows.X if self._may_need_refinement(rows) else None
        self._refined: Refined | None = None
        self.recorder = Recorder(LinearInteriorPoint(device), control, self._line, started)
        self.n_iter, self.most_steps = 0, most_steps
        self._one = int(task.appends_one)
        self.n_weights = self.source.n_features + self._one
        self.core = feature_core(task, self.source.n_features, control.n_threads) if core is None else core
        self.paths: list[Path] = []

    def _may_need_refinement(self, rows: FeatureRows) -> bool:
        """Whether C ‖x‖² is so large that the rounding of α keeps Σβx from the weights."""
        if rows.norms is None or not can_be_refined(rows.X, max(1, self.task.table.n_thresholds)):
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
        n_thresholds = len(biases) if self.task.table.shared else 0
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
        is_spent = getattr(self.core, "spent", 0.0) >= self.most_steps
        if is_spent or 0 <= self.control.max_iter <= self.n_iter:
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
        if not task.table.shared:
            biases = np.array([path.point.weights[-1] if self._one else 0.0 for path in paths])
        loss = losses(task.table, task.labels, task.weight, task.targets, task.squared)
        found = refined(self.X, loss, (self.core.beta(), coef, biases), task.table.shared, task.intercept)
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
            thresholds=biases if self.task.table.shared else 0.0 - biases,
        )

    def _biases(self) -> Floats:
        if self.task.table.shared:
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
                beta[:, slice(None) if self.task.table.shared else vector] = 0.0
        return beta

    def _with_rounding(self, proof: Certificate, variables: DualVariables, coef: Floats) -> Certificate:
        """Return the proof with rounding in its gap; as it is for rows without norms, which stay below 1e15."""
        return proof if self.norms is None else with_rounding(proof, self.task, self.norms, variables, coef)


class _Unhurried:
    """Lets the first pass end whatever the time, for a model that proves something; signals still come through."""

    def report(self, steps: int, kernel_rows: int) -> bool:
        return False


def solve_by_features(
    rows: FeatureRows,
    task: FeatureTask,
    control: Control,
    biases: Floats,
    near: Neighbour | None = None,
    device: str = "cpu",
    most_steps: float = math.inf,
) -> LinearSolution:
    """Solve the problem from weights 0 and these intercepts, thresholds from 0, or from a neighbour that is near.

    most_steps: of conjugate gradients, after which the status is "max_iter".
    """
    device = device if device == "cpu" else usable_device(device)
    started, core = time.perf_counter(), None
    if device != "cpu":
        library = torch_library(device)
        try:
            core = system_on(library, rows.source, task)
            return FeatureNewton(rows, task, control, started, core, library.name).run(biases, near)
        except library.out_of_memory as error:
            raise no_memory(library, task) from error
    if rows.source.n_features + int(task.appends_one) >= WIDE and isinstance(rows.source, RowsInMemory):
        core = wide_core(rows.source.X, task, control)
    return FeatureNewton(rows, task, control, started, core, most_steps=most_steps).run(biases, near)


def wide_core(X: Any, task: FeatureTask, control: Control) -> Any:
    """A system that takes the place of the core's."""
    core = feature_core(replace(task, intercept=False), 0, control.n_threads)
    return WideSystem(WideRows(X, task.appends_one), core, task.caps(), task.table.shared)
