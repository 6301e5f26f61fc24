"""Files that comments, docstrings and pages name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GENERATED = tuple(ROOT / "docs" / folder for folder in ("_build", "gallery", "api"))  # by make docs
TEXTS = [
    file
    for folder in ("src", "cpp", "tests/reference", "docs", "benchmarks", "experiments")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in (".py", ".md", ".hpp", ".cpp") and not any(file.is_relative_to(made) for made in GENERATED)
]
PATH = re.compile(r"\b(?:cpp|src/ordsvm|tests|tools|docs)/[\w/]+\.(?:hpp|cpp|py|md)\b")
EXAMPLES = {"src/ordsvm/solvers/kernel/cyclic.py", "cpp/solvers/NAME.hpp"}  # of the guides


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_named_files_are_there(file):
    named = set(PATH.findall(file.read_text(encoding="utf-8"))) - EXAMPLES
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
