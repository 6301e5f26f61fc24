"""results.json of a paper: what was measured, item by item, with data, protocol, machine and versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.results import plain, pretty
from experiments.items import HERE, Item, Scope
from experiments.records import RecordFile


def path_of(paper: str) -> Path:
    return HERE / paper / "results.json"


def read(paper: str) -> dict[str, Any]:
    """What the file has; nothing, by the same names, where there is none."""
    path = path_of(paper)
    return dict(json.loads(path.read_text())) if path.is_file() else {"paper": paper, "items": {}}


def expected(paper: str) -> dict[str, Any]:
    """The paper's own numbers."""
    path = HERE / paper / "expected.json"
    return dict(json.loads(path.read_text())) if path.is_file() else {"paper": paper, "items": {}}


def write(paper: str, items: Mapping[str, Item], records: RecordFile, scope: Scope) -> None:
    """Replaces these items of the file; an item without a cell stays as it was."""
    report = read(paper)
    for name, item in items.items():
        found = item.summary(records, scope)
        if not found["cells"]:
            continue
        command = f"python -m experiments {paper} {name}"
        kept = {key: value for key, value in found.items() if not key.startswith("_")}
        report["items"][name] = plain({"title": item.title, "command": command, **records.about, **kept})
        if item.draw is not None:
            item.draw(found, HERE / paper / f"{name}.png")
    report["items"] = dict(sorted(report["items"].items()))
    path = path_of(paper)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(pretty(report) + "\n")
