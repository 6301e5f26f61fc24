"""The report's source: texts of a model are text, and the content policy allows the page's own programs alone."""

import dataclasses
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from ordsvm import SVOR
from ordsvm.report import report_page
from ordsvm.report.contents import predictions_for
from ordsvm.tables import TableEncoder, TableModel
from tests.cases import random_data

HOSTILE = "x<img src=x onerror=boom()><script>boom()</script>\"'&"


class Page(HTMLParser):
    """Tags, programs, and the content policy of a page."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.programs, self.policy = [], [], {}
        self._in_program = False
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append((tag, values))
        self._in_program = tag == "script" and values.get("type") != "application/json"
        if values.get("http-equiv") == "Content-Security-Policy":
            rules = (rule.split() for rule in values["content"].split(";"))
            self.policy = {name: sources for name, *sources in rules}

    def handle_endtag(self, tag):
        self._in_program = False

    def handle_data(self, data):
        if self._in_program:
            self.programs.append(data)


def hostile_model():
    """A model whose every text is markup: labels, columns, cells, its record, and the result of its fit."""
    X, y = random_data(0, n=60, n_ranks=3, noise=2.0)
    frame = pd.DataFrame(X[:, :2], columns=[HOSTILE, "b"]).assign(c=np.where(X[:, 0] > 0, HOSTILE, "c"))
    labels = np.array([HOSTILE, "b", "c"])
    model = TableModel(SVOR(categories=labels.tolist()), TableEncoder(), HOSTILE).fit(frame, labels[y])
    result = model.machine_.result_
    history = tuple(dataclasses.replace(look, solver=HOSTILE) for look in result.history)
    model.machine_.result_ = dataclasses.replace(result, status=HOSTILE, solver=HOSTILE, history=history)
    record = dict.fromkeys(("trained", "data", "data_sha256", "ordsvm"), HOSTILE)
    tried = {"C": np.array([1.0, 10.0]), "gamma": np.array([1.0, 1.0])}
    search = {"tried": tried, "stage": np.array([1, 1]), "score": np.array([1.0, 2.0]), "metric": "mae"}
    model.about_ = record | {"n_rows": 60, "tuning": search | {"folds": HOSTILE}}
    return model, frame, labels[y]


@pytest.fixture(scope="module", params=["evaluated", "alone"])
def page(request):
    model, frame, y = hostile_model()
    numbers, score = np.arange(len(y)), model.decision_function(frame)
    predictions = predictions_for(model, frame, y, numbers, HOSTILE, score) if request.param == "evaluated" else None
    return Page(report_page(model, model.machine_, HOSTILE, predictions))


def test_texts_of_a_model_are_text(page):
    """Fault 10: the status of a forged model file was markup."""
    tags = [tag for tag, _ in page.tags]
    assert "img" not in tags
    assert tags.count("script") == 3  # figures, Plotly, and the page's own
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]


def test_the_policy_allows_the_programs_of_the_page_and_no_other(page):
    """Fault 10: inline programs were allowed, whatever they are."""
    hashes = [f"'sha256-{b64encode(sha256(program.encode()).digest()).decode()}'" for program in page.programs]
    assert page.policy["script-src"] == hashes
    assert len(hashes) == 2
    assert page.policy["default-src"] == page.policy["base-uri"] == page.policy["form-action"] == ["'none'"]
