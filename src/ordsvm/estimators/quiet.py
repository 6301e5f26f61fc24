"""Fits inside of another one, whose warnings would repeat each other: the outer one gives a summary, if any.

A context variable and not `warnings.catch_warnings`, which changes the filters of the whole process: fits of a search
run in threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: "": fits warn; "findings": not of findings; "all": not of convergence either.
QUIET: ContextVar[str] = ContextVar("ordsvm_quiet_fits", default="")


@contextmanager
def quiet_fits(findings_only: bool = False) -> Iterator[None]:
    """In this block fits give no `ModelWarning` and, unless it is about findings only, no `ConvergenceWarning`."""
    token = QUIET.set("findings" if findings_only and QUIET.get() != "all" else "all")
    try:
        yield
    finally:
        QUIET.reset(token)
