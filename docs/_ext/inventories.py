"""Inventories of other projects' manuals, made from short lists in this repository, so that a build needs no network.

A list names what this manual refers to: the project's address in the first line, then `role name address` a line.
"""

from __future__ import annotations

from pathlib import Path

from sphobjinv import DataObjStr, Inventory
from sphobjinv.data import SuperDataObj
from sphobjinv.fileops import writebytes
from sphobjinv.zlib import compress


def inventories(lists: Path, folder: Path) -> dict[str, tuple[str, str]]:
    """What `intersphinx_mapping` takes; the inventories are written into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(lists.glob("*.txt")):
        address, *lines = file.read_text(encoding="utf-8").split("\n")
        inventory = Inventory()
        inventory.project, inventory.version = file.stem, ""
        inventory.objects.extend(_entry(line) for line in lines if line.strip())
        target = folder / f"{file.stem}.inv"
        writebytes(str(target), compress(inventory.data_file()))
        found[file.stem] = (address, str(target))
    return found


def _entry(line: str) -> SuperDataObj:
    role, name, address = line.split()
    return DataObjStr(name=name, domain="py", role=role, priority="1", uri=address, dispname="-")
