"""The contents of the report: predictions for rows with known labels, and the mistakes that cost most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordsvm._typing import Floats, Ints
from ordsvm.evaluation import Evaluation, evaluate
from ordsvm.formulations import cost_matrix
from ordsvm.problem.labels import label_array, rank_codes
from ordsvm.tables import TableModel

SHOWN = 200  # mistakes
CELLS = 6  # columns of the data that stand beside a mistake
LETTERS = 160  # of a cell


@dataclass(frozen=True, eq=False)
class Training:
    """Rows and labels that a model was trained on."""

    rows: Any
    labels: NDArray[Any]

    def take(self, which: Ints) -> Training:
        rows = self.rows.iloc[which] if hasattr(self.rows, "iloc") else self.rows[which]
        return Training(rows, self.labels[which])

    def some(self, most: int) -> Training:
        """At most so many of the rows, drawn at random."""
        if len(self.labels) <= most:
            return self
        return self.take(np.sort(np.random.default_rng(0).permutation(len(self.labels))[:most]))


@dataclass(frozen=True, eq=False)
class Predictions:
    """A model's predictions for rows whose labels are known.

    score is None where a machine gives more than one number a row. numbers are those of the rows in the file, from 1.
    training holds the rows that the model was trained on, where they are at hand.
    """

    evaluation: Evaluation
    true: Ints
    predicted: Ints
    score: Floats | None
    probabilities: Floats | None
    numbers: Ints
    rows: Any
    about: str
    training: Training | None = None

    @property
    def classes(self) -> NDArray[Any]:
        return self.evaluation.classes

    @property
    def distance(self) -> Floats:
        """In ranks, of every prediction from the true label."""
        return np.abs(self.predicted - self.true).astype(np.float64)


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


def predictions_for(
    model: TableModel, rows: Any, labels: Any, numbers: Ints, about: str, score: Floats | None
) -> Predictions:
    """Predicts rows with known labels and evaluates the result; `about` describes the rows."""
    classes = model.classes_
    predicted = model.predict(rows)
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    return Predictions(
        evaluation=evaluate(labels, predicted, classes, probabilities),
        true=rank_codes(label_array(labels), classes),
        predicted=rank_codes(label_array(predicted), classes),
        score=score if score is not None and score.ndim == 1 else None,
        probabilities=probabilities,
        numbers=numbers + 1,
        rows=rows,
        about=about,
    )


def costs_of(machine: Any, classes: NDArray[Any]) -> Floats:
    """cost[true, predicted] as the machine was trained with, or the distance in ranks."""
    return cost_matrix(getattr(machine, "cost", "absolute"), len(classes), classes)


def costly_mistakes(predictions: Predictions, costs: Floats) -> list[Mistake]:
    """The worst first; among equals, those that look surest: the least probable, or the furthest from the true rank."""
    cost = costs[predictions.true, predictions.predicted]
    surprise = _surprise(predictions)
    wrong = np.flatnonzero(predictions.true != predictions.predicted)
    order = wrong[np.lexsort((-surprise[wrong], -cost[wrong]))][:SHOWN]
    return [_mistake(predictions, int(i), float(cost[i])) for i in order]


def _surprise(predictions: Predictions) -> Floats:
    if predictions.probabilities is not None:
        return -predictions.probabilities[np.arange(len(predictions.true)), predictions.true]
    if predictions.score is None:
        return np.zeros(len(predictions.true))
    middle = np.array(
        [
            np.median(predictions.score[predictions.true == k]) if np.any(predictions.true == k) else 0.0
            for k in range(len(predictions.classes))
        ]
    )
    return np.abs(predictions.score - middle[predictions.true])


def _mistake(predictions: Predictions, i: int, cost: float) -> Mistake:
    true, predicted = predictions.true[i], predictions.predicted[i]
    return Mistake(
        row=int(predictions.numbers[i]),
        true=str(predictions.classes[true]),
        predicted=str(predictions.classes[predicted]),
        cost=cost,
        score=None if predictions.score is None else float(predictions.score[i]),
        probability=None if predictions.probabilities is None else float(predictions.probabilities[i, true]),
        cells=_cells(predictions.rows, i),
    )


def _cells(rows: Any, i: int) -> dict[str, str]:
    if not hasattr(rows, "columns"):
        return {}
    return {str(name): short_cell(rows[name].iloc[i]) for name in list(rows.columns)[:CELLS]}


def short_cell(cell: Any) -> str:
    """A cell for a reader; a missing one is a dash."""
    if cell is None or type(cell).__name__ == "NAType" or cell != cell:
        return "–"
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
