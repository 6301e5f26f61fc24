"""examples/serving: a model file behind HTTP answers as the model does, and refuses what is no request."""

import importlib.util
import json
import re
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ordsvm import SVOR, CalibratedOrdinal, save
from ordsvm.cli.app import run
from ordsvm.tables import TableEncoder, TableModel
from tests.cases import random_data

FILE = Path(__file__).parent.parent / "examples" / "serving" / "serve.py"
X, Y = random_data(0, n=80, n_ranks=3)
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def serving():
    spec = importlib.util.spec_from_file_location("serve", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def post(serving, tmp_path):
    """Serves a model; returns a function that posts to it and returns status and answer."""
    running = []

    def start(model):
        save(model, tmp_path / "model.ordsvm")
        server = serving.server(tmp_path / "model.ordsvm", port=0)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)

        def call(body, path="/predict"):
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}{path}", data)
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as error:
                return error.code, json.load(error)

        return call

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def test_a_machine_answers_as_itself(post):
    model = SVOR().fit(X, Y)
    status, answer = post(model)({"rows": X[:5].tolist()})
    assert status == 200
    assert answer["label"] == model.predict(X[:5]).tolist()
    np.testing.assert_allclose(answer["score"], model.decision_function(X[:5]), rtol=1e-12)


def test_a_model_of_a_table_takes_columns(post):
    frame = pd.DataFrame(X, columns=NAMES)
    model = TableModel(CalibratedOrdinal(SVOR()), TableEncoder()).fit(frame, Y)
    call = post(model)
    status, answer = call({"rows": frame[:4].to_dict("records")})
    assert (status, answer["label"]) == (200, model.predict(frame[:4]).tolist())
    assert call(None, "/health")[1]["status"] == "converged"
    assert np.shape(answer["probability"]) == (4, 3)


@pytest.mark.parametrize("body", [{}, {"rows": []}, {"rows": 3}, [], {"rows": [["x", "y", "z"]]}, {"rows": [[1.0]]}])
def test_what_is_no_request_gets_a_sentence(post, body):
    status, answer = post(SVOR().fit(X, Y))(body)
    assert status == 400
    assert answer["error"]


def test_other_paths_are_not_there(post):
    call = post(SVOR().fit(X, Y))
    assert call({"rows": [[0.0] * 3]}, "/elsewhere")[0] == 404
    assert call(None, "/")[0] == 404


def test_the_answer_on_the_page_is_the_answer(serving, tmp_path, monkeypatch):
    """docs/guide/serving.md shows a request and its answer: of the data and the model of that page."""
    monkeypatch.chdir(tmp_path)
    page = (FILE.parents[2] / "docs" / "guide" / "serving.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], {})
    train = re.search(r"^\$ ordsvm (train .*)$", page, re.M)[1]
    assert run(train.split()) == 0
    request, shown = re.search(r"/predict -d '(.*)'\n(.*)\n", page).groups()
    answer = serving.Service("model.ordsvm").predict(json.loads(request))
    shown = json.loads(shown.replace("…", ""))
    assert answer["label"] == shown["label"]
    assert answer["probability"] == pytest.approx(np.array(shown["probability"]), abs=2e-3)
