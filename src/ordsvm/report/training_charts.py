"""The charts of training and of the search for parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ordsvm.metrics import SCORERS
from ordsvm.report.svg import Chart, Scale, margin_for, nice_ticks
from ordsvm.report.words import labels_of
from ordsvm.result import FitResult
from ordsvm.search.grids import short_number


def convergence_chart(result: FitResult) -> Markup:
    """Relative gap and violation over time, the end included."""
    looks: list[Any] = [*result.history, result]
    series = {
        name: [max(float(getattr(look, name)), 1e-16) for look in looks] for name in ("relative_gap", "violation")
    }
    powers = np.log10([value for values in series.values() for value in values])
    low, high = float(np.floor(powers.min())), float(np.ceil(powers.max() + 1e-9))
    chart = Chart("Relative gap and violation over the seconds of training", top=30, left=52)
    chart.legend([("first", "relative gap"), ("second", "violation")])
    y = chart.upwards(low, high)
    step = max(1, round((high - low) / 6))
    chart.y_axis(y, [(float(k), f"1e{k}".replace("-", "−")) for k in range(int(low), int(high) + 1, step)])
    x = _time_axis(chart, result)
    for kind, (name, values) in zip(("first", "second"), series.items(), strict=True):
        pairs, words = list(zip(looks, values, strict=True)), name.replace("_", " ")
        points = [(x(look.seconds), y(float(np.log10(value)))) for look, value in pairs]
        _thin_line(chart, points, kind, [f"{words} {value:.1e} after {look.seconds:.2f} s" for look, value in pairs])
    return chart.render()


def objective_chart(result: FitResult) -> Markup:
    """The objective and the proven bound below it: the optimum is between the two."""
    looks: list[Any] = [*result.history, result]
    later = looks[len(looks) // 4 :]  # the first looks are far off, and would stretch the axis
    low, high = min(look.objective - look.gap for look in later), max(look.objective for look in later)
    margin = 0.1 * (high - low) + 1e-9 * abs(high)
    low, high = low - margin, high + margin
    ticks = nice_ticks(low, high, 5)
    left = margin_for([text for _, text in ticks])
    chart = Chart("Objective and proven bound over the seconds of training", top=30, left=left)
    chart.legend([("first", "objective"), ("third", "proven bound")])
    y = chart.upwards(low, high)
    chart.y_axis(y, ticks)
    x = _time_axis(chart, result)
    _, _, top, bottom = chart.plane
    for kind, name, share in (("first", "objective", 0.0), ("third", "proven bound", 1.0)):
        pairs = [(look, look.objective - share * look.gap) for look in looks]
        points = [(x(look.seconds), min(max(y(value), top), bottom)) for look, value in pairs]
        _thin_line(chart, points, kind, [f"{name} {value:.6g} after {look.seconds:.2f} s" for look, value in pairs])
    return chart.render()


def threshold_chart(result: FitResult, classes: NDArray[Any]) -> Markup:
    """Where the thresholds were at every look."""
    names = labels_of(classes)
    paths = np.array([look.thresholds for look in result.history])
    low, high = float(paths.min()), float(paths.max())
    chart = Chart("Thresholds over the seconds of training")
    y = chart.upwards(low, high)
    chart.y_axis(y, nice_ticks(low, high))
    x = _time_axis(chart, result)
    for k, path in enumerate(paths.T):
        pairs, name = list(zip(result.history, path, strict=True)), f"{names[k]} | {names[k + 1]}"
        points = [(x(look.seconds), y(float(value))) for look, value in pairs]
        _thin_line(chart, points, "first", [f"{name}: {value:.4f} after {look.seconds:.2f} s" for look, value in pairs])
    return chart.render()


def tuning_chart(search: dict[str, Any], stage: int) -> Markup:
    """Mean scores of a stage of the search by C and gamma: the stronger a cell, the better; the best has a frame."""
    here = search["stage"] == stage
    C, gamma, score = search["tried"]["C"][here], search["tried"]["gamma"][here], search["score"][here]
    columns, lines = np.unique(C), np.unique(gamma)
    gain = score if SCORERS[search["metric"]].greater_is_better else -score
    is_known = np.isfinite(score)  # of points that were tried on all folds
    least, most = (float(end(gain[is_known])) if is_known.any() else 0.0 for end in (np.min, np.max))
    goodness = np.where(is_known, 0.06 + 0.94 * (gain - least) / (most - least or 1.0), 0.0)
    names = [short_number(value) for value in lines]
    chart = Chart(f"Mean {search['metric']} by C and gamma", left=margin_for(names, 30))
    left, right, top, bottom = chart.plane
    wide, high = (right - left) / len(columns), (bottom - top) / len(lines)
    best = int(np.argmax(goodness)) if is_known.any() else -1
    order = sorted(range(len(score)), key=lambda number: (number == best, is_known[number]))  # the frame above all
    for number in order:
        i, j = int(np.searchsorted(lines, gamma[number])), int(np.searchsorted(columns, C[number]))
        figure = f"{search['metric']} {score[number]:.4f}" if is_known[number] else "behind, and tried no further"
        tip = f"C {short_number(C[number])}, gamma {short_number(gamma[number])}: {figure}"
        box = (left + j * wide, bottom - (i + 1) * high, wide, high)
        chart.cell(box, float(goodness[number]), tip, "best" if number == best else "")
    shown = [short_number(value) if j % max(1, len(columns) // 7) == 0 else "" for j, value in enumerate(columns)]
    chart.category_axis(chart.across(-0.5, len(columns) - 0.5), shown, "C")
    up = chart.upwards(-0.5, len(lines) - 0.5)
    for i, name in enumerate(names):
        chart.text_beside(up(i), name)
    chart.up_title("gamma")
    return chart.render()


def _time_axis(chart: Chart, result: FitResult) -> Scale:
    x = chart.across(0, max(result.seconds, 1e-9))
    chart.x_axis(x, nice_ticks(0, max(result.seconds, 1e-9), 5), "seconds")
    return x


def _thin_line(chart: Chart, points: Sequence[tuple[float, float]], kind: str, tips: Sequence[str]) -> None:
    """A line with dots, without most of them where there are many."""
    step = max(1, len(points) // 60)
    kept = sorted({*range(0, len(points), step), len(points) - 1})
    chart.line([points[i] for i in kept], kind, [tips[i] for i in kept])
