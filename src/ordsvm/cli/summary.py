"""A trained model in a few lines: parameters, data, proof and errors."""

from __future__ import annotations

import os
from typing import Any

from rich.table import Table

from ordsvm.cli.machines import inner_machine
from ordsvm.cli.output import facts
from ordsvm.evaluation import Evaluation
from ordsvm.inspection.score import score_model
from ordsvm.problem.thresholds import intercept_of, rank_rule_of
from ordsvm.report.words import percent_text
from ordsvm.tables import TableModel


def summarise(model: TableModel, held_out: Evaluation | None = None) -> dict[str, Any]:
    machine = inner_machine(model)
    result = machine.result_
    fields = ("status", "solver", "n_iter", "objective", "gap", "relative_gap", "violation", "seconds", "kernel_rows")
    summary: dict[str, Any] = {
        "model": type(machine).__name__,
        "parameters": changed_parameters(machine),
        "classes": model.classes_,
        "n_rows": model.about_.get("n_rows"),
        "n_features": machine.n_features_in_,
        "fit": {name: getattr(result, name) for name in fields},
    }
    if hasattr(machine, "support_"):
        summary["n_support"] = len(machine.support_)
    if hasattr(machine, "thresholds_"):
        summary |= {"thresholds": machine.thresholds_, "intercept": float(intercept_of(machine)[0])}
        summary["rank_rule"] = rank_rule_of(machine)
    score = score_model(model)
    if score.calibrated is not None:
        guaranteed = {"0.9": score.calibrated.guaranteed_coverage(0.9)}
        summary["calibration"] = {
            "method": score.calibrated.method,
            "rank_changes_at": score.cuts,
            "guaranteed_coverage": guaranteed,
        }
    if held_out is not None:
        summary["held_out"] = {name: vars(estimate) for name, estimate in held_out.metrics.items()}
    return summary


def changed_parameters(machine: Any) -> dict[str, Any]:
    """Those that differ from the defaults."""
    usual = type(machine)().get_params(deep=False)
    given = machine.get_params(deep=False)
    return {key: value for key, value in given.items() if key != "callback" and str(value) != str(usual[key])}


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def summary_table(model: TableModel, held_out: Evaluation | None, output: str) -> Table:
    """The end of a training for a reader."""
    machine = inner_machine(model)
    result = machine.result_
    parameters = ", ".join(f"{key}={_short(value)}" for key, value in changed_parameters(machine).items())
    rows = {
        "model": type(machine).__name__ + (f" ({parameters})" if parameters else ""),
        "trained on": f"{model.about_['n_rows']:,} rows of {model.about_['data']}, {machine.n_features_in_:,} features",
        "labels": " < ".join(f"{label} ({count:,})" for label, count in counts_in_order(model).items()),
        "training": f"{result.status} after {result.seconds:.2f} s and {result.n_iter:,} steps of {result.solver}",
        "proof": f"within {percent_text(result.relative_gap)} of the best possible objective (gap {result.gap:.3g} of "
        f"{result.objective:.6g})",
    }
    if hasattr(machine, "support_"):
        rows["support vectors"] = f"{len(machine.support_):,}"
    if held_out is not None:
        error = held_out.metrics["mae"]
        rows["held out"] = (
            f"{held_out.n_samples:,} rows: mean absolute error {error.value:.3f} ranks "
            f"(95 % interval {error.low:.3f} to {error.high:.3f})"
        )
    rows["written to"] = f"{output} ({os.path.getsize(output):,} bytes)"
    return facts(rows)


def counts_in_order(model: TableModel) -> dict[Any, int]:
    counts = model.about_.get("ranks", {})
    return {label: counts.get(label, 0) for label in model.classes_.tolist()}
