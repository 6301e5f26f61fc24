"""The papers' claims, what decides them, and docs/claims.md, the table of them all.

experiments/claims.json has, claim by claim, the criterion (`test`), the figures that it is about (`evidence`) and what
follows. A piece of evidence names a figure and one bound on it:

    file, key, field   a row of benchmarks/results/*.json by its claim, or a cell of experiments/*/results.json by
                       "ITEM: NAME"; field is another entry of the row, "seconds / AsyGCD" one within it
    figure             what is there
    at_most, at_least, equals, between, less_than
                       the bound; between is a pair of numbers, less_than the key of another figure of the same file

A claim holds if all its bounds are met, or `needed` of them: two thirds where it speaks of most cases or of cases in
general, one where it says that there are some. It holds in part if not all that are needed are met, but two thirds of
all; `obstacle` says why one could not be tested.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.results import pretty
from experiments.items import HERE, PAPERS
from experiments.sides import identity, number

ROOT = HERE.parent
FILE = HERE / "claims.json"
PAGE = ROOT / "docs" / "claims.md"
BOUNDS = {"at_most": "≤", "at_least": "≥", "equals": "=", "between": "within", "less_than": "<"}
HOLDS, IN_PART, FAILS, UNTESTED = VERDICTS = ("holds", "holds in part", "does not hold", "could not be tested")
MOST = 2 / 3  # of the bounds
UNDECIDED = "not decided yet"
SHOWN = 6  # figures under one bound that the table has

Claim = dict[str, Any]
Evidence = dict[str, Any]


class NoFigure(LookupError):
    """A file, row, cell or field that evidence names is not there."""


def read() -> list[Claim]:
    return list(json.loads(FILE.read_text(encoding="utf-8"))["claims"])


def figure_of(evidence: Evidence, key: str | None = None) -> Any:
    """What the file has now for the evidence, or for another key of the same file."""
    path, name = ROOT / evidence["file"], key or evidence["key"]
    if not path.is_file():
        raise NoFigure(f"There is no file {evidence['file']}.")
    report = json.loads(path.read_text(encoding="utf-8"))
    found = _rows(report).get(name) if "rows" in report else _cells(report).get(name)
    if found is None:
        raise NoFigure(f"{evidence['file']} has no {name!r}.")
    for part in evidence.get("field", "figure" if "rows" in report else "value").split(" / "):
        if part not in found:
            raise NoFigure(f"{evidence['file']}, {name!r}: no {part!r}.")
        found = found[part]
    return found


def _rows(report: dict[str, Any]) -> dict[str, Any]:
    return {row["claim"]: row for row in report["rows"]}


def _cells(report: dict[str, Any]) -> dict[str, Any]:
    named = ((item, cell) for item, found in report["items"].items() for cell in found["cells"])
    return {f"{item}: {', '.join(str(value) for _, value in identity(cell))}": cell for item, cell in named}


def is_measured(evidence: Evidence) -> bool:
    return "figure" in evidence


def is_met(evidence: Evidence) -> bool:
    """A figure that is null was not reached: it meets no bound but that of being null, and all others are less."""
    figure = evidence["figure"]
    if "equals" in evidence:
        return bool(figure == evidence["equals"])
    if figure is None:
        return False
    if "less_than" in evidence:
        return evidence["other_figure"] is None or bool(figure < evidence["other_figure"])
    if "between" in evidence:
        least, most = evidence["between"]
        return bool(least <= figure <= most)
    return bool(figure <= evidence["at_most"] if "at_most" in evidence else figure >= evidence["at_least"])


def verdict_of(claim: Claim) -> str | None:
    """None where a figure has not been measured yet."""
    evidence = claim["evidence"] or []
    if not evidence:
        return UNTESTED if claim.get("obstacle") else None
    if not all(map(is_measured, evidence)):
        return None
    met = sum(map(is_met, evidence))
    if met >= claim.get("needed", len(evidence)):
        return HOLDS
    return IN_PART if met >= MOST * len(evidence) else FAILS


def refreshed(claims: Iterable[Claim]) -> list[Claim]:
    """The claims with the figures that the files have now, and what follows from them."""
    made = []
    for claim in claims:
        evidence = [_with_figure(piece) for piece in claim["evidence"] or []]
        claim = {**claim, "evidence": evidence or None}
        made.append({**claim, "verdict": verdict_of(claim)})
    return made


def _with_figure(piece: Evidence) -> Evidence:
    """Without a figure where an experiment has not been run yet; a benchmark has to have it."""
    found = {key: value for key, value in piece.items() if key not in ("figure", "other_figure")}
    try:
        found["figure"] = figure_of(piece)
        if "less_than" in piece:
            found["other_figure"] = figure_of(piece, piece["less_than"])
    except NoFigure:
        if piece["file"].startswith("benchmarks/"):
            raise
        return {key: value for key, value in found.items() if key != "figure"}
    return found


def write() -> None:
    """Brings claims.json and the page up to date."""
    claims = refreshed(read())
    FILE.write_text(pretty({"claims": claims}) + "\n", encoding="utf-8")
    PAGE.write_text(page(claims), encoding="utf-8")


def page(claims: list[Claim]) -> str:
    counts = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in (*VERDICTS, None)}
    lines = [
        "# What the papers claim, and what holds here",
        "",
        "Generated by `python -m experiments claims` from [experiments/claims.json](../experiments/claims.json); "
        "figures are those of the files named, criteria are in the same file.",
        "Pages are those of the texts at hand (`expected.json` of every paper says which); sections are exact.",
        "Criteria are the plain reading of a claim. They were written with the figures of earlier benchmarks and of "
        "trial runs in view.",
        "A claim holds if all its bounds are met; two thirds of them suffice where it speaks of most cases or of cases "
        "in general, one where it says that there are some. It holds in part if two thirds are met but all are needed.",
        "Data sets, sizes and numbers of threads are those of the criteria, mostly smaller than the papers'.",
        "",
        f"{len(claims)} claims: {counts[HOLDS]} hold, {counts[IN_PART]} hold in part, {counts[FAILS]} do not hold, "
        f"{counts[UNTESTED]} could not be tested, {counts[None]} are not decided yet.",
    ]
    for paper in PAPERS:
        reference = json.loads((HERE / paper / "expected.json").read_text(encoding="utf-8"))["paper"]
        lines += ["", f"## {paper}", "", f"{reference}.", ""]
        lines += ["| | page | claim | criterion | verdict | figures |", "|---|---|---|---|---|---|"]
        lines += [_line(claim) for claim in claims if claim["paper"] == paper]
    return "\n".join(lines) + "\n"


def _line(claim: Claim) -> str:
    place = f"{claim['page']}, {claim['where']}"
    cells = (claim["id"], place, claim["claim"], claim["test"], f"**{claim['verdict'] or UNDECIDED}**", _shown(claim))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _shown(claim: Claim) -> str:
    """Figures with the bound that they have in common, those that miss it first."""
    if claim["verdict"] in (UNTESTED, None):
        return claim.get("obstacle") or claim.get("note", "–")
    groups: dict[str, list[str]] = {}
    for piece in sorted(claim["evidence"], key=is_met):
        limit = "" if "less_than" in piece else f"({_bound(piece)})"
        own = f"{_number(piece['figure'])}" + (f" {_bound(piece)}" if "less_than" in piece else "")
        groups.setdefault(limit, []).append(own)
    figures = [f"{_several(found)} {limit}".strip() for limit, found in groups.items()]
    met, needed = sum(map(is_met, claim["evidence"])), claim.get("needed", len(claim["evidence"]))
    enough = f", {needed} needed" if needed < len(claim["evidence"]) else ""
    share = [f"{met} of {len(claim['evidence'])} met{enough}"] if len(claim["evidence"]) > 1 else []
    note = [claim["note"]] if claim.get("note") else []
    return "; ".join([*share, *figures, _sources(claim["evidence"]), *note])


def _several(figures: list[str]) -> str:
    more = f", and {len(figures) - SHOWN} more" if len(figures) > SHOWN else ""
    return ", ".join(figures[:SHOWN]) + more


def _bound(piece: Evidence) -> str:
    bound = next(name for name in BOUNDS if name in piece)
    sign = BOUNDS[bound] if is_met(piece) else f"not {BOUNDS[bound]}"
    if bound == "between":
        return f"{sign} {' to '.join(map(_number, piece[bound]))}"
    return f"{sign} {_number(piece['other_figure'] if bound == 'less_than' else piece[bound])}"


def _number(value: Any) -> str:
    return "not reached" if value is None else number(value)


def _sources(evidence: Iterable[Evidence]) -> str:
    return ", ".join(f"[{Path(file).name}](../{file})" for file in dict.fromkeys(piece["file"] for piece in evidence))
