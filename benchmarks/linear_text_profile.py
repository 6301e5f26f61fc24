"""Where the seconds of a linear fit go: checks of the input, norms of the rows, passes, proofs, the rest."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from ordsvm.estimators.linear import LinearMachine
from ordsvm.solvers.linear import solve
from ordsvm.solvers.linear.rank_dcd import Descent

STEPS: dict[str, tuple[Any, str]] = {
    "checks": (LinearMachine, "_check_training_data"),
    "norms": (solve, "squared_norms"),
    "passes": (Descent, "_pass"),
    "proofs": (Descent, "_prove"),
}


def profile(fit: Callable[[], Any], repeats: int) -> dict[str, float]:
    """Milliseconds by step, medians over the fits; the last pass holds half of a proof where a thread is to spare."""
    fits = [_steps(fit) for _ in range(repeats)]
    return {step: round(statistics.median(one[step] for one in fits), 2) for step in fits[0]}


def _steps(fit: Callable[[], Any]) -> dict[str, float]:
    spent = dict.fromkeys(STEPS, 0.0)
    with ExitStack() as stack:
        for step, (owner, name) in STEPS.items():
            timed = _timed(step, getattr(owner, name), spent)
            stack.enter_context(mock.patch.object(owner, name, timed))
        with _added(spent, "all"):
            fit()
    return spent | {"rest": spent["all"] - sum(spent[step] for step in STEPS)}


def _timed(step: str, function: Callable[..., Any], spent: dict[str, float]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        with _added(spent, step):
            return function(*arguments, **options)

    return call


@contextmanager
def _added(spent: dict[str, float], step: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    spent[step] = spent.get(step, 0.0) + 1e3 * (time.perf_counter() - began)
