"""The pictures of the benchmark `parsmo`, in the manner of the paper's Figures 1 to 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks import drawing
from benchmarks.parsmo_traces import GOAL, Trace

Traces = Mapping[str, Trace]
COLOURS = {"q = 1": "#888888", "q = 2": "#4c9be8", "q = 4": "#e8a33d", "q = 8": "#c0392b"}


def draw(whole: Mapping[str, Traces], timed: Mapping[str, Traces], loose: Mapping[str, Traces], titles: Any) -> None:
    """A column for every set; rows: iterations, kernel evaluations, seconds, and what the gathering step is for."""
    lines = [
        (whole, "light", "iterations", "iterations", "LIBSVM"),
        (whole, "light", "evaluations", "kernel evaluations a process", "SMO, second order"),
        (timed, "cache", "seconds", "seconds, one thread", "LIBSVM"),
        (loose, "light", "iterations", "iterations", ""),
    ]
    drawing.save("parsmo.png", lambda axes: _fill(axes, lines, titles), (4, len(whole)), (4.6, 3.5), dpi=110)


def _fill(axes: np.ndarray, lines: list[tuple[Mapping[str, Traces], str, str, str, str]], titles: Any) -> None:
    for place, (line, (runs, kind, column, label, rival)) in enumerate(zip(axes, lines, strict=True)):
        for axis, (name, traces) in zip(line, runs.items(), strict=True):
            for title, trace in traces.items():
                if title == rival or (title.startswith(kind) and "threads" not in title):
                    _plot(axis, trace, column, title, rival)
            axis.axhline(GOAL, color="0.8", linewidth=0.8)
            axis.set(title=f"{name}, {titles[place][name]:,} rows", xlabel=label, ylabel="relative error")
            axis.set_ylim(5e-5, 20.0 if place == 3 else 2.0)
            axis.set_xlim(left=0.0)
            axis.legend(fontsize=8)


def _plot(axis: Any, trace: Trace, column: str, title: str, rival: str) -> None:
    if title == rival:
        style: dict[str, Any] = {"color": "black", "linestyle": "--", "marker": "." if rival == "LIBSVM" else None}
    elif "no gathering" in title:
        style = {"color": "#8e44ad", "linewidth": 0.7}
    else:
        style = {"color": COLOURS[title.split(", ")[1]], "linewidth": 1.3}
    axis.semilogy(getattr(trace, column), trace.error, label=title, **style)
