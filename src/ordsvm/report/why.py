"""Why the model predicts what it predicts: weights or columns that matter, and some predictions explained."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ordsvm.inspection import (
    Dependence,
    Importance,
    Weights,
    contributions,
    dependence,
    importance,
    similar_cases,
    weights,
)
from ordsvm.inspection.decoding import cells_of
from ordsvm.inspection.rows import taken
from ordsvm.inspection.score import score_model
from ordsvm.report.contents import Predictions, Training, short_cell
from ordsvm.report.words import LONGEST, number_text, shortened_label
from ordsvm.tables import TableModel

BACKGROUND, LEAST_BACKGROUND = 60, 10  # rows that predictions are compared with
WORK = 150_000_000  # support vectors × rows × columns², of an explained prediction
PERMUTED_ROWS, REPEATS, MOST_COLUMNS = 400, 5, 40
DEPENDENCE_ROWS, DEPENDENCES = 60, 4
CONTRIBUTIONS, CASES, CASE_CELLS = 8, 3, 4


class CaseRow(NamedTuple):
    """A support vector beside an explained row."""

    pull: str
    contribution: str
    similarity: str
    cells: str


class Explained(NamedTuple):
    """A row, its prediction, and what has made it."""

    title: str
    text: str
    contributions: list[tuple[str, float, float]]
    cases: list[CaseRow]


class Reasons(NamedTuple):
    """What there is to say about a model."""

    weights: Weights | None
    importance: Importance | None
    dependences: list[Dependence]
    explained: list[Explained]


def reasons(model: TableModel, predictions: Predictions | None) -> Reasons:
    """Weights of linear machines; with rows, also columns that matter and some rows explained."""
    found = _weights(model)
    if predictions is None or not _has_score(model, predictions):
        return Reasons(found, None, [], [])
    matters = _importance(model, predictions)
    return Reasons(found, matters, _dependences(model, predictions, matters), _explained(model, predictions))


def _weights(model: TableModel) -> Weights | None:
    try:
        found = weights(model)
    except TypeError:
        return None
    return Weights([_plain_name(model, name) for name in found.names], found.values)


def _plain_name(model: TableModel, name: str) -> str:
    """A word without the name of its column, where that is the only one."""
    columns = [] if model.encoder_ is None else model.encoder_.columns_
    return name.removeprefix(f"{columns[0].name}: ") if len(columns) == 1 else name


def _has_score(model: TableModel, predictions: Predictions) -> bool:
    try:
        score_model(model)(taken(predictions.rows, [0]))
    except TypeError:
        return False
    return True


def _importance(model: TableModel, predictions: Predictions) -> Importance | None:
    if model.encoder_ is None or not 1 < len(model.encoder_.columns_) <= MOST_COLUMNS:
        return None
    some = np.random.default_rng(0).permutation(len(predictions.true))[:PERMUTED_ROWS]
    labels = predictions.classes[predictions.true[some]]
    return importance(model, taken(predictions.rows, some), labels, n_repeats=REPEATS)


def _dependences(model: TableModel, predictions: Predictions, matters: Importance | None) -> list[Dependence]:
    """Of the columns that matter most, but for texts."""
    if model.encoder_ is None:
        return []
    texts = set(model.encoder_.text)
    names = [column.name for column in model.encoder_.columns_ if column.name not in texts]
    if matters is not None:
        order = [name for name, value, _ in matters.largest(MOST_COLUMNS) if value > 0]
        names = [name for name in order if name in names]
    rows = taken(
        predictions.rows, np.arange(len(predictions.true))[:: max(1, len(predictions.true) // DEPENDENCE_ROWS)]
    )
    return [
        dependence(model, rows, name)
        for name in names[:DEPENDENCES]
        if rows[name].notna().any() and rows[name].nunique() > 1
    ]


def _explained(model: TableModel, predictions: Predictions) -> list[Explained]:
    """The rows of the lowest, the middle and the highest score, and the two that are furthest off."""
    if model.encoder_ is None and _weights(model) is None:
        return []  # rows without columns, many features: nothing to name
    chosen = _chosen(predictions)
    source = predictions.training or Training(predictions.rows, predictions.classes[predictions.true])
    rows = taken(predictions.rows, list(chosen.values()))
    found = contributions(model, rows, source.some(_background_rows(model)).rows, random_state=0)
    names = predictions.classes.tolist()
    explained = []
    for place, (what, row) in enumerate(chosen.items()):
        true, predicted = names[predictions.true[row]], names[predictions.predicted[row]]
        score = float(found.score[place])
        side = "above" if score > found.baseline else "below"
        text = f"True {true}, predicted {predicted}: score {number_text(score)}, "
        text += f"{number_text(abs(score - found.baseline))} {side} the mean of the rows to compare with."
        largest = [
            (_with_cell(_plain_name(model, name), rows, place), value, error)
            for name, value, error in found.largest(place, CONTRIBUTIONS)
        ]
        cases = _cases(model, taken(predictions.rows, [row]))
        explained.append(Explained(f"Row {predictions.numbers[row]}: {what}", text, largest, cases))
    return explained


def _background_rows(model: TableModel) -> int:
    """Fewer where there are many support vectors and columns, which Shapley values take time for."""
    vectors, columns = score_model(model).kernel_sum(), 1 if model.encoder_ is None else len(model.encoder_.columns_)
    if vectors is None:
        return BACKGROUND
    return int(np.clip(WORK / (vectors.vectors.shape[0] * columns**2), LEAST_BACKGROUND, BACKGROUND))


def _chosen(predictions: Predictions) -> dict[str, int]:
    order = np.argsort(predictions.score if predictions.score is not None else predictions.predicted, kind="stable")
    chosen = {
        "the lowest score": int(order[0]),
        "the middle score": int(order[len(order) // 2]),
        "the highest score": int(order[-1]),
    }
    furthest = np.argsort(-predictions.distance, kind="stable")
    for name, row in zip(("furthest off", "next furthest off"), furthest.tolist(), strict=False):
        if predictions.distance[row] > 0 and row not in chosen.values():
            chosen[name] = row
    return chosen


def _with_cell(name: str, rows: Any, place: int) -> str:
    """The name of a column with its value in the row; features, such as words, by name alone."""
    if not hasattr(rows, "columns") or name not in rows.columns:
        return name
    value = shortened_label(short_cell(rows[name].iloc[place]), 10)
    return f"{shortened_label(name, LONGEST - 3 - len(value))} = {value}"


def _cases(model: TableModel, row: Any) -> list[CaseRow]:
    score = score_model(model)
    vectors = score.kernel_sum()
    if vectors is None or model.encoder_ is None:
        return []
    cases = similar_cases(model, row, n=CASES)
    found = []
    for pull, side in (("up", cases.up), ("down", cases.down)):
        for case in side:
            cells = cells_of(model.encoder_, vectors.vectors[[case.vector]])
            shown = ", ".join(f"{name} {value or '–'}" for name, value in list(cells.items())[:CASE_CELLS])
            found.append(CaseRow(pull, number_text(case.contribution), f"{case.similarity:.2f}", shown))
    return found
