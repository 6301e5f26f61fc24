"""results.json of a paper: what was measured, item by item, with data, protocol, machine and versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.results import plain, pretty
from experiments.items import HERE, Item, Scope
from experiments.records import RecordFile
from experiments.sides import identity

ABOUT = ("machine", "versions")

Entry = dict[str, Any]


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
    """Renews these items of the file, as `merged` has it; an item without a cell stays as it was."""
    report = read(paper)
    for name, item in items.items():
        found = item.summary(records, scope)
        if not found["cells"]:
            continue
        command = f"python -m experiments {paper} {name}"
        kept = {key: value for key, value in found.items() if not key.startswith("_")}
        is_whole = not left_of(item, records, scope)
        made = plain({"title": item.title, "command": command, **records.about, **kept})
        shown = merged(report["items"].get(name), made, is_whole)
        report["items"][name] = shown | ({"remarks": item.remarks(shown)} if item.remarks is not None else {})
        if item.draw is not None and shown is made:  # a picture has no cells that were kept
            item.draw(found, HERE / paper / f"{name}.png")
    report["items"] = dict(sorted(report["items"].items()))
    path = path_of(paper)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(pretty(report) + "\n")


def left_of(item: Item, records: RecordFile, scope: Scope) -> list[str]:
    """Keys of the units that the records lack, whether they are to be run or not."""
    return [unit.key for unit in item.units(records, replace(scope, only=())) if unit.key not in records]


def merged(before: Entry | None, made: Entry, is_whole: bool) -> Entry:
    """The item as the records have it, with cells of the file where those are of more trials.

    So are cells that the records do not have, unless all units of the item have ended: then there is no such cell any
    more. Records may have been lost, or be those of another machine. A cell that is kept names the machine and
    versions that it was measured by, by its place in the item's list `earlier`, if they are others. Entries of other
    lists, such as points of a search, are kept with the cells that they are about.
    """
    if before is None:
        return made
    new = {identity(cell): cell for cell in made["cells"]}
    old = {identity(cell): cell for cell in before["cells"]}
    kept = [name for name, cell in old.items() if _is_better(cell, new.get(name), is_whole)]
    if not kept:
        return made
    runs: list[Entry] = []
    names = [name for name in old | new if name in new or name in kept]
    cells = [_with_run(old[name], before, made, runs) if name in kept else new[name] for name in names]
    lists = {
        key: _joined(before.get(key, []), made[key], [old[name] for name in kept])
        for key in made
        if key != "cells" and _is_entries(made[key]) and _is_entries(before.get(key, []))
    }
    return made | lists | {"cells": cells} | ({"earlier": runs} if runs else {})


def _is_better(old: Entry, new: Entry | None, is_whole: bool) -> bool:
    return not is_whole if new is None else old.get("trials", 0) > new.get("trials", 0)


def _with_run(cell: Entry, before: Entry, made: Entry, runs: list[Entry]) -> Entry:
    """The cell with the place of its machine and versions among the earlier ones, which may grow by it."""
    source = before["earlier"][cell["earlier"]] if "earlier" in cell else before
    about = {key: source.get(key) for key in ABOUT}
    rest = {key: value for key, value in cell.items() if key != "earlier"}
    if all(about[key] == made.get(key) for key in ABOUT):
        return rest
    if about not in runs:
        runs.append(about)
    return rest | {"earlier": runs.index(about)}


def _is_entries(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) and "dataset" in entry for entry in value)


def _joined(old: list[Entry], new: list[Entry], kept: list[Entry]) -> list[Entry]:
    """Old entries about cells that are kept, and new ones about others."""

    def is_kept(entry: Entry) -> bool:
        return any(all(cell.get(key) == value for key, value in identity(entry)) for cell in kept)

    return [entry for entry in old if is_kept(entry)] + [entry for entry in new if not is_kept(entry)]
