"""The solvers of the registry that can train an estimator, and options of them."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from ordsvm.solvers.registry import LINEAR_SOLVERS, SOLVERS

NEED_DEFINITE_KERNELS = ("proximal-newton",)  # they refuse the sigmoid


def choices(estimator: str, treatment: str, parameters: dict[str, Any]) -> list[str]:
    """Names of the solvers that accept the estimator's problem."""
    if estimator.startswith("Linear"):
        is_npsvor = estimator == "LinearNPSVOR" and parameters["loss"] == "hinge"
        return [name for name in LINEAR_SOLVERS if is_npsvor or not name.startswith("dcd")]
    names = [name for name, kind in SOLVERS.items() if treatment in {each.value for each in kind.accepts}]
    if parameters["kernel"] == "sigmoid":
        names = [name for name in names if name not in NEED_DEFINITE_KERNELS]
    if estimator in ("SVOR", "RedSVM") and parameters["kernel"] == "linear":
        names.append("rank-dcd")
    return names


def kind(name: str) -> Any:
    """Return the class of a solver."""
    return (SOLVERS | LINEAR_SOLVERS)[name]


def make(name: str, options: dict[str, Any]) -> Any:
    """The solver as an estimator takes it."""
    return kind(name)(**options) if options else name


def some_options(rng: np.random.Generator, name: str) -> dict[str, Any]:
    """One option that is an enumeration, if the solver has any, with another value than its default."""
    solver = kind(name)
    literals = {field: hint for field, hint in get_type_hints(solver).items() if get_origin(hint) is Literal}
    others = [(field, value) for field, hint in literals.items() for value in get_args(hint)]
    others = [(field, value) for field, value in others if value != getattr(solver, field, None)]
    return dict([others[rng.integers(len(others))]]) if others else {}
