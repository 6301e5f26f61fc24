"""Kinds of problems: fits of a random estimator, and five other ways to look for faults.

Each kind but "fit" is a module with `Problem`, `draw(rng, time_limit)` and `judge(problem)`, which returns a `Verdict`.
The repr of a problem is Python that makes it again.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.campaign import cases

SHARES = {"fit": 0.7, "identity": 0.09, "container": 0.08, "malformed": 0.08, "coverage": 0.02, "search": 0.03}
MODULES = {
    "identity": "identities",
    "container": "containers",
    "malformed": "malformed",
    "coverage": "coverage",
    "search": "searches",
}


def kind_of(seed: int, number: int, kinds: tuple[str, ...] = tuple(SHARES)) -> str:
    """Return the kind of the problem of this number among `kinds`."""
    shares = np.array([SHARES[kind] for kind in kinds])
    return str(np.random.default_rng([seed, number, 1]).choice(kinds, p=shares / shares.sum()))


def module_of(kind: str) -> Any:
    """Return the module of a kind other than "fit"."""
    return importlib.import_module(f"{__name__}.{MODULES[kind]}")


def draw(seed: int, number: int, time_limit: float, kind: str) -> Any:
    """Return the problem of this number: a `Case` of a fit, or a `Problem` of another kind."""
    if kind == "fit":
        return cases.draw(seed, number, time_limit)
    return module_of(kind).draw(np.random.default_rng([seed, number, 2]), time_limit)


def strata(kind: str, problem: Any) -> dict[str, str]:
    """Return what the problem is counted by."""
    return {"kind": kind} | (problem.strata if kind == "fit" else {"what": problem.what})
