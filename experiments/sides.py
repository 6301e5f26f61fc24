"""The paper's cells beside ours: which belong together, how they are written, and whether they agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Cell = dict[str, Any]

IDENTITY = ("dataset", "task", "bins", "share", "size", "method", "metric", "key")
DEVIATIONS = 2.0  # of the paper's, within which a mean agrees
FEWEST = 5  # trials of a mean that is judged


@dataclass(frozen=True)
class Pair:
    """A number of the paper and ours; either may be missing."""

    about: dict[str, Any]
    paper: Cell | None
    ours: Cell | None

    @property
    def distance(self) -> float | None:
        """How far ours is off, in standard deviations of the paper; None where one of the numbers is missing."""
        if not (self.paper and self.ours and self.paper.get("sd") and is_number(self.ours["value"])):
            return None
        return (self.ours["value"] - self.paper["value"]) / self.paper["sd"]

    @property
    def agrees(self) -> bool | None:
        """None where ours is a mean of too few trials as well."""
        if self.distance is None or (self.ours or {}).get("trials", FEWEST) < FEWEST:
            return None
        return bool(abs(self.distance) <= DEVIATIONS)

    @property
    def standard_errors(self) -> float | None:
        """The difference of the means in its standard error; None where trials or spreads are missing."""
        both = [cell for cell in (self.paper, self.ours) if cell and cell.get("trials") and is_number(cell.get("sd"))]
        if len(both) < 2 or self.distance is None:
            return None
        error = math.sqrt(sum(cell["sd"] ** 2 / cell["trials"] for cell in both))
        return float((both[1]["value"] - both[0]["value"]) / error) if error > 0 else None


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def identity(cell: Cell) -> tuple[tuple[str, Any], ...]:
    return tuple((key, cell[key]) for key in IDENTITY if key in cell)


def pairs(paper: Sequence[Cell], ours: Sequence[Cell]) -> list[Pair]:
    """All cells of both, those of the paper in its order first."""
    mine, theirs = ({identity(cell): cell for cell in cells} for cells in (ours, paper))
    return [Pair(dict(name), theirs.get(name), mine.get(name)) for name in dict.fromkeys([*theirs, *mine])]


def available(made: Sequence[Pair]) -> tuple[list[Pair], list[str]]:
    """The pairs of data sets that have a number of ours, or of none; and the other sets."""
    ours = {pair.about.get("dataset") for pair in made if pair.ours is not None} | {None}
    missing = dict.fromkeys(str(p.about["dataset"]) for p in made if p.about.get("dataset") not in ours)
    return [pair for pair in made if pair.about.get("dataset") in ours], list(missing)


def orders(made: Sequence[Pair]) -> list[str]:
    """The methods of every line that is whole on both sides, best first, where the paper has no deviations."""
    lines: dict[tuple[str, str], list[Pair]] = {}
    for pair in made:
        lines.setdefault((str(pair.about.get("dataset")), str(pair.about.get("metric"))), []).append(pair)
    found = []
    for (dataset, metric), row in lines.items():
        if len(row) < 3 or not all(p.paper and p.ours and "sd" not in p.paper for p in row):
            continue
        theirs, ours = (
            [str(p.about["method"]) for p in sorted(row, key=lambda p: value(p))]
            for value in (lambda p: p.paper["value"], lambda p: p.ours["value"])
        )
        same = "the same order" if theirs == ours else f"paper {', '.join(theirs)}; ours {', '.join(ours)}"
        found.append(f"{dataset}, {metric}: {same}")
    return found


def number(value: Any) -> str:
    """Four digits at most, and all of an integer."""
    if not is_number(value):
        return str(value) if value is not None else "–"
    if isinstance(value, int) or float(value).is_integer():
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= 0.0995 else f"{value:.3g}"


def written(cell: Cell | None) -> str:
    """The number, its standard deviation, and the star of a significantly worse one."""
    if cell is None:
        return "–"
    sd = f" ± {cell['sd']:.3f}" if is_number(cell.get("sd")) else ""
    return number(cell["value"]) + sd + ("\\*" if cell.get("significantly_worse") else "")


def is_table(made: Sequence[Pair]) -> bool:
    return bool(made) and all("dataset" in pair.about and "method" in pair.about for pair in made)


def pivot(made: Sequence[Pair]) -> tuple[list[str], list[list[str]]]:
    """Header and lines: a data set and error a line, two columns a method."""
    methods = list(dict.fromkeys(pair.about["method"] for pair in made))
    lines: dict[tuple[str, ...], dict[str, Pair]] = {}
    for pair in made:
        name = tuple(str(pair.about[key]) for key in ("dataset", "task", "size", "metric") if key in pair.about)
        lines.setdefault(name, {})[pair.about["method"]] = pair
    header = ["data set", ""]
    for method in methods:
        own = [pair for pair in made if pair.about["method"] == method]
        header += [f"{method}: paper{_trials(p.paper for p in own)}", f"ours{_trials(p.ours for p in own)}"]
    cells = []
    for name, row in sorted(lines.items(), key=lambda entry: _place(entry[0][-1], made)):
        line = [", ".join(name[:-1]), name[-1]]
        for method in methods:
            found = row.get(method)
            line += [written(found.paper if found else None), _marked(found)]
        cells.append(line)
    return header, cells


def _trials(cells: Iterable[Cell | None]) -> str:
    """The numbers of trials behind the means of a column."""
    counts = sorted({cell["trials"] for cell in cells if cell and "trials" in cell})
    return f", {'–'.join(map(str, dict.fromkeys((counts[0], counts[-1]))))}" if counts else ""


def _place(metric: str, made: Sequence[Pair]) -> int:
    return list(dict.fromkeys(str(pair.about["metric"]) for pair in made)).index(metric)


def _marked(pair: Pair | None) -> str:
    """Ours: bold where it is more than two of the paper's standard deviations off."""
    text = written(pair.ours if pair else None)
    return f"**{text}**" if pair is not None and pair.agrees is False else text


def listed(made: Sequence[Pair]) -> tuple[list[str], list[list[str]]]:
    """Header and lines: a number a line."""
    lines = []
    for pair in made:
        about = [str(value) for key, value in pair.about.items() if key != "bins"]
        lines.append([", ".join(about), written(pair.paper), written(pair.ours)])
    return ["what", "paper", "ours"], lines


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * len(header)
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in (header, rule, *lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped)
