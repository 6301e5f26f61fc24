"""What is public is documented: numpydoc accepts every docstring, and every example prints what it says."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
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
    "ordsvm.io",
    "ordsvm.kernels",
    "ordsvm.linear",
    "ordsvm.metrics",
    "ordsvm.model_selection",
    "ordsvm.plotting",
    "ordsvm.progress",
    "ordsvm.report",
    "ordsvm.solvers",
    "ordsvm.tables",
)

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

# Public objects whose docstrings are not complete yet. A name that becomes clean has to leave the set.
PENDING: set[str] = {
    "ordsvm.distributed.estimators.LinearNPSVOR",
    "ordsvm.distributed.estimators.LinearSVC",
    "ordsvm.distributed.estimators.LinearSVOR",
    "ordsvm.distributed.estimators.LinearSVR",
    "ordsvm.distributed.machine.DistributedMachine.decision_function",
    "ordsvm.distributed.machine.DistributedMachine.fit",
    "ordsvm.distributed.machine.DistributedMachine.predict",
    "ordsvm.estimators.certify.certify",
    "ordsvm.estimators.rounded.RoundedRegressor",
    "ordsvm.estimators.rounded.RoundedRegressor.decision_function",
    "ordsvm.estimators.rounded.RoundedRegressor.fit",
    "ordsvm.estimators.rounded.RoundedRegressor.predict",
    "ordsvm.formulations.linear.lane_table",
    "ordsvm.formulations.linear.threshold_table",
    "ordsvm.formulations.npsvor.npsvor",
    "ordsvm.formulations.svc.svc",
    "ordsvm.formulations.svr.svr",
    "ordsvm.formulations.threshold.cost_matrix",
    "ordsvm.formulations.threshold.cost_weights",
    "ordsvm.kernels.matrix.KernelMatrix",
    "ordsvm.kernels.matrix.KernelMatrix.cache",
    "ordsvm.kernels.matrix.KernelMatrix.of",
    "ordsvm.kernels.matrix.KernelMatrix.part",
    "ordsvm.kernels.matrix.KernelMatrix.product",
    "ordsvm.kernels.matrix.KernelMatrix.release_rows",
    "ordsvm.kernels.matrix.KernelMatrix.rounding",
    "ordsvm.result.FitResult",
    "ordsvm.result.FitResult.converged",
    "ordsvm.result.Progress",
    "ordsvm.solvers.control.Control",
    "ordsvm.solvers.kernel.decomposition.bounded_program.BoundedProgram",
    "ordsvm.solvers.kernel.decomposition.bounded_program.BoundedProgram.objective",
    "ordsvm.solvers.kernel.decomposition.bounded_program.BoundedProgram.problem",
    "ordsvm.solvers.kernel.decomposition.bounded_program.BoundedProgram.solve",
    "ordsvm.solvers.kernel.run.Solver",
    "ordsvm.solvers.kernel.run.Solver.solve",
    "ordsvm.solvers.kernel.run.solve",
    "ordsvm.solvers.linear.cocoa.CoCoA",
    "ordsvm.solvers.linear.cocoa.CoCoA.rho_for",
    "ordsvm.solvers.registry.check_solver",
    "ordsvm.solvers.solution.Solution",
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


@pytest.mark.parametrize("name", sorted(OBJECTS.keys() - PENDING))
def test_docstring_is_numpydoc(name):
    assert faults(name) == []


@pytest.mark.parametrize("name", sorted(PENDING))
def test_pending_docstring_is_public_and_not_clean_yet(name):
    assert faults(name) != [], f"{name} is clean: remove it from PENDING"


def test_modules_list_what_exists():
    for module in map(import_module, MODULES):
        assert module.__doc__
        assert all(hasattr(module, name) for name in module.__all__)


def documented_modules() -> list[str]:
    found = pkgutil.walk_packages(ordsvm.__path__, "ordsvm.")
    return [module.name for module in found if not module.name.endswith(("__main__", "._core"))]


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
