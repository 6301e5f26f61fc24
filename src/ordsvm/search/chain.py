"""What a job of a search leaves to the next one on the same fold."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager

from ordsvm.search.full_kernel_path import PathMemory


class Chain:
    """Jobs in a given order, some of which follow others: those of the same line, as on a fold, one after the other.

    A job waits for the one before it on its line, so that what it finds does not depend on their speed. Jobs are begun
    in their order, so the one waited for has begun.
    """

    def __init__(self, lines: Iterable[Hashable]) -> None:
        self._before: list[int | None] = []
        last: dict[Hashable, int] = {}
        for number, line in enumerate(lines):
            self._before.append(last.get(line))
            last[line] = number
        self._memory = [PathMemory() for _ in self._before]
        self._done = [threading.Event() for _ in self._before]

    @contextmanager
    def link(self, number: int) -> Iterator[tuple[PathMemory, PathMemory]]:
        """What the job before has left, and what this one may leave."""
        before, mine = self._before[number], self._memory[number]
        left = PathMemory()
        if before is not None:
            self._done[before].wait()
            left = self._memory[before]
        try:
            yield left, mine
        except BaseException:
            for done in self._done:  # jobs that will not be run now are not to be waited for
                done.set()
            raise
        self._done[number].set()
        if before is not None:
            self._memory[before] = PathMemory()  # used once
