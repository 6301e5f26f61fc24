"""Finished units on disk: a line of JSON each, written at once, so that a kill loses no more than what is running."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.items import Outcome


class RecordFile(Mapping[str, Outcome]):
    """The outcomes of one paper by the keys of their units. A line that a crash has torn is no outcome."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.about: dict[str, Any] = {}  # machine and versions of the last run that added something
        self._outcomes: dict[str, Outcome] = {}
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue

    def __getitem__(self, key: str) -> Outcome:
        return self._outcomes[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def add(self, key: str, outcome: Outcome) -> None:
        self._write({"key": key, "outcome": outcome})

    def add_about(self, about: dict[str, Any]) -> None:
        """What the units that follow are run by, unless it is what the last ones were run by."""
        if about != self.about:
            self._write({"about": about})

    def _take(self, record: dict[str, Any]) -> None:
        if "about" in record:
            self.about = dict(record["about"])
        else:
            self._outcomes[str(record["key"])] = dict(record["outcome"])

    def _write(self, record: dict[str, Any]) -> None:
        """One write of a whole line to the end of the file; the newline before it ends a torn one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = "\n" + json.dumps(record) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line.encode())
            os.fsync(file)
        finally:
            os.close(file)
        self._take(json.loads(line))
