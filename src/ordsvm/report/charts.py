"""The charts of predictions, and all charts by their places on the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

from ordsvm._typing import Floats
from ordsvm.inspection.score import score_model
from ordsvm.report.contents import Predictions
from ordsvm.report.facts import tuning
from ordsvm.report.svg import HEIGHT, LETTER, Chart, margin_for, nice_ticks, rank_colour
from ordsvm.report.training_charts import convergence_chart, objective_chart, threshold_chart, tuning_chart
from ordsvm.report.words import labels_of, percent_text, shortened_label

BINS = 44  # of the scores
DOTS = 300  # samples that are drawn one by one
MOST_LEVELS = 5  # of labels of thresholds, above each other
ONE_PLACE, MOST_IN_A_PLACE = 6.0, 4  # thresholds so near to each other, and how many of them have labels of their own


def all_charts(model: Any, machine: Any, predictions: Predictions | None) -> dict[str, Markup]:
    """Every chart of predictions and training that there can be, by its place on the page."""
    figures = {} if predictions is None else _prediction_charts(model, machine, predictions)
    return figures | _training_charts(model, machine) | _tuning_charts(model)


def _prediction_charts(model: Any, machine: Any, predictions: Predictions) -> dict[str, Markup]:
    figures = {"confusion": confusion_chart(predictions), "ranks": rank_chart(predictions)}
    cuts = None if predictions.score is None else score_model(model).cuts
    if cuts is not None:
        figures["scores"] = score_chart(predictions, cuts)
    if machine.n_features_in_ == 2 and getattr(model, "encoder_", None) is not None:  # a plane can be drawn
        features = np.asarray(model.features(predictions.rows), dtype=np.float64)
        names = model.encoder_.get_feature_names_out()
        figures["regions"] = region_chart(model.machine_, predictions, features, names)
    return figures


def _training_charts(model: Any, machine: Any) -> dict[str, Markup]:
    result = machine.result_
    looks = result.history
    if not looks:
        return {}
    figures = {"convergence": convergence_chart(result), "objective": objective_chart(result)}
    if len(looks) > 1 and hasattr(machine, "thresholds_") and len(looks[0].thresholds) == len(machine.thresholds_):
        figures["thresholds"] = threshold_chart(result, model.classes_)
    return figures


def _tuning_charts(model: Any) -> dict[str, Markup]:
    return {stage.chart: tuning_chart(model.about_["tuning"], stage.number) for stage in tuning(model)}


def confusion_chart(predictions: Predictions) -> Markup:
    """Shares of every true rank as shades, with counts."""
    counts = predictions.evaluation.confusion
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = labels_of(predictions.classes)
    n = len(names)
    chart = Chart(
        "Numbers of rows by true and predicted label", left=margin_for(names, 30), height=max(HEIGHT, 60 + 24.0 * n)
    )
    left, right, top, bottom = chart.plane
    wide, high = (right - left) / n, (bottom - top) / n
    for (i, j), count in np.ndenumerate(counts):
        tip = f"true {names[i]}, predicted {names[j]}: {count:,} rows, {percent_text(share[i, j])} of this label"
        chart.cell((left + j * wide, top + i * high, wide, high), float(share[i, j]), tip)
        if count:
            kind = "count strong" if share[i, j] > 0.5 else "count"
            x, y = left + (j + 0.5) * wide - 1, top + (i + 0.5) * high + 4
            template = '<text class="{kind}" x="{x}" y="{y}" text-anchor="middle">{count}</text>'
            chart.add(template, kind=kind, x=x, y=y, count=f"{count:,}")
    across, down = chart.across(-0.5, n - 0.5), chart.upwards(n - 0.5, -0.5)
    short = [shortened_label(name, max(2, int(wide / LETTER))) for name in names]
    chart.category_axis(across, short, "predicted")
    for i, name in enumerate(names):
        chart.text_beside(down(i), name)
    chart.up_title("true")
    return chart.render()


def score_chart(predictions: Predictions, thresholds: Floats) -> Markup:
    """For every true rank how many rows have which score, those right below those wrong; and the thresholds."""
    assert predictions.score is not None
    score, names = predictions.score, labels_of(predictions.classes)
    thresholds = np.nan_to_num(thresholds, posinf=float(score.max()), neginf=float(score.min()))
    low, high = float(min(score.min(), thresholds.min())), float(max(score.max(), thresholds.max()))
    margin = 0.03 * (high - low) or 1.0
    low, high = low - margin, high + margin
    left = margin_for(names, 30)
    units = (Chart("", left=left).across(low, high)(high) - left) / (high - low)
    places = label_levels([float(value) for value in thresholds], names, units)
    levels = 1 + max((level for *_, level in places), default=0)
    top = 34.0 + 15 * levels
    n = len(names)
    chart = Chart("Scores by true label", left=left, top=top, height=top + max(230.0, 26.0 * n))
    x = chart.across(low, high)
    chart.x_axis(x, nice_ticks(low, high), "score")
    chart.legend([("first", "right"), ("second", "wrong")])
    _, _, above, bottom = chart.plane
    row = (bottom - above) / n
    edges = np.linspace(low, high, BINS + 1)
    right = predictions.predicted == predictions.true
    parts = [[(predictions.true == k) & (right == good) for good in (True, False)] for k in range(n)]
    counts = np.array([[np.histogram(score[part], edges)[0] for part in both] for both in parts])
    tallest = counts.sum(axis=1).max(axis=1)
    for k, (good, bad) in enumerate(counts):
        base, unit = bottom - k * row, 0.9 * row / max(1, int(tallest[k]))
        total = int(good.sum() + bad.sum())
        tip = f"true {names[k]}: {total:,} rows, {percent_text(float(good.sum()) / max(total, 1))} right"
        for below, part, kind in ((np.zeros(BINS), good, "first"), (good, bad, "second")):
            path = _steps([x(float(edge)) for edge in edges], base - unit * below, base - unit * (below + part))
            chart.path(path, kind, tip)
        chart.text_beside(base - row / 2, names[k])
    starts = [30.0 + 15 * (levels - level) for *_, level in places]
    for (place, *_), start in zip(places, starts, strict=True):
        chart.add('<path class="threshold" d="M{x} {y}V{bottom}"/>', x=x(place), y=start + 3, bottom=bottom)
    for (place, text, _), start in zip(places, starts, strict=True):
        chart.add(
            '<text class="tick over" x="{x}" y="{y}" text-anchor="middle">{t}</text>', x=x(place), y=start, t=text
        )
    chart.up_title("true label")
    return chart.render()


def label_levels(thresholds: Sequence[float], names: Sequence[str], units: float) -> list[tuple[float, str, int]]:
    """Where to write which ranks a threshold separates, and how high, so that no label covers another.

    units are those of the chart for 1 of the score. Where more than a few thresholds are in one place, one label names
    the lowest and the highest rank; a label without a free place is left out.
    """
    order = sorted(range(len(thresholds)), key=lambda k: thresholds[k])
    groups: list[list[int]] = []
    for k in order:
        is_near = bool(groups) and units * (thresholds[k] - thresholds[groups[-1][0]]) < ONE_PLACE
        groups[-1].append(k) if is_near else groups.append([k])
    found: list[tuple[float, str, int]] = []
    ends: list[float] = []  # of the labels so far, by level
    for group in groups:
        parts = [[k] for k in group] if len(group) <= MOST_IN_A_PLACE else [group]
        for part in parts:
            between = " | " if len(part) == 1 else " … "
            text = between.join(shortened_label(name, 8) for name in (names[min(part)], names[max(part) + 1]))
            place, half = float(np.mean([thresholds[k] for k in part])), (LETTER * len(text) + 8) / units / 2
            level = next((i for i, end in enumerate(ends) if end < place - half), len(ends))
            found += [(thresholds[k], "", 0) for k in part if len(part) > 1]
            found.append((place, text, level) if level < MOST_LEVELS else (place, "", 0))
            if level < MOST_LEVELS:
                ends[level : level + 1] = [place + half]
    return found


def _steps(edges: Sequence[float], lower: Any, upper: Any) -> str:
    """The outline of a histogram: along its tops, and back along its bottoms."""
    there = [f"{edges[i]:.1f} {upper[i]:.1f}H{edges[i + 1]:.1f}" for i in range(len(upper))]
    back = [f"{edges[i + 1]:.1f} {lower[i]:.1f}H{edges[i]:.1f}" for i in reversed(range(len(lower)))]
    return "M" + "L".join([*there, *back]) + "Z"


def rank_chart(predictions: Predictions) -> Markup:
    """How many rows have each label, truly and by prediction."""
    names = labels_of(predictions.classes)
    confusion = predictions.evaluation.confusion
    most = float(max(confusion.sum(axis=1).max(), confusion.sum(axis=0).max()))
    chart = Chart("Rows of every label, true and predicted", left=20 + LETTER * len(f"{most:,.0f}"), top=30)
    chart.legend([("first", "true"), ("second", "predicted")])
    y = chart.upwards(0, most)
    chart.y_axis(y, nice_ticks(0, most, 4))
    across = chart.across(-0.5, len(names) - 0.5)
    wide = across(1) - across(0)
    for k, name in enumerate(names):
        sides = (
            (confusion.sum(axis=1)[k], -0.4, "first", "true"),
            (confusion.sum(axis=0)[k], 0.0, "second", "predicted"),
        )
        for count, shift, kind, what in sides:
            box = (across(k + shift), y(float(count)), 0.38 * wide, y(0) - y(float(count)))
            chart.bar(box, kind, f"{what} {name}: {count:,} rows")
    chart.category_axis(across, [shortened_label(name, max(2, int(wide / LETTER))) for name in names], "label")
    return chart.render()


def region_chart(model: Any, predictions: Predictions, features: Floats, names: Sequence[str]) -> Markup:
    """The predicted rank over the plane of two features, with some rows on it."""
    size = 80
    low, high = features.min(axis=0), features.max(axis=0)
    margin = 0.08 * np.maximum(high - low, 1e-12)
    axes = [np.linspace(low[i] - margin[i], high[i] + margin[i], size) for i in range(2)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    position = {label: rank for rank, label in enumerate(predictions.classes.tolist())}
    ranks = np.array([position[label] for label in model.predict(grid).tolist()]).reshape(size, size)
    labels = labels_of(predictions.classes)
    chart = Chart("Predicted labels over two features", left=52)
    x, y = (
        scale(float(axis[0]), float(axis[-1])) for scale, axis in zip((chart.across, chart.upwards), axes, strict=True)
    )
    left, right, top, bottom = chart.plane
    wide, tall = (right - left) / size, (bottom - top) / size
    for i, row in enumerate(ranks):
        starts = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), size]
        for start, end in pairwise(starts):
            template = '<rect fill="{c}" fill-opacity="0.5" x="{x}" y="{y}" width="{w}" height="{h}"/>'
            x0, y0 = left + start * wide, bottom - (i + 1) * tall
            colour = rank_colour(int(row[start]), len(labels))
            chart.add(template, c=colour, x=x0, y=y0, w=(end - start) * wide, h=tall + 0.3)
    for number in np.random.default_rng(0).permutation(len(features))[:DOTS]:
        rank = int(predictions.true[number])
        place = x(float(features[number, 0])), y(float(features[number, 1]))
        chart.sample(*place, rank_colour(rank, len(labels)), f"true {labels[rank]}")
    chart.x_axis(x, nice_ticks(float(axes[0][0]), float(axes[0][-1])), shortened_label(str(names[0]), 40))
    chart.y_axis(y, nice_ticks(float(axes[1][0]), float(axes[1][-1])), shortened_label(str(names[1]), 30))
    return chart.render()
