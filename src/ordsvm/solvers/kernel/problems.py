"""Several problems over the same samples, as one-vs-one and NPSVOR make them: one after the other, on one kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordsvm._typing import Floats
from ordsvm.kernels import Custom, Kernel, KernelMatrix, Precomputed
from ordsvm.problem import Problem
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.run import Solver, solve
from ordsvm.solvers.recorder import stopped_before_it_began
from ordsvm.solvers.solution import Solution

MOST_OWN_SAMPLES = 0.7  # share of the samples up to which a problem gets a matrix of its own


@dataclass(frozen=True)
class SharedMatrix:
    """The kernel matrix of all samples, with rows that all problems share.

    A problem about few of them, as one class against another, has a matrix of its own if Block solves it, which makes
    values of K anew sooner than it finds them in long rows.
    """

    kernel: Kernel
    samples: Any
    cache_size: float
    matrix: KernelMatrix

    @classmethod
    def of(cls, kernel: Kernel, samples: Any, cache_size: float) -> SharedMatrix:
        return cls(kernel, samples, cache_size, KernelMatrix.of(kernel, samples, cache_size))

    def solve(self, problem: Problem, solver: Solver, control: Control, start: Floats | None) -> Solution:
        if control.monitor is None and isinstance(solver, Block) and not isinstance(self.kernel, Precomputed | Custom):
            small, samples = problem.restricted_to_its_samples()
            if len(samples) <= MOST_OWN_SAMPLES * problem.n_samples:
                self.matrix.release_rows()  # the budget is for both
                matrix = KernelMatrix(self.kernel.rows(self.samples[samples]), self.cache_size)
                solution = solve(small, matrix, solver, control, start)
                beta = np.zeros(problem.n_samples)
                beta[samples] = solution.beta
                return replace(solution, beta=beta)
        return solve(problem, self.matrix, solver, control, start)


def solve_each(
    problems: Sequence[Problem],
    starts: Sequence[Floats | None],
    matrix: SharedMatrix,
    solver: Solver,
    control: Control,
) -> list[Solution]:
    """One problem after the other.

    max_iter is for each of them; time_limit is for all: what is left of it is divided among those to come. After a
    callback has stopped one, or all time is spent, the others stay at their start.
    """
    solutions: list[Solution] = []
    for problem, start in zip(problems, starts, strict=True):
        own, stopped_by = _share(control, solutions, len(problems) - len(solutions))
        solution = matrix.solve(problem, solver, own, start)
        if stopped_by:
            solution = replace(solution, result=stopped_before_it_began(solution.result, stopped_by))
        solutions.append(solution)
    return solutions


def _share(control: Control, solutions: Sequence[Solution], n_left: int) -> tuple[Control, str]:
    """The limits of the next problem, and what keeps it at its start, if anything does."""
    stopped_by = ""
    if control.time_limit is not None:
        left = control.time_limit - sum(solution.result.seconds for solution in solutions)
        control = replace(control, time_limit=left / n_left)
        stopped_by = "time_limit" if left <= 0 else ""
    if solutions and solutions[-1].result.status == "callback":
        stopped_by = "callback"
    return replace(control, max_iter=0) if stopped_by else control, stopped_by
