"""Parameters in words that are the same in every process, and that differ wherever the parameters do."""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm.checkpoint.identity import digest
from ordsvm.checks import shortened

LONGEST = 120  # characters of a description; a digest stands for the rest
# Parameters that do not change what a fit ends at: limits, threads, memory and observers.
LIMITS = frozenset({"callback", "time_limit", "max_iter"})
FREE_TO_CHANGE = LIMITS | {"verbose", "n_threads", "n_jobs", "cache_size", "memory_limit", "warm_start", "device"}
FREE_ELSEWHERE = frozenset({"verbose", "n_jobs"})  # of estimators of other libraries, whose limits may be their ends


def described(value: Any, free: Collection[str] = FREE_TO_CHANGE) -> str:
    """A value in words that name what matters of it, and no address in memory.

    Of this library's estimators inside it, the parameters in `free` do not count.

    Raises ValueError where something of it cannot be described.
    """
    try:
        text = _Description(free).words(value)
    except RecursionError:
        raise _refusal(value) from None
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({digest(text)})"


def parameters_in_words(estimator: Any, free: Collection[str] = FREE_TO_CHANGE) -> dict[str, str]:
    """The parameters of an estimator that change what a fit ends at; those in `free` do not."""
    return {name: described(value) for name, value in _counting(estimator, free).items()}


def _counting(estimator: Any, free: Collection[str]) -> dict[str, Any]:
    is_own = any(base.__module__.partition(".")[0] == "ordsvm" for base in type(estimator).__mro__)
    left_out = free if is_own else FREE_ELSEWHERE
    return {name: value for name, value in estimator.get_params(deep=False).items() if name not in left_out}


class _Description:
    """Of one value: what occurs in it twice is described once, and what it is a part of is not described in it."""

    def __init__(self, free: Collection[str]) -> None:
        self._free = free
        self._done: dict[int, tuple[Any, str]] = {}  # with the objects, so that no other one gets their addresses

    def words(self, value: Any) -> str:
        if value is None or isinstance(value, bool | int | str | bytes | complex | type(...)):
            return repr(value)
        if isinstance(value, float):
            return repr(int(value)) if value.is_integer() else repr(value)  # 10.0 is 10
        if isinstance(value, np.generic):
            return self.words(value.item()) if not isinstance(value.item(), np.generic) else repr(value)
        if id(value) not in self._done:
            self._done[id(value)] = value, "itself"
            self._done[id(value)] = value, self._made(value)
        return self._done[id(value)][1]

    def _made(self, value: Any) -> str:
        for kinds, describe in _KINDS:
            if isinstance(value, kinds):
                return describe(self, value)
        if sp.issparse(value) or (hasattr(value, "columns") and hasattr(value, "items")):
            return f"array {digest(value)}"
        if hasattr(value, "get_params"):
            return f"{type(value).__name__}({self._pairs(_counting(value, self._free))})"
        if is_dataclass(value):
            return f"{type(value).__name__}({self._pairs({f.name: getattr(value, f.name) for f in fields(value)})})"
        return self._reduced(value)

    def array(self, value: Any) -> str:
        return f"array {digest(self.words(value.tolist()) if value.dtype.hasobject else value)}"

    def sequence(self, value: Any) -> str:
        return "[" + ", ".join(map(self.words, value)) + "]"

    def mapping(self, value: Any) -> str:
        return "{" + ", ".join(f"{self.words(key)}: {self.words(item)}" for key, item in value.items()) + "}"

    def set(self, value: Any) -> str:
        return "{" + ", ".join(sorted(map(self.words, value))) + "}"

    def name(self, value: Any) -> str:
        return f"{value.__module__}.{value.__qualname__}"

    def module(self, value: Any) -> str:
        return f"module {value.__name__}"

    def random(self, value: Any) -> str:
        return f"RandomState {digest(repr(value.get_state()))}"

    def partial(self, value: Any) -> str:
        return f"partial({self.words(value.func)}, {self.words(value.args)}, {self.words(value.keywords)})"

    def method(self, value: Any) -> str:
        return f"{self.words(value.__func__)} of {self.words(value.__self__)}"

    def function(self, value: Any) -> str:
        """Its name, and a digest of what it computes: instructions, constants, defaults and what they refer to."""
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, value.__closure__, vars(value)]
        referred = {name: value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__}
        mine = {
            name: item
            for name, item in referred.items()
            if isinstance(item, bool | int | float | str)
            or (isinstance(item, FunctionType) and item.__globals__ is value.__globals__)
        }
        return f"{self.name(value)} ({digest(self.words([*parts, mine]))})"

    def code(self, value: Any) -> str:
        return f"code {value.co_code.hex()} {self.words([value.co_names, value.co_varnames, value.co_consts])}"

    def cell(self, value: Any) -> str:
        try:
            contents = value.cell_contents
        except ValueError:
            return "empty"
        return self.words(contents)

    def _pairs(self, values: dict[str, Any]) -> str:
        return ", ".join(f"{name}={self.words(value)}" for name, value in values.items())

    def _reduced(self, value: Any) -> str:
        """By what `pickle` keeps of an object: its type and, by `__getstate__` or as they are, its attributes."""
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            reduced: Any = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            raise _refusal(value) from None
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        if isinstance(reduced, str):
            return f"{kind} {getattr(value, '__module__', '')}.{reduced} {self.words(getattr(value, '__dict__', {}))}"
        arguments, state, items, pairs = (*reduced[1:5], None, None, None, None)[:4]
        return f"{kind}{self.words([list(arguments), state, list(items or ()), list(pairs or ())])}"


_KINDS: tuple[tuple[Any, Callable[[_Description, Any], str]], ...] = (
    (np.ndarray, _Description.array),
    (dict, _Description.mapping),
    ((list, tuple), _Description.sequence),
    ((set, frozenset), _Description.set),
    (np.random.RandomState, _Description.random),
    (functools.partial, _Description.partial),
    (MethodType, _Description.method),
    (FunctionType, _Description.function),
    (CodeType, _Description.code),
    (CellType, _Description.cell),
    (ModuleType, _Description.module),
    (type, _Description.name),
)


def _refusal(value: Any) -> ValueError:
    return ValueError(
        f"A checkpoint can't describe {shortened(value)}, so as to tell it from others: give a function, or an object "
        "that pickle takes, or leave the checkpoint out."
    )
