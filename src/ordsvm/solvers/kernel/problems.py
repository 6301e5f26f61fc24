"""Several problems over the same samples, as one-vs-one and NPSVOR make them, on one kernel matrix."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ordsvm._typing import Floats
from ordsvm.kernels import Custom, Kernel, KernelMatrix, Precomputed
from ordsvm.problem import Problem
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.kept import KeptProblems
from ordsvm.solvers.kernel.proximal_newton.proximal_newton import ProximalNewton
from ordsvm.solvers.kernel.run import Solver, solve
from ordsvm.solvers.recorder import after, stopped_before_it_began
from ordsvm.solvers.solution import Solution

LEAST_SHARE = 0.5  # of an even share of the time limit
MOST_OVERRUN = 1.5  # times the time limit, before problems stay at their start
LEAST_REST = 0.02  # of the time limit, to be divided once more
MOST_OWN_SAMPLES = 0.7  # share of the samples up to which a problem gets a matrix of its own


@dataclass(frozen=True)
class SharedMatrix:
    """The kernel matrix of all samples, with rows that all problems share.

    A problem about few of them, as one class against another, has a matrix of its own if Block or ProximalNewton solves
    it: they make values of K anew sooner than they find them in long rows, or never have rows.
    """

    kernel: Kernel
    samples: Any
    cache_size: float
    matrix: KernelMatrix

    @classmethod
    def of(cls, kernel: Kernel, samples: Any, cache_size: float, n_problems: int) -> SharedMatrix:
        """What a solver prepares for one problem is kept where others follow."""
        matrix = KernelMatrix.of(kernel, samples, cache_size)
        if n_problems > 1:
            matrix.shared = {}
        return cls(kernel, samples, cache_size, matrix)

    def solve(self, solver: Solver, problem: Problem, control: Control, start: Floats | None) -> Solution:
        has_values = isinstance(solver, Block | ProximalNewton) and not isinstance(self.kernel, Precomputed | Custom)
        if control.monitor is None and has_values:
            small, samples = problem.restricted_to_its_samples()
            if len(samples) <= MOST_OWN_SAMPLES * problem.n_samples:
                self.matrix.release_rows()  # the budget is for both
                matrix = KernelMatrix.of(self.kernel, self.samples[samples], self.cache_size)
                solution = solve(small, matrix, solver, control, start)
                beta = np.zeros(problem.n_samples)
                beta[samples] = solution.beta
                return replace(solution, beta=beta, score=None)
        return solve(problem, self.matrix, solver, control, start)


Solve = Callable[[Problem, Control, Floats | None], Solution]


def solve_with_last_resort(
    first: Solve, second: Solve, steps: int, problem: Problem, control: Control, start: Floats | None
) -> Solution:
    """By `first`, and where that has not converged after so many steps, or by itself, from there by `second`."""
    began, most = time.perf_counter(), control.max_iter
    found = first(problem, replace(control, max_iter=steps if most < 0 else min(most, steps)), start)
    result = found.result
    if result.status not in ("max_iter", "precision") or 0 <= most <= result.n_iter:
        return found
    control = replace(control, max_iter=most if most < 0 else most - result.n_iter, keeper=None)
    if control.time_limit is not None:
        control = replace(control, time_limit=max(1e-9, control.time_limit - (time.perf_counter() - began)))
    other = second(problem, control, result.alpha)
    return replace(other, result=after(result, other.result))


def solve_each(
    problems: Sequence[Problem], starts: Sequence[Floats | None], control: Control, solve_one: Solve
) -> list[Solution]:
    """One problem after the other, by `solve_one`; what a checkpoint has of them is not solved again.

    max_iter is for each of them; time_limit is for all: what is left of it is divided among those to come, and what
    is left in the end among those that had too little. Where work that can't be interrupted has taken more, those to
    come have half of an even share. After a callback has stopped one, or half as much time again is spent, the others
    stay at their start.
    """
    solutions: list[Solution] = []
    began, kept = time.perf_counter(), KeptProblems(problems, control.keeper)
    for number, (problem, start) in enumerate(zip(problems, starts, strict=True)):
        if (known := kept.solution(number)) is not None:
            solutions.append(known)
            continue
        spent = time.perf_counter() - began if number else 0.0
        own, stopped_by = _share(control, solutions, spent, len(problems))
        solution = solve_one(problem, replace(own, keeper=kept.keeper(number)), start)
        if stopped_by:
            solution = replace(solution, result=stopped_before_it_began(solution.result, stopped_by))
        kept.add(number, solution)
        solutions.append(solution)
    if control.time_limit is not None and len(problems) > 1:
        _share_the_rest(problems, solutions, control, began, partial(_go_on, kept, solve_one))
    kept.finish()
    return solutions


GoOn = Callable[[int, Problem, Control, Solution], Solution]


def _share_the_rest(
    problems: Sequence[Problem], solutions: list[Solution], control: Control, began: float, go_on: GoOn
) -> None:
    """Divides the time that is left among the problems whose share was too short, again and again."""
    limit = control.time_limit or 0.0
    left = limit - (time.perf_counter() - began)
    while left > LEAST_REST * limit:
        unfinished = [number for number, each in enumerate(solutions) if each.result.status == "time_limit"]
        if not unfinished or any(each.result.status == "callback" for each in solutions):
            return
        for place, number in enumerate(unfinished):
            share = left / (len(unfinished) - place)
            solutions[number] = go_on(number, problems[number], replace(control, time_limit=share), solutions[number])
            left = limit - (time.perf_counter() - began)
            if left <= 0.0 or solutions[number].result.status == "callback":
                return


def _go_on(
    kept: KeptProblems, solve_one: Solve, number: int, problem: Problem, control: Control, first: Solution
) -> Solution:
    """A problem from where it was; a checkpoint has what came before, its steps included."""
    result, keeper = first.result, kept.keeper(number)
    if keeper is not None and keeper.resumed is not None:
        second = solve_one(problem, replace(control, keeper=keeper), None)
    else:
        steps = control.max_iter if control.max_iter < 0 else max(0, control.max_iter - result.n_iter)
        second = solve_one(problem, replace(control, max_iter=steps, keeper=keeper), result.alpha)
        second = replace(second, result=after(result, second.result))
    kept.add(number, second)
    return second


def _share(control: Control, solutions: Sequence[Solution], spent: float, n_problems: int) -> tuple[Control, str]:
    """The limits of the next problem, and what keeps it at its start, if anything does."""
    stopped_by = ""
    if (limit := control.time_limit) is not None:
        share = max((limit - spent) / (n_problems - len(solutions)), LEAST_SHARE * limit / n_problems)
        stopped_by = "time_limit" if spent >= MOST_OVERRUN * limit else ""
        control = replace(control, time_limit=share)
    if solutions and solutions[-1].result.status == "callback":
        stopped_by = "callback"
    return replace(control, max_iter=0) if stopped_by else control, stopped_by
