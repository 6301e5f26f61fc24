"""`ordsvm explain`, and columns that only number the rows."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from ordsvm import load
from ordsvm.cli.app import run
from tests.cases import random_data


@pytest.fixture
def table(tmp_path):
    X, y = random_data(0, n=90, n_ranks=3)
    frame = pd.DataFrame(X, columns=["a", "b[x]", "c"]).assign(kind=np.where(X[:, 0] > 0, "x", None), grade=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path, frame


def explained(capsys, *arguments):
    assert run(["explain", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_row_is_explained(table, capsys):
    folder, frame = table
    data, model = folder / "data.csv", folder / "m"
    assert run(["train", str(data), "-t", "grade", "--hold-out", "0.2", "-o", str(model)]) == 0
    capsys.readouterr()
    why = explained(capsys, model, data, "--row", "7")
    total = sum(one["adds"] for one in why["contributions"])
    assert total == pytest.approx(why["score"] - why["baseline"])
    assert {one["name"] for one in why["contributions"]} <= {"a", "b[x]", "c", "kind"}
    for case in why["cases"]["up"]:  # its row in the file, which training had shuffled
        assert case["label"] == frame["grade"][case["row"] - 1]
        assert float(case["cells"]["a"]) == pytest.approx(frame["a"][case["row"] - 1], rel=1e-5)
    assert run(["explain", str(model), str(data), "--row", "7"]) == 0
    text = capsys.readouterr().out
    assert "b[x] = " in text
    assert "nan" not in text
    frame.drop(columns="grade").to_csv(folder / "new.csv", index=False)  # another file, without labels
    why = explained(capsys, model, folder / "new.csv", "--row", "1")
    assert "row" not in why["cases"]["up"][0]


@pytest.mark.parametrize("model", ["linear-svor", "npsvor", "svr", "nystroem-svor"])
def test_other_machines_are_explained(table, capsys, model):
    folder, _ = table
    data = str(folder / "data.csv")
    assert run(["train", data, "-t", "grade", "-m", model, "-o", str(folder / "m")]) == 0
    capsys.readouterr()
    why = explained(capsys, folder / "m", data, "-r", "3")
    assert (why["cases"] is None) == (model == "linear-svor")
    assert run(["explain", str(folder / "m"), data, "-r", "3"]) == 0


def test_sampled_contributions_show_their_error(tmp_path, capsys):
    X, y = random_data(1, n=60, n_features=12, n_ranks=3)
    pd.DataFrame(X).add_prefix("x").assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    options = ["--kernel", "poly", "--coef0", "1"]
    assert run(["train", str(tmp_path / "d.csv"), "-t", "y", *options, "-o", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    assert run(["explain", str(tmp_path / "m"), str(tmp_path / "d.csv"), "-r", "1", "--background", "10"]) == 0
    assert "± 95 %" in capsys.readouterr().out
    assert (
        explained(capsys, tmp_path / "m", tmp_path / "d.csv", "-r", "1", "--background", "10")["method"] == "sampling"
    )


def test_rows_of_svmlight_files_are_explained(tmp_path, capsys):
    X, y = random_data(2, n=60, n_ranks=3)
    dump_svmlight_file(X, y, str(tmp_path / "d.svm"))
    assert run(["train", str(tmp_path / "d.svm"), "-o", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    why = explained(capsys, tmp_path / "m", tmp_path / "d.svm", "-r", "1")
    assert sum(one["adds"] for one in why["contributions"]) == pytest.approx(why["score"] - why["baseline"])


def test_what_is_wrong_is_said_in_a_line(table, capsys):
    folder, frame = table
    data, model = str(folder / "data.csv"), str(folder / "m")
    assert run(["train", data, "-t", "grade", "-o", model]) == 0
    capsys.readouterr()
    assert run(["explain", model, data, "--row", "91"]) == 1
    assert "beyond the end" in capsys.readouterr().err
    frame.drop(columns="c").to_csv(folder / "less.csv", index=False)
    assert run(["explain", model, str(folder / "less.csv"), "--row", "1"]) == 1
    assert "lack the column 'c'" in capsys.readouterr().err


def test_the_index_of_a_data_frame_is_no_feature(table, capsys):
    """A column "Unnamed: 0" was taken as a feature."""
    folder, frame = table
    frame.sample(frac=1, random_state=0).to_csv(folder / "indexed.csv")  # index=True
    assert run(["train", str(folder / "indexed.csv"), "-t", "grade", "-o", str(folder / "m")]) == 0
    assert "Left out: Unnamed: 0" in capsys.readouterr().err
    assert [column.name for column in load(folder / "m").encoder_.columns_] == ["a", "b[x]", "c", "kind"]
    measured = frame.rename(columns={"a": ""})  # a column of measurements that happens to lack a name
    measured.to_csv(folder / "unnamed.csv", index=False)
    assert run(["train", str(folder / "unnamed.csv"), "-t", "grade", "-o", str(folder / "m")]) == 0
    assert load(folder / "m").encoder_.columns_[0].name == "Unnamed: 0"
