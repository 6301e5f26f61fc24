"""docs/laboratory.png: how far our means are from the papers'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments import results, sides


def draw(path: Path) -> None:
    """Fills the file: a panel for every table with the paper's standard deviations."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(12.0, 4.6), layout="constrained", sharey=True)
    for axis, item in zip(axes, ("table2", "table3"), strict=True):
        _deviations(axis, "chu_keerthi_2007", item)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _deviations(axis: Any, paper: str, item: str) -> None:
    """Ours less the paper's mean in its standard deviations, by data set."""
    theirs, ours = results.expected(paper)["items"].get(item), results.read(paper)["items"].get(item)
    if not theirs or not ours:
        return
    made = [pair for pair in sides.pairs(theirs["cells"], ours["cells"]) if pair.distance is not None]
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
