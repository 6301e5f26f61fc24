from __future__ import annotations

import sys
from typing import Annotated, Any

import numpy as np
import typer

from ordsvm.atomic_files import replacing, require_writable
from ordsvm.cli.data import DataFile, Format, Json, ModelFile, Where, conditions
from ordsvm.cli.models import load_model, rows_for, scores_of
from ordsvm.cli.output import as_json, can_hold, note, out, print_json
from ordsvm.evaluation import score_shift
from ordsvm.tables.reading import import_pandas, matching, read

LEAST_ROWS, LEAST_SHIFT = 30, 0.1  # below which a shift of the scores is not worth a note

Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="A CSV file; otherwise standard output.")
]
Coverage = Annotated[
    float | None,
    typer.Option(
        "--coverage",
        metavar="SHARE",
        help="Add a set of labels to hold the true one for this share of rows: 0.9. `info` says what is guaranteed.",
    ),
]


def predict(
    model: ModelFile,
    data: DataFile,
    output: Output = None,
    where: Where = [],  # noqa: B006 (Typer copies it)
    format: Format = None,
    coverage: Coverage = None,
    json: Json = False,
) -> None:
    """Predict the label and the score of every row; probabilities too where the model was calibrated."""
    fitted = load_model(model)
    if output is not None:
        require_writable(output)
    table = read(data, format)
    numbers = matching(table, conditions(where))
    frame = predictions(fitted, rows_for(fitted, table.take(numbers)), numbers, coverage)
    note_shift(fitted, frame)
    if output is None:
        text = as_json(frame.to_dict(orient="records")) if json else frame.to_csv(index=False).rstrip("\n")
        if not can_hold(sys.stdout, text):
            raise ValueError(
                f"Standard output is in {sys.stdout.encoding}, which lacks signs of these predictions: give --output "
                "FILE, or set PYTHONIOENCODING=utf-8."
            )
        print(text)
        return
    with replacing(output) as temporary:
        frame.to_csv(temporary, index=False)
    if json:
        print_json({"output": output, "rows": len(frame)})
    else:
        out.print(f"{len(frame):,} predictions are in {output}.")


def predictions(model: Any, rows: Any, numbers: Any, coverage: float | None) -> Any:
    """A data frame: the row's number in the file from 1, label, score or scores, probabilities, set."""
    columns: dict[str, Any] = {"row": numbers + 1, "prediction": model.predict(rows)}
    score = scores_of(model, rows)
    columns |= {"score": score} if score.ndim == 1 else per_label("score", model.classes_, score)
    if hasattr(model, "predict_proba"):
        columns |= per_label("probability", model.classes_, model.predict_proba(rows))
    if coverage is not None:
        if not hasattr(model.machine_, "predict_set"):
            raise ValueError("--coverage needs a calibrated model: train with --calibrate.")
        low, high = model.machine_.predict_set(model.features(rows), coverage).T
        columns |= {"lowest": low, "highest": high}
    return import_pandas().DataFrame(columns)


def note_shift(model: Any, frame: Any) -> None:
    """Says so where scores are distributed otherwise than those that the model file has quantiles of."""
    quantiles, n_scores = model.about_.get("score_quantiles"), model.about_.get("n_scores", 0)
    if quantiles is None or "score" not in frame or len(frame) < LEAST_ROWS:
        return
    shift = score_shift(quantiles, frame["score"])
    if shift > LEAST_SHIFT + 1.63 * np.sqrt(1 / len(frame) + 1 / n_scores):
        note(
            f"The scores of these rows are distributed otherwise than at training, by {shift:.2f} of 1: check whether "
            "the rows are of the same kind."
        )


def per_label(what: str, classes: Any, values: Any) -> dict[str, Any]:
    """A column for every label, or pair of labels where there are other numbers of them."""
    names = classes.tolist() if values.shape[1] == len(classes) else range(values.shape[1])
    return {f"{what} {name}": np.asarray(values)[:, i] for i, name in enumerate(names)}
