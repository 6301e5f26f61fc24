"""Verdicts about a problem, and the errors that are right for input that is not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

# What Python, NumPy and SciPy say when code goes wrong inside, in place of a check.
ACCIDENTS = re.compile(
    r"object has no attribute|unsupported operand|out of bounds|broadcast|NoneType|not subscriptable|not callable"
    r"|not iterable|truth value of an array|positional argument|unpack|has no len\(\)|ufunc|bad operand|invalid literal"
    r"|not supported between|only length-1|only 0-dimensional|must be real number|cannot be interpreted as an integer"
)
SHORTEST_MESSAGE = 20


class Verdict(NamedTuple):
    """Outcome "right", "refused" (rightly), "left out" (an optional package is missing) or "wrong", and reasons."""

    outcome: str
    reasons: list[str]


def verdict(reasons: list[str], otherwise: str = "right") -> Verdict:
    """Return "wrong" if there are reasons."""
    return Verdict("wrong" if reasons else otherwise, reasons)


def unclear(error: Exception) -> list[str]:
    """Return why this is not how input is refused: another exception, or words that tell nothing about the input."""
    words = f"{type(error).__name__}: {str(error)[:300]}"
    if not isinstance(error, (ValueError, TypeError)):
        return [f"an exception of the wrong kind: {words}"]
    if len(str(error)) < SHORTEST_MESSAGE or ACCIDENTS.search(str(error)):
        return [f"a message that does not say what is wrong with the input: {words}"]
    return []


def refusal(act: Callable[[], Any]) -> Exception | None:
    """Return the exception of `act()`, or None."""
    try:
        act()
    except Exception as error:
        return error
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings: what is judged are answers and errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
