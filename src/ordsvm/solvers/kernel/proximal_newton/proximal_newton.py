"""A proximal method of multipliers with Newton's method inside: exact machines from products of K that is never stored.

Solves    the dual with any treatment of the thresholds, for kernels that are positive semidefinite.
Keeps     β, f = Kβ, b, and the centre α̂ of the present stage.
Stage     hinges are replaced by their prox around α̂, of width h; Newton's method solves that problem (level.py), a
          handful of steps, each a linear system over the free samples; α̂ moves to the α found, and h falls.
Levels    large problems begin with a random subsample, whose function f is where the next one starts.
Stops     when violation and relative gap, with scores recomputed in float64, are at most tol.
Cost      products of K with the samples that move, and systems: |I|³/3 where they are factored, |I|² kernel values an
          iteration of conjugate gradients where not.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Flags, Floats, Ints
from ordsvm.array_library import Array, ArrayLibrary, NumpyLibrary, TorchLibrary
from ordsvm.checks import check_count, check_seed_number, usable_threads
from ordsvm.kernels.products.device_matrix import DeviceMatrix
from ordsvm.kernels.products.host import HostProducts, KernelProducts
from ordsvm.kernels.products.on_torch import torch_products
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.blas import blas_threads, threads_for
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.level import Direction, Effort, Iterate, Judged, Level
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage
from ordsvm.solvers.kernel.proximal_newton.newton_system import Accuracy, NotSemidefinite
from ordsvm.solvers.kernel.proximal_newton.threshold_term import ThresholdTerm
from ordsvm.solvers.kernel.run import NOT_FINITE, Run

FIRST_LEVEL = 50000  # samples from which on a subsample comes first
LEVEL_GROWTH = 4
FIRST_WIDTH = 2.0  # of the first level, in units of the spread of the levels of hinges
NEXT_WIDTH = 0.3  # of later ones
LAST_SUBSAMPLE_WIDTH = 0.16  # at which a subsample has done its work
LEAST_WIDTH = 0.002
SHRINK = 0.7  # of the width from stage to stage
RESIDUAL_SHARE = 0.1  # of the Nyström residual times the cap: below this width conjugate gradients get slow
MOST_STEPS = 6  # of a stage
LOOSE, TIGHT = 0.1, 0.02  # accuracy of systems, far from the end and near it
MOST_STAGES = 300
MOST_STAGES_OF_SUBSAMPLE = 60
MOST_STAGES_WITHOUT_GAIN = 40
STAGES_BEFORE_TRIAL = 6  # without gain, after which the exact certificate is tried: it may have better thresholds
FEW_VALUES = 5e8  # of K, up to which scores are computed anew in float64 after every stage where products are rounded
NO_MOVE = 1e-3  # share of the tolerance
DEVICE = re.compile(r"cpu|cuda(:\d+)?|torch:\w+(:\d+)?")


class Ended(Exception):
    """The method has to end before convergence."""

    def __init__(self, status: _core.Status) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True)
class ProximalNewton:
    """Proximal method of multipliers with Newton's method inside, for large problems.

    Parameters
    ----------
    direct : int, default=6000
        Free samples up to which the system of a step is factored; above, conjugate gradients solve it.
    rank : int, default=2048
        Drawn samples of the Nyström approximation that preconditions these.
    seed : int, default=0
        Seed of the order in which samples make up levels, and of the drawn ones.
    device : str, default="cpu"
        "cpu": the core and NumPy. "cuda", "cuda:1" and so on: torch on that GPU. "torch:cpu": torch on the CPU, which
        tests use.

    Attributes
    ----------
    name : str
        "proximal-newton", for the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves: all.

    See Also
    --------
    Block : Working sets of samples; faster on a CPU unless C is large.

    Notes
    -----
    `n_iter` counts Newton steps. From 200,000 samples on it begins with subsamples, and looks begin after these.

    Examples
    --------
    >>> from ordsvm import SVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> model = SVOR(solver="proximal-newton").fit(X[:50], y[:50])
    >>> model.result_.solver, model.result_.status
    ('proximal-newton', 'converged')
    """

    direct: int = 6000
    rank: int = 2048
    seed: int = 0
    device: str = "cpu"

    name: ClassVar[str] = "proximal-newton"
    accepts: ClassVar[frozenset[Treatment]] = frozenset(Treatment)

    def __post_init__(self) -> None:
        check_count("direct", self.direct, "samples")
        check_count("rank", self.rank, "samples")
        check_seed_number(self.seed)
        if not isinstance(self.device, str) or not DEVICE.fullmatch(self.device):
            raise ValueError(f"device={self.device!r} is unknown: give 'cpu', 'cuda', or 'cuda:1' and so on.")

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        if run.matrix.source is not None and not run.matrix.source[0].positive_semidefinite:
            raise ValueError(
                "solver='proximal-newton' needs a positive semidefinite kernel, which the sigmoid is not: its systems "
                "would have no solution. Use solver='smo'."
            )
        if len(run.problem.hinges) == 0:
            run.close(_core.Status.converged)
            return
        if run.control.monitor is not None:
            run.look_every(1)
        order = np.random.default_rng(self.seed).permutation(run.problem.n_samples)
        library, products = self._on_device(run, order)
        with blas_threads(threads_for(run.problem.n_samples, usable_threads(run.control.n_threads))):
            status = Method(self, run, library, products, order).work()
        run.close(status)

    def _on_device(self, run: Run, order: Ints) -> tuple[ArrayLibrary, KernelProducts]:
        if self.device == "cpu":
            return NumpyLibrary(), HostProducts(run.matrix, order, usable_threads(run.control.n_threads))
        if run.matrix.source is None:
            raise ValueError(f"device={self.device!r} needs samples: a source of rows alone is computed on the CPU.")
        try:
            library = TorchLibrary(self.device.removeprefix("torch:"))
        except ImportError:
            raise ImportError(f"device={self.device!r} needs torch: pip install 'ordsvm[gpu]'.") from None
        products = torch_products(library, *run.matrix.source, order)
        run.matrix = DeviceMatrix(run.matrix, library, products, order)
        return library, products


class Method:
    """A run of the method."""

    def __init__(
        self, options: ProximalNewton, run: Run, library: ArrayLibrary, products: KernelProducts, order: Array
    ) -> None:
        self.options, self.run, self.library, self.products = options, run, library, products
        self.order = order
        self.problem = run.problem
        self.columns = Columns.of(run.problem, order, library)
        self.effort = Effort(options.direct, options.rank, options.seed, self._stop)
        self.spread = _spread(run.problem)
        self.tol = run.control.tol
        self.steps = 0
        self.stages: Stages | None = None  # of the level of all samples

    def work(self) -> _core.Status:
        """Where the method has to end before convergence, with the α of the last stage."""
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return self._levels()
        except Ended as end:
            status = end.status
        except NotSemidefinite:
            status = _core.Status.converged  # the gap shows that it is not
        except FloatingPointError:
            status = _core.Status.imprecise
            if not np.isfinite(self.run.matrix.product(np.ones(self.problem.n_samples))).all():
                raise ValueError(NOT_FINITE) from None
        if self.stages is not None and self.stages.latest is not None:
            self.stages.put(self.stages.latest)
        return status

    def begin_step(self) -> None:
        """Counts a Newton step, if no limit is met."""
        run = self.run
        if run.out_of_time():
            raise Ended(_core.Status.stopped)
        if 0 <= run.control.max_iter <= run.n_iter:
            raise Ended(_core.Status.max_iter)
        self.steps += 1
        run.count(self.steps, self.n_rows())

    def n_rows(self) -> int:
        """Rows of K that the values computed would make up."""
        return self.products.n_values // max(1, self.problem.n_samples)

    def _stop(self) -> bool:
        """Between iterations of conjugate gradients."""
        if self.run.out_of_time():
            raise Ended(_core.Status.stopped)
        return False

    def _levels(self) -> _core.Status:
        start = self._start()
        sizes = [self.problem.n_samples]
        while sizes[0] >= LEVEL_GROWTH * FIRST_LEVEL and not self.run.alpha.any():
            sizes.insert(0, sizes[0] // LEVEL_GROWTH)
        width = FIRST_WIDTH
        for size in sizes:
            factor = math.sqrt(self.problem.n_samples / size)
            columns = self.columns.first(size, factor)
            term = ThresholdTerm(self.library, self.problem.treatment, start.b, self.run.matrix.largest or 1.0)
            level = Level(self.library, self.products, columns, term, self.effort)
            start = self._carried(level, start)
            centre = columns.table(self.library.array(self.run.alpha)) if self.run.alpha.any() else 0.5 * columns.cap
            stages = Stages(self, level, Stage(self.library, columns, centre, width * self.spread), start)
            if size == self.problem.n_samples:
                self.stages = stages
                return stages.to_the_end()
            start, width = stages.of_subsample(), NEXT_WIDTH
        raise AssertionError("the last level is that of all samples")

    def _start(self) -> Iterate:
        """β of the α to start from, and thresholds that suit its scores."""
        alpha, score = self.run.alpha, self.run.score
        array = self.library.array
        b = np.zeros(0) if self.problem.treatment is Treatment.NONE else self.problem.best_thresholds(score)
        return Iterate(array(self.problem.beta(alpha)[self.order]), array(score[self.order]), array(b))

    def _carried(self, level: Level, start: Iterate) -> Iterate:
        """The function of a smaller level at all samples of this one; the first level has its own scores."""
        known = min(level.size, len(start.beta))
        if known == level.size:
            return Iterate(start.beta[:known], start.score[:known], start.b)
        beta = self.library.join([start.beta, self.library.zeros(level.size - known)])
        return Iterate(beta, level.scores(beta), start.b)


class Stages:
    """Stages of a level, one after the other."""

    def __init__(self, method: Method, level: Level, stage: Stage, start: Iterate) -> None:
        self.method, self.level, self.stage, self.at = method, level, stage, start
        self.tol = method.tol
        self.unit = method.spread
        self.accuracy = LOOSE
        self.violation = math.inf
        self.latest: Judged | None = None
        self.floor = self._floor()
        self.least = min(self.floor, LEAST_WIDTH * self.unit * min(1.0, self.tol / 1e-3))

    def _floor(self) -> float:
        floor = LEAST_WIDTH * self.unit
        if self.level.size > self.method.options.direct:
            residual = float(self.level.nystroem.residual.mean())
            floor = max(floor, RESIDUAL_SHARE * self.level.mean_cap * residual)
        return floor

    def of_subsample(self) -> Iterate:
        """Until the width is small: the function is then close enough to that of the next level."""
        for _ in range(MOST_STAGES_OF_SUBSAMPLE):
            is_full, direction = self._stage()
            if is_full and self.stage.width <= LAST_SUBSAMPLE_WIDTH * self.unit:
                break
            self._next(is_full, direction, self.level.judge(self.stage, self.at))
        return self.at

    def to_the_end(self) -> _core.Status:
        best, n_without_gain = math.inf, 0
        for _ in range(MOST_STAGES):
            is_full, direction = self._stage()
            judged = self.latest = self.level.judge(self.stage, self.at)
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
            is_full = step > 0.9 or (step > 0 and -slope <= 0.01 * first)
            if is_full:
                break
        return is_full, direction

    def _step(self) -> tuple[Direction, float, float]:
        level, stage = self.level, self.stage
        direction = level.direction(stage, self.at, Accuracy(self.accuracy, 0.05 * self.tol))
        slope = level.slope(stage, self.at, direction, 0.0)
        if not math.isfinite(slope):
            raise FloatingPointError("A Newton step is not finite.")
        if not slope < 0 and self.accuracy < LOOSE:
            direction = level.steepest(stage, self.at)
            slope = level.slope(stage, self.at, direction, 0.0)
        if slope < 0:
            step = level.step_length(stage, self.at, direction, slope)
        else:  # where K does not see the direction, nothing but β changes
            step = 1.0 if level.moves_nothing(direction, NO_MOVE * self.tol) else 0.0
        if step < 0.9 and self.violation < math.inf and direction.n_outside <= 0.01 * direction.n_free + 10:
            judged = level.judge(stage, self.at.moved(direction, 1.0))  # the objective is all rounding near the end
            if judged.is_consistent and judged.violation <= max(0.8 * self.tol, 0.7 * self.violation):
                step = 1.0
        if step == 0:
            self.accuracy = 0.1 * LOOSE
        else:
            near = step >= 0.9 and direction.n_outside <= 0.005 * direction.n_free
            self.accuracy = TIGHT if near else LOOSE
            self.at = self.at.moved(direction, step)
        return direction, slope, step

    def _next(self, is_full: bool, direction: Direction, judged: Judged) -> None:
        """The next stage: its centre is the present α, its width what this one has shown."""
        width = self.stage.width
        if not is_full:
            width = min(1.5 * width, FIRST_WIDTH * self.unit)
        elif width > self.floor:
            width = max(SHRINK * width, self.floor)
        elif judged.violation > 0.4 * self.violation:
            width = max(0.5 * width, self.least)
            self.floor = width
        if self.level.size**2 <= FEW_VALUES and self.stage.library.fuses:
            self._refresh()
        self.level.term.next_stage(self.at.b, direction.curvature)
        self.stage = Stage(self.stage.library, self.stage.columns, judged.alpha, width)
        self.violation = judged.violation

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
        alpha = settled(method.problem, alpha, method.library.host(self.level.term.mu(judged.b)) > 0)
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
        if run.recorder.look_is_due(run.n_iter):
            self.put(judged)
        return run.report(method.steps, method.n_rows())


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


def _spread(problem: Problem) -> float:
    """The mean distance of the levels −s·o of hinges from their median: 1 for classes and ranks, that of the targets
    for regression."""
    level = -problem.hinges.sign * problem.hinges.offset
    spread = float(np.abs(level - np.median(level)).mean()) if len(level) else 1.0
    return spread if spread > 0 else 1.0
