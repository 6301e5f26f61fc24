"""Hinges divided into subproblems: S.1 of Algorithm 1 of Manno, Palagi & Sagratella (2018), and Theorem 6."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.problem import Problem, Treatment


def cut(order: Ints, size: int) -> list[Ints]:
    """Subproblems of `size` hinges each, in this order; within a subproblem in that of the table."""
    return [np.sort(order[begin : begin + size]) for begin in range(0, len(order), size)]


def bring_together(subproblems: list[Ints], hinges: Ints) -> list[Ints]:
    """The same subproblems, the first of which has all of `hinges`: others of its hinges take their places."""
    [home] = [index for index, subproblem in enumerate(subproblems) if hinges[0] in subproblem]
    first, rest = subproblems[home], subproblems[:home] + subproblems[home + 1 :]
    for hinge in hinges[~np.isin(hinges, first)]:
        [away] = [index for index, subproblem in enumerate(rest) if hinge in subproblem]
        leaving = first[~np.isin(first, hinges)][:1]
        first = np.sort(np.append(np.setdiff1d(first, leaving), hinge))
        rest[away] = np.sort(np.append(np.setdiff1d(rest[away], hinge), leaving))
    return [first, *(subproblem for subproblem in rest if len(subproblem))]


class Look:
    """How every hinge stands to the optimality conditions at one α, with its scores.

    `near`: the share of its cap within which a hinge counts as being at a bound, the paper's ε-perturbed index sets.
    """

    def __init__(self, problem: Problem, alpha: Floats, score: Floats, near: float = 0.0) -> None:
        h = problem.hinges
        above_zero, below_cap = alpha > near * h.cap, alpha < h.cap - near * h.cap
        self.problem = problem
        self.alpha = alpha
        self.level = score[h.sample] - h.sign * h.offset
        self.may_rise = np.where(h.sign > 0, below_cap, above_zero)
        self.may_fall = np.where(h.sign > 0, above_zero, below_cap)
        self.is_box = problem.treatment in (Treatment.NONE, Treatment.PENALIZED)
        if self.is_box:
            below = problem.dual_thresholds(alpha)[h.threshold] - self.level
            self.projected = np.where(self.may_rise, below, 0.0).clip(0.0) + np.where(self.may_fall, -below, 0.0).clip(
                0.0
            )

    def order(self) -> Ints:
        """All hinges, those first that violate most.

        Free and ordered thresholds: in pairs, as a hinge moves only together with another one of its threshold; the
        r-th pair of a threshold are the r-th hinges from both ends. Subproblems of two are then the pairs of
        PARSMO-light.
        """
        if self.is_box:
            return np.argsort(-self.projected, kind="stable")
        pairs, violations = [], []
        for k in range(self.problem.n_thresholds):
            falling, rising = self._movable(k)
            falling = falling[np.argsort(-self.level[falling], kind="stable")]
            rising = rising[np.argsort(self.level[rising], kind="stable")]
            n_pairs = min(len(falling), len(rising))
            violation = self.level[falling[:n_pairs]] - self.level[rising[:n_pairs]]
            n_pairs = int(np.count_nonzero(violation > 0))  # those come first, and no hinge is in two of them
            pairs.append(np.column_stack([falling[:n_pairs], rising[:n_pairs]]))
            violations.append(violation[:n_pairs])
        paired = np.concatenate(pairs)[np.argsort(-np.concatenate(violations), kind="stable")].ravel()
        return np.concatenate([paired, np.setdiff1d(np.arange(len(self.level)), paired)])

    def worst(self) -> Ints:
        """The hinge that violates most; with free and ordered thresholds the pair: γ falls through the first."""
        return np.array([np.argmax(self.projected)]) if self.is_box else self._worst_pair()[1]

    def violation(self) -> float:
        """How far α is from (41), or from (5) where no hinge counts as nearer to a bound than it is."""
        return float(self.projected.max()) if self.is_box else max(0.0, self._worst_pair()[0])

    def _worst_pair(self) -> tuple[float, Ints]:
        """Minus infinity where there is none."""
        m = self.problem.n_thresholds
        low, up = np.full(m, -1), np.full(m, -1)
        for k in range(m):
            falling, rising = self._movable(k)
            low[k] = falling[np.argmax(self.level[falling])] if len(falling) else -1
            up[k] = rising[np.argmin(self.level[rising])] if len(rising) else -1
        possible = self._reach() & (low >= 0)[:, None] & (up >= 0)[None, :]
        violation = np.where(possible, self.level[low][:, None] - self.level[up][None, :], -np.inf)
        falls_at, from_last = np.unravel_index(np.argmax(violation[:, ::-1]), violation.shape)  # ties as in SMO
        rises_at = m - 1 - from_last
        return float(violation[falls_at, rises_at]), np.array([low[falls_at], up[rises_at]])

    def within(self, subproblem: Ints) -> float:
        """How far a subproblem is from its own optimum, if its γ can't change."""
        if self.is_box:
            return float(self.projected[subproblem].max())
        low, up = np.full(self.problem.n_thresholds, -np.inf), np.full(self.problem.n_thresholds, np.inf)
        falling, rising = subproblem[self.may_fall[subproblem]], subproblem[self.may_rise[subproblem]]
        np.maximum.at(low, self.problem.hinges.threshold[falling], self.level[falling])
        np.minimum.at(up, self.problem.hinges.threshold[rising], self.level[rising])
        return float(np.max(low - up))

    def _movable(self, k: int) -> tuple[Ints, Ints]:
        """The hinges of threshold k through which γ may fall, and rise."""
        here = self.problem.hinges.threshold == k
        return np.flatnonzero(self.may_fall & here), np.flatnonzero(self.may_rise & here)

    def _reach(self) -> NDArray[np.bool_]:
        """[k, l]: whether γ may fall at k and rise at l. Ordered: upwards always, downwards over active μ."""
        if self.problem.treatment is Treatment.FREE:
            return np.eye(self.problem.n_thresholds, dtype=bool)
        active = self.problem.mu(self.alpha)[1:-1] > 1e-12 * self.alpha.sum()
        run = np.concatenate([[0], np.cumsum(~active)])  # thresholds tied by active μ have the same number
        return run[:, None] <= run[None, :]
