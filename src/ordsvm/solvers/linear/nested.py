"""Linear machines at rising C on several folds, by the interior-point method: in the same passes, each from the last.

Where the weights of a fit are within tol at the next C too (neighbour.py), that one is done without a pass. Otherwise
it starts from them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordsvm._typing import Floats
from ordsvm.problem import Certificate
from ordsvm.rows.folded_rows import FoldedRows, FoldRows, SharedBlock
from ordsvm.solvers.blas import blas_threads, threads_for
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.feature_task import NOTHING, FeatureRows, FeatureTask
from ordsvm.solvers.linear.interior_point import FeatureNewton, LinearInteriorPoint
from ordsvm.solvers.linear.neighbour import Neighbour
from ordsvm.solvers.linear.solve import start_of
from ordsvm.solvers.recorder import Recorder
from ordsvm.solvers.solution import DualVariables, LinearSolution


@dataclass(frozen=True)
class NestedTask:
    """A problem on the rows of a fold, and the factors of its caps, rising."""

    fold: int
    task: FeatureTask
    factors: Sequence[float]
    control: Control


@dataclass(frozen=True)
class Found:
    """A solution: the number of its task and that of the factor."""

    task: int
    factor: int
    solution: LinearSolution


def solve_nested(rows: FoldedRows, tasks: Sequence[NestedTask]) -> Iterator[Found]:
    """All solutions, as they are found. Every row block is handed to all unfinished fits before the next one."""
    chains = [_Chain(number, task, rows) for number, task in enumerate(tasks)]
    while chains:
        found: list[Found] = []
        with blas_threads(threads_for(rows.n_features, tasks[0].control.n_threads)):
            for chain in chains:
                found += chain.begin()
            for block in rows.blocks:
                for chain in chains:
                    chain.add(block)
            for chain in chains:
                found += chain.end()
        chains = [chain for chain in chains if not chain.is_done]
        yield from found


class NestedFit(FeatureNewton):
    """A fit in shared passes, with a clock that stands still while others work."""

    def __init__(self, rows: FoldRows, task: FeatureTask, control: Control) -> None:
        self._paused = time.perf_counter()
        super().__init__(FeatureRows(rows), task, control, self._paused)
        self.is_nested = False
        self._is_cut = False

    @contextmanager
    def at_work(self) -> Iterator[None]:
        self.recorder.started += time.perf_counter() - self._paused
        try:
            yield
        finally:
            self._paused = time.perf_counter()

    def start(self, before: NestedFit | None, ratio: float) -> None:
        """From the fit at 1 / ratio times these caps, where that is near; otherwise from weights 0."""
        near = None if before is None else before.neighbour(ratio)
        self.is_nested = self._start(start_of(self.task), near)

    def begin(self) -> None:
        self._is_cut = False
        self._begin_pass()

    def add(self, block: SharedBlock, fold: int) -> None:
        if not self._is_cut:
            self._is_cut = not self.core.add(block.rows, block.first[fold], self)

    def end(self) -> LinearSolution | None:
        """Ends the pass; the solution, if that was the last one."""
        if not self._is_cut:
            self._end_pass()
        return self._solution() if self._ends() else None

    # At another C

    def neighbour(self, ratio: float) -> Neighbour:
        proof = self._certificate()
        return Neighbour([path.best for path in self.paths], ratio, proof.primal, proof.gap)

    def proof_at(self, ratio: float) -> Certificate | None:
        """What weights and ratio · α prove at `ratio` times the caps; None where there is no α."""
        proof = self._certificate()
        primal = dual = 0.0
        for path in self.paths:
            if path.system is None or not np.isfinite(path.primal) or path.dual < 0.0:
                return None
            norm, by_alpha = path.best.squared_norm(), path.system.by_alpha.squared_norm()
            primal += 0.5 * norm + ratio * (path.primal - 0.5 * norm)
            dual += ratio * path.system.linear - 0.5 * ratio**2 * by_alpha
        return replace(proof, primal=primal, dual=dual, gap=max(0.0, primal - dual))

    def solution_at(self, ratio: float) -> LinearSolution | None:
        """The solution at `ratio` times the caps, where these weights are within tol of it."""
        proof = self.proof_at(ratio)
        if proof is None or not proof.relative_gap <= self.control.tol:
            return None
        here, counts = self._solution(), self._counts()._replace(n_iter=0)
        result = Recorder(LinearInteriorPoint(), self.control).result(proof, counts, NOTHING, "converged")
        return replace(here, beta=DualVariables(_Beta(self._beta, ratio)), result=result)

    def _dual_variables(self) -> DualVariables:
        return DualVariables(_Beta(self._beta, 1.0))


@dataclass(frozen=True)
class _Beta(Sequence[Floats]):
    """β times a factor, made where it is read: scores need none."""

    beta: Callable[[], Floats]
    factor: float

    def __len__(self) -> int:
        return 1

    def __getitem__(self, part: Any) -> Any:
        return [self.factor * self.beta()][part]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class _Chain:
    """The fits of a task, one after the other."""

    def __init__(self, number: int, nested: NestedTask, rows: FoldedRows) -> None:
        self._number, self._nested, self._rows = number, nested, rows.fold(nested.fold)
        self._at = 0  # the factor that is worked on
        self._fit: NestedFit | None = None
        self._before: tuple[NestedFit, float] | None = None

    @property
    def is_done(self) -> bool:
        return self._at == len(self._nested.factors)

    def begin(self) -> list[Found]:
        """Begins a pass, of the next fit if need be; what is found without one."""
        found: list[Found] = []
        while self._fit is None and not self.is_done:
            ready = self._ready()
            if ready is None:
                self._fit = self._next()
            else:
                found.append(self._found(ready))
        if self._fit is not None:
            with self._fit.at_work():
                self._fit.begin()
        return found

    def add(self, block: SharedBlock) -> None:
        if self._fit is not None and self._nested.fold in block.first:
            with self._fit.at_work():
                self._fit.add(block, self._nested.fold)

    def end(self) -> list[Found]:
        if self._fit is None:
            return []
        with self._fit.at_work():
            solution = self._fit.end()
        if solution is None:
            return []
        fit, self._fit, self._before = self._fit, None, None
        if not solution.result.converged and fit.is_nested:
            return []  # once more, from weights 0
        if solution.result.converged:
            self._before = fit, self._nested.factors[self._at]
        return [self._found(solution)]

    def _found(self, solution: LinearSolution) -> Found:
        self._at += 1
        return Found(self._number, self._at - 1, solution)

    def _ready(self) -> LinearSolution | None:
        if self._before is None:
            return None
        fit, factor = self._before
        return fit.solution_at(self._nested.factors[self._at] / factor)

    def _next(self) -> NestedFit:
        factor = self._nested.factors[self._at]
        task = replace(self._nested.task, table=self._nested.task.table.times(factor))
        fit = NestedFit(self._rows, task, self._nested.control)
        with fit.at_work():
            before, its_factor = self._before or (None, factor)
            fit.start(before, factor / its_factor)
        self._before = None  # its α are of no use any more
        return fit
