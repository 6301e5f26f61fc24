"""Markdown files outside of docs as pages: links that hold in the repository become links that hold in the manual."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
PAPER = re.compile(r"\]\(\.\./experiments/(\w+)/README\.md\)")
BESIDE = re.compile(r"\]\((\w+\.json)\)")


def to_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """A page evidence/papers/NAME is experiments/NAME/README.md; links to that lead to the page."""
    folder, _, paper = name.rpartition("/")
    if folder == "evidence/papers":
        text = (EXPERIMENTS / paper / "README.md").read_text(encoding="utf-8")
        text = BESIDE.sub(rf"](../../../experiments/{paper}/\1)", text)
        source[0] = text.replace("](../../docs/", "](../../")
    elif not folder:
        source[0] = PAPER.sub(r"](evidence/papers/\1.md)", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", to_pages)
    return {"parallel_read_safe": True}
