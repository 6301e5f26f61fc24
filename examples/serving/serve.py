"""A model file behind a small HTTP endpoint, by the standard library alone.

    python serve.py model.ordsvm --port 8000

GET /health      what is served: the model, its labels, how its training ended
POST /predict    {"rows": [{"column": value, ...}, ...]} for a model of `ordsvm train`, lists of numbers for others;
                 the answer has a label and a score for every row, and probabilities where the model is calibrated

The model is loaded once. Every connection has a thread, of which there are at most CONNECTIONS: others get status 503.
WORKERS requests are computed at a time, in one thread each (`n_threads`); others wait. A client has READ_SECONDS to
send its request. Whatever a request holds, the answer is JSON with a status; nothing of it is written to a log.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import ordsvm
from ordsvm.tables import TableModel

LARGEST_BODY = 2_000_000  # bytes of a request; as Python's objects they take up to 40 times as many
LARGEST_BATCH = 10_000  # rows of a request
LONGEST_ERROR = 500  # characters of a sentence that quotes a request
CONNECTIONS, WORKERS = 32, 4
READ_SECONDS = 30.0  # for a whole request, however slowly it comes, and for its answer
REFUSED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)  # by what a request holds
BUSY = {"error": "Too many requests at a time: try again."}


class Service:
    """A loaded model, and its answers as plain values."""

    def __init__(self, path: str | Path) -> None:
        self.model = ordsvm.load(path)
        self.machine = getattr(self.model, "machine_", self.model)
        inner = getattr(self.machine, "estimator_", self.machine)
        if hasattr(inner, "n_threads"):
            inner.set_params(n_threads=1)
        self.status = inner.result_.status

    def about(self) -> dict[str, Any]:
        """Return what is served."""
        return {
            "model": type(self.machine).__name__,
            "labels": self.model.classes_.tolist(),
            "status": self.status,
            "ordsvm": ordsvm.__version__,
        }

    def predict(self, request: Any) -> dict[str, Any]:
        """Return the answer to a request; raise ValueError with one sentence where it is none."""
        rows = request.get("rows") if isinstance(request, dict) else None
        if not isinstance(rows, list) or not rows or len(rows) > LARGEST_BATCH:
            raise ValueError(f'Give {{"rows": [...]}} with 1 to {LARGEST_BATCH} rows.')
        is_table = isinstance(self.model, TableModel)
        X = self._table(rows) if is_table and self.model.encoder_ is not None else np.asarray(rows, dtype=np.float64)
        if is_table and self.model.encoder_ is None:
            X = sp.csr_array(X)
        answer = {"label": self.model.predict(X).tolist()}
        if hasattr(self.model, "decision_function"):
            answer["score"] = np.asarray(self.model.decision_function(X)).tolist()
        if hasattr(self.model, "predict_proba"):
            answer["probability"] = self.model.predict_proba(X).tolist()
        return answer

    def _table(self, rows: list[Any]) -> Any:
        """Make a data frame of the model's columns. Others are refused first: a frame of all would have
        rows × columns cells."""
        import pandas as pd

        names = self.model.feature_names_in_.tolist()
        known, found = set(names), set()
        for row in rows:
            if not isinstance(row, dict):
                raise ValueError("Give every row as an object of columns and values.")
            if not row.keys() <= known:
                raise ValueError(f"The model has no column {min(row.keys() - known)!r}: its columns are {names}.")
            if any(isinstance(cell, list | dict) for cell in row.values()):
                raise ValueError("Give numbers, texts, true, false or null as the values of columns.")
            found |= row.keys()
        return pd.DataFrame({name: [row.get(name) for row in rows] for name in names if name in found})


class Server(ThreadingHTTPServer):
    """A server with a limit of connections, which closes those that take too long to send a request."""

    request_queue_size = CONNECTIONS

    def __init__(self, address: tuple[str, int], service: Service) -> None:
        super().__init__(address, Handler)
        self.service = service
        self.workers = threading.BoundedSemaphore(WORKERS)
        self.ends: dict[socket.socket, float] = {}  # when a request has to be there

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, or refuse it."""
        if len(self.ends) < CONNECTIONS:
            self.ends[request] = time.monotonic() + READ_SECONDS
            super().process_request(request, client_address)
            return
        body = json.dumps(BUSY).encode()
        head = f"HTTP/1.0 503 Busy\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        request.setblocking(False)
        with suppress(OSError):
            request.sendall(head.encode() + body)
            request.recv(LARGEST_BODY)  # or the client would see a reset connection
        self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, whose place is free again."""
        self.ends.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """End connections whose request did not come in time: called twice a second."""
        for request, end in list(self.ends.items()):
            if time.monotonic() > end:
                with suppress(OSError):  # closed meanwhile
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing: the client is gone, or was too slow."""


class Handler(BaseHTTPRequestHandler):
    """The answers to the requests of one connection."""

    server: Server
    timeout = READ_SECONDS  # for every read, and for the answer

    def do_GET(self) -> None:
        """Say what is served."""
        if self.path == "/health":
            self.answer(HTTPStatus.OK, self.server.service.about())
        else:
            self.answer(HTTPStatus.NOT_FOUND, {"error": "GET /health, or POST /predict."})

    def do_POST(self) -> None:
        """Predict."""
        if self.path != "/predict":
            self.answer(HTTPStatus.NOT_FOUND, {"error": "GET /health, or POST /predict."})
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.refuse(HTTPStatus.BAD_REQUEST, {"error": "Give Content-Length, a number of bytes."})
            return
        length = length.lstrip("0") or "0"
        if len(length) > len(str(LARGEST_BODY)) or int(length) > LARGEST_BODY:
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": f"At most {LARGEST_BODY} bytes."})
            return
        body = self.rfile.read(int(length))
        self.server.ends[self.connection] = float("inf")
        if not self.server.workers.acquire(timeout=READ_SECONDS):
            self.answer(HTTPStatus.SERVICE_UNAVAILABLE, BUSY)
            return
        try:
            status, content = HTTPStatus.OK, self.server.service.predict(json.loads(body))
        except REFUSED as error:
            status, content = HTTPStatus.BAD_REQUEST, {"error": str(error)[:LONGEST_ERROR] or type(error).__name__}
        except Exception as error:  # of the program, or for want of memory
            print(f"{type(error).__name__} while answering a request", file=sys.stderr)
            status, content = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "The server failed to answer this."}
        finally:
            self.server.workers.release()
        self.answer(status, content)

    def refuse(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        """Answer before the body has been read; what comes of it is passed over, or the answer would be lost."""
        self.answer(status, content)
        self.connection.shutdown(socket.SHUT_WR)
        while self.rfile.read1(1 << 16):
            pass

    def answer(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        """Send a status and JSON."""
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing: what is logged is the business of the proxy in front."""


def server(path: str | Path, host: str = "127.0.0.1", port: int = 8000) -> Server:
    """Return a server of the model file, bound to its port and not yet serving; port 0 is any free one."""
    return Server((host, port), Service(path))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serves a model file over HTTP.")
    parser.add_argument("model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    with server(options.model, options.host, options.port) as running:
        print(f"http://{options.host}:{running.server_port}/health")
        running.serve_forever()
