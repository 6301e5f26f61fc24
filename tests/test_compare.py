"""`ordsvm compare`: the recommendation, its reason, and the winner in a file."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy.stats import t

from ordsvm import load
from ordsvm.cli.app import run
from ordsvm.cli.commands import compare as _command  # noqa: F401 (loads the module)
from ordsvm.cli.recommendation import Difference, difference, recommended

CONSTANT = "one rank for all"


def row(model, mean, seconds, low, high, chosen=None):
    gap = Difference((low + high) / 2, low, high)
    return {"model": model, "mean": mean, "seconds": seconds, "difference": gap, "chosen": chosen}


BEST = row("svor", 0.4, 6.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("rows", "model", "words"),
    [
        ([BEST], "svor", "only model compared; a fit takes 6 s."),
        (
            [BEST, row("linear-svor", 0.5, 0.1, 0.05, 0.15)],
            "svor",
            "clearly the best, linear-svor comes next (difference",
        ),
        (
            [BEST, row("linear-svor", 0.41, 2.1, -0.02, 0.04), row("svr", 0.42, 9.0, -0.01, 0.05)],
            "svor",
            "clearly better than that of linear-svor (difference +0.010, 95 % interval -0.020 to +0.040) and 1 more",
        ),
        ([BEST, row("linear-svor", 0.41, 1.9, -0.02, 0.04)], "linear-svor", "about that of the best, svor with 0.400"),
        ([BEST, row("linear-svor", 0.41, 1.9, -0.02, 0.04)], "linear-svor", "and 3 times as long with svor."),
        ([BEST, row("linear-svor", 0.41, 0.1, 0.001, 0.04)], "svor", "clearly the best"),
        ([row("svor", 0.4, 0.9, 0, 0), row("linear-svor", 0.41, 0.01, -0.1, 0.1)], "svor", "a fit takes 0.9 s"),
        ([BEST, row(CONSTANT, 0.41, 0.0, -0.02, 0.04)], "svor", "not clearly better than one rank for all rows"),
        (
            [row(CONSTANT, 0.4, 0.0, 0, 0), BEST | {"difference": Difference(0.1, -0.1, 0.3)}],
            CONSTANT,
            "say little about",
        ),
        ([BEST, row(CONSTANT, 0.9, 0.0, 0.3, 0.6)], "svor", "clearly the best, one rank for all comes next"),
        ([row("svor", 0.4, 6.0, 0, 0, {"C": 1.0})], "svor", "a search takes 6 s."),
    ],
)
def test_the_recommendation_follows_error_interval_and_time(rows, model, words):
    found = recommended(rows, "mae", CONSTANT)
    assert found.model == model
    assert words in found.reason
    assert ("say little about" in found.reason) == (
        words in ("not clearly better than one rank for all rows", "say little about")
    )


def test_the_interval_allows_for_shared_rows():
    """Nadeau & Bengio's: (1/k + n_test / n_train) times the variance of the differences."""
    one, other = np.array([0.5, 0.6, 0.4, 0.55]), np.array([0.4, 0.4, 0.5, 0.45])
    gaps = one - other
    found = difference(one, other, False, 5)
    reach = t.ppf(0.975, 3) * np.sqrt((1 / 4 + 1 / 4) * gaps.var(ddof=1))
    assert (found.mean, found.low, found.high) == pytest.approx((gaps.mean(), gaps.mean() - reach, gaps.mean() + reach))
    assert difference(other, one, True, 5).mean == pytest.approx(gaps.mean())
    assert not difference(one[:1], other[:1], False, 5).is_clear
    assert not difference(one, one, False, 5).is_clear


@pytest.fixture
def data(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"size": random.normal(size=60), "colour": random.choice(["red", "blue"], 60)})
    quality = frame["size"] + (frame["colour"] == "red")
    frame["grade"] = np.array(["poor", "fair", "good"])[np.digitize(quality, [0.0, 1.0])]
    monkeypatch.chdir(tmp_path)
    frame.to_csv("data.csv", index=False)
    return frame


COMPARE = ["compare", "data.csv", "-t", "grade", "--order", "poor,fair,good", "--repeats", "1", "--folds", "2"]


def test_the_winner_is_written_with_labels_columns_and_tuned_parameters(data, capsys):
    assert run([*COMPARE, "-m", "linear-svor", "-m", "svor", "--tune", "-o", "winner.ordsvm", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    advised, model = answer["recommendation"], load("winner.ordsvm")
    assert (
        advised["written"]
        == advised["model"]
        == type(model.machine_).__name__.replace("LinearSVOR", "linear-svor").lower()
    )
    assert model.classes_.tolist() == ["poor", "fair", "good"]
    assert set(model.predict(data)) <= {"poor", "fair", "good"}
    assert model.about_["n_rows"] == 60
    assert {"C"} <= set(answer["models"][0]["chosen"])
    assert model.machine_.C in (0.1, 1.0, 10.0, 100.0)
    assert answer["models"][0]["difference"] is None
    assert set(answer["models"][1]["difference"]) == {"mean", "low", "high"}
    assert run(["evaluate", "winner.ordsvm", "data.csv"]) == 0


def test_a_regressor_wins_untuned_in_words(data, capsys):
    assert run([*COMPARE, "-m", "linear-svr", "-o", "winner.ordsvm"]) == 0
    out = capsys.readouterr().out
    assert "Recommended: linear-svr: its mae, " in out
    assert "written to" in out
    assert load("winner.ordsvm").machine_.classes_.tolist() == ["poor", "fair", "good"]


def test_where_nothing_can_be_written_that_is_said_before_any_work(data, capsys):
    assert run([*COMPARE, "-m", "svor", "-o", "nowhere/winner.ordsvm"]) == 1
    assert "can't be written" in capsys.readouterr().err


def test_a_bar_shows_how_far_it_is(data, monkeypatch, capsys):
    shown = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr(sys.modules["ordsvm.cli.commands.compare"], "err", shown)
    assert run([*COMPARE, "-m", "linear-svor"]) == 0
    assert "comparing" in shown.file.getvalue()
    assert "2/2" in shown.file.getvalue()


def test_a_baseline_that_wins_is_recommended_and_the_best_machine_written(data, monkeypatch, capsys):
    module = sys.modules["ordsvm.cli.commands.compare"]
    monkeypatch.setattr(module, "machine_classes", lambda: {"linear-svor": None})

    def at_chance(candidate, data, train, test, metric):
        candidate.scores.append(0.9 if candidate.is_machine else 0.1 if "Logistic" in candidate.name else 0.5)
        candidate.seconds.append(0.1)

    monkeypatch.setattr(module, "run_fold", at_chance)
    assert run([*COMPARE, "-o", "winner.ordsvm"]) == 0
    found = capsys.readouterr()
    assert "Recommended: Logistic" in found.out
    assert "is no machine of ordsvm: linear-svor, the best of these, was written." in found.err


def test_no_model_at_all_gets_a_sentence(data, monkeypatch, capsys):
    def fail(candidate, *_):
        candidate.failure = "it can't."

    monkeypatch.setattr(sys.modules["ordsvm.cli.commands.compare"], "run_fold", fail)
    assert run([*COMPARE, "-m", "svor"]) == 1
    assert "No model could be compared. svor: it can't." in capsys.readouterr().err
