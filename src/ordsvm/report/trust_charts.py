"""The charts of reasons and of trust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ordsvm._typing import Floats
from ordsvm.inspection import Dependence, Importance, Weights
from ordsvm.report.svg import Chart, margin_for, nice_ticks, rank_colour
from ordsvm.report.trust import Bin, Curve
from ordsvm.report.words import number_text, percent_text, shortened_label

BARS, BAR = 12, 19.0  # bars on each side, and the height of one
NAMED = 6  # labels that have room in a legend


def weight_chart(weights: Weights) -> Markup:
    """The features that raise the rank most and those that lower it most."""
    bars = [(name, value, 0.0) for name, value in (*weights.rising(BARS), *weights.falling(BARS)[::-1])]
    label = "Weights of the features that raise and lower the rank most"
    return bar_chart(bars, label, "weight: lowers ← → raises the rank")


def importance_chart(importance: Importance) -> Markup:
    """How much worse predictions are without a column."""
    return bar_chart(importance.largest(BARS), "Ranks further off without a column", "ranks further off without it")


def bar_chart(bars: Sequence[tuple[str, float, float]], label: str, title: str) -> Markup:
    """A bar for every name, to the left or the right of zero, with the half-width of an interval where there is one."""
    chart = Chart(label, left=margin_for(name for name, *_ in bars), height=46.0 + BAR * max(1, len(bars)), top=4.0)
    low = min([0.0, *(value - error for _, value, error in bars)])
    high = max([0.0, *(value + error for _, value, error in bars)])
    low, high = (low, high) if high > low else (0.0, 1.0)
    x = chart.across(low, high)
    chart.x_axis(x, nice_ticks(low, high, 4), title)
    _, _, top, bottom = chart.plane
    for number, (name, value, error) in enumerate(bars):
        y = top + BAR * number
        spread = f" ± {number_text(error, 2)}" if error else ""
        box = (min(x(0), x(value)), y + 2, abs(x(value) - x(0)), BAR - 5)
        chart.bar(box, "first" if value > 0 else "second", f"{name}: {number_text(value)}{spread}")
        if error:
            chart.path(f"M{x(value - error):.1f} {y + BAR / 2:.1f}H{x(value + error):.1f}", "spread")
        chart.text_beside(y + BAR / 2, name)
    chart.path(f"M{x(0):.1f} {top:.1f}V{bottom:.1f}", "zero")
    return chart.render()


def dependence_chart(found: Dependence, thresholds: Floats | None, classes: NDArray[Any]) -> Markup:
    """The mean score along a column, and the middle nine tenths of the scores; thresholds in its range."""
    lower, upper = np.quantile(found.scores, [0.05, 0.95], axis=0)
    low, high = float(lower.min()), float(upper.max())
    low, high = (low, high) if high > low else (low - 0.5, low + 0.5)
    chart = Chart(f"Mean score along {found.name}", left=52)
    y = chart.upwards(low, high)
    chart.y_axis(y, nice_ticks(low, high, 5), "score")
    is_number = np.asarray(found.grid).dtype.kind in "iuf"
    places = [float(value) for value in found.grid] if is_number else [float(k) for k in range(len(found.grid))]
    margin, name = (0.0 if is_number else 0.5), shortened_label(found.name, 40)
    x = chart.across(places[0] - margin, places[-1] + margin)
    letters = max(3, 50 // len(places))
    texts = [number_text(value) if is_number else shortened_label(str(value), letters) for value in found.grid.tolist()]
    ticks = nice_ticks(places[0], places[-1], 5) if is_number else list(zip(places, texts, strict=True))
    chart.x_axis(x, ticks, name)
    for k, threshold in enumerate(() if thresholds is None else thresholds):
        if low <= threshold <= high:
            path = f"M{chart.plane[0]:.1f} {y(float(threshold)):.1f}H{chart.plane[1]:.1f}"
            chart.path(path, "threshold", f"threshold {classes[k]} | {classes[k + 1]}")
    edge = [*zip(places, upper, strict=True), *zip(places[::-1], lower[::-1], strict=True)]
    chart.path("M" + "L".join(f"{x(place):.1f} {y(float(value)):.1f}" for place, value in edge) + "Z", "band first")
    means = [float(mean) for mean in found.mean]
    tips = [f"{found.name} {text}: mean score {number_text(m)}" for text, m in zip(texts, means, strict=True)]
    chart.line([(x(place), y(mean)) for place, mean in zip(places, means, strict=True)], "first", tips)
    return chart.render()


def reliability_chart(bins: Sequence[Bin], classes: NDArray[Any]) -> Markup:
    """Shares that came true by predicted P(rank ≤ k): on the diagonal where probabilities are right."""
    chart = Chart("Observed shares by predicted cumulative probabilities", height=350, left=56, top=32)
    x, y = chart.across(0, 1), chart.upwards(0, 1)
    ticks = [(share, f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1.0)]
    chart.x_axis(x, ticks, "predicted P(label ≤ k)")
    chart.y_axis(y, ticks, "came true")
    chart.path(f"M{x(0):.1f} {y(0):.1f}L{x(1):.1f} {y(1):.1f}", "threshold")
    for k in sorted({one.rank for one in bins}):
        colour = rank_colour(k, len(classes))
        if len(classes) <= NAMED:
            place = chart.left + 76 * k
            chart.add('<rect fill="{c}" x="{x}" y="2" width="11" height="11"/>', c=colour, x=place)
            name = f"≤ {shortened_label(str(classes[k]), 6)}"
            chart.add('<text class="tick" x="{x}" y="12">{name}</text>', x=place + 15, name=name)
        mine = [one for one in bins if one.rank == k]
        path = "M" + "L".join(f"{x(one.predicted):.1f} {y(one.observed.value):.1f}" for one in mine)
        chart.add('<path class="line" stroke="{c}" d="{path}"/>', c=colour, path=path)
        for one in mine:
            shares = [percent_text(share) for share in (one.predicted, *one.observed)]
            tip = f"label ≤ {classes[k]}: predicted {shares[0]}, came true {shares[1]} ({shares[2]} to {shares[3]})"
            chart.path(f"M{x(one.predicted):.1f} {y(one.observed.low):.1f}V{y(one.observed.high):.1f}", "spread")
            chart.sample(x(one.predicted), y(one.observed.value), colour, f"{tip} of {one.rows} rows")
    return chart.render()


def curve_chart(curve: Curve) -> Markup:
    """The error by the number of training rows, with 95 % intervals; rows on a logarithmic axis."""
    points = curve.points
    low, high = min(p.error.low for p in points), max(p.error.high for p in points)
    low, high = (low, high) if high > low else (low - 0.5, low + 0.5)
    chart = Chart("Error by number of training rows", left=56)
    y = chart.upwards(low, high)
    chart.y_axis(y, nice_ticks(low, high, 5), "error in ranks")
    sizes = [float(np.log(p.rows)) for p in points]
    x = chart.across(sizes[0] - 0.2, sizes[-1] + 0.2)
    chart.x_axis(x, [(size, f"{p.rows:,}") for size, p in zip(sizes, points, strict=True)], "rows of training")
    for size, p in zip(sizes, points, strict=True):
        chart.path(f"M{x(size):.1f} {y(p.error.low):.1f}V{y(p.error.high):.1f}", "spread")
    tips = [f"{p.rows:,} rows: error {p.error.value:.3f} ({p.error.low:.3f} to {p.error.high:.3f})" for p in points]
    chart.line([(x(size), y(p.error.value)) for size, p in zip(sizes, points, strict=True)], "first", tips)
    return chart.render()
