"""docs/laboratory.png: how far our means are from the papers'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments import drawing, results, sides
from experiments.claims import UNDECIDED
from experiments.items import HERE, PAPERS


def draw(path: Path) -> None:
    """Fills the file: deviations of Tables 2 and 3 of Chu & Keerthi, errors of Shi et al., verdicts about claims."""

    def plot(axes: np.ndarray) -> None:
        for axis, item in zip(axes[0], ("table2", "table3"), strict=True):
            _deviations(axis, "chu_keerthi_2007", item)
        _errors(axes[1, 0], "shi_2021", ("table2", "table3", "table4"))
        _verdicts(axes[1, 1])

    drawing.save(path, plot, (2, 2), (6.2, 4.4))


def _deviations(axis: Any, paper: str, item: str) -> None:
    """Ours less the paper's mean in its standard deviations, by data set."""
    theirs, ours = results.expected(paper)["items"].get(item), results.read(paper)["items"].get(item)
    if not theirs or not ours:
        return
    made = [pair for pair in sides.pairs(theirs["cells"], ours["cells"]) if pair.agrees is not None]
    datasets = list(dict.fromkeys(pair.about["dataset"] for pair in made))
    columns = list(dict.fromkeys((pair.about["method"], pair.about["metric"]) for pair in made))
    axis.axhspan(-sides.DEVIATIONS, sides.DEVIATIONS, color="0.9")
    for place, (method, metric) in enumerate(columns):
        own = [pair for pair in made if (pair.about["method"], pair.about["metric"]) == (method, metric)]
        x = [datasets.index(pair.about["dataset"]) + 0.8 * (place + 0.5) / len(columns) - 0.4 for pair in own]
        colour = f"C{['SVR', 'SLA', 'EXC', 'IMC'].index(method)}"
        marker = "o" if metric == "mae" else "^"
        axis.plot(x, [pair.distance for pair in own], marker, color=colour, label=f"{method}, {metric}", ms=5)
    axis.set_xticks(range(len(datasets)), datasets, rotation=30, ha="right")
    axis.set(title=f"{paper}, {item}", ylabel="ours − paper, in standard deviations of the paper")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=7, ncols=2)


def _errors(axis: Any, paper: str, items: tuple[str, ...]) -> None:
    """Ours against the paper's, both errors, on the sets that are available."""
    from matplotlib.ticker import NullLocator

    theirs, ours = results.expected(paper)["items"], results.read(paper)["items"]
    highest = 1.0
    for place, item in enumerate(items):
        made = sides.pairs(theirs[item]["cells"], ours.get(item, {}).get("cells", []))
        points = [(p.paper["value"], p.ours["value"]) for p in made if p.paper and p.ours]
        if points:
            axis.loglog(
                *np.array(points).T, "o^s"[place], ms=4, color=f"C{place}", label=f"{item}, {len(points)} cells"
            )
            highest = max(highest, float(np.max(points)))
    axis.plot([0.3, highest], [0.3, highest], color="0.6", lw=0.8)
    axis.set(title=f"{paper}: MAE and MSE", xlabel="paper", ylabel="ours")
    for one in (axis.xaxis, axis.yaxis):
        one.set_ticks((0.3, 0.5, 1.0, 2.0, 4.0), ("0.3", "0.5", "1", "2", "4"))
        one.set_minor_locator(NullLocator())
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=7)


def _verdicts(axis: Any) -> None:
    """How many claims of every paper hold."""
    path = HERE / "claims.json"
    claims = json.loads(path.read_text())["claims"] if path.is_file() else []
    left = np.zeros(len(PAPERS))
    colours = {"holds": "C2", "holds in part": "C8", "does not hold": "C3", "could not be tested": "0.6", None: "0.85"}
    for verdict, colour in colours.items():
        counts = np.array([sum(c["paper"] == paper and c["verdict"] == verdict for c in claims) for paper in PAPERS])
        axis.barh(PAPERS, counts, left=left, color=colour, label=f"{verdict or UNDECIDED}: {counts.sum()}")
        left += counts
    axis.invert_yaxis()
    axis.set(title="claims of the papers", xlabel="claims", xlim=(0, 1.55 * left.max()))
    axis.legend(fontsize=7, loc="lower right")
