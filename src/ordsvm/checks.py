"""Checks of parameters: numbers real and finite, names among the choices, or one clear sentence."""

from __future__ import annotations

import inspect
import math
import os
import reprlib
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from ordsvm._typing import Floats

Precision = Literal["float32", "float64"]
PRECISIONS = ("float32", "float64")


def shortened(value: Any) -> str:
    """What was given, in a line that can be read."""
    return " ".join(reprlib.repr(value).split())


def check_number(name: str, value: Any, allowed: str, test: Callable[[Any], bool]) -> float:
    """`value` as a float if it is a real, finite number that passes `test`."""
    number = _number(value)
    if not math.isfinite(number) or not test(number):
        raise ValueError(f"{name}={shortened(value)} is not valid: give {allowed}.")
    return number


def _number(value: Any) -> float:
    """NaN for all that is no real number."""
    if isinstance(value, bool) or not isinstance(value, (float, Real)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def as_floats(name: str, values: Any) -> Floats:
    """`values` as an array of real numbers."""
    try:
        if not np.iscomplexobj(np.asarray(values)):
            return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold numbers only, but is {shortened(values)}.") from None
    raise ValueError(f"{name} holds complex numbers: give real ones.")


def check_positive(name: str, value: Any) -> float:
    return check_number(name, value, "a positive number", lambda number: number > 0)


def check_seed_number(seed: Any) -> None:
    """For the random numbers of the core."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) < 2**64:
        raise ValueError(f"seed={shortened(seed)} is not valid: give a whole number from 0 to 2**64 - 1.")


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    allowed = list(allowed)
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={shortened(value)} is unknown: give {' or '.join(map(repr, allowed))}.")


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={shortened(value)} is not valid: give True or False.")


def check_verbose(value: Any) -> None:
    """Raise ValueError unless the value is True, False or a whole number, as scikit-learn has it."""
    if not isinstance(value, (bool, np.bool_, Integral)):
        raise ValueError(f"verbose={shortened(value)} is not valid: give True or False.")


def check_jobs(value: Any) -> None:
    """Raise ValueError unless the value is None or a whole number of jobs, as joblib has it."""
    if value is not None and (not isinstance(value, Integral) or value == 0):
        raise ValueError(
            f"n_jobs={shortened(value)} is not valid: give None (1, or what joblib is set to) or a number."
        )


def check_estimator(name: str, value: Any) -> None:
    """Raise TypeError unless the value is an object that can be cloned and trained."""
    if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "get_params")):
        raise TypeError(f"{name}={shortened(value)} is not an estimator: give an object such as SVOR().")


def usable_threads(n_threads: Any) -> int:
    """None: every core that this process may use, by affinity and OMP_NUM_THREADS."""
    if n_threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ValueError(f"n_threads={n_threads!r} is not valid: give None (all cores) or a whole number from 1 on.")
    return int(n_threads)


def check_option(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is unknown: give one of {', '.join(map(repr, allowed))}.")


def check_count(name: str, value: object, what: str = "steps", least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r} is not valid: give a whole number of {what}, at least {least}.")


def caller_level() -> int:
    """The `stacklevel` of a warning that should point at the user: at the first frame outside this package.

    scikit-learn's callbacks wrap `fit`, and are passed over too.
    """
    level, frame = 0, inspect.currentframe()
    while frame is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(("ordsvm.", "sklearn.callback.")):
        level, frame = level + 1, frame.f_back
    return level
