"""What the page says in words and numbers, as plain text: the template escapes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ordsvm.estimators.linear import LinearMachine
from ordsvm.inspection.score import score_model
from ordsvm.metrics import PROBABILITY_SCORERS, SCORERS
from ordsvm.problem.thresholds import RANK_RULES, intercept_of, rank_rule_of
from ordsvm.report.contents import Mistake, Predictions, costly_mistakes, costs_of
from ordsvm.report.words import percent_text


class Figure(NamedTuple):
    """One of the few numbers that matter most."""

    name: str
    value: str
    more: str


class Metric(NamedTuple):
    """A row of the table of metrics."""

    name: str
    value: str
    interval: str
    best: str


class Proof(NamedTuple):
    """The sentences about the certificate: up to the gap, the gap, what follows, and when training ends."""

    before: str
    gap: str
    after: str
    rule: str
    no_chart: str


class Stage(NamedTuple):
    """A chart of the search for parameters, and the number of the stage."""

    number: int
    chart: str
    title: str
    note: str


@dataclass(frozen=True)
class Mistakes:
    """The table of mistakes: fields of them, which of these are numbers, columns of the data, and the rows."""

    note: str
    names: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[Mistake, ...] = ()


def subtitle(model: Any, predictions: Predictions | None) -> str:
    trained = f"trained {_when(model.about_.get('trained', ''))} on {model.about_.get('n_rows', 0):,} rows"
    trained += f" of {model.about_.get('data', 'unknown data')}"
    return trained if predictions is None else f"{trained}; evaluated on {predictions.about}"


def headline(machine: Any, predictions: Predictions | None) -> list[Figure]:
    """The few numbers that matter most."""
    figures = []
    if predictions is not None:
        values = predictions.evaluation.metrics
        error, right, near = values["mae"], 1 - values["mze"].value, values["off_by_one"].value
        interval = f"95 %: {error.low:.3f} – {error.high:.3f}"
        figures.append(Figure("mean absolute error in ranks", f"{error.value:.3f}", interval))
        figures.append(Figure("right", f"{right:.1%}", f"at most one rank off: {near:.1%}"))
    result = machine.result_
    gap = f"≤ {percent_text(result.relative_gap)}".replace("≤ less than", "<")
    return [*figures, Figure("from the best possible objective", gap, f"proven; {result.status}")]


def metrics(predictions: Predictions | None) -> list[Metric]:
    """The metrics with their intervals; none where no labels are known."""
    if predictions is None:
        return []
    scorers = SCORERS | PROBABILITY_SCORERS
    return [
        Metric(
            scorers[name].metric.__name__.replace("_", " "),
            f"{estimate.value:.3f}",
            f"{estimate.low:.3f} – {estimate.high:.3f}",
            "large" if scorers[name].greater_is_better else "small",
        )
        for name, estimate in predictions.evaluation.metrics.items()
    ]


def mistakes(machine: Any, predictions: Predictions | None) -> Mistakes | None:
    """The worst mistakes; None where no labels are known."""
    if predictions is None:
        return None
    worst = costly_mistakes(predictions, costs_of(machine, predictions.classes))
    if not worst:
        return Mistakes(f"None: all {len(predictions.true):,} rows are right.")
    optional = tuple(name for name in ("score", "probability") if getattr(worst[0], name) is not None)
    return Mistakes(
        note=f"The worst {len(worst):,}. A click on a heading sorts; rows count from 1.",
        names=("row", "true", "predicted", "cost", *optional),
        numbers=("row", "cost", *optional),
        columns=tuple(worst[0].cells),
        rows=tuple(worst),
    )


def proof(machine: Any) -> Proof:
    result = machine.result_
    return Proof(
        f"The objective is {result.objective:.6g}, and the dual solution proves that no model of this kind gets below "
        f"{result.objective - result.gap:.6g}",
        f"the gap is {result.gap:.3g}, {percent_text(result.relative_gap)} of the objective",
        f"Largest violation of the optimality conditions: {result.violation:.2g}. Status: {result.status}, after "
        f"{result.seconds:.2f} s and {result.n_iter:,} steps of {result.solver}.",
        "Training ends when the gap falls to the tolerance; the violation is shown beside it."
        if isinstance(machine, LinearMachine)
        else "Training ends when both fall to the tolerance.",
        f"Training took {result.seconds:.2f} s, too short for a chart of its progress.",
    )


def tuning(model: Any) -> list[Stage]:
    """The stages of a search for C and gamma that have a chart; none where there was no such search."""
    found = model.about_.get("tuning")
    if not found or "gamma" not in found["tried"]:
        return []
    note = f"Mean {found['metric']} over {found['folds']} folds."
    if not np.all(np.isfinite(found["score"])):
        note += " White points fell behind before all folds were tried."
    return [
        Stage(stage, f"tuning-{name}", f"The search for C and gamma, {name}", note)
        for stage, name in ((1, "coarse"), (2, "fine"))
        if np.any(found["stage"] == stage)
    ]


def card(model: Any, machine: Any) -> dict[str, str]:
    """What the model is, for the record."""
    about = dict(model.about_)
    counts = about.get("ranks", {})
    labels = [f"{label} ({counts.get(label, 0):,})" for label in model.classes_.tolist()]
    facts = {
        "model": repr(machine),
        "labels, with their rows": " < ".join(labels),
        "target column": model.target or "–",
        "features": f"{machine.n_features_in_:,}",
    }
    if hasattr(machine, "support_"):
        facts["support vectors"] = f"{len(machine.support_):,}"
    if hasattr(machine, "thresholds_"):
        facts["thresholds"] = ", ".join(f"{value:.4f}" for value in machine.thresholds_)
        if (intercept := float(intercept_of(machine)[0])) != 0.0:
            facts["thresholds"] += f", of the score with its intercept {intercept:.4f}"
        facts["predicted rank"] = RANK_RULES[rank_rule_of(machine)]
    score = score_model(model)
    if score.calibrated is not None and score.cuts is not None:
        cuts = ", ".join(f"{value:.4f}" for value in score.cuts)
        facts["predicted rank"] = f"the middle of the predicted probabilities, which changes at the scores {cuts}"
    if model.encoder_ is not None:
        columns = model.encoder_.columns_
        facts["columns"] = ", ".join(f"{c.name} ({type(c).__name__.removesuffix('Column').lower()})" for c in columns)
    facts |= {
        "trained": f"{_when(about.get('trained', ''))} by ordsvm {about.get('ordsvm', '')}",
        "on": f"{about.get('n_rows', 0):,} rows of {about.get('data', 'unknown data')}",
        "SHA-256 of the data": str(about.get("data_sha256", "")),
    }
    return facts


def _when(time: str) -> str:
    """An ISO time in UTC for a reader."""
    return time.replace("T", " ").replace("+00:00", " UTC")
