"""Items that the benchmarks have measured: their rows are read, not measured again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.results import FOLDER
from experiments.items import Item, Outcome, Records, Scope, Unit

Row = dict[str, Any]


def report(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text()))


def no_units(done: Records, scope: Scope) -> Iterator[Unit]:
    return iter(())


def item(title: str, benchmark: str, cells: Callable[[list[Row]], list[Outcome]]) -> Item:
    """An item without units, whose cells are made of the rows of a benchmark."""

    def summary(done: Records, scope: Scope) -> Outcome:
        read = report(benchmark)
        protocol = f"Read from `python -m benchmarks {benchmark}` ({read['date']}, {read['machine']['cores']} cores)."
        about = {"machine": read["machine"], "versions": read["versions"]}
        return about | {"data": read["data"], "protocol": protocol, "cells": cells(read["rows"])}

    return Item(title, no_units, summary)


def as_cells(rows: list[Row], *words: str) -> list[Outcome]:
    """The claims that contain all these words, with their figures."""
    chosen = [row for row in rows if all(word in row["claim"] for word in words)]
    return [{"metric": row["claim"], "value": row["figure"]} for row in chosen if row["figure"] is not None]
