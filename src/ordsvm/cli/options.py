"""Commands made of functions: an option for every field of what they take, and for every parameter of a machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any, get_type_hints

from ordsvm.cli.machines import parameter_options


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer should see it.

    A dataclass among its arguments stands for options, one for every field; `**parameters` for those of the machines.
    """
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {n: item.annotation for n, item in own.items() if is_dataclass(item.annotation)}
    options = list(_options(own))

    @wraps(command)
    def taken(**given: Any) -> None:
        gathered = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        command(**gathered, **given)

    taken.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    taken.__annotations__ = {item.name: item.annotation for item in options}
    return taken


def _options(own: Any) -> Iterator[Parameter]:
    """All of them, in the order in which the command has them."""
    for item in own.values():
        if is_dataclass(item.annotation):
            hints = get_type_hints(item.annotation, include_extras=True)
            for f in fields(item.annotation):
                yield Parameter(f.name, Parameter.KEYWORD_ONLY, default=_default(f), annotation=hints[f.name])
        elif item.kind is Parameter.VAR_KEYWORD:
            yield from parameter_options().values()
        else:
            yield item.replace(kind=Parameter.KEYWORD_ONLY)


def _default(f: Field[Any]) -> Any:
    if f.default_factory is not MISSING:
        return f.default_factory()
    return Parameter.empty if f.default is MISSING else f.default
