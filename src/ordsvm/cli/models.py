"""A model from a file, and the rows to evaluate it on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordsvm import load
from ordsvm.cli.output import note
from ordsvm.data.frames import Table, TableError, TableModel
from ordsvm.data.frames.reading import matching


def load_model(path: str) -> TableModel:
    model = load(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path!r} holds a {type(model).__name__} without columns: use ordsvm.load in Python, or a file that "
            "`ordsvm train` has written."
        )
    return model


def rows_for(model: TableModel, table: Table) -> Any:
    """The rows of a table of the kind that the model was trained with."""
    if table.has_columns != (model.encoder_ is not None):
        kinds = ("an svmlight file", "a file with named columns")
        given, needed = kinds[table.has_columns], kinds[not table.has_columns]
        raise TableError(f"{table.name!r} is {given}, and the model was trained with {needed}: give one.")
    return table.rows


def scores_of(model: TableModel, rows: Any) -> Any:
    """The score of every row by the machine itself, calibrated or not."""
    machine = model.machine_
    machine = machine if hasattr(machine, "decision_function") else machine.estimator_
    return machine.decision_function(model.features(rows))


def evaluation_rows(model: TableModel, table: Table, conditions: dict[str, str]) -> tuple[Table, str, Any]:
    """The rows that training kept back, where the data are the same, or all; what they are, in words; their numbers."""
    same = model.about_.get("data_sha256") == table.fingerprint
    held_out = np.asarray(model.about_.get("held_out", []), dtype=np.int64)
    numbers = matching(table, conditions)
    if same and len(held_out) and not conditions:
        return table.take(held_out), f"the {len(held_out):,} rows of {table.name} that training kept back", held_out
    chosen = table.take(numbers)
    if same and not conditions:
        note("The model was trained on these rows: on new ones it will be worse. Keep some back with --hold-out.")
    return chosen, f"{len(chosen):,} rows of {table.name}", numbers
