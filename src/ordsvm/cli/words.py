"""Remedies in the words of the command line: options where the library names arguments of Python."""

from __future__ import annotations

import ast
import re
import shlex

from ordsvm.cli.machines import option_name, parameter_options

ORDER = re.compile(r"pass categories=\[\.\.\.\], lowest first, or an ordered pandas Categorical or polars Enum")
DROP = re.compile(r"X\.drop\(columns=(\[[^\]]*\])\)")
GIVE = re.compile(r"\b([Gg]ive|and) (\w+)='([^']*)'")


def by_options(text: str) -> str:
    """A message of the library as one of the commands."""
    text = ORDER.sub('give --order "low,medium,high", lowest first', text)
    text = DROP.sub(_drop, text)
    return GIVE.sub(_give, text)


def _give(found: re.Match[str]) -> str:
    verb, name, value = found.groups()
    return f"{verb} {option_name(name)} {value}" if name in parameter_options() else found[0]


def _drop(found: re.Match[str]) -> str:
    return " ".join(f"--drop {shlex.quote(str(name))}" for name in ast.literal_eval(found[1]))
