"""Fits along rising C where all kernel values are in memory: steps of the block method on small sets, then Newton's
method; cpp/solvers/full_kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats, Labels
from ordsvm.kernels.full_kernel import FullKernelMatrix
from ordsvm.problem import Certificate, Problem, Treatment
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.block.block import Attempts, Costs
from ordsvm.solvers.kernel.block.newton import Point
from ordsvm.solvers.kernel.run import core_hinges
from ordsvm.solvers.recorder import Counts, Recorder
from ordsvm.solvers.solution import Solution

MOST_ATTEMPTS = 30  # of Newton's method, and at the gap of ordered thresholds
VALUE_MICROSECONDS = 1e-3  # of a kernel value, which comes from memory
MATRIX_BYTES = 12  # a value, in both precisions: as much memory again may be taken for a while
GOOD_START_GAP = 0.05  # relative gap of a start that is not compared with another one


@dataclass(frozen=True)
class FullKernelSMO:
    """The solver of `OrdinalSearchCV`, which has no options; named "search" in results."""

    name: ClassVar[str] = "search"


class FullKernelPath:
    """One problem at rising C: every fit starts from the best multiple of the α before."""

    def __init__(self, full: _core.FullKernel, problem: Problem, numbers: Labels) -> None:
        hinges = replace(problem.hinges, sample=numbers[problem.hinges.sample])
        self.full = full
        self.numbers = numbers
        self.problem = replace(problem, hinges=hinges, n_samples=len(full))
        self._cap, self._C = hinges.cap, 1.0
        self._alpha = np.zeros(len(hinges))
        self._score = np.zeros(full.stride)
        self._threshold = np.zeros(problem.n_thresholds)
        self._active = np.zeros(1, dtype=np.int64)

    def solve(self, C: float, tol: float, other: Floats | None, is_near: bool = False) -> Solution | None:
        """At C times the caps of the given problem; None if the core does not get there.

        `other`: α of the same C with another kernel, which may be a better start, or, if `is_near`, with this one.
        """
        recorder = Recorder(FullKernelSMO(), Control(tol))
        self._stretch(C / self._C)
        self._C = C
        self.problem = replace(self.problem, hinges=replace(self.problem.hinges, cap=C * self._cap))
        hinges, live, aim, steps = core_hinges(self.problem), self._live(), tol, 0
        attempts = Attempts(self.problem, tol, Costs(VALUE_MICROSECONDS, MATRIX_BYTES * len(self.full) ** 2))
        if other is not None and len(other) == len(self._alpha):
            self._compare(hinges, live, other, is_near)
        for _ in range(MOST_ATTEMPTS):
            hand_over = _core.HandOver(attempts.plain_start, steps, attempts.patience)
            fit = self.full.solve(hinges, live, aim, hand_over)
            steps += fit.steps
            if fit.hands_over:
                self._jump(attempts, aim, steps)
                continue
            if not fit.converged:
                return None
            proof = self._proof(fit)
            if proof.relative_gap <= tol:
                if self.problem.negative_norm(self._alpha, proof.dual) > 0.0:
                    return None  # the kernel is not positive semidefinite, as the machine's own solver will say
                return self._solution(recorder, proof, steps)
            aim *= 0.5 * tol / proof.relative_gap
        return None

    def _jump(self, attempts: Attempts, tol: float, steps: int) -> None:
        """Moves to the result of Newton's method, if it has one."""
        matrix, start = FullKernelMatrix(self.full), Point(self._alpha.copy(), self.scores().copy())
        methods = attempts.methods(self._alpha, self.problem.violation(self._alpha, self.scores()), steps)
        results = (method(self.problem, matrix, start, tol, 1, lambda: False) for method in methods)
        point = next((found for found in results if found is not None), start)
        self._alpha[:], self._score[: len(self.full)] = point.alpha, point.score
        if self.problem.treatment is Treatment.PENALIZED:
            self._threshold[:] = -self.problem.gamma(self._alpha)
        attempts.note(methods, self.problem.violation(self._alpha, self.scores()))

    def scores(self) -> Floats:
        """Of all samples."""
        return self._score[: len(self.full)]

    def _stretch(self, most: float) -> None:
        """Takes t·α for α, with the t up to `most` for which the dual objective, t·o'α − ½t²·(β'Kβ + γ'γ), is largest.

        Hinges at their caps grow with C and others do not: this is between the two.
        """
        penalized = self.problem.treatment is Treatment.PENALIZED
        square = np.sum(self.problem.beta(self._alpha) * self.scores())
        square += np.sum(self.problem.gamma(self._alpha) ** 2) if penalized else 0.0
        if square > 0:
            best = min(most, max(1.0, float(np.sum(self.problem.hinges.offset * self._alpha) / square)))
            for values in (self._alpha, self._score, self._threshold):
                values *= best

    def _compare(self, hinges: _core.Hinges, live: _core.LiveArrays, other: Floats, is_near: bool) -> None:
        """Starts from the other α if it is the better one.

        Among later fits only those with penalised thresholds compare. There the hinges at their caps change with C,
        from all of them to a few; elsewhere the product costs more than it saves.
        """
        penalized = self.problem.treatment is Treatment.PENALIZED
        if (
            is_near
            or not self._alpha.any()
            or (penalized and self.full.prove(hinges, live).relative_gap > GOOD_START_GAP)
        ):
            score = np.empty_like(self._score)
            beta = self.problem.beta(other)
            self.full.product(beta, score)
            if self.problem.dual(other, score[: len(beta)]) > self.problem.dual(self._alpha, self.scores()):
                self._alpha[:], self._score[:] = other, score
                if penalized:
                    self._threshold[:] = -self.problem.gamma(other)

    def _live(self) -> _core.LiveArrays:
        return _core.LiveArrays(self._alpha, self._score, self._threshold, self._active)

    def _proof(self, fit: _core.Fit) -> Certificate:
        """The core has made it already, except for ordered thresholds."""
        if self.problem.treatment is Treatment.ORDERED:
            return self.problem.certificate(self._alpha, self.scores())
        return Certificate(fit.primal, fit.primal - fit.gap, fit.gap, fit.violation, fit.thresholds())

    def _solution(self, recorder: Recorder, proof: Certificate, steps: int) -> Solution:
        result = recorder.result(proof, Counts(steps), self._alpha.copy())
        return Solution(result, self.problem.beta(self._alpha)[self.numbers], proof.thresholds)
