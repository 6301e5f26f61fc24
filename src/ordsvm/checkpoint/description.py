"""Parameters in words that are the same in every process, and that differ wherever the parameters do."""

from __future__ import annotations

import copyreg
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass
from types import CellType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ordsvm.checkpoint.identity import digest
from ordsvm.checks import shortened

LONGEST = 120  # characters of a description; a digest stands for the rest
# Parameters that do not change what a fit ends at: limits, threads, memory and observers.
LIMITS = frozenset({"callback", "time_limit", "max_iter"})
FREE_TO_CHANGE = LIMITS | {"verbose", "n_threads", "n_jobs", "cache_size", "memory_limit", "warm_start", "device"}
DATA = (bool, int, float, complex, str, bytes, np.generic, np.ndarray, list, tuple, dict, set, frozenset)
MADE_BY = frozenset({"__new__", "__init__", "__call__"})  # what runs where a class or its object is called
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
    left_out = free if _is_own(type(estimator)) else FREE_ELSEWHERE
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
            try:
                self._done[id(value)] = value, self._made(value)
            except BaseException:
                del self._done[id(value)]
                raise
        return self._done[id(value)][1]

    def _made(self, value: Any) -> str:
        for kinds, describe in _KINDS:
            if isinstance(value, kinds):
                return describe(self, value)
        if _is_frame(value):
            labels = self.words([value.index.tolist(), value.columns.tolist()])
            return f"frame {digest(labels, value)}"
        if sp.issparse(value):
            return f"array {digest(value)}"
        if hasattr(value, "get_params"):
            return f"{type(value).__name__}({self._pairs(_counting(value, self._free))})"
        if is_dataclass(value):
            pairs = self._pairs({f.name: getattr(value, f.name) for f in fields(value)})
            return f"{type(value).__name__}({pairs}){self._called(type(value))}"
        return self._reduced(value) + self._called(type(value))

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
        kind = value.__self__ if isinstance(value.__self__, type) else type(value.__self__)
        reached = self.words(_reached(kind, [getattr(value.__func__, "__name__", "")]))
        return f"{self.words(value.__func__)} of {self.words(value.__self__)} ({digest(reached)})"

    def function(self, value: Any) -> str:
        """Name a function, with a digest of what it computes.

        That is its instructions, constants, defaults and closure, those of the functions inside it, and the global
        values that they refer to. What its module has imported counts by its name only.
        """
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, value.__closure__, vars(value)]
        names = _names(value.__code__)
        named = {name: value.__globals__[name] for name in sorted(names) if name in value.__globals__}
        own = {name: item for name, item in named.items() if _is_of_module(item, value.__module__)}
        found = {name: self._known(item) for name, item in own.items()}
        inner = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        kinds = [item for item in (*named.values(), *inner) if isinstance(item, type)]
        methods = [_reached(kind, names | MADE_BY) for kind in kinds if kind.__module__ == value.__module__]
        of_modules = [
            {name: self._known(vars(item)[name]) for name in sorted(names) if _is_data(vars(item).get(name))}
            for item in named.values()
            if isinstance(item, ModuleType)
        ]
        return f"{self.name(value)} ({digest(self.words([*parts, found, methods, of_modules]))})"

    def code(self, value: Any) -> str:
        names = [value.co_names, value.co_varnames, value.co_consts]
        return f"code {value.co_code.hex()} {getattr(value, 'co_exceptiontable', b'').hex()} {self.words(names)}"

    def _called(self, kind: type) -> str:
        """Describe what a call of an object runs, unless its `__getstate__` says what counts or the class is ours."""
        says_itself = any("__getstate__" in vars(base) for base in kind.__mro__ if base is not object)
        reached = {} if _is_own(kind) or says_itself else _reached(kind, ["__call__"])
        return f" called ({digest(self.words(reached))})" if reached else ""

    def _known(self, value: Any) -> str:
        """Describe a global value; of one that cannot be described, as a lock or an open file, the type."""
        try:
            return self.words(value)
        except (ValueError, RecursionError):
            return self.name(type(value))

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


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "items") and hasattr(value, "index")


def _is_own(kind: type) -> bool:
    return any(base.__module__.partition(".")[0] == "ordsvm" for base in kind.__mro__)


def _is_filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _names(code: CodeType) -> set[str]:
    """Return the names that a function and the functions inside it look up in their module and in objects."""
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _is_data(item: Any) -> bool:
    return isinstance(item, DATA) or sp.issparse(item) or _is_frame(item)


def _is_of_module(item: Any, module: str) -> bool:
    """Return True for data, and for functions and objects of the given module."""
    if isinstance(item, type | ModuleType):
        return False
    if _is_data(item) or isinstance(item, functools.partial | MethodType | SimpleNamespace):
        return True
    return (item.__module__ if isinstance(item, FunctionType) else type(item).__module__) == module


def _reached(kind: type, names: Iterable[str]) -> dict[str, list[Any]]:
    """Return the attributes of a class with these names, and those that its functions among them name in turn."""
    found: dict[str, list[Any]] = {}
    todo = set(names)
    while todo:
        name = todo.pop()
        parts = list(_parts(inspect.getattr_static(kind, name, None)))
        found[name] = [part for part in parts if _is_data(part) or isinstance(part, FunctionType)]
        functions = [part for part in parts if isinstance(part, FunctionType)]
        todo = todo.union(*(_names(part.__code__) for part in functions)) - found.keys()
    return {name: found[name] for name in sorted(found) if found[name]}


def _parts(attribute: Any) -> Iterator[Any]:
    """Return the functions of a static method, a class method or a property; anything else as it is."""
    if isinstance(attribute, staticmethod | classmethod):
        yield attribute.__func__
    elif isinstance(attribute, property):
        yield from (part for part in (attribute.fget, attribute.fset) if part is not None)
    elif isinstance(attribute, functools.cached_property):
        yield attribute.func
    else:
        yield attribute


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
