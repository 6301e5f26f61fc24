"""The command as a user meets it: from a file to a model, predictions, metrics; and one line for every mistake."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVORIM,
    InteriorPoint,
    LinearInteriorPoint,
    LinearNPSVOR,
    LinearSVOR,
    OrdinalSearchCV,
    load,
    save,
)
from ordsvm.cli.app import run
from ordsvm.cli.data import ordered
from ordsvm.cli.heat import heat_map
from ordsvm.cli.machines import machine_classes, parameter_options, solver_options
from ordsvm.cli.words import by_options
from ordsvm.progress import ProgressLine
from tests.cases import random_data

NAMES = np.array(["low", "middle", "high"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where commands run: a CSV file with numbers, names, text and missing cells."""
    X, y = random_data(3, n=150, n_ranks=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["colour"] = np.array(["red", "blue"])[(X[:, 0] > 0).astype(int)]
    frame["words"] = np.array(["bad wine", "plain wine", "good wine"])[y]
    frame.loc[3, "a"] = np.nan
    frame["grade"] = NAMES[y]
    frame["rank"] = y
    frame.to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys, *arguments):
    code = run([str(argument) for argument in arguments])
    seen = capsys.readouterr()
    return code, seen.out, seen.err


TRAIN = ("train", "data.csv", "--target", "grade", "--order", "low,middle,high", "--drop", "rank", "--drop", "words")


def test_from_data_to_predictions(folder, capsys):
    code, out, _ = call(capsys, *TRAIN, "--hold-out", "0.2", "--C", "2", "-o", "model.ordsvm")
    assert code == 0
    assert "SVOR (C=2" in out
    assert "held out" in out
    model = load("model.ordsvm")
    assert model.classes_.tolist() == ["low", "middle", "high"]
    assert model.machine_.C == 2
    code, out, _ = call(capsys, "evaluate", "model.ordsvm", "data.csv")
    assert code == 0
    assert "30 rows of data.csv that training kept back" in out
    code, out, _ = call(capsys, "predict", "model.ordsvm", "data.csv", "-o", "out.csv")
    assert code == 0
    predicted = pd.read_csv("out.csv")
    frame = pd.read_csv("data.csv")
    assert predicted["prediction"].tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(predicted["score"], model.decision_function(frame))
    code, out, _ = call(capsys, "info", "model.ordsvm")
    assert code == 0
    assert "low (" in out
    assert "colour: category, 2 features" in out


def test_rows_of_the_training_are_known_in_another_file(folder, capsys):
    """Shuffled, with rows added, as Parquet: those that training kept back and new ones are judged, the others not."""
    call(capsys, *TRAIN, "--hold-out", "0.2", "-o", "model.ordsvm")
    _, honest, _ = call(capsys, "evaluate", "model.ordsvm", "data.csv", "--json")
    frame = pd.read_csv("data.csv")
    shuffled = frame.sample(frac=1.0, random_state=0)
    shuffled.to_csv("shuffled.csv", index=False)
    pd.concat([shuffled, frame.iloc[4:9].assign(a=lambda part: part["a"] + 0.5)]).to_csv("more.csv", index=False)
    _, out, _ = call(capsys, "evaluate", "model.ordsvm", "shuffled.csv", "--json")
    assert json.loads(out)["metrics"] == json.loads(honest)["metrics"]
    _, out, err = call(capsys, "evaluate", "model.ordsvm", "more.csv")
    assert "the 35 rows of more.csv that the model was not trained on" in out
    assert err == ""
    frame.assign(b=frame["b"] + 0.1).to_csv("new.csv", index=False)
    _, out, _ = call(capsys, "evaluate", "model.ordsvm", "new.csv")
    assert "150 rows of new.csv:" in out
    call(capsys, *TRAIN, "-o", "all.ordsvm")
    _, out, err = call(capsys, "evaluate", "all.ordsvm", "shuffled.csv")
    assert "The model was trained on these rows" in err


def test_copies_of_rows_of_the_training_are_known(folder, capsys):
    """Every row twice: none of them is new."""
    frame = pd.read_csv("data.csv")
    pd.concat([frame] * 2).to_csv("twice.csv", index=False)
    call(capsys, *TRAIN, "-o", "all.ordsvm")
    _, out, err = call(capsys, "evaluate", "all.ordsvm", "twice.csv")
    assert "300 rows of twice.csv:" in out
    assert "The model was trained on these rows" in err
    call(capsys, *TRAIN, "--hold-out", "0.2", "-o", "part.ordsvm")
    _, out, err = call(capsys, "evaluate", "part.ordsvm", "twice.csv")
    assert "the 60 rows of twice.csv that the model was not trained on" in out
    assert err == ""


def test_rows_that_are_all_alike_are_not_taken_for_those_of_the_training(folder, capsys):
    random = np.random.default_rng(0)
    for name in ("one", "other"):
        frame = pd.DataFrame({"a": random.integers(0, 3, 200), "b": random.integers(0, 2, 200)})
        frame.assign(grade=NAMES[frame["a"]]).to_csv(f"{name}.csv", index=False)
    call(capsys, "train", "one.csv", "-t", "grade", "--order", "low,middle,high", "-o", "model.ordsvm")
    code, out, err = call(capsys, "evaluate", "model.ordsvm", "other.csv")
    assert code == 0
    assert "On 200 rows of other.csv" in out
    assert "may be the data that the model was trained on" in err


def test_a_calibrated_model_is_explained_by_where_its_own_labels_change(folder, capsys):
    call(capsys, *TRAIN, "--calibrate", "-o", "model.ordsvm")
    _, out, _ = call(capsys, "info", "model.ordsvm")
    assert "CalibratedOrdinal, logistic" in out
    assert "the middle of the probabilities" in " ".join(out.split())
    guarantee = load("model.ordsvm").guaranteed_coverage(0.9)
    assert f"{guarantee:.1%} is guaranteed" in " ".join(out.split())
    _, out, _ = call(capsys, "info", "model.ordsvm", "--json")
    assert len(json.loads(out)["calibration"]["rank_changes_at"]) == 2
    assert json.loads(out)["calibration"]["guaranteed_coverage"] == {"0.9": guarantee}
    for row in range(1, 150, 15):
        _, out, _ = call(capsys, "explain", "model.ordsvm", "data.csv", "--row", row, "--json")
        why = json.loads(out)
        assert why["prediction"] == NAMES[sum(cut < why["score"] for cut in why["thresholds"])]


def test_rows_of_another_kind_are_noticed(folder, capsys):
    """The model file has quantiles of scores; those of rows like the ones of training give no note."""
    assert call(capsys, *TRAIN, "--hold-out", "0.5", "-o", "model.ordsvm")[0] == 0
    assert load("model.ordsvm").about_["n_scores"] == 75
    _, _, said = call(capsys, "predict", "model.ordsvm", "data.csv", "-o", "out.csv")
    assert "distributed otherwise" not in said
    frame = pd.read_csv("data.csv")
    frame[frame["grade"] == "high"].to_csv("others.csv", index=False)
    _, _, said = call(capsys, "predict", "model.ordsvm", "others.csv", "-o", "out.csv")
    assert "distributed otherwise" in said


def test_json_for_scripts(folder, capsys):
    code, out, _ = call(capsys, *TRAIN, "--hold-out", "0.2", "-o", "model.ordsvm", "--json")
    assert code == 0
    summary = json.loads(out)
    assert summary["fit"]["status"] == "converged"
    _, out, _ = call(capsys, "evaluate", "model.ordsvm", "data.csv", "--json")
    found = json.loads(out)
    assert found["metrics"]["mae"]["value"] == summary["held_out"]["mae"]["value"]
    assert np.sum(found["confusion"]) == 30
    _, out, _ = call(capsys, "predict", "model.ordsvm", "data.csv", "--json")
    assert len(json.loads(out)) == 150
    _, out, _ = call(capsys, "predict", "model.ordsvm", "data.csv", "-o", "out.csv", "--json")
    assert json.loads(out) == {"output": "out.csv", "rows": 150}
    _, out, _ = call(capsys, "info", "model.ordsvm", "--json")
    assert json.loads(out)["columns"][0] == "a: number"


@pytest.mark.parametrize("name", sorted(machine_classes()))
def test_every_machine(name, folder, capsys):
    code, _, err = call(
        capsys, "train", "data.csv", "-t", "rank", "--drop", "grade", "--drop", "words", "-m", name, "-o", "m"
    )
    assert (code, err) == (0, "")
    assert set(load("m").predict(pd.read_csv("data.csv"))) <= {0, 1, 2}


def test_every_parameter_is_an_option():
    """A new parameter of an estimator needs no second definition."""
    for kind in machine_classes().values():
        names = set(kind().get_params()) - {"callback", "verbose", "warm_start", "categories"}
        assert names <= set(parameter_options())


def test_parameters_reach_the_machine(folder, capsys):
    options = ["--gamma", "0.25", "--solver", "asyagcd", "--solver-option", "max_shrink_iter=50", "--early-stopping"]
    assert call(capsys, *TRAIN, *options, "-o", "model")[0] == 0
    machine = load("model").machine_
    assert machine.gamma == 0.25
    assert machine.solver.max_shrink_iter == 50
    assert machine.early_stopping is True


def test_text_columns_and_conditions(folder, capsys):
    options = ["--text", "words", "--where", "colour=red", "--drop", "rank", "--model", "linear-svor"]
    code, _, _ = call(capsys, "train", "data.csv", "-t", "grade", "--order", "low,middle,high", *options, "-o", "m")
    assert code == 0
    model = load("m")
    frame = pd.read_csv("data.csv")
    assert "words: good wine" in model.encoder_.get_feature_names_out()
    assert model.about_["n_rows"] == (frame["colour"] == "red").sum()
    assert np.mean(model.predict(frame) == frame["grade"]) > 0.99  # the words give the grade away


def test_calibrated_models_have_probabilities(folder, capsys):
    assert call(capsys, *TRAIN, "--calibrate", "-o", "m")[0] == 0
    _, out, _ = call(capsys, "predict", "m", "data.csv", "--coverage", "0.8", "-o", "out.csv")
    predicted = pd.read_csv("out.csv")
    shares = predicted[[f"probability {name}" for name in NAMES]].sum(axis=1)
    np.testing.assert_allclose(shares, 1.0)
    assert set(predicted["lowest"]) <= set(NAMES)
    _, out, _ = call(capsys, "evaluate", "m", "data.csv", "--json")
    assert 0 < json.loads(out)["metrics"]["rps"]["value"] < 1


def test_svmlight(folder, capsys):
    X, y = random_data(3, n=60, n_ranks=3)
    dump_svmlight_file(X, y, "data.svm", zero_based=False)
    assert call(capsys, "train", "data.svm", "-m", "linear-svor", "-o", "m")[0] == 0
    code, out, _ = call(capsys, "predict", "m", "data.svm")
    assert code == 0
    assert out.splitlines()[0] == "row,prediction,score"
    code, _, err = call(capsys, "predict", "m", "data.csv")
    assert code == 1
    assert "trained with an svmlight file" in err


def test_queries_are_held_out_as_a_whole(folder, capsys):
    X, y = random_data(3, n=60, n_ranks=3)
    query = np.repeat(np.arange(20), 3)
    dump_svmlight_file(X, y, "data.svm", query_id=query, zero_based=False)
    code, _, said = call(capsys, "train", "data.svm", "-m", "linear-svor", "--hold-out", "0.2", "-o", "m")
    assert code == 0
    assert "has queries (qid)" in said
    assert "GroupKFold" in said
    held_out = load("m").about_["held_out"]
    assert len(held_out) == 12
    assert not set(query[held_out]) & set(np.delete(query, held_out))
    dump_svmlight_file(X, y, "data.svm", query_id=np.ones(60, dtype=int), zero_based=False)
    code, _, said = call(capsys, "train", "data.svm", "--hold-out", "0.2", "-o", "m")
    assert code == 1
    assert "all rows have the same qid" in said
    dump_svmlight_file(X, np.sort(y), "data.svm", query_id=np.sort(y), zero_based=False)
    code, _, said = call(capsys, "train", "data.svm", "--hold-out", "0.2", "-o", "m")
    assert code == 1
    assert "leaves some rank without training rows" in said


def test_a_model_of_a_gpu_predicts_without_one_and_says_so_once(folder, capsys, monkeypatch):
    monkeypatch.setattr("ordsvm.devices._n_gpus", lambda: 0)  # of torch, be it installed or not
    call(capsys, *TRAIN, "-o", "m")
    model, expected = load("m"), call(capsys, "predict", "m", "data.csv")[1]
    model.machine_.set_params(device="cuda")
    save(model, "m")
    code, out, said = call(capsys, "predict", "m", "data.csv")
    assert (code, out) == (0, expected)
    assert said.count("device='cuda' needs a GPU, and torch finds none: the model predicts on the CPU") == 1


def test_training_rows_are_called_that(folder, capsys):
    call(capsys, *TRAIN, "-o", "m")
    assert "was trained on these rows" in call(capsys, "evaluate", "m", "data.csv")[2]


MISTAKES = [
    (("train", "none.csv", "-t", "grade", "-o", "m"), "There is no file 'none.csv'"),
    (("train", "data.csv", "-o", "m"), "Which column of 'data.csv' holds the labels? Give --target"),
    (("train", "data.csv", "-t", "nope", "-o", "m"), "has no column 'nope': its columns are a, b, c"),
    (("train", "data.csv", "-t", "a", "-o", "m"), "Column 'a' is empty in 1 of 150 rows"),
    (("train", "data.csv", "-t", "grade", "-o", "nowhere/m"), "in a folder that exists"),
    (("train", "data.csv", "-t", "grade", "-o", "."), "is a folder"),
    (("train", "data.csv", "-t", "grade", "--colour", "-o", "m"), "No such option: --colour"),
    (("train", "data.csv", "-t", "grade"), "Missing option '--output'"),
    (("train", "data.csv", "-t", "grade", "--order", "low,high", "-o", "m"), "lacks the labels ['middle']"),
    (("train", "data.csv", "-t", "rank", "--order", "low,high", "-o", "m"), "must list numbers"),
    (("train", "data.csv", "-t", "grade", "--where", "grade=low", "-o", "m"), "only one class"),
    (("train", "data.csv", "-t", "grade", "--where", "grade", "-o", "m"), "give COLUMN=VALUE"),
    (("train", "data.csv", "-t", "grade", "--drop", "nope", "-o", "m"), "has no column 'nope'"),
    (("train", "data.csv", "-t", "grade", "--C", "-1", "-o", "m"), "C=-1 is not valid: give a positive number"),
    (("train", "data.csv", "-t", "grade", "-m", "svm", "-o", "m"), "There is no model 'svm': give one of"),
    (("train", "data.csv", "-t", "grade", "-m", "svorex", "--cost", "squared", "-o", "m"), "--cost is not for svorex"),
    (("train", "data.csv", "-t", "grade", "--solver", "newton", "-o", "m"), "solver='newton' is unknown"),
    (("train", "data.csv", "-t", "grade", "--solver-option", "x=1", "-o", "m"), "needs a --solver"),
    (("train", "data.csv", "-t", "grade", "--hold-out", "2", "-o", "m"), "--hold-out 2 is not valid"),
    (("train", "broken.csv", "-t", "x", "-o", "m"), "Expected 2 fields in line 3, saw 4"),
    (("tune", "data.csv", "-t", "grade", "--folds", "1", "-o", "m"), "Invalid value for '--folds'"),
    (("compare", "data.csv", "-t", "grade", "--repeats", "0"), "Invalid value for '--repeats'"),
    (("evaluate", "data.csv", "data.csv"), "is not a model file of ordsvm"),
    (("evaluate", "none", "data.csv"), "'none' can't be read"),
    (("predict", "m", "data.csv", "--coverage", "0.9"), "needs a calibrated model"),
    (("evaluate", "m", "other.csv"), "has no column 'grade'"),
    (("predict", "m", "other.csv"), "lack the column 'a'"),
    (("predict", "m", "data.csv", "-o", "nowhere/out.csv"), "can't be written"),
    (("preditc", "m"), "No such command 'preditc'"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_mistakes_get_one_line(arguments, message, folder, capsys):
    (folder / "broken.csv").write_text("x,y\n1,2\n1,2,3,4\n")
    (folder / "other.csv").write_text("x,y\n1,2\n")
    if arguments[1:2] == ("m",):
        assert call(capsys, *TRAIN, "-o", "m")[0] == 0
    before = sorted(os.listdir())
    code, out, err = call(capsys, *arguments)
    errors = [line for line in err.splitlines() if line.startswith("ordsvm:")]
    assert code in (1, 2)
    assert len(errors) == 1
    assert message in errors[0]
    assert "Traceback" not in err + out
    assert sorted(os.listdir()) == before
    if arguments[0] != "preditc":
        same_code, out, err = call(capsys, *arguments, "--json")
        assert (same_code, out) == (code, "")
        assert json.loads(err) == {"error": errors[0].removeprefix("ordsvm: "), "exit_code": code}


def test_scripts_can_read_every_line(folder, capsys):
    """With --json all that is written is JSON: one result, and a line for every note and error."""
    assert call(capsys, *TRAIN, "-o", "m", "--json")[2] == ""
    code, out, err = call(capsys, "evaluate", "m", "data.csv", "--json")
    assert code == 0
    assert "was trained on these rows" in json.loads(err)["note"]
    assert json.loads(out)["rows"] == 150


@pytest.fixture
def slow_fit(folder, monkeypatch):
    """Training that Ctrl-C meets at its first look, long before it is done."""
    X, y = random_data(0, n=1500, noise=3.0)
    pd.DataFrame(X).assign(y=y).to_csv("slow.csv", index=False)
    looking = ProgressLine.__call__

    def look(self, progress):
        os.kill(os.getpid(), signal.SIGINT)
        return looking(self, progress)

    monkeypatch.setattr(ProgressLine, "__call__", look)
    return ("train", "slow.csv", "-t", "y", "--kernel", "linear", "--C", "1e6", "--tol", "1e-9", "-o", "m")


def test_interrupted_training_leaves_nothing(slow_fit, capsys):
    before = sorted(os.listdir())
    code, _, err = call(capsys, *slow_fit)
    assert code == 130
    assert "with --keep-partial the model so far is kept" in err
    assert sorted(os.listdir()) == before


INTERRUPTED_IMPORT = """
import os, signal, sys
import ordsvm_command

class Interrupt:
    def find_spec(self, name, *_):
        if name == "ordsvm":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["ordsvm", "info", "model.ordsvm"]
ordsvm_command.main()
"""


def test_interrupted_while_the_package_is_imported():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True, text=True, timeout=100)
    assert done.returncode == 130
    assert done.stderr == "ordsvm: Interrupted: nothing was written.\n"
    assert done.stdout == ""


LIMITED = """
import resource, sys
from ordsvm.cli.app import run
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
sys.exit(run(sys.argv[1:]))
"""


def test_training_onto_a_disk_without_space(folder):
    """Fault 15: a traceback. A limit of the process stands for the disk: safetensors meets it in the same way, and
    so would coverage.py, which has no room for what it has measured."""
    arguments = [sys.executable, "-c", LIMITED, *TRAIN, "-o", "m"]
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100, env=unmeasured)
    assert done.returncode == 1
    assert (
        done.stderr
        == "ordsvm: 'm' can't be written (File too large): free some space, or give a name on another disk.\n"
    )
    assert os.listdir(folder) == ["data.csv"]


def test_interrupted_training_can_keep_what_there_is(slow_fit, capsys):
    code, _, err = call(capsys, *slow_fit, "--keep-partial")
    assert code == 130
    assert "as far as it got is in 'm'" in err
    model = load("m")
    assert model.machine_.result_.status == "callback"
    assert 0 < model.machine_.result_.gap < np.inf
    assert len(model.predict(pd.read_csv("slow.csv"))) == 1500


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_interrupted_comparison(flags, folder, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["ordsvm.cli.commands.compare"], "run_fold", interrupt)
    code, out, err = call(capsys, "compare", "data.csv", "-t", "rank", "-m", "svor", *flags)
    assert (code, out) == (130, "")
    assert "Interrupted: nothing was written." in (json.loads(err)["error"] if flags else err)


def test_an_interrupted_search_says_where_it_goes_on(folder, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    tune = ("tune", *TRAIN[1:], "-m", "linear-svor", "--folds", "2", "-o", "model.ordsvm")
    monkeypatch.setattr(OrdinalSearchCV, "_train_best", interrupt)
    code, _, err = call(capsys, *tune)
    assert (code, "Interrupted: nothing was written." in err) == (130, True)
    for option in (("--checkpoint", "kept"), ("--checkpoint=kept",)):
        code, _, err = call(capsys, *tune, *option)
        assert code == 130
        assert "Interrupted: no model was written; the same command goes on from 'kept'." in " ".join(err.split())


def test_help_is_not_an_error(capsys):
    code, out, err = call(capsys)
    assert code == 2
    assert "Usage" in out + err
    assert "ordsvm:" not in err


def test_version_and_help(capsys):
    assert call(capsys, "--version")[1].startswith("ordsvm ")
    code, out, _ = call(capsys, "train", "--help")
    assert code == 0
    assert "--cache-size" in out


def test_help_says_what_every_parameter_is():
    """The text comes from the docstrings of the estimators."""
    for name, option in parameter_options().items():
        text = option.annotation.__metadata__[0].help
        assert not text.startswith(" (default"), name
    assert parameter_options()["kernel"].annotation.__metadata__[0].help.startswith("One of linear, rbf, poly")
    assert "squared, or a matrix such as" in parameter_options()["cost"].annotation.__metadata__[0].help
    assert parameter_options()["gamma"].annotation.__metadata__[0].help.startswith("One of scale, auto, or a number")


def test_help_says_which_machines_a_solver_is_for():
    """Every solver in the help of a kind of machine trains it."""
    text = parameter_options()["solver"].annotation.__metadata__[0].help
    found = re.fullmatch(
        r"auto\. Machines with kernels: (.*); svor, red-svm and npsvor also (.*); the others (.*)\. Linear machines, "
        r"and svor and red-svm with the linear kernel: (.*)\. Linear ones: (.*); linear-npsvor also (.*) "
        r"\(default: auto\)",
        text,
    )
    kernels, penalized, free, either, linear, npsvor = (part.split(", ") for part in found.groups())
    X, y = random_data(0, n=30, n_ranks=3)
    for kind, names in {
        SVOR: kernels + penalized,
        NPSVOR: kernels + penalized,
        SVORIM: kernels + free,
        SVC: kernels + free,
        LinearSVOR: either + linear,
        LinearNPSVOR: either + linear + npsvor,
    }.items():
        for name in names:
            assert kind(solver=name, tol=0.1).fit(X, y).result_.solver == name
    assert SVOR(kernel="linear", solver=either[0]).fit(X, y).result_.solver == either[0]


@pytest.mark.parametrize("command", ["train", "tune", "compare"])
def test_help_lists_the_models(command, capsys):
    said = " ".join(call(capsys, command, "--help")[1].split())
    assert all(name in said for name in machine_classes())


def test_messages_name_options(folder, capsys):
    """The library's messages name arguments of Python."""
    code, _, said = call(capsys, "train", "data.csv", "-t", "grade", "--drop", "words", "-o", "m")
    assert code == 0
    assert 'To set the order, give --order "low,medium,high", lowest first.' in said
    frame = pd.read_csv("data.csv")
    frame.insert(0, "my id", np.arange(len(frame)))
    frame["grade"] = np.where(np.arange(len(frame)) % 10 == 0, "high", "low")
    frame[["my id", "b", "grade"]].to_csv("rare.csv", index=False)
    arguments = ("train", "rare.csv", "-t", "grade", "--order", "low,high", "--C", "0.1", "-o", "m")
    _, out, _ = call(capsys, *arguments)
    assert "Leave it out: --drop 'my id'." in out
    assert "Give --class-weight balanced" in out
    remedies = [each["remedy"] for each in json.loads(call(capsys, *arguments, "--json")[1])["findings"]]
    assert "Leave it out: --drop 'my id'." in remedies
    assert any("X.drop(columns=['my id'])" in each["remedy"] for each in load("m").about_["findings"])
    assert by_options("Give nothing='x' and tol=1.") == "Give nothing='x' and tol=1."


@pytest.mark.parametrize("order", ["low<middle<high", "low < middle < high", "'low' < 'middle' < 'high'"])
def test_an_order_as_it_is_printed(order, folder, capsys):
    assert call(capsys, *TRAIN[:4], "--order", order, *TRAIN[6:], "-o", "m")[0] == 0
    assert load("m").classes_.tolist() == ["low", "middle", "high"]


def test_labels_may_hold_the_sign_of_order():
    labels = np.array(["<50", "50,60", ">60"])
    assert ordered("<50,>60", labels[[0, 2]]) == ["<50", ">60"]
    assert ordered("50,60 < >60", labels[1:]) == ["50,60", ">60"]
    assert ordered("1<2<10", np.array([1, 2, 10])) == [1, 2, 10]


def test_semicolons_and_decimal_commas(folder, capsys):
    frame = pd.read_csv("data.csv")
    frame.to_csv("semicolons.csv", sep=";", index=False)
    assert call(capsys, "train", "semicolons.csv", *TRAIN[2:], "-o", "m")[0] == 0
    frame.to_csv("commas.csv", sep=";", decimal=",", index=False)
    code, _, said = call(capsys, "train", "commas.csv", *TRAIN[2:], "-o", "m")
    assert code == 1
    assert "Column 'a' of 'commas.csv' holds numbers with a decimal comma, such as" in said


TUNE = ("tune", *TRAIN[1:], "--folds", "2", "--hold-out", "0.2")


def test_tune_saves_the_winner(folder, capsys):
    code, out, _ = call(capsys, *TUNE, "-m", "linear-svor", "-o", "m", "--json")
    assert code == 0
    tuning = json.loads(out)["tuning"]
    model = load("m")
    best = least(tuning["score"])
    assert best == tuning["best"]
    assert tuning["tried"]["C"][best] == model.machine_.C
    assert [score is None for score in tuning["score"]] == [n < 2 for n in tuning["n_folds"]]
    assert np.bincount(tuning["stage"]).tolist() == [0, 7, 9]
    assert model.about_["n_rows"] == 120
    code, out, _ = call(capsys, "evaluate", "m", "data.csv")
    assert "that training kept back" in out


def least(scores):
    """The place of the least one: those of points that were not tried on all folds are null."""
    return int(np.nanargmin(np.array(scores, dtype=np.float64)))


@pytest.mark.parametrize("method", ["racing", "pruned", "halving"])
def test_tune_shows_no_figure_better_than_the_winner(method, tmp_path, monkeypatch, capsys):
    """Means of some folds, or of some rows, were shown beside those of all."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    X = random.normal(size=(300, 2))
    ranks = np.digitize(X[:, 0] + 0.3 * random.normal(size=300), [-0.5, 0.5])
    pd.DataFrame(X, columns=["a", "b"]).assign(rank=ranks).to_csv("rows.csv", index=False)
    options = ("rows.csv", "-t", "rank", "-m", "svor", "--tol", "0.05", "--folds", "5", "--method", method, "-o", "m")
    code, out, _ = call(capsys, "tune", *options)
    assert code == 0
    tuning = load("m").about_["tuning"]
    score, best = np.array(tuning["score"]), tuning["best"]
    assert score[best] == np.nanmin(score)
    whole = np.array(tuning["n_folds"]) == 5
    if method == "halving":
        whole &= np.array(tuning["n_rows"]) == 300
    np.testing.assert_array_equal(np.isfinite(score), whole)
    assert not whole.all()
    tables = [heat_map(tuning, stage, "") for stage in (1, 2)]
    cells = [str(cell).strip() for table in tables for column in table.columns[1:] for cell in column.cells]
    assert len(cells) == 130
    assert min(float(cell.rstrip("*")) for cell in cells if cell != "–") == pytest.approx(score[best], abs=5e-4)
    assert f"{score[best]:.3f}*" in cells
    n_points, n_missing = len(set(zip(*tuning["tried"].values(), tuning["stage"], strict=True))), cells.count("–")
    assert f"–: {n_missing} of {n_points} points fell behind" in out


def test_tune_draws_heat_maps(folder, capsys):
    code, out, _ = call(capsys, *TUNE, "--tol", "0.1", "-o", "m")
    assert code == 0
    assert "coarse: mae by C (right) and gamma (down)" in out
    assert out.count("*") == 2  # the best of either stage
    assert load("m").about_["tuning"]["stage"].tolist().count(2) == 81


def test_sorted_files_do_not_mislead_the_folds(folder, capsys):
    """Rows sorted by label and then by a feature are the same rows: the search finds errors as small as theirs."""
    frame = pd.read_csv("data.csv")
    frame.sort_values(["rank", "a", "b"]).to_csv("data.csv", index=False)
    _, out, _ = call(capsys, *TUNE, "-m", "linear-svor", "-o", "m", "--json")
    in_order = np.nanmin(np.array(json.loads(out)["tuning"]["score"], dtype=np.float64))
    frame.sample(frac=1, random_state=0).to_csv("data.csv", index=False)
    _, out, _ = call(capsys, *TUNE, "-m", "linear-svor", "-o", "m", "--json")
    shuffled = np.nanmin(np.array(json.loads(out)["tuning"]["score"], dtype=np.float64))
    assert in_order == pytest.approx(shuffled, abs=0.1)


def test_compare_tunes_on_random_rows(folder, capsys):
    """A file sorted by label and feature: inner folds of consecutive rows would choose another C."""
    frame = pd.read_csv("data.csv")
    options = ["-t", "rank", "--drop", "grade", "--drop", "words", "-m", "linear-svor", "--tune", "--json"]
    means = []
    for table in (frame.sort_values(["rank", "a", "b"]), frame.sample(frac=1, random_state=0)):
        table.to_csv("data.csv", index=False)
        code, out, _ = call(capsys, "compare", "data.csv", *options, "--repeats", "2", "--folds", "3")
        assert code == 0
        means.append(json.loads(out)["models"][0]["mean"])
    assert means[0] == pytest.approx(means[1], abs=0.1)


def test_compare_is_seeded(folder, capsys):
    options = ["-t", "rank", "--drop", "grade", "--drop", "words", "-m", "svor", "-m", "svorim", "--tune", "--json"]
    found = []
    for seed in (1, 1, 2):
        _, out, _ = call(capsys, "compare", "data.csv", *options, "--repeats", "1", "--folds", "2", "--seed", seed)
        found.append([row["mean"] for row in json.loads(out)["models"]])
    assert found[0] == found[1] != found[2]


def test_compare(folder, capsys):
    options = ["--repeats", "1", "--folds", "3", "-m", "svor", "-m", "linear-svr", "-m", "svc", "--json"]
    code, out, _ = call(capsys, "compare", "data.csv", "-t", "rank", "--drop", "grade", "--drop", "words", *options)
    assert code == 0
    answer = json.loads(out)
    rows = answer["models"]
    assert answer["test"] == "Wilcoxon signed-rank, two-sided"  # fault 7: "a Wilcoxon test" may be the rank-sum test
    assert {row["model"] for row in rows} == {"svor", "linear-svr", "svc"}
    assert [row["mean"] for row in rows] == sorted(row["mean"] for row in rows)
    assert sum(row["rank"] for row in rows) == pytest.approx(6)
    assert rows[0]["p"] is None


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
@pytest.mark.parametrize("options", [[], ["--hold-out", "0.3"], ["--where", "colour=red"]], ids=str)
def test_a_bad_cell_is_reported_for_its_row_in_the_file(folder, capsys, name, options):
    """Fault 15: it was reported for its place among the rows to train with, which come in random order."""
    frame = pd.read_csv("data.csv")
    row = int(np.flatnonzero(frame["colour"] == "red")[7])
    frame.loc[row:, "a"] = np.inf
    frame = frame.set_index(np.arange(150) * 3)  # an index of its own, which Parquet keeps
    frame.to_csv(name, index=False) if name.endswith("csv") else frame.to_parquet(name)
    others = ["-t", "rank", "--drop", "grade", "--drop", "words", "-o", "m"]
    code, _, err = call(capsys, "train", name, *others, *options)
    assert code == 1
    number = int(err.partition("Column 'a' holds inf in data row ")[2].partition(",")[0])
    assert number == row + 1 if "--hold-out" not in options else row < number <= len(frame)


def test_info_about_two_ranks_names_the_intercept(folder, capsys):
    rows = pd.DataFrame({"a": np.arange(30.0), "rank": np.repeat([1, 2], [20, 10])})
    rows.to_csv("two.csv", index=False)
    assert call(capsys, "train", "two.csv", "--target", "rank", "-o", "two.ordsvm")[0] == 0
    fitted = load("two.ordsvm").machine_
    out = " ".join(call(capsys, "info", "two.ordsvm")[1].split())
    assert f"[0.], of the score with its intercept {fitted.intercept_[0]:.4g}" in out
    about = json.loads(call(capsys, "info", "two.ordsvm", "--json")[1])
    assert about["thresholds"] == [0.0]
    assert about["intercept"] == pytest.approx(fitted.intercept_[0])


def test_info_about_a_pipe(folder, capsys):
    """Fault 15: it waited for a writer; tests/test_model_files.py would not wait with it."""
    os.mkfifo("pipe")
    code, _, err = call(capsys, "info", "pipe")
    assert code == 1
    assert "'pipe' is not a regular file" in err


def test_report(folder, capsys):
    """What is in the page; tests/test_report_page.py opens it."""
    assert call(capsys, *TRAIN, "--hold-out", "0.2", "-o", "m")[0] == 0
    code, _, _ = call(capsys, "report", "m", "data.csv", "-o", "page.html")
    page = (folder / "page.html").read_text()
    assert code == 0
    assert 'id="mistakes"' in page
    assert "30 rows of data.csv that training kept back" in page
    assert "http://" not in page.partition("<script>")[0]
    assert call(capsys, "report", "m", "-o", "page.html")[0] == 0
    assert 'id="mistakes"' not in (folder / "page.html").read_text()


def test_options_reach_the_solver_of_that_name():
    """Those of linear machines and of machines with kernels have names of their own."""
    assert solver_options("linear-interior-point", ["device=cuda"]) == LinearInteriorPoint(device="cuda")
    assert solver_options("interior-point", ["memory_limit=500"]) == InteriorPoint(memory_limit=500)
    with pytest.raises(ValueError, match="is no option of interior-point"):
        solver_options("interior-point", ["device=cuda"])


def test_a_linear_machine_is_trained_by_its_own_solver(folder, capsys):
    options = ["-m", "linear-svor", "-o", "model.ordsvm", "--solver"]
    assert call(capsys, *TRAIN, *options, "linear-interior-point", "--solver-option", "device=cpu")[0] == 0
    assert load("model.ordsvm").machine_.result_.solver == "linear-interior-point"
    code, _, err = call(capsys, *TRAIN, *options, "interior-point")
    assert code == 1
    assert "Did you mean 'linear-interior-point'?" in " ".join(err.split())
