"""One callback for terminals, notebooks and scikit-learn's own callbacks."""

import io
from copy import deepcopy

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from ordsvm import NPSVOR, SVOR, LinearNPSVOR
from ordsvm.progress import ProgressLine, closeness
from ordsvm.result import Progress
from tests.cases import random_data

X, Y = random_data(0, n=600, noise=3.0)
SLOW = {"kernel": "linear", "C": 1e6, "tol": 1e-9, "solver": "block"}  # long enough for several looks
MACHINES = [SVOR(**SLOW), NPSVOR(**SLOW), LinearNPSVOR(C=1e6, tol=1e-9, max_iter=-1, solver="rank-dcd")]


def look(gap):
    return Progress("gcd", 1234, 0.5, 10.0, gap, gap, 0.25, 77, 5, 100, np.zeros(3))


def test_the_line_in_a_terminal():
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=120, color_system=None)
    with ProgressLine(tol=1e-4, title="SVOR", console=console) as line:
        assert line(look(1e-2)) is False
    shown = file.getvalue()
    assert "SVOR" in shown
    assert "1,234 steps" in shown
    assert "gap 1.0e-02" in shown
    assert "violation 2.5e-01" in shown
    assert "77 support vectors" in shown


def test_nothing_is_written_to_what_is_no_terminal():
    file = io.StringIO()
    with ProgressLine(console=Console(file=file)) as line:
        line(look(0.5))
    assert file.getvalue() == ""


def test_closeness_counts_digits():
    assert closeness(1.0, 1e-4) == 0.0
    assert closeness(5.0, 1e-4) == 0.0
    assert closeness(1e-2, 1e-4) == pytest.approx(0.5)
    assert closeness(1e-5, 1e-4) == 1.0
    assert closeness(np.nan, 1e-4) == 1.0


def test_clones_report_to_the_same_line():
    line = ProgressLine(console=Console(file=io.StringIO()))
    assert clone(SVOR(callback=line)).callback is line
    assert deepcopy(line) is line


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_stop_ends_a_fit(machine):
    with ProgressLine(console=Console(file=io.StringIO())) as line:
        line.stop()
        with pytest.warns(ConvergenceWarning):
            fitted = clone(machine).set_params(callback=line).fit(X, Y)
    assert fitted.result_.status == "callback"
    assert line.last is not None


class Recorder:
    """A callback of scikit-learn's protocol, which may stop the fit after so many looks."""

    max_propagation_depth = None

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.begun, self.ended, self.torn_down = [], [], 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        return self.stop_after is not None and self.ended.count("look") >= self.stop_after


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_callbacks_of_scikit_learn(machine):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    recorder, own = Recorder(stop_after=2), []
    fitted = clone(machine).set_params(callback=own.append).set_callbacks(recorder)
    with pytest.warns(ConvergenceWarning):
        fitted.fit(X, Y)
    assert fitted.result_.status == "callback"
    assert recorder.ended == ["look", "look", "fit"]
    assert recorder.begun == ["fit", "look", "look"]
    assert recorder.torn_down == 1
    assert len(own) == 2


def test_callbacks_reach_machines_in_a_search():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    recorder = Recorder()
    search = GridSearchCV(SVOR(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(recorder)
    search.fit(X[:60], Y[:60])
    assert recorder.torn_down == 1
    assert len(recorder.ended) >= 5  # two parameters, two folds, and the search itself
