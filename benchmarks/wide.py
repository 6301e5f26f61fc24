"""Linear machines on rows of 1,000 to 10,000 features: sums by the core and by BLAS, and the solver that auto takes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks import datasets, timing
from benchmarks.results import Row, row
from ordsvm import LinearSVOR
from ordsvm.estimators.linear import check_target, formulate
from ordsvm.solvers import Control
from ordsvm.solvers.linear import interior_point, wide_system
from ordsvm.solvers.linear.feature_task import FeatureRows, FeatureTask
from ordsvm.solvers.linear.interior_point import FeatureNewton, wide_core
from ordsvm.solvers.linear.solve import RowsInMemory

WIDTHS = {300: 8000, 1000: 4000, 2000: 2000, 5000: 1000}  # rows of a pass
SHAPES = {"20,000 x 1,000": (20_000, 1000), "10,000 x 5,000": (10_000, 5000), "20,000 x 10,000": (20_000, 10_000)}
C_VALUES = (1.0, 10.0, 100.0)
WORST_CHOICE = 1.2
# By the names that the rows of the results have.
BY_NAME = {"interior-point": "linear-interior-point", "rank-dcd": "rank-dcd"}
UNFINISHED = "A solver that ended at 1,000 passes or at 300 s without the gap counts by its seconds: see gaps."
DATA = (
    "Normal columns in float32, the j-th times 1/√j, rows scaled to a mean squared length of 1; 5 ranks of equal "
    "frequency of x·w + noise of a third of its deviation. Sums: one pass of LinearSVOR, its H added up by the core, "
    "and by BLAS (wide_system.py); operations are n d² of the half that is computed, over processor seconds of all "
    "threads, the best of three passes that take turns. Solvers: LinearSVOR to 1e-3, all cores, contestants take "
    "turns, medians of three, one call where it takes more than 5 s; reads of X of the interior-point method are "
    "iterations and steps of conjugate gradients, and H is formed where these are slower. Rows that H could do "
    "without: 5,000 rows of the named set, standardised, the rows of least v|x|² that add up to 0.01."
)


def run(quick: bool, names: list[str] | None = None) -> list[Row]:
    """The parts named, or all: "sums", "solvers", "left-out", or one of these and a width or a shape."""
    wanted = [part for part in ROWS if names is None or any(part.startswith(name) for name in names)]
    return [made for part in wanted for made in ROWS[part](quick)]


def sums(n_features: int, quick: bool) -> list[Row]:
    """Operations a processor second of both ways to add up H."""
    n = WIDTHS[n_features] // (10 if quick else 1)
    X, y = data(n, n_features)
    rates: dict[str, float] = {}
    systems = _systems(X, y)
    for _ in range(3):
        for name, one_pass in systems.items():
            began = time.process_time()
            one_pass()
            rate = 1e-9 * n * n_features**2 / (time.process_time() - began)
            rates[name] = max(rate, rates.get(name, 0.0))
    claim = f"d = {n_features:,}: operations a processor second of H by BLAS / by the core"
    return [row(claim, rates["BLAS"] / rates["core"], gflops_a_processor_second=rates)]


def solvers(name: str, C: float, quick: bool) -> list[Row]:
    """Seconds of what `auto` takes over those of the better solver."""
    X, y = data(*((1000, 1600) if quick else SHAPES[name]))
    fits = {solver: partial(_fitted, X, y, C, named) for solver, named in BY_NAME.items()}
    steps: list[int] = []
    product = wide_system.Products._product
    with patched(wide_system.Products, _product=lambda self, p: steps.append(1) or product(self, p)):
        race = timing.race(fits, 3, None, slow=5.0)
    chosen = _fitted(X, y, C, "auto", max_iter=1).result_.solver.removeprefix("linear-")
    seconds = race.medians()
    claim = f"{name}, C = {C:g}: seconds of {chosen}, which auto takes, over those of the better solver"
    bound = {} if quick else {"at_most": WORST_CHOICE}
    made = row(
        claim,
        seconds[chosen] / min(seconds.values()),
        **bound,
        explanation=UNFINISHED,
        seconds_of=seconds,
        gaps={solver: race.last(solver).result_.relative_gap for solver in fits},
        n_iter={solver: race.last(solver).n_iter_ for solver in fits},
        steps_of_conjugate_gradients=len(steps) // len(race.seconds["interior-point"]),
    )
    return [made]


def left_out(name: str, quick: bool) -> list[Row]:
    """The share of rows that H could do without, where it may change by 0.01 at most, as a mean over the iterations."""
    X, y = datasets.ordinal(name, 500 if quick else 5000)
    rows = []
    for tol in (1e-3, 1e-6):
        shares: list[float] = []
        system = partial(_counted_system, shares, wide_system.WideSystem.system)
        counted = patched(wide_system.WideSystem, system=lambda self, vector, call=system: call(self, vector))
        with patched(interior_point, WIDE=1), patched(wide_system, MOST_FORMED=0), counted:
            _fitted(X, y, 1.0, "linear-interior-point", tol=tol)
        claim = f"{name}, C = 1, to {tol:g}: rows that H could do without, the mean share of all iterations"
        rows.append(row(claim, float(np.mean(shares)), shares=shares))
    return rows


def _counted_system(shares: list[float], system: Any, self: Any, vector: int) -> Any:
    """A far row has v|x|² = τc|x|²/G²; the smallest of these may add up to 0.01."""
    sizes = np.sort(self._parts[vector].size)
    shares.append(float(np.searchsorted(np.cumsum(sizes), 0.01) / len(sizes)))
    return system(self, vector)


@contextmanager
def patched(owner: Any, **values: Any) -> Iterator[None]:
    before = {name: getattr(owner, name) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


@lru_cache(maxsize=1)
def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d), dtype=np.float32)
    X /= np.sqrt(np.arange(1, d + 1, dtype=np.float32) * np.sum(1.0 / np.arange(1, d + 1), dtype=np.float32))
    score = X @ random.standard_normal(d).astype(np.float32)
    score += score.std() / 3 * random.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))


def _systems(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], None]]:
    """A pass by the core and by BLAS, from weights 0."""
    machine = LinearSVOR()
    made = formulate(machine, X, check_target(machine, y), None)
    task, control = FeatureTask(made.table, made.labels), Control(tol=1e-3)
    newton = FeatureNewton(FeatureRows(RowsInMemory(X)), task, control, 0.0)
    blas = wide_core(X, task, control)
    blas.forms = True
    n_thresholds, weights = made.table.n_columns, np.zeros((1, X.shape[1]))

    def one_pass(core: Any) -> None:
        core.begin(weights, weights, np.zeros((2, n_thresholds)), np.array([[0.0, 1.0, 1.0, 1.0]]))
        for first, block in newton.source.blocks():
            core.add(block, first, newton)

    return {"core": partial(one_pass, newton.core), "BLAS": partial(one_pass, blas)}


def _fitted(X: np.ndarray, y: np.ndarray, C: float, solver: str, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LinearSVOR(**({"C": C, "tol": 1e-3, "solver": solver, "time_limit": 300.0} | options)).fit(X, y)


ROWS: dict[str, Callable[[bool], list[Row]]] = (
    {f"sums/{d}": partial(sums, d) for d in WIDTHS}
    | {f"solvers/{name}/{C:g}": partial(solvers, name, C) for C in C_VALUES for name in SHAPES}
    | {f"left-out/{name}": partial(left_out, name) for name in ("california_housing", "cpu_act", "census_house16h")}
)
