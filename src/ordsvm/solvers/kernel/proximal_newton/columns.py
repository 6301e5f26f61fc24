"""The table of hinges as columns: a row for every sample, a column for every hinge that one may have at a threshold.

Devices work on whole columns; where a sample has no hinge in a column, its cap there is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ordsvm._typing import Floats, Ints
from ordsvm.array_library import Array, ArrayLibrary
from ordsvm.problem import Hinges, Problem, Treatment


@dataclass(frozen=True)
class Columns:
    """Hinges of the samples, in an order of the samples.

    sign, offset, cap   (n_samples, n_columns)
    member              (n_columns, n_thresholds): 1 where a column is about a threshold; without thresholds it has no
                        columns. Thresholds and sums by threshold are few numbers, and stay on the host
    place               where in such a table the hinges of the problem are, as flat numbers
    """

    library: ArrayLibrary
    sign: Array
    offset: Array
    cap: Array
    member: Floats
    place: Array

    @classmethod
    def of(cls, problem: Problem, order: Ints, library: ArrayLibrary) -> Columns:
        """Row i of the columns is sample order[i] of the problem."""
        h = problem.hinges
        row = np.empty(problem.n_samples, dtype=np.int64)
        row[order] = np.arange(problem.n_samples)
        kind = h.threshold + problem.n_thresholds * _run_position(h)
        kinds = np.flatnonzero(np.bincount(kind))
        column = np.zeros(kind.max() + 1, dtype=np.int64)
        column[kinds] = np.arange(len(kinds))
        n_columns = len(kinds)
        place = row[h.sample] * n_columns + column[kind]
        n_thresholds = 0 if problem.treatment is Treatment.NONE else problem.n_thresholds
        member = ((kinds % problem.n_thresholds)[:, np.newaxis] == np.arange(n_thresholds)).astype(np.float64)

        place = library.index(place)

        def table(values: Floats) -> Array:
            full = library.zeros(problem.n_samples * n_columns)
            full[place] = library.array(values)
            return full.reshape(problem.n_samples, n_columns)

        return cls(library, table(h.sign), table(h.offset), table(h.cap), member, place)

    def first(self, size: int, factor: float) -> Columns:
        """The first so many samples, with caps so many times as large."""
        return replace(self, sign=self.sign[:size], offset=self.offset[:size], cap=factor * self.cap[:size])

    def flat(self, table: Array) -> Array:
        """The values of the problem's hinges."""
        return table.reshape(-1)[self.place]

    def table(self, flat: Array) -> Array:
        """The inverse: 0 where there is no hinge."""
        table = 0.0 * self.cap
        table.reshape(-1)[self.place] = flat
        return table

    @cached_property
    def membership(self) -> Array:
        """`member` where the tables are."""
        return self.library.array(self.member)

    def level(self, b: Floats) -> Array:
        """The threshold of every column."""
        return self.library.array(self.member @ b)

    def slope(self, score: Array, b: Floats) -> Array:
        """G = s(f − b) − o."""
        return self.sign * (score[:, None] - self.level(b)) - self.offset

    def sums(self, alpha: Array) -> tuple[Array, Array]:
        """β, and the same sums by column: `gamma` of these is γ."""
        signed = self.sign * alpha
        return signed.sum(1), signed.sum(0)

    def gamma(self, sums: Floats) -> Floats:
        return sums @ self.member


def _run_position(hinges: Hinges) -> Ints:
    """0, 1, 2, … for the hinges of one sample at one threshold, which are neighbours."""
    begins = np.ones(len(hinges), dtype=bool)
    begins[1:] = (np.diff(hinges.sample) != 0) | (np.diff(hinges.threshold) != 0)
    number = np.arange(len(hinges))
    return number - np.maximum.accumulate(np.where(begins, number, 0))
