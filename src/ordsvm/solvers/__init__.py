"""The solvers by name, and the one call that runs them: `solve`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordsvm.problem import Problem, Treatment
from ordsvm.result import FitResult
from ordsvm.solvers.auto import best_solver
from ordsvm.solvers.kernel.asyagcd import AsyAGCD
from ordsvm.solvers.kernel.asygcd import AsyGCD
from ordsvm.solvers.kernel.asyorgcd import AsyORGCD
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.decomposition.decomposition import Decomposition
from ordsvm.solvers.kernel.gcd import GCD
from ordsvm.solvers.kernel.parsmo import ParsmoCache, ParsmoLight
from ordsvm.solvers.kernel.run import Control, Floats, KernelMatrix, Run, Solver
from ordsvm.solvers.kernel.smo import SMO

__all__ = [
    "GCD",
    "SMO",
    "SOLVERS",
    "AsyAGCD",
    "AsyGCD",
    "AsyORGCD",
    "Block",
    "Control",
    "Decomposition",
    "KernelMatrix",
    "ParsmoCache",
    "ParsmoLight",
    "Solution",
    "Solver",
    "check_solver",
    "choose",
    "is_auto",
    "solve",
]

KINDS: tuple[type[Solver], ...] = (SMO, GCD, Block, AsyGCD, AsyAGCD, AsyORGCD, ParsmoLight, ParsmoCache, Decomposition)
SOLVERS: dict[str, type[Solver]] = {solver.name: solver for solver in KINDS}


@dataclass(frozen=True)
class Solution:
    """A solved problem: the proof, the weights β of the samples and the thresholds."""

    result: FitResult
    beta: Floats
    thresholds: Floats


def choose(solver: str | Solver, problem: Problem, matrix: KernelMatrix) -> Solver:
    """The solver that a name, "auto" or an options object stands for, if it can solve this problem."""
    return best_solver(problem, matrix) if is_auto(solver) else check_solver(solver, problem.treatment)


def is_auto(solver: object) -> bool:
    return isinstance(solver, str) and solver == "auto"


def check_solver(solver: str | Solver, thresholds: Treatment) -> Solver:
    """The solver that a name or an options object stands for, if it can treat these thresholds."""
    fitting = [name for name, kind in SOLVERS.items() if thresholds in kind.accepts]
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise ValueError(f"solver={solver!r} is unknown: give 'auto' or one of {', '.join(map(repr, SOLVERS))}.")
        solver = SOLVERS[solver]()
    elif isinstance(solver, type) or not hasattr(solver, "solve") or not hasattr(solver, "accepts"):
        raise ValueError(f"solver={solver!r} is not a solver: give a name or an options object such as SMO().")
    if thresholds not in solver.accepts:
        raise ValueError(
            f"solver={solver.name!r} does not solve problems with {thresholds.value} thresholds: "
            f"use {' or '.join(map(repr, fitting))}."
        )
    return solver


def solve(
    problem: Problem, matrix: KernelMatrix, solver: Solver, control: Control, start: Floats | None = None
) -> Solution:
    """Solves the dual from `start` (made feasible) or from α = 0 and proves how well."""
    run = Run(problem, matrix, control, start)
    run.solver_name = solver.name
    solver.solve(run)
    run.make_feasible()
    certificate = run.certificate()
    if not np.isfinite(certificate.gap):
        raise ValueError(
            "The kernel gives values that are not finite, or too large to add up: scale the features; a polynomial "
            "kernel of broken degree needs gamma·x·y + coef0 ≥ 0."
        )
    status = run.stopped_by
    if status == "converged" and not max(certificate.relative_gap, certificate.violation) <= control.tol:
        status = "gap"
    result = FitResult(
        status=status,
        solver=solver.name,
        n_iter=run.n_iter,
        objective=certificate.primal,
        gap=certificate.gap,
        relative_gap=certificate.relative_gap,
        violation=certificate.violation,
        seconds=run.seconds(),
        kernel_rows=run.kernel_rows,
        alpha=run.alpha,
        history=tuple(run.history),
        best_look=run.best_look,
    )
    return Solution(result, problem.beta(run.alpha), certificate.thresholds)
