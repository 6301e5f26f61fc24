"""Copies of the dual variables on other workers than their own, so that a lost one costs a round and not the fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from distributed import Client, Future


@dataclass(frozen=True)
class Copy:
    holder: str
    future: Future


class Copies:
    """Of every shard the copy that is being made and the one before it, which may be all there is."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._kept: list[list[Copy]] = []
        self.unfinished: list[Future] = []  # to be waited for: what is still being fetched must not be released

    def make(self, betas: Sequence[Future], owners: Sequence[str]) -> None:
        """Each worker keeps those of its neighbour; a single worker has none."""
        workers = sorted(set(owners))
        if len(workers) < 2:
            return
        after = dict(zip(workers, workers[1:] + workers[:1], strict=True))
        before = self._kept or [[] for _ in betas]
        release([copy.future for copies in before for copy in copies[1:]])
        self._kept = [
            [Copy(after[owner], self._client.submit(kept, beta, workers=[after[owner]], pure=False)), *copies[:1]]
            for beta, owner, copies in zip(betas, owners, before, strict=True)
        ]
        self.unfinished = [copies[0].future for copies in self._kept]

    def close(self) -> None:
        release([copy.future for copies in self._kept for copy in copies])

    def of(self, number: int, alive: Sequence[str]) -> Future | None:
        """The latest copy for a shard that has been made and is still there."""
        self.unfinished = []  # some may never be
        copies = self._kept[number] if self._kept else []
        return next((copy.future for copy in copies if copy.holder in alive and copy.future.status == "finished"), None)


def kept(beta: Any) -> Any:
    """What a worker that is not theirs does with dual variables."""
    return beta


def release(*futures: Iterable[Future]) -> None:
    """At once: what only Python's garbage collector finds would stay in the memory of workers for rounds."""
    for future in list(chain.from_iterable(futures)):
        future.release()
