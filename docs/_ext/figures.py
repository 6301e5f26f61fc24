"""Figures that commands have written to `benchmarks/results`, by file and claim. No Sphinx: tests and tools read it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@cache
def rows(name: str) -> dict[str, dict[str, Any]]:
    """The rows of a results file by their claims."""
    document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return {row["claim"]: row for row in document["rows"]}


def shown(text: str) -> str:
    r"""`file | claim | format | field`, of which the last two may be left out, as the number it stands for.

    In a table `\|` takes the place of `|`. `least of WORDS` and `most of WORDS` are those of all claims with these
    words.
    """
    name, claim, *rest = (part.strip() for part in text.replace("\\|", "|").split(" | "))
    layout, field = (rest + ["", ""])[:2]
    which, _, words = claim.partition(" of ")
    extreme = {"least": min, "most": max}.get(which)
    found = [row for key, row in rows(name).items() if (words in key if extreme else claim == key)]
    if not found:
        raise KeyError(f"benchmarks/results/{name}.json has no claim {claim!r}")
    values = [_field(row, field or "figure") for row in found]
    return format(extreme(values) if extreme else values[0], layout or ".3g")


def _field(row: Any, path: str) -> Any:
    for key in path.split("."):
        row = row[key]
    return row
