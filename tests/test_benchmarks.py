"""The harness of `benchmarks`: one objective for every answer, exponents, turns, and rows by name."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pandas")

from benchmarks import __main__ as command
from benchmarks import hard, results, scaling, timing
from benchmarks.contestants import CONTESTANTS
from benchmarks.works import Work, planted_quadratic_form, primal
from ordsvm import certify
from tests.cases import random_data

MODELS = ["SVOR", "SVORIM", "SVOREX", "SVC", "SVR"]


def made(model: str) -> tuple[Work, np.ndarray, np.ndarray]:
    X, rank = random_data(0, n=120)
    y = {"SVC": rank >= 2, "SVR": rank + 0.3 * X[:, 0]}.get(model, rank)
    return Work("", model, "", C=2.0, gamma=0.5, ranks=4), X, np.asarray(y, dtype=float if model == "SVR" else int)


@pytest.mark.parametrize("model", MODELS)
def test_the_objective_of_an_answer_is_that_of_the_certificate(model):
    work, X, y = made(model)
    ours = CONTESTANTS["ordsvm"]
    fitted = ours.estimator(work, 1e-4).fit(X, y)
    assert primal(work, y, ours.answer(work, fitted, X)) == pytest.approx(certify(fitted, X, y).primal, rel=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_peers_that_minimise_the_same_come_close_and_never_below_our_dual(model):
    """To within the thousandth that the authors' program adds to the diagonal."""
    work, X, y = made(model)
    proof = certify(CONTESTANTS["ordsvm"].estimator(work, 1e-6).fit(X, y), X, y)
    peers = [one for one in CONTESTANTS.values() if one.answer and one.name != "ordsvm" and not one.refuses(work)]
    for peer in peers:
        value = primal(work, y, peer.answer(work, peer.estimator(work, 1e-4).fit(X, y), X))
        assert proof.dual <= value <= proof.primal * 1.002, peer.title
    assert peers or model in ("SVOR", "SVORIM", "SVOREX")  # skordinal is optional, scikit-learn is not


def test_a_contestant_that_does_not_train_a_work_gives_the_reason():
    work, _, _ = made("SVOR")
    assert CONTESTANTS["libsvm"].refuses(work) == "LIBSVM (scikit-learn) does not train SVOR with the rbf kernel."
    with pytest.raises(ImportError, match="does not train SVOR"):
        CONTESTANTS["libsvm"].estimator(work)


def test_a_power_law_has_its_exponent():
    assert scaling.exponent({n: 1e-7 * n**1.7 for n in (500, 2000, 5000, 20_640)}, 2000) == pytest.approx(1.7)
    assert scaling.exponent({500: 9.0, 2000: 1.0, 4000: 4.0}, 2000) == pytest.approx(2.0)


def test_a_slow_contestant_has_one_turn(monkeypatch):
    monkeypatch.setattr(timing, "seconds", lambda run: run())
    times = timing.alternate({"fast": lambda: 1.0, "slow": lambda: 30.0}, repeats=4, threads=None, slow=10.0)
    assert times == {"fast": [1.0] * 4, "slow": [30.0]}


def test_rows_run_alone_leave_the_others_in_the_file(tmp_path):
    path = tmp_path / "some.json"
    results.write("some", [results.row("a", 1.0), results.row("b", 2.0)], "made", path=path)
    (kept,) = results.other_rows("some", [results.row("b", 3.0)], path)
    assert kept["claim"] == "a"
    assert kept["measured"].keys() == {"date", "cpu", "ordsvm"}
    results.write("some", [{**kept, "measured": "elsewhere"}, results.row("b", 3.0)], "data", path=path)
    assert results.other_rows("some", [results.row("b", 3.0)], path)[0]["measured"] == "elsewhere"
    assert results.other_rows("some", [], tmp_path / "none.json") == []


def test_a_summary_is_of_all_rows_whenever_they_were_run(tmp_path, monkeypatch):
    def made(figure: float, names: list[str]) -> list[results.Row]:
        return [results.row(name, figure, our_seconds=1.0, our_violation=1e-4 * figure) for name in names]

    path = tmp_path / "hard.json"
    runs = iter([made(20.0, ["a", "b", "c"]), made(40.0, ["b", "c"])])
    monkeypatch.setattr(hard, "run", lambda *_, **__: next(runs))
    for parts in (None, ["b"]):
        command.run("hard", False, path, parts, {})
    rows = {row["claim"]: row["figure"] for row in json.loads(path.read_text())["rows"]}
    assert rows["REDSVM / ours, median of all"] == 40.0
    assert rows["REDSVM / ours, least of all"] == 20.0
    assert len(rows) == 6


def test_rows_that_are_not_there_are_an_error(capsys):
    assert command.main(["peers", "--rows", "svm-a9a"]) == 2
    assert "No row begins with svm-a9a: the rows are svor-california-5000-C1" in capsys.readouterr().err
    assert command.main(["dcd", "--rows", "x"]) == 2
    assert "can't be run in parts" in capsys.readouterr().err


def test_the_planted_form_makes_two_classes_of_equal_size():
    X, y = planted_quadratic_form(2000, 20)
    assert X.shape == (2000, 20)
    assert 0.45 < y.mean() < 0.55


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that kills at once")
def test_a_minute_of_everything_at_once(tmp_path):
    path = tmp_path / "soak.json"
    soak = [sys.executable, "-m", "benchmarks", "soak", "--minutes", "1", "--output", str(path)]
    done = subprocess.run(soak, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {row["claim"]: row for row in json.loads(path.read_text())["rows"]}
    assert found["works done"]["figure"] > 0
    assert "leaked" not in done.stderr
