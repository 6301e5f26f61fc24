"""Checks of the options of solvers, made when an options object is."""

from __future__ import annotations

from numbers import Integral
from typing import Literal

Precision = Literal["float32", "float64"]
PRECISIONS = ("float32", "float64")


def check_option(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is unknown: give one of {', '.join(map(repr, allowed))}.")


def check_count(name: str, value: object, what: str = "steps", least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r} is not valid: give a whole number of {what}, at least {least}.")
