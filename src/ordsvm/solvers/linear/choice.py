"""The solvers of linear machines by name."""

from __future__ import annotations

from dataclasses import replace

from ordsvm.solvers.linear.dcd import DCD1, DCD2
from ordsvm.solvers.linear.rank_dcd import RankDCD

LinearSolver = RankDCD | DCD1 | DCD2

SOLVERS: dict[str, type[LinearSolver]] = {solver.name: solver for solver in (RankDCD, DCD1, DCD2)}


def choose(solver: str | LinearSolver, fitting: tuple[str, ...], seed: int | None = None) -> LinearSolver:
    """The solver that a name, "auto" or an options object stands for, if it is among the fitting ones.

    A seed takes the place of the options' own.
    """
    if isinstance(solver, str):
        if solver != "auto" and solver not in SOLVERS:
            raise ValueError(f"solver={solver!r} is unknown: give 'auto' or one of {', '.join(map(repr, SOLVERS))}.")
        solver = SOLVERS[fitting[0] if solver == "auto" else solver]()
    elif not isinstance(solver, tuple(SOLVERS.values())):
        raise ValueError(f"solver={solver!r} is not a solver: give a name or an options object such as RankDCD().")
    if solver.name not in fitting:
        raise ValueError(f"solver={solver.name!r} is for NPSVOR only: use {' or '.join(map(repr, fitting))}.")
    return solver if seed is None else replace(solver, seed=seed)
