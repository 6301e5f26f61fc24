from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from sklearn.exceptions import ConvergenceWarning

from ordsvm.calibration import CalibratedOrdinal
from ordsvm.cli.data import DataOptions, Json
from ordsvm.cli.findings import findings_list, findings_of_training, in_file, plain
from ordsvm.cli.machines import inner_machine, set_callback
from ordsvm.cli.options import takes_options
from ordsvm.cli.output import Interrupted, err, note, out, print_json
from ordsvm.cli.summary import summarise, summary_table
from ordsvm.cli.training import TrainingJob, TrainOptions, finish, prepare
from ordsvm.findings import ModelWarning
from ordsvm.progress import ProgressLine
from ordsvm.tables import TableModel

Calibrate = Annotated[
    bool,
    typer.Option(
        "--calibrate",
        help="Learn probabilities too, out of 5 folds. Labels are then their medians, whatever the costs and weights.",
    ),
]
KeepPartial = Annotated[bool, typer.Option("--keep-partial", help="After Ctrl-C, keep the model as far as it got.")]


@takes_options
def train(
    data_options: DataOptions,
    options: TrainOptions,
    calibrate: Calibrate = False,
    keep_partial: KeepPartial = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Train a model on the rows of a file and write it, with everything that prediction needs, to another."""
    job = prepare(data_options, options, parameters)
    machine = CalibratedOrdinal(job.machine) if calibrate else job.machine
    fitted, stopped = fit(TableModel(machine, job.data.encoder, data_options.target), job, options.checkpoint)
    if stopped and not keep_partial:
        if options.checkpoint is not None:
            raise Interrupted(f"Interrupted: the same command goes on from {options.checkpoint!r}.")
        raise Interrupted("Interrupted: nothing was written; with --keep-partial the model so far is kept.")
    found = findings_of_training(fitted, job)
    held_out = finish(fitted, job, options.output, findings=in_file(found))
    if json:
        print_json(summarise(fitted, held_out) | {"output": options.output, "findings": plain(found)})
    else:
        out.print(summary_table(fitted, held_out, options.output))
        out.print(findings_list(found))
    if stopped:
        raise Interrupted(f"Interrupted: the model as far as it got is in {options.output!r}.")


def fit(model: TableModel, job: TrainingJob, checkpoint: str | None) -> tuple[TableModel, bool]:
    """Trains with a progress line; also whether Ctrl-C ended it."""
    rows, labels = job.data.take(job.train)
    machine = inner_machine(model.machine, fitted=False)
    title, tol = type(machine).__name__, getattr(machine, "tol", None) or 1e-3
    with ProgressLine(tol, title, err) as line, stopped_by_ctrl_c(line) as was_stopped:
        set_callback(model.machine, line)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(rows, labels, checkpoint=checkpoint)
    set_callback(model.machine, None)
    for warning in caught:
        is_expected = was_stopped() and issubclass(warning.category, ConvergenceWarning)
        if not is_expected and not issubclass(warning.category, ModelWarning):  # which is among the findings
            note(str(warning.message))
    return model, was_stopped()


@contextmanager
def stopped_by_ctrl_c(line: ProgressLine) -> Iterator[Any]:
    """The first Ctrl-C ends training at its next look, a second one ends everything."""
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
