"""The solvers by name, and the one call that runs them: `solve`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ordsvm.problem import Problem, Thresholds
from ordsvm.result import FitResult
from ordsvm.solvers.asyagcd import AsyAGCD
from ordsvm.solvers.asygcd import AsyGCD
from ordsvm.solvers.asyorgcd import AsyORGCD
from ordsvm.solvers.base import Control, Floats, KernelMatrix, Run, Solver
from ordsvm.solvers.block import Block
from ordsvm.solvers.decomposition import Decomposition
from ordsvm.solvers.gcd import GCD
from ordsvm.solvers.parsmo import ParsmoCache, ParsmoLight
from ordsvm.solvers.smo import SMO

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
    "choose",
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


def choose(solver: str | Solver, thresholds: Thresholds, cheap_rows: bool = True) -> Solver:
    """The solver that a name, "auto" or an options object stands for, if it can treat these thresholds.

    "auto" is Block where rows of K are cheap, else SMO or GCD, which ask for fewer rows. Times of SMO or GCD as a
    multiple of Block's, california_housing with 5 ranks, γ = 0.5, one thread, tol 1e-3, C = 0.1, 1, 10, 100 (two cores
    with AVX-512; a fit at n = 50 takes 1 to 2 ms, so that below n = 400 it hardly matters):

        n        SVOR (gcd)         SVORIM (smo)       SVOREX (smo)       SVC (smo)          SVR (smo)
          50     1.1  1.1  1.7  2   1.0  1.0  1.2  1.1  1.0  1.0  1.4  1.3  0.9  1.0  0.9  1.1  1.0  1.2  1.2  1.0
         200     1.3  1.7  3.3  4   1.0  1.1  1.7  1.2  1.3  1.0  1.1  1.3  1.0  1.0  1.0  1.2  1.0  1.1  2.1  2.9
         800     2.3  3.0  6.5  8   1.2  1.6  1.8  1.8  1.1  1.2  1.3  1.3  1.0  0.9  1.1  1.2  1.4  1.7  2.9  3.4
        1500     3.2  3.3  8.7  10  1.5  1.7  2.6  2.1  1.5  1.4  1.6  1.4  1.7  1.3  1.1  1.6  1.6  2.3  3.7  4.7
    """
    fitting = [name for name, kind in SOLVERS.items() if thresholds in kind.accepts]
    if isinstance(solver, str):
        if solver == "auto":
            return Block() if cheap_rows else SOLVERS[fitting[0]]()
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
