"""Figure 4 of Chu & Keerthi (2007): thresholds that cross, are tied, and need no constraint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import drawing
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm import SVOREX, SVORIM, ShashuaLevinSVOR
from ordsvm.datasets import equal_frequency_ranks, load_diabetes_ranks

MACHINES = {"SLA": ShashuaLevinSVOR, "EXC": SVOREX, "IMC": SVORIM}
SAMPLES, RANKS, C, KAPPA = 24, 3, 1.0, 0.5
DRAWS = 200
EQUAL = 1e-4  # thresholds nearer to each other count as equal
DATA = (
    "The grading data are not available. In their place: age and body mass index of 24 patients of the diabetes data "
    "that scikit-learn ships, three ranks of the progression with random sizes, 200 draws."
)
PROTOCOL = (
    "The paper's kappa = 0.5 and C = 1, tol 1e-6. A rank has 2 patients at least, as ranks of students do. The order "
    "shown is that of the first draw in which the thresholds of Shashua and Levin cross."
)


def sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([4, seed])
    X, progression = load_diabetes_ranks(442)  # 442 ranks: an own one for every patient
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:, [0, 2]]
    chosen = rng.choice(len(X), SAMPLES, replace=False)
    sizes = 2 + rng.multinomial(SAMPLES - 2 * RANKS, rng.dirichlet(np.ones(RANKS)))
    order = equal_frequency_ranks(progression[chosen], SAMPLES)
    return X[chosen], np.repeat(np.arange(RANKS), sizes)[order]


def fit(name: str, seed: int) -> Any:
    return MACHINES[name](C=C, gamma=KAPPA / 2, tol=1e-6, n_threads=1).fit(*sample(seed))


def draws(first: int, last: int) -> Outcome:
    """Thresholds of the three machines for these draws."""
    return {"thresholds": [[[float(b) for b in fit(m, s).thresholds_] for m in MACHINES] for s in range(first, last)]}


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for first in range(0, 10 if scope.quick else DRAWS, 10):
        yield Unit(f"figure4/{first}", draws, {"first": first, "last": first + 10}, (0, first), 1.0)


def order(b: list[float]) -> str:
    return "b1 = b2" if abs(b[1] - b[0]) <= EQUAL else "b2 < b1" if b[1] < b[0] else "b1 < b2"


def summary(done: Records, scope: Scope) -> Outcome:
    found = [d for first in range(0, DRAWS, 10) for d in done.get(f"figure4/{first}", {}).get("thresholds", [])]
    orders = [[order(b) for b in draw] for draw in found]
    crossed = [place for place, draw in enumerate(orders) if draw[0] == "b2 < b1"]
    cells: list[Outcome] = []
    for place, method in enumerate(MACHINES):
        if crossed:
            shown = {"method": method, "metric": "order of the two thresholds", "value": orders[crossed[0]][place]}
            cells.append(shown)
        for which in ("b2 < b1", "b1 = b2"):
            share = sum(draw[place] == which for draw in orders) / max(1, len(orders))
            cells.append({"method": method, "metric": f"share of draws with {which}", "value": share})
    tied = [orders[place][1] == "b1 = b2" for place in crossed]
    about = "share of the draws with crossed thresholds of SLA in which EXC has equal ones"
    cells.append({"method": "EXC", "metric": about, "value": float(np.mean(tied)) if tied else None})
    made = {"data": DATA, "protocol": PROTOCOL, "draws": len(found), "first_crossed": crossed[0] if crossed else None}
    settings = {"samples used": SAMPLES, "kappa": KAPPA, "C": C}
    cells += [{"metric": name, "value": value} for name, value in settings.items()]
    return made | {"cells": cells if found else []}


def draw(found: Outcome, path: Path) -> None:
    seed = found["first_crossed"]
    if seed is None:
        return

    def plot(axes: np.ndarray) -> None:
        X, y = sample(seed)
        across, up = np.meshgrid(np.linspace(-2.5, 2.5, 150), np.linspace(-2.5, 3.5, 150))
        for axis, name in zip(axes[0], MACHINES, strict=True):
            model = fit(name, seed)
            score = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
            axis.pcolormesh(across, up, score, cmap="Greys", alpha=0.35, shading="auto", rasterized=True)
            for k, b in enumerate(model.thresholds_):
                style = {"colors": [f"C{k}"], "linewidths": 2, "linestyles": ("solid", "dashed")[k]}
                axis.contour(across, up, score, levels=[b], **style)
                axis.plot([], [], color=f"C{k}", ls=("-", "--")[k], label=f"$b_{k + 1}$ = {b:.3f}")
            for rank, marker in enumerate("o.s"):
                axis.scatter(*X[y == rank].T, marker=marker, s=30, facecolors="none" if marker == "o" else "k", ec="k")
            axis.set(title=name, xlabel="age", ylabel="body mass index")
            axis.legend(fontsize=8)

    drawing.save(path, plot, (1, 3), (3.6, 3.4))


ITEM = Item("Disordered thresholds", units, summary, draw)
