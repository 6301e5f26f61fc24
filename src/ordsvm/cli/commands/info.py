from __future__ import annotations

import os
from typing import Any

import numpy as np

from ordsvm.cli.data import Json, ModelFile
from ordsvm.cli.machines import inner_machine
from ordsvm.cli.models import load_model
from ordsvm.cli.output import facts, out, print_json
from ordsvm.cli.summary import counts_in_order, summarise
from ordsvm.inspection.score import score_model
from ordsvm.problem.thresholds import RANK_RULES, intercept_of, rank_rule_of
from ordsvm.tables import TableModel

LONG = ("held_out", "score_quantiles", "trained_rows")  # arrays about the training


def info(model: ModelFile, json: Json = False) -> None:
    """Say what is in a model file: the machine, its columns, its thresholds and its proof."""
    fitted = load_model(model)
    if json:
        about = {key: value for key, value in fitted.about_.items() if key not in LONG}
        print_json(summarise(fitted) | {"target": fitted.target, "columns": columns(fitted), "about": about})
        return
    machine = inner_machine(fitted)
    result = machine.result_
    rows = {
        "file": f"{model} ({os.path.getsize(model):,} bytes)",
        "model": repr(machine),
        "trained": _training(fitted.about_),
        "target": fitted.target or "the first number of every line",
        "labels": " < ".join(f"{label} ({count:,})" for label, count in counts_in_order(fitted).items()),
        "result": f"{result.status}; {result.n_iter:,} steps of {result.solver} in {result.seconds:.2f} s; relative "
        f"gap {result.relative_gap:.1e}, violation {result.violation:.1e}",
    }
    if hasattr(machine, "thresholds_"):
        rows["thresholds"] = np.array2string(machine.thresholds_, precision=4)
        if (intercept := float(intercept_of(machine)[0])) != 0.0:
            rows["thresholds"] += f", of the score with its intercept {intercept:.4g}"
        rows["predicted rank"] = RANK_RULES[rank_rule_of(machine)]
    score = score_model(fitted)
    if score.calibrated is not None and score.cuts is not None:
        cuts = np.array2string(score.cuts, precision=4)
        rows["probabilities"] = f"a map of the score (CalibratedOrdinal, {score.calibrated.method})"
        guarantee = score.calibrated.guaranteed_coverage(0.9)
        rows["sets"] = f"asked for a coverage of 90 %, {guarantee:.1%} is guaranteed for rows as those of calibration"
        rows["predicted rank"] = f"the middle of the probabilities, which changes at the scores {cuts}"
    if hasattr(machine, "support_"):
        rows["support vectors"] = f"{len(machine.support_):,}"
    rows["columns"] = "\n".join(columns(fitted))
    out.print(facts(rows))


def _training(about: dict[str, Any]) -> str:
    if not about:
        return "in Python, which records no more"
    rows = f"{about.get('n_rows'):,} rows of {about.get('data')}"
    return f"{about.get('trained')} by ordsvm {about.get('ordsvm')}, on {rows}"


def columns(model: TableModel) -> list[str]:
    if model.encoder_ is None:
        return [f"{model.machine_.n_features_in_:,} features without names"]
    return [describe(column) for column in model.encoder_.columns_]


def describe(column: Any) -> str:
    n_features = len(column.feature_names())
    kind = type(column).__name__.removesuffix("Column").lower()
    return f"{column.name}: {kind}" + (f", {n_features:,} features" if n_features > 1 else "")
