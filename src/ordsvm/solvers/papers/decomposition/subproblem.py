"""The subproblem (13) of Manno, Palagi & Sagratella (2018): the dual over some hinges, all others fixed.

    min over α_B   ½ d'Q_BB d + ∇_B'd + ½ τ ‖d‖²      d = α_B − (α_B before),  0 ≤ α_B ≤ cap
                   free thresholds, and ordered ones: γ of the subproblem stays as it is
                   ordered, for the one subproblem that owns μ: γ may change as far as μ ≥ 0 lets it

This is the problem of the library once more: a table of hinges with other offsets. What the scores get from outside
goes into the offset, every hinge counts as a sample of its own, and τ is added to the diagonal of their kernel matrix.
So GCD and SMO of the core solve it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm import _core
from ordsvm._typing import Floats, Ints
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.papers.decomposition.workers import StopSignal

NEVER = 1e300  # an offset with which a hinge at its cap does not move
MAX_STEPS = 1_000_000  # of a subproblem: what is left is for the next iteration


@dataclass(frozen=True)
class Move:
    """The solution of a subproblem: how far its hinges go, and how much the dual (as a minimum) falls by that alone."""

    subproblem: Ints
    change: Floats
    decrease: float


@dataclass(frozen=True)
class SubproblemSolver:
    """Solves subproblems at one point (α, f), with rows of K from a cache; τ and the tolerance as given."""

    problem: Problem
    alpha: Floats
    score: Floats
    gradient: Floats
    cache: _core.Cache
    tau: float
    tol: float
    stop_signal: StopSignal

    def move(self, subproblem: Ints, owns_mu: bool) -> Move:
        """The solution of a subproblem; unfinished where the stop signal is set."""
        h, treatment = self.problem.hinges, self.problem.treatment
        sign, threshold, alpha = h.sign[subproblem], h.threshold[subproblem], self.alpha[subproblem]
        matrix = self._matrix(subproblem)
        outer_gamma = self.problem.gamma(self.alpha) - np.bincount(threshold, sign * alpha, self.problem.n_thresholds)
        outer_score = self.score[h.sample[subproblem]] - matrix @ (sign * alpha)
        if treatment is Treatment.PENALIZED:
            outer_score += outer_gamma[threshold]
        offset = h.offset[subproblem] + self.tau * alpha - sign * outer_score
        hinges: list[NDArray[Any]] = [threshold, sign, offset, h.cap[subproblem], alpha]
        if treatment is Treatment.ORDERED and owns_mu:
            hinges = [np.concatenate(columns) for columns in zip(hinges, frozen(outer_gamma), strict=True)]
        elif treatment is Treatment.ORDERED:
            treatment = Treatment.FREE
        change = self._solve(matrix, hinges, treatment)[: len(subproblem)] - alpha
        slope = -float(change @ self.gradient[subproblem])
        return Move(subproblem, change, slope - 0.5 * self._curvature(matrix, subproblem, change))

    def _matrix(self, subproblem: Ints) -> Floats:
        """K, with a row and a column for every hinge."""
        samples, place = np.unique(self.problem.hinges.sample[subproblem], return_inverse=True)
        return self.cache.block(samples.astype(np.int64), self.stop_signal)[np.ix_(place, place)]

    def _solve(self, matrix: Floats, hinges: list[NDArray[Any]], treatment: Treatment) -> Floats:
        """α of a table of hinges, with τ; those beyond the size of the matrix have no kernel."""
        order = np.argsort(hinges[0], kind="stable")  # grouped by threshold
        padded = np.diag(np.full(len(order), self.tau))
        padded[: len(matrix), : len(matrix)] += matrix
        padded = np.ascontiguousarray(padded[np.ix_(order, order)])
        threshold, sign, offset, cap, alpha = (column[order] for column in hinges)
        each = np.arange(len(order), dtype=np.int32)
        table = _core.hinges(
            each,
            threshold,
            sign,
            offset,
            cap,
            n_samples=len(order),
            n_thresholds=self.problem.n_thresholds,
            treatment=getattr(_core.Treatment, treatment.value),
        )
        b = np.zeros(self.problem.n_thresholds)
        if treatment is Treatment.PENALIZED:
            b -= np.bincount(threshold, sign * alpha, len(b))
        live = _core.LiveArrays(alpha, padded @ (sign * alpha), b, np.array([len(order)]))
        cache = _core.cache(_core.precomputed_rows(padded), padded.nbytes, True)
        limits = _core.Limits(self.tol, MAX_STEPS)
        if treatment in (Treatment.NONE, Treatment.PENALIZED):
            _core.gcd(table, cache, limits, live, self.stop_signal)
        else:
            _core.smo(table, cache, limits, live, self.stop_signal, _core.Selection.second_order)
        solved = np.empty(len(order))
        solved[order] = alpha
        return solved

    def _curvature(self, matrix: Floats, subproblem: Ints, change: Floats) -> float:
        """d'Qd."""
        signed = self.problem.hinges.sign[subproblem] * change
        curvature = signed @ matrix @ signed
        if self.problem.treatment is Treatment.PENALIZED:
            curvature += np.sum(np.bincount(self.problem.hinges.threshold[subproblem], signed) ** 2)
        return float(curvature)


def frozen(gamma: Floats) -> list[NDArray[Any]]:
    """Columns of hinges, one a threshold, that have this γ and do not move: so μ of a table is that of all hinges."""
    used = np.flatnonzero(gamma)
    size = np.abs(gamma[used])
    return [used.astype(np.int32), np.sign(gamma[used]), np.full(len(used), NEVER), size, size]
