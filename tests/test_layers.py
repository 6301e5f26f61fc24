"""Imports go one way: import-linter's contracts in pyproject.toml hold, and break where an import goes the other."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "ordsvm"
USERS = ("cli", "demo")  # what stands above the package takes its public names from it

# The sources are found on the path that is given, not by the finder of an editable install.
LINT = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.endswith("RedirectingFinder")]
sys.path.insert(0, sys.argv[1])
from importlinter.cli import lint_imports
sys.exit(lint_imports(config_filename=sys.argv[2], no_cache=True))
"""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", LINT, str(folder / "src"), str(folder / "pyproject.toml")]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(arguments, capture_output=True, text=True, cwd=folder, env=environment, check=False)


@pytest.fixture
def copy(tmp_path):
    """The Python sources and the contracts, to be changed."""
    shutil.copytree(SOURCES, tmp_path / "src" / "ordsvm", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_go_one_way():
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        (
            "problem/hinges.py",
            "from ordsvm.estimators import SVOR",
            "problem is not allowed to import ordsvm.estimators",
        ),
        ("solvers/auto.py", "from ordsvm import formulations", "solvers is not allowed to import ordsvm.formulations"),
        ("formulations/svc.py", "import ordsvm.solvers", "formulations is not allowed to import ordsvm.solvers"),
        ("kernels/kernels.py", "from ordsvm.solvers import SMO", "kernels is not allowed to import ordsvm.solvers"),
        ("problem/labels.py", "from ordsvm.metrics import SCORERS", "problem is not allowed to import ordsvm.metrics"),
    ],
)
def test_an_import_against_the_direction_is_found(copy, module, line, broken):
    path = copy / "src" / "ordsvm" / module
    path.write_text(f"{path.read_text()}\n\ndef late():\n    {line}\n")
    result = lint(copy)
    assert result.returncode == 1
    assert broken in " ".join(result.stdout.split())


def test_no_layer_is_forgotten(copy):
    (copy / "src" / "ordsvm" / "attic.py").write_text('"""New."""\n')
    result = lint(copy)
    assert result.returncode == 1
    assert "ordsvm.attic" in result.stdout


def test_modules_come_with_the_package_and_are_imported_when_they_are_asked_for():
    program = """
import sys
import ordsvm
later = ["distributed", "evaluation", "inspection", "linear", "plotting", "progress", "report", "tables", "text"]
heavy = ["matplotlib", "dask", "jinja2", "torch"]
print([name for name in later if name not in dir(ordsvm)], [name for name in heavy if name in sys.modules])
print(ordsvm.tables.TableModel.__name__, ordsvm.inspection.explain.__name__, ordsvm.evaluation.evaluate.__name__)
print(ordsvm.plotting.SearchDisplay.__name__, hasattr(ordsvm, "nothing"))
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == ["[] []", "TableModel explain evaluate", "SearchDisplay False"]


def names_from_the_package(path: Path) -> set[str]:
    """What a module takes from `ordsvm` itself: `from ordsvm import NAME`, or all of it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "ordsvm" and node.level == 0:
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name == "ordsvm"}
    return found


def test_modules_below_do_not_take_names_from_the_package():
    """An import of `ordsvm` runs all of it: import-linter can't tell which names a module takes from there."""
    folders = {path.name for path in SOURCES.iterdir() if path.is_dir()}
    modules = {"_core", *folders, *(path.stem for path in SOURCES.glob("*.py"))}
    for path in SOURCES.rglob("*.py"):
        top = path.relative_to(SOURCES).parts[0].removesuffix(".py")
        if top not in USERS and path != SOURCES / "__init__.py":
            assert names_from_the_package(path) <= modules, path
