"""The charts of the report as Plotly figures. Colours of the background and fonts are set by the page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ordsvm._typing import Floats
from ordsvm.metrics import SCORERS
from ordsvm.model_selection.grids import short_number
from ordsvm.report.contents import Predictions
from ordsvm.report.facts import tuning
from ordsvm.result import FitResult

POINTS = 3000  # the most samples that are drawn one by one
SCALE = [[0, "rgba(66,113,214,0)"], [1, "rgba(66,113,214,1)"]]  # on whatever background the page has
ACCENT, SECOND, THIRD, RIGHT, WRONG = "#4271d6", "#d9822b", "#8f59c4", "#3a9d6e", "#d6504b"


def all_charts(model: Any, machine: Any, predictions: Predictions | None) -> dict[str, go.Figure]:
    """Every chart that the model and the predictions allow, by its place on the page."""
    figures = {} if predictions is None else _prediction_charts(model, machine, predictions)
    return figures | _training_charts(model, machine) | _tuning_charts(model)


def _prediction_charts(model: Any, machine: Any, predictions: Predictions) -> dict[str, go.Figure]:
    figures = {"confusion": confusion_chart(predictions), "ranks": rank_chart(predictions)}
    if predictions.score is not None and hasattr(machine, "thresholds_"):
        figures["scores"] = score_chart(predictions, machine.thresholds_)
    if machine.n_features_in_ == 2 and getattr(model, "encoder_", None) is not None:  # a plane can be drawn
        features = np.asarray(model.features(predictions.rows), dtype=np.float64)
        names = model.encoder_.get_feature_names_out()
        figures["regions"] = region_chart(model.machine_, predictions, features, names)
    return figures


def _training_charts(model: Any, machine: Any) -> dict[str, go.Figure]:
    result = machine.result_
    looks = result.history
    if not looks:
        return {}
    figures = {"convergence": convergence_chart(result), "objective": objective_chart(result)}
    if len(looks) > 1 and hasattr(machine, "thresholds_") and len(looks[0].thresholds) == len(machine.thresholds_):
        figures["thresholds"] = threshold_chart(result, model.classes_)
    return figures


def _tuning_charts(model: Any) -> dict[str, go.Figure]:
    return {stage.chart: tuning_chart(model.about_["tuning"], stage.number) for stage in tuning(model)}


def confusion_chart(predictions: Predictions) -> go.Figure:
    """Shares of every true rank, with counts."""
    counts = predictions.evaluation.confusion
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = labels_of(predictions.classes)
    hover = "true %{y}, predicted %{x}<br>%{text} rows, %{z:.1%} of this label<extra></extra>"
    heat = go.Heatmap(
        z=share, x=names, y=names, text=counts, texttemplate="%{text}", colorscale=SCALE, zmin=0, zmax=1,
        hovertemplate=hover, showscale=False, xgap=2, ygap=2,
    )  # fmt: skip
    figure = go.Figure(heat)
    figure.update_xaxes(title="predicted", type="category")
    figure.update_yaxes(title="true", type="category", autorange="reversed")
    return figure


def score_chart(predictions: Predictions, thresholds: Floats) -> go.Figure:
    """The score of every row by its true rank, with the thresholds that cut it."""
    assert predictions.score is not None
    figure = go.Figure()
    names = labels_of(predictions.classes)
    random = np.random.default_rng(0)
    chosen = random.permutation(len(predictions.score))[:POINTS]
    chosen = chosen[np.argsort(predictions.true[chosen], kind="stable")]
    spread = random.uniform(-0.3, 0.3, size=len(chosen))
    for is_right, colour, name in ((True, RIGHT, "right"), (False, WRONG, "wrong")):
        mine = (predictions.predicted[chosen] == predictions.true[chosen]) == is_right
        rows = chosen[mine]
        details = np.column_stack([predictions.numbers[rows], np.take(names, predictions.true[rows]),
                                   np.take(names, predictions.predicted[rows])])  # fmt: skip
        figure.add_scatter(
            x=predictions.score[rows], y=predictions.true[rows] + spread[mine], mode="markers", name=name,
            customdata=details, marker={"size": 5, "opacity": 0.6, "color": colour},
            hovertemplate="row %{customdata[0]}: true %{customdata[1]}, predicted %{customdata[2]}"
            "<br>score %{x:.3f}<extra></extra>",
        )  # fmt: skip
    for threshold in thresholds:
        figure.add_vline(x=float(threshold), line={"width": 1.5, "dash": "dot", "color": ACCENT})
    for place, text in _threshold_names(thresholds, names, 0.05 * float(np.ptp([*predictions.score, *thresholds]))):
        figure.add_annotation(x=place, y=1.0, yref="paper", yanchor="bottom", showarrow=False, text=text,
                              font={"size": 10})  # fmt: skip
    figure.update_xaxes(title="score")
    figure.update_yaxes(title="true label", tickmode="array", tickvals=list(range(len(names))), ticktext=names)
    return figure


def _threshold_names(thresholds: Floats, names: list[str], distance: float) -> Iterator[tuple[float, str]]:
    """Where to write which ranks a threshold separates: "1|2", or "1|2|3" for two that are closer than `distance`."""
    start = 0
    for k in range(1, len(thresholds) + 1):
        if k == len(thresholds) or abs(thresholds[k] - thresholds[k - 1]) > distance:
            yield float(np.mean(thresholds[start:k])), "|".join(names[start : k + 1])
            start = k


def rank_chart(predictions: Predictions) -> go.Figure:
    """How many rows have each label, truly and by prediction."""
    names = labels_of(predictions.classes)
    confusion = predictions.evaluation.confusion
    figure = go.Figure()
    figure.add_bar(x=names, y=confusion.sum(axis=1), name="true", marker={"color": ACCENT})
    figure.add_bar(x=names, y=confusion.sum(axis=0), name="predicted", marker={"color": SECOND})
    figure.update_layout(barmode="group")
    figure.update_xaxes(title="label", type="category")
    figure.update_yaxes(title="rows")
    return figure


def convergence_chart(result: FitResult) -> go.Figure:
    """Relative gap and violation over time, the end included."""
    figure = go.Figure()
    seconds = [look.seconds for look in result.history] + [result.seconds]
    for name, colour in (("relative_gap", ACCENT), ("violation", SECOND)):
        values = [getattr(look, name) for look in (*result.history, result)]
        figure.add_scatter(
            x=seconds, y=np.maximum(values, 1e-16), mode="lines+markers", name=name.replace("_", " "),
            line={"color": colour}, hovertemplate="%{x:.2f} s: %{y:.2e}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title="seconds")
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    return figure


def objective_chart(result: FitResult) -> go.Figure:
    """The objective and the proven bound below it: the optimum is between the two."""
    seconds = [look.seconds for look in result.history] + [result.seconds]
    looks: list[Any] = [*result.history, result]
    figure = go.Figure()
    bounds = (("objective", [look.objective for look in looks]), ("proven bound", [x.objective - x.gap for x in looks]))
    for (name, values), colour in zip(bounds, (ACCENT, THIRD), strict=True):
        figure.add_scatter(x=seconds, y=values, mode="lines+markers", name=name, line={"color": colour},
                           hovertemplate="%{x:.2f} s: %{y:.6g}<extra></extra>")  # fmt: skip
    figure.update_xaxes(title="seconds")
    later = looks[len(looks) // 4 :]  # the first looks are far off, and would stretch the axis
    low, high = min(look.objective - look.gap for look in later), max(look.objective for look in later)
    margin = 0.1 * (high - low) + 1e-9 * abs(high)
    figure.update_yaxes(range=[low - margin, high + margin])
    return figure


def threshold_chart(result: FitResult, classes: NDArray[Any]) -> go.Figure:
    """Where the thresholds were at every look."""
    names = labels_of(classes)
    seconds = [look.seconds for look in result.history]
    paths = np.array([look.thresholds for look in result.history])
    figure = go.Figure()
    for k, path in enumerate(paths.T):
        figure.add_scatter(x=seconds, y=path, mode="lines+markers", name=f"{names[k]} | {names[k + 1]}",
                           hovertemplate="%{x:.2f} s: %{y:.4f}")  # fmt: skip
    figure.update_xaxes(title="seconds")
    figure.update_yaxes(title="threshold")
    return figure


def tuning_chart(search: dict[str, Any], stage: int) -> go.Figure:
    """Mean scores of a stage of the search by C and gamma."""
    here = search["stage"] == stage
    smaller_is_better = not SCORERS[search["metric"]].greater_is_better
    C, gamma = search["tried"]["C"][here], search["tried"]["gamma"][here]
    columns, lines = np.unique(C), np.unique(gamma)
    grid = np.full((len(lines), len(columns)), np.nan)
    grid[np.searchsorted(lines, gamma), np.searchsorted(columns, C)] = search["score"][here]
    heat = go.Heatmap(
        z=grid, x=[short_number(value) for value in columns], y=[short_number(value) for value in lines],
        colorscale="Viridis",
        reversescale=smaller_is_better, colorbar={"title": search["metric"], "thickness": 12},
        hovertemplate="C %{x}, gamma %{y}<br>%{z:.4f}<extra></extra>",
    )  # fmt: skip
    figure = go.Figure(heat)
    figure.update_xaxes(title="C", type="category")
    figure.update_yaxes(title="gamma", type="category")
    return figure


def region_chart(model: Any, predictions: Predictions, features: Floats, names: list[str]) -> go.Figure:
    """The predicted rank over the plane of two features, with the rows on it."""
    low, high = features.min(axis=0), features.max(axis=0)
    margin = 0.08 * np.maximum(high - low, 1e-12)
    axes = [np.linspace(low[i] - margin[i], high[i] + margin[i], 120) for i in range(2)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    position = {label: rank for rank, label in enumerate(predictions.classes.tolist())}
    ranks = np.array([position[label] for label in model.predict(grid).tolist()]).reshape(120, 120)
    labels = labels_of(predictions.classes)
    figure = go.Figure(
        go.Heatmap(z=ranks, x=axes[0], y=axes[1], colorscale="Viridis", opacity=0.55, hoverinfo="skip",
                   colorbar={"tickvals": list(range(len(labels))), "ticktext": labels, "thickness": 12})
    )  # fmt: skip
    chosen = np.random.default_rng(0).permutation(len(features))[:POINTS]
    figure.add_scatter(
        x=features[chosen, 0], y=features[chosen, 1], mode="markers", showlegend=False,
        text=np.take(labels, predictions.true[chosen]), hovertemplate="true %{text}<extra></extra>",
        marker={"color": predictions.true[chosen], "colorscale": "Viridis", "size": 6, "line": {"width": 1}},
    )  # fmt: skip
    figure.update_xaxes(title=escape(names[0]))
    figure.update_yaxes(title=escape(names[1]))
    return figure


def labels_of(classes: NDArray[Any]) -> list[str]:
    """Labels as text that Plotly shows as it is."""
    return [escape(str(label)) for label in classes.tolist()]
