"""What `train` and `tune` share: the machine that the options name, its rows, and the model file at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
import typer

from ordsvm import __version__, save
from ordsvm._typing import Ints
from ordsvm.atomic_files import require_writable
from ordsvm.cli.data import DataOptions, Seed, TrainingData, split_rows, training_data
from ordsvm.cli.machines import inner_machine, make_machine, solver_options
from ordsvm.cli.models import digests_of, scores_of
from ordsvm.evaluation import Evaluation, evaluate, score_quantiles
from ordsvm.tables import TableModel

Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")]
Model = Annotated[str, typer.Option("--model", "-m", metavar="NAME", help="The machine, such as svor or linear-svor.")]
SolverOption = Annotated[
    list[str], typer.Option("--solver-option", metavar="NAME=VALUE", help="An option of the solver. Repeatable.")
]
CheckpointFolder = Annotated[
    str | None,
    typer.Option("--checkpoint", metavar="FOLDER", help="Keeps the work every minute: the same command goes on."),
]
HoldOut = Annotated[
    float,
    typer.Option("--hold-out", metavar="SHARE", help="Rows to keep back for `evaluate` and `report`: 0.25."),
]

SCORED_ROWS = 2000  # about so many give the quantiles of the scores


@dataclass(frozen=True)
class TrainOptions:
    """The options about the model: which machine is trained, on which share of the rows, and where it goes."""

    output: Output
    model: Model = "svor"
    hold_out: HoldOut = 0.0
    solver_option: SolverOption = field(default_factory=list)
    checkpoint: CheckpointFolder = None
    seed: Seed = 0


@dataclass(frozen=True, eq=False)
class TrainingJob:
    """A machine with its parameters, its data, and the rows of these to train with and to hold out."""

    machine: Any
    data: TrainingData
    train: Ints
    held_out: Ints


def prepare(data_options: DataOptions, options: TrainOptions, parameters: dict[str, Any]) -> TrainingJob:
    """Reads the data and makes the machine: what can fail before training fails here."""
    solver = solver_options(parameters["solver"], options.solver_option)
    data = training_data(data_options)
    machine = make_machine(options.model, parameters | {"solver": solver}, data.categories)
    require_writable(options.output)
    return TrainingJob(machine, data, *split_rows(data, options.hold_out, options.seed))


def finish(model: TableModel, job: TrainingJob, output: str, **more: Any) -> Evaluation | None:
    """Writes the trained model, with `more` about it, to a file; evaluates it on the rows that were held out."""
    model.about_ = _about(model, job) | _support_rows(model, job) | _scores(model, job) | more
    evaluation = _evaluation_on(model, job.data, job.held_out) if len(job.held_out) else None
    save(model, output)
    return evaluation


def _about(model: TableModel, job: TrainingJob) -> dict[str, Any]:
    """The origin of a model, for readers of its file."""
    data = job.data
    values, counts = np.unique(data.labels[job.train], return_counts=True)
    return {
        "ordsvm": __version__,
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": data.table.name,
        "data_sha256": data.table.fingerprint,
        "n_rows": len(job.train),
        "held_out": data.numbers[job.held_out],
        "trained_rows": np.sort(digests_of(model, *data.take(job.train))),
        "ranks": dict(zip(values.tolist(), counts.tolist(), strict=True)),
    }


def _support_rows(model: TableModel, job: TrainingJob) -> dict[str, Any]:
    """The rows of the file that are support vectors, for explanations; nothing where a machine has none."""
    support = getattr(inner_machine(model), "support_", None)
    return {} if support is None else {"support_rows": job.data.numbers[job.train][support]}


def _scores(model: TableModel, job: TrainingJob) -> dict[str, Any]:
    """Quantiles of scores, of rows held out or else of some that were trained on; nothing where a row has several."""
    which = job.held_out if len(job.held_out) else job.train
    some = which[:: max(1, len(which) // SCORED_ROWS)]
    scores = scores_of(model, job.data.take(some)[0])
    return {"score_quantiles": score_quantiles(scores), "n_scores": len(some)} if scores.ndim == 1 else {}


def _evaluation_on(model: TableModel, data: TrainingData, which: Ints) -> Evaluation:
    rows, labels = data.take(which)
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    return evaluate(labels, model.predict(rows), model.classes_, probabilities)
