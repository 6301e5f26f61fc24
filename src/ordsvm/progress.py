"""ProgressLine: a callback that shows how training goes, in a terminal or a notebook, and can stop it."""

from __future__ import annotations

import math
import time
from typing import Any, Self

from ordsvm.result import Progress

__all__ = ["ProgressLine"]

WIDTH = 20


class ProgressLine:
    """A callback that shows seconds, steps, gap, violation and support vectors on one line.

    Parameters
    ----------
    tol : float, default=1e-3
        The relative gap at which training ends: the bar is full there. It moves with the digits of the gap.
    title : str, default="training"
        The first word of the line.
    console : rich.console.Console or None, default=None
        The terminal or notebook to write to; None: standard error. Where that is no terminal, nothing is shown.

    Attributes
    ----------
    last : Progress or None
        What the last call was given.

    See Also
    --------
    ordsvm.Progress : What a callback is given.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm import SVOR
    >>> from ordsvm.progress import ProgressLine
    >>> X, y = np.arange(6.0).reshape(-1, 1), np.repeat([0, 1, 2], 2)
    >>> with ProgressLine(title="SVOR") as line:
    ...     model = SVOR(C=10, callback=line).fit(X, y)
    >>> model.result_.converged
    True
    """

    def __init__(self, tol: float = 1e-3, title: str = "training", console: Any = None) -> None:
        self.tol = tol
        self.title = title
        self._console = _console() if console is None else console
        self._stopped = False
        self._screen: Any = None
        self._began = time.perf_counter()
        self.last: Progress | None = None

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        if self._console.is_jupyter:
            self._screen = _NotebookLine()
        elif self._console.is_terminal:
            from rich.live import Live

            self._screen = Live(get_renderable=self._text, console=self._console, transient=True, refresh_per_second=8)
            self._screen.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._screen is not None:
            self._screen.stop()
            self._screen = None

    def __call__(self, progress: Progress) -> bool:
        self.last = progress
        if isinstance(self._screen, _NotebookLine):
            self._screen.show(self._text().plain)
        return self._stopped

    def stop(self) -> None:
        """End training at the next call."""
        self._stopped = True

    def __deepcopy__(self, memo: Any) -> Self:
        """A clone of an estimator reports to the same line."""
        return self

    def _text(self) -> Any:
        from rich.text import Text

        seconds = time.perf_counter() - self._began
        look = self.last
        if look is None:
            return Text.assemble((self.title, "bold"), f"  {seconds:6.1f} s")
        full = round(WIDTH * closeness(look.relative_gap, self.tol))
        return Text.assemble(
            (self.title, "bold"),
            " ",
            ("━" * full, "green"),
            ("━" * (WIDTH - full), "bright_black"),
            f" {seconds:6.1f} s  {look.n_iter:,} steps  gap ",
            (f"{look.relative_gap:.1e}", "cyan"),
            f"  violation {look.violation:.1e}  {look.n_support:,} support vectors",
            "  stopping …" if self._stopped else "",
        )


def closeness(relative_gap: float, tol: float) -> float:
    """From 0 to 1: how many of the digits that tol requires the gap has."""
    if not relative_gap > tol:
        return 1.0
    return max(0.0, math.log(min(relative_gap, 1.0)) / math.log(tol)) if tol < 1 else 1.0


class _NotebookLine:
    """A line of a notebook that is replaced; unlike rich's own, it needs no widgets."""

    def __init__(self) -> None:
        from IPython.display import display

        self._handle = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, line: str) -> None:
        self._handle.update({"text/plain": line}, raw=True)

    def stop(self) -> None:
        self._handle.update({"text/plain": ""}, raw=True)


def _console() -> Any:
    try:
        from rich.console import Console
    except ImportError:
        raise ImportError("ProgressLine needs rich: pip install 'ordsvm[cli]'.") from None
    return Console(stderr=True)
