"""Small measurements that decide claims of a paper: functions that return figures by name, together one item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from experiments.items import Item, Outcome, Records, Scope, Unit

Figures = dict[str, float]
Measurement = Callable[[bool], Figures]  # of whether a small version will do


def item(title: str, data: str, measurements: Sequence[Measurement], alone: bool = False) -> Item:
    """An item whose cells are {"key": "MEASUREMENT: FIGURE", "value": ...}, a unit for every measurement."""

    def units(records: Records, scope: Scope) -> Iterable[Unit]:
        for measurement in measurements:
            yield Unit(key_of(measurement), measurement, {"quick": scope.quick}, cost=20.0)

    def summary(records: Records, scope: Scope) -> Outcome:
        ended = [measurement for measurement in measurements if key_of(measurement) in records]
        cells = [cell for measurement in ended for cell in cells_of(measurement, records[key_of(measurement)])]
        protocol = {measurement.__name__: " ".join((measurement.__doc__ or "").split()) for measurement in ended}
        return {"data": data, "protocol": protocol, "cells": cells}

    return Item(title, units, summary, alone=alone)


def key_of(measurement: Measurement) -> str:
    return f"claims/{measurement.__name__}"


def cells_of(measurement: Measurement, outcome: Mapping[str, float]) -> list[dict[str, object]]:
    """The seconds that a unit took are no figure."""
    name = measurement.__name__
    return [{"key": f"{name}: {figure}", "value": value} for figure, value in outcome.items() if figure != "seconds"]


def random_ranks(seed: int, n: int = 40, n_ranks: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Three standard normal columns; ranks of random sizes, each at least 2, of a noisy linear score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X @ rng.normal(size=3) + rng.uniform(0.2, 3.0) * rng.normal(size=n)
    sizes = 2 + rng.multinomial(n - 2 * n_ranks, rng.dirichlet(np.ones(n_ranks)))
    y = np.empty(n, dtype=np.int64)
    y[np.argsort(score)] = np.repeat(np.arange(n_ranks), sizes)
    return X, y


def halves(X: np.ndarray, y: np.ndarray, seed: int, n_training: int) -> tuple[np.ndarray, ...]:
    """Training and test rows of a random partition; the test part has at most 2,000."""
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = order[:n_training], order[n_training : n_training + 2000]
    return X[first], y[first], X[second], y[second]
