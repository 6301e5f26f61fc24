"""The subproblem (13) of Manno, Palagi & Sagratella (2018): the dual over a block of hinges, all others fixed.

    min over α_B   ½ d'Q_BB d + ∇_B'd + ½ τ ‖d‖²      d = α_B − (α_B before),  0 ≤ α_B ≤ cap
                   free thresholds, and ordered ones: γ of the block stays as it is
                   ordered, for the one block that owns μ: γ may change as far as μ ≥ 0 lets it

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
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.decomposition.workers import Ear

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEVER = 1e300  # an offset with which a hinge at its cap does not move
MAX_STEPS = 1_000_000  # of a subproblem: what is left is for the next iteration


@dataclass(frozen=True)
class Move:
    """What a block wants: how far its hinges go, and by how much the dual (as a minimum) falls if no other moves."""

    block: Ints
    change: Floats
    decrease: float


@dataclass(frozen=True)
class BlockSolver:
    """Solves subproblems at one point (α, f), with rows of K from a cache; τ and the tolerance as given."""

    problem: Problem
    alpha: Floats
    score: Floats
    gradient: Floats
    cache: _core.Cache
    tau: float
    tol: float
    ear: Ear

    def move(self, block: Ints, owns_mu: bool) -> Move:
        """Unfinished where the ear hears so."""
        h, treatment = self.problem.hinges, self.problem.treatment
        sign, threshold, alpha = h.sign[block], h.threshold[block], self.alpha[block]
        matrix = self._matrix(block)
        outer_gamma = self.problem.gamma(self.alpha) - np.bincount(threshold, sign * alpha, self.problem.n_thresholds)
        outer_score = self.score[h.sample[block]] - matrix @ (sign * alpha)
        if treatment is Treatment.PENALIZED:
            outer_score += outer_gamma[threshold]
        offset = h.offset[block] + self.tau * alpha - sign * outer_score
        hinges: list[NDArray[Any]] = [threshold, sign, offset, h.cap[block], alpha]
        if treatment is Treatment.ORDERED and owns_mu:
            hinges = [np.concatenate(columns) for columns in zip(hinges, frozen(outer_gamma), strict=True)]
        elif treatment is Treatment.ORDERED:
            treatment = Treatment.FREE
        change = self._solve(matrix, hinges, treatment)[: len(block)] - alpha
        slope = -float(change @ self.gradient[block])
        return Move(block, change, slope - 0.5 * self._curvature(matrix, block, change))

    def _matrix(self, block: Ints) -> Floats:
        """K, with a row and a column for every hinge."""
        samples, place = np.unique(self.problem.hinges.sample[block], return_inverse=True)
        return self.cache.block(samples.astype(np.int64), self.ear)[np.ix_(place, place)]

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
            _core.gcd(table, cache, limits, live, self.ear)
        else:
            _core.smo(table, cache, limits, live, self.ear, _core.Selection.second_order)
        solved = np.empty(len(order))
        solved[order] = alpha
        return solved

    def _curvature(self, matrix: Floats, block: Ints, change: Floats) -> float:
        """d'Qd."""
        signed = self.problem.hinges.sign[block] * change
        curvature = signed @ matrix @ signed
        if self.problem.treatment is Treatment.PENALIZED:
            curvature += np.sum(np.bincount(self.problem.hinges.threshold[block], signed) ** 2)
        return float(curvature)


def frozen(gamma: Floats) -> list[NDArray[Any]]:
    """Columns of hinges, one a threshold, that have this γ and do not move: so μ of a table is that of all hinges."""
    held = np.flatnonzero(gamma)
    size = np.abs(gamma[held])
    return [held.astype(np.int32), np.sign(gamma[held]), np.full(len(held), NEVER), size, size]
