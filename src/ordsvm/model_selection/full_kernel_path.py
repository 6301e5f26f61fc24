"""Fits along rising C where all kernel values are in memory, by a solver that is made for it: cpp/search."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm.estimators.kernel import KernelMachine, Task
from ordsvm.kernels.full_kernel import KnownKernel, KnownMatrix
from ordsvm.model_selection.paths import Samples, prices_follow, train_anew
from ordsvm.problem import Certificate, Problem, Treatment
from ordsvm.result import FitResult
from ordsvm.solvers import Solution
from ordsvm.solvers.kernel.block.newton import NEARER, Point, near_enough, newton
from ordsvm.solvers.kernel.run import core_table

Floats = NDArray[np.float64]

MOST_ATTEMPTS = 10  # by Newton's method, and at the gap of ordered thresholds
GOOD_START = 0.05  # relative gap of a start that is not compared with another one


class Memory:
    """What fits of a fold with one kernel leave to those with the next.

    prepared    samples, targets and problems of every path, by its name
    alpha       dual variables by the path's name, C and the number of the problem
    """

    def __init__(self) -> None:
        self.prepared: dict[Hashable, tuple[Any, Any, Task]] = {}
        self.alpha: dict[tuple[Hashable, float, int], Floats] = {}


class KnownWalk:
    """A machine on a path of prices, as `Walk`. Its samples are numbers, and so its kernel knows them all.

    The problems are about all samples that the kernel knows. Those that are not trained on have no hinges: their scores
    come for nothing, and the machine is tested without another product. What the solver of the core cannot do, such as
    a tolerance that is finer than sums are, the machine does by itself.
    """

    def __init__(
        self,
        machine: KernelMachine,
        train: Samples,
        name: Hashable,
        *,
        kernel: KnownKernel,
        beside: Memory,
        mine: Memory,
    ) -> None:
        self.machine = machine
        self.train = train
        self.kernel = kernel
        self._beside, self._mine = beside, mine
        self._name = name
        self._paths: list[ProblemPath] = []

    def fit(self, C: float) -> Any:
        machine, mine = self.machine, self._mine
        machine.C = C
        if not prices_follow(machine):
            return train_anew(machine, self.train)
        X, target, task = self._prepare()
        solutions: list[Solution] = []
        for number, path in enumerate(self._paths):
            start = self._beside.alpha.get((self._name, C, number))
            solution = path.solve(C, float(machine.tol), start)
            if solution is None:
                return machine._fit_task(X, target, task.at_price(C))
            solutions.append(solution)
            mine.alpha[self._name, C, number] = solution.result.alpha
        scores = np.column_stack([path.scores() for path in self._paths])
        machine._keep(X, KnownKernel(self.kernel.known, scores), solutions, task.order)
        machine._recover(task, target, solutions)
        machine._fingerprint = ""  # of no data: samples are numbers
        return machine

    def _prepare(self) -> tuple[Any, Any, Task]:
        """The problems at C = 1, which do not depend on the kernel."""
        mine = self._mine.prepared
        if self._name in self._beside.prepared:
            mine.setdefault(self._name, self._beside.prepared[self._name])
        if self._name not in mine:
            C = float(self.machine.C)
            X, target, task = self.machine._prepare(self.train.X, self.train.y, self.train.weight)
            mine[self._name] = X, target, task.at_price(1.0 / C)
        X, _, task = mine[self._name]
        if not self._paths:
            self.machine.n_features_in_ = 1
            numbers = X[task.order, 0].astype(np.int32)
            self._paths = [ProblemPath(self.kernel.known, problem, numbers) for problem in task.problems]
        return mine[self._name]


class ProblemPath:
    """One problem at rising prices: every fit starts from the best multiple of the α before."""

    def __init__(self, known: _core.Known, problem: Problem, numbers: NDArray[np.int32]) -> None:
        hinges = replace(problem.hinges, sample=numbers[problem.hinges.sample])
        self.known = known
        self.numbers = numbers
        self.problem = replace(problem, hinges=hinges, n_samples=len(known))
        self._cap, self._price = hinges.cap, 1.0
        self._alpha = np.zeros(len(hinges))
        self._score = np.zeros(known.stride)
        self._threshold = np.zeros(problem.n_thresholds)
        self._active = np.zeros(1, dtype=np.int64)

    def solve(self, price: float, tol: float, other: Floats | None) -> Solution | None:
        """At so many times the price of the table; None if the core does not get there.

        `other`: α of the same price with another kernel, which may be a better start.
        """
        began = time.perf_counter()
        self._stretch(price / self._price)
        self._price = price
        self.problem = replace(self.problem, hinges=replace(self.problem.hinges, cap=price * self._cap))
        table, live, aim, near, steps = core_table(self.problem), self._live(), tol, near_enough(self.problem), 0
        if other is not None and len(other) == len(self._alpha):
            self._compare(table, live, other)
        for _ in range(MOST_ATTEMPTS):
            fit = self.known.solve(table, live, aim, near)
            steps += fit.steps
            if fit.near:
                near = NEARER * min(near, self._jump(aim))
                continue
            if not fit.converged:
                return None
            proof = self._proof(fit)
            if proof.relative_gap <= tol:
                return self._solution(proof, steps, time.perf_counter() - began)
            aim *= 0.5 * tol / proof.relative_gap
        return None

    def _jump(self, tol: float) -> float:
        """To where Newton's method leads, if it leads anywhere. Returns the violation there, or here."""
        point = newton(self.problem, KnownMatrix(self.known), Point(self._alpha.copy(), self.scores().copy()), tol)
        if point is not None:
            self._alpha[:], self._score[: len(self.known)] = point.alpha, point.score
            if self.problem.treatment is Treatment.PENALIZED:
                self._threshold[:] = -self.problem.gamma(self._alpha)
        return self.problem.violation(self._alpha, self.scores())

    def scores(self) -> Floats:
        """Of all samples."""
        return self._score[: len(self.known)]

    def _stretch(self, most: float) -> None:
        """Takes t·α for α, with the t up to `most` for which the dual objective, t·o'α − ½t²·(β'Kβ + γ'γ), is largest.

        Hinges at their caps want to follow the price and others do not: this is where they meet.
        """
        penalized = self.problem.treatment is Treatment.PENALIZED
        square = np.sum(self.problem.beta(self._alpha) * self.scores())
        square += np.sum(self.problem.gamma(self._alpha) ** 2) if penalized else 0.0
        if square > 0:
            best = min(most, max(1.0, float(np.sum(self.problem.hinges.offset * self._alpha) / square)))
            for values in (self._alpha, self._score, self._threshold):
                values *= best

    def _compare(self, table: _core.Table, live: _core.LiveArrays, other: Floats) -> None:
        """Starts from the other α if it is the better one.

        Of later fits only those with penalised thresholds ask. There the hinges at their caps change with C, from
        all of them to a few; elsewhere the product costs more than it saves.
        """
        penalized = self.problem.treatment is Treatment.PENALIZED
        if not self._alpha.any() or (penalized and self.known.prove(table, live).relative_gap > GOOD_START):
            score = np.empty_like(self._score)
            beta = self.problem.beta(other)
            self.known.product(beta, score)
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

    def _solution(self, proof: Certificate, steps: int, seconds: float) -> Solution:
        result = FitResult(
            status="converged",
            solver="search",
            n_iter=steps,
            objective=proof.primal,
            gap=proof.gap,
            relative_gap=proof.relative_gap,
            violation=proof.violation,
            seconds=seconds,
            kernel_rows=0,
            alpha=self._alpha.copy(),
        )
        return Solution(result, self.problem.beta(self._alpha)[self.numbers], proof.thresholds)
