"""Measures of the package's structure, each beside its bound.

    python tools/house.py

Counts come from the syntax trees of src/ordsvm, traces from four calls on data that scikit-learn ships. The exit status
is 1 where a bound is exceeded; `tests/test_house.py` keeps the bounds that are met.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ordsvm"
SHORT = 3  # lines of a body, docstring aside
LABEL_TABLES = {"LaneTable", "ThresholdTable", "LabelTable"}
DEVICE_PACKAGES = {"torch", "triton"}


class Measure(NamedTuple):
    """A figure of the package, and what it may be at most."""

    name: str
    figure: float
    most: float


class Trace(NamedTuple):
    """What a call passes through: files and functions of the package, and how often control moves to another file."""

    files: int
    functions: int
    changes: int


def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of every module, by its path below the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def nodes(modules: dict[str, ast.Module], *kinds: type[ast.AST]) -> Iterator[tuple[str, Any]]:
    """Yield the nodes of these kinds, each with the path of its module."""
    for path, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield path, node


def comparing(modules: dict[str, ast.Module], name: str) -> set[str]:
    """Return the modules that compare something of this name."""
    return {
        path
        for path, node in nodes(modules, ast.Compare)
        if any(_called(part) == name for part in (node.left, *node.comparators))
    }


def setting_a_status(modules: dict[str, ast.Module]) -> set[str]:
    """Return the modules that assign an attribute `status`, or make a status of the core that ends a fit."""
    found = set()
    for path, node in nodes(modules, ast.Assign):
        targets = [
            part for target in node.targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        if any(isinstance(part, ast.Attribute) and part.attr == "status" for part in targets):
            found.add(path)
    for path, node in nodes(modules, ast.Return, ast.Raise, ast.Call):
        value = node.value if isinstance(node, ast.Return) else node.exc if isinstance(node, ast.Raise) else None
        parts = node.args if isinstance(node, ast.Call) else [value]
        if any(isinstance(part, ast.Attribute) and _called(part.value) == "Status" for part in parts):
            found.add(path)
    return found


def isinstance_of(modules: dict[str, ast.Module], names: set[str], own: Callable[[str], bool]) -> int:
    """Count the calls of isinstance with one of these classes in modules that are not their own."""
    count = 0
    for path, call in nodes(modules, ast.Call):
        if _called(call.func) == "isinstance" and len(call.args) == 2 and not own(path):
            count += bool(names & {_called(part) for part in ast.walk(call.args[1])})
    return count


def solver_classes(modules: dict[str, ast.Module]) -> dict[str, str]:
    """Return the classes in solvers/ that have a name to choose them by, with that name."""
    found = {}
    for path, node in nodes(modules, ast.ClassDef):
        if path.startswith("solvers/"):
            for item in node.body:
                target = (
                    item.target
                    if isinstance(item, ast.AnnAssign)
                    else item.targets[0]
                    if isinstance(item, ast.Assign)
                    else None
                )
                if _called(target) == "name" and isinstance(item.value, ast.Constant):
                    found[node.name] = str(item.value.value)
    return found


def short_share(modules: dict[str, ast.Module]) -> float:
    """Return the share of functions whose body has at most `SHORT` lines, docstring aside."""
    short = total = 0
    for _, node in nodes(modules, ast.FunctionDef, ast.AsyncFunctionDef):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
        short += lines <= SHORT
        total += 1
    return short / total


def numeric_constants(modules: dict[str, ast.Module]) -> int:
    """Count the numbers that are given a name at the level of a module."""
    count = 0
    for tree in modules.values():
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                count += sum(_is_number(value) for value in values)
    return count


def _is_number(node: ast.expr) -> bool:
    """Return True for a number, or an expression of numbers alone."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr)]
    allowed = (ast.Constant, ast.UnaryOp, ast.BinOp)
    is_arithmetic = all(isinstance(part, allowed) for part in parts)
    numbers = [part for part in parts if isinstance(part, ast.Constant)]
    return is_arithmetic and all(
        isinstance(part.value, int | float) and not isinstance(part.value, bool) for part in numbers
    )


def device_folders(modules: dict[str, ast.Module]) -> set[str]:
    """Return the folders with a module that imports torch or Triton."""
    found = set()
    for path, node in nodes(modules, ast.Import, ast.ImportFrom):
        names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else {node.module or ""}
        if {name.split(".")[0] for name in names} & DEVICE_PACKAGES:
            found.add(path.rpartition("/")[0])
    return found


def _called(node: Any) -> str:
    """Return the last part of a dotted name, or an empty text."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def traced(call: Callable[[], Any]) -> Trace:
    """Return what a call passes through, in any of its threads."""
    files: set[str] = set()
    functions: set[tuple[str, str]] = set()
    changes, last = 0, ""

    def on_event(frame: FrameType, event: str, _: Any) -> None:
        nonlocal changes, last
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<") or not code.co_filename.startswith(str(PACKAGE)):
            return
        files.add(code.co_filename)
        functions.add((code.co_filename, code.co_qualname))
        changes += code.co_filename != last
        last = code.co_filename

    threading.setprofile(on_event)
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Trace(len(files), len(functions), changes)


def traces() -> dict[str, Trace]:
    """Return the traces of a kernel fit, a linear fit, a search and the command that trains."""
    import numpy as np
    from typer.testing import CliRunner

    from ordsvm import SVOR, LinearSVOR, OrdinalSearchCV
    from ordsvm.cli.app import app
    from ordsvm.datasets import load_diabetes_ranks

    X, y = load_diabetes_ranks()
    search = OrdinalSearchCV(SVOR(), {"C": [0.1, 1.0], "gamma": [0.05, 0.5]}, cv=2)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "rank"])
        table = Path(folder) / "table.csv"
        np.savetxt(table, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.6g")
        arguments = ["train", str(table), "--target", "rank", "-o", str(Path(folder) / "model.ordsvm")]
        return {
            "SVOR().fit": traced(lambda: SVOR().fit(X, y)),
            "LinearSVOR().fit": traced(lambda: LinearSVOR().fit(X, y)),
            "a search": traced(lambda: search.fit(X, y)),
            "ordsvm train": traced(lambda: CliRunner().invoke(app, arguments)),
        }


def static_measures() -> list[Measure]:
    """Return the measures that are read off the source."""
    import ordsvm

    modules = trees()
    solvers = solver_classes(modules)
    classes = Counter(node.name for _, node in nodes(modules, ast.ClassDef))
    recorders = [path for path, call in nodes(modules, ast.Call) if _called(call.func) == "Recorder"]
    repeated = [name for name, count in Counter(solvers.values()).items() if count > 1]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py"))
    return [
        Measure("modules that compare max_iter", len(comparing(modules, "max_iter")), 2),
        Measure("modules that set a status", len(setting_a_status(modules)), 2),
        Measure("places that make a Recorder", len(recorders), 1),
        Measure("isinstance of label tables", isinstance_of(modules, LABEL_TABLES, lambda path: False), 0),
        Measure(
            "isinstance of concrete solvers outside solvers/",
            isinstance_of(modules, set(solvers), lambda path: path.startswith("solvers/") and path.count("/") > 1),
            0,
        ),
        Measure("share of functions of three lines or fewer", round(short_share(modules), 3), 0.35),
        Measure("numeric constants at the level of a module", numeric_constants(modules), 280),
        Measure("class names used twice or more", sum(count > 1 for count in classes.values()), 0),
        Measure("solver names used twice or more", len(repeated), 0),
        Measure("folders with a module that imports torch or Triton", len(device_folders(modules)), 1),
        Measure("lines of Python", lines, 39_500),
        Measure("names in ordsvm.__all__", len(ordsvm.__all__), 36),
    ]


def traced_measures() -> list[Measure]:
    """Return the measures of four traced calls."""
    found = traces()
    fit = found["SVOR().fit"]
    return [
        Measure("files of SVOR().fit", fit.files, 14),
        Measure("functions of SVOR().fit", fit.functions, 90),
        Measure("changes of file of SVOR().fit", fit.changes, 60),
        Measure("files of LinearSVOR().fit", found["LinearSVOR().fit"].files, 18),
        Measure("files of a search", found["a search"].files, 28),
        Measure("files of ordsvm train", found["ordsvm train"].files, 40),
    ]


def main() -> int:
    """Print every measure; return 1 where one exceeds its bound."""
    measures = static_measures() + traced_measures()
    for measure in measures:
        mark = "" if measure.figure <= measure.most else "  exceeds"
        print(f"{measure.name:52} {measure.figure:>9,g} {measure.most:>9,g}{mark}")
    return int(any(measure.figure > measure.most for measure in measures))


if __name__ == "__main__":
    sys.exit(main())
