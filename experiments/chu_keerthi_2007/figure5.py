"""Figure 5 of Chu & Keerthi (2007): how the cost of training grows with the number of samples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import authors, datasets
from experiments import drawing
from experiments.items import Item, Outcome, Records, Scope, Unit
from ordsvm import SMO, SVOREX, SVORIM, SVR

C, KAPPA, EPSILON, TOL = 100.0, 1.0, 0.1, 1e-3
SIZES = [int(n) for n in np.unique(np.round(np.geomspace(100, 5000, 28), -1))]  # the paper's 28, 100 to 5,000
BEYOND = [10_000, 20_640]
FEW = [100, 200, 500, 1000, 2000, 5000]
AUTHORS_SIZES = [100, 200, 500, 1000]
MACHINES = {"EXC": SVOREX, "IMC": SVORIM, "SVR": SVR}
DATA = "california_housing, standardised, 5 and 10 ranks of equal frequency, the first n rows of one permutation."
PROTOCOL = (
    "The paper's kappa = 1, C = 100 and epsilon 0.1; tol 1e-3; seconds of the processor of one fit with one thread, "
    "one fit at a time. Ours: the library's default solver; 'SMO': its sequential minimal optimisation, the algorithm "
    "of the paper; 'authors': their own program (skordinal), at 100, 200, 500 and 1,000 samples. Exponents are slopes "
    "of lines through the logarithms, from 100 to 5,000 samples as in the paper, and from 1,000 on; ratios at 5,000; "
    "exponents of the authors' program are from 100 to 1,000 samples, their ratios at 1,000. Two cores, shared with "
    "other programs."
)


@dataclass(frozen=True)
class Curve:
    """The sizes at which a method is timed, at one number of ranks."""

    method: str
    solver: str
    bins: int
    sizes: tuple[int, ...]

    def key(self, n: int) -> str:
        return f"figure5/{self.method}/{self.solver}/{self.bins}/{n}"

    @property
    def name(self) -> str:
        return self.method if self.solver == "auto" else f"{self.method}, {self.solver}"

    def seconds(self, done: Records) -> dict[int, float]:
        return {n: done[self.key(n)]["processor"] for n in self.sizes if self.key(n) in done}


CURVES = [
    *(Curve(m, "auto", bins, (*SIZES, *BEYOND)) for m in MACHINES for bins in (5, 10)),
    *(Curve(m, "SMO", bins, tuple(FEW)) for m in MACHINES for bins in (5, 10)),
    *(Curve(m, "authors", bins, tuple(AUTHORS_SIZES)) for m in ("EXC", "IMC") for bins in (5, 10)),
]


def processor_seconds(method: str, solver: str, bins: int, n: int) -> Outcome:
    X, y = datasets.ordinal("california_housing", n, bins)
    model = _machine(method, solver)
    began = time.process_time()
    model.fit(X, y)
    return {"processor": time.process_time() - began}


def _machine(method: str, solver: str) -> Any:
    if solver == "authors":
        return authors.estimator({"EXC": "SVOREX", "IMC": "SVORIM"}[method], C, KAPPA / 2, TOL)
    options: dict[str, Any] = {"epsilon": EPSILON} if method == "SVR" else {}
    if solver == "SMO":
        options["solver"] = SMO(selection="mvp")
    return MACHINES[method](C=C, gamma=KAPPA / 2, tol=TOL, n_threads=1, cache_size=2000, **options)


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for curve in CURVES:
        if curve.solver == "authors" and find_spec("skordinal") is None:
            continue  # their program is not installed
        for n in (100, 200) if scope.quick else curve.sizes:
            about = {"method": curve.method, "solver": curve.solver, "bins": curve.bins, "n": n}
            slow = {"auto": 1.0, "SMO": 5.0, "authors": 100.0}[curve.solver]
            yield Unit(curve.key(n), processor_seconds, about, (n,), slow * (n / 5000) ** 2)


def exponent(seconds: dict[int, float], least: int, most: int = 5000) -> float:
    n, t = np.array([(n, t) for n, t in seconds.items() if least <= n <= most]).T
    return float(np.polyfit(np.log(n), np.log(t), 1)[0])


def summary(done: Records, scope: Scope) -> Outcome:
    curves = {(curve.name, curve.bins): curve.seconds(done) for curve in CURVES}
    whole = {name: s for name, s in curves.items() if s and max(s) >= (1000 if "authors" in name[0] else 5000)}
    cells: list[Outcome] = []
    for solver in ("", ", SMO", ", authors"):
        cells += _cells(whole, solver)
    settings = {"kappa": KAPPA, "C": C, "epsilon of SVR": EPSILON, "training sets": len(SIZES)}
    settings |= {"smallest training set": SIZES[0], "largest training set": SIZES[-1]}
    return {
        "data": DATA,
        "protocol": PROTOCOL,
        "cells": cells + [{"metric": name, "value": value} for name, value in settings.items() if cells],
        "seconds": {f"{m}, {b}": s for (m, b), s in curves.items() if s},
    }


def _cells(curves: dict[tuple[str, int], dict[int, float]], solver: str) -> Iterator[Outcome]:
    """Exponents and ratios as the paper states them, of one solver."""
    own = {(m, b): curves[m + solver, b] for m in MACHINES for b in (5, 10) if (m + solver, b) in curves}
    slopes = {name: exponent(seconds, 100) for name, seconds in own.items()}
    ordinal = [slope for (m, _), slope in slopes.items() if m != "SVR"]
    if len(ordinal) == 4:
        both = f"EXC and IMC{solver}"
        yield {"method": both, "metric": "scaling exponent, lowest of the four", "value": min(ordinal)}
        yield {"method": both, "metric": "scaling exponent, highest of the four", "value": max(ordinal)}
    if ("SVR", 5) in slopes:
        yield {"method": f"SVR{solver}", "metric": "scaling exponent, about", "value": slopes["SVR", 5]}
    for (method, bins), seconds in own.items():
        name = f"{method}{solver}"
        if max(seconds) >= 5000:
            metric = f"scaling exponent from 1,000 samples on, {bins} ranks"
            yield {"method": name, "metric": metric, "value": exponent(seconds, 1000, max(seconds))}
        if bins == 10 and method != "SVR" and (method, 5) in own:
            n = max(n for n in seconds if n <= 5000 and n in own[method, 5])
            ratio = seconds[n] / own[method, 5][n]
            yield {"method": name, "metric": "cost of 10 ranks over that of 5, about", "value": ratio}
        if bins == 5 and method != "SVR" and ("SVR", 5) in own:
            ratio = seconds[5000] / own["SVR", 5][5000]
            yield {"method": name, "metric": "cost over that of SVR at large sizes, about", "value": ratio}


def draw(found: Outcome, path: Path) -> None:
    def plot(axes: np.ndarray) -> None:
        for axis, bins in zip(axes[0], (5, 10), strict=True):
            for name, seconds in found["seconds"].items():
                method, own = name.rsplit(", ", 1)
                if int(own) == bins:
                    style = "x--" if "SMO" in method else "s:" if "authors" in method else "o-"
                    colour = f"C{['EXC', 'IMC', 'SVR'].index(method[:3])}"
                    n, t = [int(n) for n in seconds], list(seconds.values())
                    axis.loglog(n, t, style, color=colour, ms=3, label=method)
            axis.set(title=f"{bins} ranks", xlabel="training samples", ylabel="seconds of the processor")
            axis.grid(alpha=0.3)
            axis.legend(fontsize=7)

    drawing.save(path, plot, (1, 2), (5.0, 3.8))


ITEM = Item("CPU time by training size on california", units, summary, draw, alone=True)
