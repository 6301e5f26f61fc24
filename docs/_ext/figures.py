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
    """`file | claim | format | field`, of which the last two may be left out, as the number it stands for."""
    name, claim, *rest = (part.strip() for part in text.split(" | "))
    layout, field = (rest + ["", ""])[:2]
    found = rows(name)
    if claim not in found:
        raise KeyError(f"benchmarks/results/{name}.json has no claim {claim!r}")
    value: Any = found[claim]
    for key in (field or "figure").split("."):
        value = value[key]
    return format(value, layout or ".3g")
