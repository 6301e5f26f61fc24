from __future__ import annotations

import os
from typing import Annotated

import numpy as np
import typer

from ordsvm.cli.data import Format, Json, ModelFile, Where, conditions, target_labels
from ordsvm.cli.machines import inner_machine
from ordsvm.cli.models import evaluation_rows, load_model, rows_for, scores_of
from ordsvm.cli.output import out, print_json
from ordsvm.data.frames import TableModel, read
from ordsvm.files import replacing, require_writable
from ordsvm.report import report_page
from ordsvm.report.contents import Predictions, predictions_for

Data = Annotated[str | None, typer.Argument(metavar="[DATA]", help="Rows with labels to evaluate the model on.")]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the page goes.")]


def report(
    model: ModelFile,
    data: Data = None,
    output: Output = "report.html",
    where: Where = [],  # noqa: B006 (Typer copies it)
    format: Format = None,
    json: Json = False,
) -> None:
    """Write one HTML page about a model: metrics, interactive charts, the most costly mistakes, and the proof."""
    fitted = load_model(model)
    require_writable(output)
    predictions = None if data is None else _predictions(fitted, data, where, format)
    machine = inner_machine(fitted)
    title = f"{os.path.basename(model)}: {type(machine).__name__}"
    page = report_page(fitted, machine, title, predictions)
    with replacing(output) as temporary:
        temporary.write_text(page, encoding="utf-8")
    if json:
        print_json({"output": output, "bytes": os.path.getsize(output)})
    else:
        out.print(f"The report is in {output} ({os.path.getsize(output) / 1e6:.1f} MB). Open it in any browser.")


def _predictions(model: TableModel, data: str, where: list[str], format: str | None) -> Predictions:
    whole = read(data, format)
    table, which, numbers = evaluation_rows(model, whole, conditions(where))
    rows = rows_for(model, table)
    labels = table.labels if table.labels is not None else target_labels(table, model.target)
    shown = rows[[column.name for column in model.encoder_.columns_]] if model.encoder_ is not None else rows
    return predictions_for(model, shown, labels, np.asarray(numbers), which, scores_of(model, rows))
