"""A column of Tables 2 and 3, one method on one data set: its search for parameters, and its trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.chu_keerthi_2007 import protocol
from experiments.chu_keerthi_2007.protocol import DATA_SETS, FOLDS, METRICS, Point
from experiments.items import Outcome, Records, Unit
from ordsvm.search.grids import fine_grid

FIRST_TRIALS = 5  # of every cell, before any cell has more
BY_COST = ("pyrimidines", "machine_cpu", "boston", "bank", "computer", "abalone", "census", "california")


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

    def units(self, done: Records, trials: int, device: str | None = None) -> Iterator[Unit]:
        points: dict[str, Point] | None = None
        if DATA_SETS[self.name].is_tuned_once:
            tuning = Tuning(self, device)
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
    """The two-stage search of a larger set on the first partition, in parts.

    A part is a fold and a value of gamma; on a device, which trains folds side by side, a value of gamma. Records may
    have some of both.
    """

    column: Column
    device: str | None = None

    def units(self, done: Records) -> Iterator[Unit]:
        first = protocol.first_grid(self.column.method)
        yield from self._parts(done, "coarse", first)
        centres = self._centres(done)
        if centres is None:  # placeholders, for the estimate of the time left
            for place in range(9):
                for fold in range(FOLDS):
                    key = f"{self.column.key}/fine/?{place}/{fold}"
                    yield Unit(key, protocol.search_part, None, self.column.urgency(0), self._cost())
            return
        for centre in {tuple(c.values()): c for c in centres.values()}.values():
            yield from self._parts(done, _named("fine", centre), fine_grid(centre))

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

    def devices(self, done: Records) -> list[str]:
        """Those that parts of the search have run on, the cores of the machine aside."""
        parts = (done[key] for key in done if key.startswith((f"{self.column.key}/coarse", f"{self.column.key}/fine")))
        return sorted({str(part["device"]) for part in parts if "device" in part})

    def _centres(self, done: Records) -> dict[str, Point] | None:
        first = self.first_stage(done)
        return None if first is None else {metric: protocol.best_point(first, metric) for metric in METRICS}

    def _parts(self, done: Records, stage: str, grid: dict[str, list[float]]) -> Iterator[Unit]:
        about = {"name": self.column.name, "bins": self.column.bins, "method": self.column.method}
        for gamma in grid["gamma"]:
            if self._errors(done, stage, gamma) is not None:
                continue
            arguments = about | {"grid": {"C": grid["C"], "gamma": [gamma]}}
            if self.device is not None:
                key, arguments = self._key(stage, gamma), arguments | {"device": self.device}
                yield Unit(key, protocol.search_column, arguments, self.column.urgency(0), self._cost())
                continue
            for fold in range(FOLDS):
                key, part = self._key(stage, gamma, fold), arguments | {"fold": fold}
                yield Unit(key, protocol.search_part, part, self.column.urgency(0), self._cost())

    def _stage(self, done: Records, stage: str, grid: dict[str, list[float]]) -> list[Outcome] | None:
        """The errors of all points of a grid on all folds, C first; None if one is missing."""
        by_gamma = [self._errors(done, stage, gamma) for gamma in grid["gamma"]]
        whole = [errors for errors in by_gamma if errors is not None]
        if len(whole) < len(by_gamma):
            return None
        return [errors[place] for place in range(len(grid["C"])) for errors in whole]

    def _errors(self, done: Records, stage: str, gamma: float) -> list[Outcome] | None:
        """The errors of all C on all folds; None if one is missing."""
        if (key := self._key(stage, gamma)) in done:
            return list(done[key]["errors"])
        keys = [self._key(stage, gamma, fold) for fold in range(FOLDS)]
        if not all(key in done for key in keys):
            return None
        return [_joined(folds) for folds in zip(*(done[key]["errors"] for key in keys), strict=True)]

    def _key(self, stage: str, gamma: float, fold: int | None = None) -> str:
        return f"{self.column.key}/{stage}/gamma={gamma:.6g}/" + ("folds" if fold is None else f"fold{fold}")

    def _cost(self) -> float:
        heavier = {"IMC": self.column.bins / 5.0}.get(self.column.method, 1.0)
        return 5.0 * heavier * (DATA_SETS[self.column.name].n_training / 6000) ** 2


def _named(stage: str, centre: Point) -> str:
    return f"{stage}-{centre['C']:.6g}-{centre['gamma']:.6g}"


def _joined(folds: Sequence[Outcome]) -> Outcome:
    return {"point": folds[0]["point"]} | {metric: [fold[metric][0] for fold in folds] for metric in METRICS}
