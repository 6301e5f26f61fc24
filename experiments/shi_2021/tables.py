"""Tables 1, 2, 4 and 5 and Figures 4 to 7 of Shi et al. (2021), and their study of two costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments import drawing, from_benchmarks
from experiments.from_benchmarks import as_cells
from experiments.items import Item, Outcome, Records, Scope, Unit
from experiments.results import expected
from experiments.shi_2021 import kernel, linear, plane, splits
from experiments.shi_2021.linear import COSTS, METHODS
from experiments.shi_2021.texts import DATA, SETS
from experiments.sides import identity

PARTITIONS = {"large_movie": 2, "tripadvisor": 2, "movie_review": 10, "treebank": 1, "sst5": 3, "amazon_devices": 10}
COST = {"large_movie": 90.0, "tripadvisor": 60.0, "treebank": 4.0, "sst5": 4.0, "movie_review": 8.0}
QUICK = ("treebank",)
EPSILONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
EPSILON_SETS = ("large_movie", "tripadvisor")
NEAR = [0.5, 1.0, 2.0]  # C of Figure 5: about 1, which the whole search has found for both at epsilon 0.1
SEPARATE_SETS = ("treebank", "movie_review")
SAME_DATA = ("large_movie", "movie_review", "treebank")
TREEBANK = (
    "Treebank is one partition, and the paper's C is not known: random partitions and the next C (item "
    "treebank_splits) move the errors by as much. tripadvisor has other hotels."
)


def trials_of(name: str, scope: Scope) -> range:
    return range(1 if scope.quick else min(scope.trials, PARTITIONS[name]))


def trial_key(name: str, method: str, trial: int, epsilon: float = linear.EPSILON) -> str:
    return f"linear/{name}/{method}/epsilon={epsilon:g}/trial{trial}"


def trial_units(done: Records, scope: Scope) -> Iterator[Unit]:
    """The units that Tables 2, 4 and 5 and Figure 6 share."""
    yield from sizes_units(done, scope)
    for name in QUICK if scope.quick else SETS:
        for method in METHODS:
            for trial in trials_of(name, scope):
                about = ready(done, {"name": name, "method": method, "trial": trial})
                urgency = (trial, int(COST.get(name, 2.0)))
                yield Unit(trial_key(name, method, trial), linear.trial, about, urgency, COST.get(name, 2.0))


def ready(done: Records, about: Outcome) -> Outcome | None:
    """The arguments of a unit, once its set is prepared: one process does it, not all at the same time."""
    return about if f"sizes/{about['name']}" in done else None


def outcomes(done: Records, name: str, method: str, scope: Scope) -> list[Outcome]:
    keys = [trial_key(name, method, trial) for trial in trials_of(name, scope)]
    return [done[key] for key in keys if key in done]


def cell(about: Outcome, values: list[float]) -> Outcome:
    sd = {"sd": float(np.std(values, ddof=1))} if len(values) > 1 else {}
    return about | {"value": float(np.mean(values))} | sd | {"trials": len(values)}


def table(columns: dict[str, str], metrics: Iterable[str], value: Callable[[Outcome, str, str], float]) -> Any:
    """A summary with a column for every entry (name: method), and a line for every set and metric."""

    def summary(done: Records, scope: Scope) -> Outcome:
        cells = [
            cell({"dataset": name, "method": column, "metric": metric}, [value(o, column, metric) for o in found])
            for metric in metrics
            for name in SETS
            for column, method in columns.items()
            if (found := outcomes(done, name, method, scope))
        ]
        return {"data": DATA, "protocol": linear.PROTOCOL, "cells": cells}

    return summary


def _of_prediction(outcome: Outcome, column: str, metric: str) -> float:
    return float(outcome[metric] if column == "new prediction" else outcome["nearest"][metric])


SAME = {method: method for method in METHODS}
TABLE2 = table(dict.fromkeys(("old prediction", "new prediction"), "NPSVOR"), ("mae", "mse"), _of_prediction)
ERRORS = table(SAME, ("mae", "mse"), lambda outcome, _, metric: float(outcome[metric]))
TABLE5 = table(SAME, ("seconds",), lambda outcome, *_: float(outcome["processor"]))


def table4(done: Records, scope: Scope) -> Outcome:
    """With NPSVOR's distances from the paper where the data are the same."""
    found: Outcome = ERRORS(done, scope)
    paper = {identity(c): c["value"] for c in expected("shi_2021")["items"]["table4"]["cells"]}
    off = [
        f"{c['dataset']} {c['metric'].upper()} {100 * (c['value'] / paper[identity(c)] - 1):+.1f} %"
        for c in found["cells"]
        if c["method"] == "NPSVOR" and c["dataset"] in SAME_DATA
    ]
    text = f"NPSVOR less the paper's, where the data are the same: {', '.join(off)}. {TREEBANK}"
    return found | {"remarks": [text]} if off else found


def figure6(done: Records, scope: Scope) -> Outcome:
    """Shares of the lowest rank assigned to the highest, and of right ranks at the ends and between them."""
    cells = []
    for name in SETS:
        for method in METHODS:
            found = outcomes(done, name, method, scope)
            if not found:
                continue
            shares = np.mean([_shares(outcome["confusion"]) for outcome in found], axis=0)
            for metric, value in zip(SHARES, shares, strict=True):
                cells.append({"dataset": name, "method": method, "metric": metric, "value": float(value)})
    return {"data": DATA, "protocol": linear.PROTOCOL, "cells": cells}


SHARES = ("share of rank 1 assigned to the highest rank", "right among the two ends", "right among ranks between")


def _shares(confusion: list[list[int]]) -> list[float]:
    counts = np.array(confusion, float)
    rows = counts / counts.sum(axis=1, keepdims=True)
    right = rows.diagonal()
    return [rows[0, -1], right[[0, -1]].mean(), right[1:-1].mean()]


def sizes_units(done: Records, scope: Scope) -> Iterator[Unit]:
    for name in QUICK if scope.quick else SETS:
        yield Unit(f"sizes/{name}", linear.sizes, {"name": name}, (-1, -int(COST.get(name, 2.0))), COST.get(name, 2.0))


def sizes(done: Records, scope: Scope) -> Outcome:
    cells = [
        {"dataset": name, "metric": metric, "value": value}
        for name in SETS
        for metric, value in done.get(f"sizes/{name}", {}).items()
        if metric != "seconds"
    ]
    return {"data": DATA, "protocol": linear.PROTOCOL, "cells": cells}


def figure5_units(done: Records, scope: Scope) -> Iterator[Unit]:
    yield from sizes_units(done, scope)
    for name in QUICK if scope.quick else EPSILON_SETS:
        for epsilon in EPSILONS[:1] if scope.quick else EPSILONS:
            about = ready(done, {"name": name, "epsilon": epsilon, "costs": NEAR})
            yield Unit(epsilon_key(name, epsilon), linear.near_C, about, (9,), 0.3 * COST.get(name, 2.0))


def epsilon_key(name: str, epsilon: float) -> str:
    return f"epsilon/{name}/{epsilon:g}"


def figure5(done: Records, scope: Scope) -> Outcome:
    cells: list[Outcome] = []
    curves: dict[str, Any] = {}
    for name in EPSILON_SETS:
        found = {e: done[k] for e in EPSILONS if (k := epsilon_key(name, e)) in done}
        if len(found) < len(EPSILONS):
            continue
        lowest = min(found, key=lambda epsilon: found[epsilon]["mae"])
        cells.append({"dataset": name, "metric": "epsilon of the lowest MAE, about", "value": lowest})
        for metric in ("mae", "mse", "processor", "support_vectors"):
            curves[f"{name}, {metric}"] = [found[e][metric] / found[0.0][metric] for e in EPSILONS]
            ratio = {"dataset": name, "metric": f"{metric} at epsilon 0.1 over that at 0"}
            cells.append(ratio | {"value": curves[f"{name}, {metric}"][1]})
    protocol = (
        f"{linear.PROTOCOL} C here from {NEAR} alone, about the 1 that the search over all of them has found for both "
        "sets at epsilon 0.1; the time is that of the training at the C found."
    )
    return {"data": DATA, "protocol": protocol, "cells": cells, "relative": curves}


def draw5(found: Outcome, path: Path) -> None:
    def plot(axes: np.ndarray) -> None:
        for axis, name in zip(axes[0], EPSILON_SETS, strict=True):
            for label, curve in found["relative"].items():
                if label.startswith(name):
                    axis.plot(EPSILONS, curve, "o-", label=label.split(", ")[1], ms=3)
            axis.axhline(1.0, color="0.6", lw=0.8)
            axis.set(title=name, xlabel="epsilon", ylabel="relative to epsilon = 0")
            axis.legend(fontsize=8)

    drawing.save(path, plot, (1, 2), (4.5, 3.4))


def figure7_units(done: Records, scope: Scope) -> Iterator[Unit]:
    yield from sizes_units(done, scope)
    for name in QUICK if scope.quick else SETS:
        for method in METHODS:
            about = ready(done, {"name": name, "method": method})
            yield Unit(f"along_C/{name}/{method}", linear.along_C, about, (8,), 0.3 * COST.get(name, 2.0))


def figure7(done: Records, scope: Scope) -> Outcome:
    curves = {
        name: {m: done[key]["mae"] for m in METHODS if (key := f"along_C/{name}/{m}") in done}
        for name in SETS
        if f"along_C/{name}/NPSVOR" in done
    }
    cells: list[Outcome] = []
    for name, found in curves.items():
        others = np.min([curve for method, curve in found.items() if method != "NPSVOR"], axis=0)
        worse = [C for C, own, other in zip(COSTS, found["NPSVOR"], others, strict=True) if own > other]
        metric = "C above which its MAE is the lowest of the four methods"
        value = worse[-1] if worse and worse[-1] < COSTS[-1] else "none" if worse else f"below {COSTS[0]:g}"
        cells.append({"dataset": name, "method": "NPSVOR", "metric": metric, "value": value})
    return {"data": DATA, "protocol": linear.PROTOCOL, "cells": cells, "C": COSTS, "curves": curves}


def draw7(found: Outcome, path: Path) -> None:
    def plot(axes: np.ndarray) -> None:
        for axis, (name, curves) in zip(axes.ravel(), found["curves"].items(), strict=False):
            for method, curve in curves.items():
                axis.semilogx(COSTS, curve, "o-", base=2, ms=3, label=method)
            axis.set(title=name, xlabel="C", ylabel="MAE")
            axis.legend(fontsize=7)

    drawing.save(path, plot, (2, 3), (3.6, 2.8))


def separate_units(done: Records, scope: Scope) -> Iterator[Unit]:
    for name in QUICK if scope.quick else SEPARATE_SETS:
        costs = {"costs": [0.1, 1.0]} if scope.quick else {}
        yield Unit(f"separate_costs/{name}", linear.separate_costs, {"name": name} | costs, (9,), 300.0)


def separate(done: Records, scope: Scope) -> Outcome:
    cells: list[Outcome] = []
    for name in SEPARATE_SETS:
        found = done.get(f"separate_costs/{name}", {})
        for which in ("C1 = C2", "C1, C2") if found else ():
            for metric in ("mae", "mse"):
                cells.append({"dataset": name, "method": which, "metric": metric, "value": found[which][metric]})
        if found:
            ratio = found["C1 = C2"]["mae"] / found["C1, C2"]["mae"]
            cells.append({"dataset": name, "metric": "MAE of equal / of separate costs, less 1", "value": ratio - 1})
    protocol = f"{linear.PROTOCOL} C1 and C2 from 2^-8 to 2^5 each, in the place of C."
    return {"data": DATA, "protocol": protocol, "cells": cells}


ITEMS = {
    "table1": Item("Data sets: rows, features, nonzeros, classes", sizes_units, sizes),
    "table2": Item("Linear NPSVOR with both predictions", trial_units, TABLE2),
    "table3": kernel.ITEM,
    "table3_linear": kernel.LINEAR_ITEM,
    "table4": Item("Four linear methods on the whole sets", trial_units, table4),
    "table5": Item("Training seconds at the tuned C", trial_units, TABLE5),
    "figure3": plane.ITEM,
    "figure4": from_benchmarks.item("DCD-1 and DCD-2", "dcd", lambda rows: as_cells(rows, "rank 3")),
    "figure5": Item("MAE, MSE, time and support vectors by epsilon", figure5_units, figure5, draw5),
    "figure6": Item("Confusion of four methods", trial_units, figure6),
    "figure7": Item("MAE by C", figure7_units, figure7, draw7),
    "treebank_splits": splits.ITEM,
    "costs": Item("C1 and C2 tuned apart (section 4.2.2)", separate_units, separate),
}
