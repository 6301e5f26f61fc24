"""A kernel problem being solved: the variables that a solver changes, and the proof of where they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.checkpoint import State
from ordsvm.checks import Precision
from ordsvm.kernels.matrix import KernelMatrix
from ordsvm.problem import Certificate, Problem, Treatment
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.proof_time import ProofTime
from ordsvm.solvers.recorder import Counts, Recorder
from ordsvm.solvers.solution import Solution

NOT_FINITE = (
    "The kernel gives values that are not finite, or too large to add up: scale the features; a polynomial kernel of "
    "broken degree needs gamma·x·y + coef0 ≥ 0."
)
LEAST_TOLERANCE = 1e-9  # share of tol: a gap that does not close there will not close
STEPS_BEFORE_LAST_RESORT = 50_000  # and for every hinge as many as follow: about the time that the last resort takes
STEPS_OF_A_HINGE = 250


class Solver(Protocol):
    """What a solver of kernel machines is: options, a name, the treatments it accepts, and one method.

    Parameters
    ----------
    *args : object
        Options of the solver.
    **kwargs : object
        Options of the solver by name.

    Attributes
    ----------
    name : str
        For the `solver` parameter of an estimator.
    accepts : frozenset of Treatment
        Treatments of the thresholds that it solves.

    See Also
    --------
    SMO : One of them.
    solve : Runs a solver.

    Examples
    --------
    >>> from ordsvm.solvers import SMO
    >>> SMO().name
    'smo'
    """

    name: ClassVar[str]
    accepts: ClassVar[frozenset[Treatment]]

    def solve(self, run: Run) -> None:
        """Work on a run until its problem is solved or `run.report` returns True.

        Parameters
        ----------
        run : Run
            The problem, the kernel matrix and the state that the solver brings to the optimum.
        """


def solve(
    problem: Problem, matrix: KernelMatrix, solver: Solver, control: Control, start: Floats | None = None
) -> Solution:
    """Solve the dual, and prove how well.

    Parameters
    ----------
    problem : Problem
        Hinges and treatment of the thresholds.
    matrix : KernelMatrix
        K of the samples.
    solver : Solver
        Options of a solver that accepts the treatment.
    control : Control
        Limits, threads and observers.
    start : ndarray of shape (n_hinges,), default=None
        The α to start from, made feasible; None: 0.

    Returns
    -------
    Solution
        The result with its certificate, β and thresholds.

    Raises
    ------
    ValueError
        Where a rank without samples leaves a free or ordered threshold undetermined, or where the kernel gives values
        that are not finite.

    See Also
    --------
    check_solver : The solver of a name.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.formulations import svor
    >>> from ordsvm.kernels import RBF
    >>> from ordsvm.solvers import GCD, Control, KernelMatrix, solve
    >>> X, y = np.arange(6.0).reshape(-1, 1), np.repeat([0, 1, 2], 2)
    >>> problem = svor(y, n_ranks=3, C=1.0)
    >>> solution = solve(problem, KernelMatrix(RBF(gamma=0.5).rows(X)), GCD(), Control(tol=1e-6))
    >>> solution.result.status, solution.thresholds.shape
    ('converged', (2,))
    """
    if problem.n_thresholds > 1:  # of one threshold it is seen at the end, which makes small fits faster
        _require_determined_thresholds(problem)
    run = Run(problem, matrix, solver, control, start)
    solver.solve(run)
    if control.last_resort is not None and run.gets_nowhere():
        run.hand_over(control.last_resort())
    return run.solution()


def _require_determined_thresholds(problem: Problem) -> None:
    if problem.treatment in (Treatment.NONE, Treatment.PENALIZED):
        return
    loose = np.flatnonzero(problem.undetermined())
    if len(loose):
        k = int(loose[0])
        signs = problem.hinges.sign[problem.hinges.threshold == k]
        missing = " or ".join(side for side, sign in (("below", -1.0), ("above", 1.0)) if sign not in signs)
        raise ValueError(
            f"Nothing determines threshold {k}, between ranks {k} and {k + 1}: no sample of a rank {missing} it is "
            "given. Give some, leave that rank out, or take penalised thresholds (svor)."
        )


@dataclass(frozen=True)
class _Proof:
    """A certificate and the numbers that it is about."""

    numbers: tuple[bytes, ...]
    certificate: Certificate

    def is_of(self, *numbers: Floats) -> bool:
        return all(own == other.tobytes() for own, other in zip(self.numbers, numbers, strict=True))


class Run:
    """A fit under way: the problem, rows of K, the variables, and the record of it.

    The core works on `alpha`, `score` and `threshold` in place; `report` may read them whenever it is called.
    """

    def __init__(
        self, problem: Problem, matrix: KernelMatrix, solver: Solver, control: Control, start: Floats | None
    ) -> None:
        self.problem = problem
        self.matrix = matrix
        self.control = control
        self.recorder = Recorder(solver, control)
        self.n_iter = 0
        self.kernel_rows = 0
        self._is_stalled = False
        self._double_rows = self._starts_double = False  # whether float32 rows were not precise enough
        start = self._resumed(start)
        self.scores_follow = True  # whether `score` is that of `alpha` whenever `report` is called
        self.alpha = np.zeros(len(problem.hinges)) if start is None else problem.repair(start)
        self.score = self.exact_scores() if self.alpha.any() else np.zeros(problem.n_samples)
        self.score_error = np.zeros(problem.n_samples)  # of scores that a solver has not recomputed: Block
        self.threshold = np.zeros(problem.n_thresholds)
        self._start_thresholds()
        seen = np.zeros(problem.n_samples) if start is None else problem.beta(self.alpha)
        self._seen = (seen, self.score.copy())
        self.active = np.array([len(problem.hinges)], dtype=np.int64)
        self._earlier = (self.n_iter, self.kernel_rows)
        self._proof: _Proof | None = None
        self._proof_time: ProofTime | None = None
        if control.time_limit is not None:
            self._proof_time = ProofTime(lambda beta: self.matrix.product(beta, control.n_threads), control.time_limit)

    # What the core calls while it works

    @property
    def report_every(self) -> int:
        return self.recorder.report_every

    def report(self, steps: int, kernel_rows: int, look: Callable[[], tuple[Certificate, int]] | None = None) -> bool:
        """Called by a running solver about twenty times a second; True stops it.

        look: for a solver whose variables are not here, makes the proof and counts the support vectors.
        """
        self.count(steps, kernel_rows)
        if self._proof_time is not None:
            self.recorder.reserved = self._proof_time.seconds(self.problem.beta(self.alpha))
        if not self.out_of_time() and self.recorder.look_is_due(self.n_iter):
            began = time.perf_counter()
            proof, n_support = self.current_look() if look is None else look()
            self.recorder.look(proof, self._counts(n_support), self.alpha, began)
        keeper = self.control.keeper
        if keeper is not None and keeper.due():
            keeper.keep(self._state())
        return self.recorder.stopped

    def out_of_time(self) -> bool:
        """Called instead of `report` where the variables are not in a state to be looked at."""
        return self.recorder.out_of_time()

    def judge(self, tol: float, violation: float) -> float:
        """Called by a solver whose own rule holds at `tol`: the tolerance it should go on with, `tol` to accept.

        A violation within tol leaves a small relative gap unless the objective is small beside C, as it is for
        separable data. Then the violation has to shrink in proportion. A gap that a billionth of the tolerance does
        not close will not close: the kernel is not positive semidefinite.
        """
        gap = self.certificate().relative_gap
        if not gap > self.control.tol or tol <= LEAST_TOLERANCE * self.control.tol:
            return tol
        return min(tol, violation) * min(0.5, max(0.1, 0.7 * self.control.tol / gap))

    # What a solver in Python calls

    @cached_property
    def core_hinges(self) -> _core.Hinges:
        """The problem as the core takes it."""
        return core_hinges(self.problem)

    def native(self, solver: Callable[..., _core.Outcome], precision: Precision, *options: object) -> bool:
        """Runs a solver of the core; once more with float64 rows where float32 ones can't reach the tolerance.

        False where the core has handed over to another method before the end.
        """
        live = _core.LiveArrays(self.alpha, self.score, self.threshold, self.active, self.score_error)
        steps = self._step_limit()
        in_float = precision == "float32" and self.matrix.fits_float and not self._starts_double
        self._starts_double = False
        for double_rows in (False, True) if in_float else (True,):
            self._double_rows = double_rows and precision == "float32"
            limits = _core.Limits(self.control.tol, max(0, steps - self.n_iter), self.n_iter)
            self._earlier = (self.n_iter, self.kernel_rows)
            self.recorder.look_every(self.report_every, first=self.n_iter + self.report_every)  # as the core counts
            outcome = solver(self.core_hinges, self.matrix.cache(double_rows), limits, live, self, *options)
            self.count(outcome.steps, outcome.kernel_rows)
            if outcome.status is _core.Status.hands_over:
                return False
            if outcome.status is not _core.Status.imprecise:
                break
            self._restart_from_alpha()
        self._is_stalled = outcome.status is _core.Status.max_iter and not 0 <= self.control.max_iter <= self.n_iter
        if not self._is_stalled:
            self.close(outcome.status)
        return True

    def _step_limit(self) -> int:
        """max_iter, or how many steps a solver has before the last resort takes over."""
        limit = self.control.max_iter if self.control.max_iter >= 0 else int(np.iinfo(np.int64).max)
        if self.control.last_resort is None:
            return limit
        return min(limit, STEPS_BEFORE_LAST_RESORT + STEPS_OF_A_HINGE * len(self.problem.hinges))

    def gets_nowhere(self) -> bool:
        """Whether the solver has had its steps, or has ended without convergence though no limit was met."""
        if self._is_stalled or self.control.monitor is not None:
            return self._is_stalled
        if self.recorder.status not in ("converged", "precision"):
            return False
        proof = self.certificate()
        return not max(proof.relative_gap, proof.violation) <= self.control.tol

    def hand_over(self, solver: Solver) -> None:
        """Another solver goes on from here."""
        self.matrix, self._proof = self.matrix.elsewhere(), None
        self.matrix.release_rows()
        self._earlier = (self.n_iter, self.kernel_rows)
        self.recorder.hand_over(solver)
        self.move_to(self.alpha, self.exact_scores())
        solver.solve(self)

    def count(self, steps: int, kernel_rows: int) -> None:
        """How far a solver has got; `report` does this too."""
        self.n_iter, self.kernel_rows = self._earlier[0] + steps, self._earlier[1] + kernel_rows

    def look_every(self, steps: int) -> None:
        """For a solver whose steps do more than one hinge's or pair's, before its first one."""
        self.recorder.look_every(steps)

    def move_to(self, alpha: Floats, score: Floats) -> None:
        """To another feasible α with its scores."""
        self.alpha[:] = alpha
        self._set_exact(score)
        self._start_thresholds()

    def close(self, status: _core.Status) -> None:
        """The end of a solver: how it ended, the last look, and the scores of the model that is kept."""
        recorder = self.recorder
        if status is _core.Status.max_iter:
            recorder.status = "max_iter"
        if status is _core.Status.imprecise:
            recorder.status = "precision"
        if self.control.keeper is not None and recorder.may_go_on:
            self.control.keeper.finish(self._state())
        if self.control.monitor is not None:
            if recorder.status not in ("callback", "early_stopping"):  # a look was the end
                proof, n_support = self.current_look()
                recorder.last_look(proof, self._counts(n_support), self.alpha)
            best = self.control.monitor.best
            if recorder.status not in ("converged", "precision") and best is not None:
                recorder.best_look, self.alpha[:] = best
        if recorder.stopped:
            self.alpha[:] = self.problem.repair(self.alpha)  # or `solution` would have to compute the scores again
            self._set_exact(self.exact_scores())

    def exact_scores(self) -> Floats:
        return self.matrix.product(self.problem.beta(self.alpha), self.control.n_threads)

    # Checkpoints

    def _state(self) -> State:
        """Where the run is. Threads may be at work on α: each number of it is one that it has had."""
        facts = {"n_iter": self.n_iter, "kernel_rows": self.kernel_rows, "double_rows": self._double_rows}
        parts = {"run": State(facts | {"recorder": self.recorder.position()}, {"alpha": self.alpha.copy()})}
        if self.control.monitor is not None:
            parts["monitor"] = self.control.monitor.state()
        return State.joined(parts)

    def _resumed(self, start: Floats | None) -> Floats | None:
        """The α of the checkpoint that the run goes on from, with all else that it has kept; or the given start."""
        keeper = self.control.keeper
        if keeper is None or keeper.resumed is None:
            return start
        parts = keeper.resumed.parts()
        facts = parts["run"].facts
        self.n_iter, self.kernel_rows = int(facts["n_iter"]), int(facts["kernel_rows"])
        self._starts_double = bool(facts["double_rows"])
        self.recorder.resume(facts["recorder"])
        if self.control.monitor is not None:
            self.control.monitor.restore(parts["monitor"])
        return parts["run"].arrays["alpha"]

    # Proofs

    def solution(self) -> Solution:
        """What the run has come to. The constraints are restored first: a certificate does not show a violated one."""
        alpha = self.problem.repair(self.alpha)
        if not np.array_equal(alpha, self.alpha):
            self.alpha[:] = alpha
            self._set_exact(self.exact_scores())
        proof, status = self.certificate(), self.recorder.status
        if not np.isfinite(proof.gap):
            _require_determined_thresholds(self.problem)
            raise ValueError(NOT_FINITE)
        if status == "converged" and not max(proof.relative_gap, proof.violation) <= self.control.tol:
            self._set_exact(self.exact_scores())  # those of a solver's own end may be estimates
            proof = self.certificate()
            if not max(proof.relative_gap, proof.violation) <= self.control.tol:
                status = "precision" if self._is_solved_but_for_rounding() else "gap"
        beta = self.problem.beta(self.alpha)
        if status in ("converged", "precision") and (beta * self.score).sum() < 0.0:  # ‖w‖², of small fits quickly
            status = "gap" if refutes_kernel(self.problem, self.matrix, self.alpha, proof.dual) else status
        result = self.recorder.result(proof, Counts(self.n_iter, self.kernel_rows), self.alpha, status)
        return Solution(result, beta, proof.thresholds, self.score)

    def _is_solved_but_for_rounding(self) -> bool:
        """Whether most of the gap is what scores may be off by, and not the kernel's."""
        bare = self.problem.certificate(self.alpha, self.score)
        return bare.violation <= self.control.tol and bare.gap <= 0.5 * self.certificate().gap

    def certificate(self) -> Certificate:
        """What `alpha` proves, if `score` is Kβ but for rounding and `score_error`. Kept, as `judge` and `solution`
        mostly need it for the same numbers."""
        numbers = self.alpha, self.score, self.score_error
        if self._proof is None or not self._proof.is_of(*numbers):
            self._proof = _Proof(tuple(part.tobytes() for part in numbers), self._new_certificate())
        return self._proof.certificate

    def _new_certificate(self) -> Certificate:
        """What scores of the precision of `KernelMatrix.rounding` prove, and what some of them are off by besides."""
        proof = self._evenly_rounded_certificate()
        error = self.matrix.rounding_by_sample(self.problem.beta(self.alpha))
        if error is None:
            return proof
        return replace(proof, gap=proof.gap + self.problem.error_of_gap(self.alpha, error))

    def _evenly_rounded_certificate(self) -> Certificate:
        """That of `Problem.certificate`, by the core where thresholds have no order: small fits are short."""
        problem = self.problem
        if problem.treatment is Treatment.ORDERED:
            rounding = self.matrix.rounding(problem.beta(self.alpha))
            return problem.allowing_for(self.score_error).certificate(self.alpha, self.score, rounding)
        matrix = self.matrix
        return core_certificate(
            problem, self.core_hinges, self.alpha, self.score, self.score_error, matrix.roundings, matrix.largest
        )

    def _current_proof(self) -> Certificate:
        """What the variables of a running solver prove, up to the rounding of float32 rows."""
        return self.problem.certificate(self.alpha, self.score if self.scores_follow else self._current_scores())

    def current_look(self) -> tuple[Certificate, int]:
        """What the variables prove, and the number of support vectors."""
        return self._current_proof(), int(np.count_nonzero(self.problem.beta(self.alpha)))

    def _counts(self, n_support: int) -> Counts:
        return Counts(self.n_iter, self.kernel_rows, n_support, int(self.active[0]))

    def _current_scores(self) -> Floats:
        """Kβ, brought up to date with what has changed since the last look."""
        beta, (seen, score) = self.problem.beta(self.alpha), self._seen
        self._seen = (beta, score + self.matrix.product(beta - seen))
        return self._seen[1]

    def _set_exact(self, score: Floats) -> None:
        self.score[:] = score
        self.score_error[:] = 0.0

    def _restart_from_alpha(self) -> None:
        """Leaves behind what float32 rows have added up to."""
        self.move_to(self.alpha, self.exact_scores())

    def _start_thresholds(self) -> None:
        if self.problem.treatment is Treatment.PENALIZED:
            self.threshold[:] = -self.problem.gamma(self.alpha) if self.alpha.any() else 0.0


def refutes_kernel(problem: Problem, matrix: KernelMatrix, alpha: Floats, dual: float) -> bool:
    """Whether what α proves shows that the kernel is not positive semidefinite, so that it proves nothing."""
    below = problem.negative_norm(alpha, dual)
    if below == 0.0:
        return False
    beta = problem.beta(alpha)
    return below > matrix.rounding(beta) * float(np.abs(beta).sum())


def core_hinges(problem: Problem) -> _core.Hinges:
    """The problem as the core takes it."""
    h = problem.hinges
    return _core.hinges(
        h.sample,
        h.threshold,
        h.sign,
        h.offset,
        h.cap,
        n_samples=problem.n_samples,
        n_thresholds=problem.n_thresholds,
        treatment=getattr(_core.Treatment, problem.treatment.value),
    )


def core_certificate(
    problem: Problem,
    hinges: _core.Hinges,
    alpha: Floats,
    score: Floats,
    error: Floats,
    roundings: float,
    largest: float,
) -> Certificate:
    """The one that `Problem.certificate` makes, by the core, for thresholds without an order.

    hinges               those of the problem, by `core_hinges`
    error                what scores may be off by where all hinges of a sample have α = 0; empty: nothing
    roundings, largest   of values of K
    """
    primal, dual, gap, violation, b, gamma = _core.prove(hinges, alpha, score, error, roundings, largest)
    dual_b = -gamma if problem.treatment is Treatment.PENALIZED else None
    return Certificate(primal, dual, gap + problem.rounding_of_margins(alpha, b), violation, b, dual_b)
