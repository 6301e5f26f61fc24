"""The interior-point method on many small problems at once, as a search has them: all folds and all C of one kernel.

Solves    duals with free, penalised or no thresholds, over subsets of samples whose kernel values are all in memory.
Keeps     for every fold and C what central_path.py keeps of one problem, in arrays (folds, C, samples, columns).
Step      stacked_path.py; the systems of all problems are factored together, scaled to √W K √W + I, which is
          positive definite whatever W is, and has ones for samples without hinges.
Starts    from nothing, or from iterates that the same folds and C had with a kernel nearby: stacked_start.py.
Stops     a problem whose certificate passes; a C leaves when all of its folds have.
Cost      n³/3 a problem and iteration, at the rate of products of matrices, or 2 n·rank² (stacked_low_rank.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ordsvm import _core
from ordsvm._typing import Flags, Floats, Ints
from ordsvm.array_library import Array, ArrayLibrary, NumpyLibrary
from ordsvm.kernels.products.norm_rounding import ScoreRounding
from ordsvm.problem import Certificate, Problem, Treatment
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.interior_point.crossover import MOST_ROUNDS, feasible
from ordsvm.solvers.kernel.interior_point.stacked_low_rank import MOST_RANK, low_rank_factor
from ordsvm.solvers.kernel.interior_point.stacked_path import StackedPath
from ordsvm.solvers.kernel.interior_point.stacked_start import Starts
from ordsvm.solvers.kernel.interior_point.stacked_system import StackedSystem, Stacks, State
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.run import core_certificate, core_hinges
from ordsvm.solvers.recorder import Counts, Recorder
from ordsvm.solvers.solution import Solution

MOST_ITERATIONS = 40
FIRST_TRIAL = 0.1  # share of tol, for what is left of the products as a share of the objective: then a crossover
TRIAL_AGAIN = 0.1  # of what was left at the last one
LEAST_LEFT = 1e-10  # what rounding leaves
HALF_WIDTH = 0.01  # as in crossover.py, where systems need a larger one
MOST_VIOLATION = 2.0  # in units of tol, of what the judge is asked about
MATRICES = 3  # of a problem that are in memory at once
ROOM = 2.0**31  # bytes for these, where it is not known how many there are
SHARE_OF_ROOM = 0.3  # where it is: another thread may solve problems of its own
TREATMENTS = frozenset({Treatment.NONE, Treatment.PENALIZED, Treatment.FREE})


@dataclass(frozen=True)
class SideBySide:
    """The method as a result names it."""

    device: str = "cpu"

    name: ClassVar[str] = "side-by-side"
    accepts: ClassVar[frozenset[Treatment]] = TREATMENTS


class Solved(NamedTuple):
    """A problem with its certificate, and the scores of all samples."""

    solution: Solution
    scores: Floats


class Folds(NamedTuple):
    """Problems at C = 1 over some of the samples each, and which these are."""

    problems: Sequence[Problem]
    samples: Sequence[Ints]

    def are_alike(self) -> bool:
        """Whether they have the same thresholds and columns, and a treatment that this method takes."""
        first, member = self.problems[0], _member(self.problems[0])
        same = all(p.treatment is first.treatment and np.array_equal(_member(p), member) for p in self.problems)
        used = [len(np.unique(problem.hinges.threshold)) for problem in self.problems]
        return same and first.treatment in TREATMENTS and set(used) == {first.n_thresholds}


def _member(problem: Problem) -> Floats:
    """Which columns of hinges are about which thresholds."""
    return Columns.of(problem, np.arange(problem.n_samples), NumpyLibrary()).member


class Batch:
    """All folds at several C, on K of all samples, (n, n), which the library has."""

    def __init__(
        self, library: ArrayLibrary, K: Array, folds: Folds, C: Floats, tol: float, rounding: ScoreRounding
    ) -> None:
        self._library, self._folds, self._C, self._tol, self._rounding = library, folds, C, tol, rounding
        self._size = max(map(len, folds.samples))
        self._every = K
        unit = float(abs(K.diagonal()).mean()) or 1.0
        padded = [library.index(np.resize(each, self._size)) for each in folds.samples]  # the rest has no hinges
        tables = [Columns.of(problem, np.arange(problem.n_samples), library) for problem in folds.problems]
        self._places = [library.host(table.place) for table in tables]
        sign, offset, cap = (
            library.join([self._padded(getattr(table, name))[None, None] for table in tables])
            for name in ("sign", "offset", "cap")
        )
        score_unit = max(float(np.abs(problem.hinges.offset).max()) for problem in folds.problems) or 1.0
        self._score_unit = score_unit
        self._cap_at_1 = cap * (unit / score_unit)
        factor = low_rank_factor(library, K, unit, MOST_RANK * self._size)
        self._stacks = Stacks(
            library=library,
            K=library.join([(K[each][:, each] / unit)[None] for each in padded]),
            sign=sign,
            offset=offset / score_unit,
            has=library.number(cap > 0),
            member=library.array(tables[0].member),
            penalty=unit if folds.problems[0].treatment is Treatment.PENALIZED else 0.0,
            factor=None if factor is None else library.join([factor[each][None] for each in padded]),
        )
        self._path = StackedPath(self._stacks)
        self._found: dict[tuple[int, int], Solved] = {}

    def _padded(self, table: Array) -> Array:
        missing = self._size - table.shape[0]
        return table if missing == 0 else self._library.join([table, self._library.zeros(missing, table.shape[1])])

    def solve(self, starts: Starts) -> dict[tuple[int, int], Solved]:
        """By the numbers of fold and C; those that the method does not certify are left out, and a C whose system
        breaks down leaves alone."""
        live = np.arange(len(self._C))
        cap = self._caps(live)
        x = starts.iterate(self._stacks, cap, self._C)
        attempt = np.full(len(live), FIRST_TRIAL * self._tol)
        for iteration in range(MOST_ITERATIONS):
            _core.check_ended()
            with np.errstate(all="ignore"):
                x = self._path.advanced(x, cap)
                left = self._library.host(self._path.left(x, cap)).max(axis=0)  # NaN where a system has broken down
                starts.keep(self._library, x, self._C[live], left)
                near = np.flatnonzero(left <= attempt[live])
                if len(near):
                    attempt[live[near]] = TRIAL_AGAIN * left[near]
                    self._cross_over(self._some(x, near), live[near], iteration + 1)
            keep = np.flatnonzero(
                [left[i] > LEAST_LEFT and not self._are_found(c) for i, c in enumerate(live.tolist())]
            )
            if len(keep) == 0:
                break
            if len(keep) < len(live):
                live, x = live[keep], self._some(x, keep)
                cap = self._caps(live)
        return self._found

    def _are_found(self, c: int) -> bool:
        return all((fold, int(c)) in self._found for fold in range(len(self._stacks.K)))

    def _some(self, x: State, columns: Ints) -> State:
        which = self._library.index(columns)
        return State(*(part[:, which] for part in x))

    def _caps(self, live: Ints) -> Array:
        """Where there is no hinge, 1: nothing is divided by 0, and its weight is 0."""
        C = self._library.array(self._C[live]).reshape(1, -1, 1, 1)
        return C * self._cap_at_1 + (1.0 - self._stacks.has)

    # Crossover and certificates

    def _cross_over(self, x: State, live: Ints, n_iter: int) -> None:
        """To exact zeros and caps, as crossover.py does it for one problem; what passes the certificate is kept."""
        library, cap, half = self._library, self._caps(live), 0.5 * self._tol / self._score_unit
        low, up = x.alpha < cap * x.lower, x.rest < cap * x.upper
        nearer_zero = x.alpha < x.rest
        low, up = low & ~(up & ~nearer_zero), up & ~(low & nearer_zero)
        alpha = x.alpha
        for _ in range(MOST_ROUNDS):
            alpha = library.where(low, 0.0 * cap, library.where(up, cap, alpha))
            x = self._at(x, alpha)
            free = library.number(~(low | up)) * self._stacks.has
            move = StackedSystem(self._stacks, x, free * cap / (2.0 * HALF_WIDTH)).move(-free * self._stacks.slope(x))
            x = x._replace(score=x.score + move.score, b=x.b + move.b)
            alpha, slope = alpha + move.alpha, self._stacks.slope(x)
            within = library.clip(alpha, 0.0, cap)
            self._keep_certified(within, live, self._violation(x, within, cap) <= MOST_VIOLATION * self._tol, n_iter)
            if all(map(self._are_found, live.tolist())):
                return
            is_free = free > 0
            low, up = (
                (low & (slope > -half)) | (is_free & (alpha <= 0)),
                (up & (slope < half)) | (is_free & (alpha >= cap)),
            )
            alpha = within

    def _violation(self, x: State, alpha: Array, cap: Array) -> Floats:
        """About what a certificate would find."""
        x = self._at(x, alpha)
        if self._stacks.penalty:
            signed = (self._stacks.sign * alpha).sum(2)
            x = x._replace(b=-(signed @ self._stacks.member) / self._stacks.penalty)
        slope, largest, clip = self._stacks.slope(x), self._library.largest, self._library.clip
        rising, falling = clip(slope, 0.0, float("inf")), clip(-slope, 0.0, float("inf"))
        low, up = self._library.number(alpha <= 0), self._library.number(alpha >= cap)
        off = low * falling + up * rising + (1.0 - low - up) * (rising + falling)
        return self._score_unit * self._library.host(largest(largest(off * self._stacks.has, -1), -1))

    def _at(self, x: State, alpha: Array) -> State:
        """With the β and the scores of this α."""
        beta = (self._stacks.sign * alpha).sum(-1)
        return x._replace(alpha=alpha, beta=beta, score=self._stacks.product(beta))

    def _keep_certified(self, alpha: Array, live: Ints, are_near: Flags, n_iter: int) -> None:
        """What the judge of all solvers accepts, with exact scores, of those that are near it."""
        library = self._library
        which = [(f, c) for f, c in np.argwhere(are_near).tolist() if (f, int(live[c])) not in self._found]
        if not which:
            return
        shares = library.host(alpha / self._caps(live))  # of the caps: 1 is a cap exactly, whatever the units
        made, full = [], np.zeros((self._every.shape[0], len(which)))
        for column, (f, c) in enumerate(which):
            problem = self._problem(f, live[c])
            own = shares[f, c][: problem.n_samples].reshape(-1)[self._places[f]] * problem.hinges.cap
            own = feasible(problem, own, np.zeros(problem.n_thresholds))
            made.append((problem, own))
            full[self._folds.samples[f], column] = problem.beta(own)
        scores = library.host(self._every @ library.array(full))
        for (f, c), (problem, own), score in zip(which, made, scores.T, strict=True):
            if not np.isfinite(score).all():
                continue
            proof, error = self._certificate(problem, own, self._folds.samples[f], score)
            if np.isfinite(proof.gap) and max(proof.relative_gap, proof.violation, error) <= self._tol:
                self._found[f, int(live[c])] = Solved(self._solution(problem, own, proof, n_iter), score)

    def _certificate(self, problem: Problem, alpha: Floats, samples: Ints, score: Floats) -> tuple[Certificate, float]:
        """With what scores are off by; the most of that where exponents are made of norms."""
        roundings, largest, of_norms = self._rounding
        numbers = alpha, score[samples], np.zeros(len(samples)), roundings, largest
        proof = core_certificate(problem, core_hinges(problem), *numbers)
        if of_norms is None:
            return proof, 0.0
        beta = np.zeros(len(score))
        beta[samples] = problem.beta(alpha)
        error = of_norms.of(beta)[samples]
        return replace(proof, gap=proof.gap + problem.error_of_gap(alpha, error)), float(error.max())

    def _problem(self, fold: int, c: int) -> Problem:
        problem = self._folds.problems[fold]
        return replace(problem, hinges=replace(problem.hinges, cap=self._C[c] * problem.hinges.cap))

    def _solution(self, problem: Problem, alpha: Floats, proof: Certificate, n_iter: int) -> Solution:
        device = str(getattr(self._library, "device", "cpu"))
        recorder = Recorder(SideBySide(device), Control(self._tol))
        result = recorder.result(proof, Counts(n_iter, self._size), alpha)
        return Solution(result, problem.beta(alpha), proof.thresholds)


def solve_side_by_side(
    library: ArrayLibrary,
    K: Array,
    folds: Folds,
    C: Floats,
    tol: float,
    starts: Starts | None = None,
    rounding: ScoreRounding | None = None,
) -> dict[tuple[int, int], Solved]:
    """`Batch.solve` for as many C at a time as memory allows; what another kernel's start has not led to the optimum
    begins anew. `rounding`: of scores that are made of K."""
    starts, rounding = starts or Starts(), rounding or ScoreRounding()
    found = _in_parts(library, K, folds, C, tol, starts, rounding)
    left = [c for c in range(len(C)) if any((fold, c) not in found for fold in range(len(folds.samples)))]
    if left and starts.are_warm:
        again = _in_parts(library, K, folds, C[left], tol, Starts(), rounding)
        found |= {(fold, left[c]): solved for (fold, c), solved in again.items()}
    starts.used()
    return found


def _in_parts(
    library: ArrayLibrary, K: Array, folds: Folds, C: Floats, tol: float, starts: Starts, rounding: ScoreRounding
) -> dict[tuple[int, int], Solved]:
    size = max(map(len, folds.samples))
    room = library.free_memory()
    room = SHARE_OF_ROOM * room if room == room else ROOM
    at_a_time = min(len(C), max(1, int(room / (MATRICES * 8.0 * len(folds.samples) * size * size))))
    found: dict[tuple[int, int], Solved] = {}
    begin = 0
    while begin < len(C) and at_a_time:
        try:
            part = Batch(library, K, folds, C[begin : begin + at_a_time], tol, rounding).solve(starts)
        except library.out_of_memory:
            part = None
        if part is None:  # what is left at last is trained one by one
            library.release()
            at_a_time //= 2
            continue
        found |= {(fold, begin + c): solved for (fold, c), solved in part.items()}
        begin += at_a_time
    return found
