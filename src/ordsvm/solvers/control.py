"""When a solver stops, with how many threads it works, and where it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ordsvm._typing import Floats
from ordsvm.checkpoint import Keeper, State
from ordsvm.result import Progress


class ValidationMonitor(Protocol):
    """Follows the errors of a running fit on samples that are not trained on, at every look and at the end."""

    @property
    def satisfied(self) -> bool:
        """Whether the run should end."""

    @property
    def best(self) -> tuple[int, Floats] | None:
        """The look that a run cut short returns to, counted from 0, and its α; None: it stays where it is."""

    def examine(self, alpha: Floats, progress: Progress) -> Progress:
        """`progress` with the errors of this α, which is copied if it is kept."""

    def state(self) -> State:
        """What `restore` of another one needs to go on."""

    def restore(self, state: State) -> None:
        """Goes on from the state of another one."""


@dataclass(frozen=True)
class Control:
    """Limits of a fit, its threads and its observers.

    Parameters
    ----------
    tol : float, default=1e-3
        The violation and the relative gap at which a solver stops.
    max_iter : int, default=-1
        The largest number of steps; -1 for no limit.
    time_limit : float or None, default=None
        Seconds.
    callback : callable or None, default=None
        Called with a `Progress` at every look; returning True stops the fit.
    verbose : bool, default=False
        Whether every look writes a line to stderr.
    n_threads : int, default=1
        Threads of the solver.
    report_every : int, default=0
        Steps between two looks; 0: they come every fifth of a second, or as seldom as their own time demands.
    monitor : ValidationMonitor or None, default=None
        Follows the errors on validation samples.
    last_resort : callable or None, default=None
        Makes the solver that goes on where the first one gets nowhere; None: none does.
    keeper : Keeper or None, default=None
        Takes the states of the fit for a checkpoint, and has the one to go on from. Then max_iter counts the steps of
        all calls, and time_limit the seconds of this one.
    """

    tol: float = 1e-3
    max_iter: int = -1
    time_limit: float | None = None
    callback: Callable[[Progress], bool | None] | None = None
    verbose: bool = False
    n_threads: int = 1
    report_every: int = 0
    monitor: ValidationMonitor | None = None
    last_resort: Callable[[], Any] | None = None
    keeper: Keeper | None = None
