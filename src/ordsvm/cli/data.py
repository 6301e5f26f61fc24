"""Training data from a file: which rows, which column holds the labels, and what order they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import typer

from ordsvm._typing import Ints
from ordsvm.checks import shortened
from ordsvm.cli.output import note
from ordsvm.estimators.early_stopping import hold_out
from ordsvm.problem.labels import encode_labels
from ordsvm.tables import Table, TableEncoder, TableError, read
from ordsvm.tables.reading import column, matching

DataFile = Annotated[str, typer.Argument(metavar="DATA", help="A CSV, TSV, Parquet or svmlight file, also compressed.")]
Target = Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The column that holds the labels.")]
Order = Annotated[
    str,
    typer.Option("--order", metavar="LABELS", help='The labels, lowest first: "low,medium,high", or with < between.'),
]
Text = Annotated[
    list[str],
    typer.Option("--text", metavar="COLUMN", help="A column of text, as TF-IDF, for a linear machine. Repeatable."),
]
Drop = Annotated[list[str], typer.Option("--drop", metavar="COLUMN", help="A column to leave out. Repeatable.")]
Where = Annotated[
    list[str], typer.Option("--where", metavar="COLUMN=VALUE", help="Only rows with this value. Repeatable.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="KIND", help="csv, tsv, parquet or svmlight; else by the name."),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A file that `ordsvm train` has written.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables; errors too.")]
Seed = Annotated[int, typer.Option("--seed", help="Of everything that is drawn at random.")]


@dataclass(frozen=True)
class DataOptions:
    """The options about the data: which file, which rows and columns, and the order of the labels."""

    data: DataFile
    target: Target = ""
    order: Order = ""
    text: Text = field(default_factory=list)
    drop: Drop = field(default_factory=list)
    where: Where = field(default_factory=list)
    format: Format = None


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows and labels to train with, and the encoder that makes features of the rows (None: they are features)."""

    table: Table
    rows: Any
    labels: Any
    categories: list[Any] | None
    encoder: TableEncoder | None
    numbers: Ints  # of the rows in the file

    def take(self, which: Ints) -> tuple[Any, Any]:
        rows = self.rows.iloc[which] if self.encoder is not None else self.rows[which]
        return rows, self.labels[which]


def training_data(options: DataOptions) -> TrainingData:
    """Reads the file and checks what can be checked before any work."""
    table = read(options.data, options.format)
    numbers = matching(table, conditions(options.where))
    table = table.take(numbers)
    if not table.has_columns:
        if options.target or options.text or options.drop:
            raise TableError(f"{table.name!r} is an svmlight file, without names of columns: leave out their options.")
        if table.queries is not None:
            note(
                f"{table.name!r} has queries (qid): rows are trained on one by one, and --hold-out keeps whole queries "
                "back. Folds of --calibrate, tune and compare part queries; for folds of whole ones give "
                "OrdinalSearchCV(cv=GroupKFold(5)).fit(X, y, groups=...) in Python."
            )
        labels = _whole(table.labels)
        return TrainingData(table, table.rows, labels, ordered(options.order, labels), None, numbers)
    if not options.target:
        known = ", ".join(map(str, table.rows.columns))
        raise TableError(f"Which column of {table.name!r} holds the labels? Give --target, one of {known}.")
    labels = target_labels(table, options.target)
    for name in options.drop:
        column(table, name)
    gone = {options.target, *options.drop, *conditions(options.where)}
    numbering = [name for name in row_number_columns(table) if name not in gone]
    if numbering:
        note(f"Left out: {', '.join(numbering)}, a column without a name that numbers the rows.")
    rows = table.rows.drop(columns=[*gone, *numbering])
    return TrainingData(table, rows, labels, ordered(options.order, labels), TableEncoder(tuple(options.text)), numbers)


def row_number_columns(table: Table) -> list[str]:
    """Columns without a name that hold a whole number of its own for every row: the index of a data frame."""
    unnamed = [name for name in table.rows.columns if str(name).startswith("Unnamed: ")]
    return [name for name in unnamed if table.rows[name].dtype.kind in "iu" and table.rows[name].is_unique]


def target_labels(table: Table, target: str) -> Any:
    """The labels of a table with columns, none of them missing."""
    cells = column(table, target)
    missing = int(cells.isna().sum())
    if missing:
        raise TableError(f"Column {target!r} is empty in {missing} of {len(cells)} rows: fill it in or remove these.")
    values = cells.to_numpy()
    return _whole(values) if values.dtype.kind == "f" else np.array(values.tolist())


def conditions(where: list[str]) -> dict[str, str]:
    pairs = [condition.partition("=") for condition in where]
    for (name, equals, _), text in zip(pairs, where, strict=True):
        if not equals or not name:
            raise TableError(f"--where {text!r} is no condition: give COLUMN=VALUE.")
    return {name: value for name, _, value in pairs}


def ordered(order: str, labels: Any) -> list[Any] | None:
    """The labels in --order, as the type that the column has."""
    if not order:
        return None
    if np.asarray(labels).dtype.kind in "biuf":
        try:
            numbers = [float(name) for name in re.split("[,<]", order)]
        except ValueError:
            raise TableError(f"--order {order!r} must list numbers, for the labels are numbers.") from None
        return [int(number) if number.is_integer() else number for number in numbers]
    known = set(labels.tolist())
    readings = list(_readings(order))
    names = next((names for names in readings if known <= set(names)), readings[0])
    missing = sorted(known - set(names))
    if missing:
        raise TableError(f"--order lacks the labels {shortened(missing)}: list every label of the data, lowest first.")
    return names


def _readings(order: str) -> Iterator[list[str]]:
    """The names in --order as they are divided by commas or by <, which a label may hold too, in quotes or without."""
    for sign in (",", "<") if "," in order else ("<", ","):
        names = [name.strip() for name in order.split(sign)]
        yield names
        yield [name[1:-1] if name[:1] == name[-1:] and name[:1] in ("'", '"') else name for name in names]


def split_rows(data: TrainingData, share: float, seed: int) -> tuple[Ints, Ints]:
    """Rows to train with and rows to hold out, the share of every rank alike, or a share of the queries.

    The former come in random order: files are often sorted, and folds of consecutive rows would be unlike each other.
    """
    every = np.random.RandomState(seed).permutation(len(data.labels))
    if share == 0:
        return every, np.empty(0, dtype=np.int64)
    if not 0 < share < 1:
        raise TableError(f"--hold-out {share:g} is not valid: give a share above 0 and below 1, such as 0.25.")
    codes = encode_labels(data.labels, data.categories).codes
    random = np.random.RandomState(seed)
    if data.table.queries is None:
        held_out = hold_out(codes, np.ones(len(codes)), share, random)
    else:
        held_out = _whole_queries(data.table.queries, share, random)
        if len(np.unique(np.delete(codes, held_out))) < len(np.unique(codes)):
            raise TableError(
                f"--hold-out {share:g} of the queries leaves some rank without training rows: give a smaller share, "
                "another --seed or more queries."
            )
    return every[~np.isin(every, held_out)], held_out


def _whole_queries(queries: Ints, share: float, random: np.random.RandomState) -> Ints:
    """The rows of a random share of the queries, in ascending order; one query at least is left to train with."""
    ids = random.permutation(np.unique(queries))
    if len(ids) < 2:
        raise TableError("--hold-out keeps whole queries back, and all rows have the same qid: leave it out.")
    wanted = min(int(np.ceil(share * len(ids))), len(ids) - 1)
    return np.flatnonzero(np.isin(queries, ids[:wanted]))


def _whole(labels: Any) -> Any:
    """Labels that are whole numbers as such."""
    return labels.astype(np.int64) if np.all(labels == np.round(labels)) and np.all(np.abs(labels) < 2**53) else labels
