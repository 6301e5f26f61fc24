"""The exact rule of a search: a candidate that can't win any more, whatever the folds to come bring, is not trained."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ordsvm._typing import Floats
from ordsvm.search.journal import Outcome

ROUNDING = 1e-12  # relative; sums of scores may be off by less


class Pruner:
    """The scores of a search so far, and what they prove.

    Where no score exceeds `best`, the mean of a candidate with the scores s of some of k folds is at most
    (Σ s + (k − number of them) · best) / k. It is lost where that is less than the mean of a candidate with the scores
    of all folds: it can't win, nor tie. So the winner is that of the exhaustive search.
    """

    def __init__(self, n_candidates: int, n_folds: int, best: float, name: str, incumbent: float = -np.inf) -> None:
        self._score: Floats = np.full((n_candidates, n_folds), np.nan)
        self._has_failed = np.zeros(n_candidates, dtype=bool)
        self._best, self._name = best, name
        self.incumbent = incumbent  # the largest mean of a candidate that all folds have tried
        self._lock = threading.Lock()

    def note(self, place: int, fold: int, outcome: Outcome) -> None:
        with self._lock:
            score = outcome.test[self._name]
            self._score[place, fold] = score
            self._has_failed[place] |= np.isnan(score)
            if not np.isnan(self._score[place]).any():
                self.incumbent = max(self.incumbent, float(self._score[place].mean()))

    def are_lost(self, places: Sequence[int]) -> bool:
        """Whether all of these candidates are."""
        if self.incumbent == -np.inf or not len(places):
            return not len(places)
        score = self._score[places]
        most = np.where(np.isnan(score), self._best, score).mean(axis=1)
        least = self.incumbent - ROUNDING * (1.0 + abs(self.incumbent))
        return bool(np.all((most < least) | self._has_failed[places]))


@dataclass(frozen=True)
class JobPruner:
    """The same for a job: candidates by their numbers in it.

    A fit is left out only where no fit that starts from it is to come, so that all others are those of the exhaustive
    search, to the last bit. `followers` gives the places of those in later jobs on the fold that may start from it.
    """

    pruner: Pruner
    places: Sequence[int]
    fold: int
    followers: Callable[[int], Sequence[int]]

    def note(self, number: int, outcome: Outcome) -> None:
        self.pruner.note(self.places[number], self.fold, outcome)

    def skips(self, numbers: Sequence[int]) -> bool:
        places = [self.places[number] for number in numbers]
        return self.pruner.are_lost(places) and self.pruner.are_lost(self.followers(places[0]))
