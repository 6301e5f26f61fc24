"""A model from a file, and the rows to evaluate it on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ordsvm import load
from ordsvm._typing import Flags
from ordsvm.cli.data import target_labels
from ordsvm.cli.output import note
from ordsvm.tables import Table, TableError, TableModel
from ordsvm.tables.reading import matching
from ordsvm.tables.row_digests import Digests, known_rows, row_digests


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


def digests_of(model: TableModel, rows: Any, labels: Any) -> Digests:
    """By the features that the model makes of rows, and their labels."""
    place = {label: number for number, label in enumerate(model.classes_.tolist(), 1)}
    codes = np.array([place.get(label, 0) for label in np.asarray(labels).tolist()], dtype=np.int64)
    return row_digests(model.features(rows), codes)


def evaluation_rows(model: TableModel, table: Table, conditions: dict[str, str]) -> tuple[Table, str, Any]:
    """The rows that the model was not trained on, or all where there are no others; what they are, in words; their
    numbers."""
    numbers = matching(table, conditions)
    trained = _were_trained_on(model, table)
    some = np.zeros(0, dtype=bool) if trained is None else trained[numbers]
    if trained is None:
        note("This may be the data that the model was trained on: on new rows it would be worse then.")
    elif some.all():
        note("The model was trained on these rows: on new ones it will be worse. Keep some back with --hold-out.")
    elif some.any():
        numbers = numbers[~some]
        why = "training kept back" if is_file_of(model, table) else "the model was not trained on"
        return table.take(numbers), f"the {len(numbers):,} rows of {table.name} that {why}", numbers
    return table.take(numbers), f"{len(numbers):,} rows of {table.name}", numbers


def is_file_of(model: TableModel, table: Table) -> bool:
    return model.about_.get("data_sha256") == table.fingerprint


def _were_trained_on(model: TableModel, table: Table) -> Flags | None:
    """Which rows these are: in the file of the training those that it did not keep back, in another one those whose
    digests the model knows; None where that cannot be told."""
    about = model.about_
    kept = np.isin(np.arange(len(table)), np.asarray(about.get("held_out", []), dtype=np.int64))
    is_same = is_file_of(model, table)
    if is_same and about.get("n_rows") == len(table) - np.count_nonzero(kept):
        return ~kept
    trained = np.asarray(about.get("trained_rows", []), dtype=np.uint64)
    if len(trained) == 0:  # as in files of versions before 0.2
        return ~kept if is_same else np.zeros(len(table), dtype=bool)
    found = known_rows(digests_of(model, rows_for(model, table), labels_of(model, table)), trained)
    return found & ~kept if is_same and found is not None else found


def labels_of(model: TableModel, table: Table) -> Any:
    return table.labels if table.labels is not None else target_labels(table, model.target)
