"""What an experiment is made of: items (a table or figure of a paper), each a plan of units of work."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAPERS = ("chu_keerthi_2007", "gu_2018", "gu_2020", "manno_2018", "shi_2021")

Outcome = dict[str, Any]  # of a unit, as JSON keeps it
Records = Mapping[str, Outcome]  # of finished units, by their keys


@dataclass(frozen=True)
class Scope:
    """How much of an item.

    trials     per cell at most
    quick      a small version that shows that everything runs
    only       patterns of the keys of the units that are run; all, where there is none
    device     of the searches of items that have one
    """

    trials: int = 20
    quick: bool = False
    only: tuple[str, ...] = ()
    device: str | None = None

    def has(self, key: str) -> bool:
        return not self.only or any(fnmatchcase(key, pattern) for pattern in self.only)


@dataclass(frozen=True)
class Unit:
    """The least piece of work that is kept: a trial, or a part of a search.

    key        its name in the records: it says all that the outcome depends on
    function   a function of a module, run in a process of its own
    arguments  of the function; None where they depend on units that have not ended
    urgency    units of the lowest run first
    cost       expected seconds, for the estimate of the time left
    """

    key: str
    function: Callable[..., Outcome]
    arguments: Mapping[str, Any] | None
    urgency: tuple[int, ...] = (0,)
    cost: float = 1.0


@dataclass(frozen=True)
class Item:
    """A table or figure.

    title      what the paper shows there
    units      all units of the item, given the records so far
    summary    "data", "protocol" and "cells" of results.json, of the records so far; entries that begin with "_" are
               for the picture alone
    draw       fills the file with a picture of what `summary` returned
    alone      whether units take times, so that one runs at a time
    has_device whether its searches run where `Scope.device` says
    remarks    texts about what results.json then has, with what was kept of it
    """

    title: str
    units: Callable[[Records, Scope], Iterable[Unit]]
    summary: Callable[[Records, Scope], Outcome]
    draw: Callable[[Outcome, Path], None] | None = None
    alone: bool = False
    has_device: bool = False
    remarks: Callable[[Outcome], list[str]] | None = None


def items_of(paper: str) -> dict[str, Item]:
    """The items of a paper, by their names; `claims`, small measurements that decide its claims, among them."""
    claims = importlib.import_module(f"experiments.{paper}.claims").ITEM
    return {**importlib.import_module(f"experiments.{paper}").ITEMS, "claims": claims}
