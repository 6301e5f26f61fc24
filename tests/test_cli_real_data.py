"""The README's lines on real data: train, evaluate, report, predict, by commands alone."""

import json

import pandas as pd
import pytest

from benchmarks.datasets import DataMissing, data_folder
from ordsvm.cli.app import run

KEPT_BACK = ["--hold-out", "0.25"]
TEXT = ["--text", "text", "--where", "split=train", "--model", "linear-svor", "--calibrate"]
WALKS = {
    "winequality-red": ("data.csv.gz", "target", [*KEPT_BACK, "--C", "30"], []),
    "ERA": ("data.csv.gz", "target", [*KEPT_BACK, "--calibrate"], []),
    "sst5": ("reviews.csv.gz", "rating", TEXT, ["--where", "split=test"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKS)
def test_from_data_to_report(name, tmp_path, capsys):
    file, target, training, judged_by = WALKS[name]
    try:
        data = str(data_folder() / name / file)
    except DataMissing as reason:
        pytest.skip(str(reason))
    model, page, answers = (str(tmp_path / name) for name in ("model", "page.html", "answers.csv"))
    assert run(["train", data, "--target", target, *training, "-o", model]) == 0
    capsys.readouterr()
    assert run(["evaluate", model, data, *judged_by, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    labels = pd.read_csv(data)[target]
    always = (labels - labels.median()).abs().mean()  # the error of the best constant answer
    assert found["metrics"]["mae"]["high"] < always
    assert run(["report", model, data, *judged_by, "-o", page]) == 0
    assert run(["predict", model, data, "-o", answers]) == 0
    predicted = pd.read_csv(answers)
    assert len(predicted) == len(labels)
    assert set(predicted["prediction"]) <= set(labels)
