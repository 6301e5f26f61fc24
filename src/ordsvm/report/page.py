"""Puts the page together: text, tables and charts, with styles, program and Plotly inside it."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ordsvm.metrics import PROBABILITY_SCORERS, SCORERS
from ordsvm.report.contents import Mistake, Predictions, costly_mistakes, costs_of

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def report_page(model: Any, machine: Any, title: str, predictions: Predictions | None = None) -> str:
    """Make one HTML page about a model, with interactive charts, that needs no network.

    Parameters
    ----------
    model : TableModel
        The fitted model, with what the command line recorded about its training.
    machine : estimator
        The trained estimator inside it that has `result_`.
    title : str
        The title of the page.
    predictions : Predictions or None, default=None
        Predictions of rows with known labels, where there are any.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ImportError
        Where plotly is not installed.

    See Also
    --------
    ordsvm.tables.TableModel : The model.

    Examples
    --------
    >>> import pandas as pd
    >>> from ordsvm import SVOR
    >>> from ordsvm.report import report_page
    >>> from ordsvm.tables import TableEncoder, TableModel
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]})
    >>> model = TableModel(SVOR(), TableEncoder()).fit(frame, [0, 0, 1, 1])
    >>> page = report_page(model, model.machine_, "Sizes")
    >>> page.startswith("<!doctype html>"), "<h1>Sizes</h1>" in page
    (True, True)
    """
    charts = _plotly_charts()
    figures: dict[str, Any] = {}
    parts = [_headline(machine, predictions)]
    if predictions is not None:
        parts += _about_predictions(charts, figures, machine, predictions)
        parts += _regions(charts, figures, model, machine, predictions)
    parts += _about_training(charts, figures, model, machine)
    parts.append(_card(model, machine))
    data = {name: json.loads(figure.to_json()) for name, figure in figures.items()}
    return _document(title, _subtitle(model, predictions), parts, data)


def _document(title: str, subtitle: str, parts: list[str], figures: dict[str, Any]) -> str:
    from plotly.offline import get_plotlyjs

    here = files("ordsvm.report")
    style, program = ((here / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    data = json.dumps(figures).replace("</", "<\\/")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<header>
<div><h1>{escape(title)}</h1><p class="soft">{escape(subtitle)}</p></div>
<button class="theme" type="button">light / dark</button>
</header>
{"".join(parts)}
</main>
<script type="application/json" id="figures">{data}</script>
<script>{get_plotlyjs()}</script>
<script>
{program}</script>
</body>
</html>
"""


def _subtitle(model: Any, predictions: Predictions | None) -> str:
    trained = f"trained {_when(model.about_.get('trained', ''))} on {model.about_.get('n_rows', 0):,} rows"
    trained += f" of {model.about_.get('data', 'unknown data')}"
    return trained if predictions is None else f"{trained}; evaluated on {predictions.about}"


def _when(time: str) -> str:
    """An ISO time in UTC for a reader."""
    return time.replace("T", " ").replace("+00:00", " UTC")


def _headline(machine: Any, predictions: Predictions | None) -> str:
    """The few numbers that matter most."""
    figures = []
    if predictions is not None:
        metrics = predictions.evaluation.metrics
        error, near = metrics["mae"], metrics["off_by_one"]
        figures.append(
            ("mean absolute error in ranks", f"{error.value:.3f}", f"95 %: {error.low:.3f} – {error.high:.3f}")
        )
        right = 1 - metrics["mze"].value
        figures.append(("right", f"{right:.1%}", f"at most one rank off: {near.value:.1%}"))
    result = machine.result_
    figures.append(
        ("from the best possible objective", f"≤ {100 * result.relative_gap:.2g} %", f"proven; {result.status}")
    )
    cards = [f'<section><span class="soft">{name}</span><b>{value}</b><span class="soft">{more}</span></section>'
             for name, value, more in figures]  # fmt: skip
    return f'<div class="figures">{"".join(cards)}</div>'


def _about_predictions(charts: Any, figures: dict[str, Any], machine: Any, predictions: Predictions) -> list[str]:
    figures["confusion"] = charts.confusion_chart(predictions)
    figures["ranks"] = charts.rank_chart(predictions)
    parts = [
        '<div class="pair">'
        + _chart("confusion", "True and predicted labels", "Numbers of rows; shades are shares of a true label.")
        + _section(
            "How good the predictions are",
            "Intervals hold 95 % of the values on rows drawn again.",
            _metrics(predictions),
        )
        + "</div>"
    ]
    if predictions.score is not None and hasattr(machine, "thresholds_"):
        figures["scores"] = charts.score_chart(predictions, machine.thresholds_)
        text = "Every dot is a row; dotted lines are the thresholds that cut the score into ranks."
        parts.append(_chart("scores", "Scores by true label", text))
    mistakes = costly_mistakes(predictions, costs_of(machine, len(predictions.classes)))
    parts.append(_mistakes(mistakes, len(predictions.true)))
    parts.append(_chart("ranks", "Labels", "How many rows have each label, truly and by prediction."))
    return parts


def _regions(charts: Any, figures: dict[str, Any], model: Any, machine: Any, predictions: Predictions) -> list[str]:
    """Only two features can be drawn."""
    if machine.n_features_in_ != 2 or getattr(model, "encoder_", None) is None:
        return []
    features = np.asarray(model.features(predictions.rows), dtype=np.float64)
    names = model.encoder_.get_feature_names_out()
    figures["regions"] = charts.region_chart(model.machine_, predictions, features, names)
    return [_chart("regions", "Predicted labels over the two features", "Features are standardised.")]


def _about_training(charts: Any, figures: dict[str, Any], model: Any, machine: Any) -> list[str]:
    result = machine.result_
    proof = (
        f"<p>The objective is {result.objective:.6g}, and the dual solution proves that no model of this kind gets "
        f'below {result.objective - result.gap:.6g}: <span class="proof">the gap is {result.gap:.3g}, '
        f"{100 * result.relative_gap:.2g} % of the objective</span>. Largest violation of the optimality conditions: "
        f"{result.violation:.2g}. Status: {escape(result.status)}, after {result.seconds:.2f} s and {result.n_iter:,} "
        f"steps of {escape(result.solver)}.</p>"
    )
    looks = result.history
    if not looks:
        proof += '<p class="soft">It ended before its progress was recorded.</p>'
        return [_section("How training converged", "", proof), *_tuning(charts, figures, model)]
    figures["convergence"], figures["objective"] = charts.convergence_chart(result), charts.objective_chart(result)
    parts = [
        _section("How training converged", "", proof),
        '<div class="pair">'
        + _chart("convergence", "Gap and violation", "Both have to fall to the tolerance.")
        + _chart("objective", "Objective and proven bound", "The optimum lies between the two.")
        + "</div>",
    ]
    if len(looks) > 1 and hasattr(machine, "thresholds_") and len(looks[0].thresholds) == len(machine.thresholds_):
        figures["thresholds"] = charts.threshold_chart(result, model.classes_)
        parts.append(_chart("thresholds", "Thresholds during training", "Where they were at every look."))
    return parts + _tuning(charts, figures, model)


def _tuning(charts: Any, figures: dict[str, Any], model: Any) -> list[str]:
    tuning = model.about_.get("tuning")
    if not tuning or "gamma" not in tuning["tried"]:
        return []
    tuning = tuning | {"smaller_is_better": not SCORERS[tuning["metric"]].greater_is_better}
    parts = []
    for stage, name in ((1, "coarse"), (2, "fine")):
        if np.any(tuning["stage"] == stage):
            figures[f"tuning-{name}"] = charts.tuning_chart(tuning, stage)
            text = f"Mean {tuning['metric']} over {tuning['folds']} folds."
            parts.append(_chart(f"tuning-{name}", f"The search for C and gamma, {name}", text))
    return [f'<div class="pair">{"".join(parts)}</div>']


def _metrics(predictions: Predictions) -> str:
    scorers = SCORERS | PROBABILITY_SCORERS
    rows = [
        f"<tr><td>{escape(scorers[name].metric.__name__.replace('_', ' '))}</td>"
        f'<td class="number"><b>{estimate.value:.3f}</b></td>'
        f'<td class="number soft">{estimate.low:.3f} – {estimate.high:.3f}</td>'
        f'<td class="soft">{"large" if scorers[name].greater_is_better else "small"}</td></tr>'
        for name, estimate in predictions.evaluation.metrics.items()
    ]
    head = '<tr><th>metric</th><th class="number">value</th><th class="number">95 % interval</th><th>best is</th></tr>'
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _mistakes(mistakes: list[Mistake], n_rows: int) -> str:
    title = "The most costly mistakes"
    if not mistakes:
        return _section(title, "", f"<p>None: all {n_rows:,} rows are right.</p>")
    numbers = ["row", "cost"] + [name for name in ("score", "probability") if getattr(mistakes[0], name) is not None]
    cells = list(mistakes[0].cells)
    heads = [("row", True), ("true", False), ("predicted", False), *((name, True) for name in numbers[1:])]
    heads += [(name, False) for name in cells]
    head = "".join(
        f'<th{" class=number" if is_number else ""}><button type="button">{escape(name)}</button></th>'
        for name, is_number in heads
    )
    body = "".join(_mistake_row(mistake, numbers[1:]) for mistake in mistakes)
    text = f"The worst {len(mistakes):,}. A click on a heading sorts; rows count from 1."
    table = f'<table id="mistakes"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return _section(title, text, f'<div class="scroll tall">{table}</div>')


def _mistake_row(mistake: Mistake, numbers: list[str]) -> str:
    values = [getattr(mistake, name) for name in numbers]
    cells = [
        f'<td class="number">{mistake.row}</td><td>{escape(mistake.true)}</td><td>{escape(mistake.predicted)}</td>'
    ]
    cells += [f'<td class="number" data-value="{value!r}">{value:.4g}</td>' for value in values]
    cells += [
        f'<td class="cell{" long" if len(text) > 40 else ""}">{escape(text)}</td>' for text in mistake.cells.values()
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _card(model: Any, machine: Any) -> str:
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
    if model.encoder_ is not None:
        columns = model.encoder_.columns_
        facts["columns"] = ", ".join(f"{c.name} ({type(c).__name__.removesuffix('Column').lower()})" for c in columns)
    facts |= {
        "trained": f"{_when(about.get('trained', ''))} by ordsvm {about.get('ordsvm', '')}",
        "on": f"{about.get('n_rows', 0):,} rows of {about.get('data', 'unknown data')}",
        "SHA-256 of the data": str(about.get("data_sha256", "")),
    }
    rows = [
        f'<tr><td class="soft">{escape(key)}</td><td class="cell">{escape(text)}</td></tr>'
        for key, text in facts.items()
    ]
    return _section("Data and model", "", f'<div class="scroll"><table><tbody>{"".join(rows)}</tbody></table></div>')


def _chart(name: str, title: str, text: str) -> str:
    return _section(title, text, f'<div class="chart" id="{name}" role="img" aria-label="{escape(title)}"></div>')


def _section(title: str, text: str, content: str) -> str:
    note = f'<p class="soft">{text}</p>' if text else ""
    return f"<section><h2>{title}</h2>{note}{content}</section>\n"


def _plotly_charts() -> Any:
    try:
        from ordsvm.report import charts
    except ImportError:
        raise ImportError("The report needs plotly: pip install 'ordsvm[report]'.") from None
    return charts
