"""examples/serving: a model file behind HTTP answers as the model does, and refuses what is no request."""

import importlib.util
import json
import re
import socket
import threading
import time
import tracemalloc
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

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

        call.port, call.server = server.server_port, server
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


def raw(port, request):
    """Sends bytes, and returns the status and the JSON of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def posted(body, length=None):
    length = str(len(body)) if length is None else length
    return b"POST /predict HTTP/1.1\r\nContent-Length: " + length.encode("utf-8") + b"\r\n\r\n" + body


HUGE = "9" * 400
HOSTILE = {
    "nested": posted(b"[" * 100_000),
    "nested rows": posted(b'{"rows": ' + b"[" * 900 + b"1" + b"]" * 900 + b"}"),
    "number": posted(f'{{"rows": [[{HUGE}, 1, 1]]}}'.encode()),
    "cell": posted(f'{{"rows": [{{"a": {HUGE}, "b": 1, "c": 1}}]}}'.encode()),
    "digits": posted(b'{"rows": [[' + b"9" * 5000 + b"]]}"),
    "list in a cell": posted(b'{"rows": [{"a": [1], "b": {}, "c": 1}]}'),
    "length, superscript": posted(b"{}", "²"),
    "length, none": b"POST /predict HTTP/1.1\r\n\r\n",
    "length, signed": posted(b"{}", "-5"),
    "chunks": b"POST /predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "bytes": posted(b"\xff\xfe\x00"),
    "surrogate": posted(b'{"rows": [{"\\ud800": 1}]}'),
    "null": posted(b"null"),
    "infinity": posted(b'{"rows": [{"a": Infinity, "b": 1, "c": 1}]}'),
}


@pytest.fixture(params=["rows", "table", "svmlight"])
def port(request, post):
    model = {
        "rows": SVOR().fit(X, Y),
        "table": TableModel(SVOR(), TableEncoder()).fit(pd.DataFrame(X, columns=NAMES), Y),
        "svmlight": TableModel(SVOR()).fit(sp.csr_array(X), Y),
    }[request.param]
    return post(model).port


def test_hostile_requests_are_answered_and_leave_nothing_in_the_log(port, capfd):
    answers = {name: raw(port, request) for name, request in HOSTILE.items()}
    assert {name: status for name, (status, _) in answers.items() if status != 400} == {}
    assert all(0 < len(answer["error"]) <= 500 for _, answer in answers.values())
    for length in ("9" * 5000, "3000000"):
        assert raw(port, posted(b"[" * 100_000, length)[:50_000])[0] == 413
    assert raw(port, posted(b"{}", "0" * 5000 + "2"))[0] == 400
    assert capfd.readouterr() == ("", "")


def test_a_model_without_columns_takes_rows(post):
    model = TableModel(SVOR()).fit(sp.csr_array(X), Y)
    status, answer = post(model)({"rows": X[:5].tolist()})
    assert (status, answer["label"]) == (200, model.predict(sp.csr_array(X[:5])).tolist())


def test_a_fault_of_the_program_is_a_line(post, serving, monkeypatch, capfd):
    def fail(*given):
        raise ZeroDivisionError("secret")

    call = post(SVOR().fit(X, Y))
    monkeypatch.setattr(serving.Service, "predict", fail)
    assert call({"rows": [[0.0] * 3]}) == (500, {"error": "The server failed to answer this."})
    assert capfd.readouterr().err == "ZeroDivisionError while answering a request\n"


def test_columns_that_the_model_lacks_take_no_memory(serving, tmp_path):
    """Of 4,000 rows with three columns of their own, a frame has 48 million cells."""
    frame = pd.DataFrame(X, columns=NAMES)
    save(TableModel(SVOR(), TableEncoder()).fit(frame, Y), tmp_path / "model.ordsvm")
    service = serving.Service(tmp_path / "model.ordsvm")
    rows = [{f"{i} {j}": 1 for j in range(3)} for i in range(4000)]
    for some in (rows, [*frame.to_dict("records"), *rows]):
        tracemalloc.start()
        with pytest.raises(ValueError, match="The model has no column '0 0': its columns are"):
            service.predict({"rows": some})
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 10_000_000
    answer = service.predict({"rows": [{"a": 1.0, "b": None}, {"c": 2.0}]})
    filled = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan] * 2, "c": [np.nan, 2.0]})
    assert answer["label"] == service.model.predict(filled).tolist()
    with pytest.raises(ValueError, match="lack the column 'c'"):
        service.predict({"rows": [{"a": 1.0, "b": 1.0}]})


def test_connections_are_limited_and_silent_clients_end(post, serving, monkeypatch):
    monkeypatch.setattr(serving, "CONNECTIONS", 3)
    monkeypatch.setattr(serving, "READ_SECONDS", 1.0)
    call = post(SVOR().fit(X, Y))
    silent = [socket.create_connection(("127.0.0.1", call.port), timeout=20) for _ in range(3)]
    silent[0].sendall(b"POST /predict HTTP/1.1\r\n")
    silent[1].sendall(posted(b"{", "1000"))
    assert raw(call.port, posted(b"{}"))[0] == 503
    for connection in silent:
        assert not connection.recv(1 << 16).startswith(b"HTTP/1.0 200")  # in the end, whatever it is
        connection.close()
    while len(call.server.ends) == 3:
        time.sleep(0.01)
    assert call({"rows": [[0.0] * 3]})[0] == 200


def test_requests_have_limits(post, serving):
    limits = (serving.LARGEST_BODY, serving.LARGEST_BATCH, serving.READ_SECONDS, serving.CONNECTIONS, serving.WORKERS)
    assert limits == (2_000_000, 10_000, 30.0, 32, 4)  # as SECURITY.md and the guide have them
    call = post(SVOR().fit(X, Y))
    assert call({"rows": [[0, 0, 0]] * 10_000})[0] == 200
    assert call({"rows": [[0, 0, 0]] * 10_001})[0] == 400
    assert raw(call.port, posted(b"", "2000001"))[0] == 413


def test_requests_at_a_time_are_limited(post, serving, monkeypatch):
    monkeypatch.setattr(serving, "READ_SECONDS", 0.5)
    call = post(SVOR().fit(X, Y))
    for _ in range(serving.WORKERS):
        call.server.workers.acquire()
    assert call({"rows": [[0.0] * 3]}) == (503, serving.BUSY)
    call.server.workers.release()
    assert call({"rows": [[0.0] * 3]})[0] == 200


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
