"""Where the time of a small fit goes: microseconds of every step of `fit`, by model and number of samples."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

import ordsvm
from benchmarks.results import Row, row
from ordsvm.estimators.base import Fit
from ordsvm.kernels import KernelMatrix
from ordsvm.solvers.kernel.run import Run

SIZES = (20, 50, 100, 300, 1000)
MODELS = (
    *("SVOR", "SVORIM", "SVOREX", "ShashuaLevinSVOR", "RedSVM", "NPSVOR", "SVC", "SVR"),
    *("LinearSVOR", "LinearNPSVOR", "LinearSVC", "LinearSVR"),
)
MACHINE_STEPS = {
    "_check_parameters": "parameters",
    "_check_training_data": "samples",
    "_check_target": "targets",
    "_formulate": "table",
    "_solve": "way to the solver",
    "_recover": "attributes",
}
SHARED_STEPS: tuple[tuple[Any, str, str], ...] = (
    (Fit, "recover", "findings"),
    (KernelMatrix, "of", "matrix"),
    (Run, "__init__", "run"),
    (Run, "native", "core"),
    (Run, "certificate", "certificate"),
    (Run, "solution", "result"),
)


class StepClock:
    """Seconds of every step, without those of the steps inside of it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inside = [0.0]

    def timed(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self._inside.append(0.0)
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                whole, inside = time.perf_counter() - began, self._inside.pop()
                self._inside[-1] += whole
                self.seconds[step] = self.seconds.get(step, 0.0) + whole - inside

        return call


@contextmanager
def _watched(model: type, clock: StepClock) -> Iterator[None]:
    """The steps of this class, for as long as the context lasts, with a clock around each."""
    places = [(model, method, step) for method, step in MACHINE_STEPS.items()]
    changed: list[tuple[Any, str, Any]] = []
    for owner, method, step in (*places, *SHARED_STEPS):
        changed.append((owner, method, vars(owner).get(method)))
        found = getattr(owner, method)
        is_static = isinstance(vars(owner).get(method), classmethod)
        timed = clock.timed(step, found)
        setattr(owner, method, staticmethod(timed) if is_static else timed)
    try:
        yield
    finally:
        for owner, method, own in changed:
            if own is None:
                delattr(owner, method)
            else:
                setattr(owner, method, own)


def data(n: int, model: str) -> tuple[np.ndarray, np.ndarray]:
    """The first n of 1,000 rows of 8 columns with five ranks, two classes or targets."""
    random = np.random.default_rng(0)
    X = random.standard_normal((1000, 8))
    target = X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(1000)
    cuts = [0.0] if model.endswith("SVC") else [-1.5, -0.5, 0.5, 1.5]
    return X[:n], target[:n] if model.endswith("SVR") else np.digitize(target[:n], cuts)


def rows(name: str, quick: bool) -> list[Row]:
    """For every size: microseconds of a fit, and of its steps."""
    return [_row(name, n, 2 if quick else max(11, 4000 // n)) for n in (SIZES[:2] if quick else SIZES)]


def _row(name: str, n: int, repeats: int) -> Row:
    model, (X, y) = getattr(ordsvm, name), data(n, name)
    taken: list[dict[str, float]] = []
    model().fit(X, y)
    for _ in range(repeats):
        clock = StepClock()
        with _watched(model, clock):
            clock.timed("rest", model().fit)(X, y)
        taken.append(clock.seconds)
    steps = {step: 1e6 * statistics.median(each.get(step, 0.0) for each in taken) for step in taken[0]}
    whole = 1e6 * statistics.median(sum(each.values()) for each in taken)
    solver = model().fit(X, y).result_.solver
    return row(f"steps-{name}: microseconds of a fit of {n} samples", whole, steps=steps, our_solver=solver)
