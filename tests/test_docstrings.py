"""What is public is documented: numpydoc accepts every docstring, and every example prints what it says."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot
from numpydoc.validate import validate

import ordsvm

matplotlib.use("agg")

# The modules that users import from; each lists what it offers in __all__.
MODULES = (
    "ordsvm",
    "ordsvm.calibration",
    "ordsvm.datasets",
    "ordsvm.distributed",
    "ordsvm.evaluation",
    "ordsvm.formulations",
    "ordsvm.inspection",
    "ordsvm.files",
    "ordsvm.kernels",
    "ordsvm.linear",
    "ordsvm.metrics",
    "ordsvm.search",
    "ordsvm.plotting",
    "ordsvm.progress",
    "ordsvm.report",
    "ordsvm.solvers",
    "ordsvm.tables",
    "ordsvm.text",
)

FUSED = (".fused", ".fused_gradients", ".fused_passes", ".fused_square", ".fused_stacks")  # with Triton, for a GPU

# Error codes of numpydoc that are not required.
EVERYWHERE = {
    "ES01",  # an extended summary: one sentence is often all there is to say
}
OF_PARTS = {  # methods, properties, exceptions, and records that other objects make
    "SA01",  # See Also
    "EX01",  # Examples
}
OF_PROPERTIES = {
    "RT01",  # Returns: a property is what its summary says
    "SS05",  # a summary that begins with a verb: a property is a noun
}


def public_objects() -> Iterator[tuple[str, Any]]:
    """Names of classes and functions, of public methods and properties, where they are defined; and what they are."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            item = getattr(module, name)
            if (inspect.isclass(item) or inspect.isfunction(item)) and item.__module__.startswith("ordsvm"):
                yield f"{item.__module__}.{item.__qualname__}", item
                if inspect.isclass(item):
                    yield from public_members(item)


def public_members(item: type) -> Iterator[tuple[str, Any]]:
    for kind in item.__mro__:
        if kind.__module__.startswith("ordsvm"):
            for name, member in vars(kind).items():
                found = getattr(kind, name)
                is_method = callable(found) and getattr(found, "__qualname__", "") == f"{kind.__qualname__}.{name}"
                if not name.startswith("_") and (is_method or isinstance(member, property)):
                    yield f"{kind.__module__}.{kind.__qualname__}.{name}", member


OBJECTS = dict(public_objects())


def not_required(item: Any) -> set[str]:
    is_part = not inspect.isclass(item) and "." in getattr(item, "__qualname__", ".")
    is_record = is_dataclass(item) and "__post_init__" not in vars(item)
    is_exception = inspect.isclass(item) and issubclass(item, Exception)
    codes = EVERYWHERE | (OF_PARTS if is_part or is_record or is_exception else set())
    return codes | (OF_PROPERTIES if isinstance(item, property) else set())


def faults(name: str) -> list[str]:
    found = validate(name)["errors"]
    return [f"{code}: {message}" for code, message in found if code not in not_required(OBJECTS[name])]


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_docstring_is_numpydoc(name):
    assert faults(name) == []


def test_modules_list_what_exists():
    for module in map(import_module, MODULES):
        assert module.__doc__
        assert all(hasattr(module, name) for name in module.__all__)


def documented_modules() -> list[str]:
    found = pkgutil.walk_packages(ordsvm.__path__, "ordsvm.")
    left_out = ("__main__", "._core") + (() if find_spec("triton") else FUSED)
    return [module.name for module in found if not module.name.endswith(left_out)]


@pytest.mark.parametrize("name", ["ordsvm", *documented_modules()])
def test_examples_print_what_they_say(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an example is a model to follow
        for example in doctest.DocTestFinder().find(import_module(name), name, globs={}):
            runner.run(example, out=report.append)
    pyplot.close("all")
    assert runner.failures == 0, "".join(report)
