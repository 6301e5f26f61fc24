from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table as RichTable

from ordsvm.cli.data import DataFile, Format, Json, ModelFile, Seed
from ordsvm.cli.models import is_file_of, load_model, rows_for
from ordsvm.cli.output import out, print_json
from ordsvm.inspection import Explanation
from ordsvm.inspection import explain as explanation_of
from ordsvm.inspection.cases import Case
from ordsvm.inspection.decoding import cells_of
from ordsvm.inspection.score import score_model
from ordsvm.report.contents import short_cell
from ordsvm.report.words import number_text
from ordsvm.tables import Table, TableModel, read

Row = Annotated[int, typer.Option("--row", "-r", min=1, metavar="N", help="The row of DATA to explain, from 1.")]
Top = Annotated[int, typer.Option("--top", min=1, metavar="N", help="How many contributions to show.")]
Background = Annotated[
    int,
    typer.Option("--background", min=1, metavar="N", help="How many rows of DATA to compare with, drawn at random."),
]
Cases = Annotated[int, typer.Option("--cases", min=1, metavar="N", help="Similar cases on each side.")]
CELLS = 4  # columns of a similar case that are shown
BAR = 12  # letters of the longest bar


def explain(
    model: ModelFile,
    data: DataFile,
    row: Row,
    top: Top = 10,
    background: Background = 100,
    cases: Cases = 3,
    format: Format = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say why a row gets its label: what every column or word adds to the score, and similar cases from training."""
    fitted = load_model(model)
    table = read(data, format)
    if row > len(table):
        raise ValueError(f"--row {row} is beyond the end of {table.name!r}, which has {len(table):,} rows.")
    rows_for(fitted, table)  # of the kind that the model was trained with
    drawn = np.sort(np.random.default_rng(seed).permutation(len(table))[:background])
    one, others = table.take(np.array([row - 1])).rows, table.take(drawn).rows
    why = explanation_of(fitted, _read(fitted, one), _read(fitted, others), n_cases=cases, random_state=seed)
    described = {side: [_case(fitted, table, case) for case in _side(why, side)] for side in ("up", "down")}
    if json:
        print_json(_as_json(why, row, len(drawn), described))
        return
    out.print(f"\n[bold]Row {row}[/bold] of {escape(table.name)} gets [bold]{escape(str(why.prediction))}[/bold].")
    out.print(_about_score(fitted, why, len(drawn)))
    out.print()
    out.print(_contribution_table(why, top, _read(fitted, one)))
    if why.cases is not None:
        out.print("\n[dim]cases like this one, in training[/dim]")
        out.print(_case_table(described))


def _read(model: TableModel, rows: Any) -> Any:
    """The columns that the model reads; rows of svmlight files as wide as those of training."""
    if model.encoder_ is None:
        return model.features(rows)
    missing = [column.name for column in model.encoder_.columns_ if column.name not in rows.columns]
    return (
        rows if missing else rows[[column.name for column in model.encoder_.columns_]]
    )  # the encoder names what lacks


def _side(why: Explanation, side: str) -> list[Case]:
    return [] if why.cases is None else getattr(why.cases, side)


def _about_score(model: TableModel, why: Explanation, n_rows: int) -> str:
    difference = why.score - why.contributions.baseline
    side = "above" if difference > 0 else "below"
    text = f"Its score is {number_text(why.score, 4)}, {number_text(abs(difference))} {side} the mean of {n_rows} rows"
    if why.thresholds is None:
        return f"{text}."
    names = [str(label) for label in model.classes_.tolist()]
    places = enumerate(why.thresholds)
    cuts = ", ".join(f"{names[k]} | {names[k + 1]} at {number_text(float(value))}" for k, value in places)
    return escape(f"{text}; thresholds: {cuts}.")


def _contribution_table(why: Explanation, top: int, row: Any) -> RichTable:
    found = why.contributions
    shown = found.largest(0, top)
    is_sampled = found.method == "sampling"
    table = RichTable(box=None, pad_edge=False, header_style="dim")
    table.add_column("column" if found.method != "linear" else "feature")
    table.add_column("adds", justify="right")
    if is_sampled:
        table.add_column("± 95 %", justify="right")
    table.add_column("")
    longest = max((abs(value) for _, value, _ in shown), default=1.0)
    for name, value, error in shown:
        cell = f" = {short_cell(row[name].iloc[0])}" if hasattr(row, "columns") and name in row.columns else ""
        bar = "█" * max(1, round(BAR * abs(value) / longest))
        cells = [escape(_shortened(f"{name}{cell}")), number_text(value), *([number_text(error, 2)] * is_sampled)]
        table.add_row(*cells, f"[blue]{bar}[/blue]" if value > 0 else f"[dark_orange3]{bar}[/dark_orange3]")
    left_out = int(np.count_nonzero(found.values[0])) - len(shown)
    if left_out > 0:
        rest = float(found.values[0].sum()) - sum(value for _, value, _ in shown)
        table.add_row(f"{left_out:,} others", number_text(rest), *([""] * is_sampled), "", style="dim")
    return table


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _case(model: TableModel, table: Table, case: Case) -> dict[str, Any]:
    """A support vector in words: its row where this is the file that the model was trained on, or else its cells."""
    found: dict[str, Any] = {"adds": case.contribution, "similarity": case.similarity}
    rows = model.about_.get("support_rows")
    if rows is not None and is_file_of(model, table) and case.vector < len(rows):
        number = int(rows[case.vector])
        found["row"] = number + 1
        if table.labels is not None:
            found["label"] = table.labels[number]
        elif model.target in table.rows.columns:
            found["label"] = table.rows[model.target].iloc[number]
    if model.encoder_ is not None:
        vectors = score_model(model).kernel_sum()
        assert vectors is not None
        cells = cells_of(model.encoder_, vectors.vectors[[case.vector]])
        found["cells"] = dict(list(cells.items())[:CELLS])
    return found


def _case_table(described: dict[str, list[dict[str, Any]]]) -> RichTable:
    table = RichTable(box=None, pad_edge=False, header_style="dim")
    for heading, justify in (("pulls", "left"), ("by", "right"), ("similarity", "right"), ("row", "right")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    table.add_column("label", justify="right")
    table.add_column("cells")
    for side, found in described.items():
        for case in found:
            cells = ", ".join(f"{name} {value or '–'}" for name, value in case.get("cells", {}).items())
            row = (str(case.get("row", "–")), escape(str(case.get("label", "–"))), escape(_shortened(cells)))
            table.add_row(side, number_text(case["adds"]), f"{case['similarity']:.2f}", *row)
    return table


def _as_json(why: Explanation, row: int, n_rows: int, described: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    found = why.contributions
    values = [
        {"name": name, "adds": value, "half_width": error} for name, value, error in found.largest(0, len(found.names))
    ]
    about = {"row": row, "prediction": why.prediction, "score": why.score, "thresholds": why.thresholds}
    how = {"baseline": found.baseline, "background_rows": n_rows, "method": found.method}
    return about | how | {"contributions": values, "cases": described if why.cases is not None else None}
