"""A model file behind a small HTTP endpoint, by the standard library alone.

    python serve.py model.ordsvm --port 8000

GET /health      what is served: the model, its labels, how its training ended
POST /predict    {"rows": [{"column": value, ...}, ...]} for a model of `ordsvm train`, lists of numbers for others;
                 the answer has a label and a score for every row, and probabilities where the model is calibrated

The model is loaded once. Every request has a thread; predictions use one thread each (`n_threads`).
"""

from __future__ import annotations

import argparse
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

import ordsvm
from ordsvm.tables import TableModel

LARGEST_BODY = 10_000_000  # bytes of a request
LARGEST_BATCH = 10_000  # rows of a request


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
        """What is served."""
        return {
            "model": type(self.machine).__name__,
            "labels": self.model.classes_.tolist(),
            "status": self.status,
            "ordsvm": ordsvm.__version__,
        }

    def predict(self, request: Any) -> dict[str, Any]:
        """The answer to a request; ValueError in one sentence where it is none."""
        rows = request.get("rows") if isinstance(request, dict) else None
        if not isinstance(rows, list) or not rows or len(rows) > LARGEST_BATCH:
            raise ValueError(f'Give {{"rows": [...]}} with 1 to {LARGEST_BATCH} rows.')
        X = self._table(rows)
        answer = {"label": self.model.predict(X).tolist()}
        if hasattr(self.model, "decision_function"):
            answer["score"] = np.asarray(self.model.decision_function(X)).tolist()
        if hasattr(self.model, "predict_proba"):
            answer["probability"] = self.model.predict_proba(X).tolist()
        return answer

    def _table(self, rows: list[Any]) -> Any:
        if not isinstance(self.model, TableModel):
            return np.asarray(rows, dtype=np.float64)
        import pandas as pd

        if not all(isinstance(row, dict) for row in rows):
            raise ValueError("Give every row as an object of columns and values.")
        return pd.DataFrame(rows)


def handler(service: Service) -> type[BaseHTTPRequestHandler]:
    """The class that answers the requests to a service."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 30  # seconds that a client may be silent

        def do_GET(self) -> None:
            if self.path == "/health":
                self.answer(HTTPStatus.OK, service.about())
            else:
                self.answer(HTTPStatus.NOT_FOUND, {"error": "GET /health, or POST /predict."})

        def do_POST(self) -> None:
            if self.path != "/predict":
                self.answer(HTTPStatus.NOT_FOUND, {"error": "GET /health, or POST /predict."})
                return
            length = self.headers.get("Content-Length", "")
            if not length.isdigit() or int(length) > LARGEST_BODY:
                self.answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": f"At most {LARGEST_BODY} bytes."})
                return
            try:
                request = json.loads(self.rfile.read(int(length)))
                self.answer(HTTPStatus.OK, service.predict(request))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                self.answer(HTTPStatus.BAD_REQUEST, {"error": str(error)})

        def answer(self, status: HTTPStatus, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: what is logged is the business of the proxy in front."""

    return Handler


def server(path: str | Path, host: str = "127.0.0.1", port: int = 8000) -> ThreadingHTTPServer:
    """A server of the model file, bound to its port and not yet serving; port 0 is any free one."""
    return ThreadingHTTPServer((host, port), handler(Service(path)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serves a model file over HTTP.")
    parser.add_argument("model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    with server(options.model, options.host, options.port) as running:
        print(f"http://{options.host}:{running.server_port}/health")
        running.serve_forever()
