"""Categories as nodes of a graph, and the encoder of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from ordsvm.files.onnx.graph import Graph
from ordsvm.tables import TableEncoder
from ordsvm.tables.columns import CategoryColumn, NumberColumn


def one_hot(graph: Graph, columns: tuple[str, ...], is_text: bool, filled: Any, step: OneHotEncoder) -> str:
    """A feature for every category; an unknown one has 0 in all of them."""
    _require_no_groups(step)
    dropped = [None] * len(columns) if step.drop_idx_ is None else step.drop_idx_
    blocks = []
    for place, (column, values) in enumerate(zip(columns, step.categories_, strict=True)):
        codes = _codes(graph, column, values, filled[place]) if is_text else _number_codes(graph, column, values)
        kept = [code for code in range(len(values)) if code != dropped[place]]
        blocks.append(_indicators(graph, codes, kept))
    return graph.join(blocks)


def ordinal(graph: Graph, columns: tuple[str, ...], is_text: bool, filled: Any, step: OrdinalEncoder) -> str:
    """The number of the category; an unknown one has `unknown_value`, or else −1."""
    _require_no_groups(step)
    blocks = []
    for place, (column, values) in enumerate(zip(columns, step.categories_, strict=True)):
        codes = _codes(graph, column, values, filled[place]) if is_text else _number_codes(graph, column, values)
        table = np.arange(len(values) + 1, dtype=np.float64)
        table[[code for code, value in enumerate(values) if _is_nan(value)]] = step.encoded_missing_value
        table[-1] = -1.0 if step.unknown_value is None else step.unknown_value  # which the code −1 points to
        blocks.append(graph.add("Gather", graph.constant(table), codes))
    return graph.join(blocks)


def of_table(graph: Graph, encoder: TableEncoder) -> str:
    """The features of a table, from an input for every column."""
    blocks = []
    for column in encoder.columns_:
        if isinstance(column, NumberColumn):
            cells = graph.numbers(column.name, 1)
            median = graph.constant(np.float64(column.median))
            known = graph.add("Where", graph.add("IsNaN", cells), median, cells)
            centred = graph.add("Sub", known, graph.constant(np.float64(column.mean)))
            blocks.append(graph.add("Div", centred, graph.constant(np.float64(column.deviation))))
        elif isinstance(column, CategoryColumn):
            codes = graph.codes(graph.texts(column.name), {value: code for code, value in enumerate(column.values)})
            blocks.append(_indicators(graph, codes, list(range(len(column.values)))))
        else:
            raise TypeError(
                f"to_onnx has no operators that cut texts into words: column {column.name!r} is text; export machine_ "
                "and make its features by the encoder."
            )
    return graph.join(blocks)


def _require_no_groups(step: Any) -> None:
    if step.min_frequency is not None or step.max_categories is not None:
        raise TypeError(f"to_onnx takes {type(step).__name__} without min_frequency and max_categories.")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))


def _codes(graph: Graph, column: str, values: Any, filled: str | None) -> str:
    """Of texts; an empty one is the category of missing ones, if there is one, or else what the imputer fills in."""
    known = {"" if value is None or _is_nan(value) else str(value): code for code, value in enumerate(values.tolist())}
    if filled is not None:
        known.setdefault("", known.get(filled, -1))
    return graph.codes(column, known)


def _number_codes(graph: Graph, column: str, values: Any) -> str:
    """Of numbers: the sum of (code + 1) over the categories that are equal, less 1."""
    numbers = np.asarray(values, dtype=np.float64)
    equal = graph.add("Equal", column, graph.constant(numbers[np.newaxis]))
    if np.isnan(numbers).any():
        is_nan = graph.constant(np.isnan(numbers)[np.newaxis])
        equal = graph.add("Or", equal, graph.add("And", graph.add("IsNaN", column), is_nan))
    code = graph.add(
        "Where", equal, graph.constant(np.arange(1, len(numbers) + 1)[np.newaxis]), graph.constant(np.int64(0))
    )
    total = graph.add("ReduceSum", code, graph.constant(np.array([1])), keepdims=1)
    return graph.add("Sub", total, graph.constant(np.int64(1)))


def _indicators(graph: Graph, codes: str, kept: list[int]) -> str:
    return graph.as_numbers(graph.add("Equal", codes, graph.constant(np.array(kept, dtype=np.int64)[np.newaxis])))
