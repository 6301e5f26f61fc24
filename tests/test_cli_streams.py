"""The command where its streams are closed, hold few signs or are not read, and where names of files are no texts."""

import html
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from ordsvm import SVOR, save
from ordsvm.tables import TableEncoder, TableModel, read
from ordsvm_command import prepare_streams
from tests.cases import random_data

COMMANDS = {
    "train": "train data.csv --target rank --hold-out 0.25 -o made.ordsvm",
    "tune": "tune data.csv --target rank --model linear-svor --folds 2 -o made.ordsvm",
    "predict": "predict model.ordsvm data.csv",
    "evaluate": "evaluate model.ordsvm data.csv",
    "explain": "explain model.ordsvm data.csv --row 1",
    "diagnose": "diagnose model.ordsvm data.csv",
    "info": "info model.ordsvm",
    "report": "report model.ordsvm data.csv --curve-seconds 0 -o made.html",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with rows and a model of them; the label and a column have names with signs that ASCII lacks."""
    place = tmp_path_factory.mktemp("streams")
    X, y = random_data(3, n=80, n_ranks=3)
    frame = pd.DataFrame(X, columns=["a", "b − c", "größer"])
    frame["rank"] = y
    frame.to_csv(place / "data.csv", index=False)
    save(TableModel(SVOR(), TableEncoder(), "rank").fit(frame.drop(columns="rank"), y), place / "model.ordsvm")
    named = TableModel(SVOR(), TableEncoder(), "rank").fit(frame.drop(columns="rank"), np.array(["klein", "ł", "ö"])[y])
    save(named, place / "named.ordsvm")
    return place


# Every command in one process, whose start takes longer than they do.
ALL = """
import json, sys
from ordsvm_command import prepare_streams
prepare_streams()
from ordsvm.cli.app import run
codes = []
for command in json.loads(sys.argv[1]):
    codes.append(run(command.split()))
    print("\x1e", flush=True)
json.dump(codes, open("codes.json", "w"))
"""


def shell(folder, program, redirect="", **environment):
    command = f"exec {sys.executable} {program} {redirect}"
    return subprocess.run(["sh", "-c", command], cwd=folder, env=os.environ | environment, capture_output=True)


def start(folder, arguments, redirect="", **environment):
    return shell(folder, f"-m ordsvm.cli {arguments}", redirect, **environment)


def start_all(folder, commands, redirect="", **environment):
    """Returns the exit codes, and what the process ended with."""
    (folder / "all.py").write_text(ALL)
    ended = shell(folder, f"all.py {shlex.quote(json.dumps(list(commands)))}", redirect, **environment)
    assert ended.returncode == 0, ended.stderr
    return json.loads((folder / "codes.json").read_text()), ended


@pytest.mark.parametrize("redirect", [">&-", "2>&-", "<&- >&- 2>&-"], ids=["out", "errors", "all"])
def test_closed_streams(redirect, folder):
    """The work is done, and files are written, whole."""
    for made in folder.glob("made.*"):
        made.unlink()
    codes, ended = start_all(folder, COMMANDS.values(), redirect)
    assert codes == [0] * len(COMMANDS)
    assert b"Traceback" not in ended.stderr
    assert [made.stat().st_size > 1000 for made in folder.glob("made.*")] == [True, True]


@pytest.mark.parametrize("redirect", [">&-", "2>&-"])
def test_the_command_itself_with_closed_streams(redirect, folder):
    (folder / "made.ordsvm").unlink(missing_ok=True)
    assert start(folder, COMMANDS["train"], redirect).returncode == 0
    assert start(folder, "predict made.ordsvm data.csv").returncode == 0
    assert start(folder, "predict missing.ordsvm data.csv", redirect).returncode == 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_outputs_that_hold_few_signs(encoding, folder):
    commands = [*COMMANDS.values(), *(f"{command} --json" for command in COMMANDS.values())]
    codes, ended = start_all(folder, commands, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert codes == [0] * len(commands)
    assert "codec" not in ended.stderr.decode(encoding)
    texts = ended.stdout.decode(encoding).split("\x1e")[:-1]
    plain, machine = (
        dict(zip(COMMANDS, part, strict=True)) for part in (texts[: len(COMMANDS)], texts[len(COMMANDS) :])
    )
    assert "b - c" in plain["explain"] or "b − c" in plain["explain"]
    assert re.search("0.[0-9]{3} [-–] 0.[0-9]{3}", plain["evaluate"])
    names = {each["name"] for each in json.loads(machine["explain"])["contributions"]}
    assert names == {"a", "b − c", "größer"}
    for text in machine.values():
        json.loads(text)


def test_predictions_are_never_changed_by_an_encoding(folder):
    """Signs of labels that the output lacks are refused in CSV, and escapes in JSON."""
    ended = start(folder, "predict named.ordsvm data.csv", PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"Standard output is in ascii, which lacks signs of these predictions: give --output FILE" in ended.stderr
    ended = start(folder, "predict named.ordsvm data.csv --json", PYTHONIOENCODING="ascii")
    assert {row["prediction"] for row in json.loads(ended.stdout)} <= {"klein", "ł", "ö"}
    ended = start(folder, "predict named.ordsvm data.csv", PYTHONIOENCODING="utf-8")
    assert "ö" in ended.stdout.decode()


def test_an_output_that_is_not_read(folder):
    """As of `ordsvm predict ... | head -1`: no message, no traceback."""
    wide = pd.concat([pd.read_csv(folder / "data.csv")] * 200)
    wide.to_csv(folder / "long.csv", index=False)
    program = f"{sys.executable} -m ordsvm.cli predict model.ordsvm long.csv | head -1"
    ended = subprocess.run(["sh", "-c", program], cwd=folder, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("row,prediction,score\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has /dev/full")
@pytest.mark.parametrize("arguments", ["info model.ordsvm", "predict model.ordsvm data.csv"])
def test_an_output_that_is_full(arguments, folder):
    ended = start(folder, arguments, ">/dev/full")
    assert ended.returncode == 1
    assert ended.stderr.decode().count("\n") == 1
    assert ended.stderr.startswith(b"ordsvm: ")


@pytest.mark.skipif(os.name != "posix", reason="names of files are texts elsewhere")
def test_names_of_files_that_are_no_texts(folder):
    odd = os.fsdecode(b"caf\xe9")
    (folder / f"{odd}.csv").write_bytes((folder / "data.csv").read_bytes())
    assert read(folder / f"{odd}.csv").name == "caf\\xe9.csv"
    commands = (
        f"train {odd}.csv --target rank --hold-out 0.25 -o {odd}.ordsvm",
        f"predict {odd}.ordsvm {odd}.csv -o {odd}.out.csv",
        f"evaluate {odd}.ordsvm {odd}.csv",
        f"explain {odd}.ordsvm {odd}.csv --row 1",
        f"diagnose {odd}.ordsvm {odd}.csv",
        f"info {odd}.ordsvm",
        f"report {odd}.ordsvm {odd}.csv --curve-seconds 0 -o {odd}.html",
    )
    for encoding in ("utf-8", "ascii"):
        codes, ended = start_all(folder, [*commands, *(f"{c} --json" for c in commands)], PYTHONIOENCODING=encoding)
        assert codes == [0] * 2 * len(commands), ended.stderr
        for text in ended.stdout.decode(encoding).split("\x1e")[len(commands) : -1]:
            json.loads(text)
    page = (folder / f"{odd}.html").read_text(encoding="utf-8")
    assert "<title>caf\\xe9.ordsvm: SVOR" in html.unescape(page)
    ended = start(folder, "info \"$(printf 'caf\\351')\".missing")
    assert (ended.returncode, ended.stderr.count(b"Traceback")) == (1, 0)


def test_streams_of_a_caller_stay(capsys):
    """Texts that they hold already are as they were."""
    prepare_streams()
    print("größer − 1")
    assert capsys.readouterr().out == "größer − 1\n"
