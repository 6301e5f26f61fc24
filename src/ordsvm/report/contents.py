"""What the report shows: predictions with what is known about each, and the mistakes that cost most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.costs import cost_matrix
from ordsvm.data.frames import TableModel
from ordsvm.evaluation import Evaluation, evaluate
from ordsvm.labels import label_array, rank_codes

SHOWN = 200  # mistakes
CELLS = 6  # columns of the data that stand beside a mistake
LETTERS = 160  # of a cell


@dataclass(frozen=True, eq=False)
class Judged:
    """A model's answers for rows whose labels are known.

    score is None where a machine gives more than one number a row. numbers are those of the rows in the file, from 1.
    """

    evaluation: Evaluation
    true: Ints
    predicted: Ints
    score: Floats | None
    probabilities: Floats | None
    numbers: Ints
    rows: Any
    about: str

    @property
    def classes(self) -> NDArray[Any]:
        return self.evaluation.classes


@dataclass(frozen=True)
class Mistake:
    """A row whose label was not predicted, what that costs, and some cells of the row."""

    row: int
    true: str
    predicted: str
    cost: float
    score: float | None
    probability: float | None
    cells: dict[str, str]


def judge(model: TableModel, rows: Any, labels: Any, numbers: Ints, about: str, score: Floats | None) -> Judged:
    """Has the model predict rows with known labels; `about` says which rows they are."""
    classes = model.classes_
    predicted = model.predict(rows)
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    return Judged(
        evaluation=evaluate(labels, predicted, classes, probabilities),
        true=rank_codes(label_array(labels), classes),
        predicted=rank_codes(label_array(predicted), classes),
        score=score if score is not None and score.ndim == 1 else None,
        probabilities=probabilities,
        numbers=numbers + 1,
        rows=rows,
        about=about,
    )


def costs_of(machine: Any, n_ranks: int) -> Floats:
    """cost[true, predicted] as the machine was trained with, or the distance in ranks."""
    return cost_matrix(getattr(machine, "cost", "absolute"), n_ranks)


def costly_mistakes(judged: Judged, costs: Floats) -> list[Mistake]:
    """The worst first; among equals, those that look surest: the least probable, or the furthest from the true rank."""
    cost = costs[judged.true, judged.predicted]
    surprise = _surprise(judged)
    wrong = np.flatnonzero(judged.true != judged.predicted)
    order = wrong[np.lexsort((-surprise[wrong], -cost[wrong]))][:SHOWN]
    return [_mistake(judged, int(i), float(cost[i])) for i in order]


def _surprise(judged: Judged) -> Floats:
    if judged.probabilities is not None:
        return -judged.probabilities[np.arange(len(judged.true)), judged.true]
    if judged.score is None:
        return np.zeros(len(judged.true))
    middle = np.array(
        [
            np.median(judged.score[judged.true == k]) if np.any(judged.true == k) else 0.0
            for k in range(len(judged.classes))
        ]
    )
    return np.abs(judged.score - middle[judged.true])


def _mistake(judged: Judged, i: int, cost: float) -> Mistake:
    true, predicted = judged.true[i], judged.predicted[i]
    return Mistake(
        row=int(judged.numbers[i]),
        true=str(judged.classes[true]),
        predicted=str(judged.classes[predicted]),
        cost=cost,
        score=None if judged.score is None else float(judged.score[i]),
        probability=None if judged.probabilities is None else float(judged.probabilities[i, true]),
        cells=_cells(judged.rows, i),
    )


def _cells(rows: Any, i: int) -> dict[str, str]:
    if not hasattr(rows, "columns"):
        return {}
    return {str(name): _short(rows[name].iloc[i]) for name in list(rows.columns)[:CELLS]}


def _short(cell: Any) -> str:
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
