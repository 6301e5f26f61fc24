"""What a person or a script sees: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ordsvm.cli.words import by_options

WIDE = 120  # columns of a file or pipe, which has none of its own


def _width(stream: TextIO | None) -> int | None:
    """Return None for a terminal, whose width rich asks for."""
    return None if stream is not None and stream.isatty() else WIDE


out = Console(highlight=False, width=_width(sys.stdout))
err = Console(stderr=True, highlight=False, width=_width(sys.stderr))


class Interrupted(Exception):
    """The user has ended a command by Ctrl-C; the text says what became of the work."""


class Messages:
    """Errors and notes, a line each on standard error: for a reader or, with --json, a JSON object."""

    def __init__(self) -> None:
        self.as_json = False

    def complain(self, message: str, exit_code: int) -> None:
        self._say("bold red", "ordsvm:", {"error": by_options(_one_line(message)), "exit_code": exit_code})

    def note(self, message: str) -> None:
        self._say("yellow", "note:", {"note": by_options(_one_line(message))})

    def _say(self, style: str, sign: str, said: dict[str, Any]) -> None:
        if self.as_json:
            print(_dumped(said, sys.stderr), file=sys.stderr, flush=True)
        else:
            err.print(f"[{style}]{sign}[/{style}] {escape(next(iter(said.values())))}", soft_wrap=True)


messages = Messages()


def _one_line(message: str) -> str:
    return " ".join(message.split())


def note(message: str) -> None:
    messages.note(message)


def as_json(value: Any) -> str:
    """Strict JSON: arrays are lists, numbers that are not finite are null."""
    return _dumped(_plain(value), sys.stdout, indent=2)


def can_hold(stream: TextIO, text: str) -> bool:
    """Return True if the encoding of a stream has all signs of the text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _dumped(value: Any, stream: TextIO, indent: int | None = None) -> str:
    """Return JSON with the signs as they are, or escaped as JSON has it where the stream can't hold them."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text if can_hold(stream, text) else json.dumps(value, indent=indent)


def print_json(value: Any) -> None:
    print(as_json(value))


def facts(rows: dict[str, str], title: str | None = None) -> Table:
    """Two columns: what, and how much."""
    table = Table(box=None, show_header=False, pad_edge=False, title=title, title_justify="left", title_style="bold")
    table.add_column(style="dim")
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, escape(value))
    return table


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
