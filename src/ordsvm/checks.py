"""Numbers that a user has passed: real, finite, and as many as there should be, or one clear sentence."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shortened(value: Any) -> str:
    """What was given, in a line that can be read."""
    return " ".join(reprlib.repr(value).split())


def check_number(name: str, value: Any, allowed: str, test: Callable[[Any], bool]) -> float:
    """`value` as a float if it is a real, finite number that passes `test`."""
    message = f"{name}={shortened(value)} is not valid: give {allowed}."
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(message)
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(message) from None
    if not np.isfinite(number) or not test(number):
        raise ValueError(message)
    return number


def as_floats(name: str, values: Any) -> Floats:
    """`values` as an array of real numbers."""
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise ValueError(f"{name} holds complex numbers: give real ones.")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold numbers only, but is {shortened(values)}.") from None


def check_positive(name: str, value: Any) -> float:
    return check_number(name, value, "a positive number", lambda number: number > 0)
