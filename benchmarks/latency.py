"""Latency: one row, and a batch, through predict and through ONNX Runtime on one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.results import Row, row
from benchmarks.timing import thread_limit

DATA = (
    "Standard normal columns, 5 ranks of x0 + x1 x2 + normal noise: 2,000 training rows of 20 columns, SVOR (RBF gamma "
    "0.05, C = 1) and LinearSVOR, and ONNX files of both. One thread. Medians of calls with one row, and with 1,000."
)
MICROSECONDS = 1e6


def run(quick: bool) -> list[Row]:
    calls, batch = contestants(300 if quick else 2000), 50 if quick else 1000
    made = []
    for size, repeats in ((1, 20 if quick else 2000), (batch, 5 if quick else 50)):
        rows = np.random.default_rng(1).normal(size=(size, 20))
        for name, taken in in_turn(calls, rows, repeats).items():
            claim = f"{name}: microseconds a call with one row" if size == 1 else f"{name}: microseconds a row of 1,000"
            made.append(row(claim, MICROSECONDS * statistics.median(taken) / size))
    return made


def in_turn(calls: dict[str, Callable[[Any], Any]], rows: Any, repeats: int) -> dict[str, list[float]]:
    """Seconds of every call; the calls take turns, so that a busy moment slows down all of them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    with thread_limit(1):
        for _ in range(repeats):
            for name, call in calls.items():
                began = time.perf_counter()
                call(rows)
                seconds[name].append(time.perf_counter() - began)
    return seconds


def contestants(n: int) -> dict[str, Any]:
    """Calls that predict, by name."""
    import onnxruntime

    from ordsvm import SVOR, LinearSVOR, to_onnx

    random = np.random.default_rng(0)
    X = random.normal(size=(n, 20))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n), [-1.5, -0.5, 0.5, 1.5])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    calls: dict[str, Any] = {}
    for model in (SVOR(gamma=0.05, n_threads=1).fit(X, y), LinearSVOR(n_threads=1).fit(X, y)):
        session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), options)
        calls[f"{type(model).__name__}.predict"] = model.predict
        calls[f"{type(model).__name__} by ONNX Runtime"] = lambda rows, session=session: session.run(
            ["label"], {"X": rows}
        )
    return calls
