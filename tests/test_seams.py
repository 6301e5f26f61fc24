"""The seams of the house: what only one place may do, found by reading the source."""

import ast
import inspect
from pathlib import Path

import pytest

import ordsvm
from ordsvm import estimators

PACKAGE = Path(ordsvm.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_CLASSES_BETWEEN = 3
MODELS = [
    kind
    for name, kind in vars(estimators).items()
    if name in estimators.__all__ and inspect.isclass(kind) and not name.startswith("Nystroem")  # these: below
]


def names(file: Path) -> str:
    return str(file.relative_to(PACKAGE))


def calls_of(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def private_methods() -> set[str]:
    """Those of the classes in estimators/."""
    found: set[str] = set()
    for file in (file for file in FILES if names(file).startswith("estimators")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                found |= {name for name in methods if name.startswith("_") and not name.startswith("__")}
    return found


@pytest.mark.parametrize("file", [file for file in FILES if not names(file).startswith("estimators")], ids=names)
def test_nothing_outside_calls_a_private_method_of_an_estimator(file):
    methods = private_methods()
    for call in calls_of(ast.parse(file.read_text(encoding="utf-8"))):
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in methods:
            owner = ast.unparse(function.value)
            assert owner in ("self", "cls", "super()"), f"{names(file)}:{call.lineno}: {owner}.{function.attr}"


@pytest.mark.parametrize("file", FILES, ids=names)
def test_only_the_recorder_makes_progress_and_results(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "ordsvm.result"]
    results = {item.asname or item.name for node in imports for item in node.names}
    made = [call.lineno for call in calls_of(tree) if isinstance(call.func, ast.Name) and call.func.id in results]
    assert not made or names(file) == "solvers/recorder.py"


@pytest.mark.parametrize("file", FILES, ids=names)
def test_only_auto_decides_what_auto_is(file):
    """A comparison with the string is in solvers/auto.py alone; gamma="auto" is another matter."""
    lines = file.read_text(encoding="utf-8").splitlines()
    decides = [n for n, line in enumerate(lines, 1) if "solver" in line and '== "auto"' in line]
    assert not decides or names(file) == "solvers/auto.py"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_few_classes_lie_between_a_model_and_scikit_learn(model):
    stand_in = "CallbackSupportMixin"  # for a class of scikit-learn, before 1.9
    own = [kind for kind in model.__mro__[1:] if kind.__module__.startswith("ordsvm")]
    between = [kind for kind in own if kind.__name__ != stand_in]
    assert len(between) <= MOST_CLASSES_BETWEEN, [kind.__name__ for kind in between]


def test_a_distributed_model_adds_one_class_to_the_model():
    from ordsvm import distributed

    for name in ("LinearSVOR", "LinearNPSVOR", "LinearSVC", "LinearSVR"):
        added = set(getattr(distributed, name).__mro__) - set(getattr(ordsvm, name).__mro__)
        assert len(added) == 2  # the model itself, and what makes it distributed


def test_a_nystroem_model_adds_one_class_to_the_linear_model():
    for name in ("SVOR", "NPSVOR", "SVC", "SVR"):
        added = set(getattr(ordsvm, f"Nystroem{name}").__mro__) - set(getattr(ordsvm, f"Linear{name}").__mro__)
        assert len(added) == 2  # the model itself, and what makes its features
