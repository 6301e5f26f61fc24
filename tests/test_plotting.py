"""The displays: what is drawn is what was computed."""

import builtins

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import NPSVOR, SVOR, SVORIM, OrdinalSearchCV
from ordsvm.plotting import (
    ConvergenceDisplay,
    DecisionRegionsDisplay,
    OrdinalConfusionDisplay,
    ScoresDisplay,
    SearchDisplay,
    ThresholdPathDisplay,
)
from ordsvm.report.charts import label_levels
from ordsvm.search.grids import short_number
from tests.cases import random_data

mpl.use("Agg")
X, Y = random_data(0, n=80)
NAMES = np.array(["poor", "fair", "good", "great"])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return SVOR(gamma=0.3, categories=NAMES).fit(X, NAMES[Y])


@pytest.mark.parametrize("wrapped", [False, True])
def test_scores_by_rank(model, wrapped):
    drawn = make_pipeline(StandardScaler(), SVOR(categories=NAMES)).fit(X, NAMES[Y]) if wrapped else model
    display = ScoresDisplay.from_estimator(drawn, X, NAMES[Y])
    np.testing.assert_array_equal(display.score, drawn.decision_function(X))
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == list(NAMES)
    dashed = [line.get_xdata()[0] for line in display.ax_.lines if line.get_linestyle() == "--"]
    np.testing.assert_array_equal(dashed, display.thresholds)
    points = np.concatenate([c.get_offsets()[:, 0] for c in display.ax_.collections])
    np.testing.assert_allclose(np.sort(points), np.sort(display.score))


def test_confusion_matrix(model):
    display = OrdinalConfusionDisplay.from_estimator(model, X, NAMES[Y])
    predicted = model.predict(X)
    for row, true in enumerate(NAMES):
        for column, guess in enumerate(NAMES):
            assert display.matrix[row, column] == np.sum((NAMES[Y] == true) & (predicted == guess))
    assert sum(int(text.get_text()) for text in display.ax_.texts) == len(Y)
    numbers = {label: rank for rank, label in enumerate(NAMES)}
    error = np.mean([abs(y - numbers[p]) for y, p in zip(Y, predicted, strict=True)])
    assert f"{error:.3g}" in display.ax_.get_title()
    ordered = pd.Categorical(NAMES[Y], NAMES, ordered=True)
    np.testing.assert_array_equal(OrdinalConfusionDisplay.from_predictions(ordered, predicted).matrix, display.matrix)


def test_decision_regions():
    data = load_iris(as_frame=True)
    frame = data.data.iloc[:, 2:]
    for samples in (frame, frame.to_numpy()):
        fitted = SVORIM(gamma=0.5).fit(samples, data.target)
        display = DecisionRegionsDisplay.from_estimator(fitted, samples, data.target, resolution=20)
        middle = np.array([[display.first[7], display.second[12]]])
        asked = pd.DataFrame(middle, columns=frame.columns) if samples is frame else middle
        assert display.ranks[12, 7] == fitted.predict(asked)[0]
    with pytest.raises(ValueError, match="X has 3 features: regions are drawn of machines trained on two"):
        DecisionRegionsDisplay.from_estimator(SVOR().fit(X, Y), X, Y)


def test_convergence_of_several_solvers():
    solvers = ("gcd", "asyagcd")
    runs = {solver: SVOR(C=10.0, gamma=0.3, solver=solver).fit(X, Y, validation=(X, Y)) for solver in solvers}
    display = ConvergenceDisplay.from_estimator(runs, quantity="objective", clock="n_iter")
    assert list(display.runs) == ["gcd", "asyagcd"]
    steps, objective = display.runs["gcd"]
    history = runs["gcd"].result_.history
    np.testing.assert_array_equal(steps[: len(history)], [look.n_iter for look in history])
    assert objective[-1] == runs["gcd"].result_.objective
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["gcd", "asyagcd"]
    for quantity in ("relative_gap", "violation", "validation_mae"):
        assert ConvergenceDisplay.from_estimator(runs["gcd"], quantity=quantity).figure_ is not None
    with pytest.raises(ValueError, match="The fit has no validation_mae: give fit validation samples"):
        ConvergenceDisplay.from_estimator(SVOR().fit(X, Y), quantity="validation_mae")


def test_threshold_paths():
    C_values = [10.0, 0.1, 1.0]
    display = ThresholdPathDisplay.from_estimator(SVOR(gamma=0.3, tol=1e-8), X, Y, C=C_values)
    np.testing.assert_array_equal(display.at, [0.1, 1.0, 10.0])
    for C, thresholds in zip(display.at, display.thresholds, strict=True):
        np.testing.assert_allclose(thresholds, SVOR(C, gamma=0.3, tol=1e-8).fit(X, Y).thresholds_, atol=1e-5)
    fitted = SVOR(gamma=0.3).fit(X, Y, validation=(X, Y))
    steps = ThresholdPathDisplay.from_estimator(fitted)
    assert len(steps.at) == len(fitted.result_.history) + 1
    np.testing.assert_array_equal(steps.thresholds[-1], fitted.thresholds_)


def test_search_map():
    grid = {"C": [10.0, 1.0], "gamma": [0.1, 0.5, 2.0]}
    search = OrdinalSearchCV(SVOR(), grid, cv=3).fit(X, Y)
    display = SearchDisplay.from_estimator(search)
    for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        row, column = np.searchsorted(display.gamma, parameters["gamma"]), np.searchsorted(display.C, parameters["C"])
        assert display.score[row, column] == score
    assert f"C = {search.best_params_['C']:.3g}, gamma = {search.best_params_['gamma']:.3g}" in display.ax_.get_title()
    pipeline = make_pipeline(StandardScaler(), SVOR())
    named = OrdinalSearchCV(pipeline, {"svor__C": [1.0, 2.0], "svor__gamma": [0.1]}, cv=3).fit(X, Y)
    assert SearchDisplay.from_estimator(named).score.shape == (1, 2)


def test_axes_given_are_used(model):
    _, (left, right) = plt.subplots(1, 2)
    display = OrdinalConfusionDisplay.from_estimator(model, X, NAMES[Y], ax=left)
    assert display.ax_ is left
    assert display.plot(right).ax_ is right


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: ScoresDisplay.from_estimator(NPSVOR().fit(X, Y), X, Y), TypeError, "which NPSVOR lacks"),
        (lambda: ConvergenceDisplay.from_estimator(SVOR().fit(X, Y), quantity="loss"), ValueError, "'loss' is unknown"),
        (lambda: SearchDisplay.from_estimator(_search({"C": [1.0]})), ValueError, "no number for gamma at every point"),
        (lambda: SearchDisplay.from_estimator(_search({"C": [1.0]}), score="r2"), ValueError, "give one of 'score'"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(draw, error, message):
    with pytest.raises(error, match=message):
        draw()


def _search(grid):
    return OrdinalSearchCV(LogisticRegression(), grid, cv=2).fit(X, Y)


def test_without_matplotlib_there_is_one_sentence(monkeypatch, model):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="draws with matplotlib, which is not installed: pip install matplotlib"):
        OrdinalConfusionDisplay.from_estimator(model, X, NAMES[Y])


def test_thresholds_of_the_report_that_are_close_have_labels_above_each_other():
    places = label_levels([-2.2, -2.1, 0.0, 3.0], list("abcde"), 360 / 7)
    assert places == [(-2.2, "a | b", 0), (-2.1, "b | c", 1), (0.0, "c | d", 0), (3.0, "d | e", 0)]


def test_very_many_thresholds_in_one_place_share_a_label():
    places = label_levels([0.001 * k for k in range(9)], list("abcdefghij"), 360 / 7)
    assert [text for _, text, _ in places if text] == ["a … j"]
    assert len(places) == 10


def test_numbers_of_grids_are_short():
    assert [short_number(value) for value in (0.0005, 10**0.2, 1000.0, 63.0957)] == ["0.0005", "1.58", "1000", "63.1"]
