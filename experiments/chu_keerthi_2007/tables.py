"""Tables 2 and 3 of Chu & Keerthi (2007): eight data sets at 5 and at 10 ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import ranksums

from experiments.chu_keerthi_2007 import differences, protocol
from experiments.chu_keerthi_2007.protocol import DATA_SETS, FOLDS, METRICS, Point
from experiments.items import Item, Outcome, Records, Scope, Unit
from experiments.results import expected
from ordsvm.model_selection.grids import fine_grid

PAPER = "chu_keerthi_2007"
SIGNIFICANT = 0.01
FIRST_TRIALS = 5  # of every cell, before any cell has more
BY_COST = ("pyrimidines", "machine_cpu", "boston", "bank", "computer", "abalone", "census", "california")
DATA = (
    "pyrim, machine_cpu, boston_housing, abalone, bank32nh, cpu_act, california_housing and census_house16h of the "
    "benchmark data, cut into ranks of equal frequency; equal targets may fall into neighbouring ranks. The nominal "
    "column of abalone is three columns here, one of the paper's eight there. bank and computer have ten test "
    "rows more than the paper states."
)
PROTOCOL = (
    "Random partitions of the paper's sizes (NumPy's permutation with seed [2007, trial]); inputs standardised by the "
    "training part; Gaussian kernel, gamma = kappa / 2; 5 stratified folds of the training part; 7 x 7 values of "
    "log10 C and log10 kappa from -3 to 3, then 9 x 9 spaced by 0.2 around the best; the first among equals, smallest "
    "C first; tol 1e-3; SVR with epsilon 0.1, rounded. The paper does not say which error its search minimises: shown "
    "are means with parameters chosen by the error of the line; those with parameters chosen by the other error are "
    "'value_other' of results.json. Sets with 3,000 training rows or more are tuned once, on the first partition, and "
    "the parameters used in all of them: its training rows are among the test rows of the others, and the spreads lack "
    "the variance of tuning. Stars: Wilcoxon's rank sum test against the best mean, p < 0.01."
)


@dataclass(frozen=True)
class Table:
    """One of the two tables."""

    bins: int
    methods: tuple[str, ...]

    def units(self, done: Records, scope: Scope) -> Iterator[Unit]:
        for name in ("pyrimidines",) if scope.quick else DATA_SETS:
            for method in self.methods:
                column = Column(name, self.bins, method)
                yield from column.units(done, 1 if scope.quick else scope.trials)

    def summary(self, done: Records, scope: Scope) -> Outcome:
        cells = [cell for name in DATA_SETS for cell in self._cells(name, done, scope.trials)]
        nearest, beyond = list(self._nearest_points(done)), list(self._beyond(done))
        remarks = [*differences.of_searches(beyond, nearest), *differences.of_first_partition(self._first(done))]
        if self.bins == 5:
            remarks += differences.of_cost(done)
        made = {"data": DATA, "protocol": PROTOCOL, "cells": cells, "explanations": differences.explanations(self.bins)}
        return made | {"nearest_points": nearest, "beyond": beyond, "remarks": remarks}

    def _first(self, done: Records) -> Iterator[float]:
        """Of sets tuned once: the first partition's error less the mean of the others, in their deviations."""
        for name in (name for name, data in DATA_SETS.items() if data.is_tuned_once):
            for method in self.methods:
                column = Column(name, self.bins, method)
                first, others = column.outcomes(done, 1), column.outcomes(done, 20)[1:]
                for metric in METRICS if first and len(others) >= FIRST_TRIALS else ():
                    own = values(others, metric, metric)
                    yield (values(first, metric, metric)[0] - mean(own)) / deviation(own)

    def _beyond(self, done: Records) -> Iterator[Outcome]:
        """Of sets tuned once: the parameters outside the first grid's region, and what the best inside has."""
        for name in (name for name, data in DATA_SETS.items() if data.is_tuned_once):
            for method in self.methods:
                for metric, points in Tuning(Column(name, self.bins, method)).searched(done).items():
                    best = protocol.best_point(points, metric)
                    inside = [p for p in points if differences.is_inside(p["point"])]
                    if not differences.is_inside(best):
                        about = {"dataset": name, "method": method, "metric": metric}
                        about |= {"C": best["C"], "kappa": 2 * best["gamma"]}
                        lowest = {"error": least(points, metric), "error_inside": least(inside, metric)}
                        yield about | lowest

    def _nearest_points(self, done: Records) -> Iterator[Outcome]:
        """Of sets tuned once: the point of the first grid whose errors on the folds are nearest to all of the paper's.

        Nearest by the largest difference; the point is the same for all methods.
        """
        item = "table2" if self.bins == 5 else "table3"
        paper = {(c["dataset"], c["method"], c["metric"]): c["value"] for c in expected(PAPER)["items"][item]["cells"]}
        for name in (name for name, data in DATA_SETS.items() if data.is_tuned_once):
            stages = {m: Tuning(Column(name, self.bins, m)).first_stage(done) for m in self.methods}
            if any(stage is None for stage in stages.values()):
                continue
            found = []
            for place in range(len(stages[self.methods[0]] or ())):
                rows = {m: (stage or [])[place] for m, stage in stages.items()}
                errors = {f"{m}, {metric}": mean(row[metric]) for m, row in rows.items() for metric in METRICS}
                differences = [abs(mean(row[k]) - paper[name, m, k]) for m, row in rows.items() for k in METRICS]
                point = rows[self.methods[0]]["point"]
                about = {"dataset": name, "C": point["C"], "kappa": 2 * point["gamma"]}
                found.append(about | {"largest_difference": max(differences), "errors": errors})
            yield min(found, key=lambda entry: entry["largest_difference"])

    def _cells(self, name: str, done: Records, trials: int) -> Iterator[Outcome]:
        found = {method: Column(name, self.bins, method).outcomes(done, trials) for method in self.methods}
        for metric in METRICS:
            cells = {m: self._cell(name, m, metric, outcomes) for m, outcomes in found.items() if outcomes}
            yield from with_stars(cells, {m: values(found[m], metric, metric) for m in cells})

    def _cell(self, name: str, method: str, metric: str, outcomes: Sequence[Outcome]) -> Outcome:
        own, other = (values(outcomes, metric, by) for by in sorted(METRICS, key=lambda by: by != metric))
        cell = {"dataset": name, "bins": self.bins, "method": method, "metric": metric, "value": mean(own)}
        cell |= {"sd": deviation(own), "trials": len(own), "value_other": mean(other), "sd_other": deviation(other)}
        cell["tuned"] = "once" if DATA_SETS[name].is_tuned_once else "every trial"
        if DATA_SETS[name].is_tuned_once:
            cell |= outcomes[0][metric]["point"]
        return cell


@dataclass(frozen=True)
class Column:
    """One method on one data set: both errors of all trials."""

    name: str
    bins: int
    method: str

    @property
    def key(self) -> str:
        return f"{self.name}/{self.bins}/{self.method}"

    def outcomes(self, done: Records, trials: int) -> list[Outcome]:
        keys = [f"{self.key}/trial{trial}" for trial in range(trials)]
        return [done[key] for key in keys if key in done]

    def units(self, done: Records, trials: int) -> Iterator[Unit]:
        points: dict[str, Point] | None = None
        if DATA_SETS[self.name].is_tuned_once:
            tuning = Tuning(self)
            yield from tuning.units(done)
            points = tuning.points(done)
        for trial in range(trials):
            yield self._trial(trial, points)

    def _trial(self, trial: int, points: dict[str, Point] | None) -> Unit:
        about: dict[str, Any] = {"name": self.name, "bins": self.bins, "method": self.method, "trial": trial}
        key, n = f"{self.key}/trial{trial}", DATA_SETS[self.name].n_training
        if not DATA_SETS[self.name].is_tuned_once:
            return Unit(key, protocol.trial_with_search, about, self.urgency(trial), 3.0 + 30.0 * n / 1000)
        given = about | {"points": points} if points is not None else None
        return Unit(key, protocol.trial_at, given, self.urgency(trial), 8.0 * (n / 6000) ** 2)

    def urgency(self, trial: int) -> tuple[int, ...]:
        """A few trials of all, Table 2 first, then more trials; sets from which whole lines come soonest first."""
        place = BY_COST.index(self.name)
        return (trial // FIRST_TRIALS, self.bins, place, int(self.method not in ("EXC", "IMC")), trial)


@dataclass(frozen=True)
class Tuning:
    """The two-stage search of a larger set on the first partition, in parts: a fold and a value of gamma each."""

    column: Column

    def units(self, done: Records) -> Iterator[Unit]:
        first = protocol.first_grid(self.column.method)
        yield from self._parts("coarse", first)
        centres = self._centres(done)
        if centres is None:  # placeholders, for the estimate of the time left
            for place in range(9):
                for fold in range(FOLDS):
                    key = f"{self.column.key}/fine/?{place}/{fold}"
                    yield Unit(key, protocol.search_part, None, self.column.urgency(0), self._cost())
            return
        for centre in {tuple(c.values()): c for c in centres.values()}.values():
            yield from self._parts(_named("fine", centre), fine_grid(centre))

    def points(self, done: Records) -> dict[str, Point] | None:
        """The best parameters by either error; None before all parts have ended."""
        first, centres = self.first_stage(done), self._centres(done)
        if first is None or centres is None:
            return None
        chosen = {}
        for metric, centre in centres.items():
            second = self._stage(done, _named("fine", centre), fine_grid(centre))
            if second is None:
                return None
            chosen[metric] = protocol.best_point(first + second, metric)
        return chosen

    def searched(self, done: Records) -> dict[str, list[Outcome]]:
        """All points of both stages, by the error that is sought; empty before all parts have ended."""
        first, centres = self.first_stage(done), self._centres(done)
        if first is None or centres is None or self.points(done) is None:
            return {}
        second = {m: self._stage(done, _named("fine", centre), fine_grid(centre)) for m, centre in centres.items()}
        return {metric: first + (found or []) for metric, found in second.items()}

    def first_stage(self, done: Records) -> list[Outcome] | None:
        return self._stage(done, "coarse", protocol.first_grid(self.column.method))

    def _centres(self, done: Records) -> dict[str, Point] | None:
        first = self.first_stage(done)
        return None if first is None else {metric: protocol.best_point(first, metric) for metric in METRICS}

    def _parts(self, stage: str, grid: dict[str, list[float]]) -> Iterator[Unit]:
        for gamma in grid["gamma"]:
            for fold in range(FOLDS):
                part = {"C": grid["C"], "gamma": [gamma]}
                arguments = {"name": self.column.name, "bins": self.column.bins, "method": self.column.method}
                arguments |= {"grid": part, "fold": fold}
                key = self._key(stage, gamma, fold)
                yield Unit(key, protocol.search_part, arguments, self.column.urgency(0), self._cost())

    def _stage(self, done: Records, stage: str, grid: dict[str, list[float]]) -> list[Outcome] | None:
        """The errors of all points of a grid on all folds, C first; None if one is missing."""
        keys = [[self._key(stage, gamma, fold) for fold in range(FOLDS)] for gamma in grid["gamma"]]
        if not all(key in done for row in keys for key in row):
            return None
        return [_joined([done[key]["errors"][place] for key in row]) for place in range(len(grid["C"])) for row in keys]

    def _key(self, stage: str, gamma: float, fold: int) -> str:
        return f"{self.column.key}/{stage}/gamma={gamma:.6g}/fold{fold}"

    def _cost(self) -> float:
        heavier = {"IMC": self.column.bins / 5.0}.get(self.column.method, 1.0)
        return 5.0 * heavier * (DATA_SETS[self.column.name].n_training / 6000) ** 2


def least(points: Sequence[Outcome], metric: str) -> float:
    return min(mean(point[metric]) for point in points)


def _named(stage: str, centre: Point) -> str:
    return f"{stage}-{centre['C']:.6g}-{centre['gamma']:.6g}"


def _joined(folds: Sequence[Outcome]) -> Outcome:
    return {"point": folds[0]["point"]} | {metric: [fold[metric][0] for fold in folds] for metric in METRICS}


def values(outcomes: Sequence[Outcome], metric: str, by: str) -> list[float]:
    """The errors of all trials with the parameters chosen by an error."""
    return [float(outcome[by][metric]) for outcome in outcomes]


def mean(errors: Sequence[float]) -> float:
    return float(np.mean(errors))


def deviation(errors: Sequence[float]) -> float:
    return float(np.std(errors, ddof=1)) if len(errors) > 1 else float("nan")


def with_stars(cells: dict[str, Outcome], errors: dict[str, list[float]]) -> Iterator[Outcome]:
    """The cells of a row, those significantly worse than the best mean marked as in the paper."""
    if not cells:
        return
    best = min(cells, key=lambda method: cells[method]["value"])
    for method, cell in cells.items():
        enough = min(len(errors[method]), len(errors[best])) >= FIRST_TRIALS
        p = ranksums(errors[method], errors[best]).pvalue if method != best and enough else 1.0
        yield cell | ({"significantly_worse": True} if p < SIGNIFICANT else {})


def sla_less_exc(done: Records, scope: Scope) -> Outcome:
    """How far Shashua and Levin's method is from EXC in Table 3, where both have enough trials."""
    cells = []
    for name in DATA_SETS:
        both = [Column(name, 10, method).outcomes(done, scope.trials) for method in ("SLA", "EXC")]
        for metric in METRICS if min(map(len, both)) >= FIRST_TRIALS else ():
            sla, exc = (values(outcomes, metric, metric) for outcomes in both)
            distance = {"value": (mean(sla) - mean(exc)) / deviation(exc)}
            cells.append({"dataset": name, "metric": f"{metric}: SLA less EXC, in deviations of EXC"} | distance)
    return {"data": "as in table2", "protocol": "as in table3", "cells": cells}


@lru_cache(maxsize=1)
def items() -> dict[str, Item]:
    made = {"table2": Table(5, ("SVR", "EXC", "IMC")), "table3": Table(10, ("SVR", "SLA", "EXC", "IMC"))}
    titles = {"table2": "Test errors at 5 equal-frequency bins", "table3": "Test errors at 10 equal-frequency bins"}
    beside = Item("SLA and EXC side by side", made["table3"].units, sla_less_exc)
    return {n: Item(titles[n], table.units, table.summary) for n, table in made.items()} | {"table3_sla": beside}
