"""The two algorithms of Shi et al. 2021 for linear NPSVOR, and the loop that drives them to a certified gap."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ordsvm import _core
from ordsvm._typing import Floats, Labels
from ordsvm.checkpoint import State
from ordsvm.checks import check_flag, check_number, check_seed_number, usable_threads
from ordsvm.problem import Certificate
from ordsvm.problem.label_table import LabelTable
from ordsvm.rows.memory import block_of
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.feature_task import FeatureTask
from ordsvm.solvers.linear.losses import certificate, losses, weights
from ordsvm.solvers.linear.rounding import with_rounding
from ordsvm.solvers.recorder import ENDED_FROM_OUTSIDE, Counts, Recorder, progress_line
from ordsvm.solvers.solution import DualVariables, LinearSolution


@dataclass(frozen=True)
class RankSamples:
    """Checked data: rows with their labels and weights, and whether a 1 is appended to the rows."""

    X: Any
    labels: Labels
    weight: Floats
    bias: bool = True


@dataclass(frozen=True)
class DCD1:
    """Dual coordinate descent on the n + l variables of each rank, for NPSVOR only.

    Parameters
    ----------
    eps_s : float, default=0.1
        An epoch in which no violation (15) is larger ends a rank, unless the duality gap of all ranks together is still
        above `tol`: then eps_s becomes smaller.
    permute : bool, default=False
        Whether every epoch has a fresh random order, as in LIBLINEAR; the paper's algorithm goes from first to last.
    seed : int, default=0
        Seed of these orders.

    Attributes
    ----------
    name : str
        "dcd-1", for the `solver` parameter of an estimator.

    See Also
    --------
    DCD2 : One variable a sample and rank; faster.
    RankDCD : All weight vectors at once, for all linear machines.

    Notes
    -----
    The algorithm and the slips of the paper: cpp/linear/dcd1.hpp.

    References
    ----------
    .. [1] Y. Shi, H. Wang, X. Shen, L. Niu, "A novel large-scale ordinal regression model", 2021, Algorithm 1.

    Examples
    --------
    >>> from ordsvm import DCD1, LinearNPSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> LinearNPSVOR(solver=DCD1(permute=True)).fit(X, y).result_.solver
    'dcd-1'
    """

    eps_s: float = 0.1
    permute: bool = False
    seed: int = 0

    name: ClassVar[str] = "dcd-1"

    def __post_init__(self) -> None:
        _check_eps(self.eps_s)
        check_flag("permute", self.permute)
        check_seed_number(self.seed)

    def machines(self, samples: RankSamples, problems: list[_core.RankProblem]) -> _core.RankMachines:
        """Make the core's machine that trains all ranks.

        Parameters
        ----------
        samples : RankSamples
            Rows, labels and weights.
        problems : list of RankProblem
            The problem of every rank.

        Returns
        -------
        RankMachines
            The machines of the core, before their first epoch.
        """
        X, label, weight, bias = samples.X, samples.labels, samples.weight, samples.bias
        return _core.dcd1(block_of(X), label, weight, problems, bias=bias, permute=self.permute, seed=self.seed)


@dataclass(frozen=True)
class DCD2:
    """Dual coordinate descent with one variable a sample and rank, for NPSVOR only.

    Parameters
    ----------
    eps_s : float, default=0.1
        An epoch whose violations (27) add up to less than this share of the first epoch's (28) ends a rank, unless the
        duality gap of all ranks together is still above `tol`: then eps_s becomes smaller.
    shrinking : bool, default=True
        Whether samples that are held at a bound (29)–(31) are left out until the end is near.
    seed : int, default=0
        Seed of the fresh random order of every epoch.

    Attributes
    ----------
    name : str
        "dcd-2", for the `solver` parameter of an estimator.

    See Also
    --------
    DCD1 : Algorithm 1 of the same paper.
    RankDCD : All weight vectors at once, for all linear machines.

    Notes
    -----
    The algorithm and the slips of the paper: cpp/linear/dcd2.hpp.

    References
    ----------
    .. [1] Y. Shi, H. Wang, X. Shen, L. Niu, "A novel large-scale ordinal regression model", 2021, Algorithm 2.

    Examples
    --------
    >>> from ordsvm import DCD2, LinearNPSVOR
    >>> from ordsvm.datasets import load_diabetes_ranks
    >>> X, y = load_diabetes_ranks(3)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> LinearNPSVOR(solver=DCD2(seed=1)).fit(X, y).result_.solver
    'dcd-2'
    """

    eps_s: float = 0.1
    shrinking: bool = True
    seed: int = 0

    name: ClassVar[str] = "dcd-2"

    def __post_init__(self) -> None:
        _check_eps(self.eps_s)
        check_flag("shrinking", self.shrinking)
        check_seed_number(self.seed)

    def machines(self, samples: RankSamples, problems: list[_core.RankProblem]) -> _core.RankMachines:
        """Make the core's machine that trains all ranks.

        Parameters
        ----------
        samples : RankSamples
            Rows, labels and weights.
        problems : list of RankProblem
            The problem of every rank.

        Returns
        -------
        RankMachines
            The machines of the core, before their first epoch.
        """
        X, label, weight, bias = samples.X, samples.labels, samples.weight, samples.bias
        return _core.dcd2(block_of(X), label, weight, problems, bias=bias, shrink=self.shrinking, seed=self.seed)


def solve_dcd(
    X: Any,
    labels: Labels,
    table: LabelTable,
    *,
    targets: Floats | None = None,
    weight: Floats | None = None,
    intercept: bool = True,
    squared: bool = False,
    solver: DCD1 | DCD2,
    control: Control,
) -> LinearSolution:
    """Solves the ranks of an `npsvor` table, or some of them, to a relative duality gap of control.tol.

    X is CSR or dense in C order and checked already; control.max_iter counts the epochs of a rank. The gap alone
    decides about convergence: the violation of the result may be above tol. Other machines are not for these solvers,
    nor are targets and the squared hinge loss, which no table shows. They begin at 0, as in the paper.
    """
    if targets is not None or squared:
        raise _not_for(solver)
    samples = RankSamples(X, labels, np.ones(len(labels)) if weight is None else weight, intercept)
    run = DCDRun(samples, table, solver, control)
    return run.solution(run.to_the_end())


class DCDRun:
    """A fit under way: the machines of the core, and the record of it.

    The core pauses whenever there is something to look at, so that nothing is read while it changes.
    """

    def __init__(self, samples: RankSamples, table: LabelTable, solver: DCD1 | DCD2, control: Control) -> None:
        self.samples, self.control = samples, control
        self.recorder = Recorder(solver, control, partial(progress_line, unit="epochs"))
        self.eps = solver.eps_s
        self.core = solver.machines(samples, _rank_problems(table, solver))
        self._losses = losses(table, samples.labels, samples.weight, None, False)
        self._task = FeatureTask(table, samples.labels, samples.weight, intercept=samples.bias)
        self._norms = self.core.curvature()  # |x|², and 1 for an intercept
        self._n_threads = usable_threads(control.n_threads)
        self._limit = control.max_iter if control.max_iter >= 0 else np.iinfo(np.int64).max
        self._next_epoch = control.report_every
        self._paused = False
        if control.keeper is not None and control.keeper.resumed is not None:
            self._resume(control.keeper.resumed)

    def to_the_end(self) -> str:
        """Runs until the gap is small enough or a limit is met, and returns which."""
        end = self._to_the_end()
        if end in ENDED_FROM_OUTSIDE:
            self._keep(ends=True)
        return end

    def _to_the_end(self) -> str:
        while not self.recorder.out_of_time():
            until = min(self._limit, self._next_epoch) if self.control.report_every > 0 else self._limit
            if self.advance(until):
                if (end := self._judge()) is not None:
                    return end
            elif not self._paused and until == self._limit:
                return "max_iter"
            self._keep()
            if self.recorder.look_is_due(self.core.epochs) and self._look():
                return self.recorder.status  # of the callback, or of the limit that the core was paused for
        return "time_limit"

    def advance(self, until: int) -> bool:
        """Runs to that many epochs, or until a pause is due; whether the paper's rule holds for every rank."""
        self._paused = False
        return self.core.run(self.eps, until, self._n_threads, self)

    def report(self, epochs: int, kernel_rows: int) -> bool:
        """Called by the running core about twenty times a second; True makes it pause."""
        by_clock = self.control.report_every == 0
        keeps = self.control.keeper is not None and self.control.keeper.due()
        self._paused = self.recorder.out_of_time() or keeps or (by_clock and self.recorder.look_is_due(epochs))
        return self._paused

    def certificate(self) -> Certificate:
        """What the dual variables prove; a gap that may be smaller by rounding only is not claimed to be."""
        beta = self.core.beta()
        proof = certificate(self.samples.X, beta, self._losses, intercept=self.samples.bias)
        coef, _ = weights(self.samples.X, beta, thresholds=False)
        proof = replace(proof, gap=max(proof.gap, proof.primal - proof.dual))
        return with_rounding(proof, self._task, self._norms, DualVariables([beta]), coef)

    def solution(self, status: str) -> LinearSolution:
        proof, beta = self.certificate(), self.core.beta()
        result = self.recorder.result(proof, Counts(self.core.epochs), beta.ravel(), status)
        coef, intercept = weights(self.samples.X, beta, thresholds=False, intercept=self.samples.bias)
        return LinearSolution(coef, intercept, DualVariables([beta]), result)

    def _keep(self, ends: bool = False) -> None:
        """Gives the checkpoint where the machines are, if that is due or a limit ends them."""
        keeper = self.control.keeper
        if keeper is not None and (ends or keeper.due()):
            facts = {"eps": self.eps, "recorder": self.recorder.position()}
            state = State(facts, {"beta": self.core.beta(), "position": self.core.position()})
            (keeper.finish if ends else keeper.keep)(state)

    def _resume(self, state: State) -> None:
        self.eps = float(state.facts["eps"])
        self.core.restore(state.arrays["beta"], state.arrays["position"])
        self.recorder.resume(state.facts["recorder"])
        self._next_epoch += self.core.epochs

    def _judge(self) -> str | None:
        """Where the paper's rule holds for every rank: how it ends, or None, and a smaller eps, for a large gap."""
        self.core.refresh()
        gap, violation = self.certificate().relative_gap, self.core.violation
        if gap <= self.control.tol:
            return "converged"
        if not 0 < violation <= self.eps:
            return "precision"  # what is left of the violations is rounding
        self.eps = violation * min(0.5, max(0.1, 0.7 * self.control.tol / gap))
        return None

    def _look(self) -> bool:
        began = time.perf_counter()
        n_support = int(np.count_nonzero(self.core.beta().any(axis=1)))
        counts = Counts(self.core.epochs, n_support=n_support, n_active=self.core.active)
        self._next_epoch = self.core.epochs + self.control.report_every
        return self.recorder.look(self.certificate(), counts, began=began)


def _not_for(solver: DCD1 | DCD2) -> ValueError:
    return ValueError(
        f"solver={solver.name!r} solves NPSVOR with the hinge loss only: use solver='rank-dcd' for other machines."
    )


def _rank_problems(table: LabelTable, solver: DCD1 | DCD2) -> list[_core.RankProblem]:
    return [_rank_problem(table, lane, solver) for lane in range(table.n_columns)]


def _rank_problem(table: LabelTable, lane: int, solver: DCD1 | DCD2) -> _core.RankProblem:
    """What a lane is in NPSVOR: which rank is its own, C1, C2 and epsilon. Other lanes are refused."""
    own = int(np.argmax(table.offset[:, lane] == 0))
    C1, epsilon = float(table.upper[own, lane]), float(table.epsilon[own, lane])
    C2 = float(np.delete(table.upper[:, lane] - table.lower[:, lane], own).max(initial=0.0))
    side = np.sign(np.arange(table.n_labels) - own)  # of every label: below the rank, its own, above
    expected = {
        "lower": np.select([side < 0, side == 0], [-C2, -C1], 0.0),
        "upper": np.select([side == 0, side > 0], [C1, C2], 0.0),
        "offset": side,
        "epsilon": np.where(side == 0, epsilon, 0.0),
    }
    if not all(np.array_equal(getattr(table, name)[:, lane], column) for name, column in expected.items()):
        raise _not_for(solver)
    return _core.RankProblem(own, C1, C2, epsilon)


def _check_eps(eps_s: Any) -> None:
    check_number("eps_s", eps_s, "a number between 0 and 1", lambda number: 0 < number < 1)
