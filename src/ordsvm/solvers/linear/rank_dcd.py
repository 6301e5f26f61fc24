"""Dual coordinate descent over passes of rows, and the certificate: what drives the machines of cpp/linear."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats
from ordsvm.checkpoint import State
from ordsvm.checks import check_number, check_seed_number
from ordsvm.problem import Certificate
from ordsvm.result import Progress
from ordsvm.rows.memory import RowSource
from ordsvm.solvers.control import Control
from ordsvm.solvers.recorder import Counts, Recorder
from ordsvm.solvers.solution import DualVariables, LinearSolution

ROWS_UNWATCHED = 200_000  # at most so many are visited between two looks at the clock
FINEST_FLOAT = 1e-4  # relative gap that weights in float32 can be relied on to reach
ROWS_OF_A_PART = 100  # at least: a bias that catches up before the samples have moved in response may swing for ever
PATIENCE = 100  # passes in which the gap has to fall by a tenth
NEARLY = 4.0  # times the tolerance of the gap: from there on a thread to spare does half of the proof during a pass


@dataclass(frozen=True)
class RankDCD:
    """Coordinate descent on all weight vectors at once, with a proximal bias and a stop on the duality gap.

    Parameters
    ----------
    rho : float or None, default=None
        The share of a step that the bias follows at once, above 0 and at most 1; None: see `rho_for`. Where the gap no
        longer falls it becomes 1.
    parts : int, default=8
        How many times in a pass the bias goes a share rho of the rest of its way, at most; with few rows, fewer.
    seed : int, default=0
        Seed of the order of the rows.

    Attributes
    ----------
    name : str
        "rank-dcd", for the `solver` parameter of an estimator.

    See Also
    --------
    DCD2 : The paper's algorithm for NPSVOR.
    ordsvm.distributed.CoCoA : The same on the workers of a cluster.

    Notes
    -----
    The algorithm: cpp/linear/lanes.hpp (independent weight vectors), cpp/linear/thresholds.hpp (one, with thresholds).

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A dual coordinate descent method for
       large-scale linear SVM", ICML 2008.

    Examples
    --------
    >>> from ordsvm import LinearSVOR, RankDCD
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> LinearSVOR(solver=RankDCD(seed=1)).fit(X, y).result_.solver
    'rank-dcd'
    """

    rho: float | None = None
    parts: int = 8
    seed: int = 0

    name: ClassVar[str] = "rank-dcd"

    def __post_init__(self) -> None:
        if self.rho is not None:
            check_number("rho", self.rho, "None or a number above 0 and at most 1", lambda rho: 0 < rho <= 1)
        check_number("parts", self.parts, "a whole number from 1 on", lambda parts: parts >= 1 and parts == int(parts))
        check_seed_number(self.seed)

    def parts_for(self, n_samples: int) -> int:
        """Return the number of parts of a pass over so many rows.

        Parameters
        ----------
        n_samples : int
            The number of rows.

        Returns
        -------
        int
            `parts`, or fewer where a part would have less than a hundred rows.
        """
        return max(1, min(int(self.parts), n_samples // ROWS_OF_A_PART))

    def rho_for(self, norms: np.ndarray, reach: float) -> float:
        """Return the rho that these data need.

        Parameters
        ----------
        norms : ndarray of shape (n_samples,)
            The squared norms |x|² of the rows.
        reach : float
            The largest size that the sum of β can have.

        Returns
        -------
        float
            `rho` where it is given.

        Notes
        -----
        0.01 of the mean |x|², for a larger one takes more passes, and a much smaller one fails. But a bias goes a share
        rho of its way to the sum of β, whose size is at most `reach`. A pass should take it as far as about 1, or it
        needs passes without end where features or C are small.
        """
        if self.rho is not None:
            return float(self.rho)
        small = 0.01 * float(np.mean(norms, dtype=np.float64))
        far = self.parts_for(len(norms)) * reach
        return min(1.0, max(small, 0.8 / far)) if far > 0 else 1.0


MakeMachine = Callable[[RankDCD, bool], _core.Machine]  # options, and whether weights are to be in float64


class Descent:
    """Passes over the rows until the duality gap, proved in float64 from the dual variables, is small enough.

    started: when the clock did, for the norms of rows have been read by now.
    """

    def __init__(self, source: RowSource, make: MakeMachine, solver: RankDCD, control: Control, started: float) -> None:
        self.source, self.make, self.solver, self.control = source, make, solver, control
        self.precise = control.tol < FINEST_FLOAT
        self.machine = make(solver, self.precise)
        self.random = np.random.default_rng(solver.seed)
        self.n_iter = 0
        self.recorder = Recorder(solver, control, self._line, started)
        self.dual = 0.0  # objective, as the steps taken have raised it
        self._pass_seconds = 0.0
        self._seen_before = 1.0  # relative gap at the visits of the last pass
        self._now = 1.0  # what is thought to be left of it
        self._least = (np.inf, 0)  # gap, and when it was seen

    def run(self, start: tuple[Floats, Floats] | None = None) -> LinearSolution:
        """From dual variables and biases `start`, or from 0."""
        aim, failures, best = self.control.tol, 0, np.inf
        resumed = None if self.control.keeper is None else self.control.keeper.resumed
        proof = self._start_from(start) if start is not None and resumed is None else None
        if resumed is not None:
            proof = self._resume(resumed)
        while proof is None or not self._good_enough(proof):
            if proof is not None:
                self._go_on(proof, precise=self.precise or failures > 2)
            self._descend(aim)
            proof = self._prove()
            failures = 0 if relative_gap(proof) < best / 2 else failures + 1
            best = min(best, relative_gap(proof))
            aim /= 2
            if failures > 20:
                self.recorder.status = "precision"
        return self._solution(proof)

    def report(self, steps: int, kernel_rows: int) -> bool:
        """Called by the core while it works, some twenty times a second; True stops it."""
        return self.recorder.out_of_time()

    def _start_from(self, start: tuple[Floats, Floats]) -> _core.LinearCertificate:
        variables, biases = start
        self._continue_with(self.machine, variables, biases)
        return self._prove()

    def _descend(self, aim: float) -> None:
        """Passes until the gap seen on the way is within `aim`, or a stop signal comes."""
        while not self.recorder.stopped:
            if 0 <= self.control.max_iter <= self.n_iter:
                self.recorder.status = "max_iter"
                break
            self._pass(ahead=self._now <= NEARLY * aim)
            sums = self.machine.take_sums()
            self.n_iter += 1
            self.dual -= sums.moved
            primal = self.dual + sums.gap
            relative = max(0.0, sums.gap / abs(primal)) if primal != 0 else 0.0
            if not self.recorder.stopped and self.recorder.look_is_due(self.n_iter):
                seen = Certificate(primal, self.dual, sums.gap, np.nan, self.machine.biases())
                self.recorder.look(seen, self._counts())
            # Samples are seen before they move. Measured on text, eight problems, all passes: the gap in the end lies
            # between what this pass has seen and what the next one will, and close to their geometric mean.
            self._keep(dual=self.dual)
            self._now = relative * min(1.0, relative / self._seen_before) ** 0.5
            self._seen_before = max(relative, 1e-300)
            if self._now <= aim:
                break
            if not self.recorder.stopped:
                self._change_if_stuck(sums.gap, gain=-sums.moved / max(abs(self.dual), abs(primal)))

    def _pass(self, ahead: bool) -> None:
        """Visits every row once, unless a stop signal comes; `ahead`: a proof is expected to follow."""
        began, n = time.perf_counter(), self.source.n_samples
        for samples, block in self.source.shuffled(self.random):
            due = self.solver.parts_for(n) * len(block) / n  # times that the bias should go its share
            parts = max(1, round(due), len(block) // ROWS_UNWATCHED)
            whole = ahead and len(block) == n
            self.machine.descend(block, samples, parts, due / parts, self.control.n_threads, self, whole)
            if self.report(self.n_iter, 0):  # the core does not call it in a short pass
                break
            self._keep(dual=None)
        self._pass_seconds = time.perf_counter() - began

    def _change_if_stuck(self, gap: float, gain: float) -> None:
        """Where passes lead nowhere: float64 if rounding is to blame, or else a bias that follows at once.

        A bias that lags behind can go in circles, or away. Plain coordinate descent in float64 can only be slow, unless
        that rounds too much as well: then passes gain no more of the objective than its rounding error.
        """
        least, seen = self._least
        if gap < 0.9 * least:
            self._least = (gap, self.n_iter)
            return
        idle = self.n_iter - seen
        rounds, swings = not gain > (1e-15 if self.precise else 1e-6), idle >= PATIENCE or not gap < 10 * least
        if not self.precise and ((rounds and idle >= PATIENCE / 5) or (swings and self.solver.rho == 1.0)):
            self.precise = True
        elif swings and self.solver.rho != 1.0:
            self.solver = replace(self.solver, rho=1.0)
        else:
            if rounds and idle >= PATIENCE:
                self.recorder.status = "precision"
            return
        self._prove()
        self._start_anew()
        self._least = (np.inf, self.n_iter)

    def _keep(self, dual: float | None, ends: bool = False) -> None:
        """Gives the checkpoint where the descent is, if that is due or a limit ends it; `dual`: the objective, unless
        visits since the last sums have raised it."""
        keeper = self.control.keeper
        if keeper is None or not (ends or keeper.due()):
            return
        facts = {
            "n_iter": self.n_iter,
            "rho": self.solver.rho,
            "precise": self.precise,
            "dual": dual,
            "random": self.random.bit_generator.state,
            "recorder": self.recorder.position(),
        }
        variables = self.machine.variables(self.source.n_samples)
        if not self.precise:
            variables = variables.astype(np.float32)  # as the core has them
        state = State(facts, {"variables": variables, "biases": self.machine.biases()})
        (keeper.finish if ends else keeper.keep)(state)

    def _resume(self, state: State) -> _core.LinearCertificate | None:
        """Goes on from the state of an earlier call; with a proof where the objective is not in it."""
        facts = state.facts
        self.n_iter, self.precise = int(facts["n_iter"]), bool(facts["precise"])
        self.solver = replace(self.solver, rho=facts["rho"])
        self.random.bit_generator.state = facts["random"]
        self.recorder.resume(facts["recorder"])
        self.machine = self.make(self.solver, self.precise)
        self._continue_with(self.machine, state.arrays["variables"].astype(np.float64), state.arrays["biases"])
        self._least = (np.inf, self.n_iter)
        if facts["dual"] is None:
            return self._prove()
        self.dual = float(facts["dual"])
        return None

    def _prove(self) -> _core.LinearCertificate:
        self.machine.begin_proof()
        for first, block in self.source.blocks():
            self.machine.build(block, first)
        for first, block in self.source.blocks():
            self.machine.score(block, first, self.control.n_threads, NoStop())
        certificate = self.machine.certificate()
        self.dual = certificate.dual
        return certificate

    def _go_on(self, proof: _core.LinearCertificate, precise: bool) -> None:
        if not is_finite(proof) and not self.precise:
            self.precise = True
            self.machine = self.make(self.solver, True)  # from 0
            return
        if precise and not self.precise:
            self.precise = True
            self._start_anew()
            return
        self.machine.resume()
        self._rebuild()

    def _start_anew(self) -> None:
        """With a machine of the present options, from the variables of the last one."""
        variables, biases = self.machine.variables(self.source.n_samples), self.machine.biases()
        self.machine = self.make(self.solver, self.precise)
        self._continue_with(self.machine, variables, biases)

    def _continue_with(self, machine: _core.Machine, variables: Floats, biases: Floats) -> None:
        machine.set_variables(variables)
        machine.set_biases(biases)
        self._rebuild()

    def _rebuild(self) -> None:
        for first, block in self.source.blocks():
            self.machine.rebuild(block, first)

    def _good_enough(self, proof: _core.LinearCertificate) -> bool:
        """Or as good as it gets. What overflows in float32 may not in float64."""
        if not is_finite(proof):
            if self.precise:
                raise ValueError("The weights overflow: scale the features or targets, or lower C.")
            return False
        return self.recorder.stopped or relative_gap(proof) <= self.control.tol

    def _counts(self) -> Counts:
        n = self.source.n_samples
        return Counts(self.n_iter, n_support=n, n_active=n)

    def _line(self, progress: Progress) -> str:
        return pass_line(progress, self.source.n_samples / self._pass_seconds)

    def _solution(self, proof: _core.LinearCertificate) -> LinearSolution:
        certificate = certificate_of(proof, self.machine.biases())
        is_solved = certificate.relative_gap <= self.control.tol and self.recorder.status != "callback"
        status = "converged" if is_solved else self.recorder.status
        if not is_solved and self.recorder.may_go_on:
            self._keep(dual=certificate.dual, ends=True)
        result = self.recorder.result(certificate, self._counts(), np.empty(0), status)
        coef, biases = self.machine.take_weights(), self.machine.biases()
        return LinearSolution(coef, biases, DualVariables(self.machine.take_variables(self.source.n_samples)), result)


def pass_line(progress: Progress, rows_a_second: float) -> str:
    """What `verbose` prints of a pass."""
    return (
        f"[{progress.solver}] {progress.seconds:6.1f} s  pass {progress.n_iter:>4}  {rows_a_second:>13,.0f} rows/s  "
        f"objective {progress.objective:.6g}  relative gap seen {progress.relative_gap:.1e}"
    )


class NoStop:
    """Lets a proof be finished whatever the time; signals still come through."""

    def report(self, steps: int, kernel_rows: int) -> bool:
        return False


def is_finite(proof: _core.LinearCertificate) -> bool:
    return bool(np.isfinite(proof.primal - proof.dual))


def certificate_of(proof: _core.LinearCertificate, biases: Floats) -> Certificate:
    gap = max(0.0, proof.primal - proof.dual)
    return Certificate(proof.primal, proof.dual, gap, proof.violation, biases)


def relative_gap(proof: _core.LinearCertificate) -> float:
    """The gap as a share of the objective; infinite where numbers have overflowed, for that proves nothing."""
    return certificate_of(proof, np.empty(0)).relative_gap if is_finite(proof) else np.inf
