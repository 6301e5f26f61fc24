"""NPSVOR on random partitions of treebank and on that of the authors' files: why Table 4 has another error there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import train_test_split

from experiments.items import Item, Outcome, Records, Scope, Unit
from experiments.shi_2021 import linear, texts

SHARES = (0.7, 0.8)  # for training: the paper's, and that of the authors' files
NEAR = (0.5, 1.0, 2.0)
SEEDS = 3
PROTOCOL = (
    "Linear NPSVOR at C = 0.5, 1 and 2 without a search, on the authors' split and on random stratified partitions of "
    "the same rows, means over three. Not an experiment of the paper: it shows how much of the difference in Table 4 a "
    "partition and a step of C make."
)


def errors(share: float | None, seed: int) -> Outcome:
    """Errors at every C; the authors' own split where there is no share."""
    whole = texts.whole("treebank")
    if share is None:
        parts = texts.parts("treebank", 0)
    else:
        split = {"train_size": share, "random_state": seed, "stratify": whole.y}
        training, test = train_test_split(np.arange(len(whole.y)), **split)
        parts = whole.rows(training), whole.rows(test)
    found = [linear.tested("NPSVOR", {"C": C}, *parts)[1] for C in NEAR]
    return {metric: [outcome[metric] for outcome in found] for metric in ("mae", "mse")}


def _runs(share: float | None) -> list[str]:
    return [f"splits/{share}/{seed}" for seed in range(SEEDS if share is not None else 1)]


def units(done: Records, scope: Scope) -> Iterator[Unit]:
    for share in (None,) if scope.quick else (None, *SHARES):
        for seed, key in enumerate(_runs(share)):
            yield Unit(key, errors, {"share": share, "seed": seed}, (9,), 2.0)


def summary(done: Records, scope: Scope) -> Outcome:
    cells = []
    for share, name in {None: "authors' split", 0.7: "random, 70 %", 0.8: "random, 80 %"}.items():
        found = [done[key] for key in _runs(share) if key in done]
        for place, C in enumerate(NEAR):
            for metric in ("mae", "mse") if found else ():
                values = [outcome[metric][place] for outcome in found]
                cell = {"dataset": name, "method": f"C = {C:g}", "metric": metric, "value": float(np.mean(values))}
                cells.append(cell | {"trials": len(values)})
    return {"data": "treebank, the authors' features.", "protocol": PROTOCOL, "cells": cells}


ITEM = Item("NPSVOR on partitions of treebank", units, summary)
