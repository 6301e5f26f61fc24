"""The outcomes of a search as a checkpoint keeps them: a line for every fit, so that none is made twice."""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ordsvm.checkpoint import Session

FOLDER = "outcomes"


@dataclass(frozen=True)
class Outcome:
    """One candidate on one fold."""

    test: dict[str, float]
    train: dict[str, float]
    fit_seconds: float
    score_seconds: float


@dataclass(frozen=True)
class JobJournal:
    """The lines of one job: candidates by their places in the list of all, on one fold. Other processes may write them.

    A line is a checksum and JSON. One that is torn, as the last one may be after a crash, is no outcome.
    """

    session: Session
    stage: int
    fold: int
    places: Sequence[int]
    _synced: list[float] = field(default_factory=lambda: [time.monotonic()], repr=False)

    def note(self, number: int, outcome: Outcome) -> None:
        """Keeps the outcome of the job's candidate of this number; what its fit has kept is of no use any more."""
        place = self.places[number]
        text = json.dumps({"place": place, "fold": self.fold} | asdict(outcome))
        folder = self.session.folder / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"stage{self.stage}-fold{self.fold}-from{self.places[0]}"
        with open(path, "ab") as file:
            file.write(f"\n{zlib.crc32(text.encode()):08x} {text}".encode())
            if time.monotonic() - self._synced[0] >= self.session.interval:
                file.flush()
                os.fsync(file.fileno())
                self._synced[0] = time.monotonic()
        self.part(number).remove()

    def part(self, number: int) -> Session:
        """For the fit of the job's candidate of this number, should it be long."""
        return self.session.part(f"fit-stage{self.stage}-fold{self.fold}-{self.places[number]}", keeps_end=False)


@dataclass(frozen=True)
class Journal:
    """The outcomes of one stage of a search; without a session there are none, and none is kept."""

    session: Session | None
    stage: int
    known: dict[tuple[int, int], Outcome]  # by the place of the candidate and the fold

    @classmethod
    def of(cls, session: Session | None, stage: int) -> Journal:
        folder = None if session is None else session.folder / FOLDER
        return cls(session, stage, {} if folder is None else dict(_read(sorted(folder.glob(f"stage{stage}-*")))))

    def left(self, places: Sequence[int], fold: int) -> list[int]:
        """Those of the candidates that have no outcome yet."""
        return [place for place in places if (place, fold) not in self.known]

    def for_job(self, places: Sequence[int], fold: int) -> JobJournal | None:
        return None if self.session is None else JobJournal(self.session, self.stage, fold, places)


def _read(paths: Sequence[Path]) -> Iterator[tuple[tuple[int, int], Outcome]]:
    for path in paths:
        for line in path.read_bytes().split(b"\n"):
            checksum, _, text = line.partition(b" ")
            if text and checksum == f"{zlib.crc32(text):08x}".encode():
                record: dict[str, Any] = json.loads(text)
                yield (record.pop("place"), record.pop("fold")), Outcome(**record)
