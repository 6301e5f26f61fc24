"""Functions of the examples, without running these: examples are scripts from top to bottom."""

import ast
from pathlib import Path
from types import SimpleNamespace

EXAMPLES = Path(__file__).parent.parent / "examples"


def functions_of(name):
    """The functions of examples/NAME, which may use what it imports and its other functions."""
    file = EXAMPLES / name
    parts = (ast.Import, ast.ImportFrom, ast.FunctionDef)
    body = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, parts)]
    namespace = {}
    exec(compile(ast.Module(body, type_ignores=[]), str(file), "exec"), namespace)
    return SimpleNamespace(**{node.name: namespace[node.name] for node in body if isinstance(node, ast.FunctionDef)})
