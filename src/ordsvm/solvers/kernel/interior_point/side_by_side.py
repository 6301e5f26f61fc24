"""The interior-point method on many small problems at once, as a search has them: all folds and all C of one kernel.

Solves    duals with free, penalised or no thresholds, over subsets of samples whose kernel values are all in memory.
Keeps     for every fold and C what interior_point.py keeps of one problem, in arrays (folds, C, samples, columns).
Step      stacked_path.py; the systems of all problems are factored together (`StackedKernel`).
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
from ordsvm.solvers.kernel.interior_point.crossover import Crossover, feasible
from ordsvm.solvers.kernel.interior_point.stacked_low_rank import MOST_RANK, low_rank_factor
from ordsvm.solvers.kernel.interior_point.stacked_path import StackedPath
from ordsvm.solvers.kernel.interior_point.stacked_start import PathStarts
from ordsvm.solvers.kernel.interior_point.stacked_system import StackedKernel
from ordsvm.solvers.kernel.interior_point.stacks import CentralPathPoint, Stacks
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.run import core_certificate, core_hinges
from ordsvm.solvers.recorder import Counts, Recorder
from ordsvm.solvers.solution import Solution

MOST_ITERATIONS = 40
FIRST_TRIAL = 0.1  # share of tol, for what is left of the products as a share of the objective: then a crossover
TRIAL_AGAIN = 0.1  # of what was left at the last one
LEAST_LEFT = 1e-10  # what rounding leaves
MOST_VIOLATION = 2.0  # in units of tol, of α whose certificate is computed
MATRICES = 3  # of a problem that are in memory at once
ROOM = 2.0**31  # bytes for these, where it is not known how many there are
SHARE_OF_ROOM = 0.3  # where it is: another thread may solve problems of its own
TREATMENTS = frozenset({Treatment.NONE, Treatment.PENALIZED, Treatment.FREE})


@dataclass(frozen=True)
class SideBySide:
    """The interior-point method as results of a search on a device name it."""

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
        """Return True if they have the same thresholds and columns, and a treatment that this method takes."""
        first, member = self.problems[0], _member(self.problems[0])
        same = all(p.treatment is first.treatment and np.array_equal(_member(p), member) for p in self.problems)
        used = [len(np.unique(problem.hinges.threshold)) for problem in self.problems]
        return same and first.treatment in TREATMENTS and set(used) == {first.n_thresholds}


def _member(problem: Problem) -> Floats:
    """Return which columns of hinges are about which thresholds."""
    return Columns.of(problem, np.arange(problem.n_samples), NumpyLibrary()).member


class Batch:
    """All folds at several C, on K of all samples, (n, n), which the library has."""

    def __init__(
        self, library: ArrayLibrary, K: Array, folds: Folds, C: Floats, tol: float, rounding: ScoreRounding
    ) -> None:
        self._library, self._folds, self._C, self._tol, self._rounding = library, folds, C, tol, rounding
        self._size = size = max(map(len, folds.samples))
        self._every = K
        unit = float(abs(K.diagonal()).mean()) or 1.0
        padded = [library.index(np.resize(each, size)) for each in folds.samples]  # the rest has no hinges
        factor = low_rank_factor(library, K, unit, MOST_RANK * size)
        kernel = StackedKernel(
            library,
            library.join([(K[each][:, each] / unit)[None] for each in padded]),
            None if factor is None else library.join([factor[each][None] for each in padded]),
        )
        self._stacks = Stacks.of(library, kernel, folds.problems, unit)
        self._path = StackedPath(self._stacks)
        self._found: dict[tuple[int, int], Solved] = {}

    def solve(self, starts: PathStarts) -> dict[tuple[int, int], Solved]:
        """Return solutions by the numbers of fold and C; those that the method does not certify are left out.

        A C whose system breaks down takes no other one along.
        """
        live = np.arange(len(self._C))
        cap = self._stacks.caps(self._C)
        size, x = self._stacks.size(cap), starts.point(self._stacks, cap, self._C)
        attempt = np.full(len(live), FIRST_TRIAL * self._tol)
        for iteration in range(MOST_ITERATIONS):
            _core.check_ended()
            with np.errstate(all="ignore"):
                x = self._path.advanced(x, size)
                left = self._library.host(self._path.left(x, size)).max(axis=0)  # NaN where a system has broken down
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
                cap = self._stacks.caps(self._C[live])
                size = self._stacks.size(cap)
        return self._found

    def _are_found(self, c: int) -> bool:
        return all((fold, int(c)) in self._found for fold in range(len(self._folds.samples)))

    def _some(self, x: CentralPathPoint, columns: Ints) -> CentralPathPoint:
        which = self._library.index(columns)
        return CentralPathPoint(*(part[:, which] for part in x))

    # Crossover and certificates

    def _cross_over(self, x: CentralPathPoint, live: Ints, n_iter: int) -> None:
        """Keep what passes the certificate of a crossover to exact zeros and caps."""
        stacks, cap = self._stacks, self._stacks.caps(self._C[live])
        crossover = Crossover(stacks, x, cap, 0.5 * self._tol / stacks.score_unit)
        while True:
            alpha = crossover.candidate()
            score = stacks.kernel.product((stacks.sign * alpha).sum(-1))
            violation = self._violation(crossover.x._replace(alpha=alpha, score=score), cap)
            self._keep_certified(alpha, live, violation <= MOST_VIOLATION * self._tol, n_iter)
            if all(map(self._are_found, live.tolist())) or not crossover.advance(alpha, score):
                return

    def _violation(self, x: CentralPathPoint, cap: Array) -> Floats:
        """Return about what a certificate would find, of every problem."""
        stacks, clip = self._stacks, self._library.clip
        if stacks.penalty:
            x = x._replace(b=-stacks.gamma(stacks.sign * x.alpha) / stacks.penalty)
        slope = stacks.slope(x)
        rising, falling = clip(slope, 0.0, float("inf")), clip(-slope, 0.0, float("inf"))
        low, up = self._library.number(x.alpha <= 0), self._library.number(x.alpha >= cap)
        off = (low * falling + up * rising + (1.0 - low - up) * (rising + falling)) * stacks.has
        largest = self._library.largest(off.reshape(*off.shape[:2], -1), -1)
        return stacks.score_unit * self._library.host(largest)

    def _keep_certified(self, alpha: Array, live: Ints, are_near: Flags, n_iter: int) -> None:
        """Keep those α near the optimum whose certificate, with exact scores, is within `tol`."""
        library = self._library
        which = [(f, c) for f, c in np.argwhere(are_near).tolist() if (f, int(live[c])) not in self._found]
        if not which:
            return
        shares = library.host(alpha / self._stacks.caps(self._C[live]))  # of the caps: 1 is a cap exactly
        made, full = [], np.zeros((self._every.shape[0], len(which)))
        for column, (f, c) in enumerate(which):
            problem = self._problem(f, live[c])
            own = shares[f, c][: problem.n_samples].reshape(-1)[self._stacks.places[f]] * problem.hinges.cap
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
        """Return the certificate, and the most that scores are off by where exponents are made of norms."""
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
    starts: PathStarts | None = None,
    rounding: ScoreRounding | None = None,
) -> dict[tuple[int, int], Solved]:
    """Solve all problems, for as many C at a time as memory allows.

    Problems that another kernel's start has not led to the optimum begin anew. `rounding`: of scores made of K.
    """
    starts, rounding = starts or PathStarts(), rounding or ScoreRounding()
    found = _in_parts(library, K, folds, C, tol, starts, rounding)
    left = [c for c in range(len(C)) if any((fold, c) not in found for fold in range(len(folds.samples)))]
    if left and starts.are_warm:
        again = _in_parts(library, K, folds, C[left], tol, PathStarts(), rounding)
        found |= {(fold, left[c]): solved for (fold, c), solved in again.items()}
    starts.used()
    return found


def _in_parts(
    library: ArrayLibrary, K: Array, folds: Folds, C: Floats, tol: float, starts: PathStarts, rounding: ScoreRounding
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
