"""SVOR and RedSVM with a linear kernel, by the solver of linear machines: one weight vector instead of kernel rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm.kernels import Linear
from ordsvm.linear_problem import ThresholdTable
from ordsvm.problem import Certificate, Hinges, Problem
from ordsvm.result import Progress
from ordsvm.solvers import Control, Solution
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.linear.solution import LinearSolution
from ordsvm.solvers.linear.solve import solve_thresholds

Floats = NDArray[np.float64]
FINER = 0.1  # the next gap asked for where the violation is still above tol
FINEST = 1e-13  # no gap in float64 is finer


def solve_penalized(
    problem: Problem,
    codes: NDArray[np.int64],
    X: Any,
    solver: RankDCD,
    control: Control,
    start: Floats | None,
) -> Solution:
    """The problem of samples X with ranks `codes` until gap and violation are within tol, as kernel machines promise.

    The solver knows the gap only: where the violation is above tol then, it goes on to a finer one. max_iter counts
    passes over the samples.
    """
    table, weight = _table(problem, codes)
    variables = None if start is None else _signed(problem, start)
    begun = None if variables is None else (variables, -variables.sum(axis=0))
    labels, asked = codes.astype(np.int32), control
    passes, seconds = 0, 0.0
    history: tuple[Progress, ...] = ()
    while True:
        found = solve_thresholds(X, labels, table, weight=weight, solver=solver, control=asked, start=begun)
        passes += found.result.n_iter
        seconds += found.result.seconds
        history += found.result.history
        alpha, proof = _proof(problem, found, X)
        is_solved = max(proof.violation, proof.relative_gap) <= control.tol
        if is_solved or not found.result.converged or asked.tol <= FINEST:
            break
        asked, begun = _finer(control, asked, passes, seconds), (found.beta.array(), found.intercept)
    status = "converged" if is_solved else "precision" if found.result.converged else found.result.status
    result = replace(
        found.result,
        status=status,
        n_iter=passes,
        objective=proof.primal,
        gap=proof.gap,
        relative_gap=proof.relative_gap,
        violation=proof.violation,
        seconds=seconds,
        alpha=alpha,
        history=history,
    )
    return Solution(result, problem.beta(alpha), proof.thresholds)


def _proof(problem: Problem, found: LinearSolution, X: Any) -> tuple[Floats, Certificate]:
    """α of every hinge, and what it proves as kernel machines see it."""
    hinges = problem.hinges
    alpha = np.clip(hinges.sign * found.beta.array()[hinges.sample, hinges.threshold], 0.0, hinges.cap)
    beta = problem.beta(alpha)
    return alpha, problem.certificate(alpha, Linear().scores(X, X, beta))


def _finer(control: Control, asked: Control, passes: int, seconds: float) -> Control:
    """What is left of the limits, for a gap that is nearer to 0."""
    return replace(
        asked,
        tol=max(FINEST, FINER * asked.tol),
        max_iter=control.max_iter if control.max_iter < 0 else max(0, control.max_iter - passes),
        time_limit=None if control.time_limit is None else max(1e-9, control.time_limit - seconds),
    )


def _table(problem: Problem, codes: NDArray[np.int64]) -> tuple[ThresholdTable, Floats]:
    """Signs and caps of a rank, as its most expensive sample has them, and the prices of samples beside that one."""
    shape = problem.n_samples, problem.n_thresholds
    hinges, sign, cap = problem.hinges, -np.ones(shape), np.zeros(shape)
    sign[hinges.sample, hinges.threshold] = hinges.sign
    cap[hinges.sample, hinges.threshold] = hinges.cap
    price = cap.max(axis=1)
    dearest = np.lexsort((price, codes))  # the last of every rank
    ranks = np.unique(codes)
    model = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    model[ranks] = dearest[np.searchsorted(codes[dearest], ranks, side="right") - 1]
    return ThresholdTable(sign[model], cap[model]), price / np.maximum(price[model[codes]], np.finfo(float).tiny)


def _signed(problem: Problem, alpha: Floats) -> Floats:
    """α as linear machines keep it: with its sign, a row for every sample, a column for every threshold."""
    hinges: Hinges = problem.hinges
    variables = np.zeros((problem.n_samples, problem.n_thresholds))
    variables[hinges.sample, hinges.threshold] = hinges.sign * alpha
    return variables
