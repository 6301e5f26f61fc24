"""Writes docs/walk.md: the files of the package that five calls pass through, in order, as a tracer sees them.

    python tools/walk.py

tests/test_walk.py fails where the page is not what this program would write.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from typer.testing import CliRunner

import ordsvm
from ordsvm import SVOR, LinearNPSVOR, OrdinalSearchCV
from ordsvm.cli.app import app
from ordsvm.datasets import load_diabetes_ranks

PACKAGE = Path(ordsvm.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "walk.md"

Step = tuple[str, str]  # a file, and the function of it that is called first


def traced(call: Callable[[], Any]) -> list[Step]:
    """Files of the package in the order in which a function of theirs is first called, in any thread."""
    found: dict[str, str] = {}

    def on_event(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        name = frame.f_code.co_name
        is_function = not name.startswith("<") and name != "__annotate__"  # no module, comprehension or annotation
        if event == "call" and is_function and file.startswith(str(PACKAGE)):
            found.setdefault(str(Path(file).relative_to(PACKAGE)), frame.f_code.co_qualname)

    before = sys.getprofile()
    threading.setprofile(on_event)
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return list(found.items())


def walks(folder: Path) -> dict[str, list[Step]]:
    """The steps of every call on data that scikit-learn ships, by how the call is written."""
    X, y = load_diabetes_ranks()
    rows = "".join(
        f"{label} " + " ".join(f"{j}:{x:.6g}" for j, x in enumerate(row, 1)) + "\n"
        for row, label in zip(X, y, strict=True)
    )
    (folder / "file.svm").write_text(rows)
    table = np.column_stack([X, y])
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "rank"])
    np.savetxt(folder / "table.csv", table, delimiter=",", header=header, comments="", fmt="%.6g")
    model = SVOR().fit(X, y)
    search = OrdinalSearchCV(SVOR(), {"C": [0.1, 1.0], "gamma": [0.05, 0.5]}, cv=2)
    return {
        "SVOR().fit(X, y)": traced(lambda: SVOR().fit(X, y)),
        "model.predict(X)": traced(lambda: model.predict(X)),
        'LinearNPSVOR().fit("file.svm")': traced(lambda: LinearNPSVOR().fit(str(folder / "file.svm"))),
        "OrdinalSearchCV(SVOR(), grid).fit(X, y)": traced(lambda: search.fit(X, y)),
        "ordsvm train table.csv --target rank -o model.ordsvm": traced(lambda: _train(folder)),
    }


def _train(folder: Path) -> None:
    arguments = ["train", str(folder / "table.csv"), "--target", "rank", "-o", str(folder / "model.ordsvm")]
    outcome = CliRunner().invoke(app, arguments)
    if outcome.exit_code != 0:
        raise RuntimeError(outcome.output)


def page() -> str:
    """The text of docs/walk.md."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = walks(Path(folder))
    lines = [
        "# Walks through the code",
        "",
        "The files of `src/ordsvm` that a call passes through, in the order in which a function of theirs is first",
        "called, with that function and what the file is about. Written by `python tools/walk.py`, which traces the",
        "calls; a test compares. That function is where the file is entered, not always the one that matters most in",
        "it: CONTRIBUTING.md has the fit step by step. These walks enter the core from `kernels/` (rows, their cache,",
        "scores), `rows/` (row blocks), `solvers/kernel/run.py` (`Run.native`), `solvers/kernel/full_kernel.py`,",
        "`solvers/linear/solve.py` and `solvers/linear/rank_dcd.py`; `cpp/README.md` is its map.",
    ]
    for call, steps in found.items():
        lines += ["", f"## `{call}`", "", f"{len(steps)} files.", ""]
        lines += [f"{number}. `{file}`: `{name}` — {_subject(file)}" for number, (file, name) in enumerate(steps, 1)]
    return "\n".join(lines) + "\n"


def _subject(file: str) -> str:
    """The first sentence of a file's docstring, or of its first class."""
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    text = ast.get_docstring(tree)
    for node in tree.body:
        if text is None and isinstance(node, ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
    first = " ".join((text or "").split("\n\n")[0].split())
    return first if first.endswith(".") else f"{first}."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
