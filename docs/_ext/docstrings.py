"""Docstrings are plain text: trailing underscores (`coef_`) and bars (|x|) are no markup of reStructuredText there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``|`.*?`_?|:\w+:`.*?`)")
UNDERSCORE = re.compile(r"(?<=\w)_(?![\w`])")
TERM = re.compile(r":term:`(.*?)`")  # of scikit-learn's glossary, in what is inherited
BAR = re.compile(r"\|")


def escape(line: str) -> str:
    """A line with underscores at the end of words and bars escaped, but for what is within backquotes."""
    if line.lstrip().startswith((">>>", "...", "..")):
        return line
    parts = LITERAL.split(TERM.sub(r"\1", line))
    return "".join(part if i % 2 else BAR.sub(r"\|", UNDERSCORE.sub(r"\_", part)) for i, part in enumerate(parts))


def escaped(lines: list[str]) -> Iterator[str]:
    """All lines; literal blocks, which follow a double colon and are indented, stay as they are."""
    literal: int | None = None  # the indentation of the line with the double colon
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        yield line if literal is not None else escape(line)
        if literal is None and line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            literal = indent


def escape_all(app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]) -> None:
    """After numpydoc, which has made reStructuredText of the sections."""
    lines[:] = list(escaped(lines))


def skip_foreign(app: Sphinx, what: str, name: str, item: object, skip: bool, options: object) -> bool | None:
    """Members that other packages define are documented there."""
    maker = item.fget if isinstance(item, property) else item
    return True if (getattr(maker, "__module__", None) or "ordsvm").split(".")[0] == "sklearn" else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape_all, priority=900)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True}
