"""Findings at the end of a training, in its file, and by a command."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from ordsvm.cli.training import TrainingJob
from ordsvm.cli.words import by_options
from ordsvm.diagnosis import diagnose
from ordsvm.findings import Findings
from ordsvm.tables import TableModel


def findings_of_training(model: TableModel, job: TrainingJob) -> Findings:
    """What the rows that a model was trained on say against it."""
    return diagnose(model, *job.data.take(job.train))


def plain(found: Findings) -> list[dict[str, Any]]:
    """For JSON."""
    return [vars(finding) | {"remedy": by_options(finding.remedy)} for finding in found]


def in_file(found: Findings) -> list[dict[str, str]]:
    """For a model file: texts only."""
    return [{"name": each.name, "sentence": each.sentence, "remedy": each.remedy} for each in found]


def findings_list(found: Findings) -> Group:
    """For a reader: a paragraph for every finding, and what to do about it."""
    parts: list[Any] = []
    for finding in found:
        parts.append(Text.from_markup(f"\n[yellow]{escape(finding.name)}[/yellow]"))
        parts.append(Padding(Text(finding.sentence), (0, 0, 0, 2)))
        parts.append(Padding(Text(f"→ {by_options(finding.remedy)}", style="bold"), (0, 0, 0, 2)))
    return Group(*parts)
