"""Makes the page: an auto-escaping template with what facts, reasons, checks and charts say about a model."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files
from typing import Any

from ordsvm.report import facts
from ordsvm.report.contents import Predictions
from ordsvm.report.findings import findings_section


def report_page(
    model: Any, machine: Any, title: str, predictions: Predictions | None = None, seconds: float = 20.0
) -> str:
    """Make one HTML page about a model, with charts, that needs no network.

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
    seconds : float, default=20.0
        Time for the learning curve; 0 leaves it out.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ImportError
        Where Jinja2 is not installed.

    See Also
    --------
    ordsvm.tables.TableModel : The model.

    Notes
    -----
    The template escapes every text of the model and of the data; the content policy of the page allows the programs of
    the package and no other.

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
    template, trusted = _template(), _trusted_files()
    from ordsvm.report import charts, sections

    figures = charts.all_charts(model, machine, predictions)
    return template.render(
        title=title,
        subtitle=facts.subtitle(model, predictions),
        headline=facts.headline(machine, predictions),
        metrics=facts.metrics(predictions),
        mistakes=facts.mistakes(machine, predictions),
        findings=findings_section(model, predictions),
        proof=facts.proof(machine),
        tuning=facts.tuning(model),
        card=facts.card(model, machine),
        why=sections.why(model, predictions),
        trust=sections.trust(model, predictions, seconds),
        figures=figures,
        policy=content_policy(trusted["programs"]),
        **trusted,
    )


def content_policy(programs: Iterable[str]) -> str:
    """The Content-Security-Policy of a page: it loads nothing, and executes these inline programs alone."""
    hashes = " ".join(f"'sha256-{b64encode(sha256(program.encode()).digest()).decode()}'" for program in programs)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def _trusted_files() -> dict[str, Any]:
    """The style and the program, which the page holds as they are: files of this package."""
    from markupsafe import Markup

    return {"style": Markup(_text("page.css")), "programs": [Markup(_text("page.js"))]}


def _text(name: str) -> str:
    return (files("ordsvm.report") / name).read_text(encoding="utf-8")


def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise ImportError("The report needs Jinja2: pip install 'ordsvm[report]'.") from None
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(_text("page.html.jinja"))
