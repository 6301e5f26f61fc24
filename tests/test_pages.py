"""The manual's lines run: every block of Python and every command of a page, in a folder of its own, top to bottom.

A console block holds commands after `$ `; lines without it are what they print. Figures come from the results files.
"""

import ast
import re
import shlex
import sys
import warnings
from pathlib import Path

import matplotlib
import pytest

from ordsvm.cli.app import run

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from figures import shown  # noqa: E402

SECTIONS = ("start", "guide", "mathematics", "solvers", "evidence", "contributing")
PAGES = [
    ROOT / "README.md",
    DOCS / "index.md",
    DOCS / "checkpoints.md",
    DOCS / "add_a_kernel.md",
    DOCS / "nystroem.md",
    DOCS / "add_a_formulation.md",
]
PAGES += [page for section in SECTIONS for page in sorted((DOCS / section).glob("*.md"))]
SLOW = {"docs/guide/cluster.md", "docs/guide/gpu.md"}
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
FIGURE = re.compile(r"\{result\}`([^`]+)`")

matplotlib.use("agg")


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(text):
    """The commands of a console block that are this library's; a backslash goes on in the next line."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line[2:], comments=True) for line in lines if line.startswith("$ ordsvm ")]


def cases():
    for page in PAGES:
        if blocks(page):
            name = str(page.relative_to(ROOT))
            yield pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.mark.parametrize("page", list(cases()))
def test_the_lines_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for number, (language, text) in enumerate(blocks(page), 1):
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(text, f"{page.name}, block {number}", "exec"), namespace)
        else:
            for command in commands(text):
                assert run(command[1:]) == 0, command


def test_figures_of_pages_are_there():
    """The role `result` names a file of benchmarks/results and a claim in it."""
    for page in sorted(DOCS.rglob("*.md")):
        for text in FIGURE.findall(page.read_text(encoding="utf-8")):
            assert shown(" ".join(text.split())), page


def test_no_role_is_cut_by_a_table():
    r"""In a row of a table `|` ends a cell, also within a role, which then shows as it was written: `\\|` is meant."""
    cut = re.compile(r"\{[\w-]+\}`(?:\\\||[^`|])*(?<!\\)\|")
    assert cut.search("| a | {result}`peers | median` |")
    assert cut.search(r"| a | {result}`peers \| median | .0f` |")
    assert not cut.search(r"| a | {result}`peers \| median` | b | {result}`peers \| median \| .0f` |")
    rows = [(page, line) for page in sorted(DOCS.rglob("*.md")) for line in page.read_text("utf-8").splitlines()]
    assert [(page.name, line) for page, line in rows if line.startswith("|") and cut.search(line)] == []


def test_figures_of_several_claims_and_in_tables(monkeypatch):
    rows = {"a: passes": {"figure": 8, "seconds": 3.0}, "b: passes": {"figure": 24, "seconds": 1.0}, "b": {"figure": 9}}
    monkeypatch.setattr("figures.rows", lambda name: rows)
    assert shown("tall | least of passes") == "8"
    assert shown(r"tall \| most of passes \| .1f") == "24.0"
    assert shown("tall | most of passes | .0f | seconds") == "3"
    for claim in ("passes", "least of steps"):
        with pytest.raises(KeyError, match="no claim"):
            shown(f"tall | {claim}")


def messages():
    """All texts of the library, with … for what is filled in."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_messages_of_the_troubleshooting_page_are_the_library_s():
    texts = "\n".join(messages())
    page = (DOCS / "guide" / "troubleshooting.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `([^`]+)` \|", page, re.M)
    assert len(found) > 40
    assert [message for message in found if message not in texts] == []
