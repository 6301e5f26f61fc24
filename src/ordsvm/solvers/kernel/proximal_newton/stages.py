"""Stages of a level, one after the other: their widths, the Newton steps of each, and what ends them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ordsvm import _core
from ordsvm._typing import Flags, Floats
from ordsvm.problem import Certificate, Problem, Treatment
from ordsvm.solvers.kernel.proximal_newton.level import Direction, Judged, Level
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage
from ordsvm.solvers.kernel.proximal_newton.newton_system import Accuracy
from ordsvm.solvers.kernel.proximal_newton.passes import Iterate

if TYPE_CHECKING:
    from ordsvm.solvers.kernel.proximal_newton.proximal_newton import Method

FIRST_WIDTH = 2.0  # of the first level, in units of the spread of the levels of hinges
LAST_SUBSAMPLE_WIDTH = 0.16  # at which a subsample has done its work; of the violation too
LEAST_WIDTH = 0.002
LEAST_SHARE = 1 / 32  # of the floor: where the kernel's residual is large, narrower stages cost more than they gain
SHRINK = 0.7  # of the width from stage to stage
RESIDUAL_SHARE = 0.1  # of the Nyström residual times the cap: below this width conjugate gradients get slow
MOST_STEPS = 6  # of a stage
SOLVED = 0.01  # share of its first slope that a step of a stage begins with where it is the last one
NARROWER = 0.5  # of the width, at and below the floor
LOOSE, TIGHT = 0.1, 0.02  # accuracy of systems, far from the end and near it
MOST_STAGES = 300
MOST_STAGES_OF_SUBSAMPLE = 60
MOST_ITERATIONS_OF_SUBSAMPLE = 200  # of a system of a subsample, which has then become hard
WIDER_AGAIN = 1.8  # the first width of the next level, in units of the last one
MOST_STAGES_WITHOUT_GAIN = 40
STAGES_BEFORE_TRIAL = 6  # without gain, after which the exact certificate is tried: it may have better thresholds
FEW_VALUES = 5e8  # of K, up to which scores are computed anew in float64 after every stage where products are rounded
CHECKED = 2048  # samples whose scores are compared with exact ones after a stage
WORTH_A_CHECK = 100.0  # times the tolerance, the violation from which on they are
MOST_ROUNDED = 0.5  # share of the tolerance that their errors may be
NO_MOVE = 1e-3  # share of the tolerance


# Of a level after a smaller one, up to a share of free samples there. Where most are free, a level of four times the
# samples has others: from a narrow start whole steps are rare until it has found them.
NEXT_WIDTHS = {0.5: 0.3, 0.85: 1.0, 1.0: FIRST_WIDTH}


class Ended(Exception):
    """The method has to end before convergence."""

    def __init__(self, status: _core.Status) -> None:
        super().__init__(status)
        self.status = status


class Stages:
    """Stages of a level, one after the other."""

    def __init__(self, method: Method, level: Level, stage: Stage, start: Iterate) -> None:
        self.method, self.level, self.stage, self.at = method, level, stage, start
        self.tol = method.tol
        self.unit = method.spread
        self.accuracy = LOOSE
        self.violation = math.inf
        self.latest: Judged | None = None
        self._judged_at = start  # what the latest was made from
        self.floor = self._floor()
        least = max(LEAST_WIDTH * self.unit, LEAST_SHARE * self.floor)
        self.least = min(self.floor, least * min(1.0, self.tol / 1e-3))

    def _floor(self) -> float:
        floor = LEAST_WIDTH * self.unit
        if self.level.size > self.method.options.direct:
            residual = self.level.nystroem.mean_residual()
            floor = max(floor, RESIDUAL_SHARE * self.level.mean_cap * residual)
        return floor

    def of_subsample(self) -> tuple[Iterate, float]:
        """Until the width is small, or the violation where the width stays: the function is then close enough to that
        of the next level, which begins with the width that is returned."""
        for _ in range(MOST_STAGES_OF_SUBSAMPLE):
            is_full, direction = self._stage()
            judged = self.level.judge(self.stage, self.at)
            is_near = min(self.stage.width, judged.violation) <= LAST_SUBSAMPLE_WIDTH * self.unit
            if is_full and (is_near or direction.iterations > MOST_ITERATIONS_OF_SUBSAMPLE):
                break
            self._next(is_full, direction, judged)
        width = _width_after(direction.n_free / self.level.size)
        if not is_near:
            width = min(FIRST_WIDTH, max(width, WIDER_AGAIN * self.stage.width / self.unit))
        return self.at, width

    def to_the_end(self) -> _core.Status:
        best, n_without_gain = math.inf, 0
        for _ in range(MOST_STAGES):
            is_full, direction = self._stage()
            judged = self.latest = self.level.judge(self.stage, self.at)
            self._judged_at = self.at
            is_stuck = n_without_gain >= STAGES_BEFORE_TRIAL and judged.relative_gap <= self.tol
            if (self._is_good(judged) or is_stuck) and self._certify(judged):
                return _core.Status.converged
            if self._report(judged):
                raise Ended(_core.Status.stopped)
            gains = judged.violation < 0.9 * best or (is_full and self.stage.width > self.floor)
            n_without_gain = 0 if gains else n_without_gain + 1
            best = min(best, judged.violation)
            if n_without_gain > MOST_STAGES_WITHOUT_GAIN:
                break
            self._next(is_full, direction, judged)
        raise Ended(_core.Status.imprecise)

    def _stage(self) -> tuple[bool, Direction]:
        """Newton steps until a whole one was taken, or too many were."""
        first = 0.0
        for count in range(MOST_STEPS):
            self.method.begin_step()
            direction, slope, step = self._step()
            first = -slope if count == 0 else first
            is_full = step > 0.9 or (step > 0 and -slope <= SOLVED * first)
            if is_full:
                break
        return is_full, direction

    def _step(self) -> tuple[Direction, float, float]:
        level, stage = self.level, self.stage
        direction = level.direction(stage, self.at, Accuracy(self.accuracy, 0.05 * self.tol))
        slope, end_slope = level.slopes(stage, self.at, direction, [0.0, 1.0])
        if not math.isfinite(slope):
            raise FloatingPointError("A Newton step is not finite.")
        if not slope < 0 and self.accuracy < LOOSE:
            direction = level.steepest(stage, self.at)
            slope, end_slope = level.slopes(stage, self.at, direction, [0.0, 1.0])
        if slope < 0:
            step = level.step_length(stage, self.at, direction, (slope, end_slope))
        else:  # where K does not see the direction, nothing but β changes
            step = 1.0 if level.moves_nothing(direction, NO_MOVE * self.tol) else 0.0
        if step < 0.9 and self.violation < math.inf and direction.n_outside <= 0.01 * direction.n_free + 10:
            judged = level.judge(stage, self.at.moved(direction.to, 1.0))  # the objective is all rounding near the end
            if judged.is_consistent and judged.violation <= max(0.8 * self.tol, 0.7 * self.violation):
                step = 1.0
        if step == 0:
            self.accuracy = 0.1 * LOOSE
        else:
            near = step >= 0.9 and direction.n_outside <= 0.005 * direction.n_free
            self.accuracy = TIGHT if near else LOOSE
            self.at = self.at.moved(direction.to, step)
        return direction, slope, step

    def _next(self, is_full: bool, direction: Direction, judged: Judged) -> None:
        """The next stage: its centre is the present α, its width what this one has shown."""
        width = self.stage.width
        if not is_full:
            width = min(1.5 * width, FIRST_WIDTH * self.unit)
        elif width > self.floor:
            width = max(SHRINK * width, self.floor)
        elif judged.violation > 0.4 * self.violation:
            width = max(NARROWER * width, self.least)
            self.floor = width
        if self.stage.library.fuses and self._is_worth_refreshing(judged):
            self._refresh()
        self.level.term.next_stage(self.at.b, direction.curvature)
        self.stage = Stage(self.stage.library, self.stage.columns, judged.alpha, width)
        self.violation = judged.violation

    def _is_worth_refreshing(self, judged: Judged) -> bool:
        """Whether exact scores cost little, or rounded ones of some samples are off by what would fail the proof."""
        level = self.level
        if level.size**2 <= FEW_VALUES:
            return True
        if level.size < self.method.problem.n_samples or judged.violation > WORTH_A_CHECK * self.tol:
            return False
        exact = level.first_scores(min(CHECKED, level.size), self.at.beta)
        return float(abs(exact - self.at.score[: len(exact)]).max()) > MOST_ROUNDED * self.tol

    # The whole problem

    def _is_good(self, judged: Judged) -> bool:
        """Whether the exact certificate is worth a product; that of free thresholds may be twice as large."""
        share = 0.8 if self.level.term.is_penalised else 0.4
        return judged.is_consistent and judged.violation <= share * self.tol and judged.relative_gap <= 0.8 * self.tol

    def _certify(self, judged: Judged) -> bool:
        """Whether the α found is good enough with its exact scores, which are then in the run."""
        self.put(judged, exact=True)
        run = self.method.run
        proof, rounding = run.certificate(), run.matrix.rounding(self.method.problem.beta(run.alpha))
        if max(proof.relative_gap, proof.violation, rounding) <= self.tol:
            return True
        if self.stage.library.fuses:
            self._refresh()
        return False

    def _refresh(self) -> None:
        """Exact scores in place of those that rounded products have added up to; no width is below their error."""
        exact = self.level.scores(self.at.beta, exact=True)
        error = float(abs(exact - self.at.score).max())
        self.at = self.at._replace(score=exact)
        width = min(max(self.stage.width, 8 * error), FIRST_WIDTH * self.unit)
        self.stage = Stage(self.stage.library, self.stage.columns, self.stage.centre, width)

    def put(self, judged: Judged, exact: bool = False) -> None:
        """α and its scores into the run: computed anew, or those at hand with what β differs by."""
        method, array = self.method, self.method.library.array
        alpha = method.library.host(self.level.columns.flat(judged.alpha))
        alpha = settled(method.problem, alpha, self.level.term.mu(judged.b) > 0)
        if exact:
            method.run.alpha[:] = alpha
            score = method.run.exact_scores()
        else:
            score = np.empty(method.problem.n_samples)
            change = array(method.problem.beta(alpha)[method.order]) - self.at.beta
            score[method.order] = method.library.host(self.at.score + self.level.scores(change))
        method.run.move_to(alpha, score)

    def _report(self, judged: Judged) -> bool:
        run, method = self.method.run, self.method
        if not method.looks_on_host:
            return run.report(method.steps, method.n_rows(), lambda: self._look_there(judged))
        if run.recorder.look_is_due(run.n_iter):
            self.put(judged)
        return run.report(method.steps, method.n_rows())

    def _look_there(self, judged: Judged) -> tuple[Certificate, int]:
        """What α proves where it is, as `Problem.certificate` of it would, and its support vectors: no α travels."""
        problem, level = self.method.problem, self.level
        if not judged.is_consistent or self.at is not self._judged_at:  # exact scores may have come since
            judged = level.with_own_scores(judged, self.at)
        if problem.treatment is Treatment.NONE:
            primal, gap, b, dual_b = judged.primal, judged.gap, np.zeros(problem.n_thresholds), None
        else:
            b, dual_b = level.best_thresholds(judged.score), judged.b
            primal, gap = level.objective_and_gap(judged, b)
        n_support = int(level.library.number(judged.beta != 0).sum())
        return Certificate(primal, primal - gap, gap, judged.violation, b, dual_b), n_support


def _width_after(free_share: float) -> float:
    return next(width for share, width in NEXT_WIDTHS.items() if free_share <= share)


def settled(problem: Problem, alpha: Floats, tied: Flags) -> Floats:
    """α that is feasible for free or ordered thresholds: hinges between their bounds make up for what γ is off by.

    tied: whether the order ties a threshold to the next. The γ of tied thresholds need only add up to 0.
    """
    if problem.treatment in (Treatment.NONE, Treatment.PENALIZED):
        return alpha
    h = problem.hinges
    group = np.arange(problem.n_thresholds)
    group[1 : len(tied) + 1] -= np.cumsum(tied)
    n_groups = int(group[-1]) + 1
    of_hinge = group[h.threshold]
    missing = -np.bincount(group, problem.gamma(alpha), n_groups)[of_hinge] * h.sign  # > 0: α should rise
    room = np.where((alpha > 0) & (alpha < h.cap), np.where(missing > 0, h.cap - alpha, alpha), 0.0)
    whole = np.bincount(of_hinge, room, n_groups)[of_hinge]
    share = np.divide(room, whole, out=np.zeros_like(room), where=whole > 2 * np.abs(missing))
    return problem.repair(alpha + missing * share)
