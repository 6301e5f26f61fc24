"""What `train` and `tune` share: the machine that was asked for, its rows, and the model file at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
import typer

from ordsvm import __version__, save
from ordsvm.cli.data import Ints, Request, Seed, Training, held_out_rows, training_data
from ordsvm.cli.machines import make_machine, solver_options
from ordsvm.data.frames import TableModel
from ordsvm.evaluation import Evaluation, evaluate
from ordsvm.files import require_writable

Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")]
Model = Annotated[str, typer.Option("--model", "-m", metavar="NAME", help="The machine, such as svor or linear-svor.")]
SolverOption = Annotated[
    list[str], typer.Option("--solver-option", metavar="NAME=VALUE", help="An option of the solver. Repeatable.")
]
HoldOut = Annotated[
    float,
    typer.Option("--hold-out", metavar="SHARE", help="Rows to keep back for `evaluate` and `report`: 0.25."),
]


@dataclass(frozen=True)
class Wish:
    """Which machine is to be made of the data, and where it goes."""

    output: Output
    model: Model = "svor"
    hold_out: HoldOut = 0.0
    solver_option: SolverOption = field(default_factory=list)
    seed: Seed = 0


@dataclass(frozen=True, eq=False)
class Prepared:
    """A machine with its parameters, the rows to train it with and those to keep back."""

    machine: Any
    training: Training
    chosen: Ints
    kept_back: Ints


def prepare(request: Request, wish: Wish, parameters: dict[str, Any]) -> Prepared:
    """Everything that can go wrong before training goes wrong here."""
    solver = solver_options(parameters["solver"], wish.solver_option)
    training = training_data(request)
    machine = make_machine(wish.model, parameters | {"solver": solver}, training.categories)
    require_writable(wish.output)
    return Prepared(machine, training, *held_out_rows(training, wish.hold_out, wish.seed))


def finish(model: TableModel, prepared: Prepared, output: str, **more: Any) -> Evaluation | None:
    """Writes the trained model, with `more` about it, to a file; how well it does on the rows that were kept back."""
    training, kept_back = prepared.training, prepared.kept_back
    model.about_ = _about(training, prepared.chosen, kept_back) | more
    held_out = _evaluation_on(model, training, kept_back) if len(kept_back) else None
    save(model, output)
    return held_out


def _about(training: Training, chosen: Ints, kept_back: Ints) -> dict[str, Any]:
    """What a reader of the model file may want to know about its origin."""
    values, counts = np.unique(training.labels[chosen], return_counts=True)
    return {
        "ordsvm": __version__,
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": training.table.name,
        "data_sha256": training.table.fingerprint,
        "n_rows": len(chosen),
        "held_out": training.numbers[kept_back],
        "ranks": dict(zip(values.tolist(), counts.tolist(), strict=True)),
    }


def _evaluation_on(model: TableModel, training: Training, which: Ints) -> Evaluation:
    rows, labels = training.take(which)
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    return evaluate(labels, model.predict(rows), model.classes_, probabilities)
