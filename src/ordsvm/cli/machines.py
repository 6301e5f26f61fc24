"""Machines by name, and their parameters as options: all of it is read off the estimators."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import fields
from functools import cache
from typing import Annotated, Any

import typer
from docstring_parser import DocstringParam, numpydoc
from rich.markup import escape
from sklearn.base import is_regressor

from ordsvm import RoundedRegressor
from ordsvm.files.registry import estimator_classes
from ordsvm.problem import Treatment
from ordsvm.solvers.registry import LINEAR_SOLVERS, SOLVERS

LITERALS = {"cost": "a matrix such as '[[0, 1], [4, 0]]'", "class_weight": "weights such as '{3: 5.0}'"}
NOT_OPTIONS = ("callback", "verbose", "warm_start", "categories")  # set by the command line itself


@cache
def machine_classes() -> dict[str, type]:
    """Every estimator that has a solver, by its name in lower case with hyphens: LinearSVOR is linear-svor."""
    machines = [kind for kind in estimator_classes().values() if "solver" in inspect.signature(kind).parameters]
    simple_first = sorted(machines, key=lambda kind: (kind.__name__ != "SVOR", "Linear" in kind.__name__))
    return {hyphenated(kind.__name__): kind for kind in simple_first}


def hyphenated(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def machine_class(name: str) -> type:
    known = {key.replace("-", ""): kind for key, kind in machine_classes().items()}
    kind = known.get(name.lower().replace("-", "").replace("_", ""))
    if kind is None:
        raise ValueError(f"There is no model {name!r}: give one of {', '.join(sorted(machine_classes()))}.")
    return kind


def make_machine(name: str, parameters: dict[str, Any], categories: list[Any] | None) -> Any:
    """The machine with those parameters that were given; a regressor is rounded to ranks."""
    kind = machine_class(name)
    known = inspect.signature(kind).parameters
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in given:
        if key not in known:
            able = [other for other, cls in machine_classes().items() if key in inspect.signature(cls).parameters]
            raise ValueError(f"{option_name(key)} is not for {hyphenated(kind.__name__)}: it is for {', '.join(able)}.")
    if is_regressor(kind()):
        return RoundedRegressor(kind(**given), categories=categories)
    if "categories" in known:
        given["categories"] = categories
    return kind(**given)


def inner_machine(estimator: Any, fitted: bool = True) -> Any:
    """The estimator that a solver trains or has trained, inside its wrappers."""
    for name in ("machine", "estimator", "regressor"):
        inner = getattr(estimator, f"{name}_" if fitted else name, None)
        if inner is not None:
            return inner_machine(inner, fitted)
    return estimator


def set_callback(estimator: Any, callback: Any) -> None:
    """Sets the callback of the machine, wherever in the estimator it is."""
    for key in estimator.get_params():
        if key.split("__")[-1] == "callback":
            estimator.set_params(**{key: callback})


def solver_options(solver: str | None, given: list[str]) -> Any:
    """The solver's name, or its options object where NAME=VALUE pairs were given."""
    if not given:
        return solver
    kinds = SOLVERS | LINEAR_SOLVERS
    kind: Any = kinds.get(solver or "")
    if kind is None:
        raise ValueError(f"--solver-option needs a --solver: one of {', '.join(kinds)}.")
    known = {field.name for field in fields(kind)}
    options = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or name not in known:
            raise ValueError(
                f"{pair!r} is no option of {solver}: give NAME=VALUE, NAME one of {', '.join(sorted(known))}."
            )
        options[name] = literal(value)
    return kind(**options)


def option_name(parameter: str) -> str:
    return "--" + parameter.replace("_", "-")


def literal(text: str) -> Any:
    """A number, None, True, False, or else the text itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if value is None or isinstance(value, bool | int | float | list | dict) else text


@cache
def parameter_options() -> dict[str, inspect.Parameter]:
    """An option for every parameter that a machine has, with the text about it from the machine's documentation."""
    options: dict[str, inspect.Parameter] = {}
    for kind in machine_classes().values():
        for name, parameter in inspect.signature(kind).parameters.items():
            if name not in options and name not in NOT_OPTIONS:
                options[name] = _option(name, parameter, kind)
    return options


def _option(name: str, parameter: inspect.Parameter, kind: type) -> inspect.Parameter:
    default = parameter.default
    is_flag = isinstance(default, bool)
    names = [f"{option_name(name)}/--no-{option_name(name)[2:]}"] if is_flag else [option_name(name)]
    info = typer.Option(
        *names,
        help=escape(f"{_documentation(kind, name)} (default: {default})"),
        show_default=False,
        rich_help_panel="The machine's parameters",
        metavar=None if is_flag else "VALUE",
        parser=None if is_flag else literal,
    )
    hint = Annotated[bool | None, info] if is_flag else Annotated[Any, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)


def _documentation(kind: type, name: str) -> str:
    """The choices that a parameter has, and the first sentence about it."""
    parameter = _documented_parameters(kind).get(name)
    if parameter is None:
        return ""
    first = re.split(r"(?<=[.;:])\s", " ".join((parameter.description or "").split()))[0].rstrip(".;:")
    choices = re.findall(r'"([\w-]+)"', parameter.type_name or "")
    if name == "solver":
        return _solvers()
    choices += [f"or {LITERALS[name]}"] if name in LITERALS else []
    choices += ["or a number"] if choices and re.search(r"\b(float|int)\b", parameter.type_name or "") else []
    about_python = first.startswith(("A callable", "A name such as", '"'))  # what a command line can't say, or repeats
    return ". ".join([f"One of {', '.join(choices)}"] * bool(choices) + [first] * (not about_python))


def _solvers() -> str:
    """The names, by the machines that they are for."""
    penalized, free = ({n for n, s in SOLVERS.items() if t in s.accepts} for t in (Treatment.PENALIZED, Treatment.FREE))
    dcd = [name for name in LINEAR_SOLVERS if name.startswith("dcd-")]
    return (
        f"auto. Machines with kernels: {_listed(penalized & free)}; svor, red-svm and npsvor also "
        f"{_listed(penalized - free)}; the others {_listed(free - penalized)}. Linear machines, and svor and red-svm "
        f"with the linear kernel: rank-dcd. Linear ones: linear-interior-point; linear-npsvor also {', '.join(dcd)}"
    )


def _listed(names: set[str]) -> str:
    return ", ".join(name for name in SOLVERS if name in names)


@cache
def _documented_parameters(kind: type) -> dict[str, DocstringParam]:
    """The entries of the Parameters section; an entry may name several."""
    entries = [entry for entry in numpydoc.parse(kind.__doc__ or "").params if entry.args[0] == "param"]
    return {name: entry for entry in entries for name in entry.arg_name.split(", ")}
