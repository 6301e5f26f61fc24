"""When a solver stops, with how many threads it works, and where it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ordsvm._typing import Floats
from ordsvm.result import Progress


class ValidationMonitor(Protocol):
    """Judges a running fit by samples that are not trained on, at every look and at the end."""

    @property
    def satisfied(self) -> bool:
        """Whether the run should end."""

    @property
    def best(self) -> tuple[int, Floats] | None:
        """The look that a run cut short returns to, counted from 0, and its α; None: it stays where it is."""

    def examine(self, alpha: Floats, progress: Progress) -> Progress:
        """`progress` with the errors of this α, which is copied if it is kept."""


@dataclass(frozen=True)
class Control:
    """Limits of a fit, its threads and its observers.

    `report_every` > 0 makes a `Progress` every so many steps instead of every fifth of a second.
    """

    tol: float = 1e-3
    max_iter: int = -1
    time_limit: float | None = None
    callback: Callable[[Progress], bool | None] | None = None
    verbose: bool = False
    n_threads: int = 1
    report_every: int = 0
    monitor: ValidationMonitor | None = None
