"""docs/walk.md is what a tracer sees: files in order, none typed by hand."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_FILES_OF_A_FIT = 14


def test_the_page_is_what_the_tracer_sees():
    """In a process of its own: what earlier tests have cached would not be called again."""
    code = "from tools.walk import page; print(page(), end='')"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    written = (ROOT / "docs" / "walk.md").read_text(encoding="utf-8")
    assert found == written, "docs/walk.md is out of date: run python tools/walk.py"


def test_a_fit_passes_through_few_files():
    page = (ROOT / "docs" / "walk.md").read_text(encoding="utf-8")
    n_files = int(re.search(r"## `SVOR\(\)\.fit\(X, y\)`\n\n(\d+) files", page).group(1))
    assert n_files <= MOST_FILES_OF_A_FIT
