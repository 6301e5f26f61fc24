"""The sections of the page about reasons and trust: figures, charts and sentences, ready for the template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from ordsvm.inspection.score import score_model
from ordsvm.report import trust as checks
from ordsvm.report.contents import Predictions
from ordsvm.report.trust import Baseline, Curve, Interval, SetRow, Slice
from ordsvm.report.trust_charts import (
    bar_chart,
    curve_chart,
    dependence_chart,
    importance_chart,
    reliability_chart,
    weight_chart,
)
from ordsvm.report.why import CaseRow, reasons
from ordsvm.report.words import signed

EXACT = "Contributions are exact and add up to the score's distance from the mean."
SAMPLED = "Contributions add up to the score's distance from the mean; lines are 95 % intervals of their sampling."


class Picture(NamedTuple):
    """A chart with its title and a note."""

    title: str
    note: str
    chart: Markup


class Explained(NamedTuple):
    """An explained row: heading, sentence, chart of the contributions, similar cases."""

    title: str
    text: str
    chart: Markup
    cases: list[CaseRow]


class Why(NamedTuple):
    """The section about reasons."""

    pictures: list[Picture]
    note: str
    explained: list[Explained]


class Table(NamedTuple):
    """A table: headings, and rows of texts; all cells but the first of a row are numbers."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Trust(NamedTuple):
    """The section about trust."""

    pictures: list[Picture]
    tables: list[Table]


def why(model: Any, predictions: Predictions | None) -> Why:
    found = reasons(model, predictions)
    pictures = []
    if found.weights is not None:
        note = "The features with the largest weights on each side. Weights of features on one scale can be compared."
        pictures.append(Picture("What raises and lowers the rank", note, weight_chart(found.weights)))
    if found.importance is not None:
        note = "How many ranks further off predictions are when the values of a column are permuted."
        pictures.append(Picture("Columns that matter", note, importance_chart(found.importance)))
    thresholds = score_model(model).cuts
    for one in found.dependences:
        note = (
            "The mean score where all rows have this value; the band holds 90 % of rows, dotted lines are thresholds."
        )
        pictures.append(Picture(f"The score along {one.name}", note, dependence_chart(one, thresholds, model.classes_)))
    explained = [
        Explained(one.title, one.text, bar_chart(one.contributions, one.title, "contribution to the score"), one.cases)
        for one in found.explained
    ]
    sampled = any(error for one in found.explained for *_, error in one.contributions)
    return Why(pictures, SAMPLED if sampled else EXACT, explained)


def trust(model: Any, predictions: Predictions | None, seconds: float) -> Trust:
    if predictions is None:
        return Trust([], [])
    pictures = []
    curve = checks.learning_curve(model, predictions, seconds) if seconds > 0 else Curve([], None, "")
    if len(curve.points) > 1:
        pictures.append(Picture("Does more data help?", _verdict(curve), curve_chart(curve)))
    if predictions.probabilities is not None:
        note = (
            "Predicted P(label ≤ k), in bins of as many rows, and the shares that came true: best on the dotted line."
        )
        chart = reliability_chart(checks.reliability(predictions), predictions.classes)
        pictures.append(Picture("Are the probabilities right?", note, chart))
    tables = [_baseline_table(predictions, checks.baselines(model, predictions))]
    tables += _set_table(model, checks.set_rows(model, predictions)) + _slice_table(checks.slices(model, predictions))
    return Trust(pictures, tables)


def _verdict(curve: Curve) -> str:
    gain = curve.last_gain
    if gain is None:
        return f"Errors on the same rows after training on fewer. {curve.note}".strip()
    rows = f"from {curve.points[-2].rows:,} to {curve.points[-1].rows:,} rows"
    by = f"{gain.value:.3f} ranks (95 % interval {_span(gain)})"
    if gain.low > 0:
        text = f"Yes: {rows} the error fell by {by}, and more rows may lower it further."
    elif gain.high < 0:
        text = f"No: {rows} the error grew by {-gain.value:.3f} ranks; other parameters may suit more rows."
    else:
        text = f"Not clearly: {rows} the error changed by {signed(-gain.value)} ranks, no more than chance explains."
    return f"{text} {curve.note}".strip()


def _baseline_table(predictions: Predictions, found: list[Baseline]) -> Table:
    own = predictions.evaluation.metrics["mae"]
    rows = [("this model", f"{own.value:.3f}", "", "")]
    for one in found:
        interval = one.difference
        better = "better" if interval.high < 0 else "worse" if interval.low > 0 else "unclear"
        rows.append((one.name, f"{one.error:.3f}", f"{signed(interval.value)} ({_span(interval)})", better))
    note = "Mean absolute error in ranks on the same rows; differences with 95 % intervals of a paired bootstrap."
    if predictions.training is None:
        note += " Of other baselines there are none: the rows that the model was trained on are not at hand."
    return Table("Is the model worth it?", note, ("model", "error", "difference", "this one is"), rows)


def _set_table(model: Any, found: list[SetRow]) -> list[Table]:
    if not found:
        return []
    rows = [
        (one.label, f"{one.rows:,}", f"{one.covered.value:.1%} ({one.covered.low:.0%} to {one.covered.high:.0%})",
         f"{one.width:.2f}")
        for one in found
    ]  # fmt: skip
    guarantee = model.machine_.guaranteed_coverage(checks.COVERAGE)
    note = (
        f"Sets that are to hold the true label of {checks.COVERAGE:.0%} of all rows, not of every label; "
        f"{guarantee:.1%} is guaranteed for rows drawn as those of calibration, with labels as frequent as there."
    )
    return [Table("Prediction sets", note, ("true label", "rows", "hold it", "labels in a set"), rows)]


def _slice_table(found: list[Slice]) -> list[Table]:
    if not found:
        return []
    rows = [
        (one.name, f"{one.rows:,}", f"{one.error:.3f}", f"{signed(one.difference.value)} ({_span(one.difference)})")
        for one in found
    ]
    note = (
        "Parts of the rows whose error differs most from that of the others, the surest first. Of many parts, one in "
        "twenty differs so by chance."
    )
    return [Table("Errors by slices", note, ("slice", "rows", "error", "difference to the others"), rows)]


def _span(interval: Interval) -> str:
    return f"{interval.low:.3f} to {interval.high:.3f}".replace("-", "−")
