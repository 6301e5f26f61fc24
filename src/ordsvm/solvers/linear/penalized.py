"""SVOR and RedSVM with a linear kernel, by the solver of linear machines: one weight vector instead of kernel rows.

All offsets are taken to be 1, and the hinges of samples of a rank to differ in C only: so a `LabelTable` has them.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from ordsvm._typing import Floats, Ints
from ordsvm.checkpoint import Keeper, State
from ordsvm.kernels import Linear
from ordsvm.problem import Certificate, Hinges, Problem
from ordsvm.problem.label_table import LabelTable
from ordsvm.result import FitResult
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.linear.solve import solve_linear
from ordsvm.solvers.recorder import continued, facts_of, result_of
from ordsvm.solvers.solution import LinearSolution, Solution

NEXT_TOLERANCE = 0.1  # of the gap, as a share of the last one, where the violation is still above tol
LEAST_TOLERANCE = 1e-13  # no gap in float64 is finer
BOUND_ROUNDINGS = 4  # by which the solver's bound of a variable may differ from the cap of its hinge


def solve_penalized(
    codes: Ints,
    X: Any,
    solver: RankDCD,
    problem: Problem,
    control: Control,
    start: Floats | None,
) -> Solution:
    """The problem of samples X with ranks `codes` until gap and violation are within tol, as in kernel machines.

    The solver stops by the gap only: where the violation is above tol then, it goes on to a finer one. max_iter counts
    passes over the samples.
    """
    began = time.perf_counter()
    table, weight = _table(problem, codes)
    kept = _KeptRuns(control)
    variables = None if start is None else _signed(problem, start)
    begun = None if variables is None else (variables, -variables.sum(axis=0))
    labels, results = codes.astype(np.int32), kept.results
    current = replace(_finer(control, results, kept.tol, 0.0), keeper=kept.keeper(kept.tol))
    while True:
        found = solve_linear(X, labels, table, weight=weight, solver=solver, control=current, start=begun)
        results.append(found.result)
        alpha, proof = _proof(problem, found, X)
        is_solved = max(proof.violation, proof.relative_gap) <= control.tol
        if is_solved or not found.result.converged or current.tol <= LEAST_TOLERANCE:
            break
        begun = found.beta.array(), found.intercept
        tol = max(LEAST_TOLERANCE, NEXT_TOLERANCE * current.tol)
        current = replace(_finer(control, results, tol, time.perf_counter() - began), keeper=kept.keeper(tol))
    status = "converged" if is_solved else "precision" if found.result.converged else found.result.status
    return Solution(continued(results, status, proof, alpha), problem.beta(alpha), proof.thresholds)


def _proof(problem: Problem, found: LinearSolution, X: Any) -> tuple[Floats, Certificate]:
    """α of every hinge, and what it proves as a solution of the kernel problem."""
    hinges = problem.hinges
    alpha = np.clip(hinges.sign * found.beta.array()[hinges.sample, hinges.threshold], 0.0, hinges.cap)
    # The solver's bound, a rank's cap times a sample's weight in its own precision, is the cap of the hinge but for
    # rounding. A variable at that bound is at its cap, or it would count as free.
    rounding = BOUND_ROUNDINGS * max(np.finfo(part.dtype).eps for part in found.beta.parts)
    alpha = np.where(alpha >= (1.0 - rounding) * hinges.cap, hinges.cap, alpha)
    beta = problem.beta(alpha)
    return alpha, problem.certificate(alpha, Linear().scores(X, X, beta))


class _KeptRuns:
    """The runs at ever finer tolerances, as a checkpoint keeps them: the results of those before, and the present one.

    results, tol   those of an earlier call, and the tolerance of the run that it was in
    """

    def __init__(self, control: Control) -> None:
        self._keeper = control.keeper
        self.tol, self.results, self._resumed = control.tol, list[FitResult](), None
        if control.keeper is not None and control.keeper.resumed is not None:
            parts = control.keeper.resumed.parts()
            facts, self._resumed = parts["runs"].facts, parts["run"]
            self.tol = float(facts["tol"])
            self.results = [result_of(each, np.empty(0)) for each in facts["results"]]

    def keeper(self, tol: float) -> Keeper | None:
        """For the next run, to this tolerance."""
        if self._keeper is None:
            return None
        facts = {"tol": tol, "results": [facts_of(result) for result in self.results]}
        resumed, self._resumed = self._resumed, None
        return self._keeper.part(resumed, lambda state: State.joined({"runs": State(facts), "run": state}))


def _finer(control: Control, results: list[FitResult], tol: float, spent: float) -> Control:
    """What is left of the limits, for a gap that is nearer to 0."""
    passes = sum(result.n_iter for result in results)
    return replace(
        control,
        tol=tol,
        max_iter=control.max_iter if control.max_iter < 0 else max(0, control.max_iter - passes),
        time_limit=None if control.time_limit is None else max(1e-9, control.time_limit - spent),
    )


def _table(problem: Problem, codes: Ints) -> tuple[LabelTable, Floats]:
    """Signs and caps of a rank, as its sample with the largest C has them, and the C of samples as a share of that."""
    shape = problem.n_samples, problem.n_thresholds
    hinges, sign, cap = problem.hinges, -np.ones(shape), np.zeros(shape)
    sign[hinges.sample, hinges.threshold] = hinges.sign
    cap[hinges.sample, hinges.threshold] = hinges.cap
    C = cap.max(axis=1)
    ascending = np.lexsort((C, codes))  # the last of every rank has its largest C
    ranks = np.unique(codes)
    model = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    model[ranks] = ascending[np.searchsorted(codes[ascending], ranks, side="right") - 1]
    return LabelTable.of_thresholds(sign[model], cap[model]), C / np.maximum(C[model[codes]], np.finfo(float).tiny)


def _signed(problem: Problem, alpha: Floats) -> Floats:
    """α as linear machines keep it: with its sign, a row for every sample, a column for every threshold."""
    hinges: Hinges = problem.hinges
    variables = np.zeros((problem.n_samples, problem.n_thresholds))
    variables[hinges.sample, hinges.threshold] = hinges.sign * alpha
    return variables
