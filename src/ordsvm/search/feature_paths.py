"""Linear machines along rising C, all folds in the same passes over the samples (solvers/linear/nested.py)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from ordsvm._typing import Ints
from ordsvm.estimators.base import Fit, prepare
from ordsvm.estimators.folds import take
from ordsvm.estimators.linear import LinearMachine, control_of, feature_task, trains_by_features
from ordsvm.rows.folded_rows import FoldedRows, shareable_folds
from ordsvm.search.journal import Outcome
from ordsvm.search.paths import FoldData, FoldSamples, Judge, Parameters, evaluate
from ordsvm.solvers.auto import NESTED_SHARE
from ordsvm.solvers.linear.nested import NestedTask, solve_nested
from ordsvm.solvers.linear.wide_system import WIDE

ENOUGH = 100  # iterations: no fit takes as many, so that such a limit is none

Outcomes = Iterator[tuple[tuple[int, int], Outcome]]  # by the place of the candidate and the fold


@dataclass(frozen=True)
class Chain:
    """Candidates that differ in C alone, by their places and with C rising, on one fold."""

    fit: Fit  # at the least C
    fold: int
    places: list[int]
    values: list[float]  # of C
    data: FoldData
    judge: Judge

    @property
    def n_bytes(self) -> float:
        """Of α of a fit under way: twice, of both hinges where a sample has two."""
        return 32.0 * len(self.fit.task.labels) * self.fit.task.table.n_columns

    def task(self, number: int) -> NestedTask:
        """On the rows of the fold of this number."""
        factors = [value / self.values[0] for value in self.values]
        return NestedTask(number, feature_task(self.fit), factors, control_of(self.fit))

    def outcome(self, number: int, solution: Any) -> Outcome:
        """Of the candidate of this number."""
        ratio = self.values[number] / self.values[0]
        fit = replace(self.fit, task=self.fit.task.times_C(ratio))

        def recover(checkpoint: Any = None) -> Any:
            fit.machine.C = self.values[number]
            return fit.recover(solution)

        return evaluate(recover, self.data, self.judge, number, solution.result.seconds)


@dataclass(frozen=True)
class FeaturePaths:
    """The candidates of a search that the interior-point method trains, on folds of the same samples.

    make       gives a new machine with the parameters of a candidate
    data_of    the samples of a fold, to be scored
    judge_of   the judge of candidates, by their places, on a fold
    left       those of some candidates that have no outcome on a fold yet
    n_bytes    of α at once
    train_too  whether training samples are scored too
    """

    make: Callable[[Parameters], LinearMachine]
    candidates: Sequence[Parameters]
    data_of: Callable[[int], FoldData]
    judge_of: Callable[[list[int], int], Judge]
    left: Callable[[list[int], int], list[int]]
    n_bytes: float
    train_too: bool

    def outcomes(self, groups: Sequence[list[int]], samples: FoldSamples, trains: Mapping[int, Ints]) -> Outcomes:
        """Of groups of candidates that differ in C alone, on folds that are trained on these rows of the samples.

        Candidates that take other solvers, have limits, or whose machines cannot be made have none.
        """
        found = [self._chosen(places, samples) for places in groups]
        chosen = [places for _, places in found if len(places) > 1]
        rows = next((X for X, places in found if len(places) > 1), None)
        if rows is None or not all(map(_are_distinct, trains.values())):
            return
        which, numbers = list(trains), list(trains.values())
        for some in shareable_folds(len(samples.y), numbers):
            shared = FoldedRows(rows, [numbers[at] for at in some])
            numbered = [(number, which[at], places) for number, at in enumerate(some) for places in chosen]
            yield from self._run(shared, numbered, samples)

    def _chosen(self, places: list[int], samples: FoldSamples) -> tuple[Any, list[int]]:
        """All samples, checked, and the candidates of a group that are trained by features, with C rising."""
        values = {place: self.candidates[place]["C"] for place in places if _is_valid(self.candidates[place].get("C"))}
        if len(values) < 2 or not _is_unlimited(machine := self.make(self.candidates[next(iter(values))])):
            return None, []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the folds have their own
            fit = _prepared(machine, samples)
        if fit is None or fit.X.shape[1] >= WIDE:  # alone, these are trained by systems that X is read for
            return None, []
        C = float(machine.C)
        ours = [
            place
            for place in sorted(values, key=lambda place: values[place])
            if trains_by_features(replace(fit, task=fit.task.times_C(values[place] / C)), NESTED_SHARE)
        ]
        return fit.X, ours

    def _run(self, rows: FoldedRows, numbered: list[tuple[int, int, list[int]]], samples: FoldSamples) -> Outcomes:
        """As many chains at once as their α fit into memory."""
        chains: list[Chain] = []
        tasks: list[NestedTask] = []
        scored = {fold: self._scored(fold) for _, fold, _ in numbered}
        for number, fold, places in numbered:
            train = _part(samples, rows.numbers(number))
            chain = self._chain(train, scored[fold], fold, self.left(places, fold))
            if chain is None:
                continue
            if chains and sum(other.n_bytes for other in chains) + chain.n_bytes > self.n_bytes:
                yield from _solved(rows, chains, tasks)
                chains, tasks = [], []
            chains.append(chain)
            tasks.append(chain.task(number))
        yield from _solved(rows, chains, tasks)

    def _scored(self, fold: int) -> FoldData:
        """What machines are scored on, which are trained on the shared rows."""
        data = self.data_of(fold)
        test = _wide(data.test)
        return FoldData(test, test, data.retest if self.train_too else test)

    def _chain(self, train: FoldSamples, scored: FoldData, fold: int, places: list[int]) -> Chain | None:
        if not places:
            return None
        machine = self.make(self.candidates[places[0]])
        values = [float(self.candidates[place]["C"]) for place in places]
        fit, judge = _prepared(machine, train), self.judge_of(places, fold)
        if fit is None:
            return None
        fit = replace(fit, X=fit.X[:1])  # the rows are shared
        return Chain(fit, fold, places, values, scored, judge)


def _solved(rows: FoldedRows, chains: list[Chain], tasks: list[NestedTask]) -> Outcomes:
    """A fit that does not converge has no outcome either: alone it may, by other solvers."""
    for found in solve_nested(rows, tasks):
        if not found.solution.result.converged:
            continue
        chain = chains[found.task]
        yield (chain.places[found.factor], chain.fold), chain.outcome(found.factor, found.solution)


def _prepared(machine: LinearMachine, samples: FoldSamples) -> Fit | None:
    """None where parameters or samples are refused: such a machine is left to fail by itself."""
    try:
        return prepare(machine, samples.X, samples.y, samples.weight)
    except Exception:
        return None


def _is_unlimited(machine: LinearMachine) -> bool:
    """Whether a fit ends at the optimum, and C is a factor of the cap of every hinge."""
    scales = all(getattr(machine, name, None) is None for name in ("C1", "C2"))
    has_limits = machine.time_limit is not None or machine.callback is not None
    return scales and not has_limits and isinstance(machine.max_iter, int) and not 0 <= machine.max_iter < ENOUGH


def _is_valid(C: Any) -> bool:
    return isinstance(C, Real) and not isinstance(C, bool) and 0.0 < float(C) < np.inf


def _are_distinct(rows: Ints) -> bool:
    """Whether these are numbers of rows, none of them twice."""
    return bool(rows.size and rows.dtype.kind in "iu" and rows.min() >= 0 and np.bincount(rows).max() == 1)


def _part(samples: FoldSamples, which: Ints) -> FoldSamples:
    return FoldSamples(take(samples.X, which), take(samples.y, which), take(samples.weight, which))


def _wide(samples: FoldSamples) -> FoldSamples:
    """With float32 in float64, as scores are computed: once, and not for every candidate."""
    X = samples.X
    return replace(samples, X=X.astype(np.float64)) if isinstance(X, np.ndarray) and X.dtype == np.float32 else samples
