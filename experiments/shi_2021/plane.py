"""Figure 3 of Shi et al. (2021): regions of both predictions of NPSVOR on three ranks in the plane."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments import drawing
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm import LinearNPSVOR
from ordsvm.problem.predictors import PREDICTORS

DRAWS, OF_A_RANK, C = 200, 30, 1.0
BENDS = (0, 60, 90, 120)  # degrees between the steps from rank 1 to 2 and from 2 to 3
SIDE = 80  # points of a side of the picture
KINDS = {"old prediction": "nearest", "new prediction": "ordered"}
DATA = (
    f"The paper does not give its points. In their place: three ranks of {OF_A_RANK} normal points in the plane, the "
    "middles 3 apart, the way from the second to the third turned by 0 to 120 degrees: then hyperplanes are not "
    f"parallel. {DRAWS} draws an angle, and as many test points as training points."
)
PROTOCOL = (
    f"Linear NPSVOR, C = {C:g}, epsilon 0.1. Shown are means over all draws: of test points wrong by two ranks in "
    "1,000, of the MAE, and of the share of the square of the picture in which both predictions differ."
)


def points(bend: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng([2021, seed])
    way = 3.0 * np.array([np.cos(np.radians(bend)), np.sin(np.radians(bend))])
    middles = np.array([(-3.0, 0.0), (0.0, 0.0), way])
    y = np.repeat(np.arange(3), OF_A_RANK)
    return middles[y] + random.normal(size=(len(y), 2)), y


def square() -> np.ndarray:
    side = np.linspace(-7.0, 7.0, SIDE)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def regions(bend: float, n_draws: int) -> Outcome:
    """Means over draws, and scores of the first one's hyperplanes in the square."""
    found: dict[str, list[float]] = {}
    for seed in range(n_draws):
        (X, y), (X_test, y_test) = points(bend, 2 * seed), points(bend, 2 * seed + 1)
        model = LinearNPSVOR(C=C, epsilon=0.1, n_threads=1, random_state=0).fit(X, y)
        scores, plane = model.rank_scores(X_test), model.rank_scores(square())
        both = [PREDICTORS[predictor].ranks(plane) for predictor in KINDS.values()]
        found.setdefault("differ", []).append(float(np.mean(both[0] != both[1])))
        for kind, predictor in KINDS.items():
            distance = np.abs(PREDICTORS[predictor].ranks(scores) - y_test)
            found.setdefault(f"{kind}/two", []).append(float(1000 * np.mean(distance > 1)))
            found.setdefault(f"{kind}/mae", []).append(float(np.mean(distance)))
    return {name: float(np.mean(values)) for name, values in found.items()}


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for bend in BENDS[-1:] if scope.quick else BENDS:
        yield Unit(f"plane/{bend}", regions, {"bend": bend, "n_draws": 2 if scope.quick else DRAWS}, cost=5.0)


def summary(done: Records, scope: Scope) -> Outcome:
    cells: list[Outcome] = []
    for bend in BENDS:
        if (key := f"plane/{bend}") not in done:
            continue
        for kind in KINDS:
            about = {"dataset": f"{bend} degrees", "method": kind}
            cells.append(about | {"metric": "wrong by two ranks, of 1,000", "value": done[key][f"{kind}/two"]})
            cells.append(about | {"metric": "mae", "value": done[key][f"{kind}/mae"]})
        about = {"dataset": f"{bend} degrees", "metric": "share of the square in which both differ"}
        cells.append(about | {"value": done[key]["differ"]})
    return {"data": DATA, "protocol": PROTOCOL, "cells": cells}


def draw(found: Outcome, path: Path) -> None:
    """The first draw of every angle: above the old prediction, below the new one."""

    def plot(axes: np.ndarray) -> None:
        from matplotlib.colors import ListedColormap

        colours = ListedColormap(["#f4b6b0", "#bfe3bd", "#b5cdf0"])
        side = np.linspace(-7.0, 7.0, SIDE)
        for column, bend in enumerate(BENDS):
            X, y = points(bend, 0)
            model = LinearNPSVOR(C=C, epsilon=0.1, n_threads=1, random_state=0).fit(X, y)
            plane = model.rank_scores(square())
            for row, (kind, predictor) in enumerate(KINDS.items()):
                axis, ranks = axes[row, column], PREDICTORS[predictor].ranks(plane)
                axis.pcolormesh(side, side, ranks.reshape(SIDE, SIDE), cmap=colours, vmin=0, vmax=2, shading="nearest")
                for rank, marker in enumerate("soD"):
                    axis.plot(*X[y == rank].T, marker, ms=3, color=("C3", "C2", "C0")[rank], mec="k", mew=0.3)
                axis.set(title=f"{kind}, {bend}°", xticks=(), yticks=())
                axis.set_aspect("equal")

    drawing.save(path, plot, (2, len(BENDS)), (2.6, 2.7))


ITEM = Item("Decision regions of both predictions", units, summary, draw)
