"""All problems of a machine of several, as one-vs-one, one-vs-rest and NPSVOR make them, in one call of the core.

Problems are tasks of its threads, rows of K that they share are made once, and the core proves what it has found:
cpp/solvers/together. What it leaves unfinished (Newton's method would end sooner, or steps get nowhere) goes on one
problem after the other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.checks import usable_threads
from ordsvm.kernels import KernelMatrix
from ordsvm.problem import Problem
from ordsvm.solvers.blas import blas_threads
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.block.block import (
    NEWTON_NEXT_VIOLATION,
    NEWTON_START_VIOLATION,
    Block,
    BlockFromNewton,
)
from ordsvm.solvers.kernel.block.newton import Point, newton
from ordsvm.solvers.kernel.problems import SharedMatrix, solve_each
from ordsvm.solvers.kernel.run import STEPS_BEFORE_LAST_RESORT, STEPS_OF_A_HINGE, Solver, refutes_kernel
from ordsvm.solvers.recorder import LOOK_INTERVAL, Figures, after, proven
from ordsvm.solvers.solution import Solution

MOST_ATTEMPTS = 5  # of Newton's method on a problem, before the others have it
UNREACHABLE = 10**9  # steps: max_iter from here on is no limit, as they would take minutes a problem
CONVERGED = 0  # how the core says that a problem has ended
SECONDS = 5  # the place of this figure
N_FIGURES_OF_A_LOOK = 11


@dataclass(frozen=True)
class Together:
    """The solver of machines of several problems, chosen by "auto", without options; named "together" in results."""

    name: ClassVar[str] = "together"


def can_solve_together(control: Control) -> bool:
    """Whether nothing is to be seen or limited on the way that only problems one after the other show or keep."""
    watched = control.callback is not None or control.verbose or control.report_every > 0
    limited = 0 <= control.max_iter < UNREACHABLE
    return not watched and not limited and control.monitor is None and control.keeper is None


def solve_together(
    problems: Sequence[Problem],
    starts: Sequence[Floats | None],
    shared: SharedMatrix,
    solver: Solver,
    control: Control,
) -> list[Solution] | None:
    """Solutions of all problems, each with its proof; None where their rows of K need more memory than there is.

    The time limit is for all. Where the core hands over to Newton's method and all problems are about all samples, so
    that scores are known, it goes on from where that leads. What is unfinished then goes on one by one: by the last
    resort where steps got nowhere, else by `solver`.
    """
    deadline = None if control.time_limit is None else time.perf_counter() + control.time_limit
    newton_share = NEWTON_START_VIOLATION
    solutions = _in_one_call(problems, starts, shared.matrix, control, newton_share)
    if solutions is None:
        return None
    for _ in range(MOST_ATTEMPTS):
        rest = _may_jump(solutions)
        if not rest or _is_over(deadline):
            break
        newton_share *= NEWTON_NEXT_VIOLATION
        ahead = [_jump(problems[number], shared.matrix, solutions[number], control, deadline) for number in rest]
        left = _time_left(control, deadline)
        found = _in_one_call([problems[number] for number in rest], ahead, shared.matrix, left, newton_share)
        _replace(solutions, rest, found or ())
    unfinished = [number for number, each in enumerate(solutions) if not each.result.converged]
    last_resort = control.last_resort
    parts: dict[bool, list[int]] = {True: [], False: []}
    for number in unfinished:
        parts[last_resort is not None and _is_exhausted(solutions[number])].append(number)
    for rest, then in ((parts[True], last_resort), (parts[False], partial(_goes_on, solver))):
        if rest and then is not None:
            alphas = [solutions[number].result.alpha for number in rest]
            left, one = _time_left(control, deadline), partial(shared.solve, then())
            _replace(solutions, rest, solve_each([problems[number] for number in rest], alphas, left, one))
    return [_judged(problem, shared.matrix, each) for problem, each in zip(problems, solutions, strict=True)]


def _judged(problem: Problem, matrix: KernelMatrix, solution: Solution) -> Solution:
    """The solution with the status "gap", if its proof shows that the kernel is not positive semidefinite."""
    result = solution.result
    if not result.converged or not refutes_kernel(problem, matrix, result.alpha, result.objective - result.gap):
        return solution
    return replace(solution, result=replace(result, status="gap"))


def _goes_on(solver: Solver) -> Solver:
    """The solver of what the core hands over, where this one would have solved all of it."""
    return BlockFromNewton(**vars(solver)) if type(solver) is Block else solver


def _most_steps(n_hinges: int) -> int:
    return STEPS_BEFORE_LAST_RESORT + STEPS_OF_A_HINGE * n_hinges


def _is_exhausted(solution: Solution) -> bool:
    """Whether a problem has had all of its steps."""
    return solution.result.n_iter >= _most_steps(len(solution.result.alpha))


def _may_jump(solutions: Sequence[Solution]) -> list[int]:
    """The problems that Newton's method may go on with, from known scores."""
    rest = [number for number, each in enumerate(solutions) if not each.result.converged and not _is_exhausted(each)]
    return [number for number in rest if solutions[number].score is not None]


def _in_one_call(
    problems: Sequence[Problem],
    starts: Sequence[Floats | None],
    matrix: KernelMatrix,
    control: Control,
    newton_share: float,
) -> list[Solution] | None:
    tables = _Tables(problems)
    alpha = tables.start(problems, starts)
    score = np.zeros(tables.n_problems * tables.n_samples) if tables.have_all_samples else None
    options = _core.TogetherOptions(
        tol=control.tol,
        newton_share=newton_share,
        max_steps=STEPS_BEFORE_LAST_RESORT,
        max_steps_a_hinge=STEPS_OF_A_HINGE,
        seconds=control.time_limit or 0.0,
        look_seconds=LOOK_INTERVAL,
        budget=matrix.budget,
        n_threads=usable_threads(control.n_threads),
    )
    began = time.perf_counter()
    found = _core.solve_together(matrix.rows, tables.native(), alpha, score, options)
    if found is None:
        return None
    figures, looks = found[0].reshape(len(problems), -1), found[1].reshape(-1, N_FIGURES_OF_A_LOOK)
    share = (time.perf_counter() - began) / max(figures[:, SECONDS].sum(), 1e-12)
    figures[:, SECONDS] *= share  # problems are solved at the same time: theirs add up to that of the call
    looks[:, SECONDS] *= share
    return tables.solutions(alpha, score, figures, looks)


def _jump(problem: Problem, matrix: KernelMatrix, found: Solution, control: Control, deadline: float | None) -> Floats:
    """The α that Newton's method leads to; the one found, if it has no result."""
    alpha, score = found.result.alpha, found.score
    if score is None or not alpha.any():
        return alpha
    with blas_threads(1):
        start, threads = Point(alpha.copy(), score.copy()), usable_threads(control.n_threads)
        point = newton(problem, matrix, start, control.tol, threads, lambda: _is_over(deadline))
    return alpha if point is None else point.alpha


def _replace(solutions: list[Solution], which: Sequence[int], found: Sequence[Solution]) -> None:
    """Solutions by those that go on from them."""
    for number, then in zip(which, found, strict=False):
        solutions[number] = replace(then, result=after(solutions[number].result, then.result))


def _is_over(deadline: float | None) -> bool:
    _core.check_ended()
    return deadline is not None and time.perf_counter() >= deadline


def _time_left(control: Control, deadline: float | None) -> Control:
    if deadline is None:
        return control
    return replace(control, time_limit=max(1e-9, deadline - time.perf_counter()))


class _Tables:
    """The hinges of all problems, one table after the other."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        tables = [problem.hinges for problem in problems]
        self.n_problems, self.n_samples = len(problems), problems[0].n_samples
        self.treatment = problems[0].treatment
        self.sample = np.concatenate([table.sample for table in tables])
        self.sign = np.concatenate([table.sign for table in tables])
        self.offset = np.concatenate([table.offset for table in tables])
        self.cap = np.concatenate([table.cap for table in tables])
        self.lengths = np.array([len(table) for table in tables])
        self.begin = np.concatenate([[0], np.cumsum(self.lengths)])
        self.have_all_samples = all(len(table) >= self.n_samples for table in tables) and all(
            problem.uses_all_samples() for problem in problems
        )

    def native(self) -> _core.Tables:
        treatment = getattr(_core.Treatment, self.treatment.value)
        return _core.Tables(
            self.sample, self.sign, self.offset, self.cap, self.begin, n_samples=self.n_samples, treatment=treatment
        )

    def start(self, problems: Sequence[Problem], starts: Sequence[Floats | None]) -> Floats:
        """α of all problems to start from, made feasible."""
        alpha = np.zeros(self.begin[-1])
        for number, (problem, start) in enumerate(zip(problems, starts, strict=True)):
            if start is not None:
                alpha[self.begin[number] : self.begin[number + 1]] = problem.repair(start)
        return alpha

    def solutions(self, alpha: Floats, score: Floats | None, found: Floats, looked: Floats) -> list[Solution]:
        """What the core has found, problem by problem; β of all of them is one array."""
        place = np.repeat(self.n_samples * np.arange(self.n_problems), self.lengths) + self.sample
        beta = np.bincount(place, self.sign * alpha, self.n_problems * self.n_samples)
        beta = beta.reshape(self.n_problems, self.n_samples)
        thresholds, looks = found[:, 4:5].copy(), _by_problem(looked)
        ends, solver = self.begin.tolist(), Together()
        made = []
        for number, own in enumerate(found.tolist()):
            status = "converged" if own[8] == CONVERGED else "time_limit"
            part = alpha[ends[number] : ends[number + 1]]
            result = proven(solver, status, Figures(*own[:8]), part, looks.get(number, ()))
            scores = None if score is None else score[number * self.n_samples : (number + 1) * self.n_samples]
            made.append(Solution(result, beta[number], thresholds[number], scores))
        return made


def _by_problem(looked: Floats) -> dict[int, list[tuple[Figures, int, float]]]:
    """The looks of every problem that lasted long enough for one."""
    looks: dict[int, list[tuple[Figures, int, float]]] = {}
    for *figures, n_support, dual_threshold, problem in looked.tolist():
        looks.setdefault(int(problem), []).append((Figures(*figures), int(n_support), dual_threshold))
    return looks
