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
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ordsvm import _core
from ordsvm._typing import Ints
from ordsvm.array_library import ArrayLibrary, NumpyLibrary
from ordsvm.checks import check_count, check_seed_number, usable_threads
from ordsvm.devices import check_device, too_little_memory, usable_device
from ordsvm.kernels.matrix import KernelMatrix
from ordsvm.kernels.products.device_matrix import DeviceMatrix
from ordsvm.kernels.products.divided import divided_products
from ordsvm.kernels.products.host import HostProducts, KernelProducts
from ordsvm.problem import Problem, Treatment
from ordsvm.solvers.blas import blas_threads, threads_for
from ordsvm.solvers.kernel.proximal_newton.columns import Columns
from ordsvm.solvers.kernel.proximal_newton.level import Approximations, Effort, Level
from ordsvm.solvers.kernel.proximal_newton.multipliers import Stage
from ordsvm.solvers.kernel.proximal_newton.passes import Iterate
from ordsvm.solvers.kernel.proximal_newton.preconditioner import NotSemidefinite
from ordsvm.solvers.kernel.proximal_newton.stages import FIRST_WIDTH, Ended, Stages
from ordsvm.solvers.kernel.proximal_newton.threshold_term import ThresholdTerm
from ordsvm.solvers.kernel.run import NOT_FINITE, Run
from ordsvm.torch_library import TorchLibrary, torch_libraries

FIRST_LEVEL = 50000  # samples from which on a subsample comes first
LEVEL_GROWTH = 4
DRAWN_LEVELS = 100_000  # hinges from whose levels the spread of all is told
RANK, LEAST_RANK = 2048, 64  # of the preconditioner
SMALL_LEVEL = 50_000  # samples up to which a factor of half the rank costs less than the iterations that it adds
LOOK_SECONDS = 1e-7  # that the host takes for a hinge at a look, with the way from a device


@dataclass(frozen=True)
class ProximalNewton:
    """Proximal method of multipliers with Newton's method inside, for large problems.

    Parameters
    ----------
    direct : int, default=6000
        Free samples up to which the system of a step is factored; above, conjugate gradients solve it.
    rank : int, default=None
        Drawn samples of the Nyström approximation that preconditions these; None: 2,048, and half as many for up to
        50,000 samples.
    seed : int, default=0
        Seed of the order in which samples make up levels, and of the drawn ones.
    device : str, default="cpu"
        "cpu": the core and NumPy. "cuda", "cuda:1" and so on: torch on that GPU. "cuda:all": products divided among
        all GPUs of the machine. "auto": a GPU where there is one.
        "torch:cpu": torch on the CPU, which tests use.

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
    >>> model = SVOR(C=10, solver="proximal-newton").fit(X[:50], y[:50])
    >>> model.result_.solver, model.result_.status
    ('proximal-newton', 'converged')
    """

    direct: int = 6000
    rank: int | None = None
    seed: int = 0
    device: str = "cpu"

    name: ClassVar[str] = "proximal-newton"
    accepts: ClassVar[frozenset[Treatment]] = frozenset(Treatment)

    def __post_init__(self) -> None:
        check_count("direct", self.direct, "samples")
        if self.rank is not None:
            check_count("rank", self.rank, "samples")
        check_seed_number(self.seed)
        check_device(self.device)

    def solve(self, run: Run) -> None:
        """Run the solver.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """
        if run.matrix.source is not None and not run.matrix.source[0].positive_semidefinite:
            raise ValueError(
                "solver='proximal-newton' needs a positive semidefinite kernel, which the sigmoid is not, nor a "
                "polynomial with coef0 < 0 or a degree that is no integer: its systems would have no solution. Use "
                "solver='smo'."
            )
        if len(run.problem.hinges) == 0:
            run.close(_core.Status.converged)
            return
        if run.control.monitor is not None:
            run.look_every(1)
        libraries = self._libraries(run)
        try:
            self._solve_by(libraries, run)
        except libraries[0].out_of_memory as error:
            if isinstance(error, MemoryError):
                raise
            raise _too_little_memory(self.device, run.problem, libraries[0]) from error

    def _libraries(self, run: Run) -> Sequence[NumpyLibrary] | Sequence[TorchLibrary]:
        """Those of all devices."""
        device = usable_device(self.device)
        if device == "cpu":
            return [NumpyLibrary()]
        if run.matrix.source is None:
            raise ValueError(f"device={self.device!r} needs samples: a source of rows alone is computed on the CPU.")
        return torch_libraries(device)

    def _solve_by(self, libraries: Sequence[NumpyLibrary] | Sequence[TorchLibrary], run: Run) -> None:
        threads, library = usable_threads(run.control.n_threads), libraries[0]
        shared = self._shared_products(libraries, run, threads)
        with blas_threads(threads_for(run.problem.n_samples, threads)), library.current():
            method = Method(self, run, library, shared)
            status = method.work()
            method.release()
        run.close(status)

    def _shared_products(
        self, libraries: Sequence[NumpyLibrary] | Sequence[TorchLibrary], run: Run, n_threads: int
    ) -> SharedProducts:
        """What an earlier problem about the same samples has left, where there is one."""
        kind, left = (self.name, self.device, self.seed), run.matrix.shared
        shared = None if left is None else left.get(kind)
        if shared is None:
            order = np.random.default_rng(self.seed).permutation(run.problem.n_samples)
            products, matrix = _products(libraries, run, order, n_threads)
            shared = SharedProducts(order, products, matrix, None if left is None else {})
            if left is not None:
                left[kind] = shared
        run.matrix = shared.matrix
        return shared


class SharedProducts(NamedTuple):
    """The order of the samples, their products, and the matrix that these make; approximations are kept for problems
    to come, where there are any."""

    order: Ints
    products: KernelProducts
    matrix: KernelMatrix
    approximations: Approximations | None


class Method:
    """A run of the method."""

    def __init__(self, options: ProximalNewton, run: Run, library: ArrayLibrary, shared: SharedProducts) -> None:
        self.options, self.run, self.library, self.products = options, run, library, shared.products
        self.order, self.approximations = shared.order, shared.approximations
        self._values_before = shared.products.n_values
        self.problem = run.problem
        self.columns = Columns.of(run.problem, self.order, library)
        self.effort = Effort(options.direct, options.rank or RANK, options.seed, self._stop)
        self.spread = _spread(run.problem)
        self.tol = run.control.tol
        self.looks_on_host = self._needs_host()
        if self.looks_on_host and library.queues and run.control.time_limit is None:
            run.recorder.expect(LOOK_SECONDS * len(run.problem.hinges))
        self.steps = 0
        self.stages: Stages | None = None  # of the level of all samples

    def _needs_host(self) -> bool:
        """Whether looks are the host's: it needs α for more than a look, or has to make it feasible first."""
        control = self.run.control
        ends = (control.monitor, control.keeper, control.time_limit)  # of the last, the time of the proof depends on α
        is_constrained = self.problem.treatment not in (Treatment.NONE, Treatment.PENALIZED)
        return is_constrained or any(part is not None for part in ends)

    def work(self) -> _core.Status:
        """Where the method has to end before convergence, with the α of the last stage."""
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return self._levels_in_memory()
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

    def release(self) -> None:
        """Lets go of what refers back to the method: the arrays of a device are free then, and not some time later."""
        self.stages = None
        self.effort = self.effort._replace(stop=_never)

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
        return (self.products.n_values - self._values_before) // max(1, self.problem.n_samples)

    def _stop(self) -> bool:
        """Between iterations of conjugate gradients."""
        if self.run.out_of_time():
            raise Ended(_core.Status.stopped)
        return False

    def _levels_in_memory(self) -> _core.Status:
        """Once more with a smaller preconditioner where memory does not suffice."""
        while True:
            try:
                return self._levels()
            except self.library.out_of_memory as error:
                self._keep_latest()
                self.stages = None
                self._use_less_memory(error)

    def _keep_latest(self) -> None:
        """The α of the last stage, if there is memory to fetch it: what follows starts from there."""
        with suppress(self.library.out_of_memory):
            if self.stages is not None and self.stages.latest is not None:
                self.library.release()
                self.stages.put(self.stages.latest)

    def _use_less_memory(self, error: Exception) -> None:
        effort, n = self.effort, self.problem.n_samples
        if min(effort.rank, n // 4) <= LEAST_RANK:
            raise _too_little_memory(self.options.device, self.problem, self.library) from error
        rank = max(LEAST_RANK, min(effort.rank, n // 4) // 2)
        self.effort = effort._replace(rank=rank, direct=max(1, effort.direct // 2))
        if self.approximations is not None:
            self.approximations.clear()
        self.library.release()

    def _levels(self) -> _core.Status:
        start = self._start()
        sizes = [self.problem.n_samples]
        while sizes[0] >= LEVEL_GROWTH * FIRST_LEVEL and not self.run.alpha.any():
            sizes.insert(0, sizes[0] // LEVEL_GROWTH)
        width = FIRST_WIDTH
        for size in sizes:
            factor = math.sqrt(self.problem.n_samples / size)
            columns = self.columns.first(size, factor)
            term = ThresholdTerm(self.problem.treatment, start.b, self.run.matrix.largest or 1.0)
            approximations = {} if self.approximations is None else self.approximations
            level = Level(self.library, self.products, columns, term, self._effort(size), approximations)
            start = self._carried(level, start)
            if term.is_penalised and size == sizes[0] and not self.run.alpha.any():
                start = start._replace(b=level.best_thresholds(start.score))
            centre = columns.table(self.library.array(self.run.alpha)) if self.run.alpha.any() else 0.5 * columns.cap
            stages = Stages(self, level, Stage(self.library, columns, centre, width * self.spread), start)
            if size == self.problem.n_samples:
                self.stages = stages
                return stages.to_the_end()
            start, width = stages.of_subsample()
            del level, stages, approximations  # of K
        raise AssertionError("the last level is that of all samples")

    def _effort(self, size: int) -> Effort:
        if self.options.rank is not None or size > SMALL_LEVEL:
            return self.effort
        return self.effort._replace(rank=max(LEAST_RANK, self.effort.rank // 2))

    def _start(self) -> Iterate:
        """β of the α to start from, and thresholds that suit its scores; a level finds penalised ones where α = 0."""
        alpha, score = self.run.alpha, self.run.score
        array, treatment = self.library.array, self.problem.treatment
        if treatment is Treatment.NONE or (treatment is Treatment.PENALIZED and not alpha.any()):
            b = np.zeros(self.columns.member.shape[1])
        else:
            b = self.problem.best_thresholds(score)
        return Iterate(array(self.problem.beta(alpha)[self.order]), array(score[self.order]), b)

    def _carried(self, level: Level, start: Iterate) -> Iterate:
        """The function of a smaller level at all samples of this one; the first level has its own scores."""
        known = min(level.size, len(start.beta))
        if known == level.size:
            return Iterate(start.beta[:known], start.score[:known], start.b)
        beta = self.library.join([start.beta, self.library.zeros(level.size - known)])
        return Iterate(beta, level.scores(beta), start.b)


def _products(
    libraries: Sequence[NumpyLibrary] | Sequence[TorchLibrary], run: Run, order: Ints, n_threads: int
) -> tuple[KernelProducts, KernelMatrix]:
    """On the CPU those of the core; on a device, a matrix that computes there comes with them."""
    on_devices = [library for library in libraries if isinstance(library, TorchLibrary)]
    if not on_devices or run.matrix.source is None:
        return HostProducts(run.matrix, order, n_threads), run.matrix
    products = divided_products(on_devices, *run.matrix.source, order)
    return products, DeviceMatrix(run.matrix, on_devices[0], products, order)


def _too_little_memory(device: str, problem: Problem, library: ArrayLibrary) -> MemoryError:
    """With what a fit needs at the least, beside the samples."""
    n, per_sample = problem.n_samples, max(1, -(-len(problem.hinges) // max(1, problem.n_samples)))
    need = 8.0 * n * (12 * per_sample + LEAST_RANK) / 2**30
    return too_little_memory(device, library.free_memory(), n, f"beside these it needs about {need:.2g} GB")


def _never() -> None:
    pass


def _spread(problem: Problem) -> float:
    """The mean distance of the levels −s·o of hinges from their median: 1 for classes and ranks, that of the targets
    for regression."""
    some = slice(None, None, max(1, len(problem.hinges) // DRAWN_LEVELS))
    level = -problem.hinges.sign[some] * problem.hinges.offset[some]
    spread = float(np.abs(level - np.median(level)).mean()) if len(level) else 1.0
    return spread if spread > 0 else 1.0
