"""The grid of a search as coloured cells in a terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from ordsvm.metrics import SCORERS
from ordsvm.search.grids import short_number

# Dark for the worst, light for the best: the perceptual order of lightness, whatever the colours.
COLOURS = np.array([[46, 20, 80], [60, 78, 138], [38, 130, 142], [83, 197, 104], [240, 230, 80]], dtype=float)


def heat_map(tried: dict[str, Any], stage: int, name: str) -> Table:
    """Mean scores of one stage: gamma downwards, C to the right, the best in bold with a mark.

    A point without a score, as it was not tried on all folds, has a dash.
    """
    here = tried["stage"] == stage
    score = tried["score"][here]
    C = tried["tried"]["C"][here]
    gamma = tried["tried"].get("gamma", np.zeros(len(tried["stage"])))[here]
    greater = SCORERS[tried["metric"]].greater_is_better
    winner = np.flatnonzero(np.flatnonzero(here) == tried["best"])  # among equals the search has taken one
    known = np.flatnonzero(np.isfinite(score))  # of those tried on all folds
    of_stage = known[[np.argmax(score[known] if greater else -score[known])]] if len(known) else known
    best = int(next(iter([*winner, *of_stage]), -1))
    columns, lines = np.unique(C), np.unique(gamma)
    and_gamma = " and gamma (down)" if len(lines) > 1 else ""
    table = Table(
        box=None, padding=(0, 0), title=f"{name}: {tried['metric']} by C (right){and_gamma}", title_style="bold"
    )
    table.add_column("", justify="right")
    for value in columns:
        table.add_column(f" {short_number(value)} ", justify="right", header_style="dim")
    for line in lines[::-1]:
        cells = [Text(f"{short_number(line)} " if len(lines) > 1 else "", style="dim")]
        for value in columns:
            where = np.flatnonzero((value == C) & (gamma == line))
            cells.append(_cell(score, where, best, greater))
        table.add_row(*cells)
    return table


def _cell(score: Any, where: Any, best: int, greater: bool) -> Text:
    if not len(where):
        return Text("")
    place = best if best in where else where[-1]  # rounds of halving have a row each
    value, known = score[place], score[np.isfinite(score)]
    if not np.isfinite(value):
        return Text("  –   ", style="dim")
    spread = np.ptp(known) or 1.0
    goodness = (value - known.min()) / spread if greater else (known.max() - value) / spread
    red, green, blue = colour(goodness)
    ink = "rgb(16,16,16)" if goodness > 0.55 else "rgb(255,255,255)"  # whatever a terminal calls black and white
    mark = "*" if place == best else " "
    return Text(f" {value:.3f}{mark}", style=f"{'bold ' if mark == '*' else ''}{ink} on rgb({red},{green},{blue})")


def colour(goodness: float) -> tuple[int, int, int]:
    """Between 0, the worst, and 1, the best."""
    place = np.linspace(0, 1, len(COLOURS))
    red, green, blue = (round(float(np.interp(goodness, place, channel))) for channel in COLOURS.T)
    return red, green, blue
