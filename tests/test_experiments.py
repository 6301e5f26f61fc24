"""The laboratory: kills lose one trial, units run in order, the page is that of the results."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.datasets import DataMissing
from experiments import asynchronous, page, sides
from experiments.chu_keerthi_2007 import differences
from experiments.items import PAPERS, Scope, Unit, items_of
from experiments.records import RecordFile
from experiments.runner import Limits, planned, run
from tests import experiment_cases
from tests.experiment_cases import ITEM, TRIALS

ROOT = Path(__file__).parent.parent


def test_a_kill_loses_one_trial_and_the_same_command_goes_on(tmp_path):
    command, file = [sys.executable, "-m", "tests.experiment_cases", str(tmp_path)], tmp_path / "records.jsonl"
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    while not file.is_file() or file.read_bytes().count(b"key") < 2:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    kept = file.read_bytes()
    file.write_bytes(kept + b'{"key": "square7", "outc')  # torn, as by a crash
    assert subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 0
    lines = [json.loads(line) for line in file.read_text().splitlines() if line.startswith('{"key"') and "}" in line]
    keys = [line["key"] for line in lines]
    assert sorted(keys) == sorted({*(f"square{number}" for number in range(TRIALS)), "total"})  # each once
    assert file.read_bytes().startswith(kept)
    assert RecordFile(file)["total"]["total"] == sum(number**2 for number in range(TRIALS))


def test_a_unit_that_fails_is_reported_and_the_others_run(tmp_path):
    bad = Unit("bad", experiment_cases.square, {"number": -1, "seconds": 0.0})
    good = Unit("good", experiment_cases.square, {"number": 3, "seconds": 0.0}, (1,))
    item = replace(ITEM, units=lambda done, scope: [bad, good])
    records = RecordFile(tmp_path / "records.jsonl")
    failed = run({"sum": item}, records, Scope(), Limits(1))
    assert len(failed) == 1
    assert "a negative number" in failed[0]
    assert records["good"]["square"] == 9
    assert [unit.key for unit in planned({"sum": item}, records, Scope())] == ["bad"]


def test_a_budget_starts_nothing_more(tmp_path):
    records = RecordFile(tmp_path / "records.jsonl")
    assert run({"sum": ITEM}, records, Scope(TRIALS), Limits(1, budget=0.0)) == []
    assert len(records) == 0


@pytest.mark.parametrize("paper", PAPERS)
def test_units_have_keys_of_their_own(paper):
    for name, item in items_of(paper).items():
        try:
            units = list(item.units({}, Scope(2)))
        except DataMissing as reason:
            pytest.skip(str(reason))
        assert len({unit.key for unit in units}) == len(units), name
        assert any(unit.arguments is not None for unit in units) or not units, name


def test_means_of_few_trials_are_not_judged():
    paper = [{"dataset": "a", "method": "EXC", "metric": "mae", "value": 1.0, "sd": 0.1, "trials": 20}]
    for trials, text in ((1, "2"), (5, "**2 ± 0.200**")):
        ours = [paper[0] | {"value": 2.0, "trials": trials} | ({"sd": 0.2} if trials > 1 else {"sd": None})]
        header, lines = sides.pivot(sides.pairs(paper, ours))
        assert header[2:] == ["EXC: paper, 20", f"ours, {trials}"]
        assert lines[0][-1] == text
    (pair,) = sides.pairs(paper, ours)
    assert pair.standard_errors == pytest.approx(1.0 / (0.01 / 20 + 0.04 / 5) ** 0.5)


def test_parameters_outside_the_first_grid_are_said():
    assert differences.is_inside({"C": 1000.0, "gamma": 0.0005})
    assert not differences.is_inside({"C": 1585.0, "gamma": 0.05})
    place = {"dataset": "a", "method": "IMC", "metric": "mae", "C": 1585.0, "kappa": 0.1}
    (text,) = differences.of_searches([place | {"error": 0.4, "error_inside": 0.41}], [])
    assert "a IMC mae (C = 1,585, kappa = 0.1; 0.4000, inside 0.4100)" in text


def test_one_deviation_of_the_paper_is_unlike_all_others():
    odd, *others = sorted((ratio, line) for line, ratio in differences.spread_ratios("table2").items())
    assert odd[1] == ("abalone", "EXC")
    assert odd[0] < 0.4 < 0.8 < others[0][0]


def test_bars_in_cells_do_not_break_a_table():
    assert sides.markdown(["what"], [["O(|A|)"]]).splitlines()[-1] == r"| O(\|A\|) |"


def test_the_page_is_that_of_the_results():
    assert page.PAGE.read_text() == page.text(), "python -m experiments page"


def test_timed_runs_of_more_threads_are_kept(monkeypatch):
    """A machine with fewer cores measures nothing again, one with more does."""
    done = {"a/2 threads": {"whole": 2.0}, "a/8 threads": {"whole": 1.0}}
    monkeypatch.setattr(asynchronous, "cores", lambda: 2)
    assert asynchronous.key_of(done, "a") == "a/8 threads"
    assert asynchronous.threads_of(asynchronous.key_of(done, "b")) == 2
    assert asynchronous.measured(done, "a") == {"whole": 1.0, "threads": 8}
    assert asynchronous.measured(done, "b") is None
    monkeypatch.setattr(asynchronous, "cores", lambda: 40)
    assert asynchronous.key_of(done, "a") == "a/16 threads"
