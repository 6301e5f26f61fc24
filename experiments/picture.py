"""docs/laboratory.png: how far our means are from the papers', and how many of their claims hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments import drawing, results, sides
from experiments.claims import UNDECIDED
from experiments.items import HERE, PAPERS

NAMES = {
    "chu_keerthi_2007": "Chu & Keerthi 2007",
    "gu_2018": "Gu et al. 2018",
    "gu_2020": "Gu et al. 2020",
    "manno_2018": "Manno et al. 2018",
    "shi_2021": "Shi et al. 2021",
}
METHODS = ("SVR", "SLA", "EXC", "IMC")
METRICS = {"zero_one": ("^", "zero-one error"), "mae": ("o", "MAE")}
OTHER_ROWS = {"table2": ("tripadvisor",), "table3": ("tripadvisor", "movie_review"), "table4": ("tripadvisor",)}
COLOURS = {"holds": "C2", "holds in part": "C8", "does not hold": "C3", "could not be tested": "0.6", None: "0.85"}


def draw(path: Path) -> None:
    """Fills the file: deviations of Tables 2 and 3 of Chu & Keerthi, errors of Shi et al., verdicts about claims."""

    def plot(axes: np.ndarray) -> None:
        for axis, item, bins in zip(axes[0], ("table2", "table3"), (5, 10), strict=True):
            _deviations(axis, "chu_keerthi_2007", item, f"{bins} ranks")
        _errors(axes[1, 0], "shi_2021", ("table2", "table3", "table4"))
        _verdicts(axes[1, 1])

    drawing.save(path, plot, (2, 2), (6.6, 4.6))


def _deviations(axis: Any, paper: str, item: str, about: str) -> None:
    """Ours less the paper's mean in its standard deviations, by data set."""
    theirs, ours = results.expected(paper)["items"].get(item), results.read(paper)["items"].get(item)
    if not theirs or not ours:
        return
    made = [pair for pair in sides.pairs(theirs["cells"], ours["cells"]) if pair.agrees is not None]
    datasets = list(dict.fromkeys(pair.about["dataset"] for pair in made))
    present = {pair.about["method"] for pair in made}
    columns = [(method, metric) for metric in METRICS for method in METHODS if method in present]
    axis.axhspan(-sides.DEVIATIONS, sides.DEVIATIONS, color="0.9", label="two deviations")
    axis.axhline(0.0, color="0.6", lw=0.8)
    for border in range(1, len(datasets)):
        axis.axvline(border - 0.5, color="0.85", lw=0.8)
    for place, (method, metric) in enumerate(columns):
        own = [pair for pair in made if (pair.about["method"], pair.about["metric"]) == (method, metric)]
        x = [datasets.index(pair.about["dataset"]) + 0.8 * (place + 0.5) / len(columns) - 0.4 for pair in own]
        marker, error = METRICS[metric]
        style = {"color": f"C{METHODS.index(method)}", "label": f"{method}, {error}", "ms": 5}
        axis.plot(x, [pair.distance for pair in own], marker, **style)
    counts = [pair.ours["trials"] for pair in made if pair.ours is not None]
    trials = "–".join(map(str, dict.fromkeys((min(counts), max(counts)))))
    axis.set_xticks(range(len(datasets)), datasets, rotation=30, ha="right")
    axis.set_xlim(-0.5, len(datasets) - 0.5)
    title = f"{NAMES[paper]}, {item.replace('table', 'Table ')}: {about}, means of {trials} trials (paper: 20)"
    axis.set_title(title, fontsize=10)
    axis.set_ylabel("ours − paper, in the paper's standard\ndeviations (below 0: our error is lower)", fontsize=9)
    axis.legend(fontsize=6.5, ncols=2)


def _errors(axis: Any, paper: str, items: tuple[str, ...]) -> None:
    """Ours against the paper's, both errors, on the sets that are available; hollow where rows are others."""
    from matplotlib.ticker import NullLocator

    theirs, ours = results.expected(paper)["items"], results.read(paper)["items"]
    highest = 1.0
    for place, item in enumerate(items):
        made = sides.pairs(theirs[item]["cells"], ours.get(item, {}).get("cells", []))
        both = [p for p in made if p.paper and p.ours]
        for others in (False, True):
            own = [p for p in both if (p.about["dataset"] in OTHER_ROWS[item]) is others]
            points = [(p.paper["value"], p.ours["value"]) for p in own if p.paper and p.ours]
            if points:
                name = f"{item.replace('table', 'Table ')}, {len(points)} cells" + (", other rows" if others else "")
                fill = {"mfc": "none"} if others else {}
                axis.loglog(*np.array(points).T, "o^s"[place], ms=4, color=f"C{place}", label=name, **fill)
                highest = max(highest, float(np.max(points)))
    axis.plot([0.3, highest], [0.3, highest], color="0.6", lw=0.8)
    title = f"{NAMES[paper]}: MAE and MSE of all methods (other rows: tripadvisor,\nand movie_review in Table 3)"
    axis.set_title(title, fontsize=10)
    axis.set(xlabel="paper", ylabel="ours")
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
    names = [NAMES[paper] for paper in PAPERS]
    for verdict, colour in COLOURS.items():
        counts = np.array([sum(c["paper"] == paper and c["verdict"] == verdict for c in claims) for paper in PAPERS])
        if not counts.any():
            continue
        bars = axis.barh(names, counts, left=left, color=colour, label=f"{verdict or UNDECIDED}: {counts.sum()}")
        axis.bar_label(bars, [str(count) if count else "" for count in counts], label_type="center", fontsize=7)
        left += counts
    axis.invert_yaxis()
    title = (
        "Observations, remarks and claims (docs/claims.md); the figures of Gu et al.\nand Manno et al. have no numbers"
    )
    axis.set_title(title, fontsize=10)
    axis.set(xlabel="claims", xlim=(0, 1.5 * max(left.max(), 1.0)))
    axis.legend(fontsize=7, loc="lower right")
