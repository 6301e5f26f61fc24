"""Parallel decomposition (Manno, Palagi & Sagratella 2018, Algorithm 1): subproblems side by side, and one step.

Solves    the dual with any treatment of the thresholds; the paper has one equality, §8 hints at several. Its box begins
          at 0 and its γ is 0: general bounds l ≤ x ≤ u and other sums become that in bounded_program.py, as long as a
          variable is in one equality. Equalities that share variables are not supported, but for the μ of an order.
Keeps     α and the scores f = Kβ.
Step      S.1 all hinges are divided into subproblems; S.2 and S.3 subproblems are solved in parallel (subproblem.py)
          and those that bring enough selected; S.4 their moves are the direction d; S.5 how far to go.
Stops     when the violation of the optimality conditions is at most tol with scores recomputed in float64, and
          `Run.judge` accepts the duality gap.
Cost      rows of K of the samples in the subproblems solved, from the cache where they are there.

Where the paper is vague or slips:
- (29) as printed gives the distance to the bound as the longest step; it has to be divided by |d_i|. As subproblems are
  disjoint, it is ≥ 1.
- A fixed partition solves box problems only. With free thresholds a subproblem keeps its γ, so the most violating pair
  is brought into one subproblem in every iteration (Theorem 6), or in every L-th.
- With ordered thresholds μ are variables too. The first subproblem, that of the most violating pair, owns them; the
  others keep their γ.
- τ is one number for all subproblems and iterations. Lemma 1 needs curvature along every pair; where two samples are
  the same and τ = 0 there is none, and the step goes to the bound.
- Subproblems are solved to a share of the violation (`inner`), not exactly: any descent within a subproblem is one for
  all.
- A subproblem that is optimal within that tolerance would not move: it is left out before a row of K is computed.
- S_MVP in (21) is about a pair; for box problems it is the step of the worst hinge. A pair of an order may have its
  hinges at two thresholds; (12) is then about their step all the same.
- Subproblems are selected after they were solved, for (21) and the predicted decrease need their solutions. That of the
  most violating pair is always used: a share of the decrease implies nothing about (21).
- Diminishing steps come ever closer to a bound without getting there, so that (5) need never hold. What ends them is
  (41) with the ε-perturbed index sets of §6, by which they also choose the most violating pair: see `_put_at_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.checks import check_count, check_number, check_option, check_seed_number, usable_threads
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.kernel.run import Run
from ordsvm.solvers.papers.decomposition.partitions import Ints, Look, bring_together, cut
from ordsvm.solvers.papers.decomposition.subproblem import Move, SubproblemSolver
from ordsvm.solvers.papers.decomposition.workers import Stopped, Workers

PARTITIONS = ("violation", "random", "contiguous")
BLOCKS = ("all", "descent", "decrease")
STEPS = ("exact", "armijo", "diminishing")
MAX_RECOMPUTATIONS = 8
NEAR_BOUND = 1e-3  # ε of the perturbed index sets to begin with, as a share of a hinge's cap
NO_MOVE = 1e-14  # of γ, as a share of the α that it is the sum of
AT_BOUND = 1e-14  # the share of its cap within which a hinge on its way to a bound is put there
XI = "a number above 0 and at most 0.5; with larger ones, up to 1 in the paper, steps all but cease before the end"
CHUNK = 64  # rows of K added up by one task


@dataclass(frozen=True)
class Decomposition:
    """Parallel decomposition: subproblems of hinges solved side by side, and one step for all of them.

    Parameters
    ----------
    partition : {"violation", "random", "contiguous"}, default="violation"
        How hinges are divided into subproblems. "violation": those that violate most together; "random": anew in every
        iteration; "contiguous": fixed.
    block_size : int, default=500
        Hinges in a subproblem.
    max_blocks : int or None, default=None
        Subproblems in an iteration, those that violate most; None: all that violate.
    blocks : {"all", "descent", "decrease"}, default="all"
        Whose moves are used. "descent": those that pass the test (21) with `epsilon`; "decrease": those that bring at
        least `share` of the decrease that all of them predict.
    epsilon : float, default=0.1
        The ε of the test (21), above 0 and below 1.
    share : float, default=0.01
        The share of the predicted decrease, from 0 up to, but not, 1.
    tau : float, default=1e-8
        Weight of the proximal term, which makes every subproblem strictly convex.
    inner : float, default=0.1
        Tolerance of subproblems, as a share of the violation.
    step : {"exact", "armijo", "diminishing"}, default="exact"
        "exact": to the minimum (29). "armijo": the first of 1, ½, ¼, … that meets (22) with `theta`. "diminishing": 1 /
        k**xi in iteration k, whatever it does to the objective; the more subproblems, the longer it takes until steps
        are short enough. It is there for the theory.
    theta : float, default=0.1
        The θ of Armijo's rule (22), above 0 and below 1.
    xi : float, default=0.3
        The exponent of diminishing steps, above 0 and at most 0.5.
    mvp_every : int, default=1
        The most violating pair shares a subproblem in every so many-th iteration (Theorems 2, 4 and 6).
    seed : int, default=0
        Seed of the random partition.

    Attributes
    ----------
    name : str
        "decomposition", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: all.

    See Also
    --------
    ParsmoLight : Pairs of hinges in place of subproblems, by the same authors.
    Block : Working sets of samples one after the other; faster.

    Notes
    -----
    `n_iter` counts iterations. Subproblems are solved on `n_threads` threads; the result does not depend on how many.

    References
    ----------
    .. [1] A. Manno, L. Palagi, S. Sagratella, "Parallel decomposition methods for linearly constrained problems subject
       to simple bound with application to the SVMs training", Computational Optimization and Applications 71, 2018,
       Algorithm 1.

    Examples
    --------
    >>> from ordsvm import SVORIM, Decomposition
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVORIM(C=10, solver=Decomposition(block_size=40)).fit(X[:50], y[:50])
    >>> model.result_.solver
    'decomposition'
    """

    partition: Literal["violation", "random", "contiguous"] = "violation"
    block_size: int = 500
    max_blocks: int | None = None
    blocks: Literal["all", "descent", "decrease"] = "all"
    epsilon: float = 0.1
    share: float = 0.01
    tau: float = 1e-8
    inner: float = 0.1
    step: Literal["exact", "armijo", "diminishing"] = "exact"
    theta: float = 0.1
    xi: float = 0.3
    mvp_every: int = 1
    seed: int = 0

    name: ClassVar[str] = "decomposition"
    accepts: ClassVar[frozenset[Treatment]] = frozenset(Treatment)

    def __post_init__(self) -> None:
        check_option("partition", self.partition, PARTITIONS)
        check_option("blocks", self.blocks, BLOCKS)
        check_option("step", self.step, STEPS)
        check_number(
            "block_size", self.block_size, "a whole number of hinges, at least 2", lambda x: x >= 2 and x % 1 == 0
        )
        if self.max_blocks is not None:
            check_count("max_blocks", self.max_blocks, "blocks")
        check_count("mvp_every", self.mvp_every, "iterations")
        check_number("epsilon", self.epsilon, "a number above 0 and below 1", lambda x: 0 < x < 1)
        check_number("share", self.share, "a number from 0 up to, but not, 1", lambda x: 0 <= x < 1)
        check_number("tau", self.tau, "a number from 0 on", lambda x: x >= 0)
        check_number("inner", self.inner, "a number above 0 and below 1", lambda x: 0 < x < 1)
        check_number("theta", self.theta, "a number above 0 and below 1", lambda x: 0 < x < 1)
        check_number("xi", self.xi, XI, lambda x: 0 < x <= 0.5)
        check_seed_number(self.seed)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        if run.control.monitor is not None:
            run.look_every(1)
        run.close(Scheme(self, run).work())


class Scheme:
    """A run of Algorithm 1."""

    def __init__(self, options: Decomposition, run: Run) -> None:
        self.options, self.run, self.problem = options, run, run.problem
        self.cache = run.matrix.cache(double_rows=True)
        self.rows_before = self.cache.rows_computed
        self.random = np.random.default_rng(options.seed)
        self.steps = 0
        self.steps_before = run.n_iter  # of earlier calls, where a checkpoint is gone on from
        self.near_bound = NEAR_BOUND if options.step == "diminishing" else 0.0

    def work(self) -> _core.Status:
        try:
            with Workers(usable_threads(self.run.control.n_threads), self._stop) as self.workers:
                status = self._iterate()
        except Stopped:
            status = _core.Status.stopped
        self.run.count(self.steps, self._kernel_rows())
        return status

    def _iterate(self) -> _core.Status:
        run, tol, moved, recomputations = self.run, self.run.control.tol, True, 0
        while True:
            self._put_at_bounds(tol)
            look = self._look()
            if look.violation() <= tol or not moved:
                run.score[:] = run.matrix.rows.product(self.problem.beta(run.alpha))
                look = self._look()
                recomputations += 1
            if (violation := look.violation()) <= tol:
                judged = run.judge(tol, violation)
                if judged >= tol:
                    return _core.Status.converged
                tol, recomputations = judged, 0
            if recomputations > MAX_RECOMPUTATIONS:
                return _core.Status.imprecise
            if 0 <= run.control.max_iter <= self.steps_before + self.steps:
                return _core.Status.max_iter
            if self._stop():
                raise Stopped
            moved = self._step(look, violation) or not self._has_worst_pair()
            self.steps += moved

    def _look(self) -> Look:
        return Look(self.problem, self.run.alpha, self.run.score, self.near_bound)

    def _put_at_bounds(self, tol: float) -> None:
        """Where (41) holds, hinges close to a bound are put there. While (5) does not hold then, ε is too coarse."""
        run = self.run
        while self.near_bound > 0.0 and self._look().violation() <= tol:
            alpha = at_bounds(self.problem, run.alpha, self.near_bound)
            score = run.matrix.rows.product(self.problem.beta(alpha))
            if np.array_equal(self.problem.repair(alpha), alpha) and self.problem.violation(alpha, score) <= tol:
                run.alpha[:], run.score[:] = alpha, score
                self._follow_thresholds()
                return
            self.near_bound = self.near_bound / 10 if self.near_bound > AT_BOUND else 0.0
            if self._stop():
                raise Stopped

    def _has_worst_pair(self) -> bool:
        """Whether the most violating pair shares a subproblem in this iteration: others may move nothing."""
        return self.steps % self.options.mvp_every == 0

    def _stop(self) -> bool:
        return self.run.report(self.steps, self._kernel_rows())

    def _kernel_rows(self) -> int:
        return self.cache.rows_computed - self.rows_before

    def _step(self, look: Look, violation: float) -> bool:
        """One iteration; False if nothing moved, which is for rounding alone."""
        alpha, score = self.run.alpha, self.run.score
        gradient = self.problem.slope(score, self._thresholds())
        solver = SubproblemSolver(
            self.problem,
            alpha,
            score,
            gradient,
            self.cache,
            self.options.tau,
            self.options.inner * violation,
            self.workers.stop_signal,
        )
        moves: list[Move] = self.workers.map(solver.move, self._subproblems(look, solver.tol))
        direction = np.zeros(len(alpha))
        for move in self._selected(moves, look, gradient):
            direction[move.subproblem] = move.change
        return self._advance(direction, self._slope(gradient, direction))

    def _slope(self, gradient: Floats, direction: Floats) -> float:
        """How fast the dual (as a minimum) falls along a direction.

        With ordered thresholds γ may move, so that b of the gradient is 0 and its terms are far larger than their sum:
        that is taken apart at the best b, and what a direction that keeps γ changes of it is rounding.
        """
        if self.problem.treatment is not Treatment.ORDERED:
            return -float(gradient @ direction)
        b = self.problem.best_thresholds(self.run.score)
        moved, threshold = self.problem.gamma(direction), self.problem.hinges.threshold
        moved[np.abs(moved) <= NO_MOVE * np.bincount(threshold, self.run.alpha, len(b))] = 0.0
        return -float(self.problem.slope(self.run.score, b) @ direction + b @ moved)

    def _thresholds(self) -> Floats:
        """b for the gradient along feasible directions; free thresholds: any would do, so one that makes it small."""
        if self.problem.treatment is Treatment.FREE:
            return self.problem.best_thresholds(self.run.score)
        return self.problem.dual_thresholds(self.run.alpha)

    def _subproblems(self, look: Look, tol: float) -> list[tuple[Ints, bool]]:
        """S.1 and S.2: the subproblems to solve, and whether they own μ."""
        options, n_hinges = self.options, len(self.run.alpha)
        orders = {"violation": look.order, "contiguous": lambda: np.arange(n_hinges)}
        order = orders.get(options.partition, lambda: self.random.permutation(n_hinges))()
        subproblems = cut(order, int(options.block_size))
        if self._has_worst_pair():
            subproblems = bring_together(subproblems, look.worst())
        first, *others = subproblems
        within = np.array([look.within(subproblem) for subproblem in others])
        worst = np.argsort(-within, kind="stable")[: None if options.max_blocks is None else options.max_blocks - 1]
        return [(first, True), *((others[index], False) for index in worst if within[index] > tol)]

    def _selected(self, moves: list[Move], look: Look, gradient: Floats) -> list[Move]:
        """S.2 after the event: which moves are used; the largest one always, and that of the most violating pair."""
        if self.options.blocks == "all":
            return moves
        if self.options.blocks == "decrease":
            sizes = [move.decrease for move in moves]
            least = self.options.share * sum(sizes)
        else:
            sizes = [float(np.linalg.norm(move.change)) for move in moves]
            least = self.options.epsilon * self._most_violating_step(look.worst(), gradient)
        if self._has_worst_pair():
            sizes[0] = max(sizes)
        return [move for move, size in zip(moves, sizes, strict=True) if size >= min(least, max(sizes))]

    def _most_violating_step(self, hinges: Ints, gradient: Floats) -> float:
        """S_MVP (12): how far α goes if only the hinges that violate most move."""
        h = self.problem.hinges
        K = self.cache.block(h.sample[hinges].astype(np.int64), self.workers.stop_signal)
        move = -np.sign(gradient[hinges]) if len(hinges) == 1 else h.sign[hinges] * [-1.0, 1.0]
        signed = h.sign[hinges] * move
        curvature = signed @ K @ signed + (self.problem.treatment is Treatment.PENALIZED)
        longest = _longest_moves(self.run.alpha[hinges], h.cap[hinges], move).min()
        unbounded = -gradient[hinges] @ move / curvature if curvature > 0 else np.inf
        return float(min(unbounded, longest) * np.sqrt(len(hinges)))

    def _advance(self, direction: Floats, slope: float) -> bool:
        """S.5 and S.6. Without further kernel evaluations where the cache has the rows of the subproblems."""
        alpha, cap = self.run.alpha, self.problem.hinges.cap
        moving = np.flatnonzero(direction)
        if len(moving) == 0 or not slope > 0.0:
            return False
        beta = self.problem.beta(direction)
        change = self._product(beta)
        curvature = float(beta @ change)
        if self.problem.treatment is Treatment.PENALIZED:
            curvature += float(np.sum(self.problem.gamma(direction) ** 2))
        steps = _longest_moves(alpha[moving], cap[moving], direction[moving])
        factor = self._factor(slope, curvature, self._longest(steps, direction))
        bound = np.where(direction[moving] > 0, cap[moving], 0.0)
        moved = np.clip(alpha[moving] + factor * direction[moving], 0.0, cap[moving])
        alpha[moving] = np.where(np.abs(moved - bound) <= AT_BOUND * cap[moving], bound, moved)
        self.run.score += factor * change
        self._follow_thresholds()
        return factor > 0.0

    def _follow_thresholds(self) -> None:
        if self.problem.treatment is Treatment.PENALIZED:
            self.run.threshold[:] = -self.problem.gamma(self.run.alpha)

    def _product(self, beta: Floats) -> Floats:
        """Kβ, a few rows to a task; added up in an order that does not depend on the threads."""
        support = np.flatnonzero(beta)
        chunks = [support[begin : begin + CHUNK] for begin in range(0, len(support), CHUNK)]
        signal = self.workers.stop_signal
        parts = self.workers.map(self.cache.product, [(chunk, beta[chunk], signal) for chunk in chunks])
        return np.sum(parts, axis=0) if parts else np.zeros(len(beta))

    def _longest(self, steps: Floats, direction: Floats) -> float:
        """The longest feasible step; at least 1 but for rounding, as subproblems are disjoint and one owns μ."""
        longest = float(steps.min())
        if self.problem.treatment is Treatment.ORDERED:
            change = self.problem.mu(direction)
            falls = change < -1e-12 * np.abs(direction).sum()
            longest = min([longest, *(self.problem.mu(self.run.alpha)[falls] / -change[falls])])
        return max(longest, 1.0)

    def _factor(self, slope: float, curvature: float, longest: float) -> float:
        """The step along a direction in which the dual (as a minimum) falls by t·slope − ½t²·curvature."""
        if self.options.step == "exact":
            return min(slope / curvature, longest) if curvature > 0 else longest
        if self.options.step == "diminishing":
            return float((self.steps + 1) ** -self.options.xi)
        factor = 1.0
        while (1 - self.options.theta) * slope < 0.5 * factor * curvature:
            factor /= 2
        return factor


def _longest_moves(alpha: Floats, cap: Floats, move: Floats) -> Floats:
    """Distances to the bounds, as multiples of each move."""
    return np.where(move < 0, alpha, cap - alpha) / np.abs(move)


def at_bounds(problem: Problem, alpha: Floats, share: float) -> Floats:
    """α with hinges within a share of their cap of a bound put there; others of their threshold keep γ if they can."""
    h, margin = problem.hinges, share * problem.hinges.cap
    put = np.where(alpha <= margin, 0.0, np.where(alpha >= h.cap - margin, h.cap, alpha))
    if problem.treatment in (Treatment.NONE, Treatment.PENALIZED):
        return put
    inside = (put > 0.0) & (put < h.cap)
    number = np.bincount(h.threshold[inside], minlength=problem.n_thresholds)
    excess = (problem.gamma(put) - problem.gamma(alpha)) / np.maximum(number, 1)
    return np.where(inside, np.clip(put - h.sign * excess[h.threshold], 0.0, h.cap), put)
