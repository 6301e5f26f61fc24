from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import typer

from ordsvm.atomic_files import readable_name, replacing, require_writable
from ordsvm.cli.data import Format, Json, ModelFile, Where, conditions
from ordsvm.cli.machines import inner_machine
from ordsvm.cli.models import evaluation_rows, is_file_of, labels_of, load_model, rows_for, scores_of
from ordsvm.cli.output import out, print_json
from ordsvm.report import report_page
from ordsvm.report.contents import Predictions, Training, predictions_for
from ordsvm.tables import Table, TableModel, read

Data = Annotated[str | None, typer.Argument(metavar="[DATA]", help="Rows with labels to evaluate the model on.")]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the page goes.")]
CurveSeconds = Annotated[
    float, typer.Option("--curve-seconds", min=0.0, help="Time for the learning curve; 0 leaves it out.")
]


def report(
    model: ModelFile,
    data: Data = None,
    output: Output = "report.html",
    where: Where = [],  # noqa: B006 (Typer copies it)
    format: Format = None,
    curve_seconds: CurveSeconds = 20.0,
    json: Json = False,
) -> None:
    """Write one HTML page about a model: how good it is, why it predicts what it does, and when not to trust it."""
    fitted = load_model(model)
    require_writable(output)
    predictions = None if data is None else _predictions(fitted, data, where, format)
    machine = inner_machine(fitted)
    title = f"{readable_name(model)}: {type(machine).__name__}"
    page = report_page(fitted, machine, title, predictions, curve_seconds)
    with replacing(output) as temporary:
        temporary.write_text(page, encoding="utf-8")
    if json:
        print_json({"output": output, "bytes": os.path.getsize(output)})
    else:
        out.print(f"The report is in {output} ({os.path.getsize(output) / 1e3:,.0f} kB). Open it in any browser.")


def _predictions(model: TableModel, data: str, where: list[str], format: str | None) -> Predictions:
    whole = read(data, format)
    table, which, numbers = evaluation_rows(model, whole, conditions(where))
    rows = rows_for(model, table)
    labels = labels_of(model, table)
    made = predictions_for(model, _shown(model, rows), labels, np.asarray(numbers), which, scores_of(model, rows))
    return replace(made, training=_training(model, whole))


def _shown(model: TableModel, rows: Any) -> Any:
    """The columns that the model reads."""
    return rows[[column.name for column in model.encoder_.columns_]] if model.encoder_ is not None else rows


def _training(model: TableModel, table: Table) -> Training | None:
    """The rows that the model was trained on, where this is their file and it is clear which they are."""
    held_out = np.asarray(model.about_.get("held_out", []), dtype=np.int64)
    is_same = is_file_of(model, table)
    if not is_same or not len(held_out) or model.about_.get("n_rows") != len(table) - len(held_out):
        return None
    part = table.take(np.setdiff1d(np.arange(len(table)), held_out))
    labels = labels_of(model, part)
    return Training(_shown(model, part.rows), np.asarray(labels))
