"""All solvers by name, and the one that a name or options object stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from ordsvm.devices import usable_device
from ordsvm.problem import Treatment
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.gcd import GCD
from ordsvm.solvers.kernel.interior_point.interior_point import InteriorPoint
from ordsvm.solvers.kernel.proximal_newton.proximal_newton import ProximalNewton
from ordsvm.solvers.kernel.run import Solver
from ordsvm.solvers.kernel.smo import SMO
from ordsvm.solvers.linear.dcd import DCD1, DCD2
from ordsvm.solvers.linear.interior_point import LinearInteriorPoint
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.papers.asyagcd import AsyAGCD
from ordsvm.solvers.papers.asygcd import AsyGCD
from ordsvm.solvers.papers.asyorgcd import AsyORGCD
from ordsvm.solvers.papers.decomposition.decomposition import Decomposition
from ordsvm.solvers.papers.parsmo import ParsmoCache, ParsmoLight

LinearSolver = RankDCD | LinearInteriorPoint | DCD1 | DCD2
SolverLike = str | Solver | LinearSolver  # a name or options; a linear kernel takes solvers of linear machines too
LinearSolverLike = str | LinearSolver

KINDS: tuple[type[Solver], ...] = (
    SMO,
    GCD,
    Block,
    AsyGCD,
    AsyAGCD,
    AsyORGCD,
    ParsmoLight,
    ParsmoCache,
    Decomposition,
    InteriorPoint,
    ProximalNewton,
)
SOLVERS: dict[str, type[Solver]] = {kind.name: kind for kind in KINDS}
LINEAR_SOLVERS: dict[str, type[LinearSolver]] = {kind.name: kind for kind in (RankDCD, LinearInteriorPoint, DCD1, DCD2)}


def check_solver(solver: str | Solver, treatment: Treatment, others: Sequence[str] = ()) -> Solver:
    """Return the solver that a name or an options object stands for, if it accepts a treatment of the thresholds.

    Parameters
    ----------
    solver : str or Solver
        The name, or the options object.
    treatment : Treatment
        The treatment.
    others : sequence of str, default=()
        Names that the machine takes besides, for the message about one that it does not.

    Returns
    -------
    Solver
        The options object.

    Raises
    ------
    ValueError
        Where the name is unknown, or the solver does not accept the treatment.

    See Also
    --------
    solve : Runs a solver.

    Examples
    --------
    >>> from ordsvm.problem import Treatment
    >>> from ordsvm.solvers import check_solver
    >>> check_solver("gcd", Treatment.PENALIZED)
    GCD(precision='float32')
    """
    accepting = [name for name, kind in SOLVERS.items() if treatment in kind.accepts]
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise ValueError(_unknown(solver, [*accepting, *others]))
        solver = SOLVERS[solver]()
    elif isinstance(solver, type) or not hasattr(solver, "solve") or not hasattr(solver, "accepts"):
        raise ValueError(f"solver={solver!r} is not a solver: give a name or an options object such as SMO().")
    if treatment not in solver.accepts:
        raise ValueError(
            f"solver={solver.name!r} does not solve problems with {treatment.value} thresholds: "
            f"use {' or '.join(map(repr, accepting))}."
        )
    return solver


def _unknown(solver: str, accepted: Sequence[str]) -> str:
    """The message about a name that no solver has, and the one that was meant if it is clear."""
    near = get_close_matches(solver.lower(), accepted, n=1, cutoff=0.8)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"solver={solver!r} is unknown: give 'auto' or one of {', '.join(map(repr, accepted))}.{hint}"


def check_linear_solver(solver: Any, accepted: tuple[str, ...], seed: int | None = None) -> LinearSolver:
    """The linear solver that a name or an options object stands for, if it is among those accepted.

    A seed replaces that of the options, where they have one.
    """
    if isinstance(solver, str):
        if solver not in LINEAR_SOLVERS:
            raise ValueError(_unknown(solver, accepted))
        solver = LINEAR_SOLVERS[solver]()
    elif not isinstance(solver, tuple(LINEAR_SOLVERS.values())):
        raise ValueError(f"solver={solver!r} is not a solver: give a name or an options object such as RankDCD().")
    if solver.name not in accepted:
        raise ValueError(f"solver={solver.name!r} is for NPSVOR only: use {' or '.join(map(repr, accepted))}.")
    return with_seed(solver, seed)


def with_seed(solver: LinearSolver, seed: int | None) -> LinearSolver:
    """The solver with this seed, unless it is None or nothing is drawn."""
    if seed is None or isinstance(solver, LinearInteriorPoint):
        return solver
    return replace(solver, seed=seed)


def is_rank_dcd(solver: Any) -> bool:
    """Whether this is the solver of linear machines, by name or by options."""
    return isinstance(solver, RankDCD) or (isinstance(solver, str) and solver == RankDCD.name)


def is_proximal_newton(solver: Any) -> bool:
    """Whether this is the solver that computes on devices, by name or by options."""
    return isinstance(solver, ProximalNewton) or (isinstance(solver, str) and solver == ProximalNewton.name)


def computes_on_device(solver: Any) -> bool:
    """Whether these options have values of K computed elsewhere than by the core."""
    return isinstance(solver, ProximalNewton) and usable_device(solver.device) != "cpu"
