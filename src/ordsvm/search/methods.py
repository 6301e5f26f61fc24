"""How a search goes through its candidates: all of them, those that may still win, by racing, or by halving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from ordsvm._typing import Flags, Floats, Ints
from ordsvm.estimators.base import Machine
from ordsvm.estimators.folds import Fold, is_pairwise, take, take_samples
from ordsvm.kernels.full_kernel import KeptKernels
from ordsvm.problem.labels import label_array
from ordsvm.search.full_kernel_path import Starts
from ordsvm.search.jobs import SearchJobs
from ordsvm.search.journal import Outcome
from ordsvm.search.paths import Parameters
from ordsvm.search.pruning import Pruner
from ordsvm.search.views import Views

METHODS = ("exhaustive", "pruned", "racing", "halving")
LOOSE_TOL = 0.1  # of the first fits of a race
DEVIATIONS = 3.5  # by which the rest of the folds would have to differ for a candidate to win that is out of a race
LEAST_TESTED = 30  # samples before any candidate is out
MOST_HEATS = 5
MARGIN = 0.01  # share of the leader's error within which candidates are trained to their tol
MARGIN_SAMPLES = 2.0  # the same in samples that are off by one
FACTOR = 3  # of samples, and of candidates, from one round of halving to the next
LEAST_OF_A_CLASS = 2  # samples of a class, in a fold's part to test, in the first round of halving
LOOSE_STAGE, HALVING_STAGE = 10, 100  # stages in a checkpoint; those of the second grid follow each

Table = list[list[Outcome]]


@dataclass(frozen=True)
class Found:
    """Candidates, one or several times, their outcomes, more columns of the table, and fits that were not made."""

    candidates: list[Parameters]
    outcomes: Table
    columns: dict[str, Any] = field(default_factory=dict)
    n_pruned: int = 0


@dataclass(frozen=True)
class Judgement:
    """What the candidates are compared by: the name of the scorer, and the score that none can exceed."""

    name: str
    best: float

    def errors(self, table: Table) -> Floats:
        """best − score: a row for every candidate, a column for every fold; NaN where no fit was made, or it failed."""
        return self.best - np.array([[outcome.test[self.name] for outcome in row] for row in table])


def exhaustive(jobs: SearchJobs, candidates: list[Parameters], stage: int) -> Found:
    return Found(candidates, jobs.run(candidates, stage))


def pruned(jobs: SearchJobs, candidates: list[Parameters], stage: int, by: Judgement, incumbent: float) -> Found:
    """Without the fits of candidates that can't win any more (pruning.py)."""
    pruner = Pruner(len(candidates), len(jobs.folds), by.best, by.name, incumbent)
    outcomes = replace(jobs, pruner=pruner).run(candidates, stage)
    is_pruned = np.array([[outcome.is_pruned for outcome in row] for row in outcomes])
    return Found(candidates, outcomes, {"pruned": is_pruned.any(axis=1)}, int(is_pruned.sum()))


# Racing


def racing(jobs: SearchJobs, candidates: list[Parameters], stage: int, by: Judgement) -> Found:
    """First to a loose tolerance, fold after fold, without those that fall behind; then the best ones to their own.

    A candidate is out after some folds if the samples to come would have to differ from those tested so far by
    DEVIATIONS standard deviations for it to catch up with the leader (`_are_behind`). Of those that are left,
    candidates are trained to their own tol whose error is at most MARGIN above that of the leader, or MARGIN_SAMPLES,
    or twice what training to tol has changed an error by so far, whichever is most. It goes on until there is none left
    within that, and the best of them wins.
    """
    is_loose = _takes_loose_tol(jobs.machine, candidates, jobs.prefix)
    jobs = replace(jobs, starts=Starts(), kept=KeptKernels(jobs.room_for_kernels()))
    loose = replace(jobs, judge=replace(jobs.judge, keeps_losses=True))
    if is_loose:
        loose = replace(loose, estimator=clone(jobs.estimator).set_params(**{f"{jobs.prefix}tol": LOOSE_TOL}))
    table = _heats(loose, candidates, LOOSE_STAGE + stage if is_loose else stage, by)
    errors = by.errors(table)
    is_out = np.array([[outcome.is_pruned for outcome in row] for row in table]).any(axis=1)
    refined = np.zeros(len(candidates), dtype=bool)
    if is_loose:
        table, refined = _refined(jobs, candidates, stage, by, table, np.where(is_out, np.nan, errors.mean(axis=1)))
    n_pruned = sum(outcome.is_pruned for row in table for outcome in row)
    columns = {"pruned": is_out, "refined": refined | (not is_loose and ~is_out)}
    return Found(candidates, table, columns, n_pruned)


def _takes_loose_tol(machine: Any, candidates: Sequence[Parameters], prefix: str) -> bool:
    tol = getattr(machine, "tol", None)
    is_number = isinstance(machine, Machine) and isinstance(tol, Real) and 0 < float(tol) < LOOSE_TOL
    return is_number and not any(f"{prefix}tol" in parameters for parameters in candidates)


def _heats(jobs: SearchJobs, candidates: list[Parameters], stage: int, by: Judgement) -> Table:
    """Outcomes on all folds of those that do not fall behind on the folds before."""
    n_folds = len(jobs.folds)
    step = n_folds if jobs.shares_folds() else -(-n_folds // MOST_HEATS)
    heats = [range(first, min(first + step, n_folds)) for first in range(0, n_folds, step)]
    left = np.arange(len(candidates))
    table: Table = [[jobs.judge.pruned()] * n_folds for _ in candidates]
    for folds in heats:
        found = jobs.run(candidates, stage, [(int(place), fold) for place in left for fold in folds])
        for place in left:
            for fold in folds:
                table[place][fold] = found[place][fold]
        left = left[~_are_behind(jobs, by, [table[place] for place in left], range(folds.stop))]
    return table


def _are_behind(jobs: SearchJobs, by: Judgement, table: Table, folds: range) -> Flags:
    """Whether candidates are worse than the leader by more than chance explains; none where losses are not kept.

    A share s of the samples was tested, with a mean difference m of losses on the same samples, of standard error e.
    The rest would have to make up for it: its mean is estimated as m too, with a deviation of the two means from each
    other of e / √(1 − s), and has to be below −m s / (1 − s). So a candidate is behind by m / (e √(1 − s)) deviations.
    e is estimated as if one more sample had the largest difference that there is from m: few samples may all agree.
    """
    behind = np.zeros(len(table), dtype=bool)
    errors = by.errors(table)[:, : folds.stop].mean(axis=1)
    kept = [[row[fold].losses for fold in folds] for row in table]
    known = np.array([all(losses is not None for losses in row) for row in kept])  # others have failed
    sizes = [len(fold.test) for fold in jobs.folds]
    n_tested = sum(sizes[: folds.stop])
    left = 1.0 - n_tested / sum(sizes)
    if not known.any() or left <= 0.0 or n_tested < LEAST_TESTED:
        return behind
    losses = np.array([np.concatenate([np.asarray(part) for part in kept[row]]) for row in np.flatnonzero(known)])
    weight = np.ones(losses.shape[1])
    if jobs.sample_weight is not None:
        given = np.asarray(jobs.sample_weight, dtype=np.float64)
        weight = np.concatenate([given[jobs.folds[fold].test] for fold in folds])
    share = weight / weight.sum()
    difference = losses - losses[np.argmin(errors[known])]
    mean = difference @ share
    one_more = np.abs(difference).max(axis=1) * share.max()
    deviation = np.sqrt(((difference - mean[:, np.newaxis]) ** 2) @ share**2 + one_more**2)
    behind[known] = mean > DEVIATIONS * deviation * np.sqrt(left)
    return behind


def _refined(
    jobs: SearchJobs, candidates: list[Parameters], stage: int, by: Judgement, table: Table, loose: Floats
) -> tuple[Table, Flags]:
    """The table with the outcomes to their own tol of those that may be best, and which these are."""
    refined = np.zeros(len(candidates), dtype=bool)
    error, table = loose.copy(), list(table)
    if np.isnan(loose).all():  # all have failed, and are to fail as they would otherwise
        return jobs.run(candidates, stage), ~refined
    least = MARGIN_SAMPLES / len(jobs.y)
    leader = float(np.nanmin(loose))
    margin = max(MARGIN * leader, least)
    while True:
        chosen = np.flatnonzero(~refined & (loose <= leader + margin))
        if not len(chosen):
            return table, refined
        found = jobs.run(candidates, stage, [(int(p), fold) for p in chosen for fold in range(len(jobs.folds))])
        for place in chosen:
            table[place] = [_together(*both) for both in zip(table[place], found[place], strict=True)]
        refined[chosen] = True
        error[chosen] = by.errors([table[place] for place in chosen]).mean(axis=1)
        if np.isnan(error[refined]).all():
            continue
        leader = float(np.nanmin(error[refined]))
        margin = max(MARGIN * leader, least, 2.0 * float(np.nanmax(np.abs(error - loose)[refined])))


def _together(first: Outcome, last: Outcome) -> Outcome:
    """The last one, with the seconds of both."""
    fit, score = first.fit_seconds + last.fit_seconds, first.score_seconds + last.score_seconds
    return replace(last, fit_seconds=fit, score_seconds=score)


# Halving


def halving(jobs: SearchJobs, candidates: list[Parameters], stage: int, rank: Callable[[Table], Ints]) -> Found:
    """All candidates on few samples, a third of them on three times as many, and so on: successive halving.

    `rank` gives the places of a table's rows, the best one first. The last round has all samples.
    """
    sizes = _sizes(jobs, len(candidates))
    found, outcomes, rounds, used = [], [], [], []
    left = list(range(len(candidates)))
    for number, share in enumerate(sizes):
        part = _part(jobs, share)
        chosen = [candidates[place] for place in left]
        table = part.run(chosen, HALVING_STAGE * (number + 1) + stage)
        found += chosen
        outcomes += table
        rounds += [number] * len(left)
        used += [len(part.y)] * len(left)
        kept = -(-len(left) // FACTOR)
        left = sorted(left[int(row)] for row in rank(table)[:kept])
    columns = {"iter": np.array(rounds), "n_resources": np.array(used)}
    return Found(found, outcomes, columns, (len(sizes) * len(candidates) - len(found)) * len(jobs.folds))


def _sizes(jobs: SearchJobs, n_candidates: int) -> list[float]:
    """The share of the samples in every round: as many rounds as candidates can be divided by three, or samples."""
    n_classes = len(np.unique(label_array(jobs.y))) if is_classifier(jobs.estimator) else 1
    least = LEAST_OF_A_CLASS * n_classes * len(jobs.folds)
    rounds = 1
    while FACTOR**rounds < n_candidates and len(jobs.y) >= least * FACTOR**rounds:
        rounds += 1
    return [FACTOR ** -float(left) for left in reversed(range(rounds))]


def _part(jobs: SearchJobs, share: float) -> SearchJobs:
    """The same on a part of the samples, of every class its share; the samples of a smaller part are among them."""
    if share >= 1.0:
        return jobs
    n, random = len(jobs.y), np.random.default_rng(0)
    labels = label_array(jobs.y) if is_classifier(jobs.estimator) else np.zeros(n)
    place = np.empty(n)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        place[random.permutation(members)] = (np.arange(len(members)) + 0.5) / len(members)
    rows = np.sort(np.argsort(place, kind="stable")[: round(share * n)])
    number = np.full(n, -1)
    number[rows] = np.arange(len(rows))
    folds = [Fold(*(number[part][number[part] >= 0] for part in fold)) for fold in jobs.folds]
    X, y = take_samples(jobs.X, rows, rows, is_pairwise(jobs.estimator)), take(jobs.y, rows)
    views = Views(jobs.estimator, X, y, folds, jobs.judge.train_too)
    return replace(jobs, X=X, y=y, sample_weight=take(jobs.sample_weight, rows), folds=folds, views=views)
