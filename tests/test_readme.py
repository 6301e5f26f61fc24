"""README.md: short, its table is that of the results, and what it refers to is there."""

import re
from pathlib import Path

from tools.readme_table import with_table

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 120


def test_its_table_is_that_of_the_results():
    assert with_table(TEXT) == TEXT, "README.md is out of date: run python tools/readme_table.py"


def test_its_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)#]+)", TEXT)
    assert [target for target in targets if not (ROOT / target).exists()] == []
