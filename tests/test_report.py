"""The report's source: texts of a model are text, and the content policy allows the page's own programs alone."""

import dataclasses
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from ordsvm import SVOR, CalibratedOrdinal, LinearSVOR
from ordsvm.report import report_page
from ordsvm.report.charts import label_levels
from ordsvm.report.contents import Training, predictions_for, short_cell
from ordsvm.report.facts import proof
from ordsvm.report.trust import baselines, bootstrap, learning_curve, reliability, slices
from ordsvm.report.words import number_text, percent_text
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
        self._in_program = tag == "script"
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
    predictions = None
    if request.param == "evaluated":
        predictions = predictions_for(model, frame, y, numbers, HOSTILE, score)
        predictions = dataclasses.replace(predictions, training=Training(frame, y))
    return Page(report_page(model, model.machine_, HOSTILE, predictions, seconds=1.0))


def test_texts_of_a_model_are_text(page):
    """Fault 10: the status of a forged model file was markup."""
    tags = [tag for tag, _ in page.tags]
    assert "img" not in tags
    assert tags.count("script") == 1  # the page's own
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert {"svg", "rect"} <= set(tags)


def test_the_policy_allows_the_programs_of_the_page_and_no_other(page):
    """Fault 10: inline programs were allowed, whatever they are."""
    hashes = [f"'sha256-{b64encode(sha256(program.encode()).digest()).decode()}'" for program in page.programs]
    assert page.policy["script-src"] == hashes
    assert len(hashes) == 1
    assert page.policy["default-src"] == page.policy["base-uri"] == page.policy["form-action"] == ["'none'"]


def evaluated(machine, frame, y, text=()):
    """A model trained on two thirds of the rows, and its predictions for the others."""
    split = 2 * len(y) // 3
    model = TableModel(machine, TableEncoder(text)).fit(frame[:split], y[:split])
    rows, numbers = frame[split:], np.arange(split, len(y))
    score = model.decision_function(rows) if hasattr(model, "decision_function") else None
    made = predictions_for(model, rows, y[split:], numbers, "the others", score)
    return model, dataclasses.replace(made, training=Training(frame[:split], y[:split]))


def made_frame(n=240, seed=0):
    X, y = random_data(seed, n=n, n_ranks=3, noise=0.3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 0] > 0, "x", None))
    return frame, y


def test_a_text_model_names_the_words_that_push_up_and_down():
    random = np.random.default_rng(0)
    y = random.integers(3, size=150)
    words = np.array([["dirty", "loud"], ["plain", "fair"], ["clean", "quiet"]])
    frame = pd.DataFrame(
        {"text": [" ".join([*random.permutation(words[k]), random.choice(["room", "bar"])]) for k in y]}
    )
    model, predictions = evaluated(LinearSVOR(C=10), frame, y, ("text",))
    page = report_page(model, model.machine_, "Reviews", predictions, seconds=0.0)
    section = page[page.index("What raises and lowers the rank") :].split("</section>")[0]
    bars = [line for line in section.split("<rect") if "data-tip" in line]
    rising = [bar for bar in bars if "bar first" in bar]
    falling = [bar for bar in bars if "bar second" in bar]
    assert any("clean: " in bar for bar in rising)
    assert any("dirty: " in bar for bar in falling)
    assert not any("dirty: " in bar for bar in rising)
    assert "Some predictions explained" in page


def test_a_page_of_a_calibrated_model_has_every_section_and_is_light():
    frame, y = made_frame()
    model, predictions = evaluated(CalibratedOrdinal(SVOR(), cv=2), frame, y)
    page = report_page(model, model.machine_.estimator_, "Kinds", predictions, seconds=5.0)
    trust = ["Is the model worth it?", "Prediction sets", "Errors by slices", "Does more data help?"]
    why = ["Columns that matter", "The score along", "Some predictions explained", "Cases like this one"]
    titles = ["Are the probabilities right?", *trust, *why]
    assert [title for title in titles if title not in page] == []
    assert f"of 90% of all rows, not of every label; {model.guaranteed_coverage(0.9):.1%} is guaranteed" in page
    assert len(page) < 500_000
    assert "nan" not in page.replace("nance", "")
    assert "plotly" not in page.lower()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_training_search_and_two_features_are_drawn():
    X, y = random_data(0, n=240, n_features=2, n_ranks=3, noise=0.3)
    looked = SVOR(C=1e8, solver="gcd", time_limit=0.6, callback=lambda look: False)
    model, predictions = evaluated(looked, pd.DataFrame(X, columns=["a", "b"]), y)
    grid = {"C": np.array([1.0, 10.0, 1.0, 10.0]), "gamma": np.array([0.1, 0.1, 1.0, 1.0])}
    model.about_["tuning"] = {
        "tried": grid, "score": np.array([np.nan, 0.1, 0.2, 0.3]), "stage": np.ones(4), "metric": "mae", "folds": 5
    }  # fmt: skip
    page = report_page(model, model.machine_, "Charts", predictions, seconds=0.0)
    training = ["Relative gap and violation over the seconds", "Thresholds over the seconds"]
    others = ["Mean mae by C and gamma", "Predicted labels over two features", "C 10, gamma 1: mae 0.3000"]
    others += ["C 1, gamma 0.1: behind, and tried no further", "White points fell behind before all folds were tried"]
    assert 'class="cell best"' in page
    assert [words for words in training + others if words not in page] == []
    assert len(model.machine_.result_.history) > 1


def test_missing_cells_are_a_dash():
    """ "nan" stood for a missing text."""
    assert [short_cell(cell) for cell in (None, np.nan, pd.NA, pd.NaT, "nan", 1.25)] == [
        "–",
        "–",
        "–",
        "–",
        "nan",
        "1.25",
    ]


def test_shares_can_be_read():
    """3.8e-05 % was what a reader got."""
    texts = [percent_text(share) for share in (0.0, 3.8e-7, 3.8e-5, 0.0123, 0.5, 1.0)]
    assert texts == ["0 %", "less than 0.0001 %", "0.0038 %", "1.2 %", "50 %", "100 %"]
    assert [number_text(value) for value in (0.0, -0.01234, 1234.5, 12.34)] == ["0.00", "−0.0123", "1,234", "12.3"]


@pytest.mark.parametrize("gap", [0.0, 0.01, 0.3, 5.0])
def test_no_label_of_a_threshold_covers_another(gap):
    """ "6|7|8|9" was one label of three thresholds."""
    names = [str(k) for k in range(1, 7)]
    thresholds = [gap * k for k in range(5)]
    units = 360 / 27
    placed = label_levels(thresholds, names, units)
    one_place = units * gap * 4 < 6
    expected = ["1 … 6"] if one_place else [f"{k} | {k + 1}" for k in range(1, 6)]
    assert sorted(text for _, text, _ in placed if text) == expected
    for i, (place, text, level) in enumerate(placed):
        for other, also, its in placed[:i]:
            if level == its and text and also:
                assert abs(place - other) * units >= 7.6 * (len(text) + len(also)) / 2


def test_what_ends_training_is_said_rightly():
    """ "Both have to fall to the tolerance" was said where the gap alone counts."""
    frame, y = made_frame(90)
    for machine, expected in ((LinearSVOR(), "when the gap falls"), (SVOR(solver="gcd"), "when both fall")):
        model = TableModel(machine, TableEncoder()).fit(frame, y)
        assert expected in proof(model.machine_).rule
        model.machine_.result_ = dataclasses.replace(model.machine_.result_, history=())
        assert "too short for a chart" in report_page(model, model.machine_, "t")


def test_baselines_differ_by_as_much_as_they_say():
    frame, y = made_frame()
    model, predictions = evaluated(SVOR(), frame, y)
    found = baselines(model, predictions)
    assert found[0].name.startswith("always ")
    assert len(found) == 2
    for one in found:
        assert one.difference.value == pytest.approx(predictions.distance.mean() - one.error)
        assert one.difference.low <= one.difference.value <= one.difference.high
    assert found[0].difference.high < 0  # these labels can be predicted
    alone = baselines(model, dataclasses.replace(predictions, training=None))
    assert len(alone) == 1


def test_paired_intervals_hold_zero_in_most_cases_where_nothing_differs():
    random = np.random.default_rng(0)
    held = [
        low <= 0 <= high
        for _, low, high in (bootstrap(random.integers(-2, 3, size=80).astype(float)) for _ in range(100))
    ]
    assert 0.86 <= np.mean(held) <= 1.0


def test_reliability_counts_every_row_once_a_rank():
    frame, y = made_frame()
    _, predictions = evaluated(CalibratedOrdinal(SVOR(), cv=2), frame, y)
    bins = reliability(predictions)
    for k in (0, 1):
        assert sum(one.rows for one in bins if one.rank == k) == len(predictions.true)
    total = sum(one.observed.value * one.rows for one in bins if one.rank == 0)
    assert total == pytest.approx(np.sum(predictions.true == 0))


def test_slices_find_where_a_model_fails():
    frame, y = made_frame()
    model, predictions = evaluated(SVOR(), frame, y)
    bad = (predictions.rows["kind"] == "x").to_numpy()
    worse = np.where(bad, 2 - predictions.true, predictions.true)
    found = slices(model, dataclasses.replace(predictions, predicted=worse))
    assert found[0].name in ("kind = x", "kind is missing")
    assert abs(found[0].difference.value) > 0.5


def test_the_learning_curve_ends_in_time_and_with_the_model_itself():
    frame, y = made_frame()
    model, predictions = evaluated(SVOR(), frame, y)
    curve = learning_curve(model, predictions, 30.0)
    assert [point.rows for point in curve.points] == [10, 20, 40, 80, 160]
    assert curve.points[-1].error.value == pytest.approx(predictions.distance.mean())
    assert [point.rows for point in learning_curve(model, predictions, 1e-9).points] == [160]
    assert learning_curve(model, dataclasses.replace(predictions, training=None), 1.0).points == []
