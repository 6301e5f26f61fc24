from __future__ import annotations

from typing import Any

from rich.table import Table as RichTable

from ordsvm.cli.data import DataFile, Format, Json, ModelFile, Where, conditions
from ordsvm.cli.models import evaluation_rows, labels_of, load_model, rows_for
from ordsvm.cli.output import out, print_json
from ordsvm.evaluation import Evaluation
from ordsvm.evaluation import evaluate as evaluation_of
from ordsvm.metrics import PROBABILITY_SCORERS, SCORERS
from ordsvm.tables import read


def evaluate(
    model: ModelFile,
    data: DataFile,
    where: Where = [],  # noqa: B006 (Typer copies it)
    format: Format = None,
    json: Json = False,
) -> None:
    """Compare a model's predictions with the labels in a file: metrics with 95 % intervals, and the confusion matrix.

    Where the file is the one that the model was trained on, the rows that training kept back are used.
    """
    fitted = load_model(model)
    table, which, _ = evaluation_rows(fitted, read(data, format), conditions(where))
    found = evaluation_on(fitted, table)
    if json:
        metrics = {name: vars(estimate) for name, estimate in found.metrics.items()}
        result = {"rows": found.n_samples, "classes": found.classes, "metrics": metrics, "confusion": found.confusion}
        print_json(result)
        return
    out.print(f"\nOn {which}:\n")
    out.print(metric_table(found))
    out.print("\n[dim]true label (rows) by predicted label (columns)[/dim]")
    out.print(confusion_table(found))


def evaluation_on(model: Any, table: Any) -> Evaluation:
    rows = rows_for(model, table)
    labels = labels_of(model, table)
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    return evaluation_of(labels, model.predict(rows), model.classes_, probabilities)


def metric_table(found: Evaluation) -> RichTable:
    table = RichTable(box=None, pad_edge=False, header_style="dim")
    for heading, justify in (("metric", "left"), ("value", "right"), ("95 % interval", "right"), ("best is", "left")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    scorers = SCORERS | PROBABILITY_SCORERS
    for name, estimate in found.metrics.items():
        scorer = scorers[name]
        interval = f"{estimate.low:.3f} – {estimate.high:.3f}"
        name = scorer.metric.__name__.replace("_", " ")
        best = "[dim]large[/dim]" if scorer.greater_is_better else "[dim]small[/dim]"
        table.add_row(name, f"[bold]{estimate.value:.3f}[/bold]", f"[dim]{interval}[/dim]", best)
    return table


def confusion_table(found: Evaluation) -> RichTable:
    """Numbers of rows by true and predicted label; the diagonal is right, its neighbours are one rank off."""
    table = RichTable(header_style="bold")
    table.add_column("", style="bold")
    for label in found.classes:
        table.add_column(str(label), justify="right")
    for i, (label, counts) in enumerate(zip(found.classes, found.confusion, strict=True)):
        table.add_row(str(label), *(_cell(int(count), abs(i - j)) for j, count in enumerate(counts)))
    return table


def _cell(count: int, distance: int) -> str:
    style = {0: "bold blue", 1: "default"}.get(distance, "dark_orange3")  # told apart by all readers
    return f"[{style}]{count:,}[/{style}]" if count else "[dim]·[/dim]"
