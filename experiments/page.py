"""docs/laboratory.md: what the papers have and what was measured, side by side; generated, never edited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments import results, sides
from experiments.items import HERE, PAPERS, items_of
from experiments.sides import Pair

PAGE = HERE.parent / "docs" / "laboratory.md"
PICTURE = HERE.parent / "docs" / "laboratory.png"
CLAIMS = """\
## Every observation, remark and claim

One by one, with the page of the claim and what decides it: [claims.md](claims.md)."""
UNAVAILABLE = {
    ("chu_keerthi_2007", "figure7"): "The EachMovie ratings are not available.",
}
PICTURES = {  # of benchmarks that items are read from, once a paper
    ("manno_2018", "figure1"): ("parsmo", "Figures 1 to 3 and, below, runs without the gathering step"),
    ("shi_2021", "figure4"): ("dcd", "DCD-1 and DCD-2"),
}
SETTINGS = "Numbers of the set-up, without a measured counterpart; they are in expected.json."
INTRODUCTION = """\
# The laboratory

What five papers show, and what this library measured of it: tables and figures by their items of `experiments/`, the
paper's numbers (`expected.json`, with pages) beside ours (`results.json`, with data, protocol and versions). {missing}
This page is made by `python -m experiments page`; `python -m experiments` lists the items, and
`python -m experiments PAPER ITEM` measures what is missing of one.

Heads of columns have the numbers of trials. Ours are **bold** where a mean of five trials or more is more than two of
the paper's standard deviations off, which is a weak test of means: distances in standard errors of the difference are
given below the tables. \\* marks means that are significantly worse than the best of their line (Wilcoxon's rank sum
test, p < 0.01), as in the paper; – is a number that the paper does not have or that was not measured."""


def write() -> None:
    from experiments import picture

    picture.draw(PICTURE)
    PAGE.write_text(text())


def text() -> str:
    parts = [INTRODUCTION.format(missing=_unmeasured())]
    if PICTURE.is_file():
        parts.append("![Paper and ours](laboratory.png)")
    for paper in PAPERS:
        parts += _paper(paper)
    return "\n\n".join([*parts, CLAIMS]) + "\n"


def _unmeasured() -> str:
    """Items that have a plan but no result."""
    missing = [
        f"{paper} {item}"
        for paper in PAPERS
        for item in items_of(paper)
        if item in results.expected(paper)["items"] and item not in results.read(paper)["items"]
    ]
    return f"Not measured yet are {len(missing)} of them: {', '.join(missing)}." if missing else ""


def _paper(paper: str) -> Iterator[str]:
    theirs, ours = results.expected(paper), results.read(paper)
    if not theirs["items"] and not ours["items"]:
        return
    yield f"## {paper}"
    yield f"{theirs['paper']}. [Claims, protocols, differences](../experiments/{paper}/README.md)"
    measured = {item: ours["items"][item] for item in (*theirs["items"], *ours["items"]) if item in ours["items"]}
    for item in dict.fromkeys([*theirs["items"], *measured]):
        if item == "claims":  # on docs/claims.md
            continue
        yield from _item(paper, item, theirs["items"].get(item, {}), ours["items"].get(item))
        if item in measured:
            yield from _about(paper, item, measured)


def _item(paper: str, item: str, theirs: dict[str, Any], ours: dict[str, Any] | None) -> Iterator[str]:
    where = f" (p. {theirs['page']})" if "page" in theirs else ""
    yield f"### {item}{where}: {theirs.get('title') or (ours or {}).get('title', '')}"
    if ours is None:
        yield UNAVAILABLE.get((paper, item)) or ("Not measured yet." if item in items_of(paper) else SETTINGS)
        return
    trials = {"trials": theirs["trials"]} if "trials" in theirs else {}
    cells = [trials | cell for cell in theirs.get("cells", [])]
    made, missing = sides.available(sides.pairs(cells, ours["cells"]))
    yield sides.markdown(*(sides.pivot(made) if sides.is_table(made) else sides.listed(made)))
    yield from _agreement(made, ours.get("explanations", {}))
    if lines := sides.orders(made) if sides.is_table(made) else []:
        yield "Order of the methods, best first:\n\n" + "\n".join(f"- {line}" for line in lines)
    if missing:
        yield f"Not measured here, for want of the data or of time: {', '.join(missing)}."
    yield from ours.get("remarks", [])


def _about(paper: str, item: str, ours: dict[str, Any]) -> Iterator[str]:
    """Data and protocol, once for all items of a paper that have the same, and the picture."""
    texts = []
    for key in ("data", "protocol"):
        first = next(name for name in ours if ours[name][key] == ours[item][key])
        same = f"as in {first}." if first != item else _in_words(ours[item][key])
        texts.append(f"{key.capitalize()}: {same}")
    yield _trials(ours[item]["cells"]) + " ".join(texts)
    if (HERE / paper / f"{item}.png").is_file():
        yield f"![{item}](../experiments/{paper}/{item}.png)"
    if (paper, item) in PICTURES:
        name, title = PICTURES[paper, item]
        yield f"![{title}](../benchmarks/results/{name}.png)"


def _in_words(protocol: str | dict[str, str]) -> str:
    """Some items have a protocol for every measurement."""
    return protocol if isinstance(protocol, str) else " ".join(f"{name}: {text}" for name, text in protocol.items())


def _trials(cells: list[dict[str, Any]]) -> str:
    counts = [cell["trials"] for cell in cells if "trials" in cell]
    if not counts:
        return ""
    return f"Trials: {min(counts)} to {max(counts)} a cell. " if min(counts) < max(counts) else f"Trials: {counts[0]}. "


def _agreement(made: list[Pair], explanations: dict[str, str]) -> Iterator[str]:
    """How many cells of every method agree, and why others do not."""
    judged = [pair for pair in made if pair.agrees is not None]
    if not judged:
        return
    methods = dict.fromkeys(pair.about.get("method", "all") for pair in judged)
    counts = []
    for method in methods:
        own = [pair for pair in judged if pair.about.get("method", "all") == method]
        counts.append(f"{method} {sum(bool(pair.agrees) for pair in own)} of {len(own)}")
    yield f"Within two of the paper's standard deviations: {', '.join(counts)} cells."
    errors = [abs(pair.standard_errors) for pair in judged if pair.standard_errors is not None]
    if errors:
        near = sum(error <= sides.DEVIATIONS for error in errors)
        yield f"Within two standard errors of the difference of the means: {near} of {len(errors)} cells."
    missed = [pair for pair in judged if not pair.agrees]
    for dataset in dict.fromkeys(pair.about.get("dataset", "") for pair in missed):
        cells = ", ".join(
            f"{pair.about.get('method', '')} {pair.about['metric']} {_distances(pair)}"
            for pair in missed
            if pair.about.get("dataset", "") == dataset
        )
        why = explanations.get(dataset, "unexplained.")
        yield f"- {dataset} (deviations off, standard errors in brackets: {cells}): {why}"


def _distances(pair: Pair) -> str:
    errors = "" if pair.standard_errors is None else f" ({pair.standard_errors:+.1f})"
    return f"{pair.distance:+.1f}{errors}"
