from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from ordsvm import __version__, save
from ordsvm.calibration import CalibratedOrdinal
from ordsvm.cli.data import (
    DataFile,
    Drop,
    Format,
    Json,
    Model,
    Order,
    Request,
    Seed,
    SolverOption,
    Target,
    Text,
    Training,
    Where,
    held_out_rows,
    training_data,
)
from ordsvm.cli.machines import inner_machine, make_machine, set_callback, solver_options, takes_parameters
from ordsvm.cli.output import Interrupted, err, note, out, print_json
from ordsvm.cli.summary import summarise, summary_table
from ordsvm.evaluation import Evaluation
from ordsvm.evaluation import evaluate as evaluation_of
from ordsvm.files import require_writable
from ordsvm.progress import ProgressLine
from ordsvm.tables import TableModel

Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")]
HoldOut = Annotated[
    float,
    typer.Option("--hold-out", metavar="SHARE", help="Rows to keep back for `evaluate` and `report`: 0.25."),
]
Calibrate = Annotated[bool, typer.Option("--calibrate", help="Learn probabilities too, out of 5 folds.")]
KeepPartial = Annotated[bool, typer.Option("--keep-partial", help="After Ctrl-C, keep the model as far as it got.")]


@takes_parameters
def train(
    data: DataFile,
    output: Output,
    target: Target = "",
    model: Model = "svor",
    order: Order = "",
    text: Text = [],  # noqa: B006 (Typer copies it)
    drop: Drop = [],  # noqa: B006
    where: Where = [],  # noqa: B006
    format: Format = None,
    hold_out: HoldOut = 0.0,
    calibrate: Calibrate = False,
    keep_partial: KeepPartial = False,
    solver_option: SolverOption = [],  # noqa: B006
    seed: Seed = 0,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Train a model on the rows of a file and write it, with everything that prediction needs, to another."""
    parameters["solver"] = solver_options(parameters["solver"], solver_option)
    training = training_data(Request(data, target, order, text, drop, where, format))
    machine = make_machine(model, parameters, training.categories)
    machine = CalibratedOrdinal(machine) if calibrate else machine
    require_writable(output)
    chosen, kept_back = held_out_rows(training, hold_out, seed)
    fitted, stopped = fit(TableModel(machine, training.encoder, target), training, chosen)
    if stopped and not keep_partial:
        raise Interrupted("Interrupted: nothing was written; with --keep-partial the model so far is kept.")
    fitted.about_ = about(training, chosen, kept_back)
    held_out = evaluation_on(fitted, training, kept_back) if len(kept_back) else None
    save(fitted, output)
    if json:
        print_json(summarise(fitted, held_out) | {"output": output})
    else:
        out.print(summary_table(fitted, held_out, output))
    if stopped:
        raise Interrupted(f"Interrupted: the model as far as it got is in {output!r}.")


def fit(model: TableModel, training: Training, chosen: Any) -> tuple[TableModel, bool]:
    """Trains with a progress line; also whether Ctrl-C ended it."""
    rows, labels = training.take(chosen)
    machine = inner_machine(model.machine, fitted=False)
    title = type(machine).__name__
    with ProgressLine(getattr(machine, "tol", 1e-3), title, err) as line, stopped_by_ctrl_c(line) as was_stopped:
        set_callback(model.machine, line)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(rows, labels)
    set_callback(model.machine, None)
    for warning in caught:
        if not (was_stopped() and issubclass(warning.category, ConvergenceWarning)):
            note(str(warning.message))
    return model, was_stopped()


@contextmanager
def stopped_by_ctrl_c(line: ProgressLine) -> Iterator[Any]:
    """The first Ctrl-C asks training to end, a second one ends everything."""
    pressed: list[bool] = []

    def on_interrupt(*_: Any) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(True)
        line.stop()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def about(training: Training, chosen: Any, kept_back: Any) -> dict[str, Any]:
    """What a reader of the model file may want to know about its origin."""
    return {
        "ordsvm": __version__,
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": training.table.name,
        "data_sha256": training.table.fingerprint,
        "n_rows": len(chosen),
        "held_out": training.numbers[kept_back],
        "ranks": rank_counts(training, chosen),
    }


def rank_counts(training: Training, chosen: Any) -> dict[Any, int]:
    values, counts = np.unique(training.labels[chosen], return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def evaluation_on(model: TableModel, training: Training, which: Any) -> Evaluation:
    rows, labels = training.take(which)
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    return evaluation_of(labels, model.predict(rows), model.classes_, probabilities)
