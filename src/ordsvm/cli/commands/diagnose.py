from __future__ import annotations

import numpy as np

from ordsvm.cli.data import DataFile, Format, Json, ModelFile, Where, conditions
from ordsvm.cli.findings import findings_list, plain
from ordsvm.cli.models import is_file_of, labels_of, load_model, rows_for
from ordsvm.cli.output import out, print_json
from ordsvm.diagnosis import diagnose as findings_about
from ordsvm.findings import Finding, Findings
from ordsvm.tables import TableModel, read
from ordsvm.tables.reading import Table, matching


def diagnose(
    model: ModelFile,
    data: DataFile,
    where: Where = [],  # noqa: B006 (Typer copies it)
    format: Format = None,
    json: Json = False,
) -> None:
    """Say what speaks against trusting a model: predictions of one rank, unscaled columns, duplicated rows and more.

    Where the file is the one that the model was trained on, the rows that training kept back are left out. What is
    about C is what training has found.
    """
    fitted = load_model(model)
    table, which = training_rows(fitted, read(data, format), conditions(where))
    rows = rows_for(fitted, table)
    labels = labels_of(fitted, table)
    found = with_those_of_training(findings_about(fitted, rows, labels), fitted)
    if json:
        print_json({"rows": len(table), "findings": plain(found)})
    elif found:
        out.print(f"On {which}:")
        out.print(findings_list(found))
    else:
        out.print(f"On {which} nothing was found.")


def training_rows(model: TableModel, table: Table, chosen: dict[str, str]) -> tuple[Table, str]:
    """The rows that the model was trained on, where the data are the same, or all; and what they are, in words."""
    held_out = np.asarray(model.about_.get("held_out", []), dtype=np.int64)
    numbers = matching(table, chosen)
    if is_file_of(model, table):
        numbers = np.setdiff1d(numbers, held_out)
    return table.take(numbers), f"{len(numbers):,} rows of {table.name}"


def with_those_of_training(found: Findings, model: TableModel) -> Findings:
    """With what only training can tell, where that has recorded it: the order of its rows is not in the file."""
    stored = [Finding(**each) for each in model.about_.get("findings", []) if each["name"].startswith("C-")]
    return Findings([*found, *(each for each in stored if each.name not in found.names)])
