"""The outcomes of a search as a checkpoint keeps them: a line for every fit, so that none is made twice."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import uuid4

from ordsvm.checkpoint import Session, described, digest
from ordsvm.checkpoint.description import FREE_TO_CHANGE, LIMITS
from ordsvm.search.lines import Lines

FOLDER = "outcomes"
PRUNED = "pruned"  # status of a fit that was not made
FAILED = "failed"  # status of a fit that raised an error


@dataclass(frozen=True)
class Outcome:
    """One candidate on one fold.

    status: how its fit ended, where that was not by convergence; PRUNED where there was none, FAILED where it raised an
    error. losses: of the tested samples, where a search compares candidates by them.
    """

    test: dict[str, float]
    train: dict[str, float]
    fit_seconds: float
    score_seconds: float
    status: str = ""
    losses: list[float] | None = None

    @property
    def is_pruned(self) -> bool:
        return self.status == PRUNED


class Ending(Enum):
    """What an outcome depends on besides the parameters of the candidate."""

    BY_ITSELF = "nothing: the fit came to its end"
    BY_LIMITS = "limits and callbacks, which may have ended it, or that it failed by"
    BY_CHANCE = "the state of the machine: there was no memory, a file could not be read, or a scorer failed"


@dataclass(frozen=True)
class JobJournal:
    """The lines of one job: candidates by their places in the list of all, on one fold. Other processes may write them.

    A line is a checksum and JSON. One that is torn, as the last one may be after a crash, is no outcome.
    """

    session: Session
    stage: int
    fold: int
    places: Sequence[int]
    parameters: Sequence[str]  # of these candidates: digests
    limits: str

    def note(self, number: int, outcome: Outcome, ending: Ending = Ending.BY_ITSELF) -> None:
        """Keeps the outcome of the job's candidate of this number; what its fit has kept is of no use any more."""
        self.session.end_if_orphaned()
        if ending is Ending.BY_CHANCE:
            return
        about = {
            "place": self.places[number],
            "fold": self.fold,
            "parameters": self.parameters[number],
            "limits": self.limits if ending is Ending.BY_LIMITS else None,
        }
        text = json.dumps(about | asdict(outcome))
        name = f"stage{self.stage}-fold{self.fold}-from{self.places[0]}"
        lines = Lines.of(self.session.folder / FOLDER)
        if lines.append(name, f"\n{zlib.crc32(text.encode()):08x} {text}".encode(), self.session.interval):
            self.part(number).remove()

    def part(self, number: int) -> Session:
        """For the fit of the job's candidate of this number, should it be long."""
        which = f"{self.places[number]}-{self.parameters[number][:8]}"
        return self.session.part(f"fit-stage{self.stage}-fold{self.fold}-{which}", keeps_end=False)


@dataclass(frozen=True)
class Journal:
    """The outcomes of one stage of a search; without a session there are none, and none is kept."""

    session: Session | None
    stage: int
    known: dict[tuple[int, int], Outcome]  # by the place of the candidate and the fold
    parameters: Sequence[str] = ()  # of all candidates: digests
    limits: str = ""
    wanted: frozenset[tuple[int, int]] | None = None  # places and folds; None: all

    @classmethod
    def of(
        cls, session: Session | None, stage: int, candidates: Sequence[Mapping[str, Any]] = (), estimator: Any = None
    ) -> Journal:
        """Outcomes of other candidates, or of fits that other limits have ended, are not among them."""
        if session is None:
            return cls(None, stage, {})
        parameters, limits = [digest(described(dict(chosen))) for chosen in candidates], _limits(estimator)
        paths = sorted((session.folder / FOLDER).glob(f"stage{stage}-*"))
        return cls(session, stage, dict(_read(paths, parameters, limits)), parameters, limits)

    def left(self, places: Sequence[int], fold: int) -> list[int]:
        """Those of the candidates that are wanted and have no outcome yet."""
        lacking = [place for place in places if (place, fold) not in self.known]
        return lacking if self.wanted is None else [place for place in lacking if (place, fold) in self.wanted]

    def for_job(self, places: Sequence[int], fold: int) -> JobJournal | None:
        if self.session is None:
            return None
        chosen = [self.parameters[place] for place in places]
        return JobJournal(self.session, self.stage, fold, places, chosen, self.limits)

    def finish(self) -> None:
        """All lines are on the disk, those of other processes too."""
        if self.session is not None:
            Lines.of(self.session.folder / FOLDER).finish()


def _limits(estimator: Any) -> str:
    """A digest of the limits and callbacks in an estimator; of those that cannot be described, as no other."""
    try:
        return digest(described(estimator, FREE_TO_CHANGE - LIMITS))
    except ValueError:
        return uuid4().hex


def _read(paths: Sequence[Path], parameters: Sequence[str], limits: str) -> Iterator[tuple[tuple[int, int], Outcome]]:
    for path in paths:
        for line in path.read_bytes().split(b"\n"):
            checksum, _, text = line.partition(b" ")
            if not text or checksum != f"{zlib.crc32(text):08x}".encode():
                continue
            record: dict[str, Any] = json.loads(text)
            place, fold = record.pop("place"), record.pop("fold")
            is_same = place < len(parameters) and record.pop("parameters") == parameters[place]
            if is_same and record.pop("limits") in (None, limits):
                yield (place, fold), Outcome(**record)
