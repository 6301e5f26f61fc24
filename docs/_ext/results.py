"""Figures of `benchmarks/results` in pages: the role and the directives that show them (figures.py reads the files).

    {result}`peers | svor-california-5000-C1: training, REDSVM (skordinal) / ours | .0f`

is the figure of that claim, by that format; a fourth part names another field of the row; `least of` and `most of` some
words take all claims with these. The directive `results` makes a table of all claims of a file, `benchmark-pages` one
section for every file.
"""

from __future__ import annotations

import json
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from figures import FOLDER, rows, shown
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole


class ResultRole(SphinxRole):
    """The role `result`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            return [nodes.Text(shown(self.text))], []
        except (KeyError, ValueError, OSError) as error:
            message = self.inliner.reporter.error(f"result: {error}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]


class ResultsTable(SphinxDirective):
    """The directive `results`: all claims of a file, or those that contain `:match:`, as a table."""

    required_arguments = 1
    option_spec: ClassVar = {"match": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        name, match = self.arguments[0], self.options.get("match", "")
        self.env.note_dependency(str(FOLDER / f"{name}.json"))
        return self.parse_text_to_nodes("\n".join(_table(name, match)))


class BenchmarkPages(SphinxDirective):
    """The directive `benchmark-pages`: a section with command, date, machine and table for every results file."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for file in sorted(FOLDER.glob("*.json")):
            self.env.note_dependency(str(file))
            document = json.loads(file.read_text(encoding="utf-8"))
            machine = document["machine"]
            lines += [f"## {file.stem}", "", f"`{document['command']}`, {document['date']}, {machine['cpu']}, "]
            lines += [f"{machine['cores']} cores.", "", *_table(file.stem, ""), ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _table(name: str, match: str) -> list[str]:
    lines = ["| | figure | bound | |", "|---|---:|---|---|"]
    for claim, row in rows(name).items():
        if match in claim:
            met = {True: "met", False: "missed", None: ""}[row["met"]]
            lines.append(f"| {_plain(claim)} | {_number(row['figure'])} | {_plain(row['bound'] or '')} | {met} |")
    return lines


def _number(figure: float | None) -> str:
    return "" if figure is None or figure != figure else f"{figure:,.4g}"


def _plain(text: str) -> str:
    for character in "\\|*_<>`$":
        text = text.replace(character, "\\" + character)
    return text


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("result", ResultRole())
    app.add_directive("results", ResultsTable)
    app.add_directive("benchmark-pages", BenchmarkPages)
    return {"parallel_read_safe": True}
